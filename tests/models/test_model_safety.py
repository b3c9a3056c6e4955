"""What loading does to a process, and kills to a file: nothing runs, little is allocated, and a file is whole."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from models import forge
from models import model_zoo as zoo

from mercer import KernelRidge
from mercer.errors import ModelFileError
from mercer.models import load, save
from mercer.models.safetensors import VERSIONS
from mercer.sources.replacing import DRAFT

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
TESTS = str(ROOT / "tests")


def run(code, *arguments):
    """The last line that code prints in a process of its own."""
    return run_file("-c", code, *arguments)


def run_file(*arguments):
    """The last line that Python prints; BLAS has one thread there, so that the process can be forked."""
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), TESTS]))
    environment = {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        timeout=300,  # a process that hangs is a failure, too
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout.strip().splitlines()[-1]


# -- nothing runs -----------------------------------------------------------------------------------------------------

LISTENED = """
import sys, json
from pathlib import Path
from mercer.models import inspect, load
heard, armed = [], False
QUIET = {"object.__getattr__", "object.__setattr__", "object.__delattr__", "builtins.id", "sys._getframe"}
def hear(event, arguments):
    if armed and event not in QUIET and not (event == "open" and not arguments[2] & 3):
        heard.append(f"{event} {arguments}"[:200])
sys.addaudithook(hear)
for path in sorted(Path(sys.argv[1]).glob("**/*.mercer")):
    armed = True
    load(path), inspect(path)
    armed = False
found, armed = len(heard), True
exec("1")
import wave
armed = False
print(json.dumps([heard[:found], heard[found:]]))
"""


def test_loading_runs_imports_and_writes_nothing():
    """With the first file already: all imports were made by `import mercer.models`."""
    heard, control = json.loads(run(LISTENED, ROOT / "tests" / "models" / "golden" / VERSIONS[-1]))
    assert heard == []
    assert any(one.startswith("exec") for one in control)  # the hook does hear
    assert any(one.startswith("import") for one in control)


def test_mutants_do_no_harm():
    """A part of `make fuzz`; the seed of a mutant that does harm is printed."""
    told = run_file(ROOT / "benchmarks" / "fuzz_files.py", "--count", 6_000, "--seed", 1)
    found = re.fullmatch(r"6,000 mutants in \d+ s, (\d+) outcomes, ([\d,]+) accepted, clean", told)
    assert found, told
    assert int(found[1]) > 150  # they get far
    assert int(found[2].replace(",", "")) > 300  # and some changes do no harm


# -- little is allocated ----------------------------------------------------------------------------------------------

MEASURED = """
import os, sys
from mercer.errors import ModelFileError
from mercer.models import load
def peak(path):
    child = os.fork()
    if child == 0:
        try:
            load(path)
            os._exit(0)
        except ModelFileError:
            os._exit(1)
        finally:
            os._exit(2)
    _, status, used = os.wait4(child, 0)
    return used.ru_maxrss * 1024, os.waitstatus_to_exitcode(status)
load(sys.argv[1])
before, _ = peak(sys.argv[1])
for path in sys.argv[2:]:
    size, status = peak(path)
    print(size - before, status, end=" ")
print()
"""
"""How much a process of its own grows at its peak for each file, and 0 where it was loaded, 1 where it was refused."""


def large():
    """A lift of 50 MB."""
    record = {"entry": "Nystrom", "fields": {"kernel": "gaussian", "kernel_": {"kernel": "gaussian"}}}
    p = 2500
    record["fields"] |= {"n_features_in_": 3, "n_components_": p, "_stores": {"tuple": []}, "landmark_indices_": None}
    record["fields"] |= {"landmarks_": {"array": 0}, "factor_": {"array": 1, "order": "F"}}
    tensors = {"0": ("F64", [p, 3], np.zeros((p, 3)).tobytes()), "1": ("F64", [p, p], np.eye(p).tobytes())}
    return forge.put_together({"mercer": "0", "objects": [record]}, tensors)


def texts(path):
    """Classes that are half a million short texts, and classes of a width that nobody has memory for."""
    record, tensors = forge.taken_apart(path.read_bytes())
    about = {one["entry"]: one["fields"] for one in record["objects"] if one["entry"] in ("Texts", "TextArray")}
    about["TextArray"]["width"] = 2**40
    wide = forge.put_together(record, tensors)
    many = 2**19 - 100
    about["TextArray"].update(shape={"tuple": [many]}, width=None)
    words = "".join(f"{i % 9973:04d}" for i in range(many)).encode()
    tensors[str(about["Texts"]["letters"]["array"])] = "U8", [4 * many], words
    tensors[str(about["Texts"]["ends"]["array"])] = "I64", [many], np.arange(4, 4 * many + 1, 4).tobytes()
    return forge.put_together(record, tensors), wide


def test_memory_is_twice_the_file_and_64_mib_at_most(tmp_path):
    small, paths = tmp_path / "small.mercer", []
    save(zoo.fitted("svc")[0], small)
    long = "gaussian.scaled([" + "1," * 65_000 + "1])"
    bombs = [
        (0, large()),
        *zip((0, 1), texts(small), strict=True),
        (1, forge.put_together("[" + "[]," * 330_000 + "[]]", {})),
        (1, forge.put_together('{"mercer":"0","objects":[' + "{}," * 300_000 + "{}]}", {})),
        (
            0,
            forge.put_together(
                {"mercer": "0", "objects": [{"entry": "Exact", "fields": {"kernel": {"kernel": long}}}]}, {}
            ),
        ),
    ]
    for i, (_, content) in enumerate(bombs):
        paths.append(tmp_path / f"{i}.mercer")
        paths[-1].write_bytes(content)
    found = np.array(run(MEASURED, small, *paths).split(), dtype=np.int64).reshape(-1, 2)
    assert found[:, 1].tolist() == [status for status, _ in bombs]
    sizes = [path.stat().st_size for path in paths]
    assert max(sizes) > 45e6
    assert (found[:, 0] < 2 * np.array(sizes) + (64 << 20)).all()
    assert found[0, 0] > 45e6  # what is measured is there


# -- a file is whole --------------------------------------------------------------------------------------------------


def test_killed_saves_leave_a_whole_file(tmp_path):
    count = 200 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 20
    code = "import sys, runpy; runpy.run_path(sys.argv[1])['main'](sys.argv[2], int(sys.argv[3]), 0)"
    told = run(code, ROOT / "tests" / "models" / "killing.py", tmp_path, count)
    found = re.match(r"(\d+) kills at \d+ lines and by time, (\d+) left a draft, (\d+) bad files", told)
    kills, drafts, bad = map(int, found.groups())
    assert kills == count
    assert bad == 0
    assert drafts > 0  # otherwise none was cut off


def small():
    return KernelRidge("linear", alpha=1.0).fit(zoo.X, zoo.Y)


def test_the_file_is_flushed_before_it_is_moved(tmp_path, monkeypatch):
    path, done = tmp_path / "model.mercer", []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(
        "os.fsync", lambda descriptor: (done.append(os.fstat(descriptor).st_mode >> 12), fsync(descriptor))
    )
    monkeypatch.setattr("os.replace", lambda old, new: (done.append("moved"), replace(old, new)))
    save(small(), path)
    assert done == [0o10, "moved", 0o4]  # a regular file, then a folder
    assert [one.name for one in tmp_path.iterdir()] == ["model.mercer"]


@pytest.mark.parametrize("name", ["os.fsync", "os.replace"])
def test_a_save_that_fails_leaves_the_old_file(tmp_path, monkeypatch, name):
    path = tmp_path / "model.mercer"
    save(small(), path)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(name, full)
    with pytest.raises(OSError, match="No space"):
        save(zoo.fitted("ridge")[0], path)
    assert path.read_bytes() == before
    assert not list(tmp_path.glob(f"*{DRAFT}"))


def test_rights_of_a_file_stay(tmp_path):
    path = tmp_path / "model.mercer"
    save(small(), path)
    usual = path.stat().st_mode & 0o777
    (tmp_path / "other").write_bytes(b"")
    assert usual == (tmp_path / "other").stat().st_mode & 0o777
    path.chmod(0o600)
    save(small(), path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_places_that_are_none(tmp_path):
    with pytest.raises(FileNotFoundError, match="a folder that exists") as told:
        save(small(), tmp_path / "none" / "model.mercer")
    assert told.value.filename == str(tmp_path / "none")
    with pytest.raises(IsADirectoryError, match="this is a folder"):
        save(small(), tmp_path)
    assert not list(tmp_path.iterdir())


def test_files_that_may_not_be_read_or_written(tmp_path, monkeypatch):
    path = tmp_path / "model.mercer"
    save(small(), path)
    path.chmod(0)
    asked = []
    monkeypatch.setattr("os.access", lambda place, right: asked.append((place, right)))  # root may do everything
    with pytest.raises(PermissionError, match="may be written to"):
        save(small(), path)
    assert asked == [(path, os.W_OK)]

    def closed(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.open", closed)
    with pytest.raises(ModelFileError, match=r"cannot: Permission denied. Check the path."):
        load(path)


def test_links_are_followed(tmp_path):
    (tmp_path / "models").mkdir()
    link = tmp_path / "latest.mercer"
    link.symlink_to(tmp_path / "models" / "first.mercer")
    for _ in range(2):
        save(small(), link)
        assert link.is_symlink()
        assert [one.name for one in (tmp_path / "models").iterdir()] == ["first.mercer"]
    np.testing.assert_array_equal(load(link).predict(zoo.NEW), small().predict(zoo.NEW))


ELSEWHERE = """
import os, sys, json, numpy as np
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
from mercer.models import load
print(json.dumps(load(sys.argv[1]).predict(np.array(json.loads(sys.argv[2]))).tolist()))
"""


def test_a_machine_of_one_core_predicts_the_same(tmp_path):
    model, new = zoo.fitted("ridge")
    save(model, tmp_path / "model.mercer")
    found = json.loads(run(ELSEWHERE, tmp_path / "model.mercer", json.dumps(new.tolist())))
    np.testing.assert_allclose(found, model.predict(new), rtol=1e-10, atol=1e-12)


def test_the_same_model_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        save(zoo.fitted("ridge, graphs")[0], tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    save(load(tmp_path / "a"), tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
