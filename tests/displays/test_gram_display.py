"""The Gram matrix as an image, and its spectrum."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import KernelRidge, KernelSVC
from mercer.displays import GramDisplay
from mercer.displays.spectrum import Spectrum
from mercer.errors import InputError

figures = pytest.importorskip("matplotlib.figure")
X = np.random.default_rng(0).normal(size=(50, 3))
SQUARES = ((X[:, None] - X) ** 2).sum(axis=2)
K = np.exp(-SQUARES / 2)
LABELS = np.array(["b", "a", "c"])[np.arange(50) % 3]


def heights(drawn):
    """All sizes that were drawn, the largest first."""
    return np.sort(np.concatenate([points.get_offsets()[:, 1] for points in drawn.spectrum_.values()]))[::-1]


def test_the_image_is_the_matrix_and_the_spectrum_its_eigenvalues():
    drawn = GramDisplay.from_kernel("gaussian(1)", X)
    np.testing.assert_allclose(drawn.image_.get_array(), K, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(drawn.eigenvalues_, np.linalg.eigvalsh(K)[::-1], atol=1e-12)
    np.testing.assert_allclose(heights(drawn), np.linalg.eigvalsh(K)[::-1], atol=1e-12)
    assert drawn.spectrum_ax_.get_yscale() == "log"
    assert drawn.ax_.get_title() == "gaussian(1)"
    assert drawn.ax_.get_xlabel() == "50 rows"


def test_rows_in_the_order_of_y():
    drawn = GramDisplay.from_kernel("gaussian(1)", X, order=LABELS)
    order = sorted(range(50), key=lambda row: LABELS[row])
    assert drawn.order_.tolist() == order
    np.testing.assert_allclose(drawn.image_.get_array(), K[np.ix_(order, order)], rtol=1e-12, atol=1e-14)
    assert sorted({line.get_ydata()[0] for line in drawn.lines_[::2]}) == [16.5, 33.5]
    assert [text.get_text() for text in drawn.ax_.get_yticklabels()] == ["a", "b", "c"]


def test_rows_along_the_first_eigenvector():
    drawn = GramDisplay.from_kernel("gaussian(1)", X, order="eigenvector")
    first = np.linalg.eigh(K)[1][:, -1]
    assert (np.diff(np.abs(first[drawn.order_])) >= 0).all()  # of a positive matrix it has one sign


def test_many_values_of_an_order_have_no_lines():
    assert GramDisplay.from_kernel("linear", X, order=X[:, 0]).lines_ == []


def test_negative_eigenvalues_are_red():
    drawn = GramDisplay(-SQUARES).plot()
    values = np.linalg.eigvalsh(-SQUARES)
    red = drawn.spectrum_["negative"]
    np.testing.assert_allclose(np.sort(red.get_offsets()[:, 1]), np.sort(-values[values < -1e-10]), rtol=1e-9)
    assert tuple(red.get_facecolors()[0][:3]) == pytest.approx((0.839, 0.153, 0.157), abs=0.01)
    assert drawn.image_.get_clim()[0] == -drawn.image_.get_clim()[1]


@given(st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_rounding_is_never_called_negative(rank, seed):
    features = np.random.default_rng(seed).normal(size=(12, rank))
    kinds = Spectrum.of(np.linalg.eigvalsh(features @ features.T)[::-1]).kinds()
    assert "negative" not in kinds
    assert kinds["positive"].sum() <= rank


def test_many_rows_are_a_sample_that_is_told():
    rows = np.random.default_rng(1).normal(size=(1200, 2))
    drawn = GramDisplay.from_kernel("linear", rows, order=rows[:, 0] > 0, random_state=np.random.default_rng(3))
    assert drawn.ax_.get_xlabel() == "1000 of 1200 rows"
    chosen = np.sort(np.random.default_rng(3).choice(1200, size=1000, replace=False))
    np.testing.assert_allclose(drawn.matrix, rows[chosen] @ rows[chosen].T, atol=1e-12)
    np.testing.assert_array_equal(drawn.order, rows[chosen, 0] > 0)
    other = GramDisplay.from_kernel("linear", rows, random_state=4)
    assert not np.array_equal(other.matrix, drawn.matrix)


def test_a_lengthscale_is_that_of_all_rows():
    rows = np.random.default_rng(1).normal(size=(1100, 2))
    drawn = GramDisplay.from_kernel("gaussian('median')", rows, random_state=np.random.default_rng(0))
    distances = np.sqrt(((rows[:, None] - rows) ** 2).sum(axis=2))[np.triu_indices(1100, 1)]
    chosen = np.sort(np.random.default_rng(0).choice(1100, size=1000, replace=False))
    squares = ((rows[chosen[:9], None] - rows[chosen[:9]]) ** 2).sum(axis=2)
    np.testing.assert_allclose(drawn.matrix[:9, :9], np.exp(-squares / (2 * np.median(distances) ** 2)), rtol=1e-9)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_sample_of_a_frame(library):
    frames = pytest.importorskip(library)
    rows = np.random.default_rng(1).normal(size=(1010, 2))
    table = frames.DataFrame({"a": rows[:, 0], "b": rows[:, 1]})
    drawn = GramDisplay.from_kernel("linear", table, random_state=np.random.default_rng(0))
    chosen = np.sort(np.random.default_rng(0).choice(1010, size=1000, replace=False))
    np.testing.assert_allclose(drawn.matrix, rows[chosen] @ rows[chosen].T, atol=1e-12)


def test_a_model_shows_its_own_kernel():
    model = KernelRidge("gaussian(1)", alpha=0.1).fit(X, X[:, 0])
    np.testing.assert_allclose(GramDisplay.from_estimator(model, X).matrix, K, rtol=1e-12, atol=1e-14)
    scaled = make_pipeline(StandardScaler(), KernelSVC("linear")).fit(X, LABELS)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(GramDisplay.from_estimator(scaled, X).matrix, Z @ Z.T, atol=1e-12)
    given_matrix = KernelSVC("precomputed").fit(K, LABELS)
    drawn = GramDisplay.from_estimator(given_matrix, K, order=LABELS)
    np.testing.assert_allclose(drawn.matrix, K)
    assert drawn.ax_.get_title() == "precomputed"


def test_one_axes_gets_the_image_and_two_get_both():
    figure = figures.Figure()
    one, two, three = figure.subplots(1, 3)
    alone = GramDisplay(K).plot(one)
    assert alone.ax_ is one
    assert alone.spectrum_ax_ is None
    assert alone.spectrum_ == {}
    both = GramDisplay(K).plot(np.array([two, three]))
    assert (both.ax_, both.spectrum_ax_) == (two, three)
    assert three.has_data()
    with pytest.raises(InputError, match=r"GramDisplay needs one or two axes; got 3\. Use figure\.subplots\(1, 2\)\."):
        GramDisplay(K).plot([one, two, three])
    with pytest.raises(InputError, match=r"one or two axes; got str"):
        GramDisplay(K).plot("here")


@pytest.mark.parametrize(
    "matrix", [[[2.0]], np.zeros((3, 3)), np.ones((4, 4)), 1e80 * K], ids=["one row", "zero", "constant", "huge"]
)
def test_odd_matrices_are_drawn(matrix, tmp_path):
    drawn = GramDisplay(matrix).plot()
    drawn.figure_.savefig(tmp_path / "odd.png")
    assert len(drawn.eigenvalues_) == len(matrix)


def test_kernels_of_strings():
    drawn = GramDisplay.from_kernel("spectrum(2)", ["abab", "abba", "baba"])
    assert drawn.image_.get_array().shape == (3, 3)


@pytest.mark.parametrize(
    ("matrix", "order", "message"),
    [
        (
            np.ones((2, 3)),
            None,
            r"GramDisplay needs a square matrix; got an array of shape \(2, 3\)\. Use from_kernel",
        ),
        ([[np.nan]], None, r"finite values; got NaN or infinity\."),
        ([[1.0, 2.0], [0.0, 1.0]], None, r"a symmetric matrix; got one that is not\."),
        (K, "rows", r"order \"eigenvector\", None or one value per row; got 'rows'\."),
        (K, LABELS[1:], r"one label per row; y has shape \(49,\) for 50 rows\."),
    ],
    ids=["shape", "NaN", "asymmetric", "word", "few"],
)
def test_what_cannot_be_drawn(matrix, order, message):
    with pytest.raises(InputError, match=message):
        GramDisplay(matrix, order=order).plot()


def test_what_has_no_kernel():
    with pytest.raises(InputError, match=r"something that has kernel_; StandardScaler has none\."):
        GramDisplay.from_estimator(StandardScaler().fit(X), X)
    with pytest.raises(InputError, match=r"KernelRidge has none\. Fit the model first\."):
        GramDisplay.from_estimator(KernelRidge(), X)
    with pytest.raises(InputError, match=r"GramDisplay needs rows; got none"):
        GramDisplay.from_kernel("linear", np.zeros((0, 2)))
