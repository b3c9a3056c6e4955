"""Loops that are compiled when they are first called: what they may use, and under what they are kept."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import mercer.lifts.monomial_loops
from mercer.compute.codegen import jit_cache
from mercer.compute.codegen.compiled import Compiled, compiled

FACTOR = 3.0


@compiled()
def scaled(x: float) -> float:
    return FACTOR * x


@compiled(fastmath={"reassoc"})
def total(values):
    """The sum of scaled values."""
    found = 0.0
    for k in range(len(values)):
        found += scaled(values[k])
    return np.sqrt(found)


VALUES = np.array([1.0, 4.5, 6.5])


def fresh(monkeypatch, **names):
    """The loops, as another process would compile them after a change."""
    for name, value in names.items():
        monkeypatch.setitem(globals(), name, value)
    monkeypatch.setitem(globals(), "scaled", Compiled(scaled.function, scaled.fastmath))
    return Compiled(total.function, total.fastmath)


def test_loops_call_each_other_and_know_the_numbers_of_their_module():
    assert total(VALUES) == total.function(VALUES) == 6.0
    assert total.__name__ == "total"
    assert total.__doc__ == "The sum of scaled values."


def test_without_numba_they_run_as_they_are_written(monkeypatch):
    monkeypatch.setattr(jit_cache, "numba_works", lambda: False)
    loop = fresh(monkeypatch)
    assert loop(VALUES) == 6.0
    assert loop._dispatcher is None


def test_the_digest_changes_with_all_that_a_loop_does(monkeypatch):
    digests = {total.digest, scaled.digest, Compiled(total.function, frozenset()).digest}
    digests.add(fresh(monkeypatch, FACTOR=4.0).digest)  # which only `scaled` uses
    digests.add(fresh(monkeypatch, FACTOR=4).digest)
    assert fresh(monkeypatch, FACTOR=3.0).digest in digests
    assert len(digests) == 5


def test_a_constant_that_has_changed_is_compiled_anew(monkeypatch):
    assert fresh(monkeypatch, FACTOR=12.0)(VALUES) == 12.0
    assert fresh(monkeypatch, FACTOR=3.0)(VALUES) == 6.0


@pytest.mark.parametrize("value", [[1.0], "3", len, np.ones(2)])
def test_what_a_digest_could_not_cover_is_refused(monkeypatch, value):
    with pytest.raises(TypeError, match="pass it instead"):
        fresh(monkeypatch, FACTOR=value)(VALUES)


WORK = """
import json, logging
import numpy as np
from mercer.compute.codegen.compiled import Compiled
from mercer.lifts import monomial_loops

messages = []
class Keep(logging.Handler):
    def emit(self, record):
        messages.append(record.getMessage())
logging.getLogger("mercer.compute").addHandler(Keep())

monomial_loops.fill(np.ones(4), np.ones(2), np.zeros((0, 4), np.uintp))
loops = [value for value in vars(monomial_loops).values() if isinstance(value, Compiled)]
print(json.dumps({"messages": messages, "digests": [loop.digest for loop in loops]}))
"""


@pytest.mark.slow
def test_another_process_finds_them_under_the_same_digest(tmp_path):
    environment = os.environ | {"MERCER_CACHE_DIR": str(tmp_path), "PYTHONHASHSEED": "random"}
    command = [sys.executable, "-c", WORK]
    first, second = (json.loads(subprocess.check_output(command, env=environment)) for _ in range(2))
    loops = [value for value in vars(mercer.lifts.monomial_loops).values() if isinstance(value, Compiled)]
    assert first["digests"] == second["digests"] == [loop.digest for loop in loops]
    assert ["the loops of mercer.lifts.monomial_loops" in text for text in first["messages"]] == [True]
    assert second["messages"] == []
    (path,) = tmp_path.rglob("*.nbc")
    assert path.stat().st_mode & 0o077 == 0
