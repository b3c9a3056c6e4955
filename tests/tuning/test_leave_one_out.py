"""Closed-form leave-one-out against models that are fitted again."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from refits import WEIGHTS, draw, dual, predict_precisely, primal, without_copies
from scipy.sparse import csr_array, csr_matrix
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from mercer.errors import BudgetError, InputError, KernelError, NumericalWarning
from mercer.kernels import Gaussian, Linear
from mercer.operators import Centering
from mercer.operators.dense import TILE_NUMBERS
from mercer.solvers.ridge.spectrum import Spectrum
from mercer.tuning import Path, loo_path, side
from mercer.tuning.path import default_alphas
from mercer.tuning.sides import DualSide

ALPHAS = np.array([0.0, 1e-10, 1e-4, 0.3, 20.0, 1e3])
X, K, Y = draw()


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", WEIGHTS)
def test_dual_equals_refits(name, intercept):
    s = WEIGHTS[name]
    found = dual(K, Y, s, intercept).left_out(ALPHAS)
    for alpha, errors in zip(ALPHAS, found, strict=True):
        wanted = without_copies(K, Y, s, alpha, intercept)
        np.testing.assert_allclose(errors, wanted, rtol=1e-8, atol=1e-8)  # the oracle solves in float64 too


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", WEIGHTS)
def test_primal_equals_dual_and_refits(name, intercept):
    s = WEIGHTS[name]
    Phi = np.column_stack([X, X[:, :1] * X[:, 1:], 5 + X**2])  # 5 features for 14 rows
    K = Phi @ Phi.T
    alphas = np.array([1e-6, 1e-3, 1.0, 50.0])
    one, other = primal(Phi, Y, s, intercept), dual(K, Y, s, intercept)
    rounding = 1e-11 + 10 * np.finfo(float).eps * other.spectrum.values[-1] / alphas  # of the matrix, relative to alpha
    gaps = np.abs(one.left_out(alphas) - other.left_out(alphas)).max(axis=(1, 2)) / np.abs(Y).max()
    assert (gaps <= rounding).all()
    np.testing.assert_allclose(one.errors(alphas[1:]), other.errors(alphas[1:]), rtol=1e-8)
    np.testing.assert_allclose(one.left_out(0.0), other.left_out(0.0), rtol=1e-8, atol=1e-8)  # ordinary least squares
    for alpha in (1.0, 50.0):
        np.testing.assert_allclose(one.left_out(alpha)[0], without_copies(K, Y, s, alpha, intercept), rtol=1e-8)
        np.testing.assert_allclose(one.slack(alpha), other.slack(alpha), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(one.leverage(alpha), other.leverage(alpha), rtol=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
def test_a_weight_is_a_repetition(intercept):
    s = WEIGHTS["whole"].astype(int)
    alphas = [0.0, 1e-6, 0.1, 10.0]
    repeated = np.repeat(np.arange(14), s)
    long = dual(K[np.ix_(repeated, repeated)], Y[repeated], np.ones(len(repeated)), intercept)
    short = dual(K, Y, s, intercept)
    np.testing.assert_allclose(long.left_out(alphas), short.left_out(alphas)[:, repeated], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(long.errors(alphas), short.errors(alphas), rtol=1e-7)
    np.testing.assert_allclose(long.leverage(0.1), short.leverage(0.1)[repeated], rtol=1e-9)
    features = np.repeat(X, s, axis=0)
    alphas = [1e-6, 0.1]
    np.testing.assert_allclose(
        primal(features, Y[repeated], np.ones(len(repeated)), intercept).errors(alphas),
        primal(X, Y, s, intercept).errors(alphas),
        rtol=1e-9,
    )


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("copied", [[0, 1], [0, 0, 0, 1, 2, 2]])
def test_duplicates_without_a_penalty_have_the_limit(copied, intercept):
    """Where two rows are equal and alpha is zero the matrix is singular: the limit alpha -> 0 holds for every row."""
    rows = np.concatenate([np.arange(6), copied])
    K6, Y6, ones = K[np.ix_(rows, rows)], Y[rows, :1].copy(), np.ones(len(rows))
    Y6[6:] += 0.5  # equal rows differ in y
    wanted = without_copies(K6, Y6, ones, 0.0, intercept, predict_precisely)
    np.testing.assert_allclose(dual(K6, Y6, ones, intercept).left_out(0.0)[0, :, 0], wanted[:, 0], rtol=1e-9)
    tiny = dual(K6, Y6, ones, intercept).left_out(1e-20)[0, :, 0]  # less than rounding: as good as zero
    np.testing.assert_allclose(tiny, wanted[:, 0], rtol=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("exponent", [-10, -5])
def test_ill_conditioned_matrices_to_the_last_reachable_digit(exponent, intercept):
    x = np.linspace(0, 1, 12)[:, None]
    K = Gaussian(1.0)(x)  # eigenvalues fall far below rounding
    Y = np.exp(x) + 0.1 * np.random.default_rng(1).normal(size=(12, 1))
    s = np.where(np.arange(12) % 3 == 0, 2.0, 1.0)
    alpha = 10.0**exponent * np.linalg.eigvalsh(K)[-1]
    found = dual(K, Y, s, intercept).left_out(alpha)[0, :, 0]
    wanted = without_copies(K, Y, s, alpha, intercept, predict_precisely)[:, 0]
    assert np.abs(found - wanted).max() <= 10 * np.finfo(float).eps * 10.0**-exponent * np.abs(wanted).max()


def test_scikit_learn_agrees_without_an_intercept():
    s = WEIGHTS["fractions"]
    found = dual(K, Y, np.ones(14), False).left_out([1e-3, 1.0])
    for alpha, errors in zip([1e-3, 1.0], found, strict=True):
        wanted = cross_val_predict(KernelRidge(alpha=alpha, kernel="precomputed"), K, Y, cv=LeaveOneOut())
        np.testing.assert_allclose(Y - errors, wanted, rtol=1e-9, atol=1e-9)
    weighted = np.maximum(s - 1, 0) * (np.arange(14) == 2) + s * (np.arange(14) != 2)  # row 2 has 3.3 copies or so
    model = KernelRidge(alpha=0.3, kernel="precomputed").fit(K, Y, sample_weight=weighted)
    np.testing.assert_allclose(Y[2] - dual(K, Y, s, False).left_out(0.3)[0, 2], model.predict(K[2:3])[0], rtol=1e-9)


def test_scikit_learn_s_generalized_path_agrees():
    """RidgeCV leaves one out in closed form too, in the primal, for weights of one."""
    alphas = [0.01, 1.0, 30.0]
    model = RidgeCV(alphas, store_cv_results=True).fit(X, Y)
    one, other = primal(X, Y, np.ones(14), True), dual(X @ X.T, Y, np.ones(14), True)
    wanted = model.cv_results_.mean(axis=0).T
    np.testing.assert_allclose(one.errors(alphas), wanted, rtol=1e-9)
    np.testing.assert_allclose(other.errors(alphas), wanted, rtol=1e-9)


def test_leverage_is_the_derivative_of_the_prediction():
    s, alpha, step = WEIGHTS["fractions"], 0.3, 1.0
    for build, data in ((dual, K), (primal, X)):
        here = build(data, Y, s, True)
        for i in (0, 7):
            moved = Y.copy()
            moved[i] += step / s[i]  # one of s copies: their mean moves by that
            there = build(data, moved, s, True)
            before, after = (Y[i] - _residuals(at, s, alpha)[i] for at in (here, there))
            gained = after + (moved - Y)[i] - before  # the residuals were taken from the moved y
            np.testing.assert_allclose(gained, here.leverage(alpha)[i], rtol=1e-9)
        np.testing.assert_allclose(here.slack(alpha), 1 - s * here.leverage(alpha), rtol=1e-9)
        assert 1 < (s * here.leverage(alpha)).sum() < 14


def _residuals(at, s, alpha):
    """y - prediction, from the coefficients of the side."""
    x = at.coefficients(np.full(2, alpha))
    left = alpha * x if hasattr(at, "pull") else at.targets - at.features @ x
    return left / np.sqrt(s)[:, None]


def test_coefficients_have_a_penalty_an_output():
    s, alphas = WEIGHTS["fractions"], np.array([0.1, 5.0])
    both = dual(K, Y, s, True).coefficients(alphas)
    for t in range(2):
        alone = dual(K, Y[:, [t]], s, True).coefficients([alphas[t]])
        np.testing.assert_allclose(both[:, t], alone[:, 0], rtol=1e-10, atol=1e-12)


def test_a_row_that_only_itself_explains_has_no_left_out_prediction():
    """One column is not zero at row 3 alone: without a penalty the primal can tell nothing of it, whatever its y."""
    Phi = np.column_stack([X, np.arange(14) == 3]).astype(float)
    at = primal(Phi, Y, np.ones(14), False)
    errors = at.left_out([0.0, 1.0])
    assert np.isposinf(errors[0, 3]).all()
    assert np.isfinite(np.delete(errors[0], 3, axis=0)).all()
    assert np.isfinite(errors[1]).all()
    assert np.isposinf(at.errors([0.0, 1.0])[0]).all()
    assert (at.path([0.0, 1.0]).best == 1).all()
    # The dual takes the limit alpha -> 0, where that column has the coefficient 0.
    rest = np.delete(np.arange(14), 3)
    other = dual(Phi @ Phi.T, Y, np.ones(14), False).left_out(0.0)[0, 3]
    np.testing.assert_allclose(other, Y[3] - X[3] @ np.linalg.lstsq(X[rest], Y[rest], rcond=None)[0], rtol=1e-9)


def test_groups_and_tiles_change_nothing(monkeypatch):
    at, alphas = dual(K, Y, WEIGHTS["fractions"], True), np.geomspace(1e-5, 1e2, 7)
    whole, errors = at.left_out(alphas), at.errors(alphas)
    monkeypatch.setattr(side, "MAX_RIGHT_SIDES", 5)  # two penalties of two outputs at once
    monkeypatch.setattr(side, "TILE_NUMBERS", 1)
    monkeypatch.setattr(side, "MIN_TILE_ROWS", 4)
    np.testing.assert_allclose(at.left_out(alphas), whole, rtol=1e-11)
    np.testing.assert_allclose(at.errors(alphas), errors, rtol=1e-11)
    s = WEIGHTS["fractions"]
    np.testing.assert_allclose(errors, np.einsum("i,aio->ao", s, whole**2) / s.sum(), rtol=1e-11)


# -- labels -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
def test_wrong_labels_are_those_of_refits(classes):
    random = np.random.default_rng(3)
    labels = random.integers(classes, size=14)
    coded = np.where(labels[:, None] == np.arange(classes), 1.0, -1.0)[:, 1 if classes == 2 else 0 :]
    s, alphas = WEIGHTS["whole"], np.array([1e-3, 0.1, 3.0, 100.0])
    path = dual(K, coded, s, True).path(alphas, labels)
    for a, alpha in enumerate(alphas):
        decisions = coded - without_copies(K, coded, s, alpha, True)
        decided = (decisions[:, 0] > 0).astype(int) if classes == 2 else decisions.argmax(axis=1)
        assert path.wrong[a] == pytest.approx(s[decided != labels].sum() / s.sum())
    assert len(np.unique(path.best)) == 1
    np.testing.assert_allclose(path.errors, dual(K, coded, s, True).errors(alphas))


def test_no_prediction_is_a_wrong_label():
    Phi = np.column_stack([X, np.arange(14) == 3]).astype(float)
    labels = (np.arange(14) >= 7).astype(int)
    path = primal(Phi, 2.0 * labels[:, None] - 1, np.ones(14), False).path([0.0], labels)
    errors = primal(Phi, 2.0 * labels[:, None] - 1, np.ones(14), False).left_out(0.0)[0, :, 0]
    others = np.delete(np.arange(14), 3)
    wrong = ((2 * labels - 1 - errors > 0) != labels)[others].sum()
    assert path.wrong[0] == pytest.approx((wrong + 1) / 14)


# -- the path ---------------------------------------------------------------------------------------------------------


def test_the_best_is_the_least_and_of_equal_ones_the_largest():
    alphas = np.array([1.0, 100.0, 0.1, 10.0])
    assert Path(alphas, np.array([[3.0], [2.0], [2.0], [4.0]])).alpha == [100.0]
    assert Path(alphas, np.array([[3.0], [2.0 + 1e-12], [2.0], [4.0]])).alpha == [100.0]
    assert Path(alphas, np.array([[3.0], [2.001], [2.0], [4.0]])).alpha == [0.1]
    assert Path(alphas, np.array([[1e-40], [1e-33], [0.0], [4.0]])).alpha == [100.0]
    assert Path(alphas, np.full((4, 1), np.inf)).alpha == [100.0]
    assert Path(alphas, np.array([[np.inf], [np.inf], [7.0], [np.nan]])).alpha == [0.1]
    several = Path(alphas, np.array([[3.0, 0.0], [2.0, 1.0], [1.0, 0.5], [4.0, 1.0]]))
    assert several.best.tolist() == [2, 0]
    assert several.alpha.tolist() == [0.1, 1.0]


def test_labels_have_one_penalty_for_all_outputs():
    alphas = np.array([1.0, 100.0, 0.1, 10.0])
    errors = np.array([[3.0, 0.0], [2.0, 1.0], [1.0, 0.5], [0.0, 9.0]])
    assert Path(alphas, errors, np.array([0.1, 0.1, 0.1, 0.2])).best.tolist() == [2, 2]
    assert Path(alphas, errors, np.array([0.1, 0.1, 0.2, 0.2])).best.tolist() == [1, 1]  # equal sums: the larger
    assert Path(alphas, errors, np.array([0.1, 0.2, 0.2, 0.0])).best.tolist() == [3, 3]


def test_the_path_speaks():
    alphas = np.array([0.5, 2.0])
    path = Path(alphas, np.array([[3.0, 1.0], [2.0, 4.0]]))
    assert str(path) == "2 alphas from 0.5 to 2: least error 2, 1 at alpha 2, 0.5"
    assert path.table().splitlines() == [
        "      alpha      error 0      error 1",
        "        0.5            3            1*",
        "          2            2*           4",
    ]
    labelled = Path(alphas, np.array([[3.0, 1.0], [2.0, 4.0]]), np.array([0.25, 0.5]))
    assert str(labelled) == "2 alphas from 0.5 to 2: fewest wrong labels 0.25 at alpha 0.5"
    assert labelled.table().splitlines()[1] == "        0.5         0.25            3*           1*"
    assert str(Path(alphas[:1], np.ones((1, 5)))).startswith("1 alpha from 0.5 to 0.5: least error 1, 1, 1, ...")


def test_default_penalties():
    alphas = default_alphas(7.0)
    assert len(alphas) == 45
    np.testing.assert_allclose(alphas[[0, -1]], [7e-10, 70.0])
    np.testing.assert_allclose(alphas[1:] / alphas[:-1], 10 ** (11 / 44))
    np.testing.assert_allclose(default_alphas(0.0, 3)[[0, -1]], [1e-10, 10.0])


# -- the public door --------------------------------------------------------------------------------------------------


def test_loo_path_equals_refits():
    s = WEIGHTS["fractions"]
    alphas = [1e-3, 0.2, 10.0]
    path = loo_path(Gaussian(0.7), X, Y, alphas, sample_weight=s)
    for a, alpha in enumerate(alphas):
        errors = without_copies(K, Y, s, alpha, True)
        np.testing.assert_allclose(path.errors[a], s @ errors**2 / s.sum(), rtol=1e-9)
    for same in (
        loo_path("gaussian(lengthscale=0.7)", X.tolist(), Y.tolist(), alphas, sample_weight=s),
        loo_path("precomputed", K, Y, alphas, sample_weight=s),
    ):
        np.testing.assert_allclose(same.errors, path.errors, rtol=1e-10)
    alone = loo_path(Gaussian(0.7), X, Y[:, 0], alphas, sample_weight=s, fit_intercept=False)
    wanted = without_copies(K, Y[:, :1], s, 0.2, False)
    np.testing.assert_allclose(alone.errors[1], s @ wanted**2 / s.sum(), rtol=1e-9)


def test_loo_path_from_the_median_counts_copies():
    s = np.array([1, 0, 2, 1, 1, 1, 3, 1, 1, 1, 0, 1, 1, 1])
    rows = np.repeat(np.arange(14), s)
    short = loo_path("gaussian('median')", X, Y, sample_weight=s)
    long = loo_path("gaussian('median')", X[rows], Y[rows])
    assert len(short.alphas) == 45
    given = loo_path("gaussian('median')", X[rows], Y[rows], short.alphas)
    np.testing.assert_allclose(given.errors, short.errors, rtol=1e-6)
    assert short.best.tolist() == long.best.tolist()
    np.testing.assert_allclose(short.alphas[-1], 10 * _largest(X[rows]))


def _largest(rows):
    kernel = Gaussian("median").resolve(rows)
    K = kernel(rows)
    P = np.eye(len(K)) - 1 / len(K)
    return np.linalg.eigvalsh(P @ K @ P)[-1]


def test_rows_of_weight_zero_are_dropped():
    s = np.ones(14)
    s[[2, 9]] = 0.0
    kept = s > 0
    for kernel, rows, few in ((Gaussian(0.7), X, X[kept]), ("precomputed", K, K[np.ix_(kept, kept)])):
        np.testing.assert_array_equal(
            loo_path(kernel, rows, Y, sample_weight=s).errors, loo_path(kernel, few, Y[kept]).errors
        )


def test_single_precision_is_computed_in_double():
    narrow = X.astype(np.float32)
    path = loo_path(Gaussian(0.7), narrow, Y, [0.1])
    np.testing.assert_allclose(path.errors, loo_path(Gaussian(0.7), narrow.astype(float), Y, [0.1]).errors, rtol=1e-12)
    assert path.errors.dtype == np.float64


def test_frames_and_sparse_tables():
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "name": list("abcdefghijklmn")})
    wanted = loo_path(Gaussian(0.7), X, Y, [0.1]).errors
    np.testing.assert_allclose(loo_path(Gaussian(0.7).on(["a", "b"]), frame, Y, [0.1]).errors, wanted, rtol=1e-12)
    for table in (csr_array(X), csr_matrix(X)):
        found = loo_path(Gaussian(0.7), table, Y, [0.1], sample_weight=[0] * 4 + [1] * 10).errors
        np.testing.assert_allclose(found, loo_path(Gaussian(0.7), X[4:], Y[4:], [0.1]).errors, rtol=1e-12)


def test_nothing_of_the_size_of_the_matrix_is_held():
    random = np.random.default_rng(0)
    spectrum = Spectrum(random.uniform(size=1500), random.normal(size=(1500, 1500)))  # any numbers will do
    centering = Centering.of(1500, None, intercept=True)
    at = DualSide(spectrum, centering, 1.0, random.normal(size=(1500, 3)))
    at.errors([1.0])
    tracemalloc.start()
    at.errors(default_alphas(1.0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < spectrum.vectors.nbytes / 3  # the coefficients of all penalties, and some tiles


def test_the_data_stays_as_it_was():
    mine, targets = K.copy(), Y.copy()
    loo_path("precomputed", mine, targets, [0.1])
    np.testing.assert_array_equal(mine, K)
    np.testing.assert_array_equal(targets, Y)


@pytest.mark.parametrize("units", [0, 1])
@pytest.mark.parametrize("constant", [3.0, 0.1, 0.7e8])
def test_a_constant_kernel_leaves_the_means(constant, units):
    """With an intercept nothing but rounding is left of a constant matrix, and no penalty fits that."""
    s, last = WEIGHTS["fractions"], np.random.default_rng(0).integers(units + 1, size=(14, 14))  # place
    path = loo_path("precomputed", constant * (1 + np.finfo(float).eps * (last + last.T)), Y, sample_weight=s)
    means = without_copies(np.zeros((14, 14)), Y, s, 1.0, True)
    wanted = np.broadcast_to(s @ means**2 / s.sum(), (45, 2))
    np.testing.assert_allclose(path.errors, wanted, rtol=10 * 14 * 2.3e-16 / 1e-10)  # relative to the least alpha


def test_one_row_of_many_copies_is_enough():
    """Three copies are three rows; leaving one out leaves the others, which know its y."""
    one = loo_path(Gaussian(1.0), [[1.0]], [2.0], [0.1], sample_weight=[3])
    three = loo_path(Gaussian(1.0), [[1.0]] * 3, [2.0] * 3, [0.1])
    np.testing.assert_allclose(one.errors, [[0.0]], atol=1e-25)
    np.testing.assert_allclose(three.errors, [[0.0]], atol=1e-25)


def test_tiny_penalties_warn_with_the_condition_number():
    x = np.linspace(0, 1, 16)[:, None]
    with pytest.warns(NumericalWarning, match=r"condition number of .*e\+1\d at 2 of 3 alphas, up to 1\.0e-13"):
        loo_path(Gaussian(1.0), x, x[:, 0], [0.0, 1e-13, 1.0])
    loo_path(Linear(), x, x[:, 0], [0.0])  # singular, and well separated: ordinary least squares


BAD = {
    "no rows": (np.empty((0, 2)), np.empty(0), {}, "at least one row and one column"),
    "one row": (X[:1], Y[:1], {}, "at least two rows; got one row of weight above 0"),
    "one row of half": (X[:1], Y[:1], {"sample_weight": [0.5]}, "at least two rows; got one row"),
    "one row left": (X[:2], Y[:2], {"sample_weight": [0, 1]}, "at least two rows; got one row"),
    "no row left": (X, Y, {"sample_weight": np.zeros(14)}, "positive sum; all are zero"),
    "negative weight": (X, Y, {"sample_weight": -np.ones(14)}, "weights of at least zero; that of row 0 is -1"),
    "few weights": (X, Y, {"sample_weight": np.ones(3)}, r"one weight per row, 14 in all; .* shape \(3,\)"),
    "few targets": (X, Y[:3], {}, r"one target per row, 14 in all; got y of shape \(3, 2\)"),
    "deep targets": (X, Y[:, :, None], {}, r"got y of shape \(14, 2, 1\)"),
    "no outputs": (X, Y[:, :0], {}, r"got y of shape \(14, 0\)"),
    "NaN target": (X, np.where(np.arange(14) == 4, np.nan, 1.0), {}, "finite targets; y holds nan in row 4"),
    "words": (X, np.full(14, "a"), {}, "targets that are numbers"),
    "NaN": (np.where(np.arange(28).reshape(14, 2) == 7, np.nan, X), Y, {}, "holds nan in row 3"),
    "negative alpha": (X, Y, {"alphas": [1.0, -2.0]}, "at least 0; got -2"),
    "no alphas": (X, Y, {"alphas": []}, r"alphas of shape \(0,\)"),
    "alphas in words": (X, Y, {"alphas": "auto"}, "finite numbers of at least 0; got alphas of shape"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named(name):
    rows, targets, options, message = BAD[name]
    with pytest.raises(InputError, match=message):
        loo_path(Gaussian(1.0), rows, targets, **options)


def test_bad_kernels_and_matrices_are_named(monkeypatch):
    with pytest.raises(KernelError, match="loo_path needs a kernel, its text, or 'precomputed'; got 3"):
        loo_path(3, X, Y)
    with pytest.raises(InputError, match="loo_path needs as many rows as columns"):
        loo_path("precomputed", X, Y)
    with pytest.raises(InputError, match="loo_path needs a symmetric matrix"):
        loo_path("precomputed", K + np.triu(K), Y)
    with pytest.raises(InputError, match=r"K is indefinite: smallest eigenvalue -.*mercer\.repair"):
        loo_path("precomputed", np.sqrt(2 - 2 * K) + np.eye(14) * 0.1, Y)
    with pytest.raises(InputError, match="finite values of the kernel"), pytest.warns(NumericalWarning):
        loo_path("polynomial(degree=9)", 1e40 * X, Y)
    monkeypatch.setattr("mercer.compute.runtime.memory.free_memory", lambda: 1000)
    with pytest.raises(BudgetError, match="an eigendecomposition of 14 x 14 numbers"):
        loo_path(Gaussian(1.0), X, Y)


def test_tiles_are_small_however_few_features_there_are():
    """Rows of a tile were counted by features alone: 45 penalties and 8 outputs made tables of 120 times as much."""
    rng = np.random.default_rng(0)
    Z, targets = rng.normal(size=(50_000, 3)), rng.normal(size=(50_000, 8))
    pieces = primal(Z, targets, np.ones(len(Z)), intercept=False).pieces(np.logspace(-5, 5, 45))
    sizes = [errors.size for _, _, errors in pieces]
    assert sum(sizes) == 45 * targets.size
    assert max(sizes) <= TILE_NUMBERS
