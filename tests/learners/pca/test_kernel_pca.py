"""Kernel principal components, against scikit-learn's, and against the definition."""

import pickle
import signal
import tracemalloc
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as Reference
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from mercer.errors import BudgetError, InputError, NumericalWarning
from mercer.kernels import Gaussian, Linear, Polynomial, ProductLaplace, Sigmoid
from mercer.learners.pca import exact
from mercer.learners.pca.kernel_pca import KernelPCA
from mercer.learners.run.fit_run import watched
from mercer.learners.streaming import source_stream
from mercer.learners.streaming.moments import Moments
from mercer.lifts import Nystrom
from mercer.lifts import Polynomial as PolynomialLift
from mercer.operators import Gram
from mercer.sources import Arrays, Batches


def draw(n=90, d=4, seed=0):
    """A bent cloud."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * np.linspace(1.5, 0.5, d)
    X[:, 1] += 0.5 * X[:, 0] ** 2
    return X


def centred(K):
    K = K - K.mean(axis=0)
    return K - K.mean(axis=1, keepdims=True)


def same_up_to_sign(found, wanted, atol):
    signs = np.sign((found * wanted).sum(axis=0))
    assert_allclose(found * signs, wanted, atol=atol)
    return signs


def gaussian(gamma):
    return Gaussian(1 / np.sqrt(2 * gamma))


def laplacian(x, z):
    return np.exp(-0.5 * np.abs(x - z).sum())


# -- scikit-learn -----------------------------------------------------------------------------------------------------

SETTINGS = {
    "linear, all": (Linear(), {"kernel": "linear"}, None, {}, "features"),
    "linear, exact": (Linear(), {"kernel": "linear"}, 3, {"method": "exact"}, "exact"),
    "linear, lift": (PolynomialLift(1), {"kernel": "linear"}, 4, {}, "features"),
    "quadratic, all": (Polynomial(2), {"kernel": "poly", "degree": 2, "gamma": 1}, None, {}, "features"),
    "quadratic, krylov": (
        Polynomial(2), {"kernel": "poly", "degree": 2, "gamma": 1}, 5, {"method": "krylov"}, "krylov",
    ),
    "cubic, exact": (Polynomial(3), {"kernel": "poly", "gamma": 1}, 6, {"method": "exact"}, "exact"),
    "gaussian, wide": (gaussian(0.01), {"kernel": "rbf", "gamma": 0.01}, 4, {}, "exact"),
    "gaussian": (gaussian(0.3), {"kernel": "rbf", "gamma": 0.3}, 6, {}, "exact"),
    "gaussian, all": (gaussian(0.3), {"kernel": "rbf", "gamma": 0.3}, None, {}, "exact"),
    "gaussian, narrow": (gaussian(3.0), {"kernel": "rbf", "gamma": 3.0}, 6, {}, "exact"),
    "gaussian, krylov": (gaussian(0.3), {"kernel": "rbf", "gamma": 0.3}, 6, {"method": "krylov"}, "krylov"),
    "gaussian, landmarks": (
        gaussian(0.3), {"kernel": "rbf", "gamma": 0.3}, 5, {"method": "landmarks", "n_landmarks": 90}, "landmarks",
    ),
    "laplacian": (ProductLaplace(2.0), {"kernel": laplacian}, 5, {}, "exact"),
    "laplacian, krylov": (
        ProductLaplace(2.0), {"kernel": laplacian}, 5, {"method": "krylov"}, "krylov",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("kind", ["float64", "float32", "sparse"])
def test_scores_are_those_of_scikit_learn(name, kind):
    kernel, theirs, count, settings, way = SETTINGS[name]
    X, new = (rows.astype(np.float32).astype(np.float64) for rows in (draw(), draw(30, seed=1)))
    if kind == "sparse":
        if "laplacian" in name:
            pytest.skip("this kernel takes no sparse rows")
        X, new = (np.where(np.abs(rows) < 0.5, 0.0, rows) for rows in (X, new))
    wanted = Reference(n_components=count, coef0=1, eigen_solver="dense", **theirs).fit(X)
    given, asked = {
        "float64": (X, new),
        "float32": (X.astype(np.float32), new.astype(np.float32)),
        "sparse": (sp.csr_array(X), sp.csr_array(new)),
    }[kind]
    model = KernelPCA(kernel, n_components=count, tol=1e-11, random_state=0, **settings)
    scores = model.fit_transform(given)
    k = model.n_components_
    known = kind != "sparse" or isinstance(kernel, PolynomialLift)  # the features of sparse rows may be too many
    assert model.plan_.method == ("exact" if way == "features" and not known else way)
    assert model.converged_
    assert scores.dtype == given.dtype
    scale = np.sqrt(wanted.eigenvalues_[0])
    tight = 1e-5 if kind == "float32" else 1e-7
    assert_allclose(model.eigenvalues_, wanted.eigenvalues_[:k], rtol=1e-8, atol=1e-11 * wanted.eigenvalues_[0])
    assert abs(k - len(wanted.eigenvalues_)) <= (3 if count is None else 0)  # who is rounding is a question of taste
    sure = wanted.eigenvalues_[:k] > 1e-5 * wanted.eigenvalues_[0]
    signs = same_up_to_sign(scores[:, sure], wanted.transform(X)[:, :k][:, sure], tight * scale)
    assert_allclose(model.transform(asked)[:, sure] * signs, wanted.transform(new)[:, :k][:, sure], atol=tight * scale)
    rounding = 1e-13 * model.eigenvalues_[0] / np.sqrt(model.eigenvalues_)
    rounding += scale * np.finfo(given.dtype).eps
    assert (np.abs(model.transform(given) - scores) <= rounding).all()


@pytest.mark.parametrize("method", ["auto", "exact", "krylov"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_matrix_of_similarities_gives_the_same(method, dtype):
    X, new = draw(), draw(30, seed=1)
    K, K_new = (gaussian(0.3)(rows, X).astype(dtype) for rows in (X, new))
    model = KernelPCA("precomputed", n_components=5, method=method, tol=1e-10, random_state=0)
    scores = model.fit_transform(K)
    wanted = Reference(n_components=5, kernel="precomputed", eigen_solver="dense").fit(K.astype(float))
    tight = 1e-8 if dtype == np.float64 else 1e-5
    signs = same_up_to_sign(scores, wanted.transform(K.astype(float)), tight)
    assert_allclose(model.transform(K_new) * signs, wanted.transform(K_new.astype(float)), atol=tight)
    assert scores.dtype == model.transform(K_new).dtype == dtype
    assert_allclose(model.eigenvalues_, wanted.eigenvalues_, rtol=10 * tight)


def test_similarities_of_new_rows_may_be_a_memory_map(tmp_path):
    X, new = draw(), draw(30, seed=1)
    model, across = KernelPCA("precomputed", n_components=5).fit(gaussian(0.3)(X)), gaussian(0.3)(new, X)
    np.save(tmp_path / "across.npy", across)
    mapped = np.load(tmp_path / "across.npy", mmap_mode="r")
    assert_array_equal(model.transform(mapped), model.transform(across))


def test_components_of_columns_are_plain_principal_components():
    X = draw(200) + 1e5
    model = KernelPCA("linear").fit(X)
    left, sizes, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    assert_allclose(model.eigenvalues_, sizes**2, rtol=1e-8)
    assert_allclose(model.explained_variance_ratio_, sizes**2 / (sizes**2).sum(), rtol=1e-8)
    same_up_to_sign(model.transform(X), left * sizes, 1e-7)
    assert model.unexplained_ == pytest.approx(0.0, abs=1e-12)


@pytest.fixture
def seen(monkeypatch):
    """The types of the matrices of which leading eigenvectors were looked for, in their order."""
    found, true = [], exact.certified

    def noted(A, *arguments):
        found.append(A.dtype.name)
        return true(A, *arguments)

    monkeypatch.setattr(exact, "certified", noted)
    return found


def single_rows(lengthscale, **settings):
    """Components of 2,100 rows of float32, and of the same numbers in float64."""
    X = draw(2100).astype(np.float32)
    model = KernelPCA(Gaussian(lengthscale), n_components=6, random_state=0, **settings)
    return clone(model).fit(X), model.fit(X.astype(np.float64))


def test_a_matrix_of_float32_gives_values_of_float64(seen):
    narrow, wide = single_rows(1.5)
    assert seen == ["float32", "float64"]
    assert narrow.converged_
    assert narrow.residuals_.max() < 1e-6
    assert_allclose(narrow.eigenvalues_, wide.eigenvalues_, rtol=1e-10)
    one, other = narrow.eigenvectors_, wide.eigenvectors_
    assert np.linalg.norm(one - other @ (other.T @ one), 2) < 1e-5
    assert_allclose(one.T @ one, np.eye(6), atol=1e-12)
    assert_allclose(narrow.unexplained_, wide.unexplained_, rtol=1e-9)
    assert_allclose(narrow.transform(draw(30, seed=1)), wide.transform(draw(30, seed=1)), atol=1e-4)


@pytest.mark.parametrize(("lengthscale", "settings", "types"), [
    (1.5, {"tol": 1e-8}, ["float64", "float64"]),
    (100.0, {}, ["float32", "float64", "float64"]),  # the last value is 1e-7 of the first: noise in float32
])  # fmt: skip
def test_what_float32_cannot_give_is_found_in_float64(seen, lengthscale, settings, types):
    narrow, wide = single_rows(lengthscale, **settings)
    assert seen == types
    assert_array_equal(narrow.eigenvalues_, wide.eigenvalues_)
    assert_array_equal(narrow.eigenvectors_, wide.eigenvectors_)


# -- laws -------------------------------------------------------------------------------------------------------------

WAYS = {
    "exact": {"method": "exact"},
    "krylov": {"method": "krylov"},
    "landmarks": {"method": "landmarks", "n_landmarks": 60},
    "features": {"kernel": Polynomial(2)},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_same_rows_have_the_same_scores(way, dtype):
    X = draw(300).astype(dtype)
    model = KernelPCA(**{"kernel": "gaussian(1.5)", "n_components": 7, "random_state": 0, **WAYS[way]})
    scores = model.fit_transform(X)
    assert model.plan_.method == way
    unit = np.finfo(dtype).eps * np.abs(scores).max()
    assert_allclose(model.transform(X), scores, atol=300 * unit)
    assert_allclose(model.transform(X[40:41]), scores[40:41], atol=300 * unit)
    assert_array_equal(clone(model).fit(X).transform(X), model.transform(X))
    assert_array_equal(pickle.loads(pickle.dumps(model)).transform(X), model.transform(X))  # noqa: S301


@pytest.mark.parametrize("way", WAYS)
def test_scores_are_centred_and_apart_and_as_long_as_the_eigenvalues_say(way):
    X = draw(300)
    model = KernelPCA(**{"kernel": "gaussian(1.5)", "n_components": 7, "random_state": 0, "tol": 1e-11, **WAYS[way]})
    scores = model.fit_transform(X)
    assert_allclose(scores.mean(axis=0), 0.0, atol=1e-10)
    assert_allclose(scores.T @ scores, np.diag(model.eigenvalues_), atol=1e-8 * model.eigenvalues_[0])
    assert (np.diff(model.eigenvalues_) <= 0).all()
    assert_allclose(model.explained_variance_ * 300, model.eigenvalues_)
    assert model.residuals_.shape == (7,)
    assert (model.residuals_ <= 1e-10).all()


@pytest.mark.parametrize("way", ["exact", "krylov"])
def test_eigenvectors_are_those_of_the_centred_matrix(way):
    X = draw(200)
    model = KernelPCA("gaussian(1.5)", n_components=6, method=way, tol=1e-11, random_state=0).fit(X)
    K, V = centred(Gaussian(1.5)(X)), model.eigenvectors_
    assert_allclose(V.T @ V, np.eye(6), atol=1e-9)
    assert_allclose(V.sum(axis=0), 0.0, atol=1e-12)
    assert_allclose(K @ V, V * model.eigenvalues_, atol=1e-9 * model.eigenvalues_[0])


def test_residuals_are_true_where_few_products_are_allowed():
    X = draw(400)
    with pytest.warns(NumericalWarning, match="KernelPCA: After 2 products the largest residual is .*e-.* not within"):
        model = KernelPCA("gaussian(0.7)", n_components=10, method="krylov", max_iter=2, tol=1e-9, random_state=0).fit(
            X
        )
    assert not model.converged_
    K, V = centred(Gaussian(0.7)(X)), model.eigenvectors_
    left = np.linalg.norm(K @ V - V * model.eigenvalues_, axis=0) / model.eigenvalues_[0]
    assert_allclose(model.residuals_, left, rtol=1e-3, atol=1e-9)
    assert left.max() > 1e-9


@pytest.mark.parametrize("way", WAYS)
def test_the_largest_entry_points_up(way):
    X = draw(300)
    settings = {"kernel": "gaussian(1.5)", "n_components": 7, "random_state": 0, **WAYS[way]}
    scores = KernelPCA(**settings).fit_transform(X)
    assert (scores[np.abs(scores).argmax(axis=0), np.arange(7)] > 0).all()


@pytest.mark.parametrize("settings", [{"method": "exact"}, {"method": "krylov"}, {"kernel": "linear"}], ids=str)
def test_of_equal_entries_the_first_decides(settings):
    """Rows in pairs x, -x: every component has entries of both signs that are equal in size."""
    half = draw(40)
    for X in (np.vstack([half, -half]), np.vstack([-half, half])):
        model = KernelPCA(**{"kernel": "gaussian(2)", "n_components": 3, "random_state": 0, **settings})
        scores = model.fit_transform(X)
        sizes = np.abs(scores)
        first = np.argmax(sizes > (1 - 1e-6) * sizes.max(axis=0), axis=0)
        assert (scores[first, np.arange(3)] > 0).all()


def test_all_ways_agree_on_signs():
    X = draw(300)
    wanted = KernelPCA("gaussian(1.5)", n_components=4, method="exact").fit_transform(X)
    for settings in ({"method": "krylov", "tol": 1e-10}, {"method": "landmarks", "n_landmarks": 300}):
        found = KernelPCA("gaussian(1.5)", n_components=4, random_state=0, **settings).fit_transform(X)
        assert_allclose(found, wanted, atol=1e-6)


# -- the certificate ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{"method": "exact"}, {"method": "krylov"}], ids=str)
@pytest.mark.parametrize("kernel", [Gaussian(1.5), Polynomial(3), Linear() + Gaussian(0.5)], ids=str)
def test_the_certificate_is_the_trace_that_is_left(settings, kernel):
    X = draw(150)
    model = KernelPCA(kernel, n_components=5, tol=1e-10, random_state=0, **settings).fit(X)
    values = np.linalg.eigvalsh(centred(kernel(X)))[::-1]
    assert_allclose(model.explained_variance_ratio_, values[:5] / values.sum(), rtol=1e-9)
    assert model.unexplained_ == pytest.approx(values[5:].sum() / values.sum(), rel=1e-8)


def test_what_landmarks_miss_is_unexplained():
    X = draw(400)
    K = Gaussian(0.8)(X)
    total = np.trace(centred(K))
    exact = KernelPCA("gaussian(0.8)", n_components=5, method="exact").fit(X).unexplained_
    for rank in (10, 40, 160):
        model = KernelPCA("gaussian(0.8)", n_components=5, method="landmarks", n_landmarks=rank, random_state=0).fit(X)
        L = model.lift_.landmarks_
        lost = np.trace(K) - np.linalg.norm(model.lift_.transform(X)) ** 2
        truth = 1 - model.eigenvalues_.sum() / total
        assert len(L) == rank
        assert truth - 1e-12 <= model.unexplained_ <= truth + lost / total
        assert model.unexplained_ >= exact - 1e-12
        assert (model.eigenvalues_ <= np.linalg.eigvalsh(centred(K))[::-1][:5] + 1e-9).all()
    all_of_them = KernelPCA("gaussian(0.8)", method="landmarks", n_landmarks=40, random_state=0).fit(X)
    assert all_of_them.n_components_ == 40
    assert all_of_them.unexplained_ > 0.05  # in the features nothing is left


def test_all_components_explain_everything():
    model = KernelPCA("gaussian(1)").fit(draw(80))
    assert model.n_components_ == 79
    assert model.unexplained_ == pytest.approx(0.0, abs=1e-12)


# -- nothing of n^2 ---------------------------------------------------------------------------------------------------


def test_products_store_nothing_of_the_size_of_the_matrix(monkeypatch):
    n = 6000
    X = draw(n, 3)
    asked = []
    plain = Gram._block
    monkeypatch.setattr(Gram, "_block", lambda self, i, j: asked.append((i, j)) or plain(self, i, j))
    model = KernelPCA("gaussian(1)", n_components=4, method="krylov", tol=1e-4, random_state=0)
    tracemalloc.start()
    scores = model.fit_transform(X)
    fitted = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    new = model.transform(draw(5000, 3, seed=1))
    scored = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert not asked
    assert model.plan_.method == "krylov"
    assert model.converged_
    assert fitted < 8 * n * n / 3  # 288 MB
    assert scored < 8 * n * 5000 / 3
    assert scores.shape == (n, 4)
    assert new.shape == (5000, 4)


def test_products_come_in_blocks_and_few_of_them(monkeypatch):
    X, widths = draw(1500, 3), []
    plain = Gram._multiply

    def counted(self, V):
        if self.symmetric:
            widths.append((V.shape[1], str(self.dtype)))
        return plain(self, V)

    monkeypatch.setattr(Gram, "_multiply", counted)
    KernelPCA("gaussian(1.5)", n_components=5, method="krylov", random_state=0).fit(X)
    assert {width for width, _ in widths} <= set(range(1, 15))
    kinds = [kind for _, kind in widths]
    assert kinds[0] == "float32"
    assert 1 <= kinds.count("float64") <= 3
    assert widths[0][0] == widths[1][0] + 1  # the means come with the first product
    assert len(widths) <= 9


# -- rows from sources ------------------------------------------------------------------------------------------------


@pytest.fixture
def outside(monkeypatch):
    """Rows stay in their source, however few they are."""
    monkeypatch.setattr(source_stream, "MEMORY_SHARE", 0.0)


@pytest.mark.parametrize(
    "settings", [{"n_landmarks": 50}, {"kernel": Polynomial(2)}, {"kernel": PolynomialLift(2)}], ids=str
)
@pytest.mark.parametrize("kind", ["arrays", "batches", "parquet", "memmap"])
def test_rows_that_stay_in_their_source_have_the_same_components(settings, kind, tmp_path, outside):
    X = draw(700)
    model = KernelPCA(**{"kernel": "gaussian(1.5)", "n_components": 4, "random_state": 0, **settings})
    wanted = clone(model).fit(X)
    if kind == "arrays":
        source = Arrays(X)
    elif kind == "batches":
        source = Batches([(X[:300], np.arange(300)), (X[300:], np.arange(400))])  # targets are passed over
    elif kind == "parquet":
        pytest.importorskip("pyarrow", reason="Parquet files are read by pyarrow")
        pd.DataFrame(X, columns=list("abcd")).to_parquet(tmp_path / "x.parquet", row_group_size=100)
        source = tmp_path / "x.parquet"
    else:
        np.save(tmp_path / "X.npy", X)
        source = np.load(tmp_path / "X.npy", mmap_mode="r")
    found = clone(model)
    scores = found.fit_transform(source)
    assert found.plan_.method == wanted.plan_.method
    assert not hasattr(found, "X_fit_")
    assert_allclose(found.eigenvalues_, wanted.eigenvalues_, rtol=1e-9)
    assert found.unexplained_ == pytest.approx(wanted.unexplained_, abs=1e-9)
    assert_allclose(scores, wanted.transform(X), atol=1e-8)
    assert_allclose(found.transform(X) if kind != "parquet" else found.transform(source), scores, atol=1e-10)


def test_a_source_that_fits_is_read_into_memory():
    X = draw(200)
    model = KernelPCA("gaussian(1.5)", n_components=4).fit(Arrays(X))
    assert model.plan_.method == "exact"
    assert_allclose(model.transform(X), KernelPCA("gaussian(1.5)", n_components=4).fit_transform(X), atol=1e-12)


def test_what_a_source_cannot_give_is_refused(outside):
    X = draw(100)
    for method in ("exact", "krylov"):
        with pytest.raises(InputError, match=f"rows in memory for method='{method}'"):
            KernelPCA("gaussian(1)", n_components=3, method=method).fit(Arrays(X))
    with pytest.raises(
        InputError, match="rows in memory for fit_inverse_transform=True; the rows stay in their source"
    ):
        KernelPCA("gaussian(1)", n_components=3, fit_inverse_transform=True).fit(Arrays(X))
    with pytest.raises(InputError, match="rows that all count once; the source has weights"):
        KernelPCA("gaussian(1)", n_components=3).fit(Arrays(X, np.ones(100), weight=np.ones(100)))
    with pytest.raises(InputError, match="a kernel or a lift for rows from a source"):
        KernelPCA("precomputed", n_components=3).fit(Arrays(X))


# -- the way back -----------------------------------------------------------------------------------------------------


def test_a_row_is_found_again_from_its_scores():
    """A curve in three dimensions: two components tell where on it a row is."""
    random = np.random.default_rng(0)
    t = np.sort(random.uniform(-2, 2, 250))
    X = np.column_stack([t, t**2, np.sin(2 * t)])
    model = KernelPCA("gaussian(1.5)", n_components=5, fit_inverse_transform=True, random_state=0).fit(X[::2])
    back = model.inverse_transform(model.transform(X[1::2]))
    off = np.sqrt(((back - X[1::2]) ** 2).sum() / ((X - X.mean(axis=0)) ** 2).sum() * 2)
    assert off < 0.02
    assert 0.0 < model.preimage_error_ < 0.05
    assert off < 3 * model.preimage_error_ + 1e-3
    noise = KernelPCA("gaussian(1.5)", n_components=1, fit_inverse_transform=True).fit(random.normal(size=(200, 5)))
    assert 0.5 < noise.preimage_error_ < 1.1


@pytest.mark.parametrize("way", WAYS)
def test_every_way_has_a_way_back(way):
    X = draw(200, 2)
    settings = {"kernel": "gaussian(1.5)", "n_components": 5, "random_state": 0, **WAYS[way]}
    model = KernelPCA(**settings, fit_inverse_transform=True).fit(X.astype(np.float32))
    back = model.inverse_transform(model.transform(X.astype(np.float32)))
    assert back.shape == X.shape
    assert back.dtype == np.float32
    assert np.sqrt(((back - X) ** 2).sum() / ((X - X.mean(axis=0)) ** 2).sum()) < 2 * model.preimage_error_ + 0.02


def test_sparse_rows_come_back_dense():
    X = np.where(np.abs(draw(80)) < 0.5, 0.0, draw(80))
    model = KernelPCA("gaussian(2)", n_components=6, fit_inverse_transform=True).fit(sp.csr_array(X))
    other = KernelPCA("gaussian(2)", n_components=6, fit_inverse_transform=True).fit(X)
    assert_allclose(model.inverse_transform(other.transform(X)), other.inverse_transform(other.transform(X)), atol=1e-4)


def test_there_is_no_way_back_unasked():
    X = draw(50)
    model = KernelPCA("gaussian(1)", n_components=3).fit(X)
    with pytest.raises(NotFittedError, match="Fit with fit_inverse_transform=True"):
        model.inverse_transform(model.transform(X))
    assert not hasattr(model, "preimage_error_")
    model = KernelPCA("gaussian(1)", n_components=3, fit_inverse_transform=True).fit(X)
    with pytest.raises(InputError, match="scores of 3 components; got 2"):
        model.inverse_transform(np.zeros((4, 2)))
    with pytest.raises(InputError, match="rows in memory for fit_inverse_transform=True; the kernel is precomputed"):
        KernelPCA("precomputed", n_components=3, fit_inverse_transform=True).fit(np.eye(5))
    model.set_params(fit_inverse_transform=False).fit(X)
    assert not hasattr(model, "preimage_error_")


# -- stopping ---------------------------------------------------------------------------------------------------------


def interrupting(monkeypatch, at):
    """Ctrl-C in a product with the matrix of all rows."""
    plain, calls = Gram._multiply, []

    def interrupted(self, V):
        calls.append(1)
        if len(calls) == at and self.symmetric:
            signal.raise_signal(signal.SIGINT)
        return plain(self, V)

    monkeypatch.setattr(Gram, "_multiply", interrupted)
    return calls


def test_ctrl_c_keeps_what_was_found(monkeypatch):
    X = draw(500)
    calls = interrupting(monkeypatch, 6)
    model = KernelPCA("gaussian(0.8)", n_components=5, method="krylov", tol=1e-12, on_interrupt="keep", random_state=0)
    with pytest.warns(NumericalWarning, match="KernelPCA: The fit was interrupted: after . products? the largest"):
        scores = model.fit_transform(X)
    assert not model.converged_
    assert model.plan_.method == "krylov"
    monkeypatch.undo()
    wanted = KernelPCA("gaussian(0.8)", n_components=5, method="exact").fit(X)
    assert_allclose(model.eigenvalues_, wanted.eigenvalues_, rtol=0.05)
    assert_allclose(model.transform(X), scores, atol=1e-3)
    assert len(calls) < 12
    calls.clear()
    interrupting(monkeypatch, 6)
    with pytest.raises(KeyboardInterrupt):
        KernelPCA("gaussian(0.8)", n_components=5, method="krylov", tol=1e-12, random_state=0).fit(X)


def test_landmarks_that_are_stopped_have_the_components_of_the_first_rows(monkeypatch):
    X, calls, plain = draw(3000), [], Moments.add

    def interrupted(self, piece):
        plain(self, piece)
        calls.append(piece.stop)
        if len(calls) == 2:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Moments, "add", interrupted)
    monkeypatch.setattr(KernelPCA, "_choose", smaller_batches(KernelPCA._choose, 500))
    model = KernelPCA("gaussian(1.5)", n_components=3, n_landmarks=40, on_interrupt="keep", random_state=0)
    with pytest.warns(NumericalWarning, match="The fit was interrupted: the components are those of the first 1000"):
        model.fit(X)
    assert calls == [500, 1000]
    assert not model.converged_
    Z = model.lift_.transform(X[:1000])
    wanted = np.linalg.eigvalsh((Z - Z.mean(axis=0)).T @ (Z - Z.mean(axis=0)))[::-1][:3]
    assert_allclose(model.eigenvalues_, wanted, rtol=1e-9)
    assert_allclose(model.explained_variance_, wanted / 1000, rtol=1e-9)
    assert_allclose(model.transform(X[:1000]).mean(axis=0), 0.0, atol=1e-10)


def smaller_batches(plain, size):
    def smaller(*given):
        plan = plain(*given)
        return replace(plan, details=replace(plan.details, batch=size))

    return smaller


def test_a_time_limit_keeps_what_was_found(monkeypatch):
    X = draw(1500)
    plain, clock = Gram._multiply, [0.0]
    timed = partial(watched, clock=lambda: clock[0])
    monkeypatch.setattr("mercer.learners.estimator.watched", timed)

    def slow(self, V):
        clock[0] += 1.0
        return plain(self, V)

    monkeypatch.setattr(Gram, "_multiply", slow)
    model = KernelPCA(
        "gaussian(0.3)", n_components=5, method="krylov", tol=1e-12, time_limit=4.0, verbose=False, random_state=0
    )
    with pytest.warns(NumericalWarning, match="The time limit of 4 s was reached"):
        model.fit(X)
    assert not model.converged_
    assert np.isfinite(model.transform(X)).all()


# -- plans ------------------------------------------------------------------------------------------------------------


def test_a_plan_says_what_a_fit_takes():
    X = draw(200)
    model = KernelPCA("gaussian(1)", n_components=3)
    plan = model.plan(X)
    assert str(plan).startswith("principal components on 200 rows x 4 columns, 3 components: exact\n")
    assert not hasattr(model, "n_features_in_")
    assert model.fit(X).plan_ == plan
    assert KernelPCA("gaussian(1)", n_landmarks=50).plan(X).method == "landmarks"
    assert KernelPCA("gaussian(1)", n_landmarks=200).plan(X).method == "exact"


@pytest.mark.cores("memory_limit is that of this process: a card has its own")
def test_memory_decides():
    X = draw(2000)
    assert KernelPCA("gaussian(1)", n_components=3, memory_limit="150 MB").plan(X).method == "exact"
    assert KernelPCA("gaussian(1)", n_components=3, memory_limit="110 MB").plan(X).method == "krylov"
    assert KernelPCA("gaussian(1)", n_components=3, memory_limit="40 MB").plan(X).method == "landmarks"
    with pytest.raises(BudgetError, match=r"KernelPCA needs .* for krylov components of 2,000 rows"):
        KernelPCA("gaussian(1)", n_components=3, method="krylov", memory_limit="1 MB").fit(X)


# -- input ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "a positive integer, or None, for n_components; got 0"),
        ({"n_components": 2.5}, "a positive integer, or None, for n_components; got 2.5"),
        ({"method": "arpack"}, "method that is one of 'auto', 'exact', 'krylov', 'landmarks'; got 'arpack'"),
        ({"method": "krylov"}, "a number of components for method='krylov'; n_components is None"),
        ({"n_landmarks": -1}, "a positive integer, or None, for n_landmarks; got -1"),
        ({"n_landmarks": 3, "n_components": 5}, "at least n_components landmarks, 5; got n_landmarks=3"),
        ({"n_landmarks": 3, "method": "exact"}, "landmarks for n_landmarks=3; method='exact' has none"),
        ({"tol": 0}, "a positive finite number for tol; got 0"),
        ({"max_iter": None}, "a positive integer for max_iter; got None"),
        ({"lengthscale": "loo"}, 'a lengthscale that is "median" or a number; got "loo"'),
        ({"fit_inverse_transform": 1}, "True or False for fit_inverse_transform; got 1"),
        ({"kernel": PolynomialLift(2), "method": "exact"}, "a kernel for method='exact'; Polynomial is a lift"),
        ({"kernel": PolynomialLift(2), "n_landmarks": 3}, "a kernel for n_landmarks=3; a lift was given"),
        ({"kernel": Sigmoid(), "method": "landmarks"}, "a kernel that is proven for method='landmarks'"),
        ({"time_limit": -1}, "a positive number of seconds, or None, for time_limit"),
        ({"on_interrupt": "stop"}, 'on_interrupt that is "raise" or "keep"'),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises((InputError, ValueError), match=message.replace("(", r"\(")):
        KernelPCA(**settings).fit(draw(20))


@pytest.mark.parametrize("method", ["auto", "exact", "krylov", "landmarks"])
@pytest.mark.parametrize("kernel", ["gaussian(1)", "polynomial(degree=2)"])
def test_rows_that_are_all_the_same_have_no_components(method, kernel):
    X = np.full((30, 3), 0.1)
    with pytest.warns(NumericalWarning, match="KernelPCA has no components: the kernel gives all rows the same"):
        model = KernelPCA(kernel, n_components=2, method=method).fit(X)
    assert (model.n_components_, model.unexplained_, model.converged_) == (0, 0.0, True)
    assert model.transform(X[:4]).shape == (4, 0)


@pytest.mark.parametrize("kernel", ["gaussian(1)", "laplace(1)", "matern(1)", "polynomial(degree=3)"])
def test_rounding_of_equal_rows_is_no_component(kernel):
    """Numbers of rows for which the means of a constant matrix are rounded, one way or the other."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericalWarning)
        sizes = [n for n in (3, 45, 46, 47, 49, 93, 98, 103, 107, 300) for x in (1.0, 0.1, 1e3 / 3)
                 if KernelPCA(kernel, n_components=1).fit(np.full((n, 2), x)).n_components_]  # fmt: skip
    assert sizes == []


def test_a_way_back_from_no_components_is_refused():
    with pytest.raises(InputError, match="rows that the kernel tells apart, to learn an inverse transform"):
        KernelPCA("gaussian(1)", n_components=2, fit_inverse_transform=True).fit(np.full((30, 3), 0.1))


def test_a_memory_map_of_similarities_is_a_matrix(tmp_path):
    X = draw(40)
    np.save(tmp_path / "K.npy", Gaussian(1.0)(X))
    K = np.load(tmp_path / "K.npy", mmap_mode="r")
    assert_array_equal(
        KernelPCA("precomputed", n_components=2).fit_transform(K),
        KernelPCA("precomputed", n_components=2).fit_transform(np.array(K)),
    )


def test_one_row_is_refused():
    with pytest.raises(InputError, match="two rows or more, since they are centred; n_samples = 1"):
        KernelPCA("gaussian(1)").fit([[1.0, 2.0]])


def test_nan_is_refused():
    X = draw(20)
    X[3, 2] = np.nan
    for kernel in ("gaussian(1)", "precomputed"):
        with pytest.raises(ValueError, match="NaN"):
            KernelPCA(kernel).fit(X)


@pytest.mark.parametrize("method", ["exact", "krylov"])
def test_matrices_that_are_no_kernels_are_refused(method):
    model = KernelPCA("precomputed", n_components=2, method=method)
    K = Gaussian(1.0)(draw(20))
    with pytest.raises(InputError, match="K is indefinite"):
        model.fit(K - 0.5 * np.eye(20))
    with pytest.raises(InputError, match="as many rows as columns"):
        model.fit(K[:10])
    with pytest.raises(InputError, match=r"KernelPCA with sigmoid.* needs a positive semi-definite matrix"):
        KernelPCA(Sigmoid(offset=-1.0), n_components=2, method=method).fit(draw(20))


def test_few_distinct_rows_have_few_components():
    X = np.repeat(draw(4), 10, axis=0)
    for settings in ({}, {"method": "krylov"}, {"method": "landmarks", "n_landmarks": 10}, {"kernel": "linear"}):
        model = KernelPCA(**{"kernel": "gaussian(1)", "n_components": 8, "random_state": 0, **settings}).fit(X)
        assert model.n_components_ == 3
        assert model.transform(X).shape == (40, 3)
        assert model.unexplained_ == pytest.approx(0.0, abs=1e-9)


def test_more_components_than_rows_are_those_there_are():
    X = draw(12)
    for method in ("exact", "krylov", "landmarks"):
        model = KernelPCA("gaussian(0.5)", n_components=50, method=method, random_state=0).fit(X)
        assert model.n_components_ == 11
        assert_allclose(model.eigenvalues_, np.linalg.eigvalsh(centred(Gaussian(0.5)(X)))[:0:-1], rtol=1e-9)


def test_a_constant_column_changes_nothing():
    X = draw(60)
    plain = KernelPCA("gaussian(1)", n_components=3).fit_transform(X)
    assert_allclose(
        KernelPCA("gaussian(1)", n_components=3).fit_transform(np.column_stack([X, np.full(60, 7.0)])), plain, atol=1e-9
    )


def test_a_failed_fit_keeps_the_model_before():
    X = draw(60)
    model = KernelPCA("gaussian(1)", n_components=3).fit(X)
    before = model.transform(X)
    with pytest.raises(InputError, match="two rows or more"):
        model.fit(np.zeros((1, 4)))
    assert_array_equal(model.transform(X), before)


def test_a_lift_of_landmarks_may_be_given():
    X = draw(300)
    model = KernelPCA(Nystrom("gaussian(1.5)", 40, random_state=0), n_components=4).fit(X)
    Z = model.lift_.transform(X)
    wanted = PCA(4).fit(Z)
    assert_allclose(model.explained_variance_ratio_, wanted.explained_variance_ratio_, rtol=1e-8)
    same_up_to_sign(model.transform(X), wanted.transform(Z), 1e-8)


# -- scikit-learn's contract ------------------------------------------------------------------------------------------


def test_frames_and_names():
    frame = pd.DataFrame(draw(50), columns=list("abcd"))
    model = KernelPCA(Gaussian(1.0), n_components=2).set_output(transform="pandas")
    found = model.fit_transform(frame)
    assert list(found.columns) == list(model.get_feature_names_out()) == ["kernelpca0", "kernelpca1"]
    pd.testing.assert_frame_equal(model.transform(frame), found, atol=1e-10)
    assert list(model.feature_names_in_) == list("abcd")


def test_components_go_into_pipelines_and_searches():
    X = draw(120)
    y = X[:, 1] > 0.5 * X[:, 0] ** 2
    pipe = make_pipeline(KernelPCA(Gaussian(1.0), n_components=6), LogisticRegression())
    grid = {"kernelpca__kernel__lengthscale": [0.05, 2.0], "kernelpca__n_components": [2, 8]}
    search = GridSearchCV(pipe, grid, cv=3).fit(X, y)
    assert search.best_params_ == {"kernelpca__kernel__lengthscale": 2.0, "kernelpca__n_components": 8}
    assert search.best_score_ > 0.8
