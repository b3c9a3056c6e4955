"""The length of the longest common subsequence of x and z: no kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.domain import Domain
from mercer.kernels.objects.compared import Compared, Places
from mercer.kernels.objects.domains import STRINGS
from mercer.kernels.strings.alignment import common_lengths
from mercer.kernels.strings.sequences import Sequences
from mercer.kernels.strings.symbols import encoded


class CommonSubsequence(Compared):
    """The length of the longest word that both strings hold, gaps allowed: no kernel, and here to be refuted.

    `k(x, z) = length of the longest common subsequence of x and z`

    Kernels add up what strings share; the longest of what is shared is a maximum, and not an inner product. What
    comes near to it and is a kernel: `GappySubsequence`. Cost: `|x| |z|` steps per pair, with NumPy.

    Examples
    --------
    >>> import mercer
    >>> from mercer.kernels import CommonSubsequence
    >>> CommonSubsequence()(["banana"], ["atana", "bandana"])
    array([[4., 6.]])
    >>> print(mercer.prove("common_subsequence").witness)
    Witness: 4 strings
        x1 = 'a'   weight 2
        x2 = 'b'   weight 2
        x3 = 'ab'   weight -1
        x4 = 'ba'   weight -1
        c @ k(X) @ c = -2 < 0   (in integers)
    """

    formula = "length of the longest common subsequence of x and z"

    @property
    def domain(self) -> Domain:
        return STRINGS

    def encode(self, items: tuple[Any, ...]) -> Sequences:
        return encoded(type(self).__name__, items).sequences

    def values(self, encoded: Sequences, rows: Places, columns: Places) -> NDArray[np.float64]:
        left, right = np.repeat(rows, len(columns)), np.tile(columns, len(rows))
        return common_lengths(encoded, left, right).astype(np.float64).reshape(len(rows), len(columns))

    def own(self, encoded: Sequences, rows: Places) -> NDArray[np.float64]:
        return encoded.lengths[rows].astype(np.float64)

    def objection(self) -> str:
        return (
            "it is the largest of all that the strings share, and not a sum: 2 phi('a') + 2 phi('b') - phi('ab') - "
            "phi('ba') would have the squared length -2"
        )

    def counterexample(self) -> tuple[Any, ...]:
        return ("a", "b", "ab", "ba")
