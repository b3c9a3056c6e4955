"""Families of monomials: everything that is computed about them, against lists that itertools writes."""

from collections import Counter
from itertools import combinations, combinations_with_replacement

import pytest

from mercer.lifts.monomial_index import Family

FAMILIES = [
    Family(width, degree, lowest, repeated)
    for width in (1, 2, 3, 5)
    for degree in (1, 2, 3, 4)
    for lowest in sorted({0, 1, degree})
    for repeated in (True, False)
]


def of_degree(family, q, width=None):
    listed = combinations_with_replacement if family.repeated else combinations
    return list(listed(range(family.width if width is None else width), q))


def everything(family):
    return [m for q in range(family.lowest, family.degree + 1) for m in of_degree(family, q)]


@pytest.mark.parametrize("family", FAMILIES, ids=str)
class TestFamily:
    def test_counts(self, family):
        assert family.count == len(everything(family))
        table = family.numbers(family.width)
        for q in range(family.degree + 1):
            for width in range(family.width + 1):
                wanted = len(of_degree(family, q, width))
                assert family.number(q, width) == table[q, width] == wanted

    def test_a_run_is_one_column_in_front_of_neighbours(self, family):
        for q in range(1, family.degree + 1):
            own, below = of_degree(family, q), of_degree(family, q - 1)
            runs = family.runs(q)
            assert sum(length for *_, length in runs) == len(own)
            for column, (start, source, length) in enumerate(runs):
                wanted = [(column, *rest) for rest in below[source : source + length]]
                assert own[start : start + length] == wanted

    def test_moves_add_up_to_places(self, family):
        moves = family.moves()
        for place, monomial in enumerate(everything(family)):
            found = sum(moves[len(monomial) - k, column] for k, column in enumerate(monomial))
            assert found == place

    def test_patterns_are_the_exponents(self, family):
        for q, (found, known) in enumerate(family.patterns()):
            wanted = [sorted(Counter(m).values()) for m in of_degree(family, q)]
            assert [sorted(known[place]) for place in found] == wanted


def test_counts_of_families_that_nobody_could_list():
    """Closed forms: C(d + p, p), 2^d."""
    assert Family(30, 3).count == 5456
    assert Family(10, 10**6).count == Family(10**6, 10).count
    assert Family(2000, 2000, repeated=False).count == 2**2000
    assert Family(30_000, 2).count == 450_045_001


def test_high_degrees_of_few_columns_have_few_patterns():
    """Partitions of 60 are about a million, those into two parts are 31."""
    *_, (found, known) = Family(2, 60).patterns()
    assert len(found) == 61
    assert len(known) == 60  # 1 to 59 in front of the other exponent, and 60 alone
