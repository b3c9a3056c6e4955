"""Batches that somebody else makes."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from mercer.errors import InputError
from mercer.sources import Batch, Batches

random = np.random.default_rng(0)
X, y, w = random.normal(size=(61, 3)), random.normal(size=61), random.uniform(size=61)
CUTS = [0, 1, 1, 20, 23, 61]
"""Batches of odd lengths, one of them empty."""
PARTS = [slice(a, b) for a, b in pairwise(CUTS)]


def make():
    for part in PARTS:
        yield X[part], y[part], w[part]


@pytest.mark.parametrize("given", [make, list(make()), tuple(make()), [Batch(*parts) for parts in make()]])
@pytest.mark.parametrize(("size", "start"), [(1, 0), (7, 0), (7, 22), (100, 0), (3, 60), (5, 61)])
def test_any_lengths_become_one(given, size, start):
    source = Batches(given)
    batches = list(source.batches(size, start))
    assert source.count == 61
    assert [batch.count for batch in batches[:-1]] == [size] * (len(batches) - 1)
    for name, whole in (("rows", X), ("targets", y), ("weights", w)):
        parts = [getattr(batch, name) for batch in batches]
        np.testing.assert_array_equal(np.concatenate(parts) if parts else whole[:0], whole[start:])


@pytest.mark.parametrize("size", [3, 7, 10, 100])
def test_a_maker_may_fill_the_same_arrays_again(size):
    def refilled():
        buffers = np.empty((7, 3)), np.empty(7), np.empty(7)
        for start in range(0, 56, 7):
            for buffer, whole in zip(buffers, (X, y, w), strict=True):
                buffer[:] = whole[start : start + 7]
            yield buffers

    found = [[part.copy() for part in (b.rows, b.targets, b.weights)] for b in Batches(refilled).batches(size, 2)]
    for parts, whole in zip(zip(*found, strict=True), (X, y, w), strict=True):
        np.testing.assert_array_equal(np.concatenate(parts), whole[2:56])


def test_rows_that_wait_for_no_others_are_not_copied():
    rows = np.ascontiguousarray(X[:20])
    whole, rest = Batches([rows, X[20:30]]).batches(15)
    assert np.shares_memory(whole.rows, rows)
    assert not np.shares_memory(rest.rows, rows)


def test_a_batch_may_be_a_table_alone_or_a_list_of_arrays():
    alone = next(Batches([X[part] for part in PARTS]).batches(61))
    loader = next(Batches([[X[part], y[part]] for part in PARTS]).batches(61))
    plain = next(Batches([[[1.0, 2.0], [3.0, 4.0]]]).batches(61))
    assert alone.targets is None
    np.testing.assert_array_equal(loader.targets, y)
    np.testing.assert_array_equal(plain.rows, [[1.0, 2.0], [3.0, 4.0]])


def test_names_are_given_or_those_of_frames():
    frames = [pd.DataFrame(X[part], columns=list("abc")) for part in PARTS]
    assert Batches(frames).names == ("a", "b", "c")
    assert Batches(lambda: iter(frames)).names == ("a", "b", "c")
    assert Batches(make, names=["u", "v", "w"]).names == ("u", "v", "w")
    assert Batches(make).names is None


def test_rows_have_one_dtype():
    single, mixed = Batches([X[:5].astype("f4"), X[5:].astype("f4")]), Batches([X[:5].astype("f4"), X[5:]])
    assert [batch.rows.dtype for batch in single.batches(4)] == [np.float32] * 16
    assert {batch.rows.dtype for batch in mixed.batches(4)} == {np.dtype(np.float64)}
    assert {batch.rows.dtype for batch in Batches([np.ones((2, 1), "i8")]).batches(1)} == {np.dtype(np.float64)}


def test_sparse_batches_stay_sparse():
    table = csr_array(np.where(X > 0, X, 0))
    source = Batches([table[:20], table[20:]])
    found = list(source.batches(30))
    np.testing.assert_array_equal(np.vstack([batch.rows.toarray() for batch in found]), table.toarray())


def test_labels_of_any_width_are_joined():
    source = Batches([(X[:1], ["a"]), (X[1:3], ["long", "b"])])
    assert next(source.batches(3)).targets.tolist() == ["a", "long", "b"]


def test_the_fingerprint_is_of_the_rows_not_of_how_they_are_cut():
    whole = Batches([(X, y, w)])
    assert Batches(make).fingerprint() == whole.fingerprint()
    assert Batches([(X, y + 1, w)]).fingerprint() != whole.fingerprint()
    assert Batches([(X, y)]).fingerprint() != whole.fingerprint()


def test_data_that_changes_between_passes_is_refused():
    def shuffled():
        order = np.random.default_rng().permutation(61)
        yield X[order], y[order]

    growing = [X[:5]]
    source = Batches(growing)
    assert source.count == 5
    growing.append(X[5:])
    with pytest.raises(InputError, match="the same data in every pass; there were 5 rows, and now there are 61"):
        list(source.batches(10))
    once = make()
    for given in (shuffled, lambda: once):
        with pytest.raises(InputError, match="Batches needs"):
            list(Batches(given).batches(10))


def test_a_pass_that_finds_another_first_batch_is_refused():
    changing = [X[:5].copy(), X[5:]]
    source = Batches(changing)
    assert source.count == 61
    changing[0][0, 0] += 1
    with pytest.raises(InputError, match=r"the first batch is another one.*no shuffling"):
        next(source.batches(10))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (make(), r"generator can be read once. Give the function that makes it"),
        (iter([X]), "list_iterator can be read once"),
        (X, r"a function that gives batches, or a list of them; got something of type ndarray. Use Arrays"),
        ("flights.parquet", r"got something of type str. .*Parquet\(path\)"),
        (3, "got something of type int"),
        (lambda: 3, "a function that gives an iterator; the function gave something of type int"),
        ([], "at least one batch"),
        ([X[:0]], "at least one row"),
        ((X, y), r"tables of rows and columns; X of batch 1 has 1 dimension"),
        ([(X, y, w, w)], "batch 0 has 4 parts"),
        ([(X, y[:5])], r"X has 61 rows, and y of batch 0 has the shape \(5,\)"),
        ([(X, y, w[:5])], r"one weight per row; X has 61 rows, and the third part of batch 0 has the shape \(5,\)"),
        ([X, X[:, :2]], "batch 0 has 3 columns, no targets and no weights, and batch 1 has 2 columns"),
        (
            [(X, y), X],
            "batch 0 has 3 columns, numbers as targets and no weights, and batch 1 has 3 columns, no targets",
        ),
        ([(X, y), (X, ["a"] * 61)], "numbers as targets.* labels as targets"),
        ([[["a", "b"]]], "real numbers; X of batch 0 holds 'a'"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(InputError, match=f"^Batches needs .*{message}"):
        list(Batches(given).batches(10))


def test_names_must_be_as_many_as_columns():
    with pytest.raises(InputError, match="one name per column; got 2 names for 3 columns"):
        Batches(make, names=["a", "b"])
