"""Fits that are killed at any moment go on to the same bits; fits that are interrupted keep what they have."""

import multiprocessing
import os
import signal
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

import numpy as np
import pytest
from long_fit import fit

pytestmark = pytest.mark.slow

WAYS = ("conjugate gradients", "one pass", "nystrom iterative")
KILLS = 12 if os.environ.get("HYPOTHESIS_PROFILE") != "long" else 100
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")


@dataclass
class Begun:
    """A fit in a process of its own."""

    process: BaseProcess
    channel: Connection

    def usable(self):
        """Wait until what was found so far could be kept."""
        assert self.channel.recv() == "usable"

    def interrupt(self):
        os.kill(self.process.pid, signal.SIGINT)

    def killed(self):
        self.process.kill()
        self.process.join()

    def ended(self):
        """What it ended with; None where it failed."""
        said = None
        try:
            while True:
                said = self.channel.recv()
        except EOFError:
            self.process.join()
        return said if self.process.exitcode == 0 else None


def begun(way, path, *more):
    context = multiprocessing.get_context("forkserver")  # what a fit imports is imported once, there
    context.set_forkserver_preload(["long_fit"])
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=fit, args=(there, way, path, *more))
    process.start()
    there.close()
    assert here.recv() == "begins"
    return Begun(process, here)


@POSIX
@pytest.mark.parametrize("way", WAYS)
def test_a_fit_that_is_killed_goes_on_to_the_same_bits(way, tmp_path):
    path, random = tmp_path / "fit.checkpoint", np.random.default_rng(WAYS.index(way))
    first, start = begun(way, path), time.perf_counter()
    undisturbed = first.ended()
    whole = time.perf_counter() - start
    assert undisturbed[1]
    assert not path.exists()
    resumed, kills = 0, 0
    while kills < (KILLS + WAYS.index(way)) // len(WAYS):
        run = begun(way, path)
        time.sleep(random.uniform(0, whole / 3))
        run.killed()
        kills += 1
        resumed += path.exists()
        assert len(list(tmp_path.iterdir())) <= 2
    if not resumed:  # a busy machine may have been too slow to write anything before each of the kills
        run = begun(way, path)
        while run.process.is_alive() and not path.exists():
            time.sleep(0.001)
        run.killed()
        resumed += path.exists()
    assert begun(way, path).ended() == undisturbed
    assert resumed
    assert not list(tmp_path.iterdir())


@POSIX
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core has one lane")
@pytest.mark.parametrize(("before", "after"), [(2, 1), (1, 2)])
@pytest.mark.parametrize("way", WAYS)
def test_it_goes_on_with_other_cores_to_the_same_bits(way, before, after, tmp_path):
    path = tmp_path / "fit.checkpoint"
    undisturbed, other = (begun(way, path, "raise", cores).ended() for cores in (before, after))
    if way != "conjugate gradients":  # whose pairs are so few here that one thread has them
        assert undisturbed != other  # sums of other lanes round differently: the plan makes the difference
    run = begun(way, path, "raise", before)
    while run.process.is_alive() and not path.exists():
        time.sleep(0.001)
    run.killed()
    assert path.exists()
    assert begun(way, path, "raise", after).ended() == undisturbed


@POSIX
@pytest.mark.parametrize("way", WAYS)
def test_an_interrupted_fit_keeps_what_it_has_and_goes_on_later(way, tmp_path):
    path = tmp_path / "fit.checkpoint"
    run = begun(way, path, "keep")
    run.usable()
    run.interrupt()
    digest, converged = run.ended()
    assert not converged
    assert path.exists()
    later, converged = begun(way, path, "keep").ended()
    assert converged
    assert later != digest


@POSIX
def test_an_interrupted_fit_raises(tmp_path):
    run = begun("one pass", tmp_path / "fit.checkpoint")
    run.usable()
    run.interrupt()
    assert run.ended() is None
