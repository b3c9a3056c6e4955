"""The runner of the tests on a card: what it counts, what it says of files that hang, fail, or need what is absent."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "gpu_tests.py"
FILES = {
    "test_good.py": "import pytest\ndef test_one(): pass\n@pytest.mark.skip(reason='why not')\ndef test_two(): pass\n",
    "test_bad.py": "def test_wrong(): assert 1 == 2, 'in /home/somebody/place/file.py'\ndef test_right(): pass\n",
    "test_hangs.py": "import time\ndef test_first(): pass\ndef test_sleeps(): time.sleep(6000)\n",
    "test_absent.py": "import a_package_that_nobody_has\ndef test_never(): pass\n",
    "test_dies.py": "import os\ndef test_abort(): os._exit(7)\n",
}


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("gpu_tests", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["gpu_tests"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["gpu_tests"]


@pytest.fixture(scope="module")
def log(script, tmp_path_factory):
    """Of a run over files that do all that files can do."""
    root = tmp_path_factory.mktemp("files")
    for name, text in FILES.items():
        (root / name).write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(script, "ROOT", root)
        patch.setattr(script, "LAWS", ("test_",))  # these ask for no backend
        status = script.main(["--limit", "20", "--processes", "5", "--log", str(root / "log"), *FILES])
    assert status == 1
    return (root / "log").read_text()


def test_all_is_counted(log):
    assert "3 passed, 1 failed, 1 skipped; 5 files and parts, 3 not passed" in log
    assert "  ok   test_good.py: 1 passed, 1 skipped in" in log


def test_a_failure_is_told_without_folders(log):
    assert "FAILED test_bad.py::test_wrong" in log
    assert "/home" not in log
    assert "somebody" not in log


def test_a_file_that_hangs_is_ended_and_says_where(log):
    assert "ENDED ended after 20 s, in test_hangs.py::test_sleeps" in log


def test_one_that_dies_says_how(log):
    assert "ENDED ended with status 7, in test_dies.py::test_abort" in log


def test_what_is_left_out_says_why(log):
    assert "1: why not" in log
    assert "1: test_absent.py: a_package_that_nobody_has is not installed" in log


def test_long_files_are_run_in_parts(script, monkeypatch):
    monkeypatch.setattr(script, "PARTS", {"test_long": 2})
    assert script.parted(["a/test_long.py", "b/test_short.py"]) == [
        ("a/test_long.py 1/2", "a/test_long.py", "1/2"),
        ("a/test_long.py 2/2", "a/test_long.py", "2/2"),
        ("b/test_short.py", "b/test_short.py", "1/1"),
    ]
    assert "--part=2/2" in script.command("a/test_long.py", "2/2", "cuda", quick=True)


def test_every_file_is_run_once(script):
    files = script.ordered([])
    assert len(files) == len(set(files)) > 60
    assert all((script.ROOT / file).is_file() for file in files)
    assert {Path(file).stem for file in files} >= set(script.PARTS)
    assert any(file.startswith("tests/backends/cuda") for file in files)
