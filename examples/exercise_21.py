"""The lecture's exercise 21, answered by the program: which of these are kernels.

A. 1    B. x.x'    C. 1 + x.x'    D. (1 + x.x')^2    E. exp(x + x') on R    F. min(x, x') on the integers
"""

import numpy as np

import mercer
from mercer.kernels import Constant

QUESTIONS = {
    "A. 1": mercer.prove("1"),
    "B. x.x'": mercer.prove("linear"),
    "C. 1 + x.x'": mercer.prove("1 + linear"),
    "D. (1 + x.x')^2": mercer.prove("(1 + linear)**2"),
    "E. exp(x + x') on R": mercer.prove(Constant(1.0).weighted(np.exp), d=1),
    "F. min(x, x') on the integers": mercer.prove("min", domain="integers"),
    "   min(x, x') on the non-negative reals": mercer.prove("min"),
    "   sin(r)/r on R^3": mercer.prove("sinc", d=3),
    "   sin(r)/r on R^4": mercer.prove("sinc", d=4),
    "   tanh(x.x')": mercer.prove("sigmoid", d=1),
    "   max(0, 1 - r^2)": mercer.prove("epanechnikov", d=1),
    "   max(0, 1 - r) on R": mercer.prove("wendland(dimension=1, smoothness=0)", d=1),
    "   max(0, 1 - r) on R^2": mercer.prove("wendland(dimension=1, smoothness=0)", d=2),
    "   (9 + x.x')^1.5": mercer.prove(lambda x, z: max(0.0, 9 + float(x @ z)) ** 1.5, d=1),
}


def main() -> None:
    for question, proof in QUESTIONS.items():
        print(f"{question}\n{proof}\n")


if __name__ == "__main__":
    main()
