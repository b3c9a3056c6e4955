"""Kernels composed column by column: the same tree as by hand, and clear errors."""

import numpy as np
import pytest

import mercer
from mercer.errors import InputError, KernelError
from mercer.kernels import Gaussian, Laplace, Linear, Product, Sum
from mercer.kernels.categories.match import Match
from mercer.kernels.strings.spectrum import Spectrum
from mercer.kernels.tables import Columns

ROWS = {
    "text": ["banana", "ananas", "nab"],
    "age": [20.0, 30.0, 45.0],
    "hours": [40.0, 38.0, 20.0],
    "city": ["Rome", "Oslo", "Rome"],
}
PARTS = {"text": Spectrum(2), ("age", "hours"): Gaussian(10.0), "city": Match()}


@pytest.fixture
def frame():
    return pytest.importorskip("pandas").DataFrame(ROWS)


@pytest.mark.parametrize(("join", "rule"), [("sum", Sum), ("product", Product)])
def test_it_is_the_tree_that_one_would_write(frame, join, rule):
    kernel = Columns(PARTS, join=join)
    by_hand = (Spectrum(2).on("text"), Gaussian(10.0).on(["age", "hours"]), Match().on("city"))
    assert kernel == rule(by_hand)
    joined = np.add if join == "sum" else np.multiply
    shared = np.array([[9, 8, 2], [8, 9, 2], [2, 2, 2]])
    gaps = np.array([[np.hypot(a - c, b - d) for c, d in zip(ROWS["age"], ROWS["hours"], strict=True)]
                     for a, b in zip(ROWS["age"], ROWS["hours"], strict=True)])  # fmt: skip
    same = np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1]])
    np.testing.assert_allclose(kernel(frame), joined(joined(shared, np.exp(-(gaps**2) / 200)), same), rtol=1e-14)


def test_it_prints_parses_and_is_proven():
    kernel = Columns(PARTS)
    assert mercer.prove(kernel).status == "proven"
    assert mercer.parse(str(kernel), {"spectrum": Spectrum, "match": Match}) == kernel
    assert Columns(PARTS, "product").get_params()["k2__columns"] == ("age", "hours")


def test_tables_of_all_libraries_agree(frame):
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    kernel, wanted = Columns(PARTS), Columns(PARTS)(frame)
    cells = np.array(list(zip(*ROWS.values(), strict=True)), dtype=object)
    by_position = Columns([(0, Spectrum(2)), ([1, -2], Gaussian(10.0)), (3, Match())])
    np.testing.assert_array_equal(kernel(polars.DataFrame(ROWS)), wanted)
    np.testing.assert_array_equal(kernel(pyarrow.table(ROWS)), wanted)
    np.testing.assert_array_equal(by_position(cells), wanted)
    np.testing.assert_array_equal(by_position(frame), wanted)
    np.testing.assert_array_equal(kernel(frame, polars.DataFrame(ROWS)), wanted)


def test_pairs_may_name_columns_in_lists():
    assert Columns([(["a", "b"], Linear()), ("c", Laplace())]) == Columns({("a", "b"): Linear(), "c": Laplace()})


def test_one_part_is_that_part():
    assert Columns({"age": Linear()}) == Linear().on("age")


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({}, "at least one part; got none"),
        ({"age": "gaussian"}, r"a kernel for 'age'; got 'gaussian'"),
        ({"age": Gaussian}, r"Write Gaussian\(\)"),
        ([Gaussian()], "a dict from columns to kernels, or pairs of both"),
        ("age", "a dict from columns to kernels"),
        (Gaussian(), "a dict from columns to kernels"),
        (3, "a dict from columns to kernels"),
        ({(): Linear()}, "columns by position or name"),
        ({1.5: Linear()}, "columns by position or name"),
    ],
)
def test_wrong_parts_are_refused(parts, words):
    with pytest.raises(KernelError, match=words):
        Columns(parts)


def test_a_wrong_join_is_refused():
    with pytest.raises(KernelError, match="join='sum' or join='product'; got 'mean'"):
        Columns(PARTS, join="mean")


def test_unknown_columns_and_wrong_kinds_are_refused(frame):
    with pytest.raises(InputError, match="needs a column named 'town'; the columns are 'text', 'age', 'hours', 'city'"):
        Columns({"town": Match(), "age": Linear()})(frame)
    with pytest.raises(InputError, match="column 'city' holds"):
        Columns({"city": Linear(), "text": Spectrum(2)})(frame)
    mixed = frame.astype({"city": object})
    mixed.loc[1, "city"] = 7
    with pytest.raises(InputError, match="there are texts and numbers: row 0 holds 'Rome', and row 1 holds 7"):
        Columns(PARTS)(mixed)
