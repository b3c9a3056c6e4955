"""That the example draws every display, small, and which displays there are."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

from mercer import displays

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
PICTURES = runpy.run_path(str(ROOT / "examples" / "pictures.py"))
DATA = ROOT / ".." / "shared" / "data"


@pytest.fixture(scope="module")
def drawn():
    pytest.importorskip("matplotlib")
    rows = PICTURES["Rows"](small=True)
    return {name: draw(rows) for name, draw in PICTURES["PICTURES"].items()}


def test_every_display_of_models_is_drawn(drawn):
    shown = {type(each).__name__ for each in drawn.values()}
    assert shown >= {
        "BasisDisplay",
        "BoundaryDisplay",
        "ClusterDisplay",
        "ComponentsDisplay",
        "CostDisplay",
        "CurveDisplay",
        "DescentDisplay",
        "GramDisplay",
        "HistoryDisplay",
        "LeaveOneOutDisplay",
        "LiftErrorDisplay",
        "NullDisplay",
        "ParabolicDisplay",
        "ScreeDisplay",
        "SeparationDisplay",
        "StepsDisplay",
    }
    assert shown <= set(displays.__all__)


def test_what_they_show(drawn):
    assert "negative" in drawn["indefinite"].spectrum_
    assert "negative" not in drawn["gram"].spectrum_
    across, up, _ = drawn["parabolic"].circle_.get_data_3d()
    assert np.nanmax(np.abs((across - 0.3) ** 2 + (up - 0.2) ** 2 - 1.5)) < 0.4  # the circle of the labels, about
    assert drawn["mistakes"].lines_[0].get_ydata()[-1] == 0
    assert drawn["null"].statistic > max(drawn["null"].null_sample)
    assert drawn["curve"].band_ is not None


def test_files(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    PICTURES["main"]([str(tmp_path / "new"), "--small", "--only", "scree", "steps"])
    for name in ("scree", "steps"):
        assert (tmp_path / "new" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out.splitlines() == [
        f"{name}: {tmp_path / 'new' / name}.png" for name in ("scree", "steps")
    ]


def test_real_rows():
    pytest.importorskip("pyarrow")
    if not (DATA / "sonar.parquet").exists():
        pytest.skip("the folder of real data is not here")
    rows = PICTURES["Rows"](DATA)
    assert PICTURES["sonar"](rows)[0].shape == (208, 60)
    assert PICTURES["spirals"](rows)[0].shape == (386, 2)
    assert PICTURES["passengers"](rows)[1].sum() == 40363  # the known sum


def test_without_matplotlib(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SystemExit, match=r"pictures\.py needs matplotlib; it is not installed\. Install it with"):
        PICTURES["main"]([str(tmp_path)])
