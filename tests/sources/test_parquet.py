"""Parquet files and folders; pandas writes what pandas reads back as the oracle."""

import datetime
import os
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from mercer.errors import InputError
from mercer.sources import Parquet

pa = pytest.importorskip("pyarrow", reason="Parquet files are read by pyarrow")
pq = pytest.importorskip("pyarrow.parquet", reason="Parquet files are read by pyarrow")

ROWS = 103
random = np.random.default_rng(0)
FRAME = pd.DataFrame(random.normal(size=(ROWS, 3)).astype(np.float32), columns=["lat", "lon", "minute"]).assign(
    delay=random.normal(size=ROWS), trips=random.integers(0, 4, ROWS), kind=random.choice(["late", "in time"], ROWS)
)
FEATURES = ["lat", "lon", "minute"]


def written(path, frame, group=10):
    frame.to_parquet(path, row_group_size=group)
    return path


@pytest.fixture
def file(tmp_path):
    return written(tmp_path / "flights.parquet", FRAME)


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "flights"
    inside.mkdir()
    for name, part in (("b", slice(30, 31)), ("a", slice(0, 30)), ("c", slice(31, ROWS))):
        written(inside / f"{name}.parquet", FRAME[part].reset_index(drop=True), group=7)
    (inside / "notes.txt").write_text("no rows")
    (inside / "_temporary.parquet").write_text("not yet")
    return inside


@pytest.mark.parametrize("kind", ["file", "folder"])
@pytest.mark.parametrize(("size", "start"), [(1, 0), (7, 0), (9, 25), (10, 30), (200, 0), (4, 102), (5, 103)])
def test_batches_are_the_rows_from_the_start_on(kind, size, start, request):
    source = Parquet(request.getfixturevalue(kind), columns=FEATURES, target="delay", weight="trips")
    batches = list(source.batches(size, start))
    assert source.count == ROWS
    assert source.names == tuple(FEATURES)
    assert [batch.count for batch in batches[:-1]] == [size] * (len(batches) - 1)
    for name, column in (("rows", FEATURES), ("targets", "delay"), ("weights", "trips")):
        parts = [getattr(batch, name) for batch in batches]
        expected = FRAME[column].to_numpy()[start:]
        np.testing.assert_array_equal(np.concatenate(parts) if parts else expected[:0], expected)


def test_a_late_start_reads_no_row_group_before_it(file, monkeypatch):
    read, original = [], pq.ParquetFile.iter_batches

    def watched(self, batch_size, row_groups, columns):
        read.append(list(row_groups))
        return original(self, batch_size, row_groups=row_groups, columns=columns)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", watched)
    batch = next(Parquet(file, columns=FEATURES).batches(5, 95))
    assert read == [[9, 10]]
    np.testing.assert_array_equal(batch.rows, FRAME[FEATURES].to_numpy()[95:100])


def test_all_other_columns_are_features_where_none_are_named(tmp_path):
    path = written(tmp_path / "x.parquet", FRAME.drop(columns="kind").set_index(random.permutation(ROWS)))
    assert Parquet(path, target="delay", weight="trips").names == tuple(FEATURES)
    assert Parquet(path, target=["delay"]).names == (*FEATURES, "trips")
    assert Parquet(path, columns=["__index_level_0__"]).names == ("__index_level_0__",)  # pandas labels rows by it


def test_one_column_may_be_named_by_a_text(file):
    assert Parquet(file, columns="lon").names == ("lon",)


def test_several_targets_have_two_dimensions(file):
    batch = next(Parquet(file, columns=FEATURES, target=["delay", "trips"]).batches(5))
    np.testing.assert_array_equal(batch.targets, FRAME[["delay", "trips"]].to_numpy()[:5])
    assert next(Parquet(file, columns=FEATURES, target=["delay"]).batches(5)).targets.shape == (5, 1)


def test_only_targets_are_read_where_only_these_are_asked_for(folder):
    batches = list(Parquet(folder, columns=FEATURES, target="kind", weight="trips").batches(50, what="targets"))
    assert all(batch.rows is None for batch in batches)
    np.testing.assert_array_equal(np.concatenate([batch.targets for batch in batches]), FRAME["kind"])
    np.testing.assert_array_equal(np.concatenate([batch.weights for batch in batches]), FRAME["trips"])
    assert next(Parquet(folder, columns=FEATURES).batches(5, what="targets")).rows.shape == (5, 3)


@pytest.mark.parametrize("kind", ["category", "str", "bool", "int8"])
def test_labels_are_texts_or_numbers(tmp_path, kind):
    labels = FRAME["kind"] if kind in ("category", "str") else FRAME["kind"] == "late"
    path = written(tmp_path / "x.parquet", FRAME[FEATURES].assign(label=labels.astype(kind)))
    batches = list(Parquet(path, target="label").batches(7))
    np.testing.assert_array_equal(np.concatenate([batch.targets for batch in batches]), labels)
    assert batches[0].targets.dtype.kind in "Ubi"


NUMBERS = {
    "f2": pa.array(np.arange(5, dtype=np.float16)),
    "f4": pa.array(np.arange(5, dtype=np.float32)),
    "f8": pa.array(np.arange(5, dtype=np.float64)),
    "i1": pa.array(np.arange(5, dtype=np.int8)),
    "u2": pa.array(np.arange(5, dtype=np.uint16)),
    "i8": pa.array(np.arange(5) + 2**60),
    "u8": pa.array(np.arange(5, dtype=np.uint64)),
    "bool": pa.array([True, False, True, True, False]),
    "decimal": pa.array([Decimal(f"{i}.25") for i in range(5)]),
}
WIDTHS = [
    (["f4"], np.float32),
    (["f4", "i1", "u2", "bool", "f2"], np.float32),
    (["i1", "u2", "bool"], np.float64),  # as a table of integers is read
    (["f4", "f8"], np.float64),
    (["f4", "i8"], np.float64),
    (["f4", "u8"], np.float64),
    (["f4", "decimal"], np.float64),
]


@pytest.mark.parametrize(("columns", "dtype"), WIDTHS)
def test_numbers_of_any_type_become_floats(tmp_path, columns, dtype):
    pq.write_table(pa.table(NUMBERS), tmp_path / "x.parquet")
    (batch,) = Parquet(tmp_path / "x.parquet", columns=columns).batches(5)
    expected = np.array([[float(x.as_py()) for x in NUMBERS[name]] for name in columns]).T
    assert batch.rows.dtype == dtype
    np.testing.assert_array_equal(batch.rows, expected)


def test_the_fingerprint_follows_files_and_columns(folder):
    first = Parquet(folder, columns=FEATURES, target="delay").fingerprint()
    assert Parquet(folder, columns=FEATURES, target="delay").fingerprint() == first
    assert Parquet(folder, columns=FEATURES, target="trips").fingerprint() != first
    assert Parquet(folder, columns=FEATURES[::-1], target="delay").fingerprint() != first
    written(folder / "b.parquet", FRAME[40:41].reset_index(drop=True))
    assert Parquet(folder, columns=FEATURES, target="delay").fingerprint() != first
    (folder / "b.parquet").rename(folder / "z.parquet")
    assert Parquet(folder, columns=FEATURES, target="delay").count == ROWS


def test_a_file_that_changes_between_passes_is_refused(file):
    source = Parquet(file, columns=FEATURES)
    os.utime(file, ns=(1, 1))
    with pytest.raises(InputError, match=r"the same data in every pass; flights.parquet was changed"):
        next(source.batches(5))


def refused(message, path, columns=None, target=None, weight=None):
    with pytest.raises(InputError, match=message):
        for _ in Parquet(path, columns=columns, target=target, weight=weight).batches(10):
            pass


def test_columns_that_are_not_there_are_refused_with_those_that_are(file):
    known = "the columns of flights.parquet are 'lat', 'lon', 'minute', 'delay', 'trips', 'kind'. Check"
    refused(f"^Parquet needs a column named 'latt'; {known}", file, ["latt"])
    refused(f"^Parquet needs a column named 'dealy'; {known}", file, FEATURES, "dealy")
    refused(f"^Parquet needs a column named 'w'; {known}", file, FEATURES, "delay", "w")


def test_a_column_has_one_use(file):
    refused("one use for each column; 'delay' has several. Leave it out of columns", file, ["lat", "delay"], "delay")
    refused("one use for each column; 'lat' has several. Name it once", file, ["lat", "lat"])
    refused("at least one feature; no column is left", file, [], "delay")


def test_features_that_are_no_numbers_are_refused(file, tmp_path):
    refused(r"column 'kind' is of type .*string. Name the columns .* write one column of 0 and 1", file, None, "delay")
    path = tmp_path / "other.parquet"
    frame = FRAME.assign(kind=FRAME["kind"].astype("category"), day=datetime.date(2024, 1, 1), text=b"x")
    written(path, frame)
    refused("column 'kind' is of type dictionary", path, ["kind"])
    refused(r"column 'day' is of type date32.* or count the days since a first date\.", path, ["day"])
    refused(r"column 'text' is of type binary.* or write this one as numbers\.", path, ["text"])
    refused("numbers or texts as targets; column 'day' is of type", path, FEATURES, "day")
    refused("numbers as weights; column 'kind' is of type", path, FEATURES, "delay", "kind")


@pytest.mark.parametrize("column", ["lat", "delay", "trips", "kind"])
def test_nulls_are_refused_with_column_and_row(folder, column):
    table = pa.Table.from_pandas(FRAME[31:], preserve_index=False)
    values = table.column(column).to_pylist()
    values[44] = None
    at = table.schema.get_field_index(column)
    table = table.set_column(at, table.schema.field(at), pa.array(values, table.schema.field(at).type))
    pq.write_table(table, folder / "c.parquet", row_group_size=7)
    target = "kind" if column == "kind" else "delay"
    refused(f"column '{column}' has none in row 75. Impute or drop", folder, FEATURES, target, "trips")


def test_files_of_a_folder_have_one_schema(folder):
    written(folder / "d.parquet", FRAME.astype({"lat": "float64"}))
    refused("files with one schema; column 'lat' of d.parquet is double, and float in the first file", folder, ["lat"])
    assert Parquet(folder, columns=["lon"]).count == 2 * ROWS
    written(folder / "d.parquet", FRAME.drop(columns="lon"))
    refused("column 'lon' of d.parquet is not there, and float in the first file", folder, ["lon"])


def test_what_is_no_parquet_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"'.*nowhere.parquet' is not there"):
        Parquet(tmp_path / "nowhere.parquet")
    refused(r"a folder of \*.parquet files; '.*' holds none", tmp_path)
    (tmp_path / "text.parquet").write_text("lat,lon\n1,2\n")
    refused("files in the format Parquet; of text.parquet pyarrow says", tmp_path)
    twice = pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["a", "a"])
    pq.write_table(twice, tmp_path / "text.parquet")
    refused("text.parquet has several columns named 'a'", tmp_path)
    written(tmp_path / "text.parquet", FRAME[:0])
    refused("at least one row", tmp_path, FEATURES)


def test_without_pyarrow_it_says_what_to_install(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(
        ImportError, match=r'^Parquet needs pyarrow; it is not installed. Run: pip install "mercer\[files\]"'
    ):
        Parquet(file)
