"""Mercer: kernel methods and feature lifting, where a kernel and a lift are two readings of one object."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mercer import errors
from mercer.errors import ModelFileError
from mercer.version import __version__ as __version__

if TYPE_CHECKING:
    from mercer import (
        displays,
        geometry,
        hypothesis_tests,
        kernels,
        learners,
        lectures,
        lifts,
        models,
        operators,
        planner,
        solvers,
        sources,
        testing,
        tuning,
    )
    from mercer.geometry import region, separable
    from mercer.hypothesis_tests import hsic, mmd
    from mercer.kernels import exp
    from mercer.kernels.domain import Domain
    from mercer.kernels.proof.prove import prove
    from mercer.kernels.proof.record import Asymmetry, ObjectWitness, Proof, SpectralWitness, Witness
    from mercer.kernels.tables import kernel_for
    from mercer.kernels.text import parse
    from mercer.learners import (
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
    from mercer.learners.run.convergence import ConvergenceWarning
    from mercer.lifts import lift
    from mercer.lifts.checking import check
    from mercer.models import inspect, load, save
    from mercer.operators.repair import repair
    from mercer.planner.from_shapes import plan


__all__ = [
    "Asymmetry",
    "ConvergenceWarning",
    "Domain",
    "KernelKMeans",
    "KernelLogisticRegression",
    "KernelOneClassSVM",
    "KernelPCA",
    "KernelPerceptron",
    "KernelRidge",
    "KernelRidgeClassifier",
    "KernelSVC",
    "KernelSVR",
    "ModelFileError",
    "ObjectWitness",
    "Perceptron",
    "Proof",
    "SpectralClustering",
    "SpectralWitness",
    "Witness",
    "check",
    "displays",
    "errors",
    "exp",
    "geometry",
    "hsic",
    "hypothesis_tests",
    "inspect",
    "kernel_for",
    "kernels",
    "learners",
    "lectures",
    "lift",
    "lifts",
    "load",
    "mmd",
    "models",
    "operators",
    "parse",
    "plan",
    "planner",
    "prove",
    "region",
    "repair",
    "save",
    "separable",
    "solvers",
    "sources",
    "tables",
    "testing",
    "tuning",
]

_LATER = {
    "Asymmetry": "mercer.kernels.proof.record",
    "ConvergenceWarning": "mercer.learners.run.convergence",
    "Domain": "mercer.kernels.domain",
    "KernelKMeans": "mercer.learners",
    "KernelLogisticRegression": "mercer.learners",
    "KernelPCA": "mercer.learners",
    "KernelPerceptron": "mercer.learners",
    "KernelRidge": "mercer.learners",
    "KernelRidgeClassifier": "mercer.learners",
    "KernelSVC": "mercer.learners",
    "KernelSVR": "mercer.learners",
    "KernelOneClassSVM": "mercer.learners",
    "Perceptron": "mercer.learners",
    "Proof": "mercer.kernels.proof.record",
    "SpectralClustering": "mercer.learners",
    "SpectralWitness": "mercer.kernels.proof.record",
    "ObjectWitness": "mercer.kernels.proof.record",
    "Witness": "mercer.kernels.proof.record",
    "check": "mercer.lifts.checking",
    "displays": "mercer.displays",
    "exp": "mercer.kernels",
    "geometry": "mercer.geometry",
    "hsic": "mercer.hypothesis_tests",
    "hypothesis_tests": "mercer.hypothesis_tests",
    "inspect": "mercer.models",
    "kernel_for": "mercer.kernels.tables",
    "kernels": "mercer.kernels",
    "learners": "mercer.learners",
    "lectures": "mercer.lectures",
    "lift": "mercer.lifts",
    "lifts": "mercer.lifts",
    "load": "mercer.models",
    "mmd": "mercer.hypothesis_tests",
    "models": "mercer.models",
    "operators": "mercer.operators",
    "parse": "mercer.kernels.text",
    "plan": "mercer.planner.from_shapes",
    "planner": "mercer.planner",
    "prove": "mercer.kernels.proof.prove",
    "region": "mercer.geometry",
    "repair": "mercer.operators.repair",
    "save": "mercer.models",
    "separable": "mercer.geometry",
    "solvers": "mercer.solvers",
    "sources": "mercer.sources",
    "tables": "mercer.tables",
    "testing": "mercer.testing",
    "tuning": "mercer.tuning",
}
"""What is imported when it is first asked for: `mercer --help` loads no NumPy, `import mercer` no scikit-learn."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        from mercer.guesses.names import refuse  # what is meant is looked for when somebody guesses

        return refuse("mercer", name)
    module = import_module(_LATER[name])
    return module if module.__name__ == f"mercer.{name}" else getattr(module, name)


def __dir__() -> list[str]:
    return sorted(__all__)
