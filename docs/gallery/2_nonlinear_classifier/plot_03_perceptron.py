r"""
The perceptron, in features and in coefficients
===============================================

**The lecture says:** go through the rows. Where :math:`y_i (\theta \cdot x_i) \le 0`, add :math:`y_i x_i` to theta.
Since theta is then a sum of rows, :math:`\theta = \sum_j \alpha_j y_j \phi(x_j)`, the same algorithm can be written in
the alphas: where

.. math:: y_i \sum_j \alpha_j y_j K(x_j, x_i) \le 0,

add 1 to :math:`\alpha_i`. No feature is ever computed.

**We** run both, check that they make the same mistakes, and watch the boundary move.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelPerceptron, Perceptron
from mercer.displays import HistoryDisplay, StepsDisplay
from mercer.lifts import Polynomial

rng = np.random.default_rng(2)
X = rng.normal(size=(120, 2))
height = X @ [1.0, 2.0] - 0.5
X, height = X[np.abs(height) > 0.3], height[np.abs(height) > 0.3]
y = np.where(height > 0, "above", "below")
linear = Perceptron(max_iter=100).fit(X, y)

# %%
# **What one sees, first.** Each mistake tips the line. Pale lines are early, the black one is the last. Rows that were
# misclassified are ringed. They are few, and the function is made of them alone.
ellipse = X[:, 0] ** 2 + 2 * X[:, 1] ** 2
kept = np.abs(ellipse - 1.5) > 0.2
X_ellipse, y_ellipse = X[kept], np.where(ellipse[kept] < 1.5, "inside", "outside")
kernel = KernelPerceptron("polynomial(degree=2)", max_iter=2000).fit(
    X_ellipse, y_ellipse
)

figure, panels = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
StepsDisplay.from_estimator(linear, X, y, ax=panels[0])
StepsDisplay.from_estimator(kernel, X_ellipse, y_ellipse, ax=panels[1])
panels[0].set_title(f"on the columns: {linear.history_.sum()} mistakes")
panels[1].set_title(f"by a kernel of degree 2: {kernel.history_.sum()} mistakes")
plt.show()

# %%
# **The same algorithm.** On the features of the quadratic kernel the plain perceptron makes the same mistakes in the
# same passes. And the loop of the lecture, written out in six lines, ends at the same alphas.
lifted = Perceptron(Polynomial(2), fit_intercept=False, max_iter=2000).fit(
    X_ellipse, y_ellipse
)
same = bool(np.array_equal(kernel.history_, lifted.history_))
K = (1 + X_ellipse @ X_ellipse.T) ** 2
sign = np.where(y_ellipse == kernel.classes_[1], 1.0, -1.0)
alpha, mistakes = np.zeros(len(K)), 1
while mistakes:
    mistakes = 0
    for i in range(len(K)):
        if sign[i] * (alpha * sign) @ K[:, i] <= 0:
            alpha[i], mistakes = alpha[i] + 1, mistakes + 1
differ = np.abs(kernel.alpha_ - alpha).max()
print(f"same mistakes: {same}; largest difference of alphas: {differ:.0f}")
print(f"most mistakes at one row: {kernel.mistakes_.max()}, of {len(alpha)} rows")

# %%
# **How long does it take?** If some function separates the rows with margin :math:`\gamma`, there are at most
# :math:`(R / \gamma)^2` mistakes, where R is the length of the longest lifted row. The lecture leaves that out; it is
# why the loop ends at all. The bound is a worst case, and far from what happens here: one row is long, and the margin
# of the last function is small, as nothing in the algorithm makes it wide.
_, axes = plt.subplots(layout="constrained")
HistoryDisplay.from_estimator(kernel, ax=axes)
axes.set_title(
    f"{kernel.history_.sum()} mistakes; its own margin allows {kernel.mistake_bound_:,.0f}"
)
plt.show()

# %%
# **Where the lecture slips.** In the algorithm the bracket stands at the wrong place: it reads
# :math:`y (\theta \cdot x \le 0)`, and should read :math:`y (\theta \cdot x) \le 0`. And "initialise the alphas to
# some values" wants zeros: other values are another start, with another bound.
