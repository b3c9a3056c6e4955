r"""
From a halfspace to a ball
==========================

**The lecture says:** put one more column beside the others, the sum of their squares,

.. math:: \phi(x) = (x_1, \ldots, x_d, x_1^2 + \cdots + x_d^2).

A halfspace of these features is a ball of the columns. A linear classifier then draws circles.

**We** label points by a circle, fit a linear classifier on the lift, and read the circle back from its weights.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer
from mercer import KernelSVC
from mercer.displays import BoundaryDisplay, ParabolicDisplay
from mercer.geometry import Ball, preimage
from mercer.lifts import Parabolic

true = Ball([0.3, 0.2], radius=1.2)
X = np.random.default_rng(0).uniform(-2, 2, size=(200, 2))
X = X[np.abs(true.value(X)) > 0.2]  # a gap, so that there is something to separate
y = np.where(true.contains(X), "within", "outside")

# %%
# The classifier knows nothing of circles. It looks for a plane between the lifted points: the parabolic kernel is the
# inner product of two of them. ``mercer.region`` says what that plane is in the space of the columns.
model = KernelSVC("parabolic", C=1e4).fit(X, y)
found = mercer.region(model)
print("true: ", true)
print("found:", found)

# %%
# **What one sees.** The paraboloid lifts the outside above the inside. The plane cuts it in a curve, and the shadow of
# that curve on the floor is the circle. It differs a little from the true one: any circle within the gap will do, and
# the classifier takes the one with the widest margin *on the lift*.
figure = plt.figure(figsize=(9.5, 4.4), layout="constrained")
ParabolicDisplay.from_estimator(
    model, X, y, ax=figure.add_subplot(1, 2, 1, projection="3d")
)
flat = BoundaryDisplay.from_estimator(
    model, X, y, support=False, ax=figure.add_subplot(1, 2, 2)
)
flat.ax_.set_aspect("equal")
plt.show()

# %%
# **Where the lecture slips.** It states the halfspace twice, and only the second time the derivation gives it:
#
# .. math:: \|x - c\|^2 \le r^2 \iff \langle (2c, -1), \phi(x) \rangle \ge \|c\|^2 - r^2.
#
# The first statement has the weights :math:`(-2c, 1)` with the same threshold. We try both on the points.
c, r = true.center, true.radius
features = Parabolic().fit_transform(X)
first = features @ [*(-2 * c), 1.0] > c @ c - r**2
second = features @ [*(2 * c), -1.0] >= c @ c - r**2
inside = true.contains(X)
wrong = {
    "as first stated": int((first != inside).sum()),
    "as derived": int((second != inside).sum()),
}
print(f"points on the wrong side, of {len(X)}: {wrong}")

# %%
# **A remark that is right.** "Some values of r' are not feasible": a threshold above :math:`\|c\|^2` asks for a
# negative squared radius. No point is in that region, and Mercer says so. With a zero in place of the -1 the region
# is a halfspace of the columns: the lift has lost nothing.
lift = Parabolic().fit(X)
nowhere = preimage(lift, [*(2 * c), -1.0], -(c @ c + 0.1))
halfplane = preimage(lift, [1.0, 2.0, 0.0], -0.5)
print(nowhere)
print(halfplane)
