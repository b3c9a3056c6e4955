"""Models of tables: which tables they take, and which records of them are sound."""

import io
from dataclasses import replace

import numpy as np
import pytest

import mercer
from mercer.errors import InputError, ModelFileError
from mercer.kernels import Gaussian
from mercer.models import load, save
from mercer.models.table_model import TableModel, rows_of_table
from mercer.tables.read import read_table


def sheet_of(text):
    return read_table("-", stdin=io.BytesIO(text.encode()))


@pytest.fixture(scope="module")
def model():
    kernel = Gaussian(2.0).on(["a"]) * Gaussian(30.0).on(["day"])
    sheet = sheet_of("a,day\n" + "".join(f"{i},2020-01-{i + 10}\n" for i in range(12)))
    rows = rows_of_table(sheet.table, kernel, ("a", "day"))
    learner = mercer.KernelRidge(kernel, alpha=0.1).fit(rows, np.arange(12.0))
    return TableModel(learner, "regression", "y", ("a", "day"), ("number", "date"))


def test_columns_are_found_by_name(model):
    expected = model.predict(sheet_of("a,day\n1.5,2020-01-12\n"))
    np.testing.assert_array_equal(model.predict(sheet_of("more,day,a\nx,2020-01-12,1.5\n")), expected)
    oracle = model.learner.predict(_Named(("a", "day"), np.array([[1.5, 18273.0]])))  # days since 1970
    np.testing.assert_array_equal(expected, oracle)


class _Named:
    """A table with names, as scikit-learn's users have it."""

    def __init__(self, columns, values):
        self.columns, self.values, self.shape = columns, values, values.shape

    def __len__(self):
        return len(self.values)

    def __getitem__(self, place):
        return self.values[place]


def test_other_tables_are_refused(model):
    for text, words in (("a\n1\n", "'day'"), ("a,day\n1,2\n", "dates"), ("a,day\nx,2020-01-12\n", "numbers")):
        with pytest.raises(InputError, match=words):
            model.predict(sheet_of(text))
    with pytest.raises(InputError, match="names"):
        model.predict(sheet_of("1 1:2\n"))


def test_files_give_back_the_same_model(model, tmp_path):
    save(model, tmp_path / "m.mercer")
    found = load(tmp_path / "m.mercer")
    assert (found.task, found.target, found.columns, found.kinds) == (
        "regression",
        "y",
        ("a", "day"),
        ("number", "date"),
    )
    sheet = sheet_of("a,day\n1.5,2020-01-12\n3,2021-01-12\n")
    np.testing.assert_array_equal(found.predict(sheet), model.predict(sheet))


CHANGES = [
    {"task": "ranking"},
    {"task": "lift"},
    {"target": ""},
    {"kinds": ("number",)},
    {"kinds": ("number", "colour")},
]
CHANGES += [{"filled": ("b",)}, {"columns": ("a", "a")}]


@pytest.mark.parametrize("change", CHANGES)
def test_records_that_are_not_sound_are_told_and_not_saved(model, change, tmp_path):
    changed = replace(model, **change)
    assert "needed" in changed._inconsistency()
    assert model._inconsistency() == ""
    with pytest.raises(ModelFileError, match="needed"):
        save(changed, tmp_path / "m.mercer")
