"""Tables in all formats against what was written, and clear errors for what is no table."""

import gzip
import io
from datetime import date, datetime

import numpy as np
import pandas
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, ipc, parquet

from mercer.errors import InputError
from mercer.tables.columns import kind_of, numbers
from mercer.tables.delimited import TextOptions, _Counter
from mercer.tables.frame import Frame
from mercer.tables.limits import TableLimits
from mercer.tables.read import TableOptions, read_table

CSV = b"name,size,price,sold,day\nred,1,2.5,true,2020-01-02\nblue,2,,false,2021-03-04\n,3,4.5,,\n"
ROWS = {
    "name": ["red", "blue", None],
    "size": [1, 2, 3],
    "price": [2.5, None, 4.5],
    "sold": [True, False, None],
    "day": [date(2020, 1, 2), date(2021, 3, 4), None],
}


def stdin(data, **options):
    return read_table("-", options=TableOptions(**options), stdin=io.BytesIO(data))


def test_csv_has_types_and_missing_entries():
    sheet = stdin(CSV)
    assert sheet.table.to_pydict() == ROWS
    assert (sheet.name, sheet.format, sheet.rows, sheet.width) == ("standard input", "csv", 3, 5)
    assert [kind_of(column) for column in sheet.table.columns] == ["text", "number", "number", "truth", "date"]


def test_gzipped_csv_is_the_same(tmp_path):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(CSV))
    assert read_table(path).table.equals(stdin(CSV).table)
    assert stdin(gzip.compress(CSV)).table.equals(stdin(CSV).table)


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_the_separator_is_found(mark):
    assert stdin(CSV.replace(b",", mark.encode())).table.to_pydict() == ROWS
    assert stdin(b"a,b\n1,2\n", text=TextOptions(separator=";")).names == ("a,b",)


def test_no_header_and_known_types():
    sheet = stdin(b"007,1\n12,2\n", text=TextOptions(header=False, types={"f0": pyarrow.string()}))
    assert sheet.table.to_pydict() == {"f0": ["007", "12"], "f1": [1, 2]}


def test_a_type_that_changes_late_is_found_from_all_rows():
    """pyarrow's streaming reader would decide by the first block."""
    lines = b"a,b\n" + b"1,2\n" * 400_000 + b"1.5,x\n"
    table = stdin(lines).table
    assert table.column("a")[-1].as_py() == 1.5
    assert table.column("b")[0].as_py() == "2"


def test_columns_without_a_name_get_one():
    assert stdin(b",a\n0,1\n").names == ("unnamed", "a")


def test_quoted_line_breaks_stay_inside():
    assert stdin(b'a,b\n"x\ny",1\nz,2\n').table.to_pydict() == {"a": ["x\ny", "z"], "b": [1, 2]}


def written(table, form, path):
    if form == "parquet":
        parquet.write_table(table, path, row_group_size=2)
    elif form == "feather":
        feather.write_feather(table, path)
    elif form == "uncompressed":
        feather.write_feather(table, path, compression="uncompressed")
    else:
        with ipc.new_stream(str(path), table.schema) as sink:
            sink.write_table(table, max_chunksize=2)
    return path


BINARY = ("parquet", "feather", "uncompressed", "stream")


@pytest.mark.parametrize("form", BINARY)
def test_arrow_formats_give_back_what_was_written(form, tmp_path):
    table = pyarrow.table({**ROWS, "kind": pyarrow.array(["a", "b", "a"]).dictionary_encode()})
    path = written(table, form, tmp_path / "table")
    sheet = read_table(path)
    assert sheet.table.to_pydict() == table.to_pydict()
    assert [kind_of(column) for column in sheet.table.columns][-1] == "label"
    assert kind_of(sheet.column("name")) == "text"
    assert read_table("-", stdin=io.BytesIO(path.read_bytes())).table.to_pydict() == table.to_pydict()


@given(
    st.dictionaries(
        st.text("abcxyz", min_size=1, max_size=4),
        st.lists(st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)), min_size=3, max_size=3),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(["csv", *BINARY]),
)
def test_property_numbers_survive_every_format(tmp_path_factory, columns, form):
    path = tmp_path_factory.mktemp("tables") / "table"
    frame = pandas.DataFrame(columns, dtype="float64")
    if form == "csv":
        path.write_text(frame.to_csv(index=False))
    else:
        written(pyarrow.Table.from_pandas(frame), form, path)
    found = read_table(path).table
    assert found.column_names == list(frame.columns)
    values = np.column_stack([np.array(column.to_pylist(), dtype=float) for column in found.columns])
    np.testing.assert_array_equal(values, frame.to_numpy(dtype=np.float64))


def test_wide_types_are_made_plain():
    decimals = pyarrow.array([1, 2]).cast(pyarrow.decimal128(21, 2))
    lists = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array([1.0, 2.0, 3.0, 4.0]), 2)
    raw = pyarrow.array([b"\x01\x02", b"\x03\xff"], pyarrow.binary(2))
    table = pyarrow.table({"d": decimals, "l": lists, "b": raw, "t": pyarrow.array(["x", "y"], pyarrow.large_string())})
    sink = io.BytesIO()
    parquet.write_table(table, sink)
    assert stdin(sink.getvalue()).table.to_pydict() == {
        "d": [1.0, 2.0],
        "l[0]": [1.0, 3.0],
        "l[1]": [2.0, 4.0],
        "b[0]": [1, 3],
        "b[1]": [2, 255],
        "t": ["x", "y"],
    }


# -- NumPy and LIBSVM -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f4", "f8", ">f8", "i2", "?"])
def test_npy_gives_columns(order, dtype, tmp_path):
    X = np.asarray(np.arange(6).reshape(3, 2) % 4, dtype=dtype, order=order)
    np.save(tmp_path / "x.npy", X)
    sheet = read_table(tmp_path / "x.npy")
    assert sheet.names == ("x0", "x1")
    np.testing.assert_array_equal(numbers(sheet.table.columns, list(sheet.names)), X.astype(float))


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_gives_rows_and_named_columns(save, tmp_path):
    save(tmp_path / "t.npz", X=np.eye(2), y=np.array(["a", "b"]), Z=np.zeros((2, 1)))
    assert read_table(tmp_path / "t.npz").table.to_pydict() == {
        "x0": [1.0, 0.0],
        "x1": [0.0, 1.0],
        "y": ["a", "b"],
        "Z_0": [0.0, 0.0],
    }


def test_libsvm_stays_sparse():
    sheet = stdin(b"+1 1:0.5 3:2\n-1 2:1 # a note\n")
    assert (sheet.format, sheet.names, sheet.width) == ("libsvm", ("target",), 4)
    np.testing.assert_array_equal(sheet.sparse.rows.toarray(), [[0.5, 0, 2], [0, 1, 0]])
    assert sheet.column("target").to_pylist() == [1.0, -1.0]
    assert stdin(b"1 2:1\n", columns=3).sparse.rows.shape == (1, 3)
    np.testing.assert_array_equal(sheet.take([1]).sparse.rows.toarray(), [[0, 1, 0]])


def test_frames_are_arrays_with_names():
    frame = Frame(("a", "b"), np.array([[1.0, 2.0]]))
    assert (frame.shape, len(frame), frame.dtype) == ((1, 2), 1, np.float64)
    np.testing.assert_array_equal(np.asarray(frame, dtype=np.float32), [[1, 2]])
    assert not np.shares_memory(np.array(frame, copy=True), frame.values)


# -- what is no table -------------------------------------------------------------------------------------------------

BAD = {
    "lines of other lengths": (b"a,b\n1,2\n1\n", "same columns"),
    "one name twice": (b"a,a\n1,2\n", "'a'"),
    "no row": (b"a,b\n", "at least one row"),
    "nothing": (b"", "got nothing"),
    "an empty first line": (b"\n1,2\n", "first line"),
    "UTF-16": ("a,b\n1,2\n".encode("utf-16"), "UTF-8"),
    "no UTF-8": (b"a,b\n\xff\xfe\xff,2\n", "UTF-8"),
    "half a gzip": (gzip.compress(CSV * 1000)[:-20], "gzip"),
    "half a Parquet": (b"PAR1" + bytes(100), "Parquet"),
    "a Parquet of zeros": (b"PAR1" + bytes(100) + b"\x10\x00\x00\x00PAR1", "Parquet"),
    "a Parquet with a huge footer": (b"PAR1" + bytes(100) + b"\xff\xff\xff\x7fPAR1", "footer"),
    "half an Arrow file": (b"ARROW1\x00\x00" + bytes(100), "Arrow"),
    "an NPY without a header": (b"\x93NUMPY\x01\x00\x10\x00 nothing         ", "NPY"),
    "half an NPZ": (b"PK\x03\x04" + bytes(100), "NPZ"),
    "column 0 of LIBSVM": (b"1 0:1\n", "LIBSVM"),
    "descending columns of LIBSVM": (b"1 3:1 2:1\n", "LIBSVM"),
    "gzipped NPY": (gzip.compress(b"\x93NUMPY"), "gunzip"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_table_is_refused_with_the_reason(case):
    data, words = BAD[case]
    with pytest.raises(InputError, match=words):
        stdin(data)


def test_files_that_are_not_there(tmp_path):
    (tmp_path / "empty.csv").touch()
    for path, words in (
        (tmp_path / "none.csv", "no such file"),
        (tmp_path, "folder"),
        (tmp_path / "empty.csv", "empty"),
    ):
        with pytest.raises(InputError, match=words):
            read_table(path)


def test_npy_of_objects_or_three_dimensions(tmp_path):
    for name, array in (
        ("o", np.array([{}], dtype=object)),
        ("d", np.zeros((2, 2, 2))),
        ("c", np.zeros((2, 2), complex)),
    ):
        np.save(tmp_path / f"{name}.npy", array, allow_pickle=name == "o")
        with pytest.raises(InputError, match=r"dtype|dimensions"):
            read_table(tmp_path / f"{name}.npy")


@pytest.mark.parametrize("form", BINARY)
def test_names_of_columns_are_texts(form, tmp_path):
    path = written(pyarrow.table({"price": [1.0]}), form, tmp_path / "table")
    path.write_bytes(path.read_bytes().replace(b"price", b"pric\xff"))
    with pytest.raises(InputError, match="utf-8"):
        read_table(path)


HEADERS = [(b"(3,)", b"(-3,)", "dimensions"), (b"(3,)", b"(True,)", "dimensions"), (b"{'descr'", b"{{{{{{{{", "header")]


@pytest.mark.parametrize(("old", "new", "words"), HEADERS)
def test_npy_headers_that_are_none(old, new, words, tmp_path):
    path = tmp_path / "t.npy"
    np.save(path, np.zeros(3))
    raw = path.read_bytes()
    path.write_bytes(raw[:10] + raw[10:128].replace(old, new)[:118].ljust(118) + raw[128:])
    with pytest.raises(InputError, match=words):
        read_table(path)


def npy(path, header, body=b""):
    path.write_bytes(b"\x93NUMPY\x02\x00" + len(header).to_bytes(4, "little") + header.encode() + body)
    return path


def entries(descr="'<f8'", shape="(3,)"):
    return f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n"


ODD_HEADERS = {
    "minus": ("-" * 9_000 + "1\n", "sound NPY header"),
    "minus inside": (entries(shape=f"({'-' * 9_000}1,)"), "sound NPY header"),
    "plus chain": ("+".join(["1"] * 4_000), "sound NPY header"),
    "brackets": ("[" * 9_000 + "]" * 9_000, "sound NPY header"),
    "lists as keys": ("{[]: '<f8', 'fortran_order': False, 'shape': (3,)}", "sound NPY header"),
    "twice": (entries(shape="(3,), 'shape': (4,)"), "sound NPY header"),
    "a power": (entries(shape="(10**10**10,)"), "dimensions"),
    "a long number": (entries(shape=f"({'9' * 100},)"), "dimensions"),
    "no dimensions": (entries(shape="()"), "dimensions"),
    "no letters": (entries("'<U0'"), "dtype <U0"),
    "sixteen bytes": (entries("'<f16'"), "dtype <f16"),
    "times": (entries("'<M8[s]'"), "dtype <M8"),
    "records": (entries("[('a', '<f8'), ('b', '<i4')]"), "dtype .*'a'"),
    "deep records": (entries("[('a'," * 900 + "'<f8'" + ")]" * 900), "dtype"),
    "many fields": (entries(f"'{'f8,' * 50}f8'"), "dtype f8,f8"),
}


@pytest.mark.parametrize("which", ODD_HEADERS)
def test_odd_npy_headers_are_refused_in_words(which, tmp_path):
    header, words = ODD_HEADERS[which]
    with pytest.raises(InputError, match=words):
        read_table(npy(tmp_path / "t.npy", header, bytes(48)))


@pytest.mark.parametrize(
    "header",
    [
        entries(),
        entries(shape="(3L,)"),
        entries(shape="(3,1)"),
        entries(shape="(3, 1L)"),
        '{"shape": (3,), "fortran_order": False, "descr": "<f8"}',
        "{'descr':'<f8','fortran_order':True,'shape':(3,)}" + " " * 20 + "\n",
    ],
)
def test_npy_headers_of_other_writers_are_read(header, tmp_path):
    sheet = read_table(npy(tmp_path / "t.npy", header, np.arange(3.0).tobytes()))
    assert sheet.table.column(0).to_pylist() == [0.0, 1.0, 2.0]


# -- dates that Python does not know -----------------------------------------------------------------------------------

HUGE = pyarrow.array([2**62, None, 0], pyarrow.int64())
FAR = {
    "timestamp in seconds": HUGE.cast(pyarrow.timestamp("s")),
    "timestamp in microseconds": HUGE.cast(pyarrow.timestamp("us")),
    "negative": pyarrow.array([-(2**62), None, 0], pyarrow.int64()).cast(pyarrow.timestamp("ms", "UTC")),
    "date": pyarrow.array([2**31 - 1, None, -(2**31)], pyarrow.int32()).cast(pyarrow.date32()),
    "codes of timestamps": HUGE.cast(pyarrow.timestamp("s")).dictionary_encode(),
    "lists of timestamps": pyarrow.FixedSizeListArray.from_arrays(
        pyarrow.array([2**62, 1, 2], pyarrow.int64()).cast(pyarrow.timestamp("s")), 1
    ),
}


@pytest.mark.parametrize("which", FAR)
def test_dates_beyond_the_calendar_are_refused_in_words(which, tmp_path):
    path = written(pyarrow.table({"t": FAR[which], "y": [1.0, 2.0, 3.0]}), "arrow", tmp_path / "table")
    with pytest.raises(InputError, match=r"dates from the year 1 to 9999; column 't.*Correct"):
        read_table(path)


@pytest.mark.parametrize("form", BINARY)
@pytest.mark.parametrize("zone", ["Europe/Berlin", "Nowhere/None", "+07:30", "../../etc/passwd", None])
@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_times_are_in_utc_whatever_zone_they_name(unit, zone, form, tmp_path):
    times = pyarrow.array([1, None, 86_400_000], pyarrow.int64()).cast(pyarrow.timestamp("ms"))
    times = times.cast(pyarrow.timestamp(unit)).cast(pyarrow.int64()).cast(pyarrow.timestamp(unit, zone))
    sheet = read_table(written(pyarrow.table({"t": times}), form, tmp_path / "table"))
    assert sheet.table.column("t").to_pylist() == [
        datetime(1970, 1, 1, 0, 0, 0, 1000), None, datetime(1970, 1, 2),
    ]  # fmt: skip


@pytest.mark.parametrize("form", BINARY)
def test_the_first_and_the_last_day_of_the_calendar(form, tmp_path):
    days = pyarrow.array([date(1, 1, 1), date(9999, 12, 31)])
    table = pyarrow.table({"d": days, "t": days.cast(pyarrow.timestamp("us"))})
    found = read_table(written(table, form, tmp_path / "table")).table
    assert found.column("d").to_pylist() == [date(1, 1, 1), date(9999, 12, 31)]
    assert found.column("t").to_pylist() == [datetime(1, 1, 1), datetime(9999, 12, 31)]


def test_npy_headers_that_are_too_long(tmp_path):
    """A header of 4 GB is not waited for."""
    path = tmp_path / "t.npy"
    path.write_bytes(b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + b" " * 2**17)
    with pytest.raises(InputError, match="a sound NPY header"):
        read_table(path)


@pytest.mark.parametrize("code", [0x110000, 0xD800, 0xFFFFFFFF])
def test_npy_texts_of_numbers_that_are_no_letters(code, tmp_path):
    path = tmp_path / "t.npy"
    np.save(path, np.array(["ab", "cd"]))
    path.write_bytes(path.read_bytes()[:-4] + code.to_bytes(4, "little"))
    with pytest.raises(InputError, match="Unicode's letters"):
        read_table(path)


def test_a_column_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(InputError, match=r"'prize'.*'price'"):
        stdin(CSV).column("prize")


def test_a_strange_format_is_refused():
    with pytest.raises(InputError, match="parquet"):
        stdin(CSV, format="xlsx")


@pytest.mark.parametrize("form", ["csv", "gz", *BINARY, "npy", "npz", "libsvm"])
def test_property_damage_is_an_input_error_or_a_table(form, tmp_path):
    """Bytes that are changed at random: a table or an InputError comes, nothing else."""
    rng, path = np.random.default_rng(5), tmp_path / "table"
    table = pyarrow.table({"a": np.arange(50.0), "b": [f"text {i % 7}" for i in range(50)]})
    if form in BINARY:
        written(table, form, path)
    elif form == "npy":
        np.save(tmp_path / "t.npy", np.eye(20))
        path = tmp_path / "t.npy"
    elif form == "npz":
        np.savez_compressed(tmp_path / "t.npz", X=np.eye(20))
        path = tmp_path / "t.npz"
    else:
        text = CSV * 3 if form != "libsvm" else b"1 1:2 5:3\n" * 20
        path.write_bytes(gzip.compress(text) if form == "gz" else text)
    whole = path.read_bytes()
    refused = 0
    for _ in range(60):
        data = bytearray(whole)
        for place in rng.integers(0, len(data), 4):
            data[place] = rng.integers(0, 256)
        path.write_bytes(data)
        try:
            read_table(path, TableLimits(rows=1000, columns=100, cells=10_000, bytes=2**24))
        except InputError:
            refused += 1
    assert refused


@given(st.lists(st.binary(max_size=40).map(lambda data: data.replace(b"\x00", b"0")), max_size=20), st.integers(1, 50))
def test_property_lines_are_counted_over_all_chunks(lines, size):
    """Whatever the chunks are, what is counted is what `split` finds in the whole."""
    text, seen = b"\n".join(lines), _Counter()
    for start in range(0, len(text), size):
        seen.add(text[start : start + size])
    pieces = text.split(b"\n")
    assert seen.lines == len(pieces) - 1
    assert (seen.longest, seen.open) == (max(map(len, pieces)), len(pieces[-1]))
    assert (seen.first, seen.bytes) == (pieces[0], len(text))
