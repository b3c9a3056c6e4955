r"""
n squared and n cubed: the plan
===============================

**The lecture says:** kernel least squares needs :math:`O(n^2)` for the matrix and :math:`O(n^3)` to solve it. "Kernel
methods, though flexible, are computationally demanding for large n." There it ends.

**We** ask for a plan. It says what each way costs, which is taken, and what that gives up.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer
from mercer import KernelRidge
from mercer.displays import CostDisplay
from mercer.planner.machine import ROUGH

plan = mercer.plan(300_000, 10, alpha=0.1, machine=ROUGH, memory_limit="16 GB")
print(plan)

# %%
# **What each way costs against n**, on a machine of rough figures (those of a plan on yours are measured). The
# display asks for a plan at each n; rings are around the way that is taken, and nothing is run.
drawn = CostDisplay.from_plans(
    10,
    rows=np.logspace(3, 6, 13).astype(int),
    alpha=0.1,
    machine=ROUGH,
    memory_limit="16 GB",
    ax=plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")[1],
)
plt.show()

# %%
# **What one sees.** The slopes of direct solves are the lecture's: 2 for memory, 3 for time. They are exact and
# quick up to ten thousand rows. Then conjugate gradients, which are exact as well, and hold no matrix: tiles of it are
# computed, used and forgotten. Where these take more than a minute, landmarks stand for the kernel. That is an
# approximation, and it comes with a certificate.

# %%
# **Three ways, one problem.** On 1,500 rows all of them can be had, so that they can be compared.
rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(1500, 4))
y = np.sin(3 * X[:, 0]) * X[:, 1] + X[:, 2] ** 2 + 0.1 * rng.normal(size=1500)
new = rng.uniform(-1, 1, size=(500, 4))
kernel = "gaussian(1)"
exact = KernelRidge(kernel, alpha=0.1, solver=mercer.solvers.Cholesky()).fit(X, y)
products = KernelRidge(
    kernel, alpha=0.1, solver=mercer.solvers.ConjugateGradient()
).fit(X, y)
counts, apart = (10, 20, 50, 100, 200, 400), []
for count in counts:
    lift = mercer.lifts.Nystrom(kernel, count, random_state=0)
    apart.append(
        float(
            np.abs(
                KernelRidge(lift, alpha=0.1).fit(X, y).predict(new)
                - exact.predict(new)
            ).max()
        )
    )
same = float(np.abs(products.predict(new) - exact.predict(new)).max())
print(f"conjugate gradients differ from Cholesky by {same:.1e} at most")

_, axes = plt.subplots(layout="constrained")
axes.loglog(counts, apart, "o-", label="landmarks")
axes.axhline(
    0.1, color="0.5", linewidth=0.8, linestyle="--", label="the noise of y"
)
axes.set(
    xlabel="landmarks",
    ylabel="largest difference on new rows",
    title="landmarks against the exact model",
)
axes.legend()
plt.show()
