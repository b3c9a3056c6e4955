"""Pages of Parquet that lie: refused before they are unpacked."""

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from mercer.errors import InputError
from mercer.tables.parquet_pages import unpacked_size
from mercer.tables.read import read_table
from mercer.tables.thrift import Compact

TABLE = pyarrow.table({"a": np.arange(300) / 7, "b": [f"text {i % 9}" for i in range(300)], "c": [None, 1, 2] * 100})


def coded(number):
    """An integer as Thrift writes it: the sign last, seven bits per byte."""
    number, found = number << 1 if number >= 0 else ~(number << 1), b""
    while number > 127:
        number, found = number >> 7, found + bytes([number & 127 | 128])
    return found + bytes([number])


@pytest.mark.parametrize("packing", ["none", "snappy", "gzip", "zstd", "brotli", "lz4"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_sizes_are_those_of_the_footer(packing, version, tmp_path):
    """pyarrow writes the same sums into its footer; there a column has the headers of its pages as well."""
    path = tmp_path / "t.parquet"
    parquet.write_table(TABLE, path, compression=packing, data_page_version=version, row_group_size=100)
    metadata = parquet.read_metadata(path)
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    footer = sum(group.column(j).total_uncompressed_size for group in groups for j in range(3))
    pages = 2 * 3 * len(groups)  # at most: a dictionary and its codes for each column
    raw = path.read_bytes()
    found, values = unpacked_size("t", path, raw[-8 - metadata.serialized_size : -8])
    assert values == 3 * TABLE.num_rows
    assert footer - 200 * pages <= found < footer
    assert read_table(path).table.to_pydict() == TABLE.to_pydict()


def test_long_headers_are_read_on(tmp_path):
    """The smallest and the largest text stand in the headers of pages, if one asks for it."""
    path, table = tmp_path / "t.parquet", pyarrow.table({"a": ["x" * 9000, "y" * 9000]})
    parquet.write_table(table, path, use_dictionary=False, write_page_index=False, compression="zstd")
    assert read_table(path).table.to_pydict() == table.to_pydict()


def changed(path, field, number):
    """The first page of a file, which begins at byte 4, with another number in a field of its header."""
    raw = path.read_bytes()
    header = Compact(raw[4:])
    fields = header.struct()
    marks = {2: b"\x15" + coded(fields[2]), 3: b"\x15" + coded(fields[3])}  # of 32 bits, one after the last
    old = marks[2] + marks[3]
    new = old.replace(marks[field], b"\x15" + coded(number), 1) if field in marks else old
    assert raw.count(old) >= 1
    path.write_bytes(raw.replace(old, new, 1))


@pytest.mark.parametrize(
    ("field", "number", "words"),
    [
        (2, 2**31 - 1, r"one of [\d,]+ bytes is to become 2,147,483,647"),
        (2, 10, "one of 74 bytes is to become 10"),  # a dictionary of more entries than bytes
        (2, -1, "one does not say how large it is"),
        (3, -1, "one does not say how large it is"),
        (3, 10**6, r"one of 1,000,000 bytes"),
    ],
)
def test_pages_that_lie(field, number, words, tmp_path):
    path = tmp_path / "t.parquet"
    texts = pyarrow.table({"b": [chr(97 + i % 26) for i in range(300)]})
    parquet.write_table(texts, path, compression="zstd", write_statistics=False)
    assert read_table(path).rows == 300
    changed(path, field, number)
    with pytest.raises(InputError, match=f"sound pages of Parquet; {words}"):
        read_table(path)


def test_headers_that_are_none(tmp_path):
    path = tmp_path / "t.parquet"
    parquet.write_table(TABLE, path)
    raw = path.read_bytes()
    for start in (b"\x19\xf5", b"\xff" * 40, b"\x1c" * 40, b"\x18\xff\xff\xff\x7f"):  # list, number, depth, text
        path.write_bytes(raw[:4] + start + raw[4 + len(start) :])
        with pytest.raises(InputError, match="sound pages of Parquet; one does not say"):
            read_table(path)


def test_footers_of_too_many_values():
    """A list of eight million numbers would take seconds to step over."""
    many = 1 << 23
    footer = b"\x19\xf5" + bytes([many >> 7 * i & 127 | 128 for i in range(3)]) + bytes([many >> 21]) + b"\x01" * many
    with pytest.raises(ValueError, match="too many values"):
        Compact(footer + b"\x00").struct()
