"""What importing Mercer costs, what it exports, and that its examples run."""

import ast
import importlib
import runpy
import subprocess
import sys
from importlib.metadata import metadata
from pathlib import Path

import pytest

import mercer

ROOT = Path(__file__).parent.parent
HEAVY = ("numba", "matplotlib", "sklearn", "pandas", "polars", "torch", "jax", "cupy", "mpmath", "hypothesis")


def loaded_by(statement):
    code = f"{statement}; import sys; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_loads_no_accelerator_and_nothing_that_draws():
    loaded = loaded_by("import mercer, mercer.operators")
    assert "mercer" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_lifts_load_scikit_learn_and_nothing_else_that_is_heavy():
    loaded = loaded_by("import mercer, mercer.testing; mercer.lift, mercer.region")
    assert loaded & set(HEAVY) <= {"sklearn", "pandas", "polars"}  # scikit-learn looks for frames


def test_public_names_exist():
    for name in mercer.__all__:
        assert hasattr(mercer, name)
    assert metadata("mercer")["Version"] == mercer.__version__


LAZY = [path for path in sorted(Path(mercer.__path__[0]).rglob("__init__.py")) if " = later(" in path.read_text()]


@pytest.mark.parametrize("path", LAZY, ids=lambda path: path.parent.name)
def test_a_package_loads_the_names_that_type_checkers_see(path):
    module = importlib.import_module(".".join(["mercer", *path.relative_to(mercer.__path__[0]).parts[:-1]]))
    lines = [line for line in ast.walk(ast.parse(path.read_text())) if isinstance(line, ast.ImportFrom)]
    seen = {name.name: line.module for line in lines for name in line.names if name.asname == name.name}
    seen.pop("__version__", None)
    assert sorted(seen) == dir(module) == list(module.__all__)
    for name, home in seen.items():
        assert getattr(module, name) is getattr(importlib.import_module(home), name)


def test_a_package_is_empty_until_it_is_asked():
    asked = "import mercer.kernels as k; before = len(vars(k)); k.Gaussian; print(before, len(vars(k)))"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    before, after = map(int, done.stdout.split())
    assert before < after < len(dir(mercer.kernels))


@pytest.mark.parametrize("example", ["tour", "exercise_21"])
def test_examples_run(example, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # where the tour leaves its picture
    monkeypatch.syspath_prepend(ROOT / "examples")  # as Python does for a script
    runpy.run_path(str(ROOT / "examples" / f"{example}.py"), run_name="__main__")
    shown = capsys.readouterr().out
    assert "[proven]" in shown
    assert "[refuted]" in shown


def test_exercise_21_is_answered():
    answers = runpy.run_path(str(ROOT / "examples" / "exercise_21.py"))["QUESTIONS"]
    statuses = {question.strip(): proof.status for question, proof in answers.items()}
    assert statuses == {
        "A. 1": "proven",
        "B. x.x'": "proven",
        "C. 1 + x.x'": "proven",
        "D. (1 + x.x')^2": "proven",
        "E. exp(x + x') on R": "proven",
        "F. min(x, x') on the integers": "refuted",
        "min(x, x') on the non-negative reals": "proven",
        "sin(r)/r on R^3": "proven",
        "sin(r)/r on R^4": "refuted",
        "tanh(x.x')": "refuted",
        "max(0, 1 - r^2)": "refuted",
        "max(0, 1 - r) on R": "proven",
        "max(0, 1 - r) on R^2": "refuted",
        "(9 + x.x')^1.5": "refuted",
    }


def test_contributing_shows_the_real_file():
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    source = (ROOT / "src" / "mercer" / "kernels" / "radial" / "laplace.py").read_text()
    exports = (ROOT / "src" / "mercer" / "kernels" / "__init__.py").read_text()
    assert f"```python\n{source}```" in guide
    line = "from mercer.kernels.radial.laplace import Laplace as Laplace"
    assert line in guide
    assert line in exports
    assert '"Laplace": "radial.laplace",' in guide
    assert '"Laplace": "radial.laplace",' in exports
