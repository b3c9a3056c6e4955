"""The overlap kernel against counting by hand, in every way to weigh and to treat missing entries."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mercer
from mercer.errors import InputError, KernelError
from mercer.kernels import Gaussian, exp
from mercer.kernels.categories.match import Match
from mercer.kernels.evaluation.evaluate import fused_from

LABELS = ["a", "b", "c", None]
WAYS = [(weights, missing) for weights in ("equal", "rarity") for missing in ("category", "marginalised")]


@st.composite
def tables(draw, least=1):
    width = draw(st.integers(1, 3))
    row = st.lists(st.sampled_from(LABELS), min_size=width, max_size=width)
    return draw(st.lists(row, min_size=least, max_size=8)), draw(st.lists(row, min_size=1, max_size=5))


def shares(column, with_missing):
    """How often each label stands in a column, counted one by one."""
    kept = [label for label in column if with_missing or label is not None]
    return {label: kept.count(label) / len(kept) for label in kept}


def brute(x, z, table, weights, missing):
    """k(x, z) by its definition: the expected weighted agreement, missing entries drawn by the shares of the table."""
    total = 0.0
    for k in range(len(x)):
        seen = shares([row[k] for row in table], missing == "category")
        weight = {label: 1 - seen.get(label, 0.0) if weights == "rarity" else 1.0 for label in [*LABELS, "new"]}
        here = seen if x[k] is None and missing == "marginalised" else {x[k]: 1.0}
        there = seen if z[k] is None and missing == "marginalised" else {z[k]: 1.0}
        total += sum(p * q * weight[a] for a, p in here.items() for b, q in there.items() if a == b)
    return total / len(x)


@pytest.mark.parametrize(("weights", "missing"), WAYS)
@given(tables=tables())
def test_property_it_is_what_counting_gives(weights, missing, tables):
    table, others = tables
    kernel = Match(weights, missing).resolve(table)
    wanted = [[brute(x, z, table, weights, missing) for z in others] for x in table]
    np.testing.assert_allclose(kernel(table, others), wanted, atol=1e-14)
    square = [[brute(x, z, table, weights, missing) for z in table] for x in table]
    np.testing.assert_allclose(kernel(table), square, atol=1e-14)
    assert np.linalg.eigvalsh(kernel(table)).min() > -1e-13


@pytest.mark.parametrize(("weights", "missing"), WAYS)
@given(tables=tables())
def test_property_both_paths_agree(weights, missing, tables):
    table, others = tables
    kernel = Match(weights, missing).resolve(table)
    with fused_from(0):
        fused = kernel(table, others)
    np.testing.assert_allclose(fused, kernel(table, others), atol=1e-14)


def test_without_weights_the_values_are_exact():
    table = [["a", "x", "1"], ["a", "y", "1"], ["b", None, "2"]]
    np.testing.assert_array_equal(Match()(table), np.array([[3, 2, 0], [2, 3, 0], [0, 0, 3]]) / 3)
    np.testing.assert_array_equal(Match().diagonal(table), np.ones(3))


@settings(max_examples=20)
@given(tables())
def test_property_rows_do_not_depend_on_others(tables):
    """What new rows give does not depend on which come with them, nor on the order."""
    table, others = tables
    for weights, missing in WAYS:
        kernel = Match(weights, missing).resolve(table)
        whole = kernel(others, table)
        alone = np.vstack([kernel([row], table) for row in others])
        np.testing.assert_allclose(whole, alone, atol=1e-15)
        np.testing.assert_allclose(kernel(others[::-1], table[::-1]), whole[::-1, ::-1], atol=1e-15)
        np.testing.assert_allclose(
            kernel(table + others)[: len(table), len(table) :], kernel(table, others), atol=1e-15
        )


@given(tables())
def test_property_a_weight_is_a_repetition(tables):
    table, _ = tables
    weights = [1 + i % 3 for i in range(len(table))]
    repeated = [row for row, weight in zip(table, weights, strict=True) for _ in range(weight)]
    for weighing, missing in WAYS:
        kernel = Match(weighing, missing)
        found = kernel.resolve(repeated[::-1])
        assert found == kernel.resolve(table, weights)
        assert found == mercer.parse(str(found), {"match": Match})
        assert eval(repr(found)) == found  # noqa: S307


def test_unseen_labels_match_each_other_only():
    kernel = Match("rarity").resolve(["a", "a", "b", "b"])
    np.testing.assert_allclose(
        kernel(["new", "a"], ["new", "a", "other"]), [[1.0, 0.0, 0.0], [0.0, 0.5, 0.0]], rtol=1e-15
    )


def test_a_missing_entry_meets_an_unseen_label_with_nothing():
    kernel = Match(missing="marginalised").resolve(["a", "a", "a", "b", None])
    np.testing.assert_allclose(kernel([None], ["a", "b", "new", None]), [[0.75, 0.25, 0.0, 0.75**2 + 0.25**2]])


def test_a_column_where_all_is_missing():
    kernel = Match("rarity", "marginalised").resolve([[None], [None]])
    np.testing.assert_array_equal(kernel([[None], ["a"]]), [[0.0, 0.0], [0.0, 1.0]])
    assert mercer.parse(str(kernel), {"match": Match}) == kernel


def test_refused_missing_entries_name_the_column():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"city": ["a", "b"], "job": ["x", None]})
    with pytest.raises(InputError, match=r"^Match needs a label in each row; column 'job' has missing entries"):
        Match(missing="refuse")(frame)
    np.testing.assert_array_equal(Match(missing="refuse").on("city")(frame), np.eye(2))


def test_its_exponential_is_the_gaussian_of_one_hot_columns():
    table = [["a", "x"], ["a", "y"], ["b", "z"], ["c", "x"]]
    codes = {label: k for k, label in enumerate("abcxyz")}
    one_hot = np.zeros((4, 6))
    for i, row in enumerate(table):
        one_hot[i, [codes[label] for label in row]] = 1.0
    ours = exp(2 / 1.5**2 * Match()).normalized()
    np.testing.assert_allclose(ours(table), Gaussian(1.5)(one_hot), rtol=1e-14)


def test_many_labels_are_sparse_and_agree():
    table = [[f"l{i % 700}", i % 3] for i in range(1500)]
    found = Match()(table, table[:40])
    wanted = [[((i - j) % 700 == 0) / 2 + ((i - j) % 3 == 0) / 2 for j in range(40)] for i in range(1500)]
    np.testing.assert_array_equal(found, wanted)
    with fused_from(0):
        np.testing.assert_array_equal(Match()(table, table[:40]), wanted)


def test_tables_of_all_libraries_agree():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    columns = {"a": ["x", None, "y", "x"], "b": [1, 2, None, 1], "c": [True, True, False, None]}
    frames = [
        pandas.DataFrame(columns),
        pandas.DataFrame(columns).astype({"a": "category", "b": "Int64", "c": "boolean"}),
        polars.DataFrame(columns),
        pyarrow.table(columns),
        pyarrow.table({**columns, "a": pyarrow.array(columns["a"]).dictionary_encode()}),
        np.array(list(zip(*columns.values(), strict=True)), dtype=object),
        [list(row) for row in zip(*columns.values(), strict=True)],
    ]
    for frame in frames:
        np.testing.assert_array_equal(Match()(frame)[0], [1.0, 1 / 3, 0.0, 2 / 3])


@pytest.mark.parametrize("kernel", [Match(), Match("rarity"), Match(missing="marginalised"), Match(missing="refuse")])
def test_it_is_proven(kernel):
    assert mercer.prove(kernel).status == "proven"
    assert mercer.prove(2.0 * kernel.on("city") * Gaussian().on("age") + kernel.on("job")).status == "proven"


def test_the_proof_says_what_is_done_with_missing_entries():
    proof = str(mercer.prove(Match("rarity", "marginalised")))
    assert "mean of the features" in " ".join(proof.split())
    assert "sqrt(1 - share of the label in the data)" in " ".join(proof.split())


def test_an_open_kernel_asks_to_be_resolved():
    assert Match("rarity").is_open
    assert not Match().is_open
    with pytest.raises(InputError, match="open numbers"):
        Match("rarity")(["a", "b"])


def test_other_columns_than_counted_are_refused():
    kernel = Match("rarity").resolve([["a", "b"], ["c", "d"]])
    with pytest.raises(InputError, match="needs the 2 columns whose labels were counted; got 1"):
        kernel(["a", "b"])


@pytest.mark.parametrize(
    "wrong",
    [
        {"weights": "tfidf"},
        {"missing": None},
        {"missing": "drop"},
        {"seen": [["a", 0.5]]},
        {"seen": [[["a", 0.7], ["b", 0.7]]]},
        {"seen": [[["a", 0.1], ["a", 0.2]]]},
        {"seen": [[["a", -0.1]]]},
        {"seen": [[["a", "b", 0.1]]]},
        {"seen": [[["a", math.nan]]]},
        {"seen": 3},
    ],
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(KernelError, match=r"^Match needs "):
        Match(**wrong)


def test_numbers_are_no_labels_of_other_kernels():
    with pytest.raises(InputError, match="Gaussian needs numbers; column 1 holds categories"):
        (Match().on(1) + Gaussian())([[1.0, "a"], [2.0, "b"]])
