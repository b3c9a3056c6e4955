"""The machine: times from rates, and rates that are measured once and kept. No test asks how fast this one is."""

import json
from dataclasses import asdict, fields, replace

import pytest

from mercer.compute.codegen import cache_folder as of_code
from mercer.compute.codegen import jit_cache
from mercer.planner import Machine, benchmark_machine, machine
from mercer.planner.machine import ROUGH, TRANSFORMED


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of our own, nothing known, a machine that is not busy, and rates that count the measurements."""
    taken = []

    def measure():
        taken.append(None)
        return replace(ROUGH, call=float(len(taken)))

    monkeypatch.setattr(machine, "_KNOWN", {})
    monkeypatch.setattr(machine, "_busy", lambda: False)
    monkeypatch.setattr(of_code, "directory", lambda: tmp_path)
    monkeypatch.setattr(benchmark_machine, "measure", measure)
    return tmp_path


def again(monkeypatch):
    """Another process: nothing is known but what is on disk."""
    monkeypatch.setattr(machine, "_KNOWN", {})
    return Machine.here()


# -- times from rates -------------------------------------------------------------------------------------------------


def test_times_are_work_by_rates():
    assert ROUGH.multiply(1e12) == pytest.approx(1e12 / ROUGH.products)
    assert ROUGH.multiply(1e12, single=True) == pytest.approx(1e12 / ROUGH.products32)
    assert ROUGH.read(1e6) == pytest.approx(8e6 / ROUGH.bandwidth)
    assert ROUGH.store(1e6) == pytest.approx(8e6 / ROUGH.fresh)
    assert ROUGH.pairs(1e9, 10) == pytest.approx(1e9 * (ROUGH.pair + 10 * ROUGH.pair_column))
    assert ROUGH.pairs(1e9, 0, single=True) == pytest.approx(1e9 * ROUGH.pair32)
    assert ROUGH.cholesky(3000) == pytest.approx(9e9 / ROUGH.products + 9e6 * ROUGH.factor)


def test_large_decompositions_wait_for_memory():
    """From where the matrix leaves the cache, 4/3 n^3 bytes are read, beside what was measured."""
    small, large = TRANSFORMED, 8 * TRANSFORMED
    assert ROUGH.eigenvectors(small) == pytest.approx(ROUGH.eigen * small**3 + ROUGH.eigen_row * small)
    waiting = replace(ROUGH, bandwidth=ROUGH.bandwidth / 2).eigenvectors(large) - ROUGH.eigenvectors(large)
    assert waiting == pytest.approx(4 / 3 * (large**3 - small**3) / ROUGH.bandwidth)


# -- measured once, and kept ------------------------------------------------------------------------------------------


def test_a_machine_is_measured_once(folder, monkeypatch):
    first = Machine.here()
    assert Machine.here() is first
    assert again(monkeypatch) == first
    assert [file.suffix for file in folder.iterdir()] == [".json"]


def test_it_can_be_measured_anew(folder, monkeypatch):
    first = Machine.here()
    second = Machine.measured()
    assert second != first
    assert Machine.here() is second
    assert again(monkeypatch) == second


@pytest.mark.parametrize("change", ["broken", "empty", "list", "missing", "more", "nan", "zero", "text", "key"])
def test_files_that_make_no_sense_are_ignored_and_rewritten(folder, monkeypatch, change):
    first = Machine.here()
    (file,) = folder.iterdir()
    record = json.loads(file.read_text())
    texts = {
        "broken": file.read_text()[:40],
        "empty": "",
        "list": "[1, 2]",
        "missing": json.dumps({name: rate for name, rate in record.items() if name != "pair"}),
        "more": json.dumps({**record, "speed": 1.0}),
        "nan": json.dumps({**record, "pair": float("nan")}),
        "zero": json.dumps({**record, "products": 0.0}),
        "text": json.dumps({**record, "products": "fast"}),
        "key": json.dumps({**record, "key": "another machine"}),
    }
    file.write_text(texts[change])
    second = again(monkeypatch)
    assert second != first
    assert again(monkeypatch) == second


def test_bytes_that_are_no_text_are_ignored(folder, monkeypatch):
    first = Machine.here()
    (file,) = folder.iterdir()
    file.write_bytes(b"\xff\xfe\x00")
    assert again(monkeypatch) != first


def test_where_nothing_can_be_written_it_goes_on(folder, monkeypatch):
    monkeypatch.setattr(of_code, "directory", lambda: folder / "missing")
    assert Machine.here() == Machine.here()
    assert not list(folder.iterdir())


def test_a_full_disk_leaves_nothing_half_written(folder, monkeypatch):
    def full(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr("os.replace", full)
    assert Machine.here() == Machine.here()
    assert not list(folder.iterdir())


def test_where_nothing_is_compiled_nothing_is_kept(folder, monkeypatch):
    monkeypatch.setattr(jit_cache, "numba_works", lambda: False)
    assert Machine.here() == Machine.here()
    assert not list(folder.iterdir())


def test_another_number_of_threads_is_another_machine(folder, monkeypatch):
    first = Machine.here()
    monkeypatch.setattr(machine, "available", lambda: 64)
    assert Machine.here() != first
    assert len(list(folder.iterdir())) == 2


def test_rates_of_a_busy_machine_are_replaced_when_it_is_free(folder, monkeypatch):
    monkeypatch.setattr(machine, "_busy", lambda: True)
    first = Machine.here()
    assert again(monkeypatch) == first
    monkeypatch.setattr(machine, "_busy", lambda: False)
    second = again(monkeypatch)
    assert second != first
    monkeypatch.setattr(machine, "_busy", lambda: True)
    assert again(monkeypatch) == second


def test_what_is_measured_makes_sense(monkeypatch):
    """The real measurement, of pieces that are too small to say how fast this machine is."""
    small = {"ROWS": 60, "SQUARE": 32, "FACTORED": 40, "SMALL": 20, "STREAM": 1 << 14, "CALLS": 10, "SECONDS": 0.0}
    for name, size in small.items():
        monkeypatch.setattr(benchmark_machine, name, size)
    monkeypatch.setattr(benchmark_machine, "TRANSFORMED", 50)
    found = benchmark_machine.measure()
    assert machine._sensible(found)
    assert set(asdict(found)) == {field.name for field in fields(Machine)}
    assert found.eigen > 0
    assert found.call > 0


def test_the_shortest_time_counts(monkeypatch):
    ticks = iter([0.0, 5.0, 5.0, 7.0, 7.0, 10.0])
    monkeypatch.setattr(benchmark_machine.time, "perf_counter", lambda: next(ticks))
    monkeypatch.setattr(benchmark_machine, "REPEATS", 3)
    assert benchmark_machine.shortest(lambda: None) == 2.0
