"""The table of classes that files may name: closed, and the only way from a name to a class.

Lifts, learners and solvers are in it by being exported from their packages; what they hold is listed here by hand. What
of a class is saved stands in the class (`mercer.models.entry`).
"""

from __future__ import annotations

import inspect
from functools import reduce
from operator import or_
from types import ModuleType
from typing import Any

from numpy.typing import NDArray
from scipy.sparse import csr_array

from mercer import kernels, learners, lifts, solvers
from mercer.kernels.points import Points
from mercer.learners.certificates.bounds import Distance
from mercer.learners.clustering import model as clusters
from mercer.learners.data.views import KernelView, LiftView, MatrixView
from mercer.learners.estimator import KernelEstimator
from mercer.learners.pca.features import TableBasis
from mercer.learners.pca.preimage import Preimages
from mercer.learners.perceptron.perceptron import WithOne
from mercer.learners.perceptron.state import PerceptronState
from mercer.learners.ridge.result import BasisFit, DualFit, PrimalFit, RidgeResult
from mercer.learners.ridge.state_space import ByStates
from mercer.learners.streaming.basis import FeatureBasis, LandmarkBasis, LiftBasis
from mercer.learners.streaming.grid import ByGrid, GridBasis
from mercer.learners.streaming.predictor import ByBasis, ByDuals, ByFeatures
from mercer.learners.svm.model import Model
from mercer.learners.svm.subproblem import SubproblemResult
from mercer.lifts.axis import Axis
from mercer.lifts.certificate import Certificate
from mercer.lifts.expansion import Expansion
from mercer.lifts.graded import Biased, Graded, OfPower
from mercer.lifts.monomial_index import Family
from mercer.lifts.parts import Chosen, Functions, Joined, Moved, Multiplied, Polynomials, Unit, Weighed
from mercer.lifts.polynomial import Polynomial
from mercer.lifts.powers import Rising
from mercer.lifts.sketch import PowerOfDot
from mercer.lifts.splitting import Division
from mercer.lifts.tensor_sketch import TensorSketch
from mercer.models.entry import Entry, entry_of, record
from mercer.models.estimators import ours
from mercer.models.kernel_strings import Words
from mercer.models.scikit_learn import SCALERS
from mercer.models.sparse_rows import SPARSE_ROWS
from mercer.models.structured import STORE, Graphs, Labels, Lists
from mercer.models.table_model import TableModel
from mercer.models.texts import TEXT_ARRAY, Texts
from mercer.operators import Centering
from mercer.planner import Plan
from mercer.planner import record as record_of_plans
from mercer.solvers.perceptron.budget import Forgetron, Projectron
from mercer.solvers.perceptron.perceptron import Mistakes
from mercer.solvers.ridge.outcome import History, Outcome
from mercer.solvers.ridge.spectrum import Spectrum
from mercer.solvers.state_space.beside import Beside
from mercer.solvers.state_space.series import Series
from mercer.solvers.state_space.smoothing import Smoother
from mercer.solvers.state_space.sweeps import States
from mercer.tuning.path import Path


def exported(package: ModuleType, kind: Any) -> tuple[type, ...]:
    """The classes of a kind that a package exports and that can be built, by their names."""
    found = {
        one
        for one in (getattr(package, name) for name in dir(package))
        if isinstance(one, type) and issubclass(one, kind)
    }
    return tuple(sorted((one for one in found if not inspect.isabstract(one)), key=lambda one: one.__name__))


LIFTS, LEARNERS = exported(lifts, lifts.Lift), exported(learners, KernelEstimator)
HELD: tuple[type, ...] = (
    *exported(solvers, solvers.Solver),
    # plans, and what fits report
    *(Plan, Outcome, History, Path, Certificate, Distance),
    # lifts
    *(Expansion, Graded, Biased, Rising, Family, OfPower, PowerOfDot, Division, Axis, TensorSketch),
    *(Polynomials, Functions, Joined, Multiplied, Weighed, Moved, Chosen, Unit),
    # rows, and predictors
    *(KernelView, LiftView, MatrixView, WithOne, Centering),
    *(ByDuals, ByFeatures, ByBasis, ByGrid, GridBasis, LiftBasis, LandmarkBasis, FeatureBasis, TableBasis),
    # single families of learners
    *(RidgeResult, DualFit, PrimalFit, BasisFit, Spectrum),
    *(ByStates, Smoother, Series, States, Beside),
    SubproblemResult,
    *(PerceptronState, Mistakes, Forgetron, Projectron),
    Preimages,
    # texts
    *(Texts, Labels, Lists, Graphs, Words),
)
"""What models hold, and what that holds."""
RENAMED: tuple[Entry, ...] = (
    entry_of(Model).called("MarginModel"),
    entry_of(clusters.ByRows).called("MeansOfRows"),
    entry_of(clusters.ByFeatures).called("MeansOfFeatures"),
    entry_of(clusters.ByLandmarks).called("MeansOfLandmarks"),
)
"""Classes whose names stand for others, too, or say too little in a file."""
FOREIGN: tuple[Entry, ...] = (
    *SCALERS,
    SPARSE_ROWS,
    STORE,
    TEXT_ARRAY,
    record(Points, {"values": NDArray[Any] | csr_array}),
)
"""Classes that cannot say themselves what is saved of them."""
OF_TABLES = record(TableModel, {"learner": reduce(or_, (*LIFTS, *LEARNERS))})
"""A learner or a lift with the columns of a table that it looks at."""

ALL: tuple[Entry, ...] = (*map(entry_of, HELD), *RENAMED, *map(ours, (*LIFTS, *LEARNERS)), *FOREIGN, OF_TABLES)
ENTRIES: dict[str, Entry] = {entry.name: entry for entry in ALL}
"""By the names that stand in files; a name never changes its meaning within a version of the format."""
CLASSES: dict[type, Entry] = {entry.kind: entry for entry in ENTRIES.values()}
MODELS: tuple[type, ...] = (*LIFTS, *LEARNERS, *(entry.kind for entry in SCALERS), TableModel)
"""What can be saved."""
AT_ONCE: tuple[Any, ...] = (record_of_plans, *(getattr(kernels, name) for name in dir(kernels)))
"""What is loaded with its first use elsewhere, and here before any file is read: reading one imports nothing."""
repr(Polynomial())  # scikit-learn imports what prints an estimator now, and not while a file is read
