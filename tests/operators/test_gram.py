"""The Gram operator: against dense NumPy, in the hands of SciPy, and in its memory."""

import json
import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from scipy.sparse import linalg
from scipy.spatial.distance import cdist

import mercer
from mercer.compute.codegen.tiles import Fused
from mercer.errors import InputError, KernelError, NumericalWarning
from mercer.kernels import ArcCosine, Gaussian, Laplace, Linear, Matern, Min, Polynomial, Radial, Subsets
from mercer.kernels.evaluation.evaluate import fused_from
from mercer.kernels.evaluation.plain import Plain
from mercer.operators import Gram
from mercer.testing import check_operator


class ByTable(Radial):
    """A kernel whose code cannot be followed."""

    lengthscale: float = 2.0

    def profile(self, u):
        return np.interp(u, [0.0, 1.0, 1e3], [1.0, 0.3, 0.0])


KERNELS = {
    "gaussian": Gaussian(1.5),
    "laplace": Laplace(1.5),
    "polynomial": Polynomial(2, 1.0),
    "min": Min(),
    "angle": ArcCosine(1),
    "composite": Gaussian(1.5) + 0.5 * Linear() * Matern(1.5),
    "wrapped": Gaussian().scaled([1.0, 2.0, 0.5, 1.0, 3.0, 1.0]) * Min().on([0, 2]),
    "not followed": ByTable(),
}


def table(n, d=6, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).uniform(0.0, 2.0, size=(n, d)).astype(dtype)


@pytest.fixture(params=["plain", "fused"])
def path(request):
    with fused_from(0 if request.param == "fused" else 1 << 60):
        yield request.param


# -- the laws ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KERNELS)
def test_the_laws_of_operators(name, path):
    check_operator(Gram(KERNELS[name], table(70)))
    check_operator(Gram(KERNELS[name], table(70), table(33, seed=1)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaussian", "laplace", "composite", "min", "not followed"])
def test_the_laws_of_operators_in_float32(name, path):
    check_operator(Gram(KERNELS[name], table(300, dtype=np.float32)))
    check_operator(Gram(KERNELS[name], table(40, dtype=np.float32), table(300, seed=1, dtype=np.float32)))


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_the_laws_of_operators_over_several_tiles(threads):
    with fused_from(0):
        check_operator(Gram(KERNELS["composite"], table(530, d=20), threads=threads))


# -- the entries -------------------------------------------------------------------------------------------------------


def test_entries_and_products_are_those_of_the_formula(path):
    X, Z, V = table(300, d=20), table(280, d=20, seed=1), table(280, 3, seed=2) - 1
    wanted = np.exp(-(cdist(X, Z) ** 2) / 4.5)
    K = Gram(Gaussian(1.5), X, Z)
    assert isinstance(K.evaluator, Fused if path == "fused" else Plain)
    assert K.shape == (300, 280)
    assert not K.symmetric
    np.testing.assert_allclose(K @ V, wanted @ V, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(K @ V[:, 0], wanted @ V[:, 0], rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(K.T @ X[:, :2], wanted.T @ X[:, :2], rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(K.to_dense(), wanted, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(K.rows([5, -1, 5]), wanted[[5, -1, 5]], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(K.block(slice(3, 9), [7, 1]), wanted[3:9][:, [7, 1]], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(K.diagonal(), np.diagonal(wanted), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(K.T.diagonal(), np.diagonal(wanted), rtol=1e-12, atol=1e-12)


def test_one_side_is_symmetric(path):
    X = table(300)
    for K in (Gram(Gaussian(), X), Gram(Gaussian(), X, X), Gram(Gaussian(), X, X.copy())):
        assert K.symmetric
        assert K.T is K
        assert np.array_equal(K.diagonal(), np.ones(300))
        dense = K.to_dense()
        assert np.array_equal(dense, dense.T)
        assert np.array_equal(dense, Gaussian()(X))
        part = K.block(slice(10, 50), slice(10, 50))
        assert np.array_equal(part, part.T)
        np.testing.assert_allclose(part, dense[10:50, 10:50], rtol=1e-12)


def test_dtypes(path):
    X, v = table(300, dtype=np.float32), table(300, 1, seed=2)[:, 0]
    K = Gram(Gaussian(2.0), X)
    wanted = Gaussian(2.0)(X.astype(np.float64)) @ v
    assert K.dtype == np.float32
    assert (K @ v.astype(np.float32)).dtype == np.float32
    assert (K @ v).dtype == np.float64
    np.testing.assert_allclose(K @ v, wanted, rtol=1e-5)
    assert Gram(Gaussian(), X, X.astype(np.float64)).dtype == np.float64


@pytest.mark.parametrize("size", [1e-60, 1e-30, 1e30, 1e300])
def test_columns_of_every_size(size, path):
    """In float32 such columns would vanish or overflow."""
    K = Gram(Gaussian(2.0), table(300, dtype=np.float32))
    V = np.column_stack([np.ones(300), size * np.linspace(-0.5, 1, 300), np.zeros(300)])
    found = K @ V
    np.testing.assert_allclose(found, K.to_dense().astype(float) @ V, rtol=1e-4)
    np.testing.assert_array_equal(found[:, 2], 0.0)


def test_no_columns_give_none(path):
    assert (Gram(Gaussian(), table(9)) @ np.ones((9, 0))).shape == (9, 0)


def test_overflow_is_told(path):
    with pytest.warns(NumericalWarning, match="overflows on this data"):
        Gram(Subsets(), 1e10 * table(9, d=60)) @ np.ones(9)


# -- what it takes -----------------------------------------------------------------------------------------------------


def test_a_text_is_a_kernel():
    X = table(9)
    assert np.array_equal(Gram("0.5*gaussian(2) + min", X).to_dense(), mercer.parse("0.5*gaussian(2) + min")(X))
    assert repr(Gram("gaussian(2)", X)) == "Gram(9 x 9, gaussian(lengthscale=2.0), float64)"


def test_what_it_refuses():
    X = table(9)
    with pytest.raises(InputError, match="resolve"):
        Gram(Gaussian("median"), X)
    with pytest.raises(KernelError, match="a kernel or its text"):
        Gram(X, X)
    with pytest.raises(InputError, match="columns"):
        Gram(Gaussian(), X, X[:, :2])
    with pytest.raises(InputError, match="negative"):
        Gram(Min(), X - 5)
    with pytest.raises(InputError, match="threads"):
        Gram(Gaussian(), X, threads=0)
    resolved = Gaussian("median").resolve(X)
    assert np.array_equal(Gram(resolved, X).to_dense(), resolved(X))


def test_the_watch_is_told(path):
    told = []
    Gram(Gaussian(), table(300), watch=told.append) @ np.ones(300)
    assert told[-1].done == told[-1].total > 0


# -- SciPy -------------------------------------------------------------------------------------------------------------


def test_conjugate_gradients(path):
    X = table(300)
    K, y = Gram(Gaussian(1.0), X).ridge(0.1), np.sin(X[:, 0])
    found, flag = linalg.cg(K, y, rtol=1e-12, maxiter=3000)
    assert flag == 0
    wanted = np.linalg.solve(np.exp(-(cdist(X, X) ** 2) / 2) + 0.1 * np.eye(300), y)
    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-8)


def test_eigenvalues(path):
    X = table(300)
    found = linalg.eigsh(Gram(Laplace(1.0), X), k=4, return_eigenvectors=False, v0=np.ones(300))
    np.testing.assert_allclose(np.sort(found), np.linalg.eigvalsh(np.exp(-cdist(X, X)))[-4:], rtol=1e-10)


# -- memory ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [1, 8])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["gaussian", "laplace", "min", "composite", "not followed"])
@pytest.mark.parametrize("sides", [1, 2])
def test_the_peak_that_is_told_is_not_exceeded(name, dtype, columns, sides):
    X = table(6000, d=20, dtype=dtype)
    Z = table(3000, d=20, seed=1, dtype=dtype) if sides == 2 else None
    V = np.ones((6000 if Z is None else 3000, columns), dtype)
    Gram(KERNELS[name], X, Z, threads=2) @ V  # compiled, loaded
    K = Gram(KERNELS[name], X, Z, threads=2)
    K.evaluator  # noqa: B018  # what it holds is held from here on
    tracemalloc.start()
    try:
        K @ V
        held = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    told = K.peak(columns)
    assert held <= told + 200_000  # and what Python itself needs
    assert told <= 8 * held + 4_000_000  # it is no excuse for refusing work


HUGE = """
import json, resource, threading, time
import numpy as np
from mercer.operators import Gram

class Enough(Exception):
    pass

def watch(progress):
    if progress.seconds > 2:
        raise Enough

def peak():  # bytes; ru_maxrss also counts what the parent held before this program was loaded
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM:"):
            return 1024 * int(line.split()[1])

rng = np.random.default_rng(0)
small = rng.normal(size=(1500, 10)).astype("{dtype}")
Gram("gaussian", small) @ small[:, 0]  # Numba and the code are loaded
X = rng.normal(size=(200_000, 10)).astype("{dtype}")
before = peak()
K = Gram("gaussian", X, watch=watch)
try:
    K @ X[:, 0]
    stopped = False
except Enough:
    stopped = True
print(json.dumps({{"stopped": stopped, "above": peak() - before, "told": K.peak()}}))
"""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="asks Linux for the peak of a process")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_200_000_rows_need_less_than_200_megabytes(dtype):
    """All that is held is taken before the first tile, so the first seconds show the peak."""
    out = subprocess.check_output([sys.executable, "-c", HUGE.format(dtype=dtype)], text=True)
    found = json.loads(out.splitlines()[-1])
    assert found["stopped"]
    assert found["above"] < 200e6
    assert found["told"] < 200e6
