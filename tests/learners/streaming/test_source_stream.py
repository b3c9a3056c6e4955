"""Streams of sources; the oracle is what learners make of the same rows in memory."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from mercer import KernelRidge, KernelRidgeClassifier
from mercer.errors import InputError, speaking
from mercer.kernels.points import Points
from mercer.learners.streaming import first_pass
from mercer.learners.streaming.source_stream import (
    classification_stream,
    loaded,
    new_points,
    note_columns,
    regression_stream,
)
from mercer.sources import Arrays, Batch, Batches, Parquet, Source

ROWS = 211
random = np.random.default_rng(0)
X = random.normal(size=(ROWS, 3)).astype(np.float32)
y = random.normal(size=ROWS)
w = random.integers(0, 3, ROWS) * 1.5
w[40:140] = 0.0  # whole blocks without a row that counts
KINDS = random.choice(["a", "bb", "ccc"], ROWS)
NAMES = ("u", "v", "z")
SIZES = [(1, 0), (7, 0), (7, 35), (13, 50), (1000, 0), (1000, 80), (5, 500)]
SOURCES = ["arrays", "memmap", "parquet", "function", "list"]


@pytest.fixture(autouse=True)
def _learner():
    """Whoever reads a source says its name."""
    with speaking("KernelRidge"):
        yield


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of a few rows, so that some data has many."""
    monkeypatch.setattr(first_pass, "BLOCK_ROWS", 16)
    monkeypatch.setattr("mercer.learners.streaming.source_stream.BLOCK_ROWS", 16)


@pytest.fixture
def source_for(tmp_path):
    def made(kind, targets, weights):
        parts = [slice(at, at + 17) for at in range(0, ROWS, 17)]
        cut = [tuple(x[part] for x in (X, targets, weights) if x is not None) for part in parts]
        if kind == "arrays":
            return Arrays(X, targets, weight=weights)
        if kind == "memmap":
            np.save(tmp_path / "X.npy", X)
            return Arrays(np.load(tmp_path / "X.npy", mmap_mode="r"), targets, weight=weights)
        if kind == "parquet":
            pytest.importorskip("pyarrow", reason="Parquet files are read by pyarrow")
            names = "y" if targets.ndim == 1 else [f"y{at}" for at in range(targets.shape[1])]
            frame = pd.DataFrame(X, columns=list(NAMES))
            frame[names] = targets
            frame = frame if weights is None else frame.assign(weight=weights)
            frame.to_parquet(tmp_path / "x.parquet", row_group_size=11)
            return Parquet(
                tmp_path / "x.parquet", columns=NAMES, target=names, weight=None if weights is None else "weight"
            )
        return Batches(cut if kind == "list" else lambda: iter(cut))

    return made


def expected_pieces(size, start, targets, weights, copies):
    kept = np.flatnonzero(weights > 0)
    for first in range(start, len(kept), size):
        rows = kept[first : first + size]
        yield first, X[rows], targets[rows], weights[rows], copies[rows]


def agree(pieces, expected):
    pieces, expected = list(pieces), list(expected)
    assert len(pieces) == len(expected)
    for piece, (start, rows, targets, weights, copies) in zip(pieces, expected, strict=True):
        assert (piece.start, piece.stop) == (start, start + len(rows))
        assert piece.points.dtype == np.float32
        assert piece.points.values.dtype == np.float64
        np.testing.assert_array_equal(piece.points.values, rows)
        np.testing.assert_array_equal(piece.targets, targets)
        np.testing.assert_allclose(piece.weights, weights, rtol=1e-15)
        np.testing.assert_array_equal(piece.copies, copies)


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("weights", [None, w])
def test_regression_from_all_sources(source_for, kind, weights):
    stream = regression_stream(source_for(kind, y, weights))
    full = np.ones(ROWS) if weights is None else weights
    assert (stream.count, stream.columns, stream.outputs, stream.stored) == (np.count_nonzero(full), 3, 1, False)
    assert (stream.labels, stream.head.shape) == (None, ())
    assert stream.total == full.sum()
    for size, start in SIZES:
        agree(stream.pieces(size, start), expected_pieces(size, start, y[:, None], full, full))


def coded(labels, classes):
    if len(classes) == 2:
        return np.where(labels == classes[1], 1.0, -1.0)[:, None]
    return np.array([[1.0 if label == name else -1.0 for name in classes] for label in labels])


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("weights", [None, w])
@pytest.mark.parametrize("class_weight", [None, "balanced", {"a": 2.0, "bb": 0.0}, {"bb": 3.3}])
def test_classification_from_all_sources(source_for, kind, weights, class_weight):
    stream, _ = classification_stream(source_for(kind, KINDS, weights), class_weight)
    copies = np.ones(ROWS) if weights is None else weights
    sums = {label: copies[label == KINDS].sum() for label in ("a", "bb", "ccc")}
    factors = class_weight or {}
    if class_weight == "balanced":
        factors = {label: copies.sum() / (3 * total) for label, total in sums.items()}
    full = copies * np.array([factors.get(label, 1.0) for label in KINDS])
    classes = [label for label in sums if factors.get(label, 1.0) > 0]
    assert stream.labels.classes.tolist() == classes
    assert stream.outputs == (1 if len(classes) == 2 else 3)
    assert stream.count == np.count_nonzero(full)
    np.testing.assert_allclose(stream.total, full.sum(), rtol=1e-14)
    for size, start in SIZES:
        agree(stream.pieces(size, start), expected_pieces(size, start, coded(KINDS, classes), full, copies))


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("weights", [None, w])
@pytest.mark.parametrize("positions", [[0], [3, 4, 5, 79], [0, 50, 51, 81], list(range(0, 80, 7)), []])
def test_a_sample_is_the_rows_at_its_positions(source_for, kind, weights, positions):
    stream = regression_stream(source_for(kind, y, weights))
    kept = np.arange(ROWS) if weights is None else np.flatnonzero(weights)
    rows = kept[np.array(positions, dtype=np.intp)]
    full = np.ones(ROWS) if weights is None else weights
    piece = stream.sample(np.array(positions, dtype=np.intp))
    agree([piece], [(0, X[rows], y[rows, None], full[rows], full[rows])])


class Counted(Arrays):
    """Arrays that know how many rows were read."""

    def batches(self, size, start=0, what="all"):
        for batch in super().batches(size, start, what):
            self.__dict__["read"] = self.__dict__.get("read", 0) + batch.count * (what == "all")
            yield batch


def test_a_sample_skips_what_can_be_skipped():
    many = np.arange(40_000.0)[:, None]
    source = Counted(many, many[:, 0])
    positions = np.array([10, 11, 9_000, 39_999])
    np.testing.assert_array_equal(regression_stream(source).sample(positions).targets[:, 0], positions)
    assert source.read < 10


@pytest.mark.parametrize("block", [16, 1024])
def test_a_sample_of_weighted_rows_is_one_pass_at_most(monkeypatch, block):
    monkeypatch.setattr(first_pass, "BLOCK_ROWS", block)
    monkeypatch.setattr("mercer.learners.streaming.source_stream.BLOCK_ROWS", block)
    many = np.arange(40_000.0)[:, None]
    source = Counted(many, many[:, 0], 1 + many[:, 0] % 2)
    positions = np.arange(100, 40_000, 300)
    np.testing.assert_array_equal(regression_stream(source).sample(positions).targets[:, 0], positions)
    assert source.read <= 40_001


@pytest.mark.parametrize("kind", SOURCES)
def test_all_rows_can_be_loaded(source_for, kind):
    stored = loaded(regression_stream(source_for(kind, np.column_stack([y, -y]), w)))
    kept = np.flatnonzero(w)
    assert stored.points.dtype == np.float32
    assert stored.points.names == (NAMES if kind == "parquet" else None)
    np.testing.assert_array_equal(stored.points.values, X[kept])
    np.testing.assert_array_equal(stored.targets, np.column_stack([y, -y])[kept])
    np.testing.assert_array_equal(stored.weights, w[kept])


def test_sparse_rows_stay_sparse():
    table = csr_array(np.where(X > 0, X, 0))
    stream = regression_stream(Batches([(table[:100], y[:100], w[:100]), (table[100:], y[100:], w[100:])]))
    kept = np.flatnonzero(w)
    for piece in stream.pieces(13):
        np.testing.assert_array_equal(piece.points.values.toarray(), table.toarray()[kept[piece.start : piece.stop]])
        assert piece.points.values.has_canonical_format
    np.testing.assert_array_equal(stream.sample(np.array([5, 80])).points.values.toarray(), X.clip(0)[kept[[5, 80]]])
    np.testing.assert_array_equal(loaded(stream).points.values.toarray(), X.clip(0)[kept])


@pytest.mark.parametrize("kind", SOURCES)
def test_a_model_of_the_loaded_rows_is_that_of_the_table(source_for, kind):
    stored = loaded(regression_stream(source_for(kind, y, w)))
    streamed = KernelRidge("gaussian(1)", alpha=0.1).fit(stored.points.values, stored.targets[:, 0], stored.weights)
    whole = KernelRidge("gaussian(1)", alpha=0.1).fit(X.astype(np.float64), y, w)
    np.testing.assert_allclose(streamed.predict(X), whole.predict(X), rtol=1e-6)


def test_classes_are_those_of_the_classifier(source_for):
    model = KernelRidgeClassifier("gaussian(1)", alpha=0.1, class_weight={"bb": 0.0}).fit(X, KINDS, w)
    stream, _ = classification_stream(source_for("list", KINDS, w), {"bb": 0.0})
    np.testing.assert_array_equal(stream.labels.classes, model.classes_)
    assert stream.labels.classes.dtype == model.classes_.dtype


@pytest.mark.parametrize("labels", [np.arange(ROWS) % 3, np.arange(ROWS) % 2 == 0, (np.arange(ROWS) % 3).astype("f8")])
def test_labels_of_numbers(labels):
    stream, _ = classification_stream(Arrays(X, labels[:, None]))
    np.testing.assert_array_equal(stream.labels.classes, np.unique(labels))
    assert stream.labels.classes.dtype == labels.dtype


# -- rows without targets ---------------------------------------------------------------------------------------------


def test_new_rows_come_in_pieces_and_all_of_them():
    model = KernelRidge("gaussian(1)", alpha=0.1).fit(X, y)
    parts = list(new_points(model, Arrays(X, weight=w), 50))
    assert [len(part.values) for part in parts] == [50, 50, 50, 50, 11]
    assert all(isinstance(part, Points) and part.dtype == np.float32 for part in parts)
    np.testing.assert_array_equal(np.concatenate([part.values for part in parts]), X)


def test_new_rows_have_the_columns_that_were_fitted():
    model = KernelRidge("gaussian(1)", alpha=0.1).fit(pd.DataFrame(X, columns=list(NAMES)), y)
    with pytest.raises(ValueError, match="X has 2 features, but KernelRidge is expecting 3 features as input"):
        next(new_points(model, Arrays(X[:, :2]), 50))
    with pytest.raises(InputError, match=r"column 1 is 'z', and it was 'v'. Choose these columns"):
        next(new_points(model, Batches([X], names=("u", "z", "v")), 50))
    with pytest.raises(InputError, match="KernelRidge needs finite numbers; column 'v' holds inf in row 107"):
        list(new_points(model, Batches([_with(X, (107, 1), np.inf)], names=NAMES), 50))


def test_columns_are_noted_where_scikit_learn_looks():
    model = KernelRidge()
    note_columns(model, regression_stream(Batches([(X, y)], names=NAMES)).head)
    assert model.n_features_in_ == 3
    assert model.feature_names_in_.tolist() == list(NAMES)
    note_columns(model, regression_stream(Batches([(X, y)])).head)
    assert not hasattr(model, "feature_names_in_")


# -- refusals ---------------------------------------------------------------------------------------------------------


def _with(table, at, value):
    changed = table.copy()
    changed[at] = value
    return changed


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (Arrays(_with(X, (107, 2), np.nan), y), "finite numbers; column 2 holds nan in row 107. Impute or drop"),
        (Arrays(csr_array(_with(X, (107, 2), np.nan)), y), "finite numbers; column 2 holds nan in row 107"),
        (Arrays(X, _with(y, 150, np.inf)), "finite numbers for y; row 150 holds inf"),
        (Arrays(X, KINDS), "numbers for y; row 0 holds '.*'. Convert it to numbers; labels are for KernelRidgeClas"),
        (Arrays(X), r"targets; the source has none, and y is None. Name the column"),
        (
            Arrays(X, y, weight=_with(w, 33, -1.0)),
            "sample_weight of finite numbers of at least 0; that of row 33 is -1.0",
        ),
        (Arrays(X, y, weight=_with(w, 200, np.nan)), "at least 0; that of row 200 is nan"),
        (Arrays(X, y, weight=0 * w), "some row of positive weight; all are zero. Leave sample_weight out"),
        (Arrays(X, y, weight=1e300 * w), r"weights with a sum from 1e-100 to 1e\+100"),
    ],
)
def test_what_regression_refuses(source, message):
    with pytest.raises(InputError, match=f"^KernelRidge needs .*{message}"):
        list(regression_stream(source).pieces(50))


@pytest.mark.parametrize(
    ("labels", "weights", "class_weight", "message"),
    [
        (y, None, None, r"all text, or all integers; row 0 holds .* \(Unknown label type\)"),
        (_with(KINDS.astype(object), 170, None), None, None, r"row 170 holds None \(Unknown label type\)"),
        (np.zeros(ROWS, dtype="M8[D]"), None, None, "row 0 holds .*Unknown label type"),
        (np.full(ROWS, "a"), None, None, "two classes or more; there is one class, 'a'"),
        (KINDS, (KINDS == "a") * 1.0, None, "two classes or more; there is one class, 'a'"),
        (KINDS, 0 * w, None, "two classes or more; all rows have weight zero"),
        (KINDS, None, {"a": 0, "bb": 0, "ccc": 0}, "all are zero. Leave class_weight out"),
        (KINDS, None, {"x": 1.0}, "classes of y in class_weight; 'x' is none of them, and 'a' has no weight"),
        (KINDS, None, 3, r'a dict of weights, "balanced" or None for class_weight; got 3'),
    ],
)
def test_what_classification_refuses(labels, weights, class_weight, message):
    with pytest.raises(InputError, match=f"^KernelRidge needs .*{message}"):
        classification_stream(Arrays(X, labels, weight=weights), class_weight)


class Uneven(Source):
    """A source of somebody else, whose batches are not alike."""

    count, names = 20, None

    def __init__(self, *batches):
        self.given = batches

    def batches(self, size, start=0, what="all"):
        yield from self.given

    def fingerprint(self):
        return b""


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (Batch(np.ones((10, 2), "f4"), np.ones(10)), "batches with the same columns; got 2 of float32 after 3"),
        (Batch(np.ones((10, 3), "f8"), np.ones(10)), "got 3 of float64 after 3 of float32"),
        (Batch(np.ones((10, 3), "f4")), "targets and weights alike in all batches; those from row 10 on"),
        (Batch(np.ones((10, 3), "f4"), np.ones((10, 2))), "alike in all batches"),
        (Batch(np.ones((10, 3), "f4"), np.ones(10), np.ones(10)), "alike in all batches"),
    ],
)
def test_batches_that_are_not_alike_are_refused(second, message):
    stream = regression_stream(Uneven(Batch(X[:10], y[:10]), second))
    with pytest.raises(InputError, match=message):
        list(stream.pieces(10))


def test_labels_that_change_between_passes_are_refused():
    labels = KINDS.copy()
    stream, _ = classification_stream(Arrays(X, labels))
    labels[50] = "d"
    with pytest.raises(InputError, match=r"the same labels in every pass; .*'d'.* was not there in the first pass"):
        list(stream.pieces(20))


def test_files_that_name_their_target_are_fitted_as_the_table(tmp_path):
    pytest.importorskip("pyarrow", reason="Parquet files are read by pyarrow")
    frame = pd.DataFrame(X, columns=list(NAMES)).assign(y=y)
    for name, part in (("one", slice(0, 60)), ("two", slice(60, None))):
        frame[part].to_parquet(tmp_path / f"{name}.parquet")
    wanted = KernelRidge("gaussian(1)", alpha=0.1).fit(X, y).predict(X)
    source = Parquet(tmp_path, target="y")
    for model in (
        KernelRidge("gaussian(1)", alpha=0.1).fit(source),
        KernelRidge("gaussian(1)", alpha=0.1).fit(tmp_path, y="y"),
    ):
        for rows in (source, Parquet(tmp_path, columns=NAMES), tmp_path):
            np.testing.assert_allclose(model.predict(rows), wanted, rtol=1e-10, atol=1e-10)
