r"""
Fourier series, and the price of a stock
========================================

**The lecture says:** a periodic signal is a sum of waves, :math:`a_0 + \sum_i a_i \sin(ix) + b_i \cos(ix)`. So take
these as features, and fit. It shows the closing price of AAPL from July to October 2019 with b = 2 and b = 4.

**We** first get the waves of a known sum back, and then fit the prices.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelRidge, lectures
from mercer.displays import CurveDisplay
from mercer.lifts import Trigonometric

x = np.linspace(0, 4 * np.pi, 100)[:, None]
signal = np.sin(x) + np.cos(x) + np.sin(2 * x) + np.cos(2 * x)
series = KernelRidge(Trigonometric(order=2), alpha=0.0).fit(x, signal[:, 0])
names = series.lift_.get_feature_names_out().tolist()
print(
    {
        name: round(float(weight), 6)
        for name, weight in zip(names, np.ravel(series.coef_), strict=True)
    }
)

# %%
# **The prices**, of the 65 trading days from 1 July to 1 October. Time goes from 0 on the first day to 1 on the last:
# on this scale the lecture's later numbers make sense
# (:ref:`sphx_glr_auto_gallery_4_feature_transform_plot_06_two_bandwidths.py`).
prices = lectures.example("aapl_waves")
X, y = prices.X, prices.y

cases = {
    "b = 2, period 1": (2, 1.0),
    "b = 2, period 2": (2, 2.0),
    "b = 4, period 2": (4, 2.0),
}
figure, panels = plt.subplots(
    1, 3, figsize=(10.5, 3.7), layout="constrained", sharey=True
)
ends, errors = {}, {}
for (name, (order, period)), axes in zip(cases.items(), panels, strict=True):
    model = KernelRidge(Trigonometric(order, period), alpha=0.0).fit(X, y)
    CurveDisplay(X[:, 0], model.predict(X), X=X, y=y).plot(axes)
    ends[name] = model.predict([[0.0], [1.0]])
    errors[name] = float(
        np.sqrt(np.mean(((y - model.predict(X)) / (1 - model.leverage_)) ** 2))
    )
    axes.set(
        title=f"{name}\n{errors[name]:.2f} dollars off, left out",
        xlabel="1 July to 1 October 2019",
        ylabel="dollars",
    )
plt.show()

# %%
# **What one sees.** With a period of 1 the curve must end where it began. The price did not, and the waves pay for it.
# With a period of twice the time there is no such tie. Four waves follow the price more closely than two; on days that
# are left out they are no better.
#
# **Where the lecture slips.** It calls a stock price periodic, and does not say on which scale its x is. Waves of
# period 2 pi fit if x is in the right unit; that unit is a choice as important as b. Mercer has it as a parameter.
# (The slides write APPL; the symbol is AAPL.)
#
# **And no forecast.** Beyond the last day the waves do what they like. The leave-one-out errors above are those of
# filling a gap of one day.
beyond = np.linspace(0, 1.5, 300)[:, None]
model = KernelRidge(Trigonometric(4, 2.0), alpha=0.0).fit(X, y)
_, axes = plt.subplots(layout="constrained")
CurveDisplay(beyond[:, 0], model.predict(beyond), X=X, y=y).plot(axes)
axes.axvline(1, color="0.5", linewidth=0.8, linestyle="--")
axes.set(
    xlabel="time, 1 is the first of October",
    ylabel="dollars",
    title="what the waves believe of the next months",
)
plt.show()
