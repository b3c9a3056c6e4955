"""Sizes for a page and for a slide; legends, titles and points that leave each other alone."""

import numpy as np
import pytest
from planes import RING, Slope, blobs
from test_displays import DRAWN

from mercer import KernelPerceptron, KernelSVC, Perceptron
from mercer.displays import BoundaryDisplay, ClusterDisplay, ScreeDisplay
from mercer.displays.legend import _numbers_of_columns
from mercer.errors import InputError

figures = pytest.importorskip("matplotlib.figure")
from matplotlib.collections import PathCollection  # noqa: E402  # where there is matplotlib
from matplotlib.legend import Legend  # noqa: E402
from matplotlib.transforms import Bbox  # noqa: E402

STYLES = ("page", "slide")


def rendered(figure):
    """The same, laid out: boxes of artists are where they are drawn."""
    figure.draw_without_rendering()
    figure.draw_without_rendering()  # the first may move what the layout of the second needs
    return figure


def discs(collection):
    """The boxes of the points of a collection, in pixels."""
    places = collection.get_offset_transform().transform(np.ma.getdata(collection.get_offsets()))
    reach = np.sqrt(np.max(collection.get_sizes(), initial=0.0)) / 2 * collection.get_figure(root=True).dpi / 72
    return [Bbox.from_extents(x - reach, y - reach, x + reach, y + reach) for x, y in places]


def covered(figure):
    """How many points are below a legend, and legends below a title."""
    points = [box for axes in figure.axes for each in axes.collections if is_points(each) for box in discs(each)]
    legends = [each.get_window_extent() for each in figure.findobj(Legend)]
    titles = [axes.title.get_window_extent() for axes in figure.axes if axes.get_title()]
    return sum(legend.overlaps(other) for legend in legends for other in [*points, *titles])


def is_points(collection):
    return isinstance(collection, PathCollection)


def cut_off(figure):
    """The axes that leave their figure with a title, a name, a number or a legend."""
    whole, boxes = figure.bbox.padded(1), [axes.get_tightbbox() for axes in figure.axes]
    return [box for box in boxes if Bbox.intersection(whole, box).bounds != box.bounds]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", DRAWN)
def test_nothing_is_covered_and_nothing_is_cut_off(name, style):
    drawn = DRAWN[name](None).plot(style=style)
    figure = rendered(drawn.figure_)
    assert covered(figure) == 0
    assert cut_off(figure) == []
    assert all(axes.get_title() for axes in figure.axes if axes.get_label() != "<colorbar>")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", DRAWN)
def test_nothing_is_covered_on_axes_that_are_given(name, style):
    size = [7.0, 4.0] if style == "page" else [13.0, 7.0]
    figure = figures.Figure(figsize=size, layout="constrained")
    ax = figure.add_subplot(1, 2, 1, projection="3d" if name == "parabolic" else None)
    drawn = DRAWN[name](None)
    drawn.plot(ax, style=style)
    ax.set_title("a title of somebody else")
    assert covered(rendered(figure)) == 0
    assert figure.get_size_inches().tolist() == size


@pytest.mark.parametrize("style", STYLES)
def test_rows_everywhere_and_axes_without_a_layout(style):
    rng = np.random.default_rng(0)
    X, labels = rng.uniform(size=(4000, 2)), rng.integers(0, 40, size=4000)
    figure = figures.Figure()
    drawn = ClusterDisplay(X, labels).plot(figure.add_subplot(), style=style)
    assert covered(rendered(figure)) == 0
    assert drawn.legend_.get_texts()[-1].get_text() == "and 25 more"
    figure = figures.Figure()
    BoundaryDisplay.from_estimator(Slope(), X, ax=figure.add_subplot(), grid=5).plot(figure.axes[0], style=style)
    assert covered(rendered(figure)) == 0


def test_a_legend_that_covers_is_found():
    drawn = ClusterDisplay(np.random.default_rng(0).uniform(size=(900, 2)), [0] * 900).plot()
    drawn.ax_.legend()
    assert covered(rendered(drawn.figure_)) > 0


def test_a_slide_is_sixteen_to_nine_and_large():
    page, slide = (DRAWN["boundary"](None).plot(style=style) for style in STYLES)
    assert page.figure_.get_size_inches().tolist() == [6.4, 4.8]
    wide, high = slide.figure_.get_size_inches()
    assert wide / high == pytest.approx(16 / 9, rel=1e-3)
    points = 72 * high
    rendered(slide.figure_)
    sizes = [text.get_fontsize() for text in (slide.ax_.title, slide.ax_.xaxis.label, *slide.ax_.get_xticklabels())]
    sizes += [text.get_fontsize() for text in slide.legend_.get_texts()]
    assert min(sizes) >= points / 30
    ratio = 2.2
    assert slide.points_[0].get_sizes()[0] == pytest.approx(ratio**2 * page.points_[0].get_sizes()[0])
    assert slide.boundary_.get_linewidth()[0] == pytest.approx(ratio * page.boundary_.get_linewidth()[0])
    assert slide.figure_.get_facecolor() == slide.ax_.get_facecolor() == (1.0, 1.0, 1.0, 1.0)


def test_what_others_drew_stays_as_large_as_it_is():
    ax = figures.Figure().add_subplot()
    (line,) = ax.plot([0, 1], [0, 1], linewidth=3)
    ax.set_title("before")
    ScreeDisplay([0.5]).plot(ax, style="slide")
    assert line.get_linewidth() == 3
    assert ax.get_title() == "before"


def test_a_legend_that_is_removed_leaves_no_space():
    drawn = DRAWN["clusters"](None)
    high = rendered(drawn.figure_) and drawn.ax_.title.get_window_extent().y0
    drawn.legend_.remove()
    assert drawn.ax_.get_legend() is None
    rendered(drawn.figure_)
    space = drawn.ax_.title.get_window_extent().y0 - drawn.ax_.get_window_extent().y1
    assert space < 15
    assert high > 0


def test_a_dark_page_and_a_light_slide():
    style = pytest.importorskip("matplotlib.style")
    with style.context("dark_background"):
        page, slide = (DRAWN["curve"](None).plot(style=each) for each in STYLES)
    assert page.figure_.get_facecolor() == (0.0, 0.0, 0.0, 1.0)
    assert slide.figure_.get_facecolor() == (1.0, 1.0, 1.0, 1.0)
    assert slide.ax_.xaxis.label.get_color() == slide.legend_.get_texts()[0].get_color() == "black"
    assert {text.get_color() for text in slide.ax_.get_xticklabels()} == {"black"}


def test_an_unknown_style():
    with pytest.raises(
        InputError, match=r'ScreeDisplay needs style "page" or "slide"; got \'poster\'\. Use style="sli'
    ):
        ScreeDisplay([0.5]).plot(style="poster")


# -- a boundary that is none -----------------------------------------------------------------------------------------


def test_rounding_has_no_boundary():
    """Exercise 17 A: no line separates an ellipse, and f is 1 but for rounding."""
    rng = np.random.default_rng(17)
    X = rng.uniform(-3, 3, size=(300, 2))
    y = np.where(X[:, 0] ** 2 / 4 + X[:, 1] ** 2 < 1, "within", "outside")
    model = KernelSVC("linear", C=1e3).fit(X, y)
    drawn = BoundaryDisplay.from_estimator(model, X, y, grid=60)
    assert np.ptp(drawn.scores) < 1e-6
    assert np.ptp(drawn.scores) > 0
    assert drawn.boundary_ == []
    assert drawn.ax_.get_title() == "KernelSVC, linear: one class everywhere"


def test_a_level_of_the_margin_without_a_boundary_is_no_margin():
    """scikit-learn's f is -1 up to the tolerance of its solver, far above rounding."""
    from sklearn.svm import SVC

    rng = np.random.default_rng(3)
    X = rng.uniform(-3, 3, size=(150, 2))
    y = np.where((X[:, 0] - 0.3) ** 2 + 0.9 * X[:, 0] * X[:, 1] + 2 * X[:, 1] ** 2 < 3, 1, -1)
    drawn = BoundaryDisplay.from_estimator(SVC(kernel="linear").fit(X, y), X, y, grid=60)
    assert drawn.scores.min() < -1 - 1e-6
    assert -1 + 1e-6 < drawn.scores.max() < 0
    assert drawn.boundary_ == []
    assert drawn.ax_.get_title() == "SVC: one class everywhere"


def test_perceptrons_have_updates_and_no_margins():
    X, y = blobs()
    for model in (Perceptron(max_iter=50), KernelPerceptron("polynomial(degree=2)", max_iter=50)):
        drawn = BoundaryDisplay.from_estimator(model.fit(X, y), X, y, grid=30)
        assert np.abs(drawn.scores).max() > 1
        assert drawn.boundary_.levels.tolist() == [0]
        assert drawn.legend_.get_texts()[-1].get_text() == f"rows with updates ({len(model.support_)})"


def test_margins_are_those_of_support_vector_machines():
    from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
    from sklearn.svm import SVC, LinearSVC, NuSVC

    X, y = blobs()
    machines = [KernelSVC("linear", C=10), SVC(kernel="linear"), NuSVC(kernel="linear", nu=0.1), LinearSVC()]
    for model in (*machines, SGDClassifier(random_state=0)):
        levels = BoundaryDisplay.from_estimator(model.fit(X, y), X, y, grid=30).boundary_.levels.tolist()
        assert levels == [-1, 0, 1], model
    for model in (LogisticRegression(), RidgeClassifier()):
        assert BoundaryDisplay.from_estimator(model.fit(X, y), X, y, grid=30).boundary_.levels.tolist() == [0]
        drawn = BoundaryDisplay.from_estimator(model, X, y, margins=True, grid=30)
        assert 0 in drawn.boundary_.levels


def test_rows_of_one_place_have_a_picture():
    drawn = BoundaryDisplay.from_estimator(Slope(), RING[:1], grid=5)
    assert drawn.ax_.get_title()


@pytest.mark.parametrize(("names", "most", "columns"), [(5, 6, [5, 3, 2, 1]), (7, 6, [4, 3, 2, 1]), (4, 6, [4, 2, 1])])
def test_columns_of_a_legend_are_full_but_the_last(names, most, columns):
    assert _numbers_of_columns(names, most) == columns
    for count in columns:
        assert -(-names // count) * (count - 1) < names  # the last column has a name of its own


def test_points_of_a_boundary_lie_above_its_lines():
    X, y = blobs()
    model = KernelSVC("gaussian(1)").fit(X, y)
    drawn = BoundaryDisplay.from_estimator(model, X, y, grid=20)
    lines = [each for each in drawn.ax_.collections if type(each).__name__ == "QuadContourSet"]
    assert lines
    assert max(each.get_zorder() for each in lines) < min(each.get_zorder() for each in drawn.points_)
