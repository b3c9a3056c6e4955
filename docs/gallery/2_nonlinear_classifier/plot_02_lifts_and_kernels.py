r"""
Kernels from lifts, lifts from kernels: exercises 19 and 20
===========================================================

**The lecture says:** the inner product of two lifted rows can be cheap, though the lift has many features. It asks for
both ways: which kernel has this lift (exercise 19), and which lift has this kernel (exercise 20)?

**We** answer both with the program. ``mercer.lift(kernel, d)`` writes the features of a kernel down, and every lift
knows its kernel.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer
from mercer.displays import GramDisplay
from mercer.kernels import Linear, Polynomial

# %%
# **Exercise 19.** The features are :math:`x_1, x_2, x_1^2, \sqrt 2 x_1 x_2, x_2^2`. Candidate B is
# :math:`\langle x, z \rangle + \langle x, z \rangle^2`. Its lift is just that, down to the root of 2.
nineteen = mercer.lift(Linear() + Linear() ** 2, 2)
names_19 = nineteen.get_feature_names_out().tolist()
print(names_19)

# %%
# The other candidates have other lifts, and other values on the same two points.
x, z = np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])
by_lift = float((nineteen.transform(x) @ nineteen.transform(z).T)[0, 0])
candidates = {
    "A": Linear(),
    "B": Linear() + Linear() ** 2,
    "C": Linear() ** 2,
    "D": 2 * Linear() ** 2,
}
for letter, kernel in candidates.items():
    print(f"{letter}. {kernel!s:25}{kernel(x, z)[0, 0]:6.1f}")
print(f"   phi(x).phi(z){by_lift:18.1f}")

# %%
# **Exercise 20.** The kernel is :math:`x_1 z_1 + x_2 z_2 + x_3 z_3 + x_2 z_3 + x_3 z_2`. That is :math:`x^T M z` with
# the matrix below. Its eigenvalues are 0, 1 and 2, none of them negative, so it is a kernel; and since one is zero,
# two features are enough. We try each candidate against it, on all pairs of 40 points.
M = np.array([[1.0, 0, 0], [0, 1, 1], [0, 1, 1]])
print("eigenvalues:", np.linalg.eigvalsh(M).round(12))
# one line per feature: what it takes of x1, x2 and x3
twenty = {
    "A": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "B": [[1, 1, 1]],
    "C": [[1, 0, 0], [0, 1, 1]],
    "D": [[1, 0, 1], [1, 1, 0]],
}
points = np.random.default_rng(0).normal(size=(40, 3))
differences = {}
for letter, taken in twenty.items():
    values = Linear().after(taken)(points)
    differences[letter] = float(np.abs(values - points @ M @ points.T).max())
    print(f"{letter}. differs from the kernel by {differences[letter]:.1e} at most")

# %%
# Only C gives the kernel: :math:`[x_1, x_2 + x_3]`. And the lift of its kernel is C again.
answer = mercer.lift(Linear().after(twenty["C"]), 3)
names_20 = answer.get_feature_names_out().tolist()
print(names_20)

# %%
# **Where the lecture slips.** It writes
# :math:`\langle x, z \rangle + \langle x, z \rangle^2 + \cdots = (1 + \langle x, z \rangle)^p`. Both sides are
# kernels, but not the same one: the binomial coefficients are missing, and the constant. For p = 3 the features are
# the same but for the 1; their weights differ.
p = 3
left = mercer.lift(Linear() + Linear() ** 2 + Linear() ** 3, 1)
right = mercer.lift(Polynomial(p), 1)
print("left: ", left.get_feature_names_out().tolist())
print("right:", right.get_feature_names_out().tolist())

# %%
# **What one sees.** The matrix of a kernel on 40 points, and its eigenvalues. The features are counted by them:
# exercise 19 has five that are not rounding, however many points there are.
X = np.random.default_rng(0).normal(size=(40, 2))
drawn = GramDisplay.from_kernel(
    Linear() + Linear() ** 2,
    X,
    order="eigenvector",
    ax=plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")[1],
)
rank = int((drawn.eigenvalues_ > 1e-10 * drawn.eigenvalues_[0]).sum())
print(rank, "eigenvalues above rounding")
plt.show()
