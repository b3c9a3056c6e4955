"""Fitted models of every learner, in every way that a fit may take, and the rows to ask them about."""

import warnings

import numpy as np
import pandas as pd
import scipy.sparse as sp
from every_lift import INSTANCES, text_of
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, RobustScaler, StandardScaler

import mercer
from mercer import (
    KernelKMeans,
    KernelLogisticRegression,
    KernelOneClassSVM,
    KernelPCA,
    KernelPerceptron,
    KernelRidge,
    KernelRidgeClassifier,
    KernelSVC,
    KernelSVR,
    Perceptron,
    SpectralClustering,
)
from mercer import kernels as k
from mercer.kernels import Graph
from mercer.lifts import Nystrom, Polynomial, RandomFourier
from mercer.solvers import ConjugateGradient, GradientDescent
from mercer.sources import Arrays

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(50, 3))
NEW = RANDOM.normal(size=(20, 3))
Y = X[:, 0] + X[:, 1] ** 2
TWO = np.where(Y > 0.5, "high", "low")
THREE = np.digitize(Y, [0.0, 1.0])
WEIGHTS = np.r_[np.zeros(5), RANDOM.integers(1, 3, 45)].astype(float)
FRAME, NEW_FRAME = (pd.DataFrame(table, columns=["a", "b", "c"]) for table in (X, NEW))
K, CROSS = k.Gaussian(1.5)(X), k.Gaussian(1.5)(NEW, X)
TEXTS = ["".join(RANDOM.choice(list("abcdé"), RANDOM.integers(0, 7))) for _ in range(50)]
BYTES = [text.encode() for text in TEXTS]
WORDS = [list(text) for text in TEXTS]
CODES = [[ord(letter) for letter in text] for text in TEXTS]


def graph(labels):
    nodes = int(RANDOM.integers(2, 7))
    edges = RANDOM.integers(nodes, size=(nodes, 2))
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    return Graph(
        nodes, edges, [labels[i % len(labels)] for i in range(nodes)], [f"e{i % 2}" for i in range(len(edges))]
    )


GRAPHS = [graph("CON") for _ in range(50)]
NUMBERED = [graph([3, 1, 4]) for _ in range(50)]
MIXED = pd.DataFrame({"text": TEXTS, "age": X[:, 0], "kind": [None if i % 7 == 0 else f"k{i % 3}" for i in range(50)]})
BOTH = k.Spectrum(2).on("text") + k.Gaussian(1.0).on("age")
NYSTROM = Nystrom("gaussian(1.5)", n_components=9, random_state=0)
LANDMARKS = {"method": "landmarks", "n_landmarks": 12, "random_state": 0}


def ways(name, model, X, new, *targets, **settings):
    return name, (model, X, new, targets, settings)


MODELS = dict(
    [
        ways("ridge", KernelRidge(), X, NEW, Y),
        ways("ridge, primal", KernelRidge("polynomial(degree=2)", alpha=0.1), X, NEW, Y),
        ways("ridge, two outputs", KernelRidge(alpha=[0.1, 1.0]), X, NEW, np.c_[Y, Y**2]),
        ways("ridge, loo", KernelRidge(lengthscale="loo"), X, NEW, Y, WEIGHTS),
        ways("ridge, lift", KernelRidge(NYSTROM), X, NEW, Y),
        ways("ridge, landmarks", KernelRidge(**LANDMARKS), X, NEW, Y),
        ways("ridge, waves", KernelRidge(RandomFourier("laplace", 20, random_state=0)), X, NEW, Y),
        ways("ridge, conjugate gradients", KernelRidge(alpha=0.1, solver=ConjugateGradient(random_state=0)), X, NEW, Y),
        ways("ridge, descent", KernelRidge(alpha=0.5, solver=GradientDescent(max_iter=20)), X, NEW, Y),
        ways("ridge, precomputed", KernelRidge("precomputed"), K, CROSS, Y),
        ways("ridge, sparse", KernelRidge(), sp.csr_array(X * (X > 0)), sp.csr_array(NEW), Y),
        ways("ridge, float32", KernelRidge(random_state=3), X.astype("f4"), NEW.astype("f4"), Y.astype("f4")),
        ways("ridge, frame", KernelRidge("gaussian.on('a')*linear.on(['b', 'c']) + 2"), FRAME, NEW_FRAME, Y),
        ways(
            "ridge, scaled",
            KernelRidge("gaussian.scaled([1, 2, 3]).after([[1, 0, 1], [0, 1, 1], [1, 1, 0]])"),
            X,
            NEW,
            Y,
        ),
        ways("ridge, source", KernelRidge(NYSTROM, alpha=0.1, random_state=0), Arrays(X, Y), NEW, memory_limit="20 MB"),
        ways("ridge, strings", KernelRidge(k.Spectrum(2)), TEXTS, TEXTS[:9], Y),
        ways("ridge, graphs", KernelRidge(k.WeisfeilerLehman()), GRAPHS, GRAPHS[:9], Y),
        ways("ridge, table of things", KernelRidge(BOTH, alpha=1.0), MIXED, MIXED[:9], Y),
        ways(
            "ridge, labels",
            KernelRidge(k.Match().on("kind") + k.Gaussian(1.0).on("age"), alpha=1.0),
            MIXED,
            MIXED[:9],
            Y,
        ),
        ways("classes", KernelRidgeClassifier(class_weight={0: 1.0, 1: 2.0, 2: 1.0}), X, NEW, THREE),
        ways("classes, text", KernelRidgeClassifier("linear", class_weight="balanced"), X, NEW, TWO),
        ways("svc", KernelSVC(), X, NEW, TWO),
        ways("svc, three classes", KernelSVC(), X, NEW, THREE),
        ways(
            "svc, pairs, object labels",
            KernelSVC(decision_function_shape="ovo"),
            X,
            NEW,
            THREE.astype(str).astype(object),
        ),
        ways("svc, landmarks", KernelSVC(**LANDMARKS), X, NEW, THREE),
        ways("svc, warm", KernelSVC(warm_start=True, C=np.inf), X, NEW, X[:, 0] > 0),
        ways("svc, lift", KernelSVC(Polynomial(2), C=2), X, NEW, TWO),
        ways("svc, precomputed", KernelSVC("precomputed"), K, CROSS, TWO),
        ways("svc, bytes", KernelSVC(k.Spectrum(2)), BYTES, BYTES[:9], TWO),
        ways("svc, words", KernelSVC(k.Spectrum(2)), WORDS, WORDS[:9], TWO),
        ways("svc, numbered words", KernelSVC(k.Spectrum(2)), CODES, CODES[:9], TWO),
        ways("svc, numbered graphs", KernelSVC(k.VertexHistogram()), NUMBERED, NUMBERED[:9], TWO),
        ways("svr", KernelSVR(epsilon=0.2), X, NEW, Y),
        ways("svr, landmarks", KernelSVR(**LANDMARKS), X, NEW, Y),
        ways("one class", KernelOneClassSVM(nu=0.2), X, NEW),
        ways("logistic", KernelLogisticRegression(), X, NEW, TWO),
        ways("logistic, landmarks", KernelLogisticRegression(n_landmarks=10, random_state=0), X, NEW, THREE),
        ways("logistic, features", KernelLogisticRegression("polynomial(degree=2)"), X, NEW, THREE),
        ways("perceptron", Perceptron(Polynomial(2)), X, NEW, TWO),
        ways("perceptron, classes", Perceptron(fit_intercept=False, combine="averaged"), X, NEW, THREE),
        ways("kernel perceptron", KernelPerceptron(combine="voted"), X, NEW, THREE),
        ways("forgetron", KernelPerceptron(budget=10), X, NEW, TWO),
        ways("projectron", KernelPerceptron(budget=10, strategy="projectron"), X, NEW, THREE),
        ways("components", KernelPCA("gaussian(1.5)", n_components=2), X, NEW),
        ways("components, way back", KernelPCA("gaussian(1.5)", n_components=2, fit_inverse_transform=True), X, NEW),
        ways("components, krylov", KernelPCA("gaussian(1.5)", n_components=2, method="krylov", random_state=0), X, NEW),
        ways(
            "components, landmarks",
            KernelPCA("gaussian(1.5)", n_components=2, method="landmarks", n_landmarks=12, random_state=0),
            X,
            NEW,
        ),
        ways("components, lift", KernelPCA(Polynomial(2), n_components=2), X, NEW),
        ways("means", KernelKMeans(3, kernel="gaussian(1.5)", random_state=0), X, NEW),
        ways(
            "means, landmarks",
            KernelKMeans(3, kernel="gaussian(1.5)", method="landmarks", n_landmarks=12, random_state=0),
            X,
            NEW,
        ),
        ways("means, lift", KernelKMeans(3, kernel=Polynomial(2), random_state=0), X, NEW),
        ways("means, precomputed", KernelKMeans(3, kernel="precomputed", random_state=0), K, CROSS),
        ways("spectral", SpectralClustering(2, kernel="gaussian(1.0)", random_state=0), X, NEW),
    ]
)
MISSING = FRAME.assign(kind=np.where(X[:, 0] > 0, "p", "q"), a=np.where(X[:, 0] > 1, np.nan, X[:, 0]))
NUMBERS = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
COLUMNS = [("n", NUMBERS, ["a", "b"]), ("k", OneHotEncoder(sparse_output=False, dtype=np.float32), ["kind"])]
NAMED = ColumnTransformer(COLUMNS, remainder="passthrough").set_output(transform="pandas")
MODELS |= dict(
    [
        ways("pipeline", make_pipeline(StandardScaler(), KernelRidge()), X, NEW, Y),
        ways("pipeline, range", make_pipeline(MinMaxScaler(clip=True), KernelRidge()), X, NEW, Y),
        ways("pipeline, largest", make_pipeline(MaxAbsScaler(), KernelRidge()), X, NEW, Y),
        ways("pipeline, quartiles", make_pipeline(RobustScaler(), KernelRidge()), FRAME, NEW_FRAME, Y),
        ways("pipeline of columns", make_pipeline(ColumnTransformer(COLUMNS), KernelSVC()), MISSING, MISSING[:9], TWO),
        ways(
            "pipeline of names",
            make_pipeline(NAMED, KernelRidge("gaussian.on('n__a')*linear.on('k__kind_p') + 1", alpha=1.0)),
            MISSING,
            MISSING[:9],
            Y,
        ),
        ways(
            "pipeline of lifts",
            make_pipeline(OneHotEncoder(min_frequency=3), KernelPCA("linear", n_components=2)),
            MISSING[["kind"]],
            MISSING[["kind"]][:9],
        ),
        ways(
            "pipeline that drops",
            make_pipeline(
                ColumnTransformer([("a", "passthrough", [0, 2])], n_jobs=1),
                KernelKMeans(2, kernel="linear", random_state=0),
            ),
            X,
            NEW,
        ),
    ]
)
ASKED = ("predict", "transform", "decision_function", "predict_proba", "score_samples", "inverse_transform")
_FITTED = {}


def fitted(name):
    """One of the models, fitted once, and the rows to ask it about."""
    if name not in _FITTED:
        model, data, new, targets, settings = MODELS[name]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # small data, hasty settings: what they warn of is tested elsewhere
            _FITTED[name] = clone(model).set_params(**settings).fit(data, *targets), new
    return _FITTED[name]


def lifts():
    """Every lift by its text, with instances that take rows of numbers from 0 on."""
    return {text_of(lift): lift for kind in INSTANCES.values() for lift in kind}


def fitted_lift(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(lifts()[name]).fit(np.abs(X)), np.abs(NEW)


def counts():
    """The lift of counts, which reads strings."""
    return mercer.lift(k.Spectrum(2), TEXTS), TEXTS[:9]


def answers(model, new):
    """All that a model says of rows, by the method that was asked; what it refuses, as the words of the refusal."""
    found = {}
    for name in ASKED:
        if hasattr(model, name):
            given = new if name != "inverse_transform" else np.zeros((3, 2))
            try:
                value = getattr(model, name)(given)
            except (AttributeError, ValueError) as error:
                value = np.array(str(error))
            found[name] = value.toarray() if sp.issparse(value) else value
    return found
