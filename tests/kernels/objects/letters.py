"""Two small kernels of strings, for tests of what all kernels of things share."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from mercer.kernels.objects.compared import Compared
from mercer.kernels.objects.counted import Counted
from mercer.kernels.objects.domains import STRINGS
from mercer.kernels.proof.judgement import Fact

REASON = "it is an inner product of counts"


class Letters(Counted):
    """The inner product of counts of letters."""

    @property
    def domain(self):
        return STRINGS

    def facts(self):
        return (Fact(STRINGS, REASON),)

    def count(self, items):
        letters = sorted(set("".join(items)))
        return csr_array(np.array([[item.count(letter) for letter in letters] for item in items], dtype=float))


class Pairwise(Compared):
    """The same, letter by letter."""

    @property
    def domain(self):
        return STRINGS

    def facts(self):
        return (Fact(STRINGS, REASON),)

    def encode(self, items):
        return items

    def values(self, encoded, rows, columns):
        return np.array([[letters(encoded[i], encoded[j]) for j in columns] for i in rows], dtype=float)

    def own(self, encoded, rows):
        return np.array([letters(encoded[i], encoded[i]) for i in rows], dtype=float)


def letters(x, z):
    """The sum over letters of how often both have them."""
    return float(sum(x.count(letter) * z.count(letter) for letter in set(x)))


def gram(X, Z):
    return np.array([[letters(x, z) for z in Z] for x in X])
