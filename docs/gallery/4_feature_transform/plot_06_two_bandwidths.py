r"""
Two bandwidths, the median, and what data says
==============================================

**The lecture says:** the lengthscale is chosen before the fit. It can be the median of the distances of all rows. For
the prices of AAPL it shows two, 0.2099 and 0.1050, with :math:`\lambda = 0.01`.

**We** fit both, compute the median, and ask leave-one-out for a third.
"""

import csv
from datetime import date
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import pdist

from mercer import KernelRidge
from mercer.displays import CurveDisplay, LeaveOneOutDisplay
from mercer.kernels import Gaussian

PRICES = "examples/data/aapl_2019.csv"
file = next(
    folder / PRICES
    for folder in (Path.cwd(), *Path.cwd().parents)
    if (folder / PRICES).exists()
)
with file.open(newline="") as opened:
    rows = [
        (date.fromisoformat(row["date"]), float(row["close"]))
        for row in csv.DictReader(opened)
    ]
days = np.array([(day - rows[0][0]).days for day, _ in rows], dtype=float)
X, y = (days / days[-1])[:, None], np.array([price for _, price in rows])

median = Gaussian("median").resolve(X).lengthscale
print(f"the median distance: {median:.4f}; by SciPy: {np.median(pdist(X)):.4f}")

# %%
# The lecture's second number is half of the first, so they are probably the median and half of it, on a scale that it
# does not name. On ours, where the four months are 1, the median is larger.
tuned = KernelRidge("gaussian('median')", lengthscale="loo").fit(X, y)
models = {
    "0.2099, lambda 0.01": KernelRidge(Gaussian(0.2099), alpha=0.01).fit(X, y),
    "0.1050, lambda 0.01": KernelRidge(Gaussian(0.1050), alpha=0.01).fit(X, y),
    f"{tuned.kernel_.lengthscale:.3f}, lambda {tuned.alpha_:.2g}, chosen": tuned,
}
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
    mean, deviation = model.predict(days_between, return_std=True)
    CurveDisplay(days_between[:, 0], mean, deviation=deviation, X=X, y=y).plot(axes)
    axes.set(
        title=f"{name}\n{errors[-1]:.2f} dollars off, left out",
        xlabel="July to October 2019",
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
lengths = (0.0262, 0.0525, 0.1050, 0.2099, float(median))
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
