"""How much of the library small work passes through: the files that it enters, the calls that it makes, what it loads.

A reader of a fit of 150 rows opens these files, and every call costs time that the mathematics does not need. The
bounds leave some room above what is reached: who needs more finds out here what small fits have come to pass through.
"""

import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

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
)
from mercer.kernels import Gaussian
from mercer.kernels.evaluation.evaluate import evaluator
from mercer.kernels.points import points_from
from mercer.lifts import Nystrom, RandomFourier

HOME = mercer.__path__[0]
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(150, 5))
Y = np.sin(X[:, 0]) + 0.1 * RANDOM.normal(size=150)
TWO, THREE = (X[:, 0] > 0).astype(int), np.digitize(X[:, 0], [-0.5, 0.5])
K = Gaussian(2.0)
SMALL = "counts the calls of small work on the cores: a card has its own path"
MODELS = {
    # name: the model, its target, files and calls of a fit, files and calls of a prediction of one row
    "KernelRidge": (KernelRidge(K, alpha=0.1), Y, (36, 300), (18, 70)),
    "KernelRidge, alpha found": (KernelRidge(K), Y, (40, 345), (18, 70)),
    "KernelRidge, all found": (KernelRidge(), Y, (46, 465), (21, 85)),
    "KernelRidgeClassifier": (KernelRidgeClassifier(K, alpha=0.1), THREE, (38, 300), (19, 70)),
    "KernelSVC": (KernelSVC(K), TWO, (46, 465), (20, 65)),
    "KernelSVC, three classes": (KernelSVC(K), THREE, (47, 890), (21, 65)),
    "KernelSVR": (KernelSVR(K), Y, (43, 290), (19, 60)),
    "KernelOneClassSVM": (KernelOneClassSVM(K, nu=0.1), None, (43, 265), (19, 70)),
    "KernelPCA": (KernelPCA(K, n_components=2), None, (42, 385), (18, 60)),
    "KernelLogisticRegression": (KernelLogisticRegression(K), TWO, (42, 465), (18, 60)),
    "Perceptron": (Perceptron(max_iter=5), TWO, (40, 340), (25, 90)),
    "KernelPerceptron": (KernelPerceptron(K, max_iter=5), TWO, (36, 1010), (24, 90)),
    "KernelKMeans": (KernelKMeans(3, kernel=K, random_state=0), None, (43, 2150), (22, 85)),
    "Nystrom": (Nystrom(K, 20, random_state=0), None, (25, 230), (18, 130)),
    "RandomFourier": (RandomFourier(K, 20, random_state=0), None, (17, 85), (10, 35)),
}


def passed_through(action):
    """The calls of our functions in each of our files; generated code has no file."""
    calls = Counter()

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(HOME):
            calls[frame.f_code.co_filename] += 1

    action()  # what is loaded and compiled for the first time does not count
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
    return calls


def test_the_counter_counts():
    calls = passed_through(lambda: Gaussian(2.0)(X[:3]))
    assert any(name.endswith("radial/gaussian.py") for name in calls)
    assert calls.total() > len(calls) > 5


@pytest.mark.cores(SMALL)
@pytest.mark.filterwarnings("ignore::mercer.ConvergenceWarning")  # perceptrons that are cut off say so
@pytest.mark.parametrize("name", MODELS)
def test_a_fit(name):
    model, y, (files, most), _ = MODELS[name]
    calls = passed_through(lambda: model.fit(X) if y is None else model.fit(X, y))
    assert len(calls) <= files, sorted(calls)
    assert calls.total() <= most, calls.most_common()


@pytest.mark.cores(SMALL)
@pytest.mark.filterwarnings("ignore::mercer.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_a_prediction_of_one_row(name):
    model, y, _, (files, most) = MODELS[name]
    fitted = model.fit(X) if y is None else model.fit(X, y)
    calls = passed_through(lambda: (getattr(fitted, "predict", None) or fitted.transform)(X[:1]))
    assert len(calls) <= files, sorted(calls)
    assert calls.total() <= most, calls.most_common()


@pytest.mark.parametrize(("columns", "files", "most"), [(5, 19, 280), (20, 21, 410)])
def test_binding_many_rows(columns, files, most):
    """What every fused pass begins with: the formula is written down, and finds its code.

    Where products of matrices serve, what they round is rehearsed; few columns need no product.
    """
    rows = points_from(RANDOM.normal(size=(2000, columns)))
    calls = passed_through(lambda: evaluator(K, rows, rows))
    assert len(calls) <= files, sorted(calls)
    assert calls.total() <= most, calls.most_common()


@pytest.mark.cores(SMALL)
@pytest.mark.parametrize(("name", "files", "most"), [("KernelRidge", 51, 690), ("KernelOneClassSVM", 55, 640)])
def test_a_fit_with_a_fused_pass(name, files, most):
    rows = RANDOM.normal(size=(450, 10))
    model, y, *_ = MODELS[name]
    calls = passed_through(lambda: model.fit(rows) if y is None else model.fit(rows, rows[:, 0]))
    assert len(calls) <= files, sorted(calls)
    assert calls.total() <= most, calls.most_common()


# -- a fresh process --------------------------------------------------------------------------------------------------

UNUSED = ("numba", "llvmlite", "mpmath", "matplotlib", "pyarrow", "rich", "typer")
"""What a small fit needs nothing of."""
OUR_MODULES = 233
"""Of some 710; each takes about a third of a millisecond."""
FRESH = {
    "KernelRidge": "KernelRidge(alpha=0.1).fit(X, y).predict(X)",
    "KernelRidge, all found": "KernelRidge().fit(X, y).predict(X)",
    "KernelSVC": "KernelSVC('gaussian(2)').fit(X, y > 1).predict(X)",
    "KernelSVC, three classes": "KernelSVC('gaussian(2)').fit(X, y).predict(X)",
    "KernelSVR": "KernelSVR('rbf').fit(X, y).predict(X)",
    "KernelPCA": "KernelPCA('gaussian(2)', n_components=2).fit(X).transform(X)",
    "KernelLogisticRegression": "KernelLogisticRegression('gaussian(2)').fit(X, y > 1).predict(X)",
}
RUN = """
import sys
import numpy as np
import sklearn.svm
before = set(sys.modules)  # scikit-learn looks for frames, and for progress bars
from mercer import {learner}
random = np.random.default_rng(0)
X, y = random.normal(size=(150, 4)), random.integers(0, 3, 150)
{code}
print(*sorted(set(sys.modules) - before))
"""


@pytest.mark.parametrize("name", FRESH)
def test_what_the_first_fit_loads(name):
    text = RUN.format(learner=name.partition(",")[0], code=FRESH[name])
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    ours = [module for module in loaded if module.partition(".")[0] == "mercer"]
    assert 50 < len(ours) <= OUR_MODULES, ours
    assert {module.partition(".")[0] for module in loaded}.isdisjoint(UNUSED)
    assert not any(part in module for module in ours for part in (".cli", ".displays", ".proof.prove", ".strings"))
