"""The table of classes that files may name: written by hand, and the only way from a name to a class."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mercer.kernels.objects.store import Store
from mercer.kernels.points import Points
from mercer.learners.certificates.bounds import Distance
from mercer.learners.clustering import model
from mercer.learners.data.views import KernelView, LiftView, MatrixView
from mercer.learners.pca.features import TableBasis
from mercer.learners.pca.preimage import Preimages
from mercer.learners.perceptron.perceptron import WithOne
from mercer.learners.perceptron.state import PerceptronState
from mercer.learners.ridge.posterior import StreamedPosterior
from mercer.learners.streaming.basis import FeatureBasis, LandmarkBasis, LiftBasis
from mercer.learners.streaming.predictor import ByBasis, ByDuals, ByFeatures
from mercer.learners.svm.model import Model
from mercer.learners.svm.subproblem import SubproblemResult
from mercer.lifts.axis import Axis
from mercer.lifts.certificate import Certificate
from mercer.lifts.expansion import Expansion
from mercer.lifts.graded import Biased, Graded
from mercer.lifts.monomial_index import Family
from mercer.lifts.parts import Chosen, Joined, Lifted, Moved, Multiplied, Polynomials, Unit, Weighed
from mercer.lifts.polynomial import Polynomial
from mercer.lifts.powers import Rising
from mercer.lifts.sketch import _Power
from mercer.lifts.splitting import Division
from mercer.lifts.tensor_sketch import TensorSketch
from mercer.models import invariants, lift_invariants, structured
from mercer.models.entry import Entry, Fields, made, record
from mercer.models.kernel_strings import Words
from mercer.models.learner_fields import LEARNERS
from mercer.models.lift_fields import LIFTS
from mercer.models.refusing import refuse
from mercer.models.table_model import TableModel, unsound
from mercer.models.texts import TextArray, Texts
from mercer.models.transformer_fields import SCALERS
from mercer.operators import Centering
from mercer.planner.clustering import ClusterPlan
from mercer.planner.logistic import LogisticPlan
from mercer.planner.pca import ComponentPlan
from mercer.planner.perceptron import PassPlan
from mercer.planner.plan import Plan, Stage
from mercer.planner.svm import MarginPlan
from mercer.solvers import Cholesky, ConjugateGradient, Eigen, GradientDescent
from mercer.solvers.perceptron.budget import Forgetron, Projectron
from mercer.solvers.perceptron.perceptron import Mistakes
from mercer.solvers.ridge.outcome import History, Outcome
from mercer.solvers.ridge.spectrum import Spectrum
from mercer.tuning.path import Path

Floats = NDArray[np.float64]
MOST_DEGREE = 1 << 16


# -- classes that are taken apart by hand ------------------------------------------------------------------------------


def _csr(fields: Fields) -> csr_array:
    """Compressed rows, checked to the last position; index arrays are used as they are."""
    shape = fields["shape"]
    arrays = fields["data"], fields["indices"], fields["indptr"]
    if any(array.ndim != 1 for array in arrays) or min(shape) < 0 or len(fields["indptr"]) != shape[0] + 1:
        refuse("sound sparse rows", f"got arrays of shapes {[array.shape for array in arrays]} for {shape}")
    found = csr_array(arrays, shape=shape)
    found.check_format(full_check=True)
    if found.indices.dtype != fields["indices"].dtype or not found.has_canonical_format:
        refuse("sorted sparse rows with the shortest positions", "got others")
    return found


def _take_csr(rows: Any) -> Fields:
    return {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr, "shape": tuple(map(int, rows.shape))}


def _take_graded(one: Graded) -> Fields:
    degree, offset = getattr(one.square, "args", (None, None))
    return {"family": one.family, "degree": degree, "offset": offset}


def _graded(fields: Fields) -> Expansion:
    """The monomials of a family; with a degree and an offset they have the weights of the polynomial kernel."""
    family, degree, offset = fields["family"], fields["degree"], fields["offset"]
    if degree is None or offset is None:
        return Graded(family)
    found = Polynomial(degree, offset, not family.repeated)._expansion(family.width)
    if found.family != family or degree > MOST_DEGREE:
        refuse("monomials of a polynomial kernel", f"got {family} for degree {degree} and offset {offset}")
    return found


def _memory(kind: type, more: dict[str, Any]) -> Entry:
    """The memory of a perceptron on a budget, which is filled as it learns."""
    hints = {"budget": int, "coefficients": Floats, "inner": Floats, "used": int, **more}

    def make(fields: Fields) -> Any:
        found = kind(0, 1)
        found.__dict__.update({"budget": len(np.atleast_1d(fields["coefficients"])), **fields})
        return found

    entry = made(kind, hints, lambda one: {name: getattr(one, name) for name in hints}, make).checked(invariants.memory)
    return replace(entry, needed=entry.needed - {"budget"})  # older files do not have it: all slots were there


OWN = (
    made(
        csr_array,
        {
            "data": NDArray[Any],
            "indices": NDArray[np.signedinteger[Any]],
            "indptr": NDArray[np.signedinteger[Any]],
            "shape": tuple[int, int],
        },
        _take_csr,
        _csr,
    ),
    made(Graded, {"family": Family, "degree": int | None, "offset": float | None}, _take_graded, _graded),
    made(Biased, {"family": Family}, lambda one: {"family": one.family}, lambda fields: Biased(**fields)),
    made(
        Rising,
        {"width": int, "degree": int},
        lambda one: {"width": one.width, "degree": one.degree},
        lambda fields: Rising(**fields),
    ).checked(lift_invariants.rising),
    _memory(Forgetron, {"oldest": int, "harm": float, "mistakes": int, "largest": float}),
    _memory(Projectron, {"inverse": Floats}),
    made(Store, {"kind": str, "items": structured.Items}, structured.packed, structured.unpacked).counted(
        structured.many
    ),
    made(
        TextArray,
        {"texts": Texts, "shape": tuple[int, ...], "width": int | None},
        lambda one: {"texts": one.texts, "shape": one.shape, "width": one.width},
        lambda fields: TextArray(**fields).array(),
    ).counted(lambda fields: len(fields["texts"])),
    made(
        _Power,
        {"scale": float, "degree": int, "offset": float},
        lambda one: one._asdict(),
        lambda fields: _Power(**fields),
    ).called("Power"),
)

# -- frozen dataclasses, by the fields that they declare ---------------------------------------------------------------

RECORDS = (
    *map(record, (Texts, structured.Labels, structured.Lists, structured.Graphs, Words)),
    *map(record, (Cholesky, Eigen, ConjugateGradient, GradientDescent)),
    *map(record, (Plan, Stage, MarginPlan, LogisticPlan, PassPlan, ComponentPlan, ClusterPlan)),
    *map(record, (Certificate, Preimages, Division, LiftBasis, TableBasis)),
    *map(record, (Polynomials, Lifted, Joined, Multiplied, Weighed, Moved, Chosen, Unit, StreamedPosterior)),
    record(Distance),
    record(Path).with_nan("errors", "wrong"),
    record(History).with_nan("losses", "coefficients", "validation"),
    record(Outcome, without=("decomposition",)),
    record(Points, types={"values": NDArray[Any] | csr_array}).checked(invariants.points),
    record(KernelView).checked(invariants.view),
    record(LiftView).checked(invariants.view),
    record(WithOne).checked(invariants.view),
    record(MatrixView).checked(invariants.view),
    record(ByDuals).checked(invariants.by_duals),
    record(ByFeatures).checked(invariants.by_features),
    record(ByBasis).checked(invariants.by_basis),
    record(FeatureBasis).checked(invariants.feature_basis),
    record(LandmarkBasis).checked(invariants.landmark_basis),
    record(Spectrum).checked(invariants.spectrum),
    record(Centering).checked(invariants.centering),
    record(Model).called("MarginModel").checked(invariants.margin_model),
    record(Mistakes).checked(invariants.mistakes),
    record(PerceptronState).called("Course").checked(invariants.course),
    record(SubproblemResult).called("Found"),
    record(model.ByRows).called("MeansOfRows").checked(invariants.means_of_rows),
    record(model.ByFeatures).called("MeansOfFeatures").checked(invariants.means_of_features),
    record(model.ByLandmarks).called("MeansOfLandmarks").checked(invariants.means_of_landmarks),
    record(Family).checked(lift_invariants.family),
    record(Expansion).checked(lift_invariants.expansion),
    record(TensorSketch).checked(lift_invariants.tensor_sketch),
    record(Axis).checked(lift_invariants.axis),
)

FITTED = reduce(or_, (entry.kind for entry in (*LIFTS, *LEARNERS)))
OF_TABLES = record(TableModel, types={"learner": FITTED}).checked(unsound)
"""A learner or a lift with the columns of a table that it looks at."""

ENTRIES: dict[str, Entry] = {entry.name: entry for entry in (*OWN, *RECORDS, *LIFTS, *LEARNERS, *SCALERS, OF_TABLES)}
"""By the names that stand in files; a name never changes its meaning."""
CLASSES: dict[type, Entry] = {entry.kind: entry for entry in ENTRIES.values()}
MODELS: tuple[type, ...] = tuple(entry.kind for entry in (*LIFTS, *LEARNERS, *SCALERS, OF_TABLES))
"""What can be saved."""
repr(Polynomial())  # scikit-learn imports what prints an estimator now, and not while a file is read
