"""Objects that show that a function is not a kernel: a few strings, say, and weights with a negative quadratic form.

On numbers a witness is searched for among all points. Strings and graphs have no such space to move in; there a leaf
itself states objects that show it (`Kernel.counterexample`), and here the weights are found and checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError
from mercer.kernels.base import Kernel
from mercer.kernels.objects.store import Store
from mercer.kernels.pairs import Pairs
from mercer.kernels.points import Points
from mercer.kernels.proof.record import ObjectWitness
from mercer.kernels.proof.verify import FLOAT_DIGITS, MARGINS
from mercer.kernels.tree_size import nodes

Matrix = NDArray[np.float64]

MAX_WEIGHT = 1000
"""The largest weight that is tried: integers up to it come near to any weights."""


def refutation(kernel: Kernel) -> ObjectWitness | None:
    """Objects that a leaf of the kernel states, with weights that refute the whole kernel; None where none do."""
    for leaf in (node for node in nodes(kernel) if not node.children):
        things = leaf.counterexample()
        witness = _witness(kernel, leaf.domain.name, things) if things else None
        if witness is not None:
            return witness
    return None


def _witness(kernel: Kernel, kind: str, things: tuple[Any, ...]) -> ObjectWitness | None:
    points = Points(np.arange(len(things), dtype=np.float64)[:, None], stores=(Store(kind, things),))
    try:
        with np.errstate(all="ignore"):
            matrix = np.asarray(kernel.evaluate(Pairs(points, points)), dtype=np.float64)
    except InputError:  # a kernel that needs other columns as well
        return None
    if not np.isfinite(matrix).all():
        return None
    return _weighed(kind, things, (matrix + matrix.T) / 2)


def _weighed(kind: str, things: tuple[Any, ...], matrix: Matrix) -> ObjectWitness | None:
    """The objects with the smallest integer weights that make the quadratic form negative beyond doubt."""
    exact = bool((matrix == np.rint(matrix)).all())
    for weights in _whole_weights(matrix):
        value, size = quadratic_form(matrix, weights)
        if value < (0 if exact else -MARGINS[FLOAT_DIGITS] * size):
            kept = [i for i, weight in enumerate(weights) if weight]
            shown, used = tuple(things[i] for i in kept), tuple(weights[i] for i in kept)
            return ObjectWitness(shown, used, float(value), None if exact else FLOAT_DIGITS, kind)
    return None


def _whole_weights(matrix: Matrix) -> Iterator[list[int]]:
    """Integers near to the direction in which the form is least, from small to large; the first is positive."""
    values, vectors = np.linalg.eigh(matrix)
    if values[0] > -1e-12 * np.abs(matrix).max():
        return
    direction = vectors[:, 0] / np.abs(vectors[:, 0]).max()
    direction = direction * np.sign(direction[np.flatnonzero(np.abs(direction) > 1e-9)[0]])
    for largest in range(1, MAX_WEIGHT + 1):
        yield [int(weight) for weight in np.rint(largest * direction)]


def quadratic_form(matrix: Matrix, weights: list[int]) -> tuple[Fraction, Fraction]:
    """sum_ij c_i c_j k_ij and the sum of the sizes of its terms; floats are fractions, so that nothing is rounded."""
    numbers = [[Fraction(float(value)) for value in row] for row in matrix]
    pairs = [(a * b, numbers[i][j]) for i, a in enumerate(weights) for j, b in enumerate(weights) if a * b]
    terms = [product * value for product, value in pairs]
    return sum(terms, Fraction(0)), sum(map(abs, terms), Fraction(0))
