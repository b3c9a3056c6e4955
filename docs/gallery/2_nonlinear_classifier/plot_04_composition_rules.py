r"""
Rules that keep a kernel a kernel
=================================

**The lecture says:** four rules make kernels of kernels.

1. 1 is a kernel.
2. :math:`f(x) K(x, z) f(z)` is one, for any function f.
3. The sum of two kernels is one.
4. The product of two kernels is one.

**We** write kernels as formulas. A proof is then a walk over the formula, and each step names its rule.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer
from mercer.kernels import Gaussian, Linear, Periodic

kernel = 0.5 * Gaussian(2.0) * Periodic(period=1.0) + Linear()
proof = mercer.prove(kernel)
print(proof)

# %%
# **Each rule has its lift.** A sum of kernels puts the features side by side. A product multiplies each feature of one
# with each of the other. A weight f(x) multiplies all features by f(x). So rule 4, the only one that surprises, is an
# inner product as well: :math:`\sum_{ij} (a_i b_j)(a_i' b_j') = \sum_i a_i a_i' \sum_j b_j b_j'`.
one, two = (
    mercer.lift(1 + Linear().on([0]), 2),
    mercer.lift(1 + Linear().on([1]), 2),
)
both = mercer.lift((1 + Linear().on([0])) * (1 + Linear().on([1])), 2)
names = {
    str(lift.kernel_): lift.get_feature_names_out().tolist()
    for lift in (one, two, both)
}
for text, features in names.items():
    print(f"{text}: {features}")

# %%
# **What one sees.** Draws of random functions with the covariance k: what a kernel believes before it has seen data.
# The sum does both at once, a trend and a wave; the product does one inside the other, a wave whose shape drifts.
t = np.linspace(0, 6, 300)[:, None]
kernels = {
    "gaussian(2)": Gaussian(2.0),
    "periodic": Periodic(period=1.0),
    "their sum": Gaussian(2.0) + Periodic(period=1.0),
    "their product": Gaussian(2.0) * Periodic(period=1.0),
}
smallest = {}
figure, panels = plt.subplots(
    1, 4, figsize=(10.5, 2.9), layout="constrained", sharey=True
)
for (name, each), axes in zip(kernels.items(), panels, strict=True):
    values, vectors = np.linalg.eigh(each(t))
    smallest[name] = float(values[0] / values[-1])
    roots = vectors * np.sqrt(np.maximum(values, 0))
    axes.plot(t, roots @ np.random.default_rng(3).normal(size=(len(t), 3)))
    axes.set_title(name)
plt.show()

# %%
# **What the rules do not allow.** A difference of kernels is none in general, and Mercer refuses to build one. Asked
# as a plain function it is refuted, by a point at which the squared length would be negative. And no rule says that a
# function that looks like a kernel is one: the sigmoid, :math:`\tanh \langle x, z \rangle`, is not.
difference = mercer.prove(lambda x, z: float(x @ z) - 1.0, d=1)
sigmoid = mercer.prove("sigmoid", d=1)
print(difference.witness)
print(sigmoid.witness)
