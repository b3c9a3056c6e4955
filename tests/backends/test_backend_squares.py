"""Squares at a backend, by PyTorch on the cores: against NumPy and LAPACK of this process."""

import os
import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.base import clone

torch = pytest.importorskip("torch")

from mercer import KernelRidge, KernelRidgeClassifier  # noqa: E402
from mercer.backends import CPU, CUDA, use  # noqa: E402
from mercer.backends.cuda import features, panels, session, squares  # noqa: E402
from mercer.backends.cuda.factors import inverse_norm  # noqa: E402
from mercer.compute.runtime.run import IDLE, Run, Stopped  # noqa: E402
from mercer.errors import BudgetError, InputError  # noqa: E402
from mercer.kernels import Gaussian, Laplace, Linear  # noqa: E402
from mercer.kernels.evaluation.evaluate import fused_from  # noqa: E402
from mercer.lifts.pivoting import RandomPivots  # noqa: E402
from mercer.operators import Centering, Gram  # noqa: E402
from mercer.operators.at_backend import AtBackend  # noqa: E402
from mercer.solvers import Cholesky, ConjugateGradient, Eigen, System  # noqa: E402
from mercer.solvers.ridge import checks, mixed_precision_cholesky  # noqa: E402
from mercer.solvers.ridge.at_backend import PivotsAtBackend, factor_of  # noqa: E402

torch.set_num_threads(1)
DEVICE = os.environ.get("MERCER_TEST_DEVICE", "cpu")
"""Set it to cuda:0 to run the same on a card."""
SIZES = [1, 2, 255, 256, 257, 700]
KERNEL = Laplace(1.5)


@pytest.fixture(autouse=True)
def at_backend(monkeypatch):
    """Small panels and slices, so that there are many of them, and no work that is too small for a backend."""
    monkeypatch.setattr(panels, "PANEL", 64)
    monkeypatch.setattr(squares, "SLICE_NUMBERS", 10_000)
    monkeypatch.setattr(checks, "MIN_ROWS_AT_BACKEND", 1)
    with use(CUDA(DEVICE)) as opened, fused_from(0):
        yield opened


def rows(n, columns=3):
    return np.random.default_rng(n).normal(size=(n, columns))


def matrix(n, weights=None, intercept=False):
    """A square, and the same in this process."""
    X, centering = rows(n), Centering.of(n, weights, intercept)
    A = centering.matrix(AtBackend(Gram(KERNEL, X).at_backend())).stored
    with fused_from(np.inf):
        return A, centering.matrix(KERNEL(X)).stored


def positive(n):
    return np.random.default_rng(1).uniform(0.5, 3.0, size=n)


# -- entries ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("weights", [None, positive])
@pytest.mark.parametrize("intercept", [False, True])
def test_it_is_the_matrix(n, weights, intercept):
    A, dense = matrix(n, weights and weights(n), intercept)
    V = np.random.default_rng(0).normal(size=(n, 3))
    some, others = np.unique([0, n // 2, n - 1]), np.array([n - 1, 0])
    close = {"rtol": 0, "atol": 1e-13 * max(1.0, np.abs(dense).max())}
    np.testing.assert_allclose(A.to_dense(), dense, **close)
    np.testing.assert_allclose(A.diagonal(), dense.diagonal(), **close)
    np.testing.assert_allclose(A.block(some, others), dense[np.ix_(some, others)], **close)
    np.testing.assert_allclose(A.block(slice(None), some), dense[:, some], **close)
    np.testing.assert_allclose(A @ V, dense @ V, rtol=0, atol=n * close["atol"])
    np.testing.assert_allclose(A @ V[:, 0], dense @ V[:, 0], rtol=0, atol=n * close["atol"])
    np.testing.assert_allclose(A.square.row_sums(), np.abs(dense).sum(axis=1), rtol=0, atol=n * close["atol"])


def test_the_diagonal_is_that_of_the_kernel():
    A, _ = matrix(300)
    assert (A.diagonal() == 1.0).all()
    assert (np.diagonal(A.to_dense()) == 1.0).all()
    assert (np.diagonal(A.block(np.arange(9), np.arange(9))) == 1.0).all()


def test_a_stored_array_goes_there(at_backend):
    M = KERNEL(rows(300))
    square = at_backend.square(M, M.diagonal())
    assert np.array_equal(square.whole(), M)
    assert np.array_equal(square.block(np.array([3, 5]), np.array([5, 8])), M[np.ix_([3, 5], [5, 8])])


@pytest.mark.parametrize("room", ["1 GB", "700 kB"], ids=["held", "sent"])
def test_a_stored_array_is_sent_once_where_there_is_room(room):
    M, V = KERNEL(rows(300)), np.ones((300, 2))
    with use(CUDA(DEVICE, memory_limit=room)) as opened:
        square = opened.square(M, M.diagonal())
        for _ in range(3):
            np.testing.assert_allclose(square.times(V), M @ V, rtol=1e-12)
        chosen = np.array([7, 2, 280])
        assert np.array_equal(square.block(chosen, chosen[::-1]), M[np.ix_(chosen, chosen[::-1])])
        columns = np.concatenate([values.cpu().numpy() for _, values in square.columns(chosen)])
        sent = opened.traffic().sent
    assert np.array_equal(columns, M[:, chosen])
    assert (sent == M.nbytes) if room == "1 GB" else (sent > 3 * M.nbytes)


def test_values_that_this_process_computes_are_no_square(at_backend):
    class Plain:
        shape = (2, 2)

    assert at_backend.square(Plain(), np.ones(2)) is None


# -- Cholesky ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", SIZES)
def test_a_factor_solves(n):
    A, dense = matrix(n, positive(n), intercept=n > 2)
    b = np.random.default_rng(2).normal(size=(n, 2))
    M = dense + 0.1 * np.eye(n)
    norm = np.abs(M).sum(axis=1).max()
    factor = A.square.factor(0.1, IDLE)
    np.testing.assert_allclose(factor.solve(b), np.linalg.solve(M, b), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(factor.multiply(b), dense @ b, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(factor.inverse_diagonal(0.1), np.diagonal(np.linalg.inv(M)), rtol=1e-10)
    assert factor.log_determinant(0.1) == pytest.approx(np.linalg.slogdet(M)[1], rel=1e-12, abs=1e-10)
    worst = norm * np.abs(np.linalg.inv(M)).sum(axis=0).max()
    assert 0.3 * worst <= factor.condition <= (1 + 1e-9) * worst
    assert factor.serves(np.array([0.1, 0.1]))
    assert not factor.serves(np.array([0.1, 0.2]))
    with pytest.raises(InputError, match="one alpha at a time"):
        factor.solve(b, np.array([0.1, 0.2]))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("alphas", [(0.3, 0.3), (0.3, 0.01)])
def test_the_solver_finds_what_it_finds_on_the_cores(n, alphas):
    A, dense = matrix(n, intercept=n > 1)
    system = System(A, np.random.default_rng(3).normal(size=(n, 2)), np.array(alphas))
    there = Cholesky().solve(system)
    with use(CPU()):
        here = Cholesky().solve(System(dense.copy(), system.targets, system.alphas))
    np.testing.assert_allclose(there.value, here.value, rtol=1e-10, atol=1e-10)
    assert there.converged
    assert there.residual < 1e-12
    assert (there.decomposition is None) == (here.decomposition is None)
    assert there.reason == here.reason
    worst = np.linalg.cond(dense + min(alphas) * np.eye(n), 1)
    assert 0.3 * worst <= there.condition <= (1 + 1e-9) * max(worst, here.condition)


def test_an_indefinite_matrix_gives_way_to_eigen():
    M = np.diag(np.linspace(-1.0, 5.0, 200))
    outcome = Cholesky().solve(System(M, np.ones((200, 1)), np.array([0.1])))
    assert "gave way to Eigen" in outcome.reason
    assert not outcome.converged
    with use(CPU()):
        np.testing.assert_allclose(
            outcome.value, Cholesky().solve(System(M, np.ones((200, 1)), np.array([0.1]))).value, atol=1e-12
        )


def test_a_singular_matrix_has_no_factor():
    u = rows(300, 1)
    outcome = Cholesky().solve(System(u @ u.T, u, np.array([0.0])))
    assert "gave way to Eigen" in outcome.reason
    np.testing.assert_allclose(outcome.value, u / (u * u).sum(), atol=1e-12)


def test_a_matrix_with_infinities_is_refused():
    M = np.eye(100)
    M[3, 4] = M[4, 3] = np.nan
    for solver in (Cholesky(), Eigen()):
        with pytest.raises(InputError, match="row 3 of A adds up to nan"):
            solver.solve(System(M.copy(), np.ones((100, 1)), np.array([1.0])))


def test_in_float32_where_float64_has_no_room():
    least = squares.factor_bytes(300, 4)
    with use(CUDA(DEVICE, memory_limit=least)):
        A, dense = matrix(300)
        smooth = AtBackend(Gram(Gaussian(5.0), rows(300)).at_backend())
    b = np.random.default_rng(4).normal(size=(300, 2))
    outcome = Cholesky().solve(System(A, b, np.array([0.5, 0.5])))
    assert "in float32, and" in outcome.reason
    np.testing.assert_allclose(outcome.value, np.linalg.solve(dense + 0.5 * np.eye(300), b), rtol=0, atol=1e-13)
    known, alphas = outcome.decomposition, np.array([0.5, 0.5])
    assert not known.serves(np.array([0.5]))
    assert np.abs(known.roughly(b, alphas) - outcome.value).max() > 1e-9
    np.testing.assert_allclose(known.solve(b, alphas), outcome.value, rtol=0, atol=1e-13)
    for refused in (known.inverse_diagonal, known.log_determinant):
        with pytest.raises(BudgetError, match="float64"):
            refused(0.5)
    with pytest.raises(BudgetError, match="float64"):
        factor_of(A, 0.5)
    with pytest.raises(BudgetError, match="in float64, on the card"):
        Cholesky().solve(System(smooth, b, np.array([1e-12, 1e-12])))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mixed_precision_cholesky, "MAX_STEPS", 1)
        with pytest.raises(BudgetError, match="larger alpha"):
            Cholesky().solve(System(A, b, np.array([1e-4, 1e-4])))
    with use(CUDA(DEVICE, memory_limit=least - 1)):
        A, _ = matrix(300)
    with pytest.raises(BudgetError, match="the Cholesky factor of 300 rows"):
        Cholesky().solve(System(A, b, np.array([0.5, 0.5])))


def test_in_float32_where_a_card_is_slow_in_float64(monkeypatch):
    monkeypatch.setattr(squares, "is_slow_in_double", lambda device: True)
    monkeypatch.setattr(squares, "MIN_SINGLE_ROWS", 200)
    b, told = np.random.default_rng(4).normal(size=(300, 1)), []
    for alpha, single in ((0.5, True), (1e-9, False)):
        A, dense = matrix(300)
        outcome = Cholesky().solve(System(A, b, np.array([alpha])))
        told.append("in float32" in outcome.reason)
        assert told[-1] == single
        np.testing.assert_allclose(outcome.value, np.linalg.solve(dense + alpha * np.eye(300), b), rtol=1e-9)
    monkeypatch.setattr(mixed_precision_cholesky, "MAX_STEPS", 1)
    again = Cholesky().solve(System(A, b, np.array([0.5])))  # float32 does not get there
    assert "float32" not in again.reason
    assert again.converged
    assert again.decomposition.serves(np.array([0.5]))


def test_the_memory_of_a_factor_is_that_of_the_matrix():
    """At most 1.25 n^2 numbers where n is large, all that is held beside it counted."""
    panel, numbers = 2048, 1 << 24
    for n in (60_000, 100_000, 125_000):
        beside = 3 * panel * n + squares.FORMULA_BLOCKS * numbers
        assert (n * n + beside) <= 1.25 * n * n


def test_a_factor_that_was_given_back_holds_nothing():
    A, _ = matrix(300)
    factor = A.square.factor(1.0, IDLE)
    factor.restore()
    assert factor._lower is None
    with pytest.raises(Exception, match="given back"):
        factor.solve(np.ones((300, 1)))


def test_all_digits_of_float32_are_kept():
    """Whatever the user allows: the setting is that of the factor inside, and the user's outside."""
    A, seen = matrix(257)[0], []
    run = Counting()
    run.tell = lambda done: seen.append(torch.get_float32_matmul_precision())
    torch.set_float32_matmul_precision("medium")
    try:
        A.square.factor(1.0, run, single=True).roughly(np.ones((257, 1)))
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision("highest")
    assert set(seen) == {"highest"}


class Counting(Run):
    def __init__(self, last=np.inf, error=Stopped):
        self.told, self.last, self.error = [], last, error

    def tell(self, done):
        self.told.append(done)
        if len(self.told) >= self.last:
            raise self.error("that is enough")


def test_progress_is_told_panel_by_panel():
    A, _ = matrix(257)
    run = Counting()
    A.square.factor(1.0, run)
    assert len(run.told) == 5
    assert run.told == sorted(run.told)
    assert run.told[-1] == 1.0


@pytest.mark.parametrize("error", [Stopped, KeyboardInterrupt])
def test_it_stops_between_panels(error):
    A, dense = matrix(257)
    for last in (1, 3, 5):
        run = Counting(last, error)
        with pytest.raises(error):
            A.square.factor(1.0, run)
        assert len(run.told) == last
    assert np.allclose(A.to_dense(), dense)  # nothing was spoiled


def test_the_norm_of_an_inverse_is_estimated_as_lapack_does():
    from scipy.linalg import lapack

    random = np.random.default_rng(0)
    for n in (1, 2, 3, 17, 120):
        B = random.normal(size=(n, n))
        M = B @ B.T + 0.01 * np.eye(n)
        norm = np.abs(M).sum(axis=0).max()
        L = np.linalg.cholesky(M)
        reciprocal, _ = lapack.dpocon(np.asfortranarray(L), norm, uplo="L")
        assert norm * inverse_norm(lambda b, M=M: np.linalg.solve(M, b), n) == pytest.approx(1 / reciprocal, rel=1e-6)


# -- eigenvectors -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", SIZES)
def test_the_spectrum_is_that_of_the_matrix(n):
    A, dense = matrix(n, intercept=n > 1)
    found = Eigen().decompose(A)
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(dense), rtol=0, atol=1e-12 * n)
    np.testing.assert_allclose(found.vectors @ (found.values[:, None] * found.vectors.T), dense, rtol=0, atol=1e-12 * n)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(n), rtol=0, atol=1e-12 * n)
    assert found.vectors.flags.f_contiguous


def test_a_stored_matrix_is_decomposed_there_too(monkeypatch):
    M, asked = KERNEL(rows(300)), []
    spectrum = squares.DeviceSquare.spectrum
    monkeypatch.setattr(squares.DeviceSquare, "spectrum", lambda self: asked.append(1) or spectrum(self))
    found = Eigen().decompose(M.copy())
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(M), atol=1e-11)
    assert asked
    monkeypatch.setattr(checks, "MIN_ROWS_AT_BACKEND", 301)
    Eigen().decompose(M.copy())
    assert len(asked) == 1


# -- pivots -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("weights", [None, positive])
def test_the_pivots_are_those_of_the_cores(n, weights):
    A, dense = matrix(n, weights and weights(n), intercept=n > 2)
    count = min(n, 90)
    here = RandomPivots(dense.diagonal(), lambda i, j: dense[i][:, j], count).run(np.random.default_rng(5))
    there = PivotsAtBackend(A.diagonal(), A.square, count)
    found = there.run(np.random.default_rng(5))
    assert np.array_equal(found.pivots, here.pivots)
    k, F = len(found.pivots), found.features
    assert F.shape == (n, k)
    np.testing.assert_allclose(found.upper, here.upper, rtol=0, atol=1e-9)
    np.testing.assert_allclose(F.along(np.eye(k)), here.features, rtol=0, atol=1e-9)
    np.testing.assert_allclose(F.across(np.eye(n)[:, :3]), here.features[:3].T, rtol=0, atol=1e-9)
    np.testing.assert_allclose(F.squares(), here.features.T @ here.features, rtol=0, atol=1e-9 * n)
    np.testing.assert_allclose(F.rows(np.array([n - 1, 0])), here.features[[n - 1, 0]], rtol=0, atol=1e-9)


@pytest.mark.parametrize("first", [8, 512])
def test_features_that_grow_and_their_inverse(first, monkeypatch):
    monkeypatch.setattr(features, "FIRST_COLUMNS", first)
    A, dense = matrix(257, positive(257), intercept=True)
    F = PivotsAtBackend(A.diagonal(), A.square, 100).run(np.random.default_rng(5)).features
    k = F.shape[1]
    here, some = F.along(np.eye(k)), np.array([3, 200, 3])
    np.testing.assert_allclose(F.rest(some), (dense - here @ here.T)[np.ix_(some, some)], rtol=0, atol=1e-9)
    top = np.linalg.eigvalsh(here.T @ here)[-1]
    assert 0.9 * top <= F.top() <= top * (1 + 1e-9)
    R = np.random.default_rng(1).normal(size=(257, 2))
    assert F.inverse(-2 * top) is None
    np.testing.assert_allclose(F.along(np.eye(k)), here, rtol=0, atol=0)
    wanted = np.linalg.solve(here @ here.T + 0.1 * np.eye(257), R)
    np.testing.assert_allclose(F.inverse(0.1).solve(R), wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())


@pytest.mark.parametrize("alphas", [(0.1, 0.1), (0.1, 0.001)])
def test_conjugate_gradients_take_as_many_steps(alphas):
    X, b = rows(700), np.random.default_rng(6).normal(size=(700, 2))
    centering = Centering.of(700, positive(700), True)
    solver = ConjugateGradient(tol=1e-10, preconditioner_rank=60, random_state=0)
    there = solver.solve(System(centering.operator(Gram(KERNEL, X)), b, np.array(alphas)))
    with use(CPU()):
        here = solver.solve(System(centering.operator(Gram(KERNEL, X)), b, np.array(alphas)))
    assert abs(there.iterations - here.iterations) <= 2
    np.testing.assert_allclose(there.value, here.value, rtol=0, atol=1e-8 * np.abs(here.value).max())
    free = ConjugateGradient(random_state=0).solve(System(Gram(KERNEL, X), b, np.array(alphas)))
    assert free.converged


def test_no_wide_array_crosses(at_backend):
    """Blocks of proposed rows do, which are thin."""
    n, traffic = 700, at_backend.resident.traffic
    A, _ = matrix(n, intercept=True)
    traffic.thin = traffic.wide = 0
    Cholesky().solve(System(A, np.ones((n, 1)), np.array([0.1])))
    assert traffic.wide == 0
    assert traffic.thin < 8 * n * 60
    PivotsAtBackend(A.diagonal(), A.square, 50).run(np.random.default_rng(0))
    assert traffic.wide <= 8 * 256 * 256


# -- learners ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", [Cholesky(), Eigen()])
@pytest.mark.parametrize("weights", [None, positive])
@pytest.mark.parametrize("n", [30, 257])
def test_ridge_regression_is_the_same(solver, weights, n):
    X, random = rows(n), np.random.default_rng(7)
    y, s = np.sin(X).sum(axis=1) + 0.1 * random.normal(size=n), weights and weights(n)
    model = KernelRidge(Gaussian(1.5), alpha=0.01, solver=solver, method="exact")

    def fitted():
        found = KernelRidge(Gaussian(1.5), alpha=0.01, solver=solver, method="exact").fit(X, y, sample_weight=s)
        values = found.predict(X, return_std=True)
        return found, [found.dual_coef_, *values, found.leverage_, found.log_marginal_likelihood(), found.rounding_]

    there, found = fitted()
    with use(CPU()):
        here, expected = fitted()
    for one, two in zip(found[:-1], expected[:-1], strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-9 * np.abs(two).max())
    assert 0.3 <= there.condition_ / here.condition_ <= 3
    assert found[-1] <= 1e-6
    assert model.get_params()["alpha"] == 0.01


@pytest.mark.parametrize("solver", [Cholesky(), Eigen(), ConjugateGradient(tol=1e-12, preconditioner_rank=50)])
def test_a_learner_computes_where_it_is_told(solver, monkeypatch):
    """In its fit, and in what is computed when it is asked for, wherever it is asked."""
    X, made = rows(300), []
    square_of = session.square_of
    monkeypatch.setattr(session, "square_of", lambda *given: made.append(1) or square_of(*given))
    y = np.sin(X).sum(axis=1) + 0.1 * np.random.default_rng(9).normal(size=300)
    model = KernelRidge(Gaussian(1.5), alpha=0.01, solver=solver, random_state=0)
    with use(CPU()):
        here, there = clone(model).fit(X, y), clone(model).set_params(backend=CUDA(DEVICE)).fit(X, y)
        assert made
        scale = np.abs(here.dual_coef_).max()
        np.testing.assert_allclose(there.dual_coef_, here.dual_coef_, rtol=0, atol=1e-9 * scale)
        np.testing.assert_allclose(there.predict(X), here.predict(X), rtol=0, atol=1e-9)
        made.clear()
        for ask in (
            lambda model: model.predict(X, return_std=True)[1],
            lambda model: model.predict(X[:9], return_cov=True)[1],
            lambda model: model.leverage_,
            lambda model: model.log_marginal_likelihood(),
        ):
            np.testing.assert_allclose(ask(there), ask(here), rtol=0, atol=1e-8)
        assert made
        assert pickle.loads(pickle.dumps(there)).predict(X[:3]) == pytest.approx(here.predict(X[:3]), abs=1e-9)  # noqa: S301


def kinds():
    X = rows(300)
    return {
        "float32": (Gaussian(1.5), X.astype(np.float32), 1e-4),
        "sparse": (Gaussian(1.5), csr_array(np.where(np.abs(X) > 0.5, X, 0.0)), 1e-9),
        "a function that is not followed": (lambda A, B: np.exp(-cdist(A, B)), X, 1e-9),
        "a matrix that was computed before": ("precomputed", np.exp(-cdist(X, X)), 1e-9),
    }


@pytest.mark.parametrize("kind", kinds())
def test_whatever_the_rows_are(kind):
    """What this process computes is solved at the backend all the same."""
    kernel, X, off = kinds()[kind]
    y = np.random.default_rng(10).normal(size=300)
    for solver in (Cholesky(), Eigen()):
        model = KernelRidge(kernel, alpha=0.5, solver=solver, method="exact")
        with use(CPU()):
            here, there = clone(model).fit(X, y), clone(model).set_params(backend=CUDA(DEVICE)).fit(X, y)
        np.testing.assert_allclose(there.dual_coef_, here.dual_coef_, rtol=0, atol=off * np.abs(here.dual_coef_).max())


def test_features_are_fitted_as_on_the_cores():
    """In the primal Z'Z goes there, and says how many digits it leaves."""
    X = rows(300, 40)
    y = X @ np.linspace(-1, 1, 40) + 0.1 * np.random.default_rng(8).normal(size=300)
    for scale in (1.0, 1e-9):  # of a column
        X[:, 0] *= scale
        model = KernelRidge(Linear(), alpha=1e-3, method="exact")
        there = clone(model).fit(X, y)
        with use(CPU()):
            here = clone(model).fit(X, y)
        np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-9, atol=0)
        np.testing.assert_allclose(there.predict(X, return_std=True)[1], here.predict(X, return_std=True)[1], rtol=1e-9)


def test_alphas_are_chosen_as_on_the_cores():
    X = rows(300)
    y = np.sin(X).sum(axis=1) + 0.1 * np.random.default_rng(8).normal(size=300)
    there = KernelRidge(Gaussian(1.5)).fit(X, y)
    label = (y > 0).astype(int)
    classes = KernelRidgeClassifier(Gaussian(1.5)).fit(X, label)
    with use(CPU()):
        here = KernelRidge(Gaussian(1.5)).fit(X, y)
        expected = KernelRidgeClassifier(Gaussian(1.5)).fit(X, label)
    assert there.alpha_ == pytest.approx(here.alpha_, rel=1e-9)
    np.testing.assert_allclose(there.dual_coef_, here.dual_coef_, rtol=1e-7, atol=1e-7 * np.abs(here.dual_coef_).max())
    assert (classes.predict(X) == expected.predict(X)).all()
