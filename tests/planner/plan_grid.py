"""A grid of problems of every learner, from small to large: what their plans are is kept in plans.json."""

from itertools import product

LIMITS = ((2**60, None), (10**9, None), (10**8, 20.0), (10**7, None), (2**60, 0.5))
"""Bytes and seconds."""
ROWS = (2, 60, 300, 2_000, 5_000, 20_000, 200_000, 3_000_000)


def _known(**more):
    return {"products": True, "approximable": True, **more}


RIDGE = (
    {},
    {"alphas": 45, "path": True},
    _known(alpha=0.1),
    _known(alphas=45, path=True, spectral=True, single=True),
    _known(features=20, alphas=45, path=True),
    _known(features=400, outputs=3),
    _known(alphas=45, path=True, lengthscales=5, copied=1000),
    {"features": 50, "lift_given": True, "alphas": 45, "path": True},
    {"features": 100, "lift_given": True, "landmarks": 100, "sought": 120},
    _known(stored=False, alphas=45, path=True, spectral=True),
    {"features": 30, "stored": False, "lift_given": True},
    _known(spectrum=tuple(100 / (k + 1) ** 2 for k in range(300)), alpha=0.01, pair=2e-9, single=True),
)
LOGISTIC = (
    {"approximable": True},
    {"approximable": True, "outputs": 5, "features": 30},
    {"lift_given": True, "features": 200, "outputs": 3},
    {"approximable": False},
)
SVM = (
    {},
    {"functions": 4},
    {"features": 50},
    {"stored": True, "approximable": False},
    {"polish": True, "functions": 2},
)
PCA = (
    {"components": 3},
    {"components": None},
    {"components": 10, "features": 20},
    {"components": 2, "features": 40, "lift_given": True},
    {"components": 4, "given": True, "approximable": False},
    {"components": 4, "stored": False, "worth": 50},
)
CLUSTERS = (
    {},
    {"features": 20},
    {"features": 300, "lift_given": True},
    {"approximable": False},
    {"clusters": 50, "runs": 1},
)
PASSES = ({}, {"features": 20, "outputs": 3}, {"outputs": 4, "remembered": 100})


def grid():
    """(family, rows, what is known, settings, bytes, seconds) of every problem."""
    for rows, (size, seconds) in product(ROWS, LIMITS):
        for known in RIDGE:
            yield "ridge", rows, known, {}, size, seconds
        for solver in ("Cholesky", "Eigen", "ConjugateGradient"):
            yield "ridge", rows, _known(alpha=0.5), {"solver": solver}, size, seconds
        yield "ridge", rows, _known(alphas=45, path=True), {"resumable": True}, size, seconds
        for known, landmarks in product(LOGISTIC, (None, 40)):
            yield "logistic", rows, known, {"landmarks": landmarks}, size, seconds
        for known, (method, landmarks) in product(
            SVM, (("auto", None), ("auto", 40), ("landmarks", None), ("exact", None))
        ):
            yield "svm", rows, known, {"method": method, "landmarks": landmarks}, size, seconds
        for known, method in product(PCA, ("auto", "exact", "krylov", "landmarks")):
            yield "pca", rows, known, {"method": method, "landmarks": None}, size, seconds
        yield "pca", rows, PCA[0], {"method": "auto", "landmarks": 40}, size, seconds
        for known, method in product(CLUSTERS, ("auto", "exact", "landmarks")):
            yield "k-means", rows, known, {"method": method, "landmarks": None}, size, seconds
        yield "k-means", rows, CLUSTERS[0], {"method": "auto", "landmarks": 40}, size, seconds
        for known in CLUSTERS:
            yield "spectral", rows, known, {"components": 4}, size, seconds
        for known in PASSES:
            yield "perceptron", rows, known, {}, size, seconds
