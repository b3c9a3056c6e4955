"""Compiled code: kept on disk, shared by processes, never taken from where others can write; and life without Numba."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mercer.compute import code
from mercer.kernels import Gaussian, Laplace, Linear
from mercer.kernels.evaluate import fused_from
from mercer.operators import Gram

WORK = """
import json, logging, sys
import numpy as np
from mercer.compute import code
from mercer.kernels import Gaussian, Laplace, Linear
from mercer.kernels.evaluate import fused_from
from mercer.operators import Gram

messages = []
class Keep(logging.Handler):
    def emit(self, record):
        messages.append(record.getMessage())
logging.getLogger("mercer.compute").addHandler(Keep())

X = np.random.default_rng(0).normal(size=(300, 6))
kernel = Gaussian(0.7) * Linear() + Laplace(2.0)
if "wait" in sys.argv:  # all processes start at once
    print("ready", flush=True)
    sys.stdin.readline()
with fused_from(0):
    K = kernel(X)
    v = Gram(kernel, X) @ X[:, 0]
functions = [f for m in code._LOADED.values() for f in vars(m).values() if hasattr(f, "stats")]
print(json.dumps({
    "matrix": K[:3].tolist(), "product": v.tolist(), "messages": messages, "numba": "numba" in sys.modules,
    "hits": sum(sum(f.stats.cache_hits.values()) for f in functions),
    "misses": sum(sum(f.stats.cache_misses.values()) for f in functions),
}))
"""


def start(folder, *arguments, before="", **options):
    environment = os.environ | {"MERCER_CACHE_DIR": str(folder)}
    return subprocess.Popen(
        [sys.executable, "-c", before + WORK, *arguments],
        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


def answer(process, line=None):
    out, errors = process.communicate(line, timeout=300)
    assert process.returncode == 0, errors
    return json.loads(out.splitlines()[-1])


def files(folder):
    return sorted(path for path in Path(folder).rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def wanted():
    X = np.random.default_rng(0).normal(size=(300, 6))
    gaps = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    K = np.exp(-gaps / 2 / 0.7**2) * (X @ X.T) + np.exp(-np.sqrt(gaps) / 2.0)
    return {"matrix": K[:3], "product": K @ X[:, 0]}


def is_right(found, wanted):
    for name in ("matrix", "product"):
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-11, atol=1e-11)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return tmp_path_factory.mktemp("shared")


@pytest.fixture(scope="module")
def at_once(shared):
    """Three processes that wait for each other, and then compile the same formula."""
    processes = [start(shared, "wait") for _ in range(3)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    return [answer(process) for process in processes]


class TestProcesses:
    def test_all_that_compile_at_once_succeed_and_agree(self, at_once, wanted):
        for found in at_once:
            is_right(found, wanted)
            assert found["matrix"] == at_once[0]["matrix"]
            assert found["product"] == at_once[0]["product"]
        assert all(sum("compiles a new formula" in text for text in found["messages"]) <= 1 for found in at_once)
        assert any("compiles a new formula" in text for found in at_once for text in found["messages"])

    def test_the_next_process_compiles_nothing(self, at_once, shared, wanted):
        before = {path: path.stat().st_mtime_ns for path in files(shared)}
        assert {".py", ".nbi", ".nbc"} <= {path.suffix for path in before}
        assert not any(path.suffix == ".draft" for path in before)
        found = answer(start(shared))
        is_right(found, wanted)
        assert found["misses"] == 0
        assert found["hits"] >= 2  # fill, and both
        assert found["messages"] == []
        assert {path: path.stat().st_mtime_ns for path in files(shared)} == before

    def test_only_the_user_can_write_there(self, at_once, shared):
        (inner,) = shared.iterdir()
        assert inner.stat().st_mode & 0o777 == 0o700


# -- directories that cannot be used -----------------------------------------------------------------------------------


@pytest.fixture
def anew(monkeypatch):
    """The directory is asked anew, and the one of the other tests comes back."""
    code.directory.cache_clear()
    monkeypatch.setattr(code, "_LOADED", {})
    yield monkeypatch
    monkeypatch.undo()
    code.directory.cache_clear()


def evaluated():
    X = np.random.default_rng(0).normal(size=(40, 3))
    with fused_from(0):
        found = Gaussian(0.9)(X)
    np.testing.assert_allclose(found, np.exp(-((X[:, None] - X[None]) ** 2).sum(2) / 2 / 0.81), atol=1e-13)


def test_the_chosen_directory_is_used(anew, tmp_path, caplog):
    anew.setenv("MERCER_CACHE_DIR", str(tmp_path / "a" / "b"))
    with caplog.at_level(logging.INFO, "mercer.compute"):
        evaluated()
    assert code.directory().parent == tmp_path / "a" / "b"
    assert [path.suffix for path in files(tmp_path)].count(".nbc") == 1
    assert ["compiles a new formula" in text for text in caplog.messages] == [True]


def writable_by_others(tmp_path, monkeypatch):
    monkeypatch.setenv("MERCER_CACHE_DIR", str(tmp_path))
    folder = code.directory()
    folder.chmod(0o770)
    code.directory.cache_clear()


def a_file_in_its_place(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MERCER_CACHE_DIR", str(tmp_path / "file"))


def not_writable(tmp_path, monkeypatch):
    tmp_path.chmod(0o500)
    monkeypatch.setenv("MERCER_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere


def of_another_user(tmp_path, monkeypatch):
    monkeypatch.setenv("MERCER_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(os, "getuid", lambda: 123456)


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
@pytest.mark.parametrize("trouble", [writable_by_others, a_file_in_its_place, not_writable, of_another_user])
def test_another_directory_serves_where_the_first_cannot(anew, tmp_path, caplog, trouble):
    chosen = tmp_path / "chosen"
    chosen.mkdir()
    trouble(chosen, anew)
    with caplog.at_level(logging.WARNING, "mercer.compute"):
        evaluated()
    chosen.chmod(0o700)
    folder = code.directory()
    assert chosen not in folder.parents
    assert folder.stat().st_mode & 0o777 == 0o700
    assert sum("cannot keep compiled code" in text for text in caplog.messages) == 1
    assert not any(path.suffix in (".py", ".nbc") for path in files(chosen))


# -- life without Numba ------------------------------------------------------------------------------------------------


def test_without_numba_numpy_serves(tmp_path, wanted):
    found = answer(start(tmp_path, before="import sys; sys.modules['numba'] = None\n"))
    is_right(found, wanted)
    assert found["hits"] == found["misses"] == 0
    assert ["Numba cannot be imported" in text for text in found["messages"]] == [True]
    assert files(tmp_path) == []


def test_numba_is_not_imported_before_it_is_used():
    text = "import sys, mercer, mercer.operators; mercer.kernels.Gaussian()([[1.0]]); print('numba' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", text], text=True) == "False\n"


def test_without_numba_an_operator_is_the_same(monkeypatch, wanted):
    monkeypatch.setattr(code, "numba_works", lambda: False)
    X = np.random.default_rng(0).normal(size=(300, 6))
    kernel = Gaussian(0.7) * Linear() + Laplace(2.0)
    with fused_from(0):
        found = {"matrix": kernel(X)[:3], "product": Gram(kernel, X) @ X[:, 0]}
    is_right(found, wanted)
