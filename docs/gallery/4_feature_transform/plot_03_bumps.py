r"""
Bumps that lift and push
========================

**The lecture says:** put a bump :math:`\exp(-\|x - x_i\|^2 / (2 \sigma^2))` on some of the rows, the centroids, and
use these as features. A positive weight gives the function a lift there, a negative one a push.

**We** draw every bump times its weight, and their sum.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelRidge
from mercer.displays import BasisDisplay
from mercer.kernels import Gaussian
from mercer.lifts import RadialBasis

rng = np.random.default_rng(4)
X = rng.uniform(0, 1, size=(100, 1))
y = np.sin(2 * np.pi * X[:, 0]) + 0.15 * rng.normal(size=100)
grid = np.linspace(0, 1, 300)[:, None]

# %%
# Seven of the rows are drawn at random, as in the lecture's picture.
bumps = RadialBasis("random", n_components=7, lengthscale=0.1, random_state=3)
model = KernelRidge(bumps, alpha=0.03, fit_intercept=False).fit(X, y)
weights = np.ravel(model.coef_)
drawn = BasisDisplay.from_estimator(
    model, X, y, ax=plt.subplots(figsize=(7, 4.4), layout="constrained")[1]
)
plt.show()

# %%
# **What one sees.** Where two centroids are near each other, one may lift and the other push, each by more than is
# needed. And where none is, the function falls to zero. Centers by k-means, which is Mercer's default, are spread
# where the rows are.
errors = {}
for name, centers in {"random": "random", "kmeans": "kmeans"}.items():
    found = []
    for seed in range(20):
        basis = RadialBasis(
            centers, n_components=7, lengthscale=0.1, random_state=seed
        )
        fit = KernelRidge(basis, alpha=0.03, fit_intercept=False).fit(X, y)
        found.append(
            float(
                np.sqrt(
                    np.mean(
                        (fit.predict(grid) - np.sin(2 * np.pi * grid[:, 0])) ** 2
                    )
                )
            )
        )
    errors[name] = found
_, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
axes.boxplot(
    list(errors.values()), orientation="horizontal", tick_labels=list(errors)
)
axes.set(xlabel="error against the truth, 20 draws", xscale="log")
plt.show()

# %%
# **Where the lecture slips.** It calls the set where f is not zero the support of f, "balls of radius sigma". But a
# bump is nowhere zero: strictly, the support is everything. What is meant is where f is not *small*: two lengthscales
# away a bump has 14 % of its height left, and three away 1 %.
#
# **"RBF kernel and RBF basis function is not the same thing despite a similar look"**, it warns, and is right. Seven
# bumps are seven features: the matrix of their kernel has rank 7, however many rows there are. The Gaussian kernel
# has a bump on *every* row. Its matrix has full rank, though most of it is too small for floating-point numbers to
# see.
ranks = {
    "basis": int(np.linalg.matrix_rank(model.lift_.kernel(X))),
    "kernel": int(np.linalg.matrix_rank(Gaussian(0.1)(X))),
    "kernel, narrow": int(np.linalg.matrix_rank(Gaussian(0.001)(X))),
}
left = np.exp(-(np.array([2.0, 3.0]) ** 2) / 2)
print(ranks, left.round(3))
