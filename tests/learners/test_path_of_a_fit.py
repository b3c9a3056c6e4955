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
MODELS = {
    # name: the model, its target, files and calls of a fit, files and calls of a prediction of one row
    "KernelRidge": (KernelRidge(K, alpha=0.1), Y, (35, 310), (18, 70)),
    "KernelRidge, alpha found": (KernelRidge(K), Y, (40, 365), (18, 70)),
    "KernelRidge, all found": (KernelRidge(), Y, (46, 490), (21, 92)),
    "KernelRidgeClassifier": (KernelRidgeClassifier(K, alpha=0.1), THREE, (37, 315), (19, 72)),
    "KernelSVC": (KernelSVC(K), TWO, (46, 500), (20, 66)),
    "KernelSVC, three classes": (KernelSVC(K), THREE, (47, 890), (21, 68)),
    "KernelSVR": (KernelSVR(K), Y, (43, 310), (19, 63)),
    "KernelOneClassSVM": (KernelOneClassSVM(K, nu=0.1), None, (43, 280), (19, 72)),
    "KernelPCA": (KernelPCA(K, n_components=2), None, (41, 385), (18, 65)),
    "KernelLogisticRegression": (KernelLogisticRegression(K), TWO, (41, 490), (18, 63)),
    "Perceptron": (Perceptron(max_iter=5), TWO, (40, 360), (25, 92)),
    "KernelPerceptron": (KernelPerceptron(K, max_iter=5), TWO, (37, 1080), (24, 96)),
    "KernelKMeans": (KernelKMeans(3, kernel=K, random_state=0), None, (43, 2150), (22, 90)),
    "Nystrom": (Nystrom(K, 20, random_state=0), None, (24, 240), (19, 145)),
    "RandomFourier": (RandomFourier(K, 20, random_state=0), None, (18, 100), (10, 38)),
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


@pytest.mark.filterwarnings("ignore::mercer.ConvergenceWarning")  # perceptrons that are cut off say so
@pytest.mark.parametrize("name", MODELS)
def test_a_fit(name):
    model, y, (files, most), _ = MODELS[name]
    calls = passed_through(lambda: model.fit(X) if y is None else model.fit(X, y))
    assert len(calls) <= files, sorted(calls)
    assert calls.total() <= most, calls.most_common()


@pytest.mark.filterwarnings("ignore::mercer.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_a_prediction_of_one_row(name):
    model, y, _, (files, most) = MODELS[name]
    fitted = model.fit(X) if y is None else model.fit(X, y)
    calls = passed_through(lambda: (getattr(fitted, "predict", None) or fitted.transform)(X[:1]))
    assert len(calls) <= files, sorted(calls)
    assert calls.total() <= most, calls.most_common()


def test_binding_many_rows():
    """What every fused pass begins with: the formula is written down, its rounding is rehearsed, code is found."""
    rows = points_from(RANDOM.normal(size=(2000, 5)))
    calls = passed_through(lambda: evaluator(K, rows, rows))
    assert len(calls) <= 18, sorted(calls)
    assert calls.total() <= 620, calls.most_common()


# -- a fresh process --------------------------------------------------------------------------------------------------

UNUSED = ("numba", "llvmlite", "mpmath", "matplotlib", "pyarrow", "rich", "typer")
"""What a small fit needs nothing of."""
OUR_MODULES = 229
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
