r"""
All interactions, at the price of a product
===========================================

**The lecture says:** we do not know which features we need, so add all we can think of: the product of the columns of
every subset. These are too many to write down. But the inner product of two such rows is

.. math:: \phi(x) \cdot \phi(z) = \prod_{k=1}^d (1 + x_k z_k),

a product of d terms.

**We** check it, use it to find an interaction that no linear model sees, and measure what it saves.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelRidge
from mercer.kernels import Subsets as SubsetsKernel
from mercer.lifts import Subsets

lift = Subsets().fit(np.zeros((1, 3)))
names = lift.get_feature_names_out().tolist()
print(names)

rng = np.random.default_rng(0)
x, z = rng.normal(size=(2, 1, 3))
by_features = float((lift.transform(x) @ lift.transform(z).T)[0, 0])
by_product = float(np.prod(1 + x * z))
by_kernel = float(lift.kernel(x, z)[0, 0])
print(f"{by_features:.6f} by {len(names)} features, {by_product:.6f} by 3 factors")
print(f"{by_kernel:.6f} by the kernel")

# %%
# **What it is good for.** Six columns, and a target that is made of two interactions and noise. A linear model sees
# nothing. Least squares with the kernel of all subsets finds both, among 64 features.
X = rng.normal(size=(400, 6))
y = 2 * X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3] * X[:, 4] + 0.3 * rng.normal(size=400)
new = rng.normal(size=(400, 6))
truth = 2 * new[:, 0] * new[:, 1] - new[:, 2] * new[:, 3] * new[:, 4]
linear = KernelRidge("linear").fit(X, y)
subsets = KernelRidge(Subsets()).fit(X, y)
scores = {
    "linear": float(linear.score(new, truth)),
    "subsets": float(subsets.score(new, truth)),
}
print({name: round(score, 3) for name, score in scores.items()})

features = subsets.lift_.get_feature_names_out()
weights = np.ravel(subsets.coef_)
largest = features[np.argsort(-np.abs(weights))[:2]].tolist()
_, axes = plt.subplots(figsize=(10, 4), layout="constrained")
axes.bar(range(len(weights)), weights)
for place in np.argsort(-np.abs(weights))[:2]:
    axes.annotate(
        features[place],
        (place, weights[place]),
        ha="center",
        va="bottom" if weights[place] > 0 else "top",
    )
axes.set(
    xlabel="subsets, small ones first",
    ylabel="weight",
    title="64 features, of which two matter",
    ylim=(-1.4, 2.4),
)
plt.show()

# %%
# **What it saves.** The features double with each column, the product has one factor more.
columns = range(2, 17, 2)
seconds = {"all features": [], "the kernel": []}
for d in columns:
    rows = rng.normal(size=(100, d))
    wide = Subsets().fit(rows)
    for name, work in {
        "all features": lambda: wide.transform(rows),
        "the kernel": lambda: SubsetsKernel()(rows),
    }.items():
        found = []
        for _ in range(5):
            start = time.perf_counter()
            work()
            found.append(time.perf_counter() - start)
        seconds[name].append(min(found))
_, axes = plt.subplots(layout="constrained")
for name, times in seconds.items():
    axes.semilogy(columns, times, ".-", label=name)
axes.set(
    xlabel="columns d",
    ylabel="seconds",
    title="100 rows: their features, or all their inner products",
)
axes.legend()
plt.show()

# %%
# **Where the lecture slips.** The sum has :math:`2^d` terms, one per subset, and not :math:`2^{2d}`: the features of
# two rows are multiplied one with one. And how many features has its first list, without the 1? One less,
# :math:`2^d - 1`; ours counts the empty subset, whose product is 1.
#
# **Where one should be careful.** On columns of -1 and 1 the product is :math:`2^d` for equal rows and 0 for all
# others: nothing is learned from one row about another. There one takes small subsets alone, ``Subsets(max_order=2)``.
signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1).T
on_signs = SubsetsKernel()(signs)
small = SubsetsKernel(max_order=2)(signs)
counts = {
    "all subsets": np.count_nonzero(on_signs),
    "small": np.count_nonzero(small),
}
print(f"values that are not zero, of 64: {counts}")
