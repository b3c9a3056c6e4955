"""Mercer: kernel methods and feature lifting, where a kernel and a lift are two readings of one object."""

from typing import TYPE_CHECKING

from mercer.version import __version__ as __version__

if TYPE_CHECKING:
    from mercer import displays as displays
    from mercer import errors as errors
    from mercer import geometry as geometry
    from mercer import hypothesis_tests as hypothesis_tests
    from mercer import kernels as kernels
    from mercer import learners as learners
    from mercer import lectures as lectures
    from mercer import lifts as lifts
    from mercer import models as models
    from mercer import operators as operators
    from mercer import planner as planner
    from mercer import solvers as solvers
    from mercer import sources as sources
    from mercer import tables as tables
    from mercer import testing as testing
    from mercer import tuning as tuning
    from mercer.errors import ModelFileError as ModelFileError
    from mercer.geometry import region as region
    from mercer.geometry import separable as separable
    from mercer.hypothesis_tests import hsic as hsic
    from mercer.hypothesis_tests import mmd as mmd
    from mercer.kernels import exp as exp
    from mercer.kernels.domain import Domain as Domain
    from mercer.kernels.proof.prove import prove as prove
    from mercer.kernels.proof.record import Asymmetry as Asymmetry
    from mercer.kernels.proof.record import ObjectWitness as ObjectWitness
    from mercer.kernels.proof.record import Proof as Proof
    from mercer.kernels.proof.record import SpectralWitness as SpectralWitness
    from mercer.kernels.proof.record import Witness as Witness
    from mercer.kernels.tables import kernel_for as kernel_for
    from mercer.kernels.text import parse as parse
    from mercer.learners import KernelKMeans as KernelKMeans
    from mercer.learners import KernelLogisticRegression as KernelLogisticRegression
    from mercer.learners import KernelOneClassSVM as KernelOneClassSVM
    from mercer.learners import KernelPCA as KernelPCA
    from mercer.learners import KernelPerceptron as KernelPerceptron
    from mercer.learners import KernelRidge as KernelRidge
    from mercer.learners import KernelRidgeClassifier as KernelRidgeClassifier
    from mercer.learners import KernelSVC as KernelSVC
    from mercer.learners import KernelSVR as KernelSVR
    from mercer.learners import Perceptron as Perceptron
    from mercer.learners import SpectralClustering as SpectralClustering
    from mercer.learners.run.convergence import ConvergenceWarning as ConvergenceWarning
    from mercer.lifts import lift as lift
    from mercer.lifts.checking import check as check
    from mercer.models import inspect as inspect
    from mercer.models import load as load
    from mercer.models import save as save
    from mercer.operators.repair import repair as repair
    from mercer.planner.from_shapes import plan as plan
else:
    from mercer.exports import later

    __getattr__, __dir__, __all__ = later(
        __name__,
        {
            "Asymmetry": "kernels.proof.record",
            "ConvergenceWarning": "learners.run.convergence",
            "Domain": "kernels.domain",
            "KernelKMeans": "learners",
            "KernelLogisticRegression": "learners",
            "KernelOneClassSVM": "learners",
            "KernelPCA": "learners",
            "KernelPerceptron": "learners",
            "KernelRidge": "learners",
            "KernelRidgeClassifier": "learners",
            "KernelSVC": "learners",
            "KernelSVR": "learners",
            "ModelFileError": "errors",
            "ObjectWitness": "kernels.proof.record",
            "Perceptron": "learners",
            "Proof": "kernels.proof.record",
            "SpectralClustering": "learners",
            "SpectralWitness": "kernels.proof.record",
            "Witness": "kernels.proof.record",
            "check": "lifts.checking",
            "displays": "",
            "errors": "",
            "exp": "kernels",
            "geometry": "",
            "hsic": "hypothesis_tests",
            "hypothesis_tests": "",
            "inspect": "models",
            "kernel_for": "kernels.tables",
            "kernels": "",
            "learners": "",
            "lectures": "",
            "lift": "lifts",
            "lifts": "",
            "load": "models",
            "mmd": "hypothesis_tests",
            "models": "",
            "operators": "",
            "parse": "kernels.text",
            "plan": "planner.from_shapes",
            "planner": "",
            "prove": "kernels.proof.prove",
            "region": "geometry",
            "repair": "operators.repair",
            "save": "models",
            "separable": "geometry",
            "solvers": "",
            "sources": "",
            "tables": "",
            "testing": "",
            "tuning": "",
        },
    )
