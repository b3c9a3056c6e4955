"""Fits that are killed at any moment go on to the same bits; fits that are interrupted keep what they have."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

WAYS = ("conjugate gradients", "one pass", "nystrom iterative")
KILLS = 20 if os.environ.get("HYPOTHESIS_PROFILE") != "long" else 100
SCRIPT = Path(__file__).with_name("long_fit.py")
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")


def started(way, path, *more):
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), way, str(path), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout.readline() == "begins\n"
    return process


def ended(process):
    lines = process.communicate()[0].splitlines()
    assert process.returncode == 0
    said, digest, converged = lines[-1].split()
    assert said == "ends"
    return digest, converged == "True"


@POSIX
@pytest.mark.parametrize("way", WAYS)
def test_a_fit_that_is_killed_goes_on_to_the_same_bits(way, tmp_path):
    path, random = tmp_path / "fit.checkpoint", np.random.default_rng(WAYS.index(way))
    process = started(way, path)
    begun = time.perf_counter()
    undisturbed = ended(process)
    whole = time.perf_counter() - begun
    assert undisturbed[1]
    assert not path.exists()
    resumed, kills = 0, 0
    while kills < (KILLS + WAYS.index(way)) // len(WAYS):
        process = started(way, path)
        time.sleep(random.uniform(0, whole / 3))
        process.kill()
        process.communicate()
        kills += 1
        resumed += path.exists()
        assert len(list(tmp_path.iterdir())) <= 2
    assert ended(started(way, path)) == undisturbed
    assert resumed
    assert not list(tmp_path.iterdir())


@POSIX
@pytest.mark.parametrize("way", WAYS)
def test_an_interrupted_fit_keeps_what_it_has_and_goes_on_later(way, tmp_path):
    path = tmp_path / "fit.checkpoint"
    process = started(way, path, "keep")
    assert process.stdout.readline() == "usable\n"
    process.send_signal(signal.SIGINT)
    digest, converged = ended(process)
    assert not converged
    assert path.exists()
    later, converged = ended(started(way, path, "keep"))
    assert converged
    assert later != digest


@POSIX
def test_an_interrupted_fit_raises(tmp_path):
    process = started("one pass", tmp_path / "fit.checkpoint")
    assert process.stdout.readline() == "usable\n"
    process.send_signal(signal.SIGINT)
    assert "ends" not in process.communicate()[0]
    assert process.returncode != 0
