"""What the example about names and molecules concludes, and that it can be drawn."""

import runpy
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from mercer import KernelSVC

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
EXAMPLE = runpy.run_path(str(ROOT / "examples" / "names_and_molecules.py"))
DATA = ROOT / ".." / "shared" / "data"


@pytest.fixture(scope="module")
def cases():
    return EXAMPLE["cases"]()


def neighbours(graph, node):
    return [v for edge in graph.edges.tolist() for u, v in (edge, edge[::-1]) if u == node]


def has_nitro(graph):
    """Whether a nitrogen is tied to two oxygens that are tied to nothing else."""
    for node, label in enumerate(graph.labels):
        ends = [v for v in neighbours(graph, node) if graph.labels[v] == "O" and len(neighbours(graph, v)) == 1]
        if label == "N" and len(ends) == 2:
            return True
    return False


@pytest.mark.parametrize(
    ("rings", "carbons", "bonds", "hydrogens"), [(1, 6, 6, 6), (2, 10, 11, 8), (3, 14, 16, 10), (4, 18, 21, 12)]
)
def test_rings_are_benzene_naphthalene_anthracene_and_tetracene(rings, carbons, bonds, hydrogens):
    graph = EXAMPLE["molecule"](rings, [])
    assert (graph.nodes, len(graph.edges), set(graph.labels)) == (carbons, bonds, {"C"})
    free = [node for node in range(carbons) if len(neighbours(graph, node)) == 2]
    assert EXAMPLE["free"](rings) == free
    assert len(free) == hydrogens


def test_a_group_hangs_on_its_carbon():
    graph = EXAMPLE["molecule"](1, [("amine", 2), ("nitro", 5)])
    assert graph.labels == (*"CCCCCC", "N", *"NOO")
    assert neighbours(graph, 6) == [2]
    assert sorted(neighbours(graph, 7)) == [5, 8, 9]


def test_the_classes_of_molecules_are_true(cases):
    case = cases["molecules"]
    assert [has_nitro(graph) for graph in case.things] == (case.y == "nitro").tolist()
    assert Counter(case.y.tolist()) == {"nitro": 60, "none": 60}
    assert all(max(map(len, (neighbours(g, v) for v in range(g.nodes)))) <= 3 for g in case.things)


def test_new_molecules_have_the_same_atoms(cases):
    first, second = cases["molecules"].asked.values()
    assert Counter(first.labels) == Counter(second.labels)
    assert has_nitro(first) > has_nitro(second)


def test_names_stand_there_once(cases):
    case = cases["names"]
    assert len(set(case.things)) == len(case.things) == 96
    assert set(Counter(case.y.tolist()).values()) == {24}
    assert not set(case.asked) & set(case.things)


@pytest.mark.parametrize("name", ["names", "molecules"])
def test_accuracy_is_that_of_another_machine_on_the_matrix(cases, name):
    case = cases[name]
    K, right = case.kernel(case.things), []
    for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(K, case.y):
        model = SVC(kernel="precomputed", C=EXAMPLE["PRICE"], tol=1e-6).fit(K[np.ix_(train, train)], case.y[train])
        right.append(np.mean(model.predict(K[np.ix_(test, train)]) == case.y[test]))
    assert EXAMPLE["accuracy"](case.kernel, case) == pytest.approx(np.mean(right), abs=0.021)  # two names of 96


@pytest.mark.parametrize("name", ["names", "molecules"])
def test_it_matters_what_stands_beside_what(cases, name):
    case = cases[name]
    found = EXAMPLE["accuracy"](case.kernel, case)
    assert found > 0.7
    assert found > EXAMPLE["accuracy"](case.poorer, case)


def test_new_things_get_their_class(cases):
    said = {}
    for case in cases.values():
        model = KernelSVC(case.kernel, C=EXAMPLE["PRICE"]).fit(case.things, case.y)
        said |= dict(zip(case.asked, model.predict(list(case.asked.values())).tolist(), strict=True))
    assert said == {
        "Takayama": "Japanese",
        "Bellini": "Italian",
        "Papanikolaou": "Greek",
        "Wierzbicki": "Polish",
        "four rings with nitro and methyl": "nitro",
        "four rings with amine and carboxyl": "none",
    }


def test_the_real_names_and_molecules():
    pytest.importorskip("pyarrow")
    if not (DATA / "MUTAG.parquet").exists():
        pytest.skip("the folder of real data is not here")
    found = EXAMPLE["cases"](DATA)
    assert len(found["molecules"].things) == 188
    assert Counter(found["molecules"].y.tolist()) == {"mutagenic": 125, "not mutagenic": 63}
    assert set(found["names"].y.tolist()) == set(EXAMPLE["NAMES"])
    assert EXAMPLE["accuracy"](found["molecules"].kernel, found["molecules"]) > 0.8


def test_the_report_and_the_picture(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    file = tmp_path / "structured.png"
    EXAMPLE["main"](["--picture", str(file)])
    assert file.read_bytes().startswith(b"\x89PNG\r\n")
    shown = capsys.readouterr().out
    assert shown.startswith("names: 96 of Greek, Italian, Japanese, Polish\n  spectrum(k=1).normalized(): ")
    assert "molecules: 120 of nitro, none\n" in shown
    assert shown.count("% right, ten folds\n") == 4
    assert shown.count("plan: ") == 2
    assert "  Takayama: Japanese\n" in shown
    assert shown.endswith(f"The picture is in {file}.\n")


def test_a_picture_without_matplotlib(cases, monkeypatch, tmp_path):
    for module in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, module, None)
    message = r'--picture needs matplotlib; it is not installed\. Install it with: pip install "mercer\[examples\]"\.'
    with pytest.raises(SystemExit, match=message):
        EXAMPLE["draw"](tmp_path / "structured.png", cases)


def test_data_without_pyarrow(monkeypatch):
    for module in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, module, None)
    message = r'--data needs pyarrow; it is not installed\. Install it with: pip install "mercer\[files\]"\.'
    with pytest.raises(SystemExit, match=message):
        EXAMPLE["cases"](DATA)
