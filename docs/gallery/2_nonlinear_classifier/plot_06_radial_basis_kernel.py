r"""
The radial basis kernel, and its boundary
=========================================

**The lecture says:** :math:`K(x, z) = \exp(-\|x - z\|^2 / 2)` has infinitely many features, and so unlimited
expressive power. The boundary is where :math:`\sum_j \alpha_j y_j K(x_j, x) = 0`.

**We** give it two spirals, and three lengthscales. The lecture's kernel has none: it is the one in the middle.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelSVC
from mercer.displays import BoundaryDisplay

turn = np.arange(97) * np.pi / 16
arm = (6.5 * (104 - np.arange(97)) / 104)[:, None] * np.column_stack(
    [np.cos(turn), np.sin(turn)]
)
X, y = np.vstack([arm, -arm]), np.repeat(["one", "other"], 97)

figure, panels = plt.subplots(
    1, 3, figsize=(10.5, 3.8), layout="constrained", sharey=True
)
models = {}
for lengthscale, axes in zip((0.15, 1.0, 4.0), panels, strict=True):
    models[lengthscale] = model = KernelSVC(f"gaussian({lengthscale})", C=1e3).fit(
        X, y
    )
    BoundaryDisplay.from_estimator(model, X, y, support=False, ax=axes)
    axes.set_title(f"lengthscale {lengthscale}: {model.score(X, y):.0%} right")
    axes.set_aspect("equal")
    axes.get_legend().remove()
plt.show()

# %%
# **What one sees.** In the middle the boundary winds between the spirals: a plane in a space of infinitely many
# features. On the left f is nearly zero a little way from each row (there is no dashed line, where it is 1 or -1):
# rows are learned by heart, and what the sign of so small a number says is nearly chance. On the right the kernel is
# so smooth that it cannot turn fast enough at this C.
#
# **Where one should be careful.** "Unlimited expressive power" is true: the matrix of different points is never
# singular, so any labels can be had. But it says nothing about points that were not seen. We leave out every fifth
# point, and ask for it.
held = np.arange(len(X)) % 5 == 0
scores = {}
for lengthscale in (0.05, 0.15, 0.5, 1.0, 2.0, 4.0):
    model = KernelSVC(f"gaussian({lengthscale})", C=1e3).fit(X[~held], y[~held])
    seen, left_out = model.score(X[~held], y[~held]), model.score(X[held], y[held])
    scores[lengthscale] = float(seen), float(left_out)
    print(
        f"lengthscale {lengthscale:<5} seen: {seen:4.0%}   left out: {left_out:4.0%}"
    )

# %%
# **And the boundary is the formula.** The sum over the rows, written out, is the decision function. (The machine has a
# constant beside it, the theta_0 of the lecture's first sections, which this formula leaves out.)
model = models[1.0]
place = np.array([[0.5, 0.7]])
rows, coefficients = X[model.support_], model.dual_coef_.ravel()
by_hand = float(
    coefficients @ np.exp(-((rows - place) ** 2).sum(axis=1) / 2)
    + np.ravel(model.intercept_)[0]
)
by_model = float(model.decision_function(place)[0])
print(f"{by_hand:.6f} by hand, {by_model:.6f} by the model, of {len(rows)} rows")
