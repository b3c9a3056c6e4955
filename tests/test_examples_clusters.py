"""What the example about clusters concludes, and that it can be drawn."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
CLUSTERS = runpy.run_path(str(ROOT / "examples" / "clusters.py"))
DATA = ROOT / ".." / "shared" / "data"


@pytest.fixture(scope="module")
def made():
    cases = CLUSTERS["cases"]()
    return cases, {name: CLUSTERS["fitted"](case) for name, case in cases.items()}


def right(model, y):
    """The better of the two ways to call two clusters."""
    same = np.mean(model.labels_ == y)
    return max(same, 1 - same)


def test_the_circles_are_found_by_both(made):
    cases, found = made
    assert right(found["circles"].means, cases["circles"].y) == 1
    assert right(found["circles"].spectral, cases["circles"].y) == 1


def test_the_spirals_are_found_by_the_graph(made):
    cases, found = made
    assert right(found["spirals"].spectral, cases["spirals"].y) == 1


def test_the_regions_of_the_circles_are_those_of_a_circle(made):
    _, found = made
    means = found["circles"].means
    turn = np.linspace(0, 2 * np.pi, 40)
    around = np.column_stack([np.cos(turn), np.sin(turn)])
    inside, outside = means.predict(0.5 * around), means.predict(3.5 * around)
    assert len(np.unique(inside)) == len(np.unique(outside)) == 1
    assert inside[0] != outside[0]


def test_the_lengthscale_is_a_quarter_of_the_longest_step(made):
    cases, _ = made
    X = cases["spirals"].X
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    np.fill_diagonal(distances, np.inf)
    assert float(cases["spirals"].graph.lengthscale) == pytest.approx(distances.min(axis=1).max() / 4, rel=1e-12)


def test_clusters_are_left_rarely(made):
    cases, _ = made
    X, length = cases["spirals"].X, float(cases["spirals"].graph.lengthscale)
    K = np.exp(-(np.linalg.norm(X[:, None] - X, axis=2) ** 2) / (2 * length**2))
    values = np.sort(np.linalg.eigvals(K / K.sum(axis=1, keepdims=True)).real)[::-1]
    assert CLUSTERS["rarity"](cases["spirals"]) == pytest.approx((1 - values[2]) / (1 - values[1]), rel=1e-3)
    assert CLUSTERS["rarity"](cases["spirals"]) > 100


@pytest.mark.parametrize(
    ("labels", "y", "expected"),
    [([1, 1, 0, 0], [0, 0, 1, 1], 1.0), ([0, 1, 0, 1], [0, 0, 1, 1], 0.5), ([2, 2, 2, 2], ["a", "b", "b", "b"], 0.75)],
)
def test_accuracy_is_that_of_the_best_names(labels, y, expected):
    assert CLUSTERS["accuracy"](np.array(labels), np.array(y)) == expected


def test_the_real_spirals():
    pytest.importorskip("pyarrow")
    if not (DATA / "two_spirals.parquet").exists():
        pytest.skip("the folder of real data is not here")
    case = CLUSTERS["cases"](DATA)["spirals"]
    assert case.X.shape == (386, 2)
    assert right(CLUSTERS["fitted"](case).spectral, case.y) == 1


def test_the_report_and_the_picture(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    file = tmp_path / "clusters.png"
    CLUSTERS["main"](["--picture", str(file)])
    assert file.read_bytes().startswith(b"\x89PNG\r\n")
    shown = capsys.readouterr().out
    assert "circles: 200 rows\n  k-means with parabolic: 100.0% of the rows in the cluster of their class\n" in shown
    assert "spirals: 386 rows\n" in shown
    assert shown.count("plan: ") == 6
    assert shown.endswith(f"The picture is in {file}.\n")


def test_a_picture_without_matplotlib(made, monkeypatch, tmp_path):
    for module in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, module, None)
    message = r'--picture needs matplotlib; it is not installed\. Install it with: pip install "mercer\[examples\]"\.'
    with pytest.raises(SystemExit, match=message):
        CLUSTERS["draw"](tmp_path / "clusters.png", *made)
    assert not (tmp_path / "clusters.png").exists()
