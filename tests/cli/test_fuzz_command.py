"""A sample of the command lines of `make fuzz`."""

import importlib.util
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "fuzz_command.py"


@pytest.fixture(name="fuzz_command")
def script(monkeypatch):
    spec = importlib.util.spec_from_file_location("fuzz_command", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "fuzz_command", module)  # its dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


def test_random_command_lines_keep_their_promises(fuzz_command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fuzz_command.write_files(tmp_path)
    before, held = fuzz_command.state(tmp_path), fuzz_command.contents(tmp_path)
    for place in range(60):
        words = fuzz_command.words(place, seed=7)
        assert "BAD" not in (end := fuzz_command.judged(words, before, tmp_path)), (words, end)
        fuzz_command.restore(tmp_path, held, before)
