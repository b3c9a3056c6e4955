"""Leading eigenvalues by blocks of products, against dense eigenvalues."""

from contextlib import contextmanager

import numpy as np
import pytest

from mercer.compute.runtime.run import Run, Stopped
from mercer.errors import InputError
from mercer.operators import Dense, Gram, LowRank
from mercer.operators.base import Operator
from mercer.solvers.eigenvalues import block_krylov
from mercer.solvers.eigenvalues.block_krylov import EXTRA_VECTORS, leading, orthonormal


def turned(values, seed=0):
    """A symmetric matrix with these eigenvalues."""
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))[0]
    A = (Q * np.asarray(values)) @ Q.T
    return (A + A.T) / 2


SPECTRA = {
    "decaying": 0.9 ** np.arange(200.0),
    "slowly decaying": 1 / np.arange(1.0, 301.0),
    "even": np.linspace(1, 2, 150),
    "clustered": np.r_[np.full(7, 5.0), 5.0 - 1e-5, np.full(40, 4.0), np.linspace(0, 3, 150)],
    "equal": np.full(60, 2.5),
    "a needle": np.r_[100.0, np.linspace(0, 1, 120)],
    "rank deficient": np.r_[3.0, 2.0, 1.0, np.zeros(90)],
    "huge": 1e120 * 0.8 ** np.arange(100.0),
    "tiny": 1e-120 * 0.8 ** np.arange(100.0),
}


class Counted(Operator):
    """A matrix that counts its products, and knows nothing else."""

    def __init__(self, matrix, error=0.0, seed=0):
        self.matrix, self.widths = matrix, []
        noise = np.random.default_rng(seed).normal(size=matrix.shape)
        self.seen = matrix + error * np.abs(matrix).max() * (noise + noise.T)
        super().__init__(matrix.shape, matrix.dtype, symmetric=True)

    def _multiply(self, V):
        self.widths.append(V.shape[1])
        return self.seen @ V

    def _transposed(self):
        return self

    def _block(self, i, j):
        raise AssertionError("only products are needed")

    def diagonal(self):
        raise AssertionError("only products are needed")


def check(found, A, count, tolerance=1e-6):
    """What every answer must be, converged or not."""
    values = np.linalg.eigvalsh(A)[::-1]
    top = np.abs(values).max()
    assert found.values.shape == found.residuals.shape == (count,)
    assert found.vectors.shape == found.images.shape == (len(A), count)
    assert (np.diff(found.values) <= 0).all()
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(count), atol=1e-12)
    np.testing.assert_allclose(found.images, A @ found.vectors, atol=1e-11 * top)
    left = np.linalg.norm(A @ found.vectors - found.vectors * found.values, axis=0)
    np.testing.assert_allclose(found.residuals, left, atol=1e-11 * top)
    if found.converged:
        assert (left <= tolerance * top * (1 + 1e-3)).all()
        np.testing.assert_allclose(found.values, values[:count], atol=tolerance * top)


# -- truth ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("count", [1, 4, 10])
def test_the_largest_eigenvalues_are_found(name, count):
    A = turned(SPECTRA[name])
    found = leading(Dense(A), count, random=np.random.default_rng(1))
    assert found.converged, found.reason
    check(found, A, count)
    assert found.reason.startswith(f"After {found.products} product")
    assert "within the tolerance of 1.0e-06" in found.reason


def test_eigenvectors_are_those_of_a_dense_decomposition():
    A = turned(SPECTRA["decaying"])
    found = leading(Dense(A), 5, tolerance=1e-10, random=np.random.default_rng(0))
    wanted = np.linalg.eigh(A)[1][:, ::-1][:, :5]
    np.testing.assert_allclose(np.abs((wanted * found.vectors).sum(axis=0)), 1.0, atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5, 12])
@pytest.mark.parametrize("count", [1, 5, 12, 50])
def test_more_than_there_are_are_all(n, count):
    A = turned(np.arange(1.0, n + 1.0))
    found = leading(Dense(A), count, tolerance=1e-11, random=np.random.default_rng(0))
    assert found.converged
    check(found, A, min(n, count), 1e-11)


@pytest.mark.parametrize("n", [1, 3, 40])
def test_a_matrix_of_zeros_has_zeros(n):
    found = leading(Dense(np.zeros((n, n))), 3, random=np.random.default_rng(0))
    assert found.converged
    assert (found.values == 0).all()
    check(found, np.zeros((n, n)), min(n, 3))


def test_a_low_rank_ends_with_zeros():
    L = np.random.default_rng(0).normal(size=(500, 4))
    found = leading(LowRank(L), 8, random=np.random.default_rng(0))
    assert found.converged
    wanted = np.r_[np.linalg.svd(L, compute_uv=False) ** 2, np.zeros(4)]
    np.testing.assert_allclose(found.values, wanted, atol=1e-9 * wanted[0])
    assert found.products <= 3


@pytest.mark.parametrize("most", [None, 1, 25, 1000])
def test_a_full_basis_goes_on_from_its_best_part(most):
    A = turned(SPECTRA["slowly decaying"])
    found = leading(Dense(A), 6, tolerance=1e-9, max_products=200, random=np.random.default_rng(0), most=most)
    assert found.converged, found.reason
    check(found, A, 6, 1e-9)


def test_a_kernel_matrix_is_never_stored():
    X = np.random.default_rng(0).normal(size=(400, 3))
    K = Gram("gaussian(1.5)", X)
    found = leading(K, 7, random=np.random.default_rng(0))
    assert found.converged
    check(found, K.to_dense(), 7)
    counted = Counted(K.to_dense())
    leading(counted, 7, random=np.random.default_rng(0))
    assert max(counted.widths) == 7 + EXTRA_VECTORS
    assert counted.widths[-1] <= counted.widths[0]  # what has converged is multiplied no more


# -- a start, and faster products -----------------------------------------------------------------------------------


def test_a_good_start_takes_fewer_products():
    A = turned(SPECTRA["slowly decaying"])
    cold = leading(Dense(A), 6, random=np.random.default_rng(0))
    near = cold.vectors + 1e-4 * np.random.default_rng(1).normal(size=cold.vectors.shape)
    warm = leading(Dense(A), 6, start=near, random=np.random.default_rng(0))
    assert warm.converged
    check(warm, A, 6)
    assert warm.products < cold.products


@pytest.mark.parametrize("columns", [0, 1, 3, 30])
def test_any_start_will_do(columns):
    A = turned(SPECTRA["decaying"])
    start = np.random.default_rng(0).normal(size=(200, columns))
    start[:, columns // 2 :] = start[:, :1] if columns else 0.0  # the same column again
    found = leading(Dense(A), 5, start=start, random=np.random.default_rng(0))
    assert found.converged
    check(found, A, 5)


def test_a_start_that_lacks_the_leading_vector_is_not_believed():
    A = turned(np.r_[10.0, 0.9 ** np.arange(199.0)])
    wrong = np.linalg.eigh(A)[1][:, ::-1][:, 1:12]
    found = leading(Dense(A), 5, start=wrong, random=np.random.default_rng(0))
    assert found.converged
    check(found, A, 5)


@pytest.mark.parametrize("error", [0.0, 1e-7, 1e-4])
def test_fast_products_come_first_and_the_truth_last(error):
    A = turned(SPECTRA["slowly decaying"])
    fast, exact = Counted(A, error), Counted(A)
    found = leading(exact, 6, fast=fast, random=np.random.default_rng(0))
    assert found.converged, found.reason
    check(found, A, 6)
    assert found.products == len(fast.widths) + len(exact.widths)
    alone = leading(Counted(A), 6, random=np.random.default_rng(0)).products
    assert len(exact.widths) < alone
    if error == 0.0:
        assert len(exact.widths) == 1


def test_fast_products_may_be_of_float32():
    A = turned(SPECTRA["slowly decaying"])
    fast = Counted(A.astype(np.float32))
    found = leading(Dense(A), 6, fast=fast, random=np.random.default_rng(0))
    assert found.converged
    check(found, A, 6)
    assert len(fast.widths) >= 3


def test_products_that_do_not_fit_the_memory_come_in_parts(monkeypatch):
    A = turned(SPECTRA["decaying"])
    monkeypatch.setattr(block_krylov, "_at_once", lambda A, columns: min(columns, 4))
    counted = Counted(A)
    found = leading(counted, 5, random=np.random.default_rng(0))
    check(found, A, 5)
    assert found.converged
    assert max(counted.widths) == 4


def test_the_free_memory_says_how_many_columns_are_multiplied_at_once(monkeypatch):
    monkeypatch.setattr("mercer.compute.runtime.memory.free_memory", lambda: 100_000)
    assert block_krylov._at_once(Dense(np.eye(1000)), 16) == 4  # 8 kB a column, and half of 80 kB
    assert block_krylov._at_once(Dense(np.eye(10)), 16) == 16


# -- the end ----------------------------------------------------------------------------------------------------------


class Stopping(Run):
    """Stops at the tell of a number, as `Watched` does."""

    def __init__(self, when):
        self.when, self.usable, self.told, self.stages = when, False, [], []

    @contextmanager
    def stage(self, name, total=1.0):
        self.stages.append(name)
        yield

    @contextmanager
    def stoppable(self):
        self.usable = True
        yield
        self.usable = False

    def tell(self, done):
        assert self.usable
        self.told.append(done)
        if done >= self.when:
            raise Stopped("the clock struck twelve")


@pytest.mark.parametrize("fast", [False, True])
def test_a_run_that_stops_it_gets_what_there_is(fast):
    A = turned(SPECTRA["slowly decaying"])
    run = Stopping(3)
    rough = Counted(A) if fast else None
    found = leading(Dense(A), 6, tolerance=1e-12, fast=rough, random=np.random.default_rng(0), run=run)
    assert run.stages == ["components"]
    assert run.told == [2, 3]
    assert found.products == 3
    assert not found.converged
    assert found.reason.startswith("The clock struck twelve: after 3 products the largest residual is")
    assert ("by fast products" in found.reason) is fast
    check(found, A, 6)


def test_a_product_that_is_stopped_leaves_what_was_before():
    A = turned(SPECTRA["slowly decaying"])

    class Broken(Counted):
        def _multiply(self, V):
            if len(self.widths) == 2:
                raise Stopped("enough")
            return super()._multiply(V)

    found = leading(Broken(A), 6, random=np.random.default_rng(0))
    assert not found.converged
    assert found.products == 2
    check(found, A, 6)
    found = leading(Broken(A), 6, fast=Counted(A), random=np.random.default_rng(0))  # it needs more than two
    check(found, A, 6)


def test_too_few_products_are_told():
    A = turned(SPECTRA["slowly decaying"])
    for products in (1, 2, 4):
        for fast in (None, Counted(A)):
            found = leading(
                Dense(A), 6, tolerance=1e-10, max_products=products, fast=fast, random=np.random.default_rng(0)
            )
            assert found.products == products
            assert not found.converged
            assert "not within the tolerance of 1.0e-10: use a larger max_iter or tol" in found.reason
            assert "fast" not in found.reason  # the last one was of A itself
            check(found, A, 6)


def test_a_tolerance_below_rounding_ends():
    A = turned(0.5 ** np.arange(40.0))
    found = leading(Dense(A), 3, tolerance=0.0, random=np.random.default_rng(0))
    assert not found.converged
    check(found, A, 3)
    np.testing.assert_allclose(found.values, [1.0, 0.5, 0.25], atol=1e-12)


def test_the_same_draws_give_the_same_bits():
    A = turned(SPECTRA["decaying"])
    one, other = (leading(Dense(A), 4, random=np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(one.vectors, other.vectors)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(bad):
    A = np.eye(30)
    A[3, 4] = A[4, 3] = bad
    with np.errstate(invalid="ignore"), pytest.raises(InputError, match="a product with it holds infinities or NaN"):
        leading(Dense(A, symmetric=True), 2, random=np.random.default_rng(0))
    start = np.full((30, 2), bad)
    with pytest.raises(InputError, match="a start of 30 rows of finite numbers"):
        leading(Dense(np.eye(30)), 2, start=start, random=np.random.default_rng(0))


def test_numbers_that_make_no_sense_are_refused():
    for settings in ({"count": 0}, {"count": 2, "max_products": 0}):
        with pytest.raises(InputError, match="positive integers"):
            leading(Dense(np.eye(4)), random=np.random.default_rng(0), **settings)
    with pytest.raises(InputError, match="a start of 30 rows"):
        leading(Dense(np.eye(30)), 2, start=np.ones((4, 2)), random=np.random.default_rng(0))


# -- blocks -----------------------------------------------------------------------------------------------------------


def test_orthonormal_columns_span_what_is_new():
    random = np.random.default_rng(0)
    basis = np.linalg.qr(random.normal(size=(100, 10)))[0]
    new = random.normal(size=(100, 4))
    block = np.hstack([basis @ random.normal(size=(10, 3)), 1e-9 * new, new[:, :2], np.zeros((100, 1))])
    found = orthonormal(block, basis)
    assert found.shape == (100, 4)
    np.testing.assert_allclose(found.T @ found, np.eye(4), atol=1e-14)
    np.testing.assert_allclose(basis.T @ found, 0.0, atol=1e-14)
    rest = new - basis @ (basis.T @ new)
    np.testing.assert_allclose(found @ (found.T @ rest), rest, atol=1e-8)
    assert orthonormal(basis[:, :2], basis).shape == (100, 0)
