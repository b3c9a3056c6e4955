"""Mercer: kernel methods and feature lifting, where a kernel and a lift are two readings of one object."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mercer import errors, kernels
from mercer.kernels import exp
from mercer.kernels.domain import Domain
from mercer.kernels.proof.prove import prove
from mercer.kernels.proof.record import Asymmetry, Proof, SpectralWitness, ThingWitness, Witness
from mercer.kernels.tables import kernel_for
from mercer.kernels.text import parse

if TYPE_CHECKING:
    from mercer import comparing, displays, geometry, learners, lifts, solvers, sources, tuning
    from mercer.comparing import hsic, mmd
    from mercer.geometry import region
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
    from mercer.lifts import lift
    from mercer.operators.repair import repair
    from mercer.planner.shapes import plan

__version__ = "0.1.0"

__all__ = [
    "Asymmetry",
    "Domain",
    "KernelKMeans",
    "KernelLogisticRegression",
    "KernelPCA",
    "KernelPerceptron",
    "KernelRidge",
    "KernelRidgeClassifier",
    "KernelSVC",
    "KernelSVR",
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
    "geometry",
    "hsic",
    "kernel_for",
    "kernels",
    "learners",
    "lift",
    "lifts",
    "mmd",
    "parse",
    "plan",
    "prove",
    "region",
    "repair",
    "solvers",
    "sources",
    "tuning",
]

_LATER = {
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
    "SpectralClustering": "mercer.learners",
    "comparing": "mercer.comparing",
    "displays": "mercer.displays",
    "geometry": "mercer.geometry",
    "hsic": "mercer.comparing",
    "learners": "mercer.learners",
    "lift": "mercer.lifts",
    "lifts": "mercer.lifts",
    "mmd": "mercer.comparing",
    "plan": "mercer.planner.shapes",
    "region": "mercer.geometry",
    "repair": "mercer.operators.repair",
    "solvers": "mercer.solvers",
    "sources": "mercer.sources",
    "tuning": "mercer.tuning",
}
"""What is imported when it is first asked for: it loads scikit-learn, or parts of SciPy that take their time."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'mercer' has no attribute {name!r}")
    module = import_module(_LATER[name])
    return module if module.__name__ == f"mercer.{name}" else getattr(module, name)


def __dir__() -> list[str]:
    return sorted(__all__)
