"""A sample of the texts of `make fuzz`."""

import importlib.util
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(name="fuzz_texts")
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location("fuzz_texts", BENCHMARKS / "fuzz_texts.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "fuzz_texts", module)  # its dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


def test_random_texts_are_read_back_or_refused(fuzz_texts):
    report = fuzz_texts.fuzz(3_000, seed=5)
    assert report.bad == []
    assert report.grown <= fuzz_texts.ROOM
    assert report.outcomes["read"] > 300  # they get far
    assert len(report.outcomes) > 60


def test_what_is_wrong_is_noticed(fuzz_texts, monkeypatch):
    def wrong(text):
        raise RecursionError("deep")

    monkeypatch.setattr(fuzz_texts, "parse", wrong)
    assert fuzz_texts.trial("linear") == "BAD RecursionError: deep"
    kernels = iter(["one", "another"])
    monkeypatch.setattr(fuzz_texts, "parse", lambda text: next(kernels))
    assert fuzz_texts.trial("linear").startswith("BAD another kernel")
