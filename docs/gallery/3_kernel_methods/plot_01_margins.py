r"""
Hard and soft margins
=====================

**The lecture says:** a hard margin machine wants every row on its side. A soft one allows errors at a price. Both
assume a linear boundary. So: what if the surface is not linear?

**We** look at the price first, and then make the non-linear linear.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelSVC
from mercer.displays import BoundaryDisplay
from mercer.errors import InputError

rng = np.random.default_rng(0)
blobs = np.vstack(
    [rng.normal([-1.5, 0], 0.5, (30, 2)), rng.normal([1.5, 0], 0.5, (30, 2))]
)
names = np.repeat(["left", "right"], 30)
stray = np.array([[0.15, 0.0]])  # one row of the left class that has strayed
X, y = np.vstack([blobs, stray]), np.append(names, "left")

cases = {
    "hard": (KernelSVC("linear", C=np.inf).fit(blobs, names), blobs, names),
    "hard, one row strays": (KernelSVC("linear", C=np.inf).fit(X, y), X, y),
    "soft, C = 0.1": (KernelSVC("linear", C=0.1).fit(X, y), X, y),
}
margins = {name: model.margin_ for name, (model, _, _) in cases.items()}

figure, panels = plt.subplots(
    1, 3, figsize=(10.5, 3.9), layout="constrained", sharey=True
)
for (name, (model, rows, labels)), axes in zip(cases.items(), panels, strict=True):
    BoundaryDisplay.from_estimator(model, rows, labels, ax=axes)
    axes.set_title(f"{name}: margin {margins[name]:.2f}")
plt.show()

# %%
# **What one sees.** The margin is the distance from the boundary to a dashed line, :math:`1 / \|w\|`: ``margin_`` has
# it, and ``coef_`` has w. A hard margin is decided by a few rows, those on the dashed lines. One row that strays pulls
# the boundary to it, and the margin shrinks. The soft machine lets that row be wrong, pays for it, and keeps a wide
# margin. C is the price: infinity is the hard margin.

# %%
# **When no line is enough.** Here the classes are two rings. A hard margin machine with the linear kernel does
# not exist, and Mercer says so rather than return something.
turn, ring = rng.uniform(0, 2 * np.pi, 120), np.arange(120) % 2
far = 0.8 + 1.2 * ring + 0.15 * rng.normal(size=120)
around = np.column_stack([far * np.cos(turn), far * np.sin(turn)])
kind = np.where(ring == 0, "inner", "outer")
try:
    KernelSVC("linear", C=np.inf).fit(around, kind)
except InputError as error:
    refusal = str(error)
print(refusal)

# %%
# **Which new feature makes a circle?** the lecture asks beside its picture. :math:`x_1^2 + x_2^2` does: the parabolic
# kernel has it. With all quadratic features the machine draws an ellipse. And the Gaussian needs no thought.
figure, panels = plt.subplots(
    1, 3, figsize=(10.5, 4.3), layout="constrained", sharey=True
)
support = {}
for kernel, axes in zip(
    ("parabolic", "polynomial(degree=2)", "gaussian(1)"), panels, strict=True
):
    model = KernelSVC(kernel, C=np.inf).fit(around, kind)
    support[kernel] = len(model.support_)
    BoundaryDisplay.from_estimator(model, around, kind, ax=axes)
    axes.set_title(f"{kernel}\n{support[kernel]} rows decide")
    axes.set_aspect("equal")
    axes.get_legend().remove()
right = float(model.score(around, kind))
plt.show()
