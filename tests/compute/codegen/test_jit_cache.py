"""Compiled code: kept on disk, shared by processes, never taken from where others can write; and life without Numba."""

import errno
import hashlib
import json
import logging
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mercer.compute.codegen import cache_folder, jit_cache, kept
from mercer.kernels import Gaussian, Laplace, Linear
from mercer.kernels.evaluation.evaluate import fused_from
from mercer.operators import Gram

WORK = """
import json, logging, sys
import numpy as np
from mercer.compute.codegen import jit_cache
from mercer.kernels import Gaussian, Laplace, Linear
from mercer.kernels.evaluation.evaluate import fused_from
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
functions = [f for m in jit_cache._LOADED.values() for f in vars(m).values() if hasattr(f, "stats")]
print(json.dumps({
    "matrix": K[:3].tolist(), "product": v.tolist(), "messages": messages, "numba": "numba" in sys.modules,
    "hits": sum(sum(f.stats.cache_hits.values()) for f in functions),
    "misses": sum(sum(f.stats.cache_misses.values()) for f in functions),
}))
"""


def start(place, *arguments, before="", **options):
    environment = os.environ | {"MERCER_CACHE_DIR": str(place)}
    return subprocess.Popen(
        [sys.executable, "-c", before + WORK, *arguments],
        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


def answer(process, line=None):
    out, errors = process.communicate(line, timeout=300)
    assert process.returncode == 0, errors
    return json.loads(out.splitlines()[-1])


def files(place):
    return sorted(path for path in Path(place).rglob("*") if path.is_file())


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


@pytest.mark.slow
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
        assert {path.suffix for path in before} == {".nbc"}
        found = answer(start(shared))
        is_right(found, wanted)
        assert found["misses"] == 0
        assert found["hits"] >= 2  # fill, and both
        assert found["messages"] == []
        assert {path: path.stat().st_mtime_ns for path in files(shared)} == before

    def test_only_the_user_can_write_there(self, at_once, shared):
        (inner,) = shared.iterdir()
        assert inner.stat().st_mode & 0o777 == 0o700


# -- folders that cannot be used ---------------------------------------------------------------------------------------


@pytest.fixture
def anew(monkeypatch):
    """The folder is asked anew, and the one of the other tests comes back."""
    told = (cache_folder.directory, cache_folder._tell, kept._announce)
    for asked in told:
        asked.cache_clear()
    monkeypatch.setattr(jit_cache, "_LOADED", {})
    yield monkeypatch
    monkeypatch.undo()
    for asked in told:
        asked.cache_clear()


def evaluated():
    X = np.random.default_rng(0).normal(size=(40, 3))
    with fused_from(0):
        found = Gaussian(0.9)(X)
    np.testing.assert_allclose(found, np.exp(-((X[:, None] - X[None]) ** 2).sum(2) / 2 / 0.81), atol=1e-13)


def test_the_chosen_folder_is_used(anew, tmp_path, caplog):
    anew.setenv("MERCER_CACHE_DIR", str(tmp_path / "a" / "b"))
    before = os.umask(0o002)  # under which Python would make folders that a group can write to
    try:
        with caplog.at_level(logging.INFO, "mercer.compute"):
            evaluated()
    finally:
        os.umask(before)
    assert cache_folder.directory().parent == tmp_path / "a" / "b"
    assert [path.suffix for path in files(tmp_path)] == [".nbc"]
    assert ["compiles a new formula" in text for text in caplog.messages] == [True]


def writable_by_others(tmp_path, monkeypatch):
    monkeypatch.setenv("MERCER_CACHE_DIR", str(tmp_path))
    cache_folder.directory().chmod(0o770)
    cache_folder.directory.cache_clear()


def below_one_that_others_can_write_to(tmp_path, monkeypatch):
    monkeypatch.setenv("MERCER_CACHE_DIR", str(tmp_path / "a" / "b"))
    cache_folder.directory()
    tmp_path.chmod(0o777)
    cache_folder.directory.cache_clear()


def behind_a_link_to_such_a_one(tmp_path, monkeypatch):
    below_one_that_others_can_write_to(tmp_path, monkeypatch)
    link = tmp_path.parent / "link"
    link.symlink_to(tmp_path / "a", target_is_directory=True)
    monkeypatch.setenv("MERCER_CACHE_DIR", str(link / "b"))


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


TROUBLES = [
    writable_by_others, below_one_that_others_can_write_to, behind_a_link_to_such_a_one, a_file_in_its_place,
    not_writable, of_another_user,
]  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
@pytest.mark.parametrize("trouble", TROUBLES)
def test_code_stays_in_memory_where_the_folder_cannot_be_trusted(anew, tmp_path, caplog, trouble):
    chosen = tmp_path / "chosen"
    chosen.mkdir()
    trouble(chosen, anew)
    with caplog.at_level(logging.WARNING, "mercer.compute"):
        assert small().twice(21.0) == 42.0
    chosen.chmod(0o700)
    assert cache_folder.directory() is None
    assert sum("cannot keep compiled code" in text for text in caplog.messages) == 1
    assert [path.name for path in files(tmp_path) if path.name != "file"] == []


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_a_sticky_folder_above_is_as_good_as_a_private_one(anew, tmp_path):
    tmp_path.chmod(0o1777)
    anew.setenv("MERCER_CACHE_DIR", str(tmp_path / "a"))
    assert cache_folder.directory().parent == tmp_path / "a"


# -- files that are damaged, planted, or cannot be written -------------------------------------------------------------

SMALL = """
from mercer.compute.codegen.kept import njit


@njit(cache=True)
def twice(x):
    return 2 * x
"""


def small():
    """The module of a small text, as another process would load it."""
    jit_cache._LOADED.clear()
    return jit_cache.load(SMALL)


@pytest.fixture
def entry(anew, tmp_path):
    """The file of a compiled function."""
    anew.setenv("MERCER_CACHE_DIR", str(tmp_path))
    assert small().twice(21.0) == 42.0
    (path,) = files(tmp_path)
    return path


class Trap:
    """What runs when somebody unpickles it."""

    def __reduce__(self):
        return pytest.fail, ("it was unpickled",)


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


DAMAGES = {
    "empty": lambda data: b"",
    "cut in half": lambda data: data[: len(data) // 2],
    "without its end": lambda data: data[:-1],
    "random": lambda data: np.random.default_rng(0).bytes(len(data)),
    "one bit of the digest": lambda data: flipped(data, 3),
    "one bit of the code": lambda data: flipped(data, len(data) // 2),
    "a pickle of somebody": lambda data: data[: cache_folder.DIGEST_BYTES] + pickle.dumps(Trap()),
    "a pickle with a digest": lambda data: hashlib.sha256(pickle.dumps(Trap())).digest() + pickle.dumps(Trap()),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_entry_is_compiled_anew(entry, caplog, damage):
    entry.write_bytes(DAMAGES[damage](entry.read_bytes()))
    caplog.clear()
    found = small()
    assert found.twice(21.0) == 42.0
    assert found.twice(4.0) == 8.0
    assert sum(found.twice.stats.cache_misses.values()) == 1
    assert sum("damaged" in text for text in caplog.messages) == 1
    found = small()  # what was written then is whole
    assert found.twice(21.0) == 42.0
    assert sum(found.twice.stats.cache_hits.values()) == 1
    assert files(entry.parent) == [entry]


def another_file(entry):
    """The same bytes, where a link leads."""
    (entry.parent.parent / "elsewhere").write_bytes(entry.read_bytes())
    entry.unlink()
    entry.symlink_to(entry.parent.parent / "elsewhere")


def a_pipe(entry):
    entry.unlink()
    os.mkfifo(entry)


@pytest.mark.skipif(sys.platform == "win32", reason="files of POSIX")
@pytest.mark.parametrize("plant", [another_file, a_pipe, lambda entry: entry.chmod(0o666)])
def test_what_somebody_could_have_put_there_is_not_read(entry, plant):
    plant(entry)
    found = small()
    assert found.twice(21.0) == 42.0
    assert sum(found.twice.stats.cache_hits.values()) == 0
    assert entry.is_file()
    assert not entry.is_symlink()


def test_code_of_one_formula_does_not_serve_another(entry):
    """A digest is of what the code is for, and of the code: files that change their names are not used."""
    other = jit_cache.load(SMALL.replace("2 * x", "3 * x"))
    assert other.twice(1.0) == 3.0
    (path,) = [path for path in files(entry.parent) if path != entry]
    path.write_bytes(entry.read_bytes())
    jit_cache._LOADED.clear()
    assert jit_cache.load(SMALL.replace("2 * x", "3 * x")).twice(1.0) == 3.0


@pytest.mark.parametrize("step", ["tempfile.mkstemp", "os.replace", "os.fdopen"])
def test_a_full_disk_does_not_end_the_work(anew, tmp_path, caplog, step):
    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    anew.setenv("MERCER_CACHE_DIR", str(tmp_path))
    cache_folder.directory()
    anew.setattr(step, full)
    found = small()
    assert found.twice(21.0) == 42.0
    assert found.twice(4) == 8  # another signature: it is told once
    assert sum("No space left" in text for text in caplog.messages) == 1
    assert files(tmp_path) == []


LIMITED = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_where_no_file_can_be_written_a_process_works_from_memory(tmp_path, wanted):
    found = answer(start(tmp_path, before=LIMITED))
    is_right(found, wanted)
    assert sum("cannot keep compiled code" in text for text in found["messages"]) == 1
    assert files(tmp_path) == []


# -- life without Numba ------------------------------------------------------------------------------------------------


def test_without_numba_numpy_serves(tmp_path, wanted):
    found = answer(start(tmp_path, before="import sys; sys.modules['numba'] = None\n"))
    is_right(found, wanted)
    assert found["hits"] == found["misses"] == 0
    assert ["Numba cannot be imported" in text for text in found["messages"]] == [True]
    assert files(tmp_path) == []


def test_numba_is_not_imported_before_it_is_used():
    text = (
        "import sys, mercer, mercer.learners, mercer.kernels.strings, mercer.kernels.graphs, mercer.solvers.svm.smo;"
        "mercer.kernels.Gaussian()([[1.0]]); print('numba' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", text], text=True) == "False\n"


def test_without_numba_an_operator_is_the_same(monkeypatch, wanted):
    monkeypatch.setattr(jit_cache, "numba_works", lambda: False)
    X = np.random.default_rng(0).normal(size=(300, 6))
    kernel = Gaussian(0.7) * Linear() + Laplace(2.0)
    with fused_from(0):
        found = {"matrix": kernel(X)[:3], "product": Gram(kernel, X) @ X[:, 0]}
    is_right(found, wanted)
