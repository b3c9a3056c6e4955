"""What must hold between the fields of an object: all is well, and then one field at a time is not.

The functions are asked directly here, so that each condition is tried at its edge; that files are refused for them
is in test_model_limits.py.
"""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.compute.consistency import within
from mercer.kernels.objects.store import Store
from mercer.kernels.points import Points
from mercer.learners.clustering import model as clusters
from mercer.learners.data.views import MatrixView, TableView
from mercer.learners.perceptron.state import PerceptronState
from mercer.learners.streaming.basis import FeatureBasis, LandmarkBasis
from mercer.learners.streaming.predictor import ByBasis, ByDuals, ByFeatures
from mercer.learners.svm.model import Model
from mercer.lifts import Counts, Nystrom, RadialBasis, RandomFourier
from mercer.lifts.axis import Axis
from mercer.lifts.composition import other_columns
from mercer.lifts.expanded import Expanded
from mercer.lifts.expansion import Expansion
from mercer.lifts.graded import Graded, OfPower
from mercer.lifts.monomial_index import Family
from mercer.lifts.powers import Rising
from mercer.lifts.tensor_sketch import TensorSketch
from mercer.models import invariants
from mercer.operators import Centering
from mercer.solvers.perceptron.budget import Forgetron, Projectron
from mercer.solvers.perceptron.perceptron import Mistakes
from mercer.solvers.ridge.spectrum import Spectrum


def zeros(*shape):
    return np.zeros(shape)


def numbers(*values):
    return np.array(values, dtype=np.intp)


def record(**fields):
    return SimpleNamespace(**fields)


def wrong(kind, **fields):
    """What a class says of an object with these fields."""
    return kind._inconsistency(record(**fields))


VIEW = record(count=5)
BASIS = record(width=4)
SOUND = {
    ByDuals: {"view": VIEW, "duals": zeros(5, 2), "levels": zeros(2)},
    ByFeatures: {"weights": zeros(3, 2), "means": zeros(3), "levels": zeros(2)},
    ByBasis: {"basis": BASIS, "weights": zeros(4, 2), "offset": zeros(2)},
    FeatureBasis: {"inner": BASIS},
    LandmarkBasis: {"landmarks": zeros(4, 2), "upper": zeros(4, 4)},
    Spectrum: {"values": zeros(3), "vectors": zeros(7, 3)},
    Model: {"support": numbers(0, 4, 2), "coefficients": zeros(3, 2), "biases": zeros(2)},
    Mistakes: {"rows": numbers(0, 1), "right": numbers(0, 1), "wrong": numbers(1, 0), "steps": zeros(2)},
    PerceptronState: {
        "view": record(count=3),
        "numbers": numbers(7, 8, 9),
        "mistakes": record(rows=numbers(0, 2)),
        "memory": record(used=3),
    },
    clusters.ByRows: {"view": VIEW, "members": numbers(0, 1, 2, 0, 1), "lengths": zeros(3), "shares": zeros(5)},
    clusters.ByFeatures: {"lengths": zeros(3), "origin": zeros(2), "means": zeros(2, 3)},
    clusters.ByLandmarks: {"basis": BASIS, "lengths": zeros(3), "weights": zeros(4, 4), "shift": zeros(4)},
    Centering: {"weights": zeros(5), "counts": zeros(5)},
}
SPOILED = [
    (ByDuals, {"duals": zeros(4, 2)}),
    (ByDuals, {"duals": zeros(5), "levels": zeros()}),
    (ByDuals, {"levels": zeros(3)}),
    (ByFeatures, {"means": zeros(2)}),
    (ByFeatures, {"levels": zeros(3)}),
    (ByFeatures, {"weights": zeros(), "means": zeros(0), "levels": zeros()}),
    (ByBasis, {"weights": zeros(3, 2)}),
    (ByBasis, {"offset": zeros(1)}),
    (FeatureBasis, {"inner": object.__new__(FeatureBasis)}),
    (LandmarkBasis, {"upper": zeros(4, 3)}),
    (LandmarkBasis, {"upper": zeros(3, 4)}),
    (Spectrum, {"values": zeros(3, 1)}),
    (Spectrum, {"vectors": zeros(3, 7)}),
    (Model, {"support": numbers(0, -1, 2)}),
    (Model, {"support": numbers(0, 4)}),
    (Model, {"biases": zeros(1)}),
    (Model, {"biases": zeros(2, 1)}),
    (Mistakes, {"right": numbers(0)}),
    (Mistakes, {"wrong": numbers(0)}),
    (Mistakes, {"steps": zeros(3)}),
    (Mistakes, {"rows": numbers([0], [1])}),
    (PerceptronState, {"view": record(count=4)}),
    (PerceptronState, {"mistakes": record(rows=numbers(0, 3))}),
    (PerceptronState, {"mistakes": record(rows=numbers(-1, 2))}),
    (PerceptronState, {"memory": record(used=2)}),
    (PerceptronState, {"numbers": numbers([7], [8], [9])}),
    (clusters.ByRows, {"members": numbers(0, 1, 3, 0, 1)}),
    (clusters.ByRows, {"members": numbers(0, -1, 2, 0, 1)}),
    (clusters.ByRows, {"members": numbers(0, 1)}),
    (clusters.ByRows, {"shares": zeros(4)}),
    (clusters.ByRows, {"lengths": zeros(3, 1)}),
    (clusters.ByFeatures, {"means": zeros(3, 2)}),
    (clusters.ByFeatures, {"lengths": zeros(3, 1)}),
    (clusters.ByFeatures, {"origin": zeros(2, 1)}),
    (clusters.ByLandmarks, {"weights": zeros(4, 3)}),
    (clusters.ByLandmarks, {"weights": zeros(3, 4)}),
    (clusters.ByLandmarks, {"shift": zeros(3)}),
    (clusters.ByLandmarks, {"lengths": zeros(3, 1)}),
    (Centering, {"counts": zeros(4)}),
    (Centering, {"weights": zeros(5, 1), "counts": zeros(5, 1)}),
]


@pytest.mark.parametrize("kind", SOUND)
def test_what_agrees_is_taken(kind):
    assert wrong(kind, **SOUND[kind]) == ""


@pytest.mark.parametrize(
    "at", range(len(SPOILED)), ids=lambda at: f"{SPOILED[at][0].__name__}-{'-'.join(SPOILED[at][1])}-{at}"
)
def test_what_does_not_agree_is_told(at):
    kind, changes = SPOILED[at]
    told = wrong(kind, **SOUND[kind] | changes)
    assert isinstance(told, str)
    assert told


def test_what_need_not_be_there():
    assert wrong(PerceptronState, **SOUND[PerceptronState] | {"memory": None}) == ""
    assert wrong(Centering, **SOUND[Centering] | {"counts": None}) == ""
    assert wrong(Model, support=numbers(), coefficients=zeros(0, 1), biases=zeros(1)) == ""


MEMORY = {"budget": 8, "coefficients": zeros(4, 2), "used": 4, "inner": zeros(4, 4)}
FORGETTING = MEMORY | {"oldest": 3, "harm": 0.0, "mistakes": 0, "largest": 1.0}
PROJECTING = MEMORY | {"inverse": zeros(4, 4)}
FREE = {"coefficients": zeros(0, 2), "used": 0, "inner": zeros(0, 0)}


@pytest.mark.parametrize(
    ("memory", "changes", "good"),
    [
        (Forgetron, {}, True),
        (Forgetron, FREE | {"oldest": 0}, True),
        (Forgetron, {"used": 5}, False),
        (Forgetron, {"used": -1}, False),
        (Forgetron, {"budget": 3}, False),
        (Forgetron, {"oldest": 4}, False),
        (Forgetron, {"oldest": -1}, False),
        (Forgetron, {"inner": zeros(4, 3)}, False),
        (Forgetron, {"coefficients": zeros(4)}, False),
        (Forgetron, {"coefficients": zeros(), "used": 1, "oldest": 0}, False),
        (Projectron, {}, True),
        (Projectron, FREE | {"inverse": zeros(0, 0)}, True),
        (Projectron, {"inverse": zeros(3, 4)}, False),
        (Projectron, {"used": 5}, False),
    ],
)
def test_slots_of_a_budget(memory, changes, good):
    told = memory._restored((FORGETTING if memory is Forgetron else PROJECTING) | changes)._inconsistency()
    assert isinstance(told, str)
    assert (not told) is good


@pytest.mark.parametrize(("array", "good"), [([], True), ([0, 4], True), ([-1, 4], False), ([0, 5], False)])
def test_positions_within(array, good):
    assert within(numbers(*array), 0, 5) is good


# -- rows -------------------------------------------------------------------------------------------------------------

ROWS = np.arange(6.0).reshape(3, 2)
STORE = Store("strings", ("a", "b"))
OFTEN = np.array([[0.0, 0.5], [1.0, 0.5], [0.0, 1.0]])
BAD_ROWS = {
    "flat": (Points(ROWS[0]), "shape"),
    "narrow": (Points(ROWS.astype(np.float32)), "rows of float32"),
    "remembered as halves": (Points(ROWS, dtype=np.dtype(np.float16)), "rows of float64"),
    "without end": (Points(np.where(ROWS == 4, np.inf, ROWS)), "infinite"),
    "without beginning": (Points(np.where(ROWS == 4, -np.inf, ROWS)), "infinite"),
    "sparse without end": (Points(sp.csr_array(np.where(ROWS == 4, np.inf, ROWS))), "infinite"),
    "one name": (Points(ROWS, ("a",)), "got 1 names or stores for 2 columns"),
    "three labels": (Points(ROWS, labels=("a", "b", "c")), "got 3 names or stores for 2 columns"),
    "one store": (Points(OFTEN, stores=(STORE,)), "got 1 names or stores for 2 columns"),
    "sparse things": (Points(sp.csr_array(OFTEN), stores=(STORE, None)), "sparse rows hold no structured data"),
    "a third thing": (Points(2 * OFTEN, stores=(STORE, None)), "column 0 names objects"),
    "half a thing": (Points(OFTEN, stores=(None, STORE)), "column 1 names objects"),
}


@pytest.mark.parametrize("name", BAD_ROWS)
def test_bad_rows(name):
    points, words = BAD_ROWS[name]
    assert words in points._inconsistency()


def test_good_rows():
    for points in (Points(ROWS), Points(ROWS, ("a", "b")), Points(OFTEN, stores=(STORE, None)), Points(ROWS[:0])):
        assert points._inconsistency() == ""
    assert Points(sp.csr_array(ROWS), dtype=np.dtype(np.float32))._inconsistency() == ""


def test_rows_behind_a_lift():
    rows = record(points=Points(ROWS), lift=record(n_features_in_=2))
    assert TableView._inconsistency(rows) == ""
    rows.lift = record(n_features_in_=3)
    assert TableView._inconsistency(rows) == "got a lift of 3 columns for 2"
    rows.lift = None
    assert TableView._inconsistency(rows) == ""
    assert MatrixView(matrix=np.eye(3))._inconsistency() == ""
    assert "shape (3,)" in MatrixView(matrix=np.ones(3))._inconsistency()


def test_learners():
    assert invariants.estimator(record()) == ""
    assert invariants.estimator(record(n_features_in_=1)) == ""
    assert invariants.estimator(record(n_features_in_=0)) == "got 0 columns"
    assert invariants.estimator(record(n_features_in_=2**31)) == f"got {2**31} columns"
    named = record(n_features_in_=2, feature_names_in_=np.array(["a", "b"]), classes_=np.array([0, 1]))
    assert invariants.estimator(named) == ""
    named.classes_ = np.array([0])
    assert invariants.estimator(named) == "there are not two classes or more"
    named.classes_ = np.eye(2)
    assert invariants.estimator(named) == "there are not two classes or more"
    named.feature_names_in_ = np.array(["a"])
    assert invariants.estimator(named) == "got names of shape (1,) for 2 columns"


def test_learners_hold_rows_of_their_columns():
    inner = record(lift=record(n_features_in_=3))
    one = record(n_features_in_=2, _predictor=record(basis=record(inner=inner)))
    assert invariants.estimator(one) == "got rows of 3 columns for a model of 2"
    one.n_features_in_ = 3
    assert invariants.estimator(one) == ""
    one._result = record(view=MatrixView(matrix=np.eye(5)))
    assert invariants.estimator(one) == "got rows of 5 columns for a model of 3"
    one._precomputed = True
    assert invariants.estimator(one) == ""


# -- lifts ------------------------------------------------------------------------------------------------------------

EXPANSION = {"width": 3, "factors": numbers([0, 2], [1, -1], [-1, -1]), "coefficients": zeros(2, 3)}
SKETCHED = {"width": 4, "places": numbers([0, 7], [1, 2], [3, 3]), "signs": zeros(3, 2), "shift": zeros(8)}
NYSTROM = {
    "kernel_": "gaussian",
    "factor_": zeros(3, 3),
    "landmarks_": zeros(3, 2),
    "n_features_in_": 2,
    "n_components_": 3,
    "_precomputed": False,
}
OF_A_MATRIX = {
    "kernel_": None,
    "landmarks_": None,
    "landmark_indices_": np.array([0, 8, 4]),
    "n_features_in_": 9,
    "_precomputed": True,
}
FOURIER = {"frequencies_": zeros(4, 2), "n_features_in_": 2, "center_": zeros(2), "offsets_": None, "n_components_": 8}
FAMILY = {"width": 3, "degree": 3, "lowest": 0, "repeated": False}
LIFTS = [
    (Family, FAMILY, {}, True),
    (Family, FAMILY, {"width": 0, "repeated": True}, False),
    (Family, FAMILY, {"width": 1, "degree": 1}, True),
    (Family, FAMILY, {"width": 2**31, "repeated": True}, False),
    (Family, FAMILY, {"width": 2**31 - 1, "repeated": True}, True),
    (Family, FAMILY, {"degree": 0}, False),
    (Family, FAMILY, {"degree": 2**31, "repeated": True}, False),
    (Family, FAMILY, {"lowest": -1}, False),
    (Family, FAMILY, {"lowest": 3}, True),
    (Family, FAMILY, {"lowest": 4}, False),
    (Family, FAMILY, {"degree": 4}, False),
    (Family, FAMILY, {"degree": 4, "repeated": True}, True),
    (Family, FAMILY, {"degree": 62, "width": 62}, True),
    (Family, FAMILY, {"degree": 63, "width": 63}, False),
    (Rising, {"width": 1, "degree": 1}, {}, True),
    (Rising, {"width": 1, "degree": 1}, {"width": 0}, False),
    (Rising, {"width": 1, "degree": 1}, {"degree": 0}, False),
    (Rising, {"width": 1, "degree": 1}, {"degree": 2**31}, False),
    (Rising, {"width": 1, "degree": 1}, {"width": 2**31 - 1}, True),
    (Expansion, EXPANSION, {}, True),
    (Expansion, EXPANSION, {"width": 2}, False),
    (Expansion, EXPANSION, {"width": 2**31}, False),
    (Expansion, EXPANSION, {"factors": numbers([0, 2], [-1, 1], [-1, -1])}, False),
    (Expansion, EXPANSION, {"factors": numbers([0, 2], [1, -2], [-1, -1])}, False),
    (Expansion, EXPANSION, {"factors": numbers(0, 1, 2)}, False),
    (Expansion, EXPANSION, {"factors": np.zeros((3, 0), np.intp)}, False),
    (Expansion, EXPANSION, {"coefficients": zeros(3, 2)}, False),
    (TensorSketch, SKETCHED, {}, True),
    (TensorSketch, SKETCHED, {"places": numbers([0, 8], [1, 2], [3, 3])}, False),
    (TensorSketch, SKETCHED, {"places": numbers([0, -1], [1, 2], [3, 3])}, False),
    (TensorSketch, SKETCHED, {"places": numbers(0, 1)}, False),
    (TensorSketch, SKETCHED, {"places": np.zeros((3, 0), np.intp), "signs": zeros(3, 0), "shift": zeros(0)}, False),
    (TensorSketch, SKETCHED, {"width": 0, "places": np.zeros((0, 2)), "signs": zeros(0, 2)}, False),
    (TensorSketch, SKETCHED, {"signs": zeros(2, 3)}, False),
    (TensorSketch, SKETCHED, {"shift": zeros(7)}, False),
    (Axis, {"tail": zeros(3)}, {}, True),
    (Axis, {"tail": zeros(3)}, {"tail": zeros(3, 1)}, False),
    (RandomFourier, FOURIER, {}, True),
    (RandomFourier, FOURIER, {"n_components_": 4}, False),
    (RandomFourier, FOURIER, {"n_components_": 4, "offsets_": zeros(4)}, True),
    (RandomFourier, FOURIER, {"n_components_": 4, "offsets_": zeros(3)}, False),
    (RandomFourier, FOURIER, {"offsets_": zeros(4)}, False),
    (RandomFourier, FOURIER, {"n_features_in_": 3}, False),
    (RandomFourier, FOURIER, {"center_": zeros(3)}, False),
    (RadialBasis, {"centers_": zeros(4, 2), "n_features_in_": 2}, {}, True),
    (RadialBasis, {"centers_": zeros(4, 2), "n_features_in_": 2}, {"n_features_in_": 4}, False),
    (Expanded, {"expansion_": record(width=2), "n_features_in_": 2}, {}, True),
    (Expanded, {"expansion_": record(width=2), "n_features_in_": 3}, {}, False),
    (Counts, {"_known": zeros(4, 2), "n_features_in_": 2}, {}, True),
    (Counts, {"_known": zeros(4, 2), "n_features_in_": 4}, {}, False),
]


@pytest.mark.parametrize(
    "at", range(len(LIFTS)), ids=lambda at: f"{LIFTS[at][0].__name__}-{'-'.join(LIFTS[at][2])}-{at}"
)
def test_lifts(at):
    kind, fields, changes, good = LIFTS[at]
    told = wrong(kind, **fields | changes)
    assert isinstance(told, str)
    assert (not told) is good


@pytest.mark.parametrize(
    ("changes", "good"),
    [
        ({}, True),
        ({"factor_": zeros(3, 2)}, False),
        ({"n_features_in_": 3}, False),
        ({"n_components_": 2}, False),
        ({"factor_": zeros(0, 0), "landmarks_": zeros(0, 2), "n_components_": 0}, False),
        ({"landmarks_": np.full((3, 2), np.inf)}, False),
        ({"landmarks_": None}, False),
        ({"kernel_": None}, False),
        ({**OF_A_MATRIX}, True),
        ({**OF_A_MATRIX, "landmark_indices_": np.array([0, 1, 9])}, False),
        ({**OF_A_MATRIX, "landmark_indices_": np.array([0, 1, -1])}, False),
        ({**OF_A_MATRIX, "landmark_indices_": np.array([0, 1])}, False),
        ({**OF_A_MATRIX, "landmark_indices_": None}, False),
        ({**OF_A_MATRIX, "factor_": zeros(2, 3)}, False),
    ],
    ids=str,
)
def test_landmarks_of_nystrom(changes, good):
    one = record(**NYSTROM | changes)
    one.landmark_points = lambda _: Points(one.landmarks_)
    one._inconsistency_of_matrix = lambda: Nystrom._inconsistency_of_matrix(one)
    told = Nystrom._inconsistency(one)
    assert isinstance(told, str)
    assert (not told) is good


@pytest.mark.parametrize(("columns", "good"), [((2, 2), True), ((2, 3), False), ((3, 2), False), ((2, None), False)])
def test_parts_of_a_lift_see_the_columns_of_the_whole(columns, good):
    parts = [record() if width is None else record(n_features_in_=width) for width in columns]
    told = other_columns(record(n_features_in_=2), *parts)
    assert told == ("" if good else "got a part of other than 2 columns")


@pytest.mark.parametrize(
    ("degree", "offset", "good"),
    [
        (1, 0.0, True),
        (2**16, 1e9, True),
        (0, 1.0, False),
        (2**16 + 1, 1.0, False),
        (2, -1.0, False),
        (2, np.inf, False),
        (2, np.nan, False),
    ],
)
def test_powers_that_monomials_weigh_by(degree, offset, good):
    assert (OfPower(degree, offset)._inconsistency() == "") is good


def test_monomials_are_of_no_higher_degree_than_their_power():
    assert Graded(Family(2, 3), OfPower(3, 1.0))._inconsistency() == ""
    assert Graded(Family(2, 3))._inconsistency() == ""
    assert "a power of a lower one" in Graded(Family(2, 3), OfPower(2, 1.0))._inconsistency()


def test_the_words_name_the_columns():
    assert wrong(Counts, _known=zeros(4, 2), n_features_in_=5) == "got rows of 2 columns for 5"
    assert wrong(Expanded, expansion_=record(width=2), n_features_in_=3) == "got an expansion of 2 columns for 3"
    assert wrong(TensorSketch, **SKETCHED | {"shift": zeros(7)}) == "an array of shape (7,) stands where (8,) is due"
