"""What a column suggests as a task, and how a kernel finds its columns."""

import io

import numpy as np
import pytest

from mercer.cli.features import by_position, look
from mercer.cli.target import like, target_of
from mercer.errors import InputError
from mercer.kernels import Gaussian, Linear
from mercer.tables.read import read_table

COLUMNS = {
    "labels": (["a", "b"] * 20, "classification"),
    "booleans": (["true", "false"] * 20, "classification"),
    "two numbers": (["-1", "1"] * 20, "classification"),
    "seven classes": ([str(i % 7) for i in range(70)], "classification"),
    "seven classes as floats": ([f"{i % 7}.0" for i in range(70)], "classification"),
    "seven numbers in few rows": ([str(i % 7) for i in range(69)], "regression"),
    "many integers": ([str(i % 21) for i in range(1000)], "regression"),
    "two numbers that are not whole": (["0.5", "1.5"] * 20, "regression"),
}


def sheet_of(text):
    return read_table("-", stdin=io.BytesIO(text.encode()))


@pytest.mark.parametrize("case", COLUMNS)
def test_the_target_decides(case):
    entries, task = COLUMNS[case]
    _, target = target_of(sheet_of("y\n" + "\n".join(entries) + "\n"), "y")
    assert target.task == task
    assert target.values.dtype.kind in ("f" if task == "regression" else "iU")


def test_a_task_that_is_told():
    sheet = sheet_of("y\n" + "0.5\n1.5\n" * 5)
    assert target_of(sheet, "y", "classification")[1].values.tolist() == ["0.5", "1.5"] * 5
    assert target_of(sheet_of("y\n" + "0\n1\n" * 5), "y", "regression")[1].values.dtype == np.float64
    with pytest.raises(InputError, match="classification"):
        target_of(sheet_of("y\n" + "a\nb\n" * 5), "y", "regression")


def test_rows_without_a_target_are_dropped_and_counted():
    sheet, target = target_of(sheet_of("x,y\n1,a\n2,\n3,b\n4,a\n5,b\n"), "y")
    assert (sheet.table.column("x").to_pylist(), target.dropped) == ([1, 3, 4, 5], 1)
    sheet, target = target_of(sheet_of("x,y\n1,0.5\n2,nan\n3,1.5\n"), "y")
    assert (sheet.rows, target.dropped, target.values.tolist()) == (2, 1, [0.5, 1.5])


def test_names_become_positions():
    kernel = Gaussian(2.0).on(["b"]) * (Linear().on(["a", "c"]) + 1)
    X = np.random.default_rng(0).normal(size=(5, 3))
    expected = Gaussian(2.0).on(1)(X) * (Linear().on([0, 2])(X) + 1)
    np.testing.assert_array_equal(by_position(kernel, ("a", "b", "c"))(X), expected)


def test_a_kernel_without_columns_takes_those_that_it_can_read():
    sheet = sheet_of("n,t,d,y\n" + "".join(f"{i},word{i} x,2020-01-{i + 10},{i % 2}\n" for i in range(9)))
    assert look(sheet, ("y",), "linear", 0).columns == ("n", "d")
    assert look(sheet, ("y",), "spectrum(2)", 0).columns == ("t",)
    assert look(sheet, ("y",), "linear.on(['n'])", 0).columns == ("n",)
    with pytest.raises(InputError, match="'z'"):
        look(sheet, ("y",), "linear.on(['z'])", 0)
    with pytest.raises(InputError, match="'q'"):
        look(sheet, ("y", "q"), None, 0)


def test_a_column_is_taken_out_whatever_blanks_stand_around_its_name():
    sheet = sheet_of("id, size, price\n" + "".join(f"{i},{i * 7 % 11}.5,{i * 5 % 13}.25\n" for i in range(30)))
    _, target = target_of(sheet, " price")
    assert target.name == "price"
    assert look(sheet, (" price", "id "), None, 0).columns == ("size",)
    assert look(sheet, (" price", "id "), "gaussian", 0).columns == ("size",)


def test_gaps_in_other_rows_are_known_and_nothing_else_of_them():
    rows = [f"{i}.5,name of {i} things here,2020-01-{1 + i:02d}\n" for i in range(28)]
    whole = sheet_of("size,text,day\n" + "".join(rows) + ",,\n")
    train = whole.take(np.arange(28))
    alone = look(train, (), None, 0)
    assert {c.name: c.taken_for for c in alone.proposal.columns} == {"size": "number", "text": "text", "day": "date"}
    found = look(train, (), None, 0, whole)
    assert {c.name: c.taken_for for c in found.proposal.columns}["size"] == "number with gaps"
    assert (found.columns, found.filled) == (("size", "text"), ("text",))
    assert len(found.rows(whole)) == 29


@pytest.mark.parametrize(
    ("classes", "entries", "wanted"),
    [
        (["False", "True"], ["true", "FALSE", "True", "0"], ["True", "False", "True", "False"]),
        (["0.5", "1.0", "1.5"], ["1", "0.5", "1.50", "2"], ["1.0", "0.5", "1.5", "2"]),
        (["a", "b"], ["a", "B"], ["a", "B"]),
        (["Cafe", "bar"], [" CAFE", "Bar", "pub"], ["Cafe", "bar", "pub"]),
        (["1", "2"], ["1", "true"], ["1", "true"]),
    ],
)
def test_labels_are_spelt_as_in_the_fit(classes, entries, wanted):
    assert like(np.array(entries, dtype=object), np.array(classes), "y").tolist() == wanted


def test_numbers_that_are_no_classes_are_refused():
    assert like(np.array([1.0, 2.0]), np.array([1, 2, 3]), "y").tolist() == [1, 2]
    with pytest.raises(InputError, match=r"integers.*1\.7"):
        like(np.array([1.0, 1.7]), np.array([1, 2, 3]), "y")
