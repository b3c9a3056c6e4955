"""When two spellings are one word: letters, endings, and a typo."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

ENDINGS = ("kernel", "lift", "lifting", "features", "featuremap", "transform", "regression")
"""What people add to a name that says it already."""
LONG = 6
"""Letters from which on a word may hold two typos."""


def plain(name: str) -> str:
    """A name as its letters and digits alone, in small letters without accents.

    >>> plain("Matérn_3/2"), plain("RBF")
    ('matern32', 'rbf')
    """
    letters = unicodedata.normalize("NFKD", name).lower()
    return "".join(letter for letter in letters if letter.isalnum())


def stem(name: str) -> str:
    """A plain name without an ending that says only what kind of name it is.

    >>> stem("GaussianKernel"), stem("PolynomialLift"), stem("kernel")
    ('gaussian', 'polynomial', 'kernel')
    """
    letters = plain(name)
    found = next((letters.removesuffix(ending) for ending in ENDINGS if letters.endswith(ending)), "")
    return found or letters


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name of which this one is a typo; "" where there is none.

    One letter too many, too few or wrong, or two exchanged; two such mistakes in a word of six letters or more.

    >>> nearest("gausian", ["sinc", "gaussian"]), nearest("quadratic", ["rational_quadratic"])
    ('gaussian', '')
    """
    allowed = 1 if len(name) < LONG else 2
    found = sorted(
        (distance(name.lower(), each.lower()), each) for each in known if abs(len(each) - len(name)) <= allowed
    )
    return found[0][1] if found and found[0][0] <= allowed else ""


def distance(word: str, other: str) -> int:
    """How many letters are added, dropped, replaced or exchanged with a neighbour between two words.

    >>> distance("guassian", "gaussian"), distance("min", "sinc")
    (1, 2)
    """
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(word, start=1):
        row = [i]
        for j, there in enumerate(other, start=1):
            least = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != there))
            if i > 1 and j > 1 and letter == other[j - 2] and there == word[i - 2]:
                least = min(least, before[j - 2] + 1)
            row.append(least)
        before, last = last, row
    return last[-1]
