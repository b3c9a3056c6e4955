"""Bad input: each mistake has an error that says who needs what, what came and what to do, and leaves no model behind.

Where scikit-learn reads the data its own words are accepted. Warnings are errors here, so that nothing but the error is
said. What looks bad and is not stands at the end.
"""

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from bad_fits import BAD_FITS, FRAME, LABELS, MISSING, K, N, X, Y, but, masked
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import mercer
from mercer import (
    KernelPCA,
    KernelPerceptron,
    KernelRidge,
    KernelRidgeClassifier,
    KernelSVC,
    Perceptron,
)
from mercer.errors import DomainError, InputError, MercerError, NumericalWarning
from mercer.kernels import Gaussian, Min, Polynomial, Spectrum
from mercer.lifts import Counts, Nystrom, Trigonometric


def pattern(message):
    """A regular expression of a message in which `...` stands for anything."""
    return "(?s)" + ".*".join(map(re.escape, message.split("...")))


@pytest.mark.parametrize(("model", "data", "error", "message"), BAD_FITS)
def test_a_bad_fit_says_what_is_wrong(model, data, error, message):
    with pytest.raises(error, match=pattern(message)) as caught:
        model.fit(*data)
    own = isinstance(caught.value, MercerError)
    assert own == issubclass(error, MercerError)
    assert not own or len(str(caught.value)) < 400
    with pytest.raises(NotFittedError):
        model.predict(X)


@cache
def fitted(name):
    """Models that predict, each fitted once."""
    models = {
        "array": lambda: KernelRidge(alpha=0.1).fit(X, Y),
        "frame": lambda: KernelRidge(alpha=0.1).fit(FRAME, Y),
        "min": lambda: KernelRidge(Min(), alpha=0.1).fit(abs(X), Y),
        "lift": lambda: KernelRidge(Nystrom("min", 4, random_state=0), alpha=0.1).fit(abs(X), Y),
        "matrix": lambda: KernelRidge("precomputed", alpha=0.1).fit(K, Y),
        "plain": lambda: KernelRidge("linear", alpha=0.0).fit(X, Y),
        "classes": lambda: KernelRidgeClassifier(alpha=0.1).fit(X, LABELS),
        "none": lambda: KernelRidge(),
        "no classes": lambda: KernelRidgeClassifier(),
    }
    return models[name]()


def ask(name, message, model, question, error=InputError):
    """A case: a question to a model that it cannot answer."""
    return pytest.param(model, question, error, message, id=name)


def predict(name, message, X, model="array", error=ValueError):
    return ask(name, message, model, lambda m: m.predict(X), error)


QUESTIONS = [
    predict("None", "KernelRidge needs an array for X; got None.", None),
    predict("one dimension", "Expected 2D array, got 1D array...Reshape", X[0]),
    predict("three dimensions", "Found array with dim 3", X[None]),
    predict("no rows", "Found array with 0 sample(s)", X[:0]),
    predict("another number of columns", "X has 2 features, but KernelRidge is expecting 3", X[:, :2]),
    predict(
        "words", "KernelRidge needs numbers for X; column 0, row 0 holds 'w'", np.full((2, 3), "w"), error=InputError
    ),
    predict("NaN", "Input X contains NaN", but(X, (0, 0), np.nan)),
    predict("infinity", "Input X contains infinity", but(X, (0, 0), np.inf)),
    predict("missing entries", f"KernelRidge needs all entries of X; {MISSING}", masked(X), error=InputError),
    predict("columns renamed", "feature names should match", FRAME.rename(columns={"age": "years"}), "frame"),
    predict("columns in another order", "same order as they were in fit", FRAME[["weight", "age", "height"]], "frame"),
    predict("text in a frame", "column 'age', row 0 holds 'old'", FRAME.assign(age="old"), "frame", InputError),
    predict("outside the domain", "Min needs non-negative coordinates; column 1 holds -0.5.", X, "min", DomainError),
    predict("outside the domain of a lift", "Min needs non-negative coordinates", X, "lift", DomainError),
    predict("sparse for coordinates", "Min needs a dense table; got a sparse", csr_array(abs(X)), "min", InputError),
    predict("similarities with some rows", "X has 5 features, but KernelRidge is expecting 12", K[:, :5], "matrix"),
    predict("rows instead of similarities", "X has 3 features, but KernelRidge is expecting 12", X, "matrix"),
    predict("similarities with NaN", "Input X contains NaN", but(K, (0, 0), np.nan), "matrix"),
    ask(
        "deviations from similarities",
        "KernelRidge needs k(x, x) of new rows for a standard deviation; the kernel is precomputed. Give the kernel",
        "matrix",
        lambda m: m.predict(K, return_std=True),
    ),
    ask("deviations of classes", "return_std", "classes", lambda m: m.predict(X, return_std=True), TypeError),
    ask("weights of features", "coef_: the kernel has no finite lift", "array", lambda m: m.coef_, AttributeError),
    ask("weights of similarities", "coef_: the kernel has no finite lift", "matrix", lambda m: m.coef_, AttributeError),
    ask(
        "duals without a penalty",
        "dual_coef_: in the primal with alpha = 0",
        "plain",
        lambda m: m.dual_coef_,
        AttributeError,
    ),
    ask("score against NaN", "contains NaN", "array", lambda m: m.score(X, but(Y, 0, np.nan)), ValueError),
    ask("score of other rows", "inconsistent numbers", "array", lambda m: m.score(X, Y[:3]), ValueError),
    ask(
        "parameter misspelt",
        "KernelRidge has no parameter 'aplha'. Did you mean 'alpha'?",
        "none",
        lambda m: m.set_params(aplha=1),
        ValueError,
    ),
    ask("predict before fit", "KernelRidge instance is not fitted yet", "none", lambda m: m.predict(X), NotFittedError),
    ask("classify before fit", "not fitted yet", "no classes", lambda m: m.decision_function(X), NotFittedError),
    ask("score before fit", "not fitted yet", "no classes", lambda m: m.score(X, LABELS), NotFittedError),
    ask("leverage before fit", "not fitted yet", "none", lambda m: m.leverage_, NotFittedError),
    ask("duals before fit", "not fitted yet", "none", lambda m: m.dual_coef_, NotFittedError),
    ask("weights before fit", "not fitted yet", "none", lambda m: m.coef_, NotFittedError),
    ask("variance before fit", "not fitted yet", "none", lambda m: m.variance_, NotFittedError),
    ask("noise before fit", "not fitted yet", "none", lambda m: m.noise_, NotFittedError),
    ask("likelihood before fit", "not fitted yet", "none", lambda m: m.log_marginal_likelihood(), NotFittedError),
    ask("kernel before fit", "not fitted yet", "none", lambda m: m.kernel_, AttributeError),
]


@pytest.mark.parametrize(("model", "question", "error", "message"), QUESTIONS)
def test_a_bad_question_says_what_is_wrong(model, question, error, message):
    with pytest.raises(error, match=pattern(message)):
        question(fitted(model))


def test_the_table_is_long():
    assert len(BAD_FITS) + len(QUESTIONS) >= 70


# -- what a failed fit leaves behind --------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", [KernelRidge, KernelRidgeClassifier])
def test_a_failed_fit_is_no_fit(learner):
    model = learner(alpha=-1)
    with pytest.raises(InputError):
        model.fit(X, LABELS == "on")
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_a_failed_fit_keeps_the_model_before():
    model = KernelRidge(alpha=1.0).fit(FRAME, Y)
    wanted, before = model.predict(FRAME), dict(vars(model))
    with pytest.raises(InputError):
        model.set_params(alpha=-1).fit(FRAME.rename(columns={"age": "years"}), Y)
    assert vars(model) == {**before, "alpha": -1}
    np.testing.assert_array_equal(model.predict(FRAME), wanted)


def test_a_failed_fit_keeps_the_classes_before():
    model = KernelRidgeClassifier(alpha=1.0).fit(X, LABELS)
    wanted = model.predict(X)
    with pytest.raises(InputError):
        model.set_params(alpha=-1).fit(X, np.arange(N) % 3)
    np.testing.assert_array_equal(model.predict(X), wanted)


def test_new_rows_are_read_as_those_that_were_fitted():
    """A kernel of one column that is set after the fit is none of the fitted model's business."""
    model = KernelRidge(Gaussian(1.0), alpha=1.0).fit(FRAME, Y)
    wanted = model.predict(FRAME)
    np.testing.assert_array_equal(model.set_params(kernel=Gaussian(1.0).on("age")).predict(FRAME), wanted)


# -- what looks bad, and is not -------------------------------------------------------------------------------------


def test_columns_that_the_kernel_does_not_see_may_hold_anything():
    kernel = Gaussian("median")
    mixed = KernelRidge(kernel.on(["age", "weight"])).fit(FRAME.assign(height="tall"), Y)
    wanted = KernelRidge(kernel).fit(X[:, [0, 2]], Y).predict(X[:, [0, 2]])
    np.testing.assert_allclose(mixed.predict(FRAME.assign(height="short")), wanted, rtol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        KernelRidge(Nystrom(Spectrum(2), 2)),
        KernelRidgeClassifier(3.0 * Counts(Spectrum(2))),
        KernelSVC(Counts(Spectrum(2))),
        KernelPCA(Nystrom(Spectrum(2), 2)),
        KernelPerceptron(Counts(Spectrum(2))),
        Perceptron(Counts(Spectrum(2))),
    ],
    ids=lambda model: type(model).__name__,
)
def test_lifts_of_strings_go_before_a_learner(model):
    words, y = ["abc", "bcd", "cde", "abd"], [1, 2, 1, 2]
    with pytest.raises(InputError, match=f"^{type(model).__name__} needs a lift of numbers; .* reads strings, graphs"):
        model.fit(words, y)
    whole = make_pipeline(Counts(Spectrum(2)), KernelRidge("linear", alpha=1e-9)).fit(words, y)
    np.testing.assert_allclose(whole.predict(words), y, atol=1e-6)


def test_arrays_of_objects_and_masks_of_nothing_are_read():
    wanted = KernelRidge(alpha=0.1).fit(X, Y).predict(X)
    for read in (X.astype(object), np.ma.masked_array(X), X.tolist()):
        np.testing.assert_array_equal(KernelRidge(alpha=0.1).fit(read, Y).predict(read), wanted)


@pytest.mark.parametrize(
    "kernel", ["polynomial(degree=2)", Trigonometric(2), Nystrom("gaussian(1)", 4, random_state=0)]
)
def test_sparse_rows_for_features_of_dense_ones(kernel):
    model = KernelRidge(kernel, alpha=0.1).fit(X, Y)
    np.testing.assert_allclose(model.predict(csr_array(X)), model.predict(X), rtol=1e-12)


@pytest.mark.parametrize("kernel", ["gaussian('median')", "linear"])
def test_large_and_small_numbers_that_float64_holds(kernel):
    wanted = KernelRidge(kernel).fit(X, Y).predict(X)
    for scale in (2.0**-300, 2.0**300):
        np.testing.assert_allclose(KernelRidge(kernel).fit(X, scale * Y).predict(X) / scale, wanted, rtol=1e-9)
    for scale in (2.0**-150, 2.0**150):
        np.testing.assert_allclose(KernelRidge(kernel).fit(scale * X, Y).predict(scale * X), wanted, rtol=1e-9)


@pytest.mark.parametrize("kernel", [Polynomial(9), Polynomial(2)])
def test_predictions_that_overflow_are_told(kernel):
    """In the dual, with 220 features for 12 rows, and in the primal, with 10."""
    model = KernelRidge(kernel, alpha=1.0).fit(X, Y)
    with pytest.warns(NumericalWarning, match="overflow"):
        found = model.predict(1e200 * X[:1])
    assert not np.isfinite(found).any()


def test_balanced_classes_count_weights_as_copies():
    copies = np.arange(N) % 4
    settings = {"kernel": "gaussian(1)", "class_weight": "balanced"}
    one = KernelRidgeClassifier(**settings).fit(X, LABELS, sample_weight=copies)
    other = KernelRidgeClassifier(**settings).fit(np.repeat(X, copies, axis=0), np.repeat(LABELS, copies))
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-9)


def test_a_class_that_weighs_nothing_is_left_out():
    labels = np.array(["a", "b", "c"] * 4)
    kept = labels != "a"
    one = KernelRidgeClassifier("gaussian(1)", class_weight={"a": 0, "not there": 1, "b": 2, "c": 1}).fit(X, labels)
    other = KernelRidgeClassifier("gaussian(1)", class_weight={"b": 2}).fit(X[kept], labels[kept])
    assert one.classes_.tolist() == ["b", "c"]
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-9)


def test_strings_are_told_which_kernels_read_them():
    words, table = ["aab", "aba", "b", "bb"], np.array([["a", 1], ["b", 2], ["a", 3], ["b", 4]], dtype=object)
    with pytest.raises(InputError, match=r"row 0 holds 'aab'. Convert it .* Spectrum, GappySubsequence and BagOfWords"):
        mercer.KernelSVC("gaussian(1)").fit(words, [0, 1, 0, 1])
    mercer.KernelSVC("spectrum(k=1)").fit(words, [0, 1, 0, 1])
    with pytest.raises(InputError, match=r"column 0, row 0 holds 'a'. .* Match\(\).on\(\[0\]\) of labels"):
        mercer.KernelSVC("gaussian(1)").fit(table, [0, 1, 0, 1])
    mercer.KernelSVC("match.on([0]) + gaussian(1).on([1])").fit(table, [0, 1, 0, 1])
    frame = pd.DataFrame({"kind": ["a", "b", "a", "b"], "size": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(InputError, match=r"Match\(\).on\(\['kind'\]\)"):
        mercer.KernelSVC("gaussian(1)").fit(frame, [0, 1, 0, 1])
    mercer.KernelSVC("match.on(['kind']) + gaussian(1).on(['size'])").fit(frame, [0, 1, 0, 1])
    mercer.KernelSVC(mercer.kernel_for(frame).kernel).fit(frame, [0, 1, 0, 1])
