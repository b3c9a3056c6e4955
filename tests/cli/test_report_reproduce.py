"""The Python of a report runs, and gives the same predictions; so does the command."""

import gzip
import shlex

import numpy as np
import pytest
from command import run, write_houses, write_rings
from report_pages import clean_classes, clean_regression, write

from mercer.cli.fit import FitOptions
from mercer.cli.output import Voice
from mercer.cli.pipeline import fitted
from mercer.cli.report.case import Case
from mercer.cli.report.reproduce import command, script


def sparse(path):
    rng = np.random.default_rng(0)
    path.write_text("\n".join(f"{i % 3} {1 + i % 3}:{rng.uniform(1, 2):.3f} 5:{rng.normal():.3f}" for i in range(60)))
    return path


def wide(path):
    data = clean_regression()
    return write(path, **{f"a rather long name, '{i}' \"quoted\"": data["a"] * i for i in range(1, 9)}, y=data["y"])


def texts(path):
    lines = [f'"{"good, thing" if i % 2 else "a bad day"} {i}",{i % 2}' for i in range(50)] + [",1"]
    path.write_text("\n".join(["text,mark", *lines]))
    return path


def semicolons(path):
    data = clean_regression()
    rows = zip(data["a"], data["b"], data["y"], strict=True)
    path.write_bytes(gzip.compress("\n".join(f"{a:.3f};{b:.3f};{y:.3f}" for a, b, y in rows).encode()))
    return path


RUNS = {
    "houses": (lambda path: write_houses(path / "t.csv"), {"target": "price", "random_state": 3}),
    "rings by vectors": (lambda path: write_rings(path / "t.csv"), {"target": "ring", "learner": "svm"}),
    "rings by chances": (lambda path: write_rings(path / "t.csv"), {"target": "ring", "learner": "logistic"}),
    "rings by mistakes": (lambda path: write_rings(path / "t.csv"), {"target": "ring", "learner": "perceptron"}),
    "numbers by vectors": (lambda path: write_houses(path / "t.csv"), {"target": "price", "learner": "svm"}),
    "a kernel": (
        lambda path: write_houses(path / "t.csv"),
        {"target": "price", "kernel": "linear + 1", "time_limit": "9s"},
    ),
    "classes": (lambda path: write(path / "t.parquet", **clean_classes(150, classes=4)), {"target": "c"}),
    "sparse": (lambda path: sparse(path / "t.svm"), {"target": "target", "drop": None}),
    "names": (lambda path: wide(path / "t.parquet"), {"target": "y", "test": 0.3}),
    "texts": (lambda path: texts(path / "t.csv"), {"target": "mark", "task": "classification"}),
    "options": (
        lambda path: semicolons(path / "t.csv.gz"),
        {"target": "f2", "separator": ";", "no_header": True, "max_rows": 1000, "memory_limit": "1GB"},
    ),
    "all rows": (lambda path: write_rings(path / "t.csv"), {"target": "ring", "test": 0.0}),
}


@pytest.mark.parametrize("name", RUNS)
def test_the_python_gives_the_same_predictions(name, tmp_path, capsys):
    table, asked = RUNS[name]
    options = FitOptions(table=str(table(tmp_path)), quiet=True, **asked)
    done = fitted(options, Voice("fit", quiet=True))
    names = {}
    exec(compile(script(Case(done, options, [], [])), "report", "exec"), names)  # noqa: S102
    if options.test:
        np.testing.assert_array_equal(names["predicted"], done.judged.predicted)
        assert float(capsys.readouterr().out.split()[-1]) == pytest.approx(done.scores[0][1][0].value, rel=1e-12)
    else:
        rows = done.look.rows(done.parts.train)
        np.testing.assert_array_equal(names["predicted"], done.model.learner.predict(rows))


def test_the_command_is_the_same_run(tmp_path):
    houses = write_houses(tmp_path / "my houses.csv")
    words = [
        "fit",
        str(houses),
        "--target",
        "price",
        "--drop",
        "id",
        "--drop",
        "town",
        "--random-state",
        "2",
        "--refit",
    ]
    dumped = run(*words, "--dump-config").stdout
    options = FitOptions(table=str(houses), target="price", drop=["id", "town"], random_state=2, refit=True)
    again = shlex.split(command(options))
    assert again[0] == "mercer"
    assert run(*again[1:], "--dump-config").stdout == dumped
