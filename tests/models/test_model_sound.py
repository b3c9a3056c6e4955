"""What must hold between the fields of an object: all is well, and then one field at a time is not.

The functions are asked directly here, so that each condition is tried at its edge; that files are refused for them
is in test_model_limits.py.
"""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.kernels.objects.store import Store
from mercer.kernels.points import Points
from mercer.learners.data.views import MatrixView
from mercer.learners.streaming.basis import FeatureBasis
from mercer.models import invariants, lift_invariants


def zeros(*shape):
    return np.zeros(shape)


def numbers(*values):
    return np.array(values, dtype=np.intp)


def record(**fields):
    return SimpleNamespace(**fields)


VIEW = record(count=5)
BASIS = record(width=4)
SOUND = {
    "by_duals": {"view": VIEW, "duals": zeros(5, 2), "levels": zeros(2)},
    "by_features": {"weights": zeros(3, 2), "means": zeros(3), "levels": zeros(2)},
    "by_basis": {"basis": BASIS, "weights": zeros(4, 2), "offset": zeros(2)},
    "feature_basis": {"inner": BASIS},
    "landmark_basis": {"landmarks": zeros(4, 2), "upper": zeros(4, 4)},
    "spectrum": {"values": zeros(3), "vectors": zeros(7, 3)},
    "margin_model": {"support": numbers(0, 4, 2), "coefficients": zeros(3, 2), "biases": zeros(2)},
    "mistakes": {"rows": numbers(0, 1), "right": numbers(0, 1), "wrong": numbers(1, 0), "steps": zeros(2)},
    "course": {
        "view": record(count=3),
        "numbers": numbers(7, 8, 9),
        "mistakes": record(rows=numbers(0, 2)),
        "memory": record(used=3),
    },
    "memory": {
        "budget": 8,
        "coefficients": zeros(4, 2),
        "used": 4,
        "oldest": 3,
        "inner": zeros(4, 4),
        "inverse": zeros(4, 4),
    },
    "means_of_rows": {"view": VIEW, "members": numbers(0, 1, 2, 0, 1), "lengths": zeros(3), "shares": zeros(5)},
    "means_of_features": {"lengths": zeros(3), "origin": zeros(2), "means": zeros(2, 3)},
    "means_of_landmarks": {"basis": BASIS, "lengths": zeros(3), "weights": zeros(4, 4), "shift": zeros(4)},
    "centering": {"weights": zeros(5), "counts": zeros(5)},
}
SPOILED = [
    ("by_duals", {"duals": zeros(4, 2)}),
    ("by_duals", {"duals": zeros(5), "levels": zeros()}),
    ("by_duals", {"levels": zeros(3)}),
    ("by_features", {"means": zeros(2)}),
    ("by_features", {"levels": zeros(3)}),
    ("by_features", {"weights": zeros(), "means": zeros(0), "levels": zeros()}),
    ("by_basis", {"weights": zeros(3, 2)}),
    ("by_basis", {"offset": zeros(1)}),
    ("feature_basis", {"inner": object.__new__(FeatureBasis)}),
    ("landmark_basis", {"upper": zeros(4, 3)}),
    ("landmark_basis", {"upper": zeros(3, 4)}),
    ("spectrum", {"values": zeros(3, 1)}),
    ("spectrum", {"vectors": zeros(3, 7)}),
    ("margin_model", {"support": numbers(0, -1, 2)}),
    ("margin_model", {"support": numbers(0, 4)}),
    ("margin_model", {"biases": zeros(1)}),
    ("margin_model", {"biases": zeros(2, 1)}),
    ("mistakes", {"right": numbers(0)}),
    ("mistakes", {"wrong": numbers(0)}),
    ("mistakes", {"steps": zeros(3)}),
    ("mistakes", {"rows": numbers([0], [1])}),
    ("course", {"view": record(count=4)}),
    ("course", {"mistakes": record(rows=numbers(0, 3))}),
    ("course", {"mistakes": record(rows=numbers(-1, 2))}),
    ("course", {"memory": record(used=2)}),
    ("course", {"numbers": numbers([7], [8], [9])}),
    ("memory", {"used": 5}),
    ("memory", {"used": -1}),
    ("memory", {"budget": 3}),
    ("memory", {"oldest": 4}),
    ("memory", {"oldest": -1}),
    ("memory", {"inner": zeros(4, 3)}),
    ("memory", {"inverse": zeros(3, 4)}),
    ("memory", {"coefficients": zeros(4)}),
    ("memory", {"coefficients": zeros(), "used": 1, "oldest": 0}),
    ("means_of_rows", {"members": numbers(0, 1, 3, 0, 1)}),
    ("means_of_rows", {"members": numbers(0, -1, 2, 0, 1)}),
    ("means_of_rows", {"members": numbers(0, 1)}),
    ("means_of_rows", {"shares": zeros(4)}),
    ("means_of_rows", {"lengths": zeros(3, 1)}),
    ("means_of_features", {"means": zeros(3, 2)}),
    ("means_of_features", {"lengths": zeros(3, 1)}),
    ("means_of_features", {"origin": zeros(2, 1)}),
    ("means_of_landmarks", {"weights": zeros(4, 3)}),
    ("means_of_landmarks", {"weights": zeros(3, 4)}),
    ("means_of_landmarks", {"shift": zeros(3)}),
    ("means_of_landmarks", {"lengths": zeros(3, 1)}),
    ("centering", {"counts": zeros(4)}),
    ("centering", {"weights": zeros(5, 1), "counts": zeros(5, 1)}),
]


@pytest.mark.parametrize("name", SOUND)
def test_what_agrees_is_taken(name):
    assert getattr(invariants, name)(record(**SOUND[name])) == ""


@pytest.mark.parametrize("at", range(len(SPOILED)), ids=lambda at: f"{SPOILED[at][0]}-{'-'.join(SPOILED[at][1])}-{at}")
def test_what_does_not_agree_is_told(at):
    name, changes = SPOILED[at]
    told = getattr(invariants, name)(record(**SOUND[name] | changes))
    assert isinstance(told, str)
    assert told


def test_what_need_not_be_there():
    assert invariants.course(record(**SOUND["course"] | {"view": None, "memory": None})) == ""
    assert invariants.centering(record(**SOUND["centering"] | {"counts": None})) == ""
    assert invariants.memory(record(budget=3, coefficients=zeros(0, 2), used=0, oldest=0, inner=zeros(0, 0))) == ""
    nothing = {"support": numbers(), "coefficients": zeros(0, 1), "biases": zeros(1)}
    assert invariants.margin_model(record(**nothing)) == ""


@pytest.mark.parametrize(("array", "good"), [([], True), ([0, 4], True), ([-1, 4], False), ([0, 5], False)])
def test_positions_within(array, good):
    assert invariants.within(numbers(*array), 0, 5) is good


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
    "sparse objects": (Points(sp.csr_array(OFTEN), stores=(STORE, None)), "sparse rows hold no objects"),
    "a third object": (Points(2 * OFTEN, stores=(STORE, None)), "column 0 names objects"),
    "half an object": (Points(OFTEN, stores=(None, STORE)), "column 1 names objects"),
}


@pytest.mark.parametrize("name", BAD_ROWS)
def test_bad_rows(name):
    points, words = BAD_ROWS[name]
    assert words in invariants.points(points)


def test_good_rows():
    for points in (Points(ROWS), Points(ROWS, ("a", "b")), Points(OFTEN, stores=(STORE, None)), Points(ROWS[:0])):
        assert invariants.points(points) == ""
    assert invariants.points(Points(sp.csr_array(ROWS), dtype=np.dtype(np.float32))) == ""


def test_rows_behind_a_lift():
    rows = record(points=Points(ROWS), lift=record(n_features_in_=2))
    assert invariants.view(rows) == ""
    rows.lift = record(n_features_in_=3)
    assert invariants.view(rows) == "got a lift of 3 columns for 2"
    rows.lift = None
    assert invariants.view(rows) == ""
    assert invariants.view(MatrixView(None, matrix=np.eye(3))) == ""
    assert "shape (3,)" in invariants.view(MatrixView(None, matrix=np.ones(3)))


def test_learners():
    assert invariants.learner(record()) == ""
    assert invariants.learner(record(n_features_in_=1)) == ""
    assert invariants.learner(record(n_features_in_=0)) == "got 0 columns"
    assert invariants.learner(record(n_features_in_=2**31)) == f"got {2**31} columns"
    named = record(n_features_in_=2, feature_names_in_=np.array(["a", "b"]), classes_=np.array([0, 1]))
    assert invariants.learner(named) == ""
    named.classes_ = np.array([0])
    assert invariants.learner(named) == "there are not two classes or more"
    named.classes_ = np.eye(2)
    assert invariants.learner(named) == "there are not two classes or more"
    named.feature_names_in_ = np.array(["a"])
    assert invariants.learner(named) == "got names of shape (1,) for 2 columns"


def test_learners_hold_rows_of_their_columns():
    inner = record(lift=record(n_features_in_=3))
    one = record(n_features_in_=2, _predictor=record(basis=record(inner=inner)))
    assert invariants.learner(one) == "got rows of 3 columns for a model of 2"
    one.n_features_in_ = 3
    assert invariants.learner(one) == ""
    one._view = MatrixView(None, matrix=np.eye(5))
    assert invariants.learner(one) == "got rows of 5 columns for a model of 3"
    one._precomputed = True
    assert invariants.learner(one) == ""


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
    ("family", FAMILY, {}, True),
    ("family", FAMILY, {"width": 0, "repeated": True}, False),
    ("family", FAMILY, {"width": 1, "degree": 1}, True),
    ("family", FAMILY, {"width": 2**31, "repeated": True}, False),
    ("family", FAMILY, {"width": 2**31 - 1, "repeated": True}, True),
    ("family", FAMILY, {"degree": 0}, False),
    ("family", FAMILY, {"degree": 2**31, "repeated": True}, False),
    ("family", FAMILY, {"lowest": -1}, False),
    ("family", FAMILY, {"lowest": 3}, True),
    ("family", FAMILY, {"lowest": 4}, False),
    ("family", FAMILY, {"degree": 4}, False),
    ("family", FAMILY, {"degree": 4, "repeated": True}, True),
    ("family", FAMILY, {"degree": 62, "width": 62}, True),
    ("family", FAMILY, {"degree": 63, "width": 63}, False),
    ("rising", {"width": 1, "degree": 1}, {}, True),
    ("rising", {"width": 1, "degree": 1}, {"width": 0}, False),
    ("rising", {"width": 1, "degree": 1}, {"degree": 0}, False),
    ("rising", {"width": 1, "degree": 1}, {"degree": 2**31}, False),
    ("rising", {"width": 1, "degree": 1}, {"width": 2**31 - 1}, True),
    ("expansion", EXPANSION, {}, True),
    ("expansion", EXPANSION, {"width": 2}, False),
    ("expansion", EXPANSION, {"width": 2**31}, False),
    ("expansion", EXPANSION, {"factors": numbers([0, 2], [-1, 1], [-1, -1])}, False),
    ("expansion", EXPANSION, {"factors": numbers([0, 2], [1, -2], [-1, -1])}, False),
    ("expansion", EXPANSION, {"factors": numbers(0, 1, 2)}, False),
    ("expansion", EXPANSION, {"factors": np.zeros((3, 0), np.intp)}, False),
    ("expansion", EXPANSION, {"coefficients": zeros(3, 2)}, False),
    ("tensor_sketch", SKETCHED, {}, True),
    ("tensor_sketch", SKETCHED, {"places": numbers([0, 8], [1, 2], [3, 3])}, False),
    ("tensor_sketch", SKETCHED, {"places": numbers([0, -1], [1, 2], [3, 3])}, False),
    ("tensor_sketch", SKETCHED, {"places": numbers(0, 1)}, False),
    ("tensor_sketch", SKETCHED, {"places": np.zeros((3, 0), np.intp), "signs": zeros(3, 0), "shift": zeros(0)}, False),
    ("tensor_sketch", SKETCHED, {"width": 0, "places": np.zeros((0, 2)), "signs": zeros(0, 2)}, False),
    ("tensor_sketch", SKETCHED, {"signs": zeros(2, 3)}, False),
    ("tensor_sketch", SKETCHED, {"shift": zeros(7)}, False),
    ("axis", {"tail": zeros(3)}, {}, True),
    ("axis", {"tail": zeros(3)}, {"tail": zeros(3, 1)}, False),
    ("fourier", {}, {}, True),
    ("fourier", FOURIER, {}, True),
    ("fourier", FOURIER, {"n_components_": 4}, False),
    ("fourier", FOURIER, {"n_components_": 4, "offsets_": zeros(4)}, True),
    ("fourier", FOURIER, {"n_components_": 4, "offsets_": zeros(3)}, False),
    ("fourier", FOURIER, {"offsets_": zeros(4)}, False),
    ("fourier", FOURIER, {"n_features_in_": 3}, False),
    ("fourier", FOURIER, {"center_": zeros(3)}, False),
    ("radial_basis", {}, {}, True),
    ("radial_basis", {"centers_": zeros(4, 2), "n_features_in_": 2}, {}, True),
    ("radial_basis", {"centers_": zeros(4, 2), "n_features_in_": 2}, {"n_features_in_": 4}, False),
    ("expanded", {}, {}, True),
    ("expanded", {"expansion_": record(width=2), "n_features_in_": 2}, {}, True),
    ("expanded", {"expansion_": record(width=2), "n_features_in_": 3}, {}, False),
    ("composed", {"n_features_in_": 2, "lift_": record(n_features_in_=2)}, {}, True),
    ("composed", {"n_features_in_": 2, "lift_": record(n_features_in_=3)}, {}, False),
    ("composed", {"n_features_in_": 2, "first_": record(n_features_in_=2)}, {"second_": record()}, False),
    ("counts", {}, {}, True),
    ("counts", {"_known": zeros(4, 2), "n_features_in_": 2}, {}, True),
    ("counts", {"_known": zeros(4, 2), "n_features_in_": 4}, {}, False),
    ("exact", {}, {}, True),
]


@pytest.mark.parametrize("at", range(len(LIFTS)), ids=lambda at: f"{LIFTS[at][0]}-{'-'.join(LIFTS[at][2])}-{at}")
def test_lifts(at):
    name, fields, changes, good = LIFTS[at]
    told = getattr(lift_invariants, name)(record(**fields | changes))
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
    told = lift_invariants.nystrom(one)
    assert isinstance(told, str)
    assert (not told) is good
    assert lift_invariants.nystrom(record()) == ""


def test_the_words_name_the_columns():
    assert lift_invariants.counts(record(_known=zeros(4, 2), n_features_in_=5)) == "got rows of 2 columns for 5"
    assert (
        lift_invariants.expanded(record(expansion_=record(width=2), n_features_in_=3))
        == "got an expansion of 2 columns for 3"
    )
    assert (
        lift_invariants.tensor_sketch(record(**SKETCHED | {"shift": zeros(7)}))
        == "an array of shape (7,) stands where (8,) is due"
    )
