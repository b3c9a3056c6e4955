r"""
Two bandwidths, the median, and what data says
==============================================

**The lecture says:** the lengthscale is chosen before the fit. It can be the median of the distances of all rows. For
the prices of AAPL it shows two, 0.2099 and 0.1050, with :math:`\lambda = 0.01`.

**We** look for the scale on which these two numbers make sense, fit both, and ask leave-one-out for a third.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import pdist

from mercer import KernelRidge, lectures
from mercer.displays import CurveDisplay, LeaveOneOutDisplay
from mercer.kernels import Gaussian

prices = lectures.example("aapl")
X, y = prices.X, prices.y

# %%
# **Which scale?** The lecture names none. Its second number is half of the first. We tried calendar days, trading days
# and parts of a year, over every span from 30 days to four months, and the median, the mean and their like. One scale
# within its months has both numbers, digit by digit: the 65 trading days from 1 July to 1 October, in equal steps from
# 0 to 1 (or 64 days, in steps of 1/64). There the median distance is 19/64; over the root of 2 that is 0.2099, and half
# of it is 0.1050. **This is inference from two numbers**, and no fact from the slides: they would then end on 1
# October, and take as sigma not the median that they recommend, but the median over the root of 2, which is the same as
# the median in the first lecture's Gaussian, :math:`\exp(-r^2 / \sigma^2)`.
median = Gaussian("median").resolve(X).lengthscale
wide, narrow = median / np.sqrt(2), median / np.sqrt(8)
print(
    f"{len(X)} days to {prices.results['days'][-1]}; the median {median:.6f}; by SciPy {np.median(pdist(X)):.6f}"
)
print(f"over the root of 2: {wide:.4f}; half of that: {narrow:.4f}")

# %%
# **The lecture's fit** has no constant: :math:`f(x) = k (K + \lambda I)^{-1} y`. Ours are the same to rounding with
# ``fit_intercept=False``. The third panel is what leave-one-out chooses, with a constant that is not penalised.
tuned = KernelRidge("gaussian('median')", lengthscale="loo").fit(X, y)
models = {
    f"{s:.4f}, lambda 0.01": KernelRidge(
        Gaussian(s), alpha=0.01, fit_intercept=False
    ).fit(X, y)
    for s in (wide, narrow)
}
models[f"{tuned.kernel_.lengthscale:.3f}, lambda {tuned.alpha_:.2g}, chosen"] = (
    tuned
)
errors, days_between = [], np.linspace(0, 1, 300)[:, None]
figure, panels = plt.subplots(
    1, 3, figsize=(10.5, 3.7), layout="constrained", sharey=True
)
for (name, model), axes in zip(models.items(), panels, strict=True):
    errors.append(
        float(
            np.sqrt(np.mean(((y - model.predict(X)) / (1 - model.leverage_)) ** 2))
        )
    )
    CurveDisplay(days_between[:, 0], model.predict(days_between), X=X, y=y).plot(
        axes
    )
    axes.set(
        title=f"{name}\n{errors[-1]:.2f} dollars off, left out",
        xlabel="1 July to 1 October 2019",
        ylabel="dollars",
    )
plt.show()

# %%
# **What one sees.** The wider kernel is stiffer, the narrower one follows weeks. The error on days that are left out
# falls from the first to the second and on to the third, which is narrower again. The median is a good place to start,
# and no more: it knows nothing of y.
#
# **Both at once.** Lengthscale and penalty hang together. Each line is a lengthscale, and shows the leave-one-out error
# against the penalty; nothing is fitted twice, since one decomposition of the matrix has all penalties.
_, axes = plt.subplots(figsize=(8, 4.8), layout="constrained")
lengths = (narrow / 4, narrow / 2, narrow, wide, float(median))
drawn = LeaveOneOutDisplay.from_lengthscales(
    KernelRidge("gaussian('median')"), X, y, lengths, ax=axes
)
axes.set_ylim(6, 60)
plt.show()

# %%
# **A word on sigma.** The lectures write the Gaussian as :math:`\exp(-r^2 / \sigma^2)`, as :math:`\exp(-r^2 / 2)` and
# as :math:`\exp(-r^2 / (2 \sigma^2))`. The same sigma is then not the same width: the first is narrower by the root
# of 2. Mercer has the last one only, and calls its number the lengthscale.
first, last = (
    float(np.exp(-(0.2**2) / 0.1**2)),
    float(Gaussian(0.1 / np.sqrt(2))([[0.0]], [[0.2]])[0, 0]),
)
print(f"exp(-r^2 / s^2) with s = 0.1: {first:.6f}")
print(f"ours with the lengthscale 0.1 / sqrt(2): {last:.6f}")
