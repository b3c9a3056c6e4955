r"""
The polynomial lift, and how many features it has
=================================================

**The lecture says:** with all monomials up to degree p, any polynomial boundary becomes a plane. In d columns there
are

.. math:: D = \binom{d + p}{d}

of them, the constant 1 included. For d = p = 2 these are six.

**We** write them down, fit boundaries of growing degree, and count.
"""

from math import comb

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from mercer.displays import BoundaryDisplay
from mercer.lifts import Monomials, Polynomial

rng = np.random.default_rng(1)
X = rng.uniform(-1.5, 1.5, size=(300, 2))
height = X[:, 1] - X[:, 0] ** 3 + X[:, 0]  # a boundary of degree three
X, height = X[np.abs(height) > 0.08], height[np.abs(height) > 0.08]
y = np.where(height > 0, "above", "below")

names = Monomials(degree=2).fit(X).get_feature_names_out().tolist()
print(names)

# %%
# **What one sees.** A plane of degree 1 or 2 cannot follow the curve :math:`x_2 = x_1^3 - x_1`. Degree 3 can. Higher
# degrees can as well, since they have all features of degree 3. (Dashed: where the classifier is less sure.)
figure, panels = plt.subplots(
    1, 3, figsize=(10, 3.6), layout="constrained", sharey=True
)
errors = {}
for degree, axes in zip((1, 2, 3), panels, strict=True):
    model = make_pipeline(
        Polynomial(degree), LogisticRegression(C=1e4, max_iter=10_000)
    ).fit(X, y)
    errors[degree] = int((model.predict(X) != y).sum())
    BoundaryDisplay.from_estimator(model, X, y, ax=axes)
    axes.set_title(f"degree {degree}: {errors[degree]} of {len(X)} wrong")
    axes.get_legend().remove()
plt.show()

# %%
# **The price.** D grows with the degree and with the columns. For a fixed degree it is a polynomial in d of degree p,
# and that is soon too much: 100 columns have 4.6 million features of degree 4. (This also answers exercise 18 of the
# second lecture, *counting dimensions*.)
counts = {
    (d, p): Polynomial(p).fit(np.zeros((1, d))).transform(np.zeros((1, d))).shape[1]
    for d, p in [(2, 2), (10, 4)]
}
print(counts, "by the lift;", comb(100 + 4, 4), "by the formula for d = 100, p = 4")

columns = np.unique(np.logspace(0, 3, 60).astype(int))
_, axes = plt.subplots(layout="constrained")
for p in (1, 2, 3, 4, 6):
    axes.loglog(
        columns, [comb(int(d) + p, p) for d in columns], label=f"degree {p}"
    )
axes.axhline(1e6, color="0.5", linewidth=0.8, linestyle="--")
axes.set(
    xlabel="columns d",
    ylabel="features D",
    title="features of the polynomial lift; a million is dashed",
)
axes.legend()
plt.show()

# %%
# **The way out** is the rest of these lectures. The inner product of two lifted rows needs none of the features: it is
# :math:`(1 + \langle x, z \rangle)^p`, at the price of d products. For that the features carry weights, such as
# :math:`\sqrt{2}` on the mixed ones: ``Polynomial`` has them, ``Monomials`` has not.
x, z = rng.normal(size=(2, 100))
kernel = Polynomial(4).kernel
value = float(kernel([x], [z])[0, 0])
print(f"{kernel}: {value:.6g}, by hand {(1 + x @ z) ** 4:.6g}")
