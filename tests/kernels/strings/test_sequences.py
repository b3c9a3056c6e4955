"""Runs of symbols: exactly counted, whatever the alphabet, in an order that later sequences do not change."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.kernels.strings import sequences
from mercer.kernels.strings.sequences import Sequences, joined, packed, ranked, runs

SIZES = [3, 1_000, 10**6, 10**12]
lists = st.lists(st.lists(st.integers(0, 3), max_size=12), min_size=1, max_size=6)


def of(rows):
    codes = np.array([code for row in rows for code in row], dtype=np.int64)
    return joined(codes, map(len, rows), len(rows))


def counted(rows, k):
    """Each row's runs, by plain Python."""
    return [Counter(tuple(row[i : i + k]) for i in range(len(row) - k + 1)) for row in rows]


def check(rows, k):
    found = runs(of(rows), k)
    wanted = counted(rows, k)
    features = sorted(set().union(*wanted))
    dense = np.reshape([[row[feature] for feature in features] for row in wanted], (len(rows), len(features)))
    np.testing.assert_array_equal(found.counts.toarray(), dense)
    assert found.counts.has_canonical_format
    assert found.counts.data.all()
    codes = of(rows).codes
    assert [tuple(codes[place : place + k].tolist()) for place in found.places] == features


@given(lists, st.integers(1, 5))
def test_property_runs_are_those_of_plain_python(rows, k):
    check(rows, k)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("k", [1, 2, 5, 8, 30])
def test_any_alphabet_and_any_length(size, k):
    """Also where numbers of so many symbols do not fit into 64 bits: 1,000^8 and 3^30 fit, 1,000^30 does not."""
    rng = np.random.default_rng(k)
    rows = [rng.integers(0, size, size=n).tolist() for n in (40, 0, k, 40, 7)]
    rows.append(rows[0][5:] + rows[3][:10])
    check(rows, k)


@given(lists, lists, st.integers(1, 3))
def test_property_later_sequences_change_no_order(first, later, k):
    """The append law of `Counted.count`."""
    alone, beside = runs(of(first), k), runs(of(first + later), k)
    part = beside.counts[: len(first)]
    used = np.unique(part.indices)
    own = np.unique(alone.counts.indices)
    np.testing.assert_array_equal(part[:, used].toarray(), alone.counts[:, own].toarray())


def test_the_bits_run_out_in_the_last_step(monkeypatch):
    """A room for keys that is just large enough for them, and not for the places beside them."""
    rows = [[0, 1, 2, 3] * 20, [3, 2, 1, 0] * 20]
    monkeypatch.setattr(sequences, "INT64_LIMIT", 4**5 * 8)
    check(rows, 5)
    monkeypatch.setattr(sequences, "INT64_LIMIT", 4 * 200)
    check(rows, 9)


def test_packed_numbers_are_in_the_order_of_rows():
    rng = np.random.default_rng(0)
    table = rng.integers(0, 10**6, size=(200, 7))
    table[100:, :4] = table[:100, :4]
    keys, room = packed(iter(table.T), 10**6)
    assert keys.max() < room
    order = np.lexsort(table.T[::-1])
    np.testing.assert_array_equal(np.argsort(keys), order)


@pytest.mark.parametrize("room", [50, 10**15])
def test_ranks(room):
    keys = np.array([7, 3, 49, 3, 0])
    ranks, count = ranked(keys, room)
    assert ranks.tolist() == [2, 1, 3, 1, 0]
    assert count == 4


def test_beside_fills_up():
    found = of([[1, 2, 3], [], [4]]).beside(np.array([2, 0, 1]), filler=-1)
    assert found.T.tolist() == [[4, -1, -1], [1, 2, 3], [-1, -1, -1]]
    assert found.flags.c_contiguous


def test_no_symbols_at_all():
    empty = Sequences(np.zeros(0, np.int64), np.zeros(3, np.int64))
    assert runs(empty, 1).counts.shape == (2, 0)
    assert runs(empty, 1).counts.nnz == 0
    assert empty.lengths.tolist() == [0, 0]
    assert empty.beside(np.array([0, 1]), -1).shape == (0, 2)
