r"""
The curse of dimension, counted
===============================

**The lecture says:** a function that is supported everywhere needs centroids everywhere. The number of balls that this
takes, the packing number, grows exponentially with the dimension: :math:`b = O(c^d)`.

**We** count it for points of a cube, and see what it does to a fit.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelRidge
from mercer.geometry import packing_bounds, packing_number
from mercer.lifts import RadialBasis

RADIUS = 0.25

# %%
# 8,000 points are drawn in the unit cube, and taken greedily, each that is farther than r from those before. Balls of
# radius r around those that are taken cover all that were drawn, and balls of half the radius do not meet. No more
# balls of radius r/2 fit into the cube with its margin than their volumes allow: so many are taken at most. To cover
# the whole cube, no fewer balls of radius r will do than have its volume. That is a bound for the cube, and not for our
# count, whose balls have only seen the points that were drawn; but they are many, and the count stays above it here.
dimensions = [1, 2, 3, 4, 5]
counts = [
    packing_number(np.random.default_rng(d).uniform(size=(8000, d)), RADIUS)
    for d in dimensions
]
lower, upper = zip(*(packing_bounds(d, RADIUS) for d in dimensions), strict=True)
print(dict(zip(dimensions, counts, strict=True)))
_, axes = plt.subplots(layout="constrained")
axes.semilogy(dimensions, counts, "o-", label="counted")
axes.fill_between(
    dimensions, lower, upper, alpha=0.2, label="between the bounds by volume"
)
axes.set(
    xlabel="columns d",
    ylabel="balls of radius 1/4",
    title="how many balls cover 8,000 points of the cube",
    xticks=dimensions,
)
axes.legend()
plt.show()

# %%
# **What one sees.** Each further column multiplies the number by more than three. A hundred columns have no chance.
#
# **Where the lecture slips.** The number of balls that *cover* a space is its covering number. The packing number is
# how many balls fit in *without meeting*. The two are nearly the same, which is what our greedy count uses: of the
# points that were drawn, it is between the covering number of r and the packing number of r/2.
#
# And :math:`c^d` depends on the space. It is right for a ball of radius R in every dimension, which
# :math:`(1 + 2 R / r)^d` balls of radius r cover. But the diagonal of the unit cube grows with the dimension. By volume
# it takes at least :math:`\Gamma(d/2 + 1) / (\pi^{d/2} r^d)` balls. Each further column multiplies that by about
# :math:`\sqrt{d / (2 \pi)} / r` where d is large, by more and more: no :math:`c^d` keeps up. The first factors:
factors = np.divide(lower[1:], lower[:-1])
print(factors.round(1))

# %%
# **What it does to a fit.** The target is a wave along each column, added up. Bumps on 60 centers, whatever the
# dimension; and the Gaussian kernel, which has one on each of the 600 rows.
rng = np.random.default_rng(0)
scores = {
    "60 bumps": [],
    "Gaussian kernel": [],
    "a sum of kernels, one per column": [],
}
columns = [1, 2, 3, 4, 6, 8]
for d in columns:
    X, new = rng.uniform(size=(600, d)), rng.uniform(size=(600, d))
    y, truth = (np.sin(4 * table).sum(axis=1) / np.sqrt(d) for table in (X, new))
    y = y + 0.05 * rng.normal(size=600)
    additive = " + ".join(f"gaussian(0.3).on([{k}])" for k in range(d))
    models = (
        KernelRidge(RadialBasis("kmeans", 60, lengthscale=0.3, random_state=0)),
        KernelRidge("gaussian(0.3)"),
        KernelRidge(additive),
    )
    for found, model in zip(scores.values(), models, strict=True):
        found.append(float(model.fit(X, y).score(new, truth)))
_, axes = plt.subplots(layout="constrained")
for name, found in scores.items():
    axes.plot(columns, found, "o-", label=name)
axes.set(
    xlabel="columns d",
    ylabel="R squared on new rows",
    title="600 rows",
    ylim=(0.65, 1.02),
)
axes.legend()
plt.show()

# %%
# **And a kernel is no cure by itself.** It has more centers, and holds out a little longer; but 600 rows do not cover
# eight dimensions either. What helps is to know something: that the columns act one by one, say. A sum of kernels,
# one per column, says just that, and does not mind the dimension.
