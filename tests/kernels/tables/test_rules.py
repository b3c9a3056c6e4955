"""What each kind of column is taken for, and why."""

import datetime
import math

import numpy as np
import pytest

from mercer.kernels.objects.table import table_of
from mercer.kernels.tables.rules import choice_of
from mercer.kernels.tables.survey import survey_of


def cells(column):
    found = np.empty((len(column), 1), dtype=object)
    for i, cell in enumerate(column):
        found[i, 0] = cell
    return found


def chosen(column, name="x"):
    pandas = pytest.importorskip("pandas")
    return choice_of(survey_of(table_of(pandas.DataFrame({name: column})), 0))


WORDS = ["late", "paid", "never", "again", "soon", "twice", "card", "cash"]
NOTES = [" ".join(WORDS[(i * k + k) % 8] for k in range(1, 6)) + f" {i}" for i in range(40)]
NAMES = [f"{a}{b}son" for a in ("An", "Bor", "Cy", "Dom", "Em", "Fin") for b in ("a", "e", "i", "o", "u")]
GENES = ["".join(row) for row in np.random.default_rng(0).choice(list("acgt"), (40, 20))]
DAYS = [datetime.date(2020, 1, 1) + datetime.timedelta(days=3 * i) for i in range(260)]


@pytest.mark.parametrize(
    ("column", "taken_for", "place"),
    [
        ([1.5, 2.5, 3.0] * 4, "number", "numbers"),
        (list(range(12)), "number", "numbers"),
        ([1.5, None, 3.0, 1.0], "number with gaps", "gapped"),
        ([0, 1] * 6, "category", "categories"),
        ([True, False, True], "category", "categories"),
        ([True, None, False], "category", "categories"),
        (["a", "b", "a"], "category", "categories"),
        (["a", None, "a"], "category", "categories"),
        ([7, None, 7], "category", "categories"),
        (["one label of many words"] * 30 + ["and another one of these"] * 30, "category", "categories"),
        ([f"l{i % 30}" for i in range(150)], "category", "categories"),
        (NOTES, "text", "added"),
        (NAMES, "name", "added"),
        (GENES, "sequence", "added"),
        ([*GENES[:-1], ""], "sequence", "added"),
        ([gene[:-1] if i else gene for i, gene in enumerate(GENES)], "name", "added"),
        ([*NOTES, None], "text", "left out"),
        (DAYS, "date", "numbers"),
        ([*DAYS, None], "date", "left out"),
        ([4, 4, 4], "constant", "left out"),
        (["a", "a"], "constant", "left out"),
        ([None, None], "nothing", "left out"),
        ([1.0, math.inf, 2.0], "other objects", "left out"),
        (["a", 1, 2.0], "other objects", "left out"),
        ([[1], [2], [3]], "other objects", "left out"),
    ],
)
def test_what_columns_are_taken_for(column, taken_for, place):
    choice = chosen(column)
    assert (choice.taken_for, choice.place) == (taken_for, place)
    assert choice.why
    alone = choice_of(survey_of(table_of(cells(column)), 0))  # cells without a type, and without a name
    assert (alone.taken_for, alone.place) == (taken_for, place)


@pytest.mark.parametrize("name", ["id", "ID", "customer_id", "customerID", "userId", "row key", "Unnamed: 0", "uuid"])
def test_columns_that_number_the_rows_are_left_out(name):
    assert chosen(list(range(9)), name).taken_for == "id"
    assert chosen([f"c{i}" for i in range(9)], name).taken_for == "id"
    assert chosen([0, 1, 2] * 3, name).taken_for == "number"  # not all different
    assert chosen([0.5, 1.5, 2.5], name).taken_for == "number"


@pytest.mark.parametrize("name", ["age", "humidity", "paid", "width", "keyboard"])
def test_other_names_that_end_alike_are_no_identifiers(name):
    assert chosen(list(range(9)), name).taken_for == "number"


def test_declared_labels_are_labels():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    tables = [
        pandas.DataFrame({"x": pandas.Categorical(NAMES)}),
        polars.DataFrame({"x": polars.Series(NAMES, dtype=polars.Categorical)}),
        pyarrow.table({"x": pyarrow.array(NAMES).dictionary_encode()}),
    ]
    for table in tables:
        choice = choice_of(survey_of(table_of(table), 0))
        assert (choice.taken_for, choice.why) == ("category", "labels by declaration, 30 different")


def test_the_spread_is_the_variance_of_the_features():
    """Half of the mean squared distance of two rows: counted over all pairs, a row with itself included."""
    labels = ["a", "b", "b", None, "c", "b"]
    wanted = np.mean([x != z for x in labels for z in labels])
    assert chosen(labels).spread == pytest.approx(wanted)
    numbers = np.array([1.0, 2.0, 7.0, 4.0])
    wanted = np.mean((numbers[:, None] - numbers) ** 2) / 2 / numbers.var()
    assert chosen(numbers.tolist()).spread == pytest.approx(wanted)
    known = [1.0, 2.0, 7.0]
    g = np.array([[(x - np.mean(known)) / np.std(known), 0.0] for x in known] + [[0.0, 1.0]])
    assert chosen([*known, None]).spread == pytest.approx(np.mean(((g[:, None] - g) ** 2).sum(axis=2)) / 2)
    days = np.array([(day - datetime.date(1970, 1, 1)).days for day in DAYS], dtype=float)
    parts = [days / days.std()] + [f(2 * np.pi * days / p) for p in (7.0, 365.2425) for f in (np.cos, np.sin)]
    g = np.column_stack(parts)
    assert chosen(DAYS).spread == pytest.approx(np.mean(((g[:, None] - g) ** 2).sum(axis=2)) / 2)


def test_cycles_are_read_where_the_dates_show_them():
    start = datetime.datetime(2020, 1, 1)
    hours = [start + datetime.timedelta(hours=5 * i) for i in range(90)]
    assert chosen(hours).periods == (1.0, 7.0)
    assert chosen(hours[:20]).periods == (1.0,)
    assert chosen([start + datetime.timedelta(days=7 * i) for i in range(200)]).periods == (365.2425,)
    assert chosen([start + datetime.timedelta(days=i) for i in range(10)]).periods == ()
    months = [datetime.date(1950 + i // 12, 1 + i % 12, 1) for i in range(140)]
    assert chosen(months).periods == (365.2425,)  # twelve dates a year show no week
    assert chosen([start + datetime.timedelta(days=400 * i) for i in range(40)]).periods == ()


@pytest.mark.parametrize(
    "form", ["C-{:05d}", "7{:03d}-VHVEG", "k{}", "{:08x}-0000-4000-8000-{:012x}", "{:032x}"], ids=str
)
def test_codes_that_differ_in_every_row_are_left_out(form):
    codes = [form.format(7919 * i + 11, i) for i in range(40)]
    choice = chosen(codes, "customer")
    assert (choice.taken_for, choice.place) == ("id", "left out")
    assert "another in each row" in choice.why
    assert chosen(codes[:-1] + codes[:1], "customer").taken_for != "id"  # one of them twice


def test_other_texts_with_digits_are_no_codes():
    molecules = ["C" * i + ("1" + "c" * j + "1" if j else "=O") for i in range(1, 9) for j in range(5)]
    assert chosen(molecules).taken_for == "name"


@pytest.mark.parametrize("name", ["Objekt-Nr", "invoice no", "Nummer"])
def test_counters_in_other_words_are_left_out(name):
    assert chosen(list(range(1, 60)), name).taken_for == "id"


def test_a_mean_keeps_the_digits_that_matter():
    assert chosen([1e6 + 1.25, 1e6 + 1.75, None]).moments == (1e6 + 1.5, 0.25)


def test_post_codes_are_labels_by_their_name():
    codes = [98_001, 98_103, 98_178, 10_001] * 10
    for name in ("zipcode", "zip", "ZipCode", "billing_zip", "PLZ"):
        choice = chosen(codes, name)
        assert (choice.taken_for, choice.place) == ("category", "categories")
        assert "codes of places" in choice.why
    for name, values in (("price", codes), ("zip", [code * 1_000 for code in codes])):
        assert chosen(values, name).taken_for == "number"
