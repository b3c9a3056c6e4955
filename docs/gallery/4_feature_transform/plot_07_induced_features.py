r"""
Which features does a kernel induce?
====================================

**The lecture says:** if an explicit phi can be derived from k, then k induces it. The linear kernel induces x itself.
For the polynomial kernel of degree 2 it is homework. The Gaussian's is infinite dimensional.

**We** have the homework done by the program, and look at the infinitely many.
"""

from math import factorial

import matplotlib.pyplot as plt
import numpy as np

import mercer
from mercer.errors import KernelError
from mercer.kernels import Gaussian, Polynomial

# %%
# **The homework.** In two columns, and in three:
names = {
    d: mercer.lift(Polynomial(2), d).get_feature_names_out().tolist()
    for d in (2, 3)
}
for found in names.values():
    print(found)

# %%
# By hand:
# :math:`(1 + x_1 z_1 + x_2 z_2)^2 = 1 + 2 x_1 z_1 + 2 x_2 z_2 + x_1^2 z_1^2 + 2 x_1 x_2 z_1 z_2 + x_2^2 z_2^2`, and
# each term is a feature of x times the same feature of z.

# %%
# **The Gaussian** has no finite lift, and Mercer says what to do instead.
try:
    mercer.lift(Gaussian(), 1)
except KernelError as error:
    refusal = str(error)
print(refusal)

# %%
# But its features can be written down one after the other. On the line,
#
# .. math::
#
#    e^{-(x - z)^2 / 2} = e^{-x^2 / 2} e^{-z^2 / 2} e^{xz} = \sum_{k=0}^\infty \phi_k(x) \phi_k(z), \qquad
#    \phi_k(x) = e^{-x^2 / 2} \frac{x^k}{\sqrt{k!}}.
#
# Left: the first of them. Right: how far the sum of the first m is from the kernel, on three intervals.
x = np.linspace(-4, 4, 401)[:, None]


def feature(k, x):
    """phi_k, as above."""
    return np.exp(-(x[:, 0] ** 2) / 2) * x[:, 0] ** k / np.sqrt(float(factorial(k)))


figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for k in range(7):
    left.plot(x, feature(k, x), label=f"k = {k}")
left.set(xlabel="x", title="the first seven features")
left.legend(fontsize="small")
errors = {}
for reach in (1, 2, 4):
    near = x[np.abs(x[:, 0]) <= reach]
    exact, total, errors[reach] = Gaussian()(near), 0.0, []
    for k in range(41):
        total = total + np.outer(feature(k, near), feature(k, near))
        errors[reach].append(float(np.abs(total - exact).max()))
    right.semilogy(range(1, 42), errors[reach], label=f"|x| up to {reach}")
right.set(xlabel="features m", ylabel="largest error", title="how many are enough")
right.legend()
plt.show()

# %%
# **What one sees.** Infinitely many, but not all of them matter. On a bounded set of rows the error falls faster than
# any power, and later where the rows reach farther, in units of the lengthscale. This is why landmarks and random
# waves work: a matrix of a smooth kernel has few eigenvalues that are not nearly zero.
eigenvalues = np.linalg.eigvalsh(Gaussian()(x))[::-1]
many = {
    tolerance: int((eigenvalues > tolerance * eigenvalues[0]).sum())
    for tolerance in (1e-3, 1e-6, 1e-12)
}
print(f"eigenvalues of {len(x)} rows above a part of the largest: {many}")
