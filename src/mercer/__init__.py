"""Mercer: kernel methods and feature lifting, where a kernel and a lift are two readings of one object."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mercer import errors
from mercer.errors import ModelFileError
from mercer.version import __version__ as __version__

if TYPE_CHECKING:
    from mercer import (
        comparing,
        displays,
        files,
        geometry,
        kernels,
        learners,
        lifts,
        operators,
        planner,
        solvers,
        sources,
        testing,
        tuning,
    )
    from mercer.comparing import hsic, mmd
    from mercer.files import inspect, load, save
    from mercer.geometry import region
    from mercer.kernels import exp
    from mercer.kernels.domain import Domain
    from mercer.kernels.proof.prove import prove
    from mercer.kernels.proof.record import Asymmetry, Proof, SpectralWitness, ThingWitness, Witness
    from mercer.kernels.tables import kernel_for
    from mercer.kernels.text import parse
    from mercer.learners import (
        KernelKMeans,
        KernelLogisticRegression,
        KernelPCA,
        KernelPerceptron,
        KernelRidge,
        KernelRidgeClassifier,
        KernelSVC,
        KernelSVR,
        OneClass,
        Perceptron,
        SpectralClustering,
    )
    from mercer.learners.converging import ConvergenceWarning
    from mercer.lifts import lift
    from mercer.operators.repair import repair
    from mercer.planner.shapes import plan


__all__ = [
    "Asymmetry",
    "ConvergenceWarning",
    "Domain",
    "KernelKMeans",
    "KernelLogisticRegression",
    "KernelPCA",
    "KernelPerceptron",
    "KernelRidge",
    "KernelRidgeClassifier",
    "KernelSVC",
    "KernelSVR",
    "ModelFileError",
    "OneClass",
    "Perceptron",
    "Proof",
    "SpectralClustering",
    "SpectralWitness",
    "ThingWitness",
    "Witness",
    "comparing",
    "displays",
    "errors",
    "exp",
    "files",
    "geometry",
    "hsic",
    "inspect",
    "kernel_for",
    "kernels",
    "learners",
    "lift",
    "lifts",
    "load",
    "mmd",
    "operators",
    "parse",
    "plan",
    "planner",
    "prove",
    "region",
    "repair",
    "save",
    "solvers",
    "sources",
    "testing",
    "tuning",
]

_LATER = {
    "Asymmetry": "mercer.kernels.proof.record",
    "ConvergenceWarning": "mercer.learners.converging",
    "Domain": "mercer.kernels.domain",
    "KernelKMeans": "mercer.learners",
    "KernelLogisticRegression": "mercer.learners",
    "KernelPCA": "mercer.learners",
    "KernelPerceptron": "mercer.learners",
    "KernelRidge": "mercer.learners",
    "KernelRidgeClassifier": "mercer.learners",
    "KernelSVC": "mercer.learners",
    "KernelSVR": "mercer.learners",
    "OneClass": "mercer.learners",
    "Perceptron": "mercer.learners",
    "Proof": "mercer.kernels.proof.record",
    "SpectralClustering": "mercer.learners",
    "SpectralWitness": "mercer.kernels.proof.record",
    "ThingWitness": "mercer.kernels.proof.record",
    "Witness": "mercer.kernels.proof.record",
    "comparing": "mercer.comparing",
    "displays": "mercer.displays",
    "exp": "mercer.kernels",
    "files": "mercer.files",
    "geometry": "mercer.geometry",
    "hsic": "mercer.comparing",
    "inspect": "mercer.files",
    "kernel_for": "mercer.kernels.tables",
    "kernels": "mercer.kernels",
    "learners": "mercer.learners",
    "lift": "mercer.lifts",
    "lifts": "mercer.lifts",
    "load": "mercer.files",
    "mmd": "mercer.comparing",
    "operators": "mercer.operators",
    "parse": "mercer.kernels.text",
    "plan": "mercer.planner.shapes",
    "planner": "mercer.planner",
    "prove": "mercer.kernels.proof.prove",
    "region": "mercer.geometry",
    "repair": "mercer.operators.repair",
    "save": "mercer.files",
    "solvers": "mercer.solvers",
    "sources": "mercer.sources",
    "testing": "mercer.testing",
    "tuning": "mercer.tuning",
}
"""What is imported when it is first asked for: `mercer --help` loads no NumPy, `import mercer` no scikit-learn."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'mercer' has no attribute {name!r}")
    module = import_module(_LATER[name])
    return module if module.__name__ == f"mercer.{name}" else getattr(module, name)


def __dir__() -> list[str]:
    return sorted(__all__)
