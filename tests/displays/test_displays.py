"""What all displays share: no window, figures of their own or of others, and matplotlib only when one is drawn."""

import subprocess
import sys

import numpy as np
import pytest
from planes import Slope
from stand_ins import Components, Labelled, Quadrants, Result

from mercer import displays
from mercer.displays import (
    BasisDisplay,
    BoundaryDisplay,
    ClusterDisplay,
    ComponentsDisplay,
    CostDisplay,
    CurveDisplay,
    DescentDisplay,
    GramDisplay,
    HistoryDisplay,
    ImportanceDisplay,
    LeaveOneOutDisplay,
    LiftErrorDisplay,
    NullDisplay,
    ParabolicDisplay,
    ScreeDisplay,
    SeparationDisplay,
    StepsDisplay,
)

X = np.random.default_rng(0).normal(size=(30, 2))
FLAT, SPANS = np.zeros((1, 5, 5)), np.linspace(-1, 1, 5)
DRAWN = {
    "scree": lambda ax: ScreeDisplay.from_estimator(Components([0.5, 0.3], 0.2), ax=ax),
    "components": lambda ax: ComponentsDisplay.from_estimator(Components(), X, X[:, 0] > 0, ax=ax),
    "clusters": lambda ax: ClusterDisplay.from_estimator(Quadrants(), X, ax=ax, grid=10),
    "labels": lambda ax: ClusterDisplay.from_estimator(Labelled(X[:, 0] > 0), X, ax=ax),
    "null": lambda ax: NullDisplay.from_result(Result(null_sample=X[:, 0]), ax=ax),
    "basis": lambda ax: BasisDisplay(SPANS, np.column_stack([SPANS, SPANS**2]), [1.0, 1.0], X=X[:, :1], y=X[:, 1]).plot(
        ax
    ),
    "boundary": lambda ax: BoundaryDisplay.from_estimator(Slope(), X, ax=ax, grid=10),
    "cost": lambda ax: CostDisplay([1, 10], {"direct": [1e9, 1e11]}, {"direct": [1.0, 1e3]}, limit=4e9).plot(ax),
    "curve": lambda ax: CurveDisplay(SPANS, SPANS, deviation=np.ones(5)).plot(ax),
    "descent": lambda ax: DescentDisplay(SPANS, X[:5]).plot(ax),
    "gram": lambda ax: GramDisplay(X @ X.T).plot(ax),
    "history": lambda ax: HistoryDisplay([1, 2], [[3.0], [2.0]]).plot(ax),
    "leave one out": lambda ax: LeaveOneOutDisplay([0.1, 1.0], [[0.5], [0.3]], chosen=[1.0]).plot(ax),
    "lift error": lambda ax: LiftErrorDisplay([1, 2], [[0.2], [0.1]], [[0.1], [0.05]], bounds=[1.0, 0.5]).plot(ax),
    "parabolic": lambda ax: ParabolicDisplay(X, X[:, 0] > 0, [0.0, 0.0, 1.0], -1.0).plot(ax),
    "importance": lambda ax: ImportanceDisplay(["a", "b"], [0.5, 0.1]).plot(ax),
    "separation": lambda ax: SeparationDisplay(
        X, X[:, 0] > 0, SPANS, SPANS, ["A"], np.tile(SPANS, (1, 5, 1)), ["no"], [[0, 3]]
    ).plot(ax),
    "steps": lambda ax: StepsDisplay(X, X[:, 0] > 0, SPANS, SPANS, FLAT, [1], misclassified=[0]).plot(ax),
}
WINDOWLESS = """
import sys
from mercer.displays import BoundaryDisplay, ParabolicDisplay, ScreeDisplay
loaded = {name.partition(".")[0] for name in sys.modules}
print(*sorted(loaded & {"matplotlib", "sklearn", "numba"}))
ScreeDisplay([0.5]).plot()
ParabolicDisplay([[0.0, 0.0], [1.0, 1.0]], [0, 1], [0.0, 0.0, 1.0], -1.0).plot()
BoundaryDisplay([[0.0, 0.0], [1.0, 1.0]], [0, 1], [0, 1], [0, 1], [[0, 1], [1, 1]]).plot()
print("matplotlib" in sys.modules, "matplotlib.pyplot" in sys.modules)
"""


def test_each_of_these_is_another_public_display():
    named = [type(draw(None)).__name__ for name, draw in DRAWN.items() if name != "labels"]
    assert len(set(named)) == len(named)
    assert set(named) == set(displays.__all__)


@pytest.mark.parametrize("name", DRAWN)
def test_drawing_again_forgets_what_was_drawn_before(name):
    drawn = DRAWN[name](None)
    before = len(drawn.figure_.axes[0].get_children())
    first = drawn.ax_
    assert drawn.plot() is drawn
    assert drawn.ax_ is not first
    assert len(drawn.figure_.axes[0].get_children()) == before


@pytest.mark.parametrize("name", DRAWN)
def test_a_figure_of_its_own(name, tmp_path):
    figures = pytest.importorskip("matplotlib.figure")
    drawn = DRAWN[name](None)
    assert isinstance(drawn.figure_, figures.Figure)
    assert drawn.figure_.axes[0] is drawn.ax_
    drawn.figure_.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    assert drawn._repr_png_().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", DRAWN)
def test_settings_of_matplotlib_stay_as_they_are(name):
    matplotlib = pytest.importorskip("matplotlib")
    before, random = dict(matplotlib.rcParams), np.random.get_state()[1].copy()  # noqa: NPY002  # which is global
    DRAWN[name](None).figure_.canvas.draw()
    assert dict(matplotlib.rcParams) == before
    np.testing.assert_array_equal(np.random.get_state()[1], random)  # noqa: NPY002


@pytest.mark.parametrize("name", DRAWN)
def test_axes_of_a_figure_of_somebody_else(name):
    figures = pytest.importorskip("matplotlib.figure")
    ax = figures.Figure().subfigures(1, 2)[1].add_subplot(projection="3d" if name == "parabolic" else None)
    drawn = DRAWN[name](ax)
    assert drawn.ax_ is ax
    assert drawn.figure_ is ax.figure
    assert ax.has_data()
    assert drawn._repr_png_() is None  # a notebook shows the figure already


@pytest.mark.parametrize("name", DRAWN)
def test_without_matplotlib(name, monkeypatch):
    for module in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, module, None)
    message = r'Display needs matplotlib; it is not installed\. Install it with: pip install "mercer\[examples\]"\.'
    with pytest.raises(ImportError, match=message):
        DRAWN[name](None)


def test_matplotlib_is_loaded_when_something_is_drawn_and_pyplot_never():
    pytest.importorskip("matplotlib")
    done = subprocess.run([sys.executable, "-c", WINDOWLESS], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["", "True False"]
