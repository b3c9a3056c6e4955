"""Data that is larger than what may be held: a child process streams it, and says how much its memory grew."""

import subprocess
import sys

import numpy as np
import pytest

pytestmark = pytest.mark.slow

pytest.importorskip("resource", reason="this system does not tell the peak of a process")

ROWS, COLUMNS, MEGA = 1_600_000, 32, 1 << 20
"""200 MB of float32."""
ALLOWED = 64
"""MB that may be added while it streams."""
CHILD = """
import resource, sys
from pathlib import Path
import numpy as np
from mercer.learners.streaming.source_stream import regression_stream
from mercer.sources import Arrays, Parquet

kind, path, warm = sys.argv[1:]

def source(path):
    if kind == "parquet":
        return Parquet(path, target="c0")
    table = np.load(path, mmap_mode="r")
    return Arrays(table, np.zeros(len(table), np.float32))

def peak():
    status = Path("/proc/self/status")
    if status.exists():  # the other number may be that of the process that started this one
        found = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(found.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 2**20

total = sum(len(piece.targets) for piece in regression_stream(source(warm)).pieces(16_384))
before = peak()
stream = regression_stream(source(path))
count = sum(len(piece.targets) for piece in stream.pieces(16_384))
sampled = stream.sample(np.arange(0, stream.count, 100_000))
assert count == stream.count > 10 * total and len(sampled.targets) == 16
print(peak() - before)
"""


def grown(kind, path, warm):
    command = [sys.executable, "-c", CHILD, kind, str(path), str(warm)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system decides when it takes pages back")
def test_a_memory_map_streams(tmp_path):
    for name, rows in (("large", ROWS), ("small", ROWS // 100)):
        np.lib.format.open_memmap(tmp_path / f"{name}.npy", "w+", np.float32, (rows, COLUMNS)).flush()
    assert (tmp_path / "large.npy").stat().st_size > 190 * MEGA
    assert grown("memmap", tmp_path / "large.npy", tmp_path / "small.npy") < ALLOWED


def test_parquet_streams(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="Parquet files are read by pyarrow")
    pq = pytest.importorskip("pyarrow.parquet", reason="Parquet files are read by pyarrow")
    block = np.random.default_rng(0).normal(size=ROWS // 4).astype(np.float32)
    part = pa.table({f"c{at}": block for at in range(COLUMNS)})
    for name, groups, rows in (("large", 4, ROWS // 4), ("small", 1, ROWS // 100)):
        with pq.ParquetWriter(
            tmp_path / f"{name}.parquet", part.schema, compression=None, use_dictionary=False
        ) as file:
            for _ in range(groups):
                file.write_table(part.slice(0, rows), row_group_size=rows)
    assert (tmp_path / "large.parquet").stat().st_size > 190 * MEGA
    assert grown("parquet", tmp_path / "large.parquet", tmp_path / "small.parquet") < ALLOWED
