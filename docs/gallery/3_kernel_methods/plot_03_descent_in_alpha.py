r"""
Gradient descent that never writes w down
=========================================

**The lecture says:** start the descent for the squared loss at w = 0. Each gradient is a sum of rows, so w stays one,
:math:`w = \sum_i \alpha_i x_i`, and the update can be written in the alphas alone:

.. math:: \alpha_i \leftarrow \alpha_i - s \gamma_i, \qquad \gamma_i = 2 \Bigl(\sum_j \alpha_j x_j^T x_i - y_i\Bigr).

Only inner products are left. Put a kernel in their place, and store its matrix once.

**We** descend both ways, step by step, and compare.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelRidge
from mercer.displays import CurveDisplay, DescentDisplay
from mercer.errors import NumericalWarning
from mercer.kernels import Gaussian
from mercer.lifts import Powers
from mercer.solvers import GradientDescent

# a descent that is stopped says so: here we stop it on purpose
warnings.simplefilter("ignore", NumericalWarning)
rng = np.random.default_rng(0)
X = np.linspace(-1, 1, 30)[:, None]
y = np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=30)

# %%
# **Two descents, one path.** Features are x, x^2 and x^3. The first loop has three weights, the second thirty alphas.
# After every step w is the same. Mercer goes either way: ``side="primal"`` has weights, ``side="dual"`` has alphas, and
# ``history_`` keeps them, and the losses, of every step.
features = Powers(3).fit_transform(X)
K = features @ features.T
s = 0.5 / np.linalg.eigvalsh(K)[-1]
w, alpha, gaps = np.zeros(3), np.zeros(30), []
for _ in range(200):
    w = w - s * 2 * features.T @ (features @ w - y)
    alpha = alpha - s * 2 * (K @ alpha - y)
    gaps.append(float(np.abs(w - features.T @ alpha).max()))
settings = {"alpha": 0.0, "fit_intercept": False}
solver = GradientDescent(step=s, max_iter=200, tol=0.0)
primal, dual = (
    KernelRidge(Powers(3), side=side, solver=solver, **settings).fit(X, y)
    for side in ("primal", "dual")
)
print(f"largest difference of w on the way: {max(gaps):.1e}")
print(f"w by the loop:    {w.round(3)}")
print(f"by Mercer:        {primal.history_.weights[-1].round(3)}")
print(f"from its alphas:  {(dual.history_.alphas[-1] @ features).round(3)}")
print(f"loss by the loop: {((features @ w - y) ** 2).sum():.6f}")
print(f"by Mercer:        {dual.history_.losses[-1]:.6f}")

# %%
# **With a kernel.** The Gaussian has no weights to write down; the alphas are all there is. Left: the loss. Right:
# two of the alphas on their way.
steps = GradientDescent(max_iter=500, tol=0.0)
kernel = KernelRidge(
    Gaussian(0.3), solver=steps, alpha=0.01, fit_intercept=False
).fit(X, y)
_, panels = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
drawn = DescentDisplay.from_estimator(kernel, pair=(3, 20), ax=panels)
plt.show()

# %%
# **Stopped early, it is smooth.** Directions in which the kernel is weak have hardly moved then, and those are the
# wiggly ones. That is a penalty without a penalty. With a short lengthscale one sees it well: after 3,000 steps the
# curve runs after the noise.
_, panels = plt.subplots(
    1, 3, figsize=(10.5, 3.4), layout="constrained", sharey=True
)
curves, places = {}, np.linspace(-1, 1, 200)[:, None]
for count, axes in zip((3, 30, 3000), panels, strict=True):
    early = GradientDescent(max_iter=count, tol=0.0)
    curves[count] = KernelRidge(Gaussian(0.1), solver=early, **settings).fit(X, y)
    CurveDisplay(places[:, 0], curves[count].predict(places), X=X, y=y).plot(axes)
    axes.set_title(f"{count} steps")
plt.show()

# %%
# **The stored matrix.** "If we store K, we only look up." A model can be given the matrix itself.
stored = KernelRidge(
    "precomputed", alpha=0.01, fit_intercept=False, solver=steps
).fit(Gaussian(0.3)(X), y)
print(f"same alphas: {np.allclose(stored.dual_coef_, kernel.dual_coef_)}")

# %%
# **Where the lecture slips.** "Since the loss is convex, the final solution is independent of the initialization."
# That needs more: with fewer rows than features there are many w of loss zero, and the descent ends at the one that is
# nearest to its start. One row, two weights: all of the dashed line is perfect. From zero one gets the shortest w, and
# only a start that is itself a sum of rows can be written in alphas.
row, target = np.array([1.0, 2.0]), 2.0
ends = {}
_, axes = plt.subplots(figsize=(5.5, 4.6), layout="constrained")
for start in ((0.0, 0.0), (1.5, 1.0), (-1.0, 0.5)):
    path = [np.array(start)]
    for _ in range(60):
        path.append(path[-1] - 0.03 * 2 * (path[-1] @ row - target) * row)
    ends[start] = path[-1]
    axes.plot(*np.transpose(path), ".-", label=f"from {start}")
line = np.linspace(-1.5, 2, 2)
axes.plot(line, (target - line) / 2, "--", color="0.5", label="loss zero")
axes.set(xlabel="w1", ylabel="w2", title="one row, two weights")
axes.set_aspect("equal")
axes.legend(fontsize="small")
plt.show()
