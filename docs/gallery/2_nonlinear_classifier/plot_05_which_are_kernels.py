r"""
Which functions are kernels? Exercise 21
========================================

**The lecture asks**, which of these are kernels:

- A. 1
- B. x.z
- C. 1 + x.z
- D. (1 + x.z)^2
- E. exp(x + z), for real x and z
- F. min(x, z), for integers

**We** ask the program. An answer is a proof by rules, or points that refute it. Sampling proves nothing, and is not
used for that.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer
from mercer.displays import GramDisplay
from mercer.kernels import Constant, Min

proofs = {
    "A. 1": mercer.prove("1"),
    "B. x.z": mercer.prove("linear"),
    "C. 1 + x.z": mercer.prove("1 + linear"),
    "D. (1 + x.z)^2": mercer.prove("(1 + linear)**2"),
    "E. exp(x + z)": mercer.prove(Constant(1.0).weighted("exp"), d=1),
    "F. min(x, z) on the integers": mercer.prove("min", domain="integers"),
    "   min(x, z) on the non-negative reals": mercer.prove("min"),
}
for question, proof in proofs.items():
    print(f"{question:42}{proof.status}")

# %%
# **The answer is A to E.** Here is the whole argument for F, and the one for min where it is a kernel.
print(proofs["F. min(x, z) on the integers"])
print()
print(proofs["   min(x, z) on the non-negative reals"])

# %%
# **Where the lecture slips.** Of F it says that its proof "does not apply", since the integers are not the
# non-negative reals. But a proof that does not apply refutes nothing. What refutes it is one point: min(-1, -1) = -1
# would be the squared length of phi(-1). And in its definition the domain is a "compact, finite dimensional vector
# space": only the space of the single point 0 is that. A kernel lives on any set.
#
# **What one sees.** The feature of min is a function: phi(x) is 1 from 0 to x, and 0 beyond. The inner product of two
# is the length of what they share. Below zero there is no such length, and the matrix of -3 to 3 has negative
# eigenvalues.
figure, panels = plt.subplots(1, 3, figsize=(10.5, 3.4), layout="constrained")
t = np.linspace(0, 4, 401)
panels[0].fill_between(t, 0, t <= 3.0, alpha=0.35, step="mid", label="phi(3)")
panels[0].fill_between(t, 0, t <= 1.5, alpha=0.5, step="mid", label="phi(1.5)")
panels[0].set_title("what they share has the length 1.5")
panels[0].legend(loc="upper right")
good = GramDisplay.from_kernel(Min(), np.arange(0.0, 7.0)[:, None], ax=panels[1])
whole = np.arange(-3.0, 4.0)
matrix = np.minimum.outer(whole, whole)
image = panels[2].imshow(matrix, cmap="viridis")
panels[2].set_xticks(range(7), whole.astype(int))
panels[2].set_yticks(range(7), whole.astype(int))
figure.colorbar(image, ax=panels[2])
eigenvalues = np.linalg.eigvalsh(matrix)
panels[1].set_title("min on 0 .. 6: a kernel")
panels[2].set_title(
    f"min on -3 .. 3: no kernel,\nan eigenvalue is {eigenvalues[0]:.1f}"
)
plt.show()
