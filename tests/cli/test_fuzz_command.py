"""A sample of the command lines of `make fuzz`."""

import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parent.parent.parent / "benchmarks"
sys.path.append(str(BENCHMARKS))
import fuzz_command

sys.path.remove(str(BENCHMARKS))  # a script there has the name of a folder of tests


def test_random_command_lines_keep_their_promises(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fuzz_command.write_files(tmp_path)
    before, held = fuzz_command.state(tmp_path), fuzz_command.contents(tmp_path)
    for place in range(60):
        words = fuzz_command.words(place, seed=7)
        assert "BAD" not in (end := fuzz_command.judged(words, before, tmp_path)), (words, end)
        fuzz_command.restore(tmp_path, held, before)
