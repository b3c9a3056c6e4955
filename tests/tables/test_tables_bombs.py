"""Small files that are large tables: refused before they take the memory, measured in a process of their own."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from pyarrow import feather, parquet

from mercer.errors import InputError
from mercer.tables.limits import TableLimits
from mercer.tables.read import read_table

pytestmark = pytest.mark.slow

MEMORY = 700 * 2**20
"""100 million members of lists are within the limits, and are counted when they are unpacked."""
READ = """
import json, re, sys
from pathlib import Path
from mercer.errors import InputError
from mercer.tables.read import read_table
def read(path):
    try:
        return str(read_table(path).rows)
    except InputError as error:
        return str(error)
said = [read(path) for path in sys.argv[1:]]
peak = re.search("VmHWM:\\s*([0-9]+)", Path("/proc/self/status").read_text())
print(json.dumps([said, 1024 * int(peak[1]) if peak else 0]))
"""


def many_rows(path):
    part = pyarrow.table({"a": pyarrow.array(np.zeros(10_000_000, np.int8))})
    with parquet.ParquetWriter(path, part.schema) as writer:
        for _ in range(10):
            writer.write_table(part, row_group_size=10_000_000)


def long_texts(path):
    coded = pyarrow.DictionaryArray.from_arrays(np.zeros(3000, np.int32), ["x" * 2**20])
    parquet.write_table(pyarrow.table({"a": coded}), path, store_schema=False)


def long_lists(path):
    """Lists of equal numbers, which take next to no bytes."""
    ends = np.arange(11, dtype=np.int32) * 1_000_000
    part = pyarrow.table({"a": pyarrow.ListArray.from_arrays(ends, np.zeros(10_000_000, np.int8))})
    with parquet.ParquetWriter(path, part.schema) as writer:
        for _ in range(11):
            writer.write_table(part)


def labels_of_graphs(path):
    """The same where lists of texts are read, as the labels of nodes."""
    lists_of_texts(path, "nodes")


def lists_of_texts(path, name="a"):
    """One long text, often: written once."""
    lists = pyarrow.ListArray.from_arrays(np.array([0, 3000], np.int32), np.zeros(3000, np.int8))
    coded = pyarrow.DictionaryArray.from_arrays(lists.values, ["x" * 2**20])
    table = pyarrow.table({name: pyarrow.ListArray.from_arrays(lists.offsets, coded)})
    parquet.write_table(table, path, store_schema=False)


def records_of_texts(path):
    coded = pyarrow.DictionaryArray.from_arrays(np.zeros(3000, np.int32), ["x" * 2**20])
    parquet.write_table(pyarrow.table({"a": pyarrow.StructArray.from_arrays([coded], ["b"])}), path, store_schema=False)


def packed_arrow(path):
    feather.write_feather(pyarrow.table({"a": np.zeros(20_000_000, np.int8)}), path, "zstd", chunksize=20_000_000)


def members(head, body, count):
    """A gzip file of many members: a gigabyte in a moment."""
    return gzip.compress(head) + count * gzip.compress(body)


BOMBS = {
    "rows of Parquet": ("t.parquet", many_rows, "rows"),
    "texts of Parquet": ("t.parquet", long_texts, "unpacked"),
    "lists of Parquet": ("t.parquet", long_lists, "cells"),
    "lists of texts of Parquet": ("t.parquet", lists_of_texts, "unpacked"),
    "records of texts of Parquet": ("t.parquet", records_of_texts, "unpacked"),
    "labels of graphs of Parquet": ("t.parquet", labels_of_graphs, "unpacked"),
    "rows of packed Arrow": ("t.arrow", packed_arrow, "rows"),
    "rows of gz": ("t.gz", lambda p: p.write_bytes(members(b"a\n", b"0\n" * 2**19, 100)), "rows"),
    "bytes of gz": ("t.gz", lambda p: p.write_bytes(members(b"a\n", (b"x" * 1023 + b"\n") * 2**10, 2000)), "gunzip"),
    "a line of gz": ("t.gz", lambda p: p.write_bytes(members(b"a\n", b"x" * 2**20, 1000)), "lines"),
    "a line": ("t.csv", lambda p: p.write_bytes(b"a\n" + b"x" * (40 * 2**20)), "lines"),
    "a million columns": ("t.csv", lambda p: p.write_text(",".join(map(str, range(10**6))) + "\n"), "columns"),
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What each bomb is answered with, and the peak of the memory of the process that read them all."""
    folder, paths = tmp_path_factory.mktemp("bombs"), {}
    for case, (name, make, _) in BOMBS.items():
        paths[case] = folder / f"{len(paths)}-{name}"
        make(paths[case])
        assert paths[case].stat().st_size < 45 * 2**20
    command = [sys.executable, "-c", READ, *map(str, paths.values())]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    said, peak = json.loads(done.stdout)
    return dict(zip(paths, said, strict=True)), peak


@pytest.mark.parametrize("case", BOMBS)
def test_bombs_are_refused(case, answers):
    assert BOMBS[case][2] in answers[0][case]
    assert "needs" in answers[0][case]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system does not tell the peak of the memory")
def test_bombs_take_little_memory(answers):
    assert 2**20 < answers[1] < MEMORY


def test_headers_that_promise_too_much(tmp_path):
    """Sizes that no disk holds: an attempt to take the memory would fail."""
    path = tmp_path / "t.npy"
    np.save(path, np.zeros(1))
    path.write_bytes(path.read_bytes().replace(b"(1,), }       ", b"(9999999999,)}"))
    with pytest.raises(InputError, match=r"got 9,999,999,999.*--max-rows"):
        read_table(path)
    with pytest.raises(InputError, match=r"bytes of entries|unpacked"):
        read_table(path, TableLimits(rows=10**10, cells=10**10, bytes=2**62))


def test_what_a_footer_says_is_refused_before_a_row_is_read(tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    parquet.write_table(pyarrow.table({"a": np.arange(1_000.0), "b": np.arange(1_000.0)}), path, row_group_size=100)
    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", None)
    for limits, words in (
        (TableLimits(rows=999), "at most 999 rows"),
        (TableLimits(columns=1), "at most 1 columns"),
        (TableLimits(cells=1_999), "at most 1,999 cells"),
        (TableLimits(bytes=15_999), "unpacked"),
    ):
        with pytest.raises(InputError, match=words):
            read_table(path, limits)


def test_footers_are_bounded_and_whole(tmp_path):
    path = tmp_path / "t.parquet"
    for length, words in ((2**25 + 1, "a footer of at most 32.0 MiB"), (2**24, "pyarrow says")):
        path.write_bytes(b"PAR1" + length.to_bytes(4, "little") + b"PAR1")
        with pytest.raises(InputError, match=words):
            read_table(path)
    path.write_bytes(b"PAR1" + bytes(8))
    with pytest.raises(InputError, match="its end is missing"):
        read_table(path)


def test_rows_are_counted_as_they_come(tmp_path):
    """A stream of Arrow says nowhere how many there are."""
    path = tmp_path / "t.arrow"
    batch = pyarrow.record_batch({"a": np.zeros(1_000), "b": [[0] * 10] * 1_000})
    with pyarrow.ipc.new_stream(path, batch.schema) as writer:
        for _ in range(10):
            writer.write_batch(batch)
    assert read_table(path).rows == 10_000
    for limits, words in ((TableLimits(rows=5_000), "got 6,000"), (TableLimits(cells=50_000), "members of lists")):
        with pytest.raises(InputError, match=words):
            read_table(path, limits)


def test_npz_members_are_checked_before_they_are_unpacked(tmp_path):
    path = tmp_path / "t.npz"
    np.savez_compressed(path, X=np.zeros((20_000, 600)))
    assert path.stat().st_size < 2**20
    with pytest.raises(InputError, match="unpacked"):
        read_table(path, TableLimits(bytes=2**20))


LIMITED = [(TableLimits(rows=2), "--max-rows"), (TableLimits(columns=1), "--max-columns")]
LIMITED += [(TableLimits(cells=5), "--max-cells"), (TableLimits(bytes=10), "--max-bytes")]


@pytest.mark.parametrize(("limits", "flag"), LIMITED)
@pytest.mark.parametrize("form", ["csv", "parquet", "arrow", "npy"])
def test_each_limit_names_the_flag_that_raises_it(limits, flag, form, tmp_path):
    table, path = pyarrow.table({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, 3.0]}), tmp_path / f"t.{form}"
    if form == "csv":
        path.write_text("a,b\n1,1\n2,2\n3,3\n")
    elif form == "npy":
        np.save(path, np.ones((3, 2)))
    else:
        (parquet.write_table if form == "parquet" else feather.write_feather)(table, path)
    with pytest.raises(InputError, match=flag):
        read_table(path, limits)
    assert read_table(path, TableLimits(rows=3, columns=2, cells=6)).rows == 3


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="this system does not tell how large a process is")
def test_mutants_of_tables_do_no_harm():
    """A tenth of `make fuzz`, each in a process with limits; a mutant that does harm is printed."""
    fuzz = Path(__file__).parents[2] / "benchmarks" / "fuzz_tables.py"
    command = [sys.executable, fuzz, "--count", "2000", "--seed", "6"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    ends = {line.split()[1] for line in done.stdout.splitlines() if line.endswith(" read")}
    assert ends == {".csv", ".csv.gz", ".libsvm", ".libsvm.gz", ".npy", ".npz", ".arrow", ".parquet"}  # all get far
