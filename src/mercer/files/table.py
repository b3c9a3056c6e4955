"""The table of classes that files may name: written by hand, and the only way from a name to a class."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mercer.compute.family import Family
from mercer.files import sound, sound_lifts, things
from mercer.files.entry import Entry, Fields, made, record
from mercer.files.kernel_texts import Words
from mercer.files.learner_table import LEARNERS
from mercer.files.lift_table import LIFTS
from mercer.files.refusing import refuse
from mercer.files.scaler_table import SCALERS
from mercer.files.tables_model import TableModel, unsound
from mercer.files.texts import TextArray, Texts
from mercer.kernels.objects.store import Store
from mercer.kernels.points import Points
from mercer.learners import cluster_model
from mercer.learners.basis import FeatureBasis, LandmarkBasis, LiftBasis
from mercer.learners.calibration import Calibration, Sigmoid
from mercer.learners.component_features import TableBasis
from mercer.learners.course import Course
from mercer.learners.distance import Distance
from mercer.learners.margin_model import Model
from mercer.learners.perceptron import WithOne
from mercer.learners.posterior import StreamedPosterior
from mercer.learners.predictor import ByBasis, ByDuals, ByFeatures
from mercer.learners.preimage import Preimages
from mercer.learners.sought import Found
from mercer.learners.views import KernelView, LiftView, MatrixView
from mercer.lifts.axis import Axis
from mercer.lifts.certificate import Certificate
from mercer.lifts.expansion import Expansion
from mercer.lifts.graded import Biased, Graded
from mercer.lifts.parts import Chosen, Joined, Lifted, Moved, Multiplied, Polynomials, Unit, Weighed
from mercer.lifts.polynomial import Polynomial
from mercer.lifts.powers import Rising
from mercer.lifts.sketch import _Power
from mercer.lifts.splitting import Division
from mercer.lifts.tensor_sketch import TensorSketch
from mercer.operators import Centering
from mercer.planner.clusters import ClusterPlan
from mercer.planner.components import ComponentPlan
from mercer.planner.logistic import LogisticPlan
from mercer.planner.margins import MarginPlan
from mercer.planner.passes import PassPlan
from mercer.planner.plan import Plan, Stage
from mercer.solvers import Cholesky, ConjugateGradient, Eigen, GradientDescent
from mercer.solvers.budgeted import Forgetron, Projectron
from mercer.solvers.outcome import History, Outcome
from mercer.solvers.perceptron import Mistakes
from mercer.solvers.spectrum import Spectrum
from mercer.tuning.path import Path

Floats = NDArray[np.float64]
MOST_DEGREE = 1 << 16


# -- classes that are taken apart by hand ------------------------------------------------------------------------------


def _csr(fields: Fields) -> csr_array:
    """Compressed rows, checked to the last position; index arrays are used as they are."""
    shape = fields["shape"]
    arrays = fields["data"], fields["indices"], fields["indptr"]
    if any(array.ndim != 1 for array in arrays) or min(shape) < 0 or len(fields["indptr"]) != shape[0] + 1:
        refuse("sound sparse rows", f"arrays of shapes {[array.shape for array in arrays]} came for {shape}")
    found = csr_array(arrays, shape=shape)
    found.check_format(full_check=True)
    if found.indices.dtype != fields["indices"].dtype or not found.has_canonical_format:
        refuse("sorted sparse rows with the shortest positions", "others came")
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
        refuse("monomials of a polynomial kernel", f"{family} came for degree {degree} and offset {offset}")
    return found


def _memory(kind: type, more: dict[str, Any]) -> Entry:
    """The memory of a perceptron on a budget, which is filled as it learns."""
    hints = {"budget": int, "coefficients": Floats, "inner": Floats, "used": int, **more}

    def make(fields: Fields) -> Any:
        found = kind(0, 1)
        found.__dict__.update({"budget": len(np.atleast_1d(fields["coefficients"])), **fields})
        return found

    entry = made(kind, hints, lambda one: {name: getattr(one, name) for name in hints}, make).checked(sound.memory)
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
    ).checked(sound_lifts.rising),
    _memory(Forgetron, {"oldest": int, "harm": float, "mistakes": int, "largest": float}),
    _memory(Projectron, {"inverse": Floats}),
    made(Store, {"kind": str, "items": things.Items}, things.packed, things.unpacked).counted(things.many),
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
    *map(record, (Texts, things.Labels, things.Lists, things.Graphs, Words)),
    *map(record, (Cholesky, Eigen, ConjugateGradient, GradientDescent)),
    *map(record, (Plan, Stage, MarginPlan, LogisticPlan, PassPlan, ComponentPlan, ClusterPlan)),
    *map(record, (Certificate, Found, Sigmoid, Preimages, Division, LiftBasis, TableBasis)),
    *map(record, (Polynomials, Lifted, Joined, Multiplied, Weighed, Moved, Chosen, Unit, StreamedPosterior)),
    record(Distance),
    record(Path).with_nan("errors", "wrong"),
    record(History).with_nan("losses", "coefficients", "validation"),
    record(Outcome, without=("decomposition",)),
    record(Points, types={"values": NDArray[Any] | csr_array}).checked(sound.points),
    record(KernelView).checked(sound.view),
    record(LiftView).checked(sound.view),
    record(WithOne).checked(sound.view),
    record(MatrixView).checked(sound.view),
    record(ByDuals).checked(sound.by_duals),
    record(ByFeatures).checked(sound.by_features),
    record(ByBasis).checked(sound.by_basis),
    record(FeatureBasis).checked(sound.feature_basis),
    record(LandmarkBasis).checked(sound.landmark_basis),
    record(Spectrum).checked(sound.spectrum),
    record(Centering).checked(sound.centering),
    record(Calibration).checked(sound.calibration),
    record(Model).called("MarginModel").checked(sound.margin_model),
    record(Mistakes).checked(sound.mistakes),
    record(Course).checked(sound.course),
    record(cluster_model.ByRows).called("MeansOfRows").checked(sound.means_of_rows),
    record(cluster_model.ByFeatures).called("MeansOfFeatures").checked(sound.means_of_features),
    record(cluster_model.ByLandmarks).called("MeansOfLandmarks").checked(sound.means_of_landmarks),
    record(Family).checked(sound_lifts.family),
    record(Expansion).checked(sound_lifts.expansion),
    record(TensorSketch).checked(sound_lifts.tensor_sketch),
    record(Axis).checked(sound_lifts.axis),
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
