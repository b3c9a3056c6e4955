"""1 - (edit distance of x and z) / (length of the longer one): no kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.domain import Domain
from mercer.kernels.objects.compared import Compared, Places
from mercer.kernels.objects.domains import STRINGS
from mercer.kernels.strings.alignment import edit_distances
from mercer.kernels.strings.sequences import Sequences
from mercer.kernels.strings.symbols import encoded


class EditSimilarity(Compared):
    """The similarity of strings that the edit distance gives, which is no kernel: it is here to be refuted.

    `k(x, z) = 1 - edit_distance(x, z) / max(|x|, |z|)`

    `1 - d(x, z) / max(|x|, |z|)`, where d is the least number of symbols that must be inserted, deleted or replaced to
    turn x into z; 1 where both are empty. Cost: `|x| |z|` steps per pair, with NumPy.

    Examples
    --------
    >>> import mercer
    >>> from mercer.kernels import EditSimilarity
    >>> EditSimilarity()(["kitten"], ["sitting", "kitten"]).round(4)
    array([[0.5714, 1.    ]])
    >>> print(mercer.prove("edit_similarity"))
    [refuted] edit_similarity is not a kernel on strings.
      1. edit_similarity: no known fact makes it a kernel on strings: its values on 'a', 'b', 'ab' and 'ba'
         would make phi('a') + phi('b') equal to phi('ab') + phi('ba'); but 'aba' is as similar as 2/3 to
         the first two together, and as 4/3 to the other two.
      2. the witness below makes sum_ij c_i c_j k(x_i, x_j) negative, which no kernel allows.
    Witness: 5 strings
        x1 = 'a'   weight 1
        x2 = 'b'   weight 1
        x3 = 'ab'   weight -1
        x4 = 'ba'   weight -1
        x5 = 'aba'   weight 1
        c @ k(X) @ c = -0.333333333333 < 0   (verified with 16 digits)

    References
    ----------
    Cortes, Haffner and Mohri, Rational kernels: theory and algorithms (2004), section 5.
    """

    formula = "1 - edit_distance(x, z) / max(|x|, |z|)"

    @property
    def domain(self) -> Domain:
        return STRINGS

    def encode(self, items: tuple[Any, ...]) -> Sequences:
        return encoded(type(self).__name__, items).sequences

    def values(self, encoded: Sequences, rows: Places, columns: Places) -> NDArray[np.float64]:
        left, right = np.repeat(rows, len(columns)), np.tile(columns, len(rows))
        longer = np.maximum(np.maximum(encoded.lengths[left], encoded.lengths[right]), 1)
        distances = edit_distances(encoded, left, right)
        return np.asarray((longer - distances) / longer).reshape(len(rows), len(columns))

    def own(self, encoded: Sequences, rows: Places) -> NDArray[np.float64]:
        return np.ones(len(rows))

    def objection(self) -> str:
        return (
            "its values on 'a', 'b', 'ab' and 'ba' would make phi('a') + phi('b') equal to phi('ab') + phi('ba'); but "
            "'aba' is as similar as 2/3 to the first two together, and as 4/3 to the other two"
        )

    def counterexample(self) -> tuple[Any, ...]:
        return ("a", "b", "ab", "ba", "aba")
