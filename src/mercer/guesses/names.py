"""What other libraries call a class or a function, and where it is here: the words of an AttributeError of a module."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any

from mercer.guesses.kernels import meant
from mercer.guesses.spelling import nearest, plain, stem

PLACES = ("mercer", "mercer.kernels", "mercer.lifts", "mercer.learners", "mercer.geometry", "mercer.displays")
"""Modules whose public names are looked through."""
KINDS = {"mercer.kernels": "the kernel", "mercer.lifts": "its features"}
SVC = "Use mercer.KernelSVC; its kernel is an object or a text: KernelSVC('gaussian(1)', C=1.0)."
GP = "Use mercer.KernelRidge: its predict(X, return_std=True) is that of a Gaussian process whose noise is alpha."
IS_KERNEL = "Use mercer.prove(kernel): its status is 'proven', 'refuted' or 'unknown'."
RANDOM = "Use mercer.lifts.RandomFourier, random features of a kernel such as 'gaussian(1)'."
SUBSETS = "Use mercer.lifts.Subsets, the products of all subsets of columns, or their kernel, mercer.kernels.Subsets."
SKETCH = "Use mercer.lifts.Sketch, random features of polynomial kernels."
MONOMIALS = (
    "Use mercer.lifts.Monomials, which gives the same columns; with interaction_only=True, mercer.lifts.Subsets."
)
GRAM = "A kernel gives its matrix when it is called: k(X), k(X, Z); mercer.operators.Gram is one that is not stored."
LIFT = "Use mercer.lift(kernel, d): the exact features of a kernel."
DISPLAYS = (
    "Pictures are in mercer.displays, such as BoundaryDisplay.from_estimator(model, X, y); those of the lectures are "
    "mercer.lectures.exercise(17).plot()."
)
DISTANCE = "A kernel gives its distances |phi(x) - phi(z)|: mercer.kernels.Gaussian().distance(X, Z), say."
LECTURES = "Use mercer.lectures.exercise(17), or mercer.lectures.example(name); exercises() and examples() list them."
RIDGE = "Use mercer.KernelRidge; KernelRidge('linear', alpha=1.0) is linear, with a penalty."
CHECK = "Use mercer.testing.check_kernel for a kernel of your own, and mercer.prove for a proof."

MEANT: dict[str, str] = {
    "allsubsets": SUBSETS,
    "componentsfor": "It is components_for(kernel, epsilon, delta, n) of mercer.lifts.RandomFourier.",
    "countsketch": SKETCH,
    "distance": DISTANCE,
    "dualperceptron": "Use mercer.KernelPerceptron.",
    "example": LECTURES,
    "examples": LECTURES,
    "exercise": LECTURES,
    "exercises": LECTURES,
    "feature": LIFT,
    "features": LIFT,
    "featuredistance": DISTANCE,
    "featuremap": LIFT,
    "fourier": RANDOM,
    "fourierfeatures": RANDOM,
    "fromtext": "Use mercer.parse(text).",
    "gaussianprocess": GP,
    "gaussianprocessclassifier": "Use mercer.KernelLogisticRegression, whose predict_proba gives probabilities.",
    "gaussianprocessregression": GP,
    "gaussianprocessregressor": GP,
    "gp": GP,
    "gpr": GP,
    "gram": GRAM,
    "grammatrix": GRAM,
    "interactionfeatures": SUBSETS,
    "iskernel": IS_KERNEL,
    "ismercer": IS_KERNEL,
    "ispd": IS_KERNEL,
    "ispositivedefinite": IS_KERNEL,
    "ispositivesemidefinite": IS_KERNEL,
    "ispsd": IS_KERNEL,
    "isvalid": IS_KERNEL,
    "isvalidkernel": IS_KERNEL,
    "checkkernel": CHECK,
    "kernel": "Use mercer.parse(text), or a class of mercer.kernels.",
    "kerneldistance": DISTANCE,
    "kernelmatrix": GRAM,
    "kernelsvm": SVC,
    "kmeans": "Use mercer.KernelKMeans; with kernel='linear' it is plain k-means.",
    "krr": RIDGE,
    "leastsquares": RIDGE,
    "lifted": LIFT,
    "lifting": LIFT,
    "linearregression": RIDGE,
    "linearsvc": SVC.replace("gaussian(1)", "linear"),
    "linearsvr": "Use mercer.KernelSVR('linear').",
    "logisticregression": "Use mercer.KernelLogisticRegression; with 'linear' it is the plain one, alpha = 1 / C.",
    "medianheuristic": "Use mercer.kernels.median_distance(X), or the lengthscale 'median'.",
    "nystroem": "Use mercer.lifts.Nystrom.",
    "nystrom": "Use mercer.lifts.Nystrom.",
    "nystromfeatures": "Use mercer.lifts.Nystrom.",
    "oneclasssvm": "Use mercer.KernelOneClassSVM.",
    "pairwisekernels": GRAM,
    "parabola": "Use mercer.lifts.Parabolic: x1, ..., xd, and |x|^2.",
    "paraboloid": "Use mercer.lifts.Parabolic: x1, ..., xd, and |x|^2.",
    "pca": "Use mercer.KernelPCA; with kernel='linear' it is plain PCA.",
    "phi": LIFT,
    "plot": DISPLAYS,
    "polynomialcountsketch": SKETCH,
    "polynomialfeatures": MONOMIALS,
    "proof": "Use mercer.prove(kernel), which gives a mercer.Proof.",
    "randomfeatures": RANDOM,
    "randomfourierfeatures": RANDOM,
    "rbfsampler": RANDOM,
    "rff": RANDOM,
    "ridge": RIDGE,
    "ridgeregression": RIDGE,
    "show": DISPLAYS,
    "supportvectorclassifier": SVC,
    "supportvectormachine": SVC,
    "svc": SVC,
    "svm": SVC,
    "svr": "Use mercer.KernelSVR.",
    "tensorsketch": SKETCH,
    "twosample": "Use mercer.mmd(X, Y).",
    "twosampletest": "Use mercer.mmd(X, Y).",
    "independencetest": "Use mercer.hsic(X, Y).",
}
"""A plain name, and the sentence about it."""
OF_LIFTS: dict[str, str] = dict.fromkeys(
    ("gaussian", "rbf", "squaredexponential"),
    "The features of a Gaussian are infinitely many: RandomFourier and Nystrom approximate it; RadialBasis has bumps "
    "around centers, which is another kernel.",
)
"""The same in `mercer.lifts` alone."""


def refuse(module: str, name: str) -> Any:
    """Raise the error of a name that a module does not have, with what to write instead.

    It is an AttributeError, so that `hasattr` says False; where `from module import name` asks, it is an ImportError,
    since Python would drop the words of the other one.
    """
    if _imports(module, name):
        raise ImportError(f"cannot import name {name!r} from {module!r}.{_said(module, name)}", name=module)
    raise AttributeError(missing(module, name))


def missing(module: str, name: str) -> str:
    """The words about a name that a module does not have.

    >>> missing("mercer.lifts", "Nystroem")
    "module 'mercer.lifts' has no attribute 'Nystroem'. Use mercer.lifts.Nystrom."
    """
    return f"module {module!r} has no attribute {name!r}.{_said(module, name)}"


def _imports(module: str, name: str) -> bool:
    """Whether the statement `from module import name` called `refuse`, and no submodule is meant."""
    caller = sys._getframe(3).f_code.co_filename
    if name.startswith("_") or caller != "<frozen importlib._bootstrap>":
        return False
    return PathFinder.find_spec(f"{module}.{name}", sys.modules[module].__path__) is None


def _said(module: str, name: str) -> str:
    """A sentence after a space; "" where nothing is known of the name."""
    if name.startswith("_"):
        return ""
    known = (OF_LIFTS.get(stem(name)) if module == "mercer.lifts" else None) or MEANT.get(plain(name))
    if known:
        return f" {known}"
    if found := _same(module, name):
        return f" {found}"
    if said := meant(name, "mercer.parse({!r})"):
        return f" {said}"
    near = [(place, nearest(name, _public(import_module(place)))) for place in _places(module)]
    return next((f" Did you mean {place}.{typo}?" for place, typo in near if typo), "")


def _same(module: str, name: str) -> str:
    """Where a class or function of that name is: in the module under a longer or shorter name, or elsewhere."""
    own, *others = ([f"{place}.{each}" for each in _equal(place, name)] for place in _places(module))
    elsewhere = {id(_value(path)): path for paths in reversed(others) for path in paths}  # the first place counts
    found = own or [*elsewhere.values()][::-1]
    if module == "mercer.lifts" and found and not own and found[0].startswith("mercer.kernels."):
        return (
            f"{found[0]} is a kernel: mercer.lift(kernel, d) has its exact features, RandomFourier approximates them."
        )
    if len(found) < 2:
        return f"It is {found[0]}." if found else ""
    described = [
        f"{path}, {KINDS[path.rpartition('.')[0]]}" if path.rpartition(".")[0] in KINDS else path for path in found
    ]
    return f"There are {'; and '.join(described)}."


def _places(module: str) -> list[str]:
    """The modules that are looked through, the one that was asked first."""
    return [module, *(place for place in PLACES if place != module)]


def _equal(place: str, name: str) -> list[str]:
    """The public names of a module that are this name, but for letters and endings; those of aliases too."""
    module, wanted = import_module(place), stem(name)
    return [each for each in _public(module) if wanted in (stem(each), *_aliases(getattr(module, each)))]


def _aliases(value: Any) -> list[str]:
    """Other names of a kernel's class."""
    return [stem(alias) for alias in getattr(value, "aliases", ())] if isinstance(value, type) else []


def _public(module: ModuleType) -> Iterable[str]:
    """The names that a module exports."""
    return vars(module).get("__all__") or [
        each for each, value in vars(module).items() if _is_ours(value) and not each.startswith("_")
    ]


def _is_ours(value: Any) -> bool:
    return callable(value) and str(getattr(value, "__module__", "")).startswith("mercer.")


def _value(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)
