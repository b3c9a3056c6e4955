"""Python functions as kernels: of two points and of two tables, what they may give, and where they stand."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV

import mercer
from mercer.errors import DomainError, InputError, KernelError, ModelFileError, NumericalWarning
from mercer.kernels import Constant, Cosine, Function, Gaussian, Kernel, Linear, Polynomial
from mercer.lifts import Nystrom
from mercer.operators import Gram

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(60, 3)), RNG.normal(size=(7, 3))
y, labels = np.sin(X[:, 0]), (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 0.8)


def square(x, z):
    return (1 + x @ z) ** 2


def products(A, B):
    return A @ B.T


def narrow(A, B):
    return rbf_kernel(A, B, gamma=0.5)


FUNCTIONS = [(square, Polynomial(2, 1.0)), (products, Linear()), (narrow, Gaussian(1.0)), (RBF(1.0), Gaussian(1.0))]
TWINS = pytest.mark.parametrize(("function", "kernel"), FUNCTIONS, ids=["points", "tables", "sklearn's", "an object"])


@TWINS
@pytest.mark.parametrize("d", [1, 2, 3])
def test_it_is_the_kernel_that_it_computes(function, kernel, d):
    ours, A, B = Function(function), X[:, :d], Z[:, :d]
    assert np.allclose(ours(A), kernel(A), rtol=1e-12, atol=1e-13)
    assert np.array_equal(ours(A), ours(A).T)
    assert np.allclose(ours(A, B), kernel(A, B), rtol=1e-12, atol=1e-13)
    assert np.allclose(ours.diagonal(A), kernel.diagonal(A), rtol=1e-12, atol=1e-13)
    assert np.allclose(ours(A[:1], B[:1]), kernel(A[:1], B[:1]), rtol=1e-12, atol=1e-13)
    vector = np.ones(len(B))
    assert np.allclose(Gram(function, A, B) @ vector, kernel(A, B) @ vector, rtol=1e-10)


LEARNERS = {
    "ridge": lambda k: mercer.KernelRidge(k).fit(X, y).predict(Z),
    "deviations": lambda k: mercer.KernelRidge(k, alpha=0.1).fit(X, y).predict(Z, return_std=True)[1],
    "ridge classifier": lambda k: mercer.KernelRidgeClassifier(k).fit(X, labels).decision_function(Z),
    "svc": lambda k: mercer.KernelSVC(k, tol=1e-9).fit(X, labels).decision_function(Z),
    "svr": lambda k: mercer.KernelSVR(k, tol=1e-9).fit(X, y).predict(Z),
    "one class": lambda k: mercer.KernelOneClassSVM(k, nu=0.3).fit(X).decision_function(Z),
    "logistic": lambda k: mercer.KernelLogisticRegression(k).fit(X, labels).predict_proba(Z),
    "pca": lambda k: np.abs(mercer.KernelPCA(k, n_components=2).fit(X).transform(Z)),
    "perceptron": lambda k: mercer.KernelPerceptron(k).fit(X, labels).decision_function(Z),
    "k-means": lambda k: mercer.KernelKMeans(2, kernel=k, random_state=0).fit(X).labels_,
    "nystrom": lambda k: Nystrom(k, 3, random_state=0).fit(X).transform(Z),
    "lifted": lambda k: mercer.KernelRidge(Nystrom(k, 3, random_state=0), alpha=1.0).fit(X, y).predict(Z),
}


@pytest.mark.parametrize("learner", LEARNERS)
@TWINS
def test_every_learner_takes_one(learner, function, kernel):
    assert np.allclose(LEARNERS[learner](function), LEARNERS[learner](kernel), rtol=1e-4, atol=1e-5)


def test_the_graph_of_one():
    ours, theirs = (
        mercer.SpectralClustering(2, kernel=k, random_state=0).fit(X).labels_ for k in (narrow, Gaussian(1.0))
    )
    assert np.array_equal(ours, theirs)


def test_tests_plans_and_tuning_take_one():
    by_function, by_kernel = (mercer.mmd(X, Z, kernel=k, random_state=0) for k in (products, Linear()))
    assert by_function.statistic == pytest.approx(by_kernel.statistic)
    assert "least squares" in str(mercer.plan(1000, 3, kernel=products))
    assert mercer.tuning.loo_path(products, X, y).errors == pytest.approx(
        mercer.tuning.loo_path("linear", X, y).errors, rel=1e-6
    )
    assert mercer.tuning.combine([square, "rbf"], X, y).kernels[0] == Function(square)


def test_in_sums_and_products():
    for pairs in (X, np.tile(X, (20, 1))):  # plainly, and where others would be fused
        found = (2 * Function(square) * Gaussian(1.0) + Function(products))(pairs, Z)
        assert np.allclose(found, (2 * Polynomial(2, 1.0) * Gaussian(1.0) + Linear())(pairs, Z), rtol=1e-12)
    assert Function(square).on([0, 1])(X, Z) == pytest.approx(Polynomial(2, 1.0)(X[:, :2], Z[:, :2]))


def test_scikit_learns_habits():
    model = clone(mercer.KernelSVC(square))
    assert model.get_params()["kernel"] is square
    assert clone(Function(square)) == Function(square) != Function(products)
    search = GridSearchCV(mercer.KernelSVC(products), {"kernel": [products, square, "rbf"], "C": [1, 10]}, cv=3)
    assert search.fit(X, labels).best_params_["kernel"] in (products, square, "rbf")
    copy = pickle.loads(pickle.dumps(mercer.KernelRidge(square).fit(X, y)))  # noqa: S301
    assert np.array_equal(copy.predict(Z), mercer.KernelRidge(square).fit(X, y).predict(Z))


def test_texts():
    kernel = 2.0 * Function(square) + Function(RBF(1.0))
    assert str(kernel) == "2.0*function(square) + function(RBF)"
    assert mercer.parse("2.0*function(square)", names={"square": square}) == 2.0 * Function(square)
    assert repr(Function(square)) == "Function(square)"
    assert Function(square).latex() == r"\mathrm{square}(x, z)"
    assert "square" in Function(square)._repr_html_()


def test_a_cosine_of_points_is_not_taken_for_one_of_tables():
    def cosine(x, z):  # of tables, np.inner gives a matrix, and the norms are those of whole tables
        return np.inner(x, z) / np.linalg.norm(x) / np.linalg.norm(z)

    for d in (1, 2, 3):
        assert np.allclose(Function(cosine)(X[:, :d], Z[:, :d]), Cosine()(X[:, :d], Z[:, :d]))


@pytest.mark.parametrize(
    "function", [lambda x, z: x[0] + x @ z, lambda A, B: A[:, :1] + A @ B.T], ids=["points", "tables"]
)
def test_the_symmetric_part_of_one_that_is_not_symmetric(function):
    kernel = Function(function)
    expected = X @ Z.T + (X[:, :1] + Z[:, 0]) / 2
    with pytest.warns(NumericalWarning, match="is not symmetric"):
        assert np.allclose(kernel(X, Z), expected)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it was said
        assert np.allclose(kernel(X, Z), expected)
    with pytest.warns(NumericalWarning, match="is not symmetric"):
        assert np.allclose(Function(function)(X), X @ X.T + (X[:, :1] + X[:, 0]) / 2)


@pytest.mark.parametrize(
    ("function", "error", "words"),
    [
        (lambda x, z: x, InputError, r"one number for two points; lambda gave an array of shape \(3,\)"),
        (lambda x, z: x.foo, AttributeError, "foo"),
        (lambda x, z: float("nan"), DomainError, "real, finite numbers from lambda"),
        (lambda A, B: np.log(A @ B.T), DomainError, "real, finite numbers from lambda"),
        (lambda x, z: 1j, DomainError, "real, finite numbers from lambda"),
        (lambda x, z: "near", InputError, "numbers"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_values_that_are_none_are_refused(function, error, words):
    with pytest.raises(error, match=words):
        Function(function)(X)
    with pytest.raises(error, match=words):
        mercer.KernelRidge(function).fit(X, y)


def test_neither_of_points_nor_of_tables_is_said():
    with pytest.raises(AttributeError) as caught:
        Function(lambda x, z: x.foo)(X)
    assert "takes two points and gives a number, or two tables and gives a matrix" in caught.value.__notes__[0]


@pytest.mark.parametrize("given", [Gaussian, Gaussian(1.0), dict, 3.0])
def test_what_is_no_function(given):
    with pytest.raises(KernelError, match="a function of two points"):
        Function(given)


def test_a_class_as_kernel_is_still_a_slip():
    with pytest.raises(KernelError, match=r"Write Gaussian\(\)"):
        mercer.KernelSVC(Gaussian).fit(X, labels)


def test_sparse_tables():
    S = sp.csr_array(np.abs(X))
    assert np.allclose(Function(products)(S), Linear()(S))
    ours, theirs = (mercer.KernelSVC(k, tol=1e-10).fit(S, labels).decision_function(S) for k in (products, "linear"))
    assert np.allclose(ours, theirs, atol=1e-8)
    with pytest.raises(InputError, match="toarray"):
        Function(lambda x, z: float(x[0] * z[0]))(S)


def shared(x, z):
    return float(len(set(x.split()) & set(z.split())))


def test_strings_come_as_they_are():
    texts = ["a b", "b c", "c d e", "a e"]
    expected = [[2, 1, 0, 1], [1, 2, 1, 0], [0, 1, 3, 1], [1, 0, 1, 2]]
    kernel = Function(shared, "strings")
    assert kernel(texts).tolist() == expected
    assert kernel(pd.DataFrame({"words": texts})).tolist() == expected
    frame = pd.DataFrame({"words": texts, "more": texts})
    assert Function(lambda x, z: shared(x[0], z[1]), "strings")(frame).tolist() == expected
    model = mercer.KernelSVC(kernel).fit(texts, [0, 0, 1, 1])
    assert model.predict(["a b"]).tolist() == [0]
    assert str(kernel) == "function(shared, kind='strings')"
    assert mercer.parse(str(kernel), names={"shared": shared}) == kernel
    assert mercer.prove(kernel).status == "unknown"
    with pytest.raises(KernelError, match="'strings', 'graphs', 'categories' or None for kind"):
        Function(shared, "texts")


def test_proofs_never_take_one_for_proven():
    assert mercer.prove(Function(products), time_limit=1.0).status == "unknown"
    assert mercer.prove(Function(square) * Gaussian() + Constant(1.0), time_limit=1.0).status == "unknown"
    proof = mercer.prove(Function(lambda x, z: -x @ z))
    assert proof.status == "refuted"
    assert Function(products).max_dimension == 0


def test_model_files_refuse_one(tmp_path):
    for kernel in (products, Function(products), Linear() + Function(products)):
        with pytest.raises(ModelFileError, match="function"):
            mercer.save(mercer.KernelSVC(kernel).fit(X, labels), tmp_path / "model.mercer")


def test_few_calls_of_a_function_of_tables():
    calls = []

    def counted(A, B):
        calls.append((len(A), len(B)))
        return A @ B.T

    kernel = Function(counted)
    kernel(X)
    before = len(calls)
    kernel(X, Z)
    assert len(calls) == before + 1  # what it takes was found before
    assert isinstance(kernel, Kernel)
