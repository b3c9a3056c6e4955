"""What all displays share: no window, figures of their own or of others, and matplotlib only when one is drawn."""

import subprocess
import sys

import numpy as np
import pytest
from stand_ins import Components, Labelled, Quadrants, Result

from mercer.displays import ClusterDisplay, ComponentsDisplay, NullDisplay, ScreeDisplay

X = np.random.default_rng(0).normal(size=(30, 2))
DRAWN = {
    "scree": lambda ax: ScreeDisplay.from_estimator(Components([0.5, 0.3], 0.2), ax=ax),
    "components": lambda ax: ComponentsDisplay.from_estimator(Components(), X, X[:, 0] > 0, ax=ax),
    "clusters": lambda ax: ClusterDisplay.from_estimator(Quadrants(), X, ax=ax, grid=10),
    "labels": lambda ax: ClusterDisplay.from_estimator(Labelled(X[:, 0] > 0), X, ax=ax),
    "null": lambda ax: NullDisplay.from_result(Result(null_sample=X[:, 0]), ax=ax),
}
WINDOWLESS = """
import sys
from mercer.displays import ScreeDisplay
loaded = {name.partition(".")[0] for name in sys.modules}
print(*sorted(loaded & {"matplotlib", "sklearn", "numba"}))
ScreeDisplay([0.5]).plot()
print("matplotlib" in sys.modules, "matplotlib.pyplot" in sys.modules)
"""


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
def test_axes_of_a_figure_of_somebody_else(name):
    figures = pytest.importorskip("matplotlib.figure")
    ax = figures.Figure().subfigures(1, 2)[1].add_subplot()
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
