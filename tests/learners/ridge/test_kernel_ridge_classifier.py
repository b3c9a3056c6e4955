"""Classification by kernel ridge regression, against scikit-learn and models that are fitted again without each row."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from dense_models import left_out, saddle
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import cross_val_predict

import mercer
from mercer import KernelRidge, KernelRidgeClassifier
from mercer.errors import InputError
from mercer.kernels import Gaussian, Polynomial
from mercer.lifts import Polynomial as PolynomialLift
from mercer.solvers import Cholesky, Eigen, GradientDescent


def draw(classes, n=30, seed=0):
    """Overlapping clouds, so that no alpha gets all labels right."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return random.normal(size=(n, 2)) + 1.2 * np.column_stack([np.cos(2 * y), np.sin(2 * y)]), y


def coded(y):
    """+1 for a class and -1 for the others: one column for two classes."""
    signs = np.where(y[:, None] == np.unique(y), 1.0, -1.0)
    return signs[:, 1:] if signs.shape[1] == 2 else signs


def decided(decisions):
    return (decisions[:, 0] > 0).astype(int) if decisions.shape[1] == 1 else decisions.argmax(axis=1)


WEIGHTS = np.random.default_rng(8).uniform(0.2, 3.0, 30)
NEW = np.random.default_rng(9).normal(size=(50, 2))
CLASSES = pytest.mark.parametrize("classes", [2, 4])
WEIGHTED = pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighted"])


# -- given alphas ---------------------------------------------------------------------------------------------------


@CLASSES
@WEIGHTED
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0, 1: 0.5}], ids=str)
def test_linear_kernels_are_scikit_learn_s_ridge_classifier(classes, weights, class_weight):
    X, y = draw(classes)
    X, y = X[:27], y[:27]  # classes of different sizes
    s = None if weights is None else weights[:27]
    model = KernelRidgeClassifier("linear", alpha=0.7, class_weight=class_weight).fit(X, y, s)
    if class_weight == "balanced" and s is not None:  # to scikit-learn a row is a row, whatever its weight
        class_weight = {c: s.sum() / (classes * s[y == c].sum()) for c in range(classes)}
    wanted = RidgeClassifier(0.7, class_weight=class_weight, solver="cholesky").fit(X, y, s)
    assert_allclose(model.decision_function(NEW), wanted.decision_function(NEW), rtol=1e-9)
    assert_array_equal(model.predict(NEW), wanted.predict(NEW))
    assert_allclose(model.coef_, np.atleast_2d(wanted.coef_), rtol=1e-8, atol=1e-10)
    assert_allclose(model.intercept_, wanted.intercept_, rtol=1e-8)
    assert_array_equal(model.classes_, wanted.classes_)


@CLASSES
@WEIGHTED
def test_each_class_is_a_regression(classes, weights):
    X, y = draw(classes)
    model = KernelRidgeClassifier(Gaussian(0.8), alpha=0.2).fit(X, y, weights)
    K, across = Gaussian(0.8)(X), Gaussian(0.8)(NEW, X)
    wanted = np.column_stack([across @ a + b for a, b in (saddle(K, t, 0.2, True, weights) for t in coded(y).T)])
    assert_allclose(model.decision_function(NEW), wanted[:, 0] if classes == 2 else wanted, rtol=1e-9)
    assert_array_equal(model.predict(NEW), decided(wanted))
    assert model.score(X, y) == accuracy_score(y, model.predict(X))
    assert_allclose(model.dual_coef_.sum(axis=0), 0.0, atol=1e-11)
    regression = KernelRidge(Gaussian(0.8), alpha=0.2).fit(X, coded(y), weights)
    assert_allclose(model.leverage_, regression.leverage_, rtol=1e-10)
    assert_allclose(model.degrees_of_freedom_, regression.degrees_of_freedom_, rtol=1e-10)


@CLASSES
@pytest.mark.parametrize("kernel", [Gaussian(0.8), Polynomial(2)], ids=["dual", "primal"])
def test_every_solver_gives_the_same_model(classes, kernel):
    X, y = draw(classes)
    solvers = (Cholesky(), Eigen(), GradientDescent(max_iter=20_000, tol=1e-12, keep=False))
    found = [KernelRidgeClassifier(kernel, alpha=2.0, solver=s).fit(X, y).decision_function(NEW) for s in solvers]
    assert_allclose(found[1], found[0], rtol=1e-9, atol=1e-10)
    assert_allclose(found[2], found[0], rtol=1e-8, atol=1e-9)


# -- what is chosen -------------------------------------------------------------------------------------------------


def judged(K, y, alphas, weights=None, copies=None):
    """For each alpha the wrong labels and the squared errors of models without (one copy of) each row, in shares."""
    signs, wrong, errors = coded(y), [], []
    for alpha in alphas:
        left = left_out(K, signs, alpha, True, weights, copies)
        wrong.append(np.average(decided(signs - left) != y, weights=weights))
        errors.append(np.average(left**2, axis=0, weights=weights))
    return np.array(wrong), np.array(errors)


def choice(alphas, wrong, errors):
    """The fewest wrong labels; of those the least squared error."""
    fewest = np.flatnonzero(wrong <= wrong.min() + 1e-9)
    return alphas[fewest[errors[fewest].sum(axis=1).argmin()]]


@CLASSES
@WEIGHTED
@pytest.mark.parametrize("kernel", [Gaussian(0.8), Polynomial(2)], ids=["dual", "primal"])
def test_alpha_is_that_of_the_fewest_wrong_labels(classes, weights, kernel):
    X, y = draw(classes)
    model = KernelRidgeClassifier(kernel).fit(X, y, weights)
    path, start = model.loo_, 18
    wrong, errors = judged(kernel(X), y, path.alphas[start:], weights)
    assert_allclose(path.wrong[start:], wrong, rtol=1e-9)
    assert_allclose(path.errors[start:], errors, rtol=1e-6)
    assert 0 < wrong.min() <= path.wrong[:start].min()
    assert_allclose(np.unique(model.alpha_), choice(path.alphas[start:], wrong, errors), rtol=1e-12)
    given = KernelRidgeClassifier(kernel, alpha=float(np.max(model.alpha_))).fit(X, y, weights)
    assert_allclose(model.decision_function(NEW), given.decision_function(NEW), rtol=1e-7, atol=1e-8)


def test_labels_and_squares_may_choose_differently():
    X, y = draw(2, seed=1)
    by_labels = KernelRidgeClassifier(Gaussian(0.8)).fit(X, y)
    by_squares = KernelRidge(Gaussian(0.8)).fit(X, coded(y)[:, 0])
    assert np.max(by_labels.alpha_) < by_squares.alpha_
    assert by_labels.loo_.wrong.min() < by_labels.loo_.wrong[by_labels.loo_.alphas == by_squares.alpha_]


@CLASSES
def test_an_array_holds_candidates_whatever_its_length(classes):
    X, y = draw(classes)
    for candidates in ([0.03, 3.0], [0.01, 0.1, 1.0, 10.0]):
        model = KernelRidgeClassifier(Gaussian(0.8), alpha=candidates).fit(X, y)
        wrong, errors = judged(Gaussian(0.8)(X), y, candidates)
        assert_allclose(model.loo_.wrong, wrong, rtol=1e-12)
        assert np.unique(model.alpha_) == choice(np.array(candidates), wrong, errors)


@CLASSES
@WEIGHTED
@pytest.mark.parametrize("class_weight", ["balanced", {0: 4.0, 1: 0.3}], ids=str)
def test_weights_of_classes_leave_out_copies_of_rows(classes, weights, class_weight):
    """A class may weigh more than it has rows: left out is a copy of a row, as sample_weight counts them."""
    X, y = draw(classes)
    X, y = X[:25], y[:25]
    s = np.ones(25) if weights is None else weights[:25]
    model = KernelRidgeClassifier(Gaussian(0.8), alpha=[0.05, 1.0, 20.0], class_weight=class_weight)
    model.fit(X, y, None if weights is None else s)
    sizes = np.bincount(y, weights=s)
    shares = s.sum() / (classes * sizes) if class_weight == "balanced" else [class_weight.get(c, 1.0) for c in range(4)]
    wrong, errors = judged(Gaussian(0.8)(X), y, model.loo_.alphas, s * np.asarray(shares)[y], s)
    assert_allclose(model.loo_.wrong, wrong, rtol=1e-9)
    assert_allclose(model.loo_.errors, errors, rtol=1e-8)


@CLASSES
@pytest.mark.parametrize("alpha", [0.3, [0.01, 0.1, 1.0, 10.0]], ids=["given", "chosen"])
def test_lengthscales_by_leave_one_out_get_the_fewest_labels_wrong(classes, alpha):
    X, y = draw(classes, seed=3)
    model = KernelRidgeClassifier("gaussian(lengthscale='median')", alpha=alpha, lengthscale="loo").fit(X, y)
    median = mercer.parse("gaussian(lengthscale='median')").resolve(X).lengthscale
    found = []
    for stretch in 2.0 ** np.arange(-4, 3):
        wrong, errors = judged(Gaussian(stretch * median)(X), y, np.atleast_1d(alpha))
        best = choice(np.arange(len(wrong)), wrong, errors)
        found.append((wrong[best], (errors[best] / coded(y).var(axis=0)).sum(), np.atleast_1d(alpha)[best], stretch))
    assert len({wrong for wrong, *_ in found}) > 2
    wrong, _, chosen, stretch = min(found)
    assert_allclose(model.kernel_.lengthscale, stretch * median, rtol=1e-12)
    assert np.unique(model.alpha_) == chosen
    assert_allclose(model.loo_.wrong.min(), wrong, rtol=1e-12)


# -- labels ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "names", [["cat", "dog", "eel", "fox"], [-7, 3, 10, 400], [False, True]], ids=["texts", "numbers", "booleans"]
)
def test_labels_come_back_as_they_were(names):
    X, y = draw(len(names))
    labels = np.array(names)[y]
    model, plain = KernelRidgeClassifier().fit(X, labels), KernelRidgeClassifier().fit(X, y)
    assert_array_equal(model.classes_, names)
    assert model.classes_.dtype == model.predict(NEW).dtype == labels.dtype
    assert_array_equal(model.predict(NEW), np.array(names)[plain.predict(NEW)])
    assert_array_equal(model.decision_function(NEW), plain.decision_function(NEW))
    assert_array_equal(KernelRidgeClassifier().fit(X, labels.tolist()).predict(NEW), model.predict(NEW))
    column = labels[:, None]
    with pytest.warns(UserWarning, match="A column-vector y was passed"):
        assert_array_equal(KernelRidgeClassifier().fit(X, column).predict(NEW), model.predict(NEW))


@CLASSES
def test_decisions_have_a_column_a_class(classes):
    X, y = draw(classes)
    model = KernelRidgeClassifier(alpha=0.1).fit(X, y)
    decisions = model.decision_function(NEW)
    assert decisions.shape == ((50,) if classes == 2 else (50, 4))
    assert_array_equal(model.predict(NEW), decided(decisions.reshape(50, -1)))
    narrow = KernelRidgeClassifier(alpha=0.1).fit(X.astype(np.float32), y).decision_function(NEW.astype(np.float32))
    assert narrow.dtype == np.float32
    assert_allclose(narrow, decisions, rtol=1e-3, atol=1e-5)
    sparse = KernelRidgeClassifier(alpha=0.1).fit(sp.csr_array(X), y)
    assert_allclose(sparse.decision_function(sp.csc_array(NEW)), decisions, rtol=1e-9, atol=1e-10)


def test_a_class_without_weight_is_unknown():
    X, y = draw(4)
    weights = (y != 2).astype(float)
    model = KernelRidgeClassifier().fit(X, y, weights)
    dropped = KernelRidgeClassifier().fit(X[y != 2], y[y != 2])
    assert_array_equal(model.classes_, [0, 1, 3])
    assert_allclose(model.decision_function(NEW), dropped.decision_function(NEW), rtol=1e-9)
    with pytest.raises(InputError, match="KernelRidgeClassifier needs two classes or more; there is one class, 3"):
        model.fit(X, y, y == 3)


def test_a_matrix_of_similarities():
    X, y = draw(4)
    K = Gaussian(0.8)(X)
    model, direct = KernelRidgeClassifier("precomputed").fit(K, y), KernelRidgeClassifier(Gaussian(0.8)).fit(X, y)
    assert_allclose(
        model.decision_function(Gaussian(0.8)(NEW, X)), direct.decision_function(NEW), rtol=1e-8, atol=1e-10
    )
    assert_array_equal(
        cross_val_predict(KernelRidgeClassifier("precomputed"), K, y, cv=3),
        cross_val_predict(KernelRidgeClassifier(Gaussian(0.8)), X, y, cv=3),
    )


@CLASSES
def test_lifts_and_pickles(classes):
    X, y = draw(classes)
    model = KernelRidgeClassifier(PolynomialLift(2)).fit(X, y)
    direct = KernelRidgeClassifier(Polynomial(2)).fit(X, y)
    assert_allclose(model.decision_function(NEW), direct.decision_function(NEW), rtol=1e-8, atol=1e-9)
    loaded = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert_array_equal(loaded.predict(NEW), model.predict(NEW))
    phi = PolynomialLift(2).fit(X).transform(NEW)
    decisions = phi @ model.coef_.T + model.intercept_
    assert_allclose(decisions[:, 0] if classes == 2 else decisions, model.decision_function(NEW), rtol=1e-9)
