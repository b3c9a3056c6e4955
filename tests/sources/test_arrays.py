"""Arrays and memory maps in slices."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from mercer.errors import InputError
from mercer.sources import Arrays

random = np.random.default_rng(0)
X, y, w = random.normal(size=(103, 4)), random.normal(size=103), random.uniform(size=103)


@pytest.fixture
def mapped(tmp_path):
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    return np.load(tmp_path / "X.npy", mmap_mode="r")


@pytest.mark.parametrize(("size", "start"), [(1, 0), (7, 0), (7, 13), (103, 0), (500, 102), (10, 103)])
def test_batches_are_the_rows_from_the_start_on(size, start):
    batches = list(Arrays(X, y, weight=w).batches(size, start))
    assert [batch.count for batch in batches[:-1]] == [size] * (len(batches) - 1)
    for name, whole in (("rows", X), ("targets", y), ("weights", w)):
        parts = [getattr(batch, name) for batch in batches]
        np.testing.assert_array_equal(np.concatenate(parts) if parts else whole[:0], whole[start:])


def test_a_memory_map_is_read_in_slices_and_stays_a_map(mapped):
    source = Arrays(mapped, y)
    batches = [(batch.rows.copy(), np.shares_memory(batch.rows, mapped)) for batch in source.batches(10, 5)]
    np.testing.assert_array_equal(np.concatenate([rows for rows, _ in batches]), mapped[5:])
    assert all(shared for _, shared in batches)
    assert source.names is None
    assert source.count == 103


def test_pages_are_never_given_back_where_they_hold_what_no_file_does(tmp_path):
    np.save(tmp_path / "X.npy", X)
    own = np.load(tmp_path / "X.npy", mmap_mode="c")
    own[:] = 7.0
    assert all((batch.rows == 7).all() for batch in Arrays(own[1:]).batches(10))
    assert (own == 7).all()


def test_changes_of_a_shared_map_survive(tmp_path):
    np.save(tmp_path / "X.npy", X)
    own = np.load(tmp_path / "X.npy", mmap_mode="r+")
    own[50] = 7.0
    list(Arrays(own).batches(10))
    assert (own[50] == 7).all()


def test_only_targets_are_read_where_only_these_are_asked_for():
    batches = list(Arrays(X, y, weight=w).batches(50, what="targets"))
    assert all(batch.rows is None for batch in batches)
    np.testing.assert_array_equal(np.concatenate([batch.targets for batch in batches]), y)
    assert next(Arrays(X).batches(50, what="targets")).rows is not None


def test_frames_have_names_and_one_weight_is_for_all():
    source = Arrays(pd.DataFrame(X, columns=list("abcd")), list(y), weight=2.0)
    batch = next(source.batches(3, 4))
    assert source.names == ("a", "b", "c", "d")
    np.testing.assert_array_equal(batch.rows, X[4:7])
    np.testing.assert_array_equal(batch.weights, [2.0, 2.0, 2.0])


def test_sparse_rows_stay_sparse():
    table = csr_array(np.where(X > 0.5, X, 0))
    parts = [batch.rows for batch in Arrays(table).batches(6)]
    np.testing.assert_array_equal(np.vstack([part.toarray() for part in parts]), table.toarray())
    assert all(hasattr(part, "nnz") for part in parts)
    assert Arrays(table).fingerprint() != Arrays(2 * table).fingerprint()


def test_the_fingerprint_follows_every_number(mapped):
    same = Arrays(X.astype(np.float32), y)
    assert Arrays(mapped, y).fingerprint() == same.fingerprint()
    for changed in (Arrays(mapped), Arrays(mapped, y, weight=w), Arrays(X, y), Arrays(mapped, y + 1)):
        assert changed.fingerprint() != same.fingerprint()
    other = X.astype(np.float32)
    other[102, 3] += 1
    assert Arrays(other, y).fingerprint() != same.fingerprint()
    assert Arrays(X, np.array(["a", "b"] * 51 + ["c"], dtype=object)).fingerprint() != Arrays(X).fingerprint()


def test_it_can_be_pickled():
    source = Arrays(X, y)
    list(source.batches(10))
    assert pickle.loads(pickle.dumps(source)).fingerprint() == source.fingerprint()  # noqa: S301  # it is our own


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((X[:, 0],), r"tables of rows and columns; X has 1 dimension and shape \(103,\)"),
        ((X[:0],), "at least one row"),
        ((X[:, :0],), "at least one column"),
        ((X + 1j,), "real numbers; X holds complex128"),
        (([["a", 1.0]],), r"real numbers; X holds 'a'"),
        (([[1.0], [1.0, 2.0]],), "rows of equal length; X has rows of unequal lengths"),
        ((np.ma.masked_array([[1.0]], [[True]]),), "X is a masked array with missing entries"),
        ((X, y[:50]), r"X has 103 rows, and y has the shape \(50,\)"),
        ((X, y, w[:, None]), r"one weight per row; X has 103 rows, and weight has the shape \(103, 1\)"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(InputError, match=f"^Arrays needs .*{message}"):
        Arrays(*given)
