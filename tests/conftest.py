"""What all tests share: settings of the property tests, and a cache of compiled code that is not the user's."""

import gc
import os
import signal
import tempfile

import pytest
from hypothesis import HealthCheck, settings

quiet = [HealthCheck.too_slow]
settings.register_profile("short", deadline=None, derandomize=True, max_examples=60, suppress_health_check=quiet)
settings.register_profile("long", deadline=None, max_examples=3000, suppress_health_check=quiet)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "short"))


def pytest_addoption(parser):
    """`--backend cuda` runs the learners' tests on a graphics card, `--backend torch` with PyTorch on the cores."""
    parser.addoption("--backend", default=None, help="who computes where a learner says auto: cuda, cuda:1, torch")
    parser.addoption("--part", default="1/1", help="2/6 is every sixth test, from the second")


@pytest.fixture(autouse=True)
def _asked_backend(request, monkeypatch):
    """Learners that say "auto" take the backend of the command line; what speaks of the cores alone is left out.

    Plans are made with rough rates, as those of small work are on the cores, so that tests mean the same methods.
    """
    asked = request.config.getoption("--backend")
    if asked is None:
        return
    cores = request.node.get_closest_marker("cores")
    if cores is not None:
        pytest.skip(cores.args[0])
    from mercer.backends import CUDA
    from mercer.learners.estimator import KernelEstimator
    from mercer.planner.machine import ROUGH, Machine

    own_memory = CUDA("cpu", memory_limit="100 GB")  # as a card has: memory_limit of a learner is that of this process
    chosen = own_memory if asked == "torch" else CUDA({"cuda": "cuda:0"}.get(asked, asked))
    given = property(lambda self: chosen if self.backend == "auto" else self.backend)
    monkeypatch.setattr(KernelEstimator, "_backend", given)
    monkeypatch.setattr(Machine, "of", classmethod(lambda cls, backend: ROUGH))


def pytest_configure(config):
    """Keep compiled code in a directory of this run, unless one was chosen, and hear Ctrl-C; processes inherit both.

    This is no fixture, since the examples in src are tests as well, and ask no fixtures from here.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # shells do so in the background; tests send Ctrl-C
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if "MERCER_CACHE_DIR" not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="mercer-tests-")
        config.add_cleanup(folder.cleanup)
        os.environ["MERCER_CACHE_DIR"] = folder.name


@pytest.fixture
def loops_as_written(monkeypatch):
    """Loops that would be compiled run as Python, with its rules for indices and its errors."""
    from mercer.compute.codegen.compiled import Compiled

    monkeypatch.setattr(Compiled, "__call__", lambda self, *arguments: self.function(*arguments))


@pytest.fixture
def no_compiled_loops(monkeypatch):
    """Loops that would be compiled may not run."""
    from mercer.compute.codegen.compiled import Compiled

    monkeypatch.setattr(Compiled, "__call__", lambda self, *arguments: pytest.fail(f"{self.function} has run"))


def pytest_collection_modifyitems(config, items):
    """The name of a test says the same in every process, or workers cannot share the tests: it names no address."""
    unsteady = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if unsteady:
        raise pytest.UsageError(f"names of tests that no other process has: {unsteady}")
    part, parts = map(int, config.getoption("--part").split("/"))
    items[:] = items[part - 1 :: parts]


def pytest_collection_finish(session):
    """Tests, of which there are thousands, and what they import are no garbage: do not look through them again.

    Numba makes so many objects when it compiles that the collector is called often.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
