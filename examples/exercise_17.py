"""The lecture's exercise 17, answered by the program: which lifts make the inside of an ellipse a halfspace.

A. [x1, x2]    B. [x1, x2, x1 x2]    C. [x1, x2, x1^2 + x2^2]    D. [x1, x2, x1^2 + 2 x2^2]    E. all of degree 1 and 2
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mercer.geometry import Ball, Ellipse, Shape, region
from mercer.lifts import Formulas, Monomials, Parabolic, Subsets

Table = NDArray[np.float64]


CANDIDATES: dict[str, Any] = {
    "A": Monomials(degree=1, include_bias=False),
    "B": Subsets(),  # its further feature, the constant 1, does what an intercept does
    "C": Parabolic(),
    "D": Formulas(["x1", "x2", "x1^2 + 2*x2^2"]),
    "E": Monomials(degree=2, include_bias=False),
}
SHAPES: dict[str, Shape] = {
    "a turned ellipse": Ellipse([0.4, -0.3], [2.0, 1.0], np.pi / 6),
    "a circle": Ball([0.4, -0.3], 1.5),
    "a flat ellipse": Ellipse([0.4, -0.3], [1.5 * np.sqrt(2), 1.5], 0.0),
}


def labelled(shape: Shape) -> tuple[Table, Table]:
    """Points of a square, none of them very near the boundary, and 1 inside the shape, -1 outside."""
    X = np.random.default_rng(17).uniform(-3, 3, size=(500, 2))
    X = X[np.abs(shape.value(X)) > 0.03]
    return X, np.where(shape.contains(X), 1.0, -1.0)


def separated(lift: Any, X: Table, y: Table) -> tuple[bool, int]:
    """Whether a plane separates the lifted points, and how many the best one found has on the wrong side.

    The linear program is: least sum of slacks s >= 0 such that y (<w, phi(x)> + b) >= 1 - s for every point. The points
    are separable exactly if all slacks can be zero.
    """
    features = np.column_stack([clone(lift).fit_transform(X), np.ones(len(X))])
    n, d = features.shape
    cost = np.repeat([0.0, 1.0], [d, n])
    bounds = [(None, None)] * d + [(0, None)] * n
    rows = hstack([csr_array(-y[:, None] * features), -eye_array(n)])
    found = linprog(cost, A_ub=rows, b_ub=-np.ones(n), bounds=bounds)
    return found.fun < 1e-6, int((y * (features @ found.x[:d]) <= 0).sum())


def found_by(lift: Any, X: Table, y: Table) -> Shape:
    """The region of the plane with the widest margin."""
    return region(make_pipeline(StandardScaler(with_std=False), clone(lift), SVC(kernel="linear", C=1e6)).fit(X, y))


def answers(name: str) -> dict[str, tuple[bool, int]]:
    """For each candidate: whether it separates the inside of a shape from its outside, and with how many errors."""
    return {letter: separated(lift, *labelled(SHAPES[name])) for letter, lift in CANDIDATES.items()}


def main() -> None:
    separating: dict[str, list[str]] = {}
    for name, true in SHAPES.items():
        X, y = labelled(true)
        table = answers(name)
        separating[name] = [letter for letter, (yes, _) in table.items() if yes]
        print(f"{name.capitalize()}, {len(X)} points:\n   features{'separable':>31}  errors")
        for letter, (yes, errors) in table.items():
            features = ", ".join(clone(CANDIDATES[letter]).fit(X).get_feature_names_out())
            print(f"{letter}  [{features}]".ljust(32) + f"{'yes' if yes else 'no':>10}{errors:>8}")
        print(f"   true:  {true}")
        for letter in separating[name]:
            print(f"   by {letter}:  {found_by(CANDIDATES[letter], X, y)}")
        print()
    print("Only E guarantees it. C has circles alone. D has ellipses along the axes, sqrt(2) times as wide as high.")
    assert separating == {"a turned ellipse": ["E"], "a circle": ["C", "E"], "a flat ellipse": ["D", "E"]}


if __name__ == "__main__":
    main()
