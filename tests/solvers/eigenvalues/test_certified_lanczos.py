"""Leading eigenvalues of stored matrices, none missed, against dense eigenvalues."""

from functools import cache

import numpy as np
import pytest

from mercer.compute.runtime.threads import one_thread_blas
from mercer.solvers.eigenvalues import certified_lanczos
from mercer.solvers.eigenvalues.certified_lanczos import certified


@cache
def frame(n):
    """Orthonormal vectors, of which the first is constant."""
    start = np.random.default_rng(0).normal(size=(n, n))
    start[:, 0] = 1.0
    return np.linalg.qr(start)[0]


def turned(values):
    """A symmetric matrix with these eigenvalues, and the constant vector as eigenvector of one ten times as large."""
    Q = frame(len(values) + 1)
    A = (Q * np.r_[10 * np.max(values), values]) @ Q.T
    return (A + A.T) / 2


def constant(n):
    return np.full(n, n**-0.5)


@pytest.fixture(autouse=True)
def calm():
    """Threads of BLAS wait for each other on a busy machine."""
    with one_thread_blas():
        yield


SPECTRA = {
    "decaying": 0.9 ** np.arange(300.0),
    "slowly decaying": 1 / np.arange(1.0, 401.0),
    "needle": np.r_[100.0, 0.9 ** np.arange(300.0)],
    "twins": np.repeat(0.8 ** np.arange(200.0), 2),
    "seven equal at the top": np.r_[np.full(7, 5.0), 0.8 ** np.arange(350.0)],
    "two equal at the edge": np.r_[5.0, 4.0, 3.0, 2.0, 2.0, 0.9 ** np.arange(350.0)],
    "almost equal": np.r_[5.0, 5.0 - 1e-9, 5.0 - 2e-9, 0.8 ** np.arange(350.0)],
    "rank three": np.r_[3.0, 2.0, 1.0, np.zeros(300)],
    "all equal": np.full(300, 2.5),
    "two values": np.repeat([3.0, 1.0], 200),
    "large": 1e60 * 0.8 ** np.arange(300.0),
    "small": 1e-60 * 0.8 ** np.arange(300.0),
}


@pytest.mark.parametrize("count", [1, 2, 5, 12])
@pytest.mark.parametrize("name", SPECTRA)
def test_values_are_those_of_a_decomposition(name, count):
    values = np.asarray(SPECTRA[name])
    A = turned(values)
    found = certified(A, count, constant(len(A)))
    wanted = np.sort(values)[::-1][:count]
    np.testing.assert_allclose(found.values, wanted, rtol=0, atol=1e-12 * wanted[0])
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(count), atol=1e-12)
    np.testing.assert_allclose(found.vectors.sum(axis=0), 0, atol=1e-12)
    left = A @ found.vectors - found.vectors * found.values
    assert np.linalg.norm(left, axis=0).max() <= 1e-11 * wanted[0]


def with_hidden():
    """A matrix with the eigenvalue 1.2, of whose eigenvector the start of the search has nothing."""
    n = 300
    start = np.random.default_rng(0).standard_normal(n)
    start -= start.mean()
    hidden = np.random.default_rng(1).standard_normal(n)
    for _ in range(2):
        for known in (constant(n), start / np.linalg.norm(start)):
            hidden -= known * (known @ hidden)
    hidden /= np.linalg.norm(hidden)
    P = np.eye(n) - np.outer(hidden, hidden)
    return P @ turned(0.7 ** np.arange(n - 1.0)) @ P + 1.2 * np.outer(hidden, hidden)


def test_an_eigenvector_that_the_start_lacks_is_found():
    A, P = with_hidden(), np.eye(300) - 1 / 300
    wanted = np.linalg.eigvalsh(P @ A @ P)[::-1]
    found = certified(A, 3, constant(300))
    np.testing.assert_allclose(found.values, wanted[:3], atol=1e-10)
    assert abs(wanted[0] - 1.2) < 1e-10


def test_without_bounds_it_would_be_missed(monkeypatch):
    """A search that trusts its first chain ends without it."""
    monkeypatch.setattr(certified_lanczos, "_top", lambda values, ends, rest: -np.inf)
    assert certified(with_hidden(), 1, constant(300)).values[0] < 1.1


@pytest.mark.parametrize("seed", range(5))
def test_bounds_hold(seed, monkeypatch):
    """What is said to be above the rest of the matrix is."""
    random, seen = np.random.default_rng(seed), []
    X = random.normal(size=(250, 3))
    A = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 2)
    bound = certified_lanczos._Search._bound

    def noted(self, values):
        rest, top = bound(self, values)
        Q = self.basis[: self.size + 1]
        P = np.eye(len(A)) - Q.T @ Q
        seen.append((rest, float(np.linalg.eigvalsh(P @ A @ P)[-1])))
        return rest, top

    monkeypatch.setattr(certified_lanczos._Search, "_bound", noted)
    certified(A, 6, constant(len(A)))
    assert seen
    assert all(rest >= largest for rest, largest in seen)


def test_the_same_bits():
    A = turned(SPECTRA["slowly decaying"])
    first, second = (certified(A.copy(), 4, constant(len(A))) for _ in range(2))
    assert first.values.tobytes() == second.values.tobytes()
    assert first.vectors.tobytes() == second.vectors.tobytes()


@pytest.mark.parametrize(
    "A",
    [
        np.eye(40),  # too few rows
        turned(1 + 1e-3 * np.sqrt(np.arange(1.0, 500.0))),  # close together
        1e200 * np.eye(400),
        1e-200 * np.eye(400),
        np.full((400, 400), np.nan),
    ],
    ids=["few", "close", "huge", "tiny", "nan"],
)
def test_what_is_better_decomposed_is_left(A):
    assert certified(A, 3, constant(len(A))) is None


def test_a_run_sees_products():
    class Noted(certified_lanczos.Run):
        def __init__(self):
            self.told = []

        def tell(self, done):
            self.told.append(done)

    run = Noted()
    found = certified(turned(SPECTRA["decaying"]), 3, constant(301), run)
    assert run.told[-1] == found.products
