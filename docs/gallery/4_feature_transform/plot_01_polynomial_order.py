r"""
Which order of polynomial?
==========================

**The lecture says:** least squares on :math:`[x, x^2, \ldots, x^b]` fits curves. It shows b = 1 and b = 2 for
:math:`y = \exp(1.5 x - 1) + \varepsilon` with noise of the variance 0.64, and explains it by the Taylor series:
a smooth function is nearly a polynomial, "at some cost".

**We** go on to b = 10, and look at the cost.
"""

from math import exp, factorial

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelRidge
from mercer.displays import CurveDisplay
from mercer.lifts import Powers

rng = np.random.default_rng(3)
X = np.sort(rng.uniform(-1, 2, size=30))[:, None]
truth = np.exp(1.5 * X[:, 0] - 1)
y = truth + 0.8 * rng.normal(size=30)  # a variance of 0.64 is a deviation of 0.8

orders = range(1, 11)
models = {b: KernelRidge(Powers(b), alpha=0.0).fit(X, y) for b in orders}

figure, panels = plt.subplots(
    1, 4, figsize=(10.5, 3.3), layout="constrained", sharey=True
)
grid = np.linspace(-1, 2, 200)
for b, axes in zip((1, 2, 3, 10), panels, strict=True):
    CurveDisplay(grid, models[b].predict(grid[:, None]), X=X, y=y).plot(axes)
    axes.plot(
        grid,
        np.exp(1.5 * grid - 1),
        "--",
        color="tab:red",
        linewidth=1,
        label="truth",
    )
    axes.set(title=f"b = {b}", ylim=(-3, 9))
    axes.legend(fontsize="small", loc="upper left")
plt.show()

# %%
# **What one sees.** A line is too stiff; b = 2 and b = 3 are good; b = 10 swings from row to row. On
# the rows themselves the error falls with every power, since each set of features has all those before; on rows that
# were left out it falls and rises again. Nothing is fitted again for that: the error of a row, without that row, is
# its residual over 1 - leverage.
seen = [float(np.sqrt(np.mean((y - models[b].predict(X)) ** 2))) for b in orders]
left_out = [
    float(
        np.sqrt(
            np.mean(((y - models[b].predict(X)) / (1 - models[b].leverage_)) ** 2)
        )
    )
    for b in orders
]
best = int(np.argmin(left_out)) + 1
_, axes = plt.subplots(layout="constrained")
axes.plot(orders, seen, ".-", label="on the rows")
axes.plot(orders, left_out, ".-", label="left out")
axes.axhline(0.8, color="0.5", linewidth=0.8, linestyle="--", label="the noise")
axes.set(
    xlabel="b",
    ylabel="root of the mean squared error",
    title=f"held-out rows choose b = {best}",
    ylim=(0, None),
)
axes.legend()
plt.show()

# %%
# **Is it the Taylor series?** That is the idea, but not the fit. Taylor's polynomial of order 3 at 0 knows the
# function at 0 alone, and is best there. Least squares spreads its error over all rows.
exact = KernelRidge(Powers(3), alpha=0.0).fit(X, truth)
taylor = sum(exp(-1) * 1.5**k / factorial(k) * grid**k for k in range(4))
true_curve = np.exp(1.5 * grid - 1)
worst = {
    "Taylor": float(np.abs(taylor - true_curve).max()),
    "least squares": float(np.abs(exact.predict(grid[:, None]) - true_curve).max()),
}
print({name: round(value, 3) for name, value in worst.items()})
_, axes = plt.subplots(layout="constrained")
axes.plot(grid, taylor - true_curve, label="Taylor at 0")
axes.plot(
    grid, exact.predict(grid[:, None]) - true_curve, label="least squares, no noise"
)
axes.set(xlabel="x", ylabel="error", title="two polynomials of order 3")
axes.legend()
plt.show()
