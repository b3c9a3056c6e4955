r"""
Three kernels, and the distance that each induces
=================================================

**The lecture says:** a kernel is a notion of similarity. Within about sigma two points are close, beyond they are far.
It names three: the Gaussian, the Laplace kernel and the sinc kernel. And it makes a distance of each,

.. math:: \|x - p\|_K^2 = K(x, x) + K(p, p) - 2 K(x, p).

**We** draw the three against the distance of two points, and the distance that each makes of it.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer
from mercer.kernels import Gaussian, Laplace, Polynomial, ProductSinc, Sinc

r = np.linspace(0, 8, 400)[:, None]
origin = np.zeros((1, 1))
kernels = {"Gaussian": Gaussian(1.0), "Laplace": Laplace(1.0), "sinc": Sinc(1.0)}
values = {name: kernel(r, origin)[:, 0] for name, kernel in kernels.items()}
distances = {
    name: kernel.distance(r, origin)[:, 0] for name, kernel in kernels.items()
}

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
for name in kernels:
    left.plot(r, values[name], label=name)
    right.plot(r, distances[name], label=name)
right.axhline(np.sqrt(2), color="0.5", linewidth=0.8, linestyle="--")
left.set(xlabel="|x - z| / lengthscale", ylabel="k(x, z)", title="similarity")
right.set(
    xlabel="|x - z| / lengthscale",
    ylabel="kernel distance",
    title="distance; dashed: the root of 2",
)
left.legend()
plt.show()

# %%
# **What one sees.** Near zero the Gaussian's distance is the distance itself, over the lengthscale; that of the
# Laplace kernel rises like its root. Far away both forget how far: the distance stays at :math:`\sqrt 2`, that of two
# unit vectors at a right angle. The sinc kernel swings, so that a point that is farther may seem nearer.
#
# **Where the lecture slips, first.** It writes the sinc kernel with a minus, :math:`(\sigma / r) \sin(-r / \sigma)`.
# Then :math:`K(x, x) = -1`, and no squared length is negative. Without the minus it is a kernel in up to three
# dimensions; in four there are points that refute it. The product of one sinc per column is a kernel in all.
minus = mercer.prove(lambda x, z: -np.sinc(np.linalg.norm(x - z) / np.pi), d=1)
three, four, product = (
    mercer.prove(Sinc(), d=3),
    mercer.prove(Sinc(), d=4),
    mercer.prove(ProductSinc(), d=4),
)
for proof in (minus, three, four, product):
    print(f"[{proof.status}] {proof.claim}")

# %%
# A refutation comes with points and weights. Anyone can check them: the sum below would be a squared length.
points, weights = four.witness.points, four.witness.weights
form = float(weights @ Sinc()(points) @ weights)
print(f"{len(points)} points in four dimensions: c @ k(X) @ c = {form:.4f}")

# %%
# **Where it slips, second.** "For reproducing kernels each phi(x) is linearly independent of all others." So it is for
# the Gaussian. But every kernel is a reproducing one, and the quadratic kernel of the plane has six features: seven
# lifted points are always dependent. What is meant is a *strictly* positive definite kernel.
X = np.random.default_rng(0).normal(size=(12, 2))
ranks = {
    name: int(np.linalg.matrix_rank(k(X)))
    for name, k in [("Gaussian", Gaussian()), ("quadratic", Polynomial(2))]
}
print(f"rank of the matrix of {len(X)} points: {ranks}")
