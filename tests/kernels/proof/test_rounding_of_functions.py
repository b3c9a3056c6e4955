"""A witness against a Python function stands beyond the rounding of its own evaluation, and a search ends in time."""

import numpy as np
import pytest

import mercer
from mercer.errors import KernelError
from mercer.kernels import Linear, Sigmoid
from mercer.kernels.proof import limit, rounding


def far(x, z):
    """A Gaussian by expansion, 1e8 from the origin: squared distances are rounded to 2."""
    x, z = x + 1e8, z + 1e8
    return float(np.exp(-(x @ x + z @ z - 2 * (x @ z)) / 2))


def half(x, z):
    gap = x.astype(np.float16) - z.astype(np.float16)
    return np.exp(-np.sum(gap * gap, dtype=np.float16) / np.float16(2))


TRUE = {
    "a fast wave": (lambda x, z: float(np.cos(1e9 * (x[0] - z[0]))), 1),
    "a faster wave": (lambda x, z: float(np.cos(1e12 * (x[0] - z[0]))), 1),
    "a short period": (lambda x, z: float(np.exp(-2 * np.sin(np.pi * (x[0] - z[0]) / 1e-9) ** 2)), 1),
    "an offset": (far, 2),
    "float16": (half, 1),
    "float16 as float": (lambda x, z: float(half(x, z)), 1),
    "cancellation": (lambda x, z: float((1e12 + np.cos(x[0] - z[0])) - 1e12), 1),
    "three decimals": (lambda x, z: round(float(np.exp(-((x[0] - z[0]) ** 2) / 2)), 3), 1),
}


@pytest.mark.parametrize("name", TRUE)
def test_rounding_of_a_kernel_refutes_nothing(name):
    function, d = TRUE[name]
    proof = mercer.prove(function, d=d, time_limit=None)
    assert proof.status == "unknown"
    assert proof.witness is None
    assert "beyond the rounding of its own evaluation" in " ".join(proof.steps)


def test_rounding_does_not_refute_symmetry():
    def rounded(x, z):
        left, right = np.float32(x.sum()), np.float32(z.sum())
        return float(left * np.float32(3) * right)

    x, z = np.random.default_rng(0).normal(size=(2, 100))
    assert any(rounded(x[[i]], z[[i]]) != rounded(z[[i]], x[[i]]) for i in range(100))
    assert mercer.prove(rounded, d=1, time_limit=1.0).status == "unknown"


FALSE = {
    "minus a delta": (lambda x, z: -float((x == z).all()), 2),
    "a box": (lambda x, z: float(abs(x[0] - z[0]) < 1), 1),
    "half a closed box": (lambda x, z: 0.5 * float(abs(x[0] - z[0]) <= 1), 1),
    "stripes": (lambda x, z: float(np.floor(abs(x[0] - z[0])) % 2 == 0), 1),
    "a quartic exponent": (lambda x, z: float(np.exp(-np.sum((x - z) ** 4))), 1),
    "minus the distance": (lambda x, z: -float(np.linalg.norm(x - z)), 2),
    "the larger": (lambda x, z: float(max(x[0], z[0])), 1),
    "in float32": (lambda x, z: np.float32(np.tanh(np.float32(x @ z) - 1)), 1),
    "behind a large number": (lambda x, z: float((1e6 + np.exp(-(abs(x[0] - z[0]) ** 3))) - 1e6), 1),
}


@pytest.mark.parametrize("name", FALSE)
def test_what_is_no_kernel_is_still_refuted(name):
    function, d = FALSE[name]
    proof = mercer.prove(function, d=d, time_limit=None)
    assert proof.status == "refuted"
    X, c = proof.witness.points, proof.witness.weights
    assert c @ np.array([[function(x, z) for z in X] for x in X], dtype=np.float64) @ c < 0


def test_functions_inside_kernels_are_held_to_the_same():
    def far_off(rows):
        return (rows.astype(np.float64) + 1e12) - 1e12

    assert mercer.prove(Sigmoid(-1.0).after(far_off), d=1).status == "refuted"

    class Rounded(mercer.kernels.Dot):
        def profile(self, t):
            return np.exp(t.astype(np.float64)).astype(np.float16).astype(np.float64)

    assert mercer.prove(Rounded(), d=1, time_limit=None).status == "unknown"


def test_grains():
    ones = np.ones((2, 2))
    assert not rounding.grain(np.array([1.0, 2.0, 512.0]), ones).any()  # integers are exact
    assert not rounding.grain(np.array([0.0, 0.5]), ones).any()
    assert not rounding.grain(np.zeros(3), ones).any()
    assert rounding.grain(np.exp(-np.arange(9.0)), ones).max() < 1e-15
    assert (rounding.grain(np.exp(-np.arange(9.0)).astype(np.float16).astype(float), ones) == 2.0**-10).all()
    assert rounding.grain(np.round(np.exp(-np.arange(5.0)), 3), ones).max() == pytest.approx(1e-3)


# -- the time limit ---------------------------------------------------------------------------------------------------


class Clock:
    """A clock that goes on by a second with each look."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        self.now += 1.0
        return self.now


def test_a_search_ends_when_its_time_is_up(monkeypatch):
    calls = []

    def function(x, z):
        calls.append(1)
        return float(x @ z)

    monkeypatch.setattr(limit, "time", Clock())
    proof = mercer.prove(function, d=1, time_limit=500)
    assert proof.status == "unknown"
    assert len(calls) == 500
    assert 0 < proof.trials < 200
    assert "the time limit of 500 s was up" in proof.steps[-1]


@pytest.mark.parametrize("kernel", [mercer.kernels.Sinc() + Linear(), mercer.kernels.Wendland(1) ** 2 * 0.5])
def test_so_do_those_of_kernels(kernel, monkeypatch):
    monkeypatch.setattr(limit, "time", Clock())
    proof = mercer.prove(kernel, d=6, time_limit=20)
    assert proof.status == "unknown"
    assert "the time limit of 20 s was up" in proof.steps[-1]


def test_a_search_that_ends_does_not_depend_on_its_limit(monkeypatch):
    whole = mercer.prove(Sigmoid(), d=1, time_limit=None)
    monkeypatch.setattr(limit, "time", Clock())
    limited = mercer.prove(Sigmoid(), d=1, time_limit=1e6)
    assert str(limited) == str(whole)
    assert limited.trials == whole.trials
    soon = mercer.prove("gaussian", time_limit=0.5)
    assert soon.status == "proven"


@pytest.mark.parametrize("given", [0, -1.0, float("nan"), "10", True])
def test_limits_that_are_none(given):
    with pytest.raises(KernelError, match="time_limit must be a positive number"):
        mercer.prove("gaussian", time_limit=given)
