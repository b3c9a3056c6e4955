"""The laws catch wrong kernels of things, and pass right ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from kernels.objects.letters import Letters, Pairwise, letters

from mercer.errors import InputError
from mercer.kernels import Gaussian
from mercer.testing import check_kernel

FRAME = pd.DataFrame({"text": ["ab", "", "ba", "abc", "ß", "ab"], "age": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})


@pytest.mark.parametrize("kernel", [Letters(), Pairwise(), 2.0 * Letters().normalized() + Pairwise() ** 2], ids=str)
def test_right_ones_pass(kernel):
    check_kernel(kernel)
    check_kernel(kernel, X=["a", "b", "ab"])


def test_tables_pass_and_must_be_given():
    kernel = Letters().on("text") * Gaussian(1.0).on("age")
    check_kernel(kernel, X=FRAME)
    with pytest.raises(InputError, match=r"which looks at columns by name\. Give data X"):
        check_kernel(kernel)


class Longer(Pairwise):
    """Not symmetric: the length of the first."""

    def values(self, encoded, rows, columns):
        return np.array([[float(len(encoded[i])) for _ in columns] for i in rows])

    def own(self, encoded, rows):
        return np.array([float(len(encoded[i])) for i in rows])


class Differing(Pairwise):
    """No kernel: how many letters differ in number."""

    def values(self, encoded, rows, columns):
        return np.array([[float(abs(len(encoded[i]) - len(encoded[j]))) for j in columns] for i in rows])

    def own(self, encoded, rows):
        return np.zeros(len(rows))


class WrongDiagonal(Pairwise):
    """k(x, x) is another one than the matrix has beside others."""

    def own(self, encoded, rows):
        return 1.0 + super().own(encoded, rows)


class Neighbourly(Pairwise):
    """What a pair gives depends on who else is there."""

    def values(self, encoded, rows, columns):
        return super().values(encoded, rows, columns) * len(encoded)

    def own(self, encoded, rows):
        return super().own(encoded, rows) * len(encoded)


class Disordered(Letters):
    """Features stand in another order where more things come."""

    def count(self, items):
        found = super().count(items)
        return found[:, ::-1] if len(items) > 6 else found


@pytest.mark.parametrize(
    ("kernel", "law"),
    [
        (Longer(), "symmetry"),
        (Differing(), "eigenvalues"),
        (WrongDiagonal(), "the diagonal"),
        (Neighbourly(), "the diagonal"),
        (Disordered(), "counting"),
    ],
    ids=str,
)
def test_wrong_ones_are_caught(kernel, law):
    with pytest.raises(AssertionError, match=f"breaks the law of {law}"):
        check_kernel(kernel)


def test_the_oracle_is_what_it_says():
    assert letters("banana", "nab") == 2 + 3 + 1
