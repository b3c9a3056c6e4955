"""What all kernels of things share: how columns come in, are kept, composed, and computed."""

from __future__ import annotations

import datetime
import gc
import weakref

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from kernels.objects.letters import Letters, Pairwise, gram

import mercer
from mercer.errors import InputError, KernelError
from mercer.kernels import Gaussian, Linear, Match
from mercer.kernels.evaluation.evaluate import fused_from
from mercer.kernels.objects.reading import objects_from
from mercer.kernels.objects.store import Store
from mercer.kernels.objects.table import numbers_of, table_of
from mercer.kernels.points import same_rows, stacked
from mercer.operators import Gram

WORDS = ["banana", "", "ananas", "nab", "Üß😀", "banana"]
NEW = ["ban", "😀😀", "zebra"]
AGES = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 1.0])
KERNELS = [Letters(), Pairwise()]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_list_of_things_is_one_column(kernel):
    np.testing.assert_array_equal(kernel(WORDS), gram(WORDS, WORDS))
    np.testing.assert_array_equal(kernel(WORDS, NEW), gram(WORDS, NEW))
    np.testing.assert_array_equal(kernel.diagonal(WORDS), np.diagonal(gram(WORDS, WORDS)))


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_fused_pass_gives_the_same(kernel):
    with fused_from(0):
        np.testing.assert_allclose(kernel(WORDS, NEW), gram(WORDS, NEW), atol=1e-12)
        K = Gram(kernel, WORDS)
        np.testing.assert_allclose(K @ np.arange(6.0), gram(WORDS, WORDS) @ np.arange(6.0), rtol=1e-12)


COLUMNS = [
    WORDS,
    tuple(WORDS),
    np.array(WORDS),
    np.array(WORDS, dtype=object),
    np.array(WORDS, dtype=object)[:, None],
    pd.Series(WORDS),
    pd.DataFrame({"text": WORDS}),
    pl.Series(WORDS),
    pl.DataFrame({"text": WORDS}),
    pa.array(WORDS),
    pa.chunked_array([WORDS[:2], WORDS[2:]]),
    pa.table({"text": WORDS}),
    pa.table({"text": pa.array(WORDS).dictionary_encode()}),
]


@pytest.mark.parametrize("data", COLUMNS, ids=lambda data: type(data).__name__)
def test_columns_of_all_libraries(data):
    np.testing.assert_array_equal(Letters()(data), gram(WORDS, WORDS))


FRAME = pd.DataFrame({"text": WORDS, "age": AGES, "note": [None] * 6})
TABLES = [FRAME, pl.DataFrame({"text": WORDS, "age": AGES, "note": [None] * 6}), pa.table({"text": WORDS, "age": AGES})]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: type(table).__module__.partition(".")[0])
@pytest.mark.parametrize("leaf", KERNELS, ids=str)
def test_numbers_and_things_in_one_table(table, leaf):
    kernel = leaf.on("text") + 2.0 * leaf.on("text") * Gaussian(2.0).on("age")
    words, ages = gram(WORDS, WORDS), np.exp(-((AGES[:, None] - AGES) ** 2) / 8)
    np.testing.assert_allclose(kernel(table), words * (1 + 2 * ages), rtol=1e-12)
    with fused_from(0):
        np.testing.assert_allclose(kernel(table), words * (1 + 2 * ages), rtol=1e-12)


def test_positions_of_rows_without_names():
    rows = [[word, age] for word, age in zip(WORDS, AGES, strict=True)]
    kernel = Letters().on(0) * Linear().on(1)
    expected = gram(WORDS, WORDS) * np.outer(AGES, AGES)
    np.testing.assert_allclose(kernel(rows), expected)
    np.testing.assert_allclose(kernel(np.array(rows, dtype=object)), expected)


@pytest.mark.parametrize(
    ("column", "days"),
    [
        ([datetime.date(1970, 1, 2), None, datetime.date(1969, 12, 31)], [1.0, np.nan, -1.0]),
        (pd.to_datetime(pd.Series(["1970-01-01 12:00", None, "1970-01-03 00:00"])), [0.5, np.nan, 2.0]),
        (pa.array([datetime.date(1970, 1, 2), None]), [1.0, np.nan]),
        ([True, False], [1.0, 0.0]),
        ([1, None, 2.5], [1.0, np.nan, 2.5]),
        (pd.Series([1, None], dtype="Int64"), [1.0, np.nan]),
        (pd.Series([True, None], dtype="boolean"), [1.0, np.nan]),
        ([pd.NA, 1, pd.NaT, 2.5], [np.nan, 1.0, np.nan, 2.5]),
        ([datetime.date(1970, 1, 2), pd.NA, pd.NaT], [1.0, np.nan, np.nan]),
        (pd.Series(pd.to_timedelta(["12 h", None])), [0.5, np.nan]),
        ([datetime.timedelta(hours=12), None, datetime.timedelta(days=-1)], [0.5, np.nan, -1.0]),
    ],
    ids=str,
)
def test_numbers_of_a_column(column, days):
    np.testing.assert_array_equal(numbers_of("column 0", column), days)


def test_proofs_speak_of_strings_and_numbers():
    proof = mercer.prove(Letters())
    assert proof.status == "proven"
    assert "is a kernel on strings: it is an inner product of counts" in str(proof)
    mixed = Letters().on("text").normalized() * Gaussian(1.0).on(["age"]) + 0.5 * Pairwise().on("text")
    assert mercer.prove(mixed).status == "proven"


def test_normalized_forms():
    K = Letters().normalized()(WORDS)
    sizes = np.sqrt(np.maximum(np.diagonal(gram(WORDS, WORDS)), 1e-300))
    np.testing.assert_allclose(K, gram(WORDS, WORDS) / np.outer(sizes, sizes) * (sizes > 1e-100), atol=1e-15)
    assert K[1].max() == 0.0  # the empty string


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "data", "words"),
    [
        (
            Gaussian(1.0) * Letters().on("text"),
            FRAME[["text", "age"]],
            "Gaussian needs numbers; column 'text' holds strings",
        ),
        (Letters().on("txt"), FRAME, "a column named 'txt'"),
        (Letters().on("text") + Linear().on("note"), FRAME, "column 'note' holds"),
        (Letters(), FRAME[["text", "text"]], "one column of strings; got 2 columns"),
        (Letters(), [], "a list of strings, one per row; got an empty list"),
        (Letters(), "banana", "a list of strings, one per row; got 'banana'"),
        (Letters().on(0) + Linear().on(1), [["a", 1], ["b"]], "rows of equal length"),
        (Letters().on(2), [["a", 1], ["b", 2]], "column 2"),
        (Letters().on(1).on([0]), [["a", 1], ["b", 2]], "on needs column 1; the data has 1 column."),
        (Letters(), pd.DataFrame({"text": []}), "Letters needs at least one row and one column; got an empty table of"),
        (Pairwise(), pa.table({"text": pa.array([], pa.string())}), "got an empty table of shape (0, 1)"),
        (Match(), pd.DataFrame({"a": []}), "Match needs at least one row and one column"),
        (Match(), FRAME[[]], "got an empty table of shape (6, 0)"),
        (Linear().on("a"), pd.DataFrame({"a": []}), "at least one row and one column"),
        (Letters().on("text") + Linear().on("age"), FRAME[:0], "got an empty table of shape (0, 3)"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused(kernel, data, words):
    with pytest.raises(InputError) as error:
        kernel(data)
    assert words in str(error.value)


def test_missing_numbers_are_named():
    with pytest.raises(InputError, match="column 'age' holds nan in row 1"):
        (Letters().on("text") * Linear().on("age"))(pd.DataFrame({"text": ["a", "b"], "age": [1.0, None]}))


def test_missing_truths_of_pandas_are_named():
    frame = pd.DataFrame({"flag": pd.array([True, None], dtype="boolean")})
    for kernel in (Linear(), Linear().on("flag")):
        with pytest.raises(InputError, match=r"needs finite numbers; column 'flag' holds nan in row 1\. Impute"):
            kernel(frame)


def test_maps_of_numbers_take_no_things():
    with pytest.raises(KernelError, match="a kernel of numbers; letters reads strings"):
        Letters().scaled([1.0]).kinds  # noqa: B018


# -- stores -----------------------------------------------------------------------------------------------------------


def test_equal_strings_are_kept_once():
    points = objects_from(WORDS, None, {None: "strings"})
    assert points.stores[0].items == ("banana", "", "ananas", "nab", "Üß😀")
    assert points.values[:, 0].tolist() == [0, 1, 2, 3, 4, 0]


def test_what_was_counted_is_counted_once_and_forgotten_with_the_stores():
    calls = []
    left, right = Store("strings", ("a",)), Store("strings", ("b",))

    def count(items):
        calls.append(items)
        return len(items)

    assert [left.beside(right, "q", count), left.beside(right, "q", count), left.beside(left, "q", count)] == [2, 2, 1]
    assert calls == [("a", "b"), ("a",)]
    gone = weakref.ref(right)
    del right
    gc.collect()
    assert gone() is None


def test_equal_positions_in_other_stores_are_other_rows():
    one, other = (objects_from(words, None, {None: "strings"}) for words in (["a", "b"], ["b", "a"]))
    assert not same_rows(one, other)
    assert same_rows(one, objects_from(["a", "b"], None, {None: "strings"}))
    np.testing.assert_array_equal(Letters()(["a", "b"], ["b", "a"]), [[0, 1], [1, 0]])


def test_stacked_tables_keep_their_things():
    one, other = (objects_from(words, None, {None: "strings"}) for words in (["a", "b"], ["b", "c"]))
    column = stacked(one, other).things(0, "strings", subject="Test")
    assert [column.store.items[code] for code in column.codes] == ["a", "b", "b", "c"]


def test_table_of_refuses_what_is_no_table():
    with pytest.raises(InputError, match="a table of rows and columns"):
        table_of(np.zeros(3))
