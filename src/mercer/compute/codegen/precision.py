"""In which types a formula is computed, and which formulas can be.

There are three precisions. In "float32" and "float64" everything is of that type. In "mixed" the statistics and the
exponents are float64, and the rest is float32: an exponent of 20 in float32 is off by 1e-6 before the exponential is
taken, but its whole part and its fraction, parted in float64, are not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from mercer.compute.codegen.formula import Group, Total, nodes
from mercer.compute.codegen.symbols import LIBRARY, WORDS, Symbol

STATISTICS = {"float32": "float32", "mixed": "float64", "float64": "float64"}
"""The type of the statistics for each precision."""
VALUES = {"float32": "float32", "mixed": "float32", "float64": "float64"}
"""The type of the values for each precision."""


def exponents(formula: Symbol) -> list[Symbol]:
    """The exponentials that the precision "mixed" can part; empty where it cannot serve a formula.

    It serves formulas whose exponentials all decay, none inside another, and that have no other function but roots.
    """
    every = list(nodes(formula))
    found = [node for node in every if node.name == "exp2"]
    terms = [inner for node in every if isinstance(node.value, Total) for inner in nodes(node.value.term)]
    inside = [inner for node in found for inner in nodes(node.parts[0])]
    others = (WORDS | LIBRARY.keys() | {"power"}) - {"absolute", "sqrt"}
    plain = not any(node.name in others for node in (*terms, *inside))
    plain = plain and not any(node.name in others - {"exp2"} for node in every)
    return found if plain and all(node.parts[0].sign < 0 for node in found) else []


def fits_single(values: Iterable[Any], groups: Iterable[Group]) -> bool:
    """Whether the numbers, vectors and rows of a formula lie well inside the range of float32, and so do squares."""
    numbers = [np.abs(value) for value in values]
    rows = [side for group in groups for side in (group.left, group.right)]
    small, large = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)
    inside = all(bool(((size == 0) | ((size >= small) & (size <= large))).all()) for size in map(np.asarray, numbers))
    largest = [float(np.abs(side).max()) for side in rows]
    return inside and all(size == 0 or math.sqrt(small) < size < math.sqrt(large) / 16 for size in largest)
