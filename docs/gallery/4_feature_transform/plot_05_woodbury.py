r"""
Woodbury both ways
==================

**The lecture says:** regularised least squares has two formulas for the same weights,

.. math::

   w = (\Phi \Phi^T + \lambda I)^{-1} \Phi y^T = \Phi (\Phi^T \Phi + \lambda I)^{-1} y^T.

The first solves for one number per feature (the primal side), the second for one per row (the dual side). And in the
second the features meet only in inner products.

**We** compute both, prove it in two lines, and measure which is cheaper when.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelRidge
from mercer.lifts import Polynomial

rng = np.random.default_rng(0)
X, penalty = rng.normal(size=(50, 2)), 0.1
y = np.exp(X[:, 0]) - X[:, 1] + 0.1 * rng.normal(size=50)
# as in the lecture: one column per row of the table
Phi = Polynomial(3).fit_transform(X).T
b, n = Phi.shape
primal = np.linalg.solve(Phi @ Phi.T + penalty * np.eye(b), Phi @ y)
dual = Phi @ np.linalg.solve(Phi.T @ Phi + penalty * np.eye(n), y)
print(
    f"{b} features, {n} rows: the weights differ by {np.abs(primal - dual).max():.1e}"
)

# %%
# **The homework, proven.** Multiply out, both ways round:
#
# .. math:: (\Phi \Phi^T + \lambda I)\, \Phi = \Phi \Phi^T \Phi + \lambda \Phi = \Phi\, (\Phi^T \Phi + \lambda I).
#
# Now multiply with the inverse of the left bracket from the left, and of the right one from the right. Both brackets
# can be inverted, since :math:`\lambda > 0`. That is the identity of the hint with :math:`P = I / \lambda` and
# :math:`B = \Phi^T`.

# %%
# **The model is one.** ``KernelRidge`` takes the kernel, or the lift, and solves the cheaper side. Its plan says
# which.
model = KernelRidge("polynomial(degree=3)", alpha=penalty, fit_intercept=False).fit(
    X, y
)
few = KernelRidge("polynomial(degree=3)", alpha=penalty, fit_intercept=False).fit(
    X[:6], y[:6]
)
difference = float(np.abs(model.predict(X) - Phi.T @ primal).max())
print(
    f"50 rows: {model.plan_.details.side}, differs by {difference:.1e}; 6 rows: {few.plan_.details.side}"
)

# %%
# **What each costs.** n rows and b features: the primal needs :math:`n b^2 + b^3 / 3` operations, the dual
# :math:`n^2 b + n^3 / 3`. We measure both for 500 rows.
rows, counts = 500, [16, 32, 64, 125, 250, 500, 1000, 2000, 4000]
seconds = {"primal": [], "dual": []}
for count in counts:
    A, target = rng.normal(size=(rows, count)), rng.normal(size=rows)
    ways = {
        "primal": lambda: np.linalg.solve(
            A.T @ A + penalty * np.eye(count), A.T @ target
        ),
        "dual": lambda: (
            A.T @ np.linalg.solve(A @ A.T + penalty * np.eye(rows), target)
        ),
    }
    for name, solve in ways.items():
        if name == "primal" and count > 2000:
            continue  # it takes long enough
        found = []
        for _ in range(3):
            start = time.perf_counter()
            solve()
            found.append(time.perf_counter() - start)
        seconds[name].append(min(found))
_, axes = plt.subplots(layout="constrained")
for name, times in seconds.items():
    axes.loglog(counts[: len(times)], times, ".-", label=name)
axes.axvline(rows, color="0.5", linewidth=0.8, linestyle="--")
axes.set(xlabel="features b", ylabel="seconds", title=f"{rows} rows (dashed)")
axes.legend()
plt.show()

# %%
# **What one sees.** The lines cross where there are as many features as rows. To the right the primal grows with the
# cube of b, and the dual in proportion to b: its products of features take :math:`n^2 b`. A kernel gives these
# products without the features, and takes even that away. With infinitely many features only the dual is left.
#
# **Where one should be careful.** In the lecture phi(X) has a row of ones at first, for the constant, and the penalty
# falls on that as well; later the row is gone, and there is no constant at all. Mercer has a constant beside the
# function that is not penalised (``fit_intercept=True``), so that a shift of y shifts the predictions and nothing
# else. With the row of ones it does more.
shift = {}
for name, ones in (("the lecture", False), ("Mercer", True)):
    kernel = "1 + linear" if not ones else "linear"
    at, up = (
        KernelRidge(kernel, alpha=5.0, fit_intercept=ones).fit(X, values).predict(X)
        for values in (y, y + 100)
    )
    shift[name] = float(np.abs(up - at - 100).max())
print({name: f"{value:.1e}" for name, value in shift.items()})
