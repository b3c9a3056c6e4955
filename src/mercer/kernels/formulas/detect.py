# ruff: noqa: RUF001 (letters that look like others are among the signs of formulas)
"""Whether a text is a formula of two points, or a kernel by its name."""

from __future__ import annotations

import re
from collections.abc import Collection

from mercer.kernels.formulas.reading.tokens import MAX_LETTERS

WORD = re.compile(r"[A-Za-z][A-Za-z]+[0-9]*(?:_[A-Za-z0-9]+)*|[A-Za-z](?:_?[0-9]+)?")
SIGNS = frozenset("'<|^@\\′·⋅⟨‖∥√∑∏σλγ²³")
"""What kernels by their names never hold outside of quotes."""
POINT = re.compile(r"[p-z](?:_?[0-9]+)?|(?:[p-z]_?[0-9]+){2,4}|x[p-wyz]")
SHARED = frozenset({
    "abs", "cos", "dot", "exp", "geodesic", "inner", "log1p", "max", "min", "sin", "sqrt", "sum", "tanh"
})  # fmt: skip
"""Names of kernels or named functions that formulas know, too."""
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


def is_formula(text: str, kernels: Collection[str]) -> bool:
    """Whether a text speaks of points, and of no kernel by its name.

    kernels : the names of kernels

    >>> [is_formula(text, {"gaussian", "linear", "min"}) for text in ("1 + x.x'", "min(x, z)", "gaussian - lin", "min")]
    [True, True, False, False]
    """
    if len(text) > MAX_LETTERS:
        return False
    words = set(WORD.findall(text))
    if any(word.lower() in kernels and word not in SHARED for word in words):
        return False
    return bool(SIGNS & set(QUOTED.sub("", text))) or any(POINT.fullmatch(word) for word in words)
