"""The proposal: what is in it, how it reads, how it is changed, and that its kernel is one."""

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mercer
from mercer.errors import InputError, KernelError
from mercer.kernels import Gaussian, Laplace
from mercer.kernels.categories.gapped import Gapped
from mercer.kernels.categories.hamming import Hamming
from mercer.kernels.categories.match import Match
from mercer.kernels.strings.bag_of_words import BagOfWords
from mercer.kernels.strings.spectrum import Spectrum
from mercer.kernels.tables import kernel_for
from mercer.kernels.tables.rules import BOTH

LEAVES = {leaf.name: leaf for leaf in (BagOfWords, Gapped, Hamming, Match, Spectrum)}
COUNT = 48
RANDOM = np.random.default_rng(9)
COLUMNS = {
    "customer_id": [f"c{i:03d}" for i in range(COUNT)],
    "age": RANDOM.integers(20, 70, COUNT).tolist(),
    "income": [None if i % 7 == 0 else float(x) for i, x in enumerate(RANDOM.normal(50, 9, COUNT))],
    "city": [("Rome", "Oslo", None)[i % 3] for i in range(COUNT)],
    "vip": [i % 2 == 0 for i in range(COUNT)],
    "joined": [datetime.date(2019, 1, 1) + datetime.timedelta(days=19 * i) for i in range(COUNT)],
    "note": [" ".join(RANDOM.choice(["good", "bad", "late", "paid"], 4)) + f" {i}" for i in range(COUNT)],
    "same": [3] * COUNT,
    "y": [i % 2 for i in range(COUNT)],
}


@pytest.fixture
def frame():
    return pytest.importorskip("pandas").DataFrame(COLUMNS)


@pytest.fixture
def proposal(frame):
    return kernel_for(frame, target="y")


def test_the_kernel_is_the_gaussian_of_all_columns_plus_texts(frame, proposal):
    """By hand: standardised numbers, zeros and ones, circles; and the cosine of counts of words."""
    age, days = np.array(COLUMNS["age"], dtype=float), 19.0 * np.arange(COUNT)
    income = np.array([np.nan if x is None else x for x in COLUMNS["income"]])
    gone = np.isnan(income)
    income = (np.where(gone, np.nanmean(income), income) - np.nanmean(income)) / np.nanstd(income)
    parts = [age / age.std(), days / days.std(), income, gone]
    parts += [[city == each for city in COLUMNS["city"]] for each in ("Rome", "Oslo", None)]
    parts += [[vip == each for vip in COLUMNS["vip"]] for each in (True, False)]
    first = (datetime.date(2019, 1, 1) - datetime.date(1970, 1, 1)).days
    parts += [f(2 * np.pi * (first + days) / p) for p in (365.2425,) for f in (np.cos, np.sin)]
    F = np.column_stack(parts).astype(float)
    squares = ((F[:, None] - F) ** 2).sum(axis=2)
    assert proposal.lengthscale == pytest.approx(np.sqrt(F.var(axis=0).sum()), rel=5e-3)
    words = BagOfWords(weights="idf").normalized().resolve(COLUMNS["note"])(COLUMNS["note"])
    wanted = np.exp(-squares / (2 * proposal.lengthscale**2)) + words
    np.testing.assert_allclose(proposal.kernel.resolve(frame)(frame), wanted, atol=2e-3)


def test_it_is_proven_and_parses(proposal):
    assert mercer.prove(proposal.kernel).status == "proven"
    assert mercer.parse(str(proposal.kernel), LEAVES) == proposal.kernel


def test_all_libraries_get_the_same_proposal(frame, proposal):
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    for table in (polars.DataFrame(COLUMNS), pyarrow.table(COLUMNS)):
        assert kernel_for(table, target="y") == proposal
        kernel = proposal.kernel.resolve(frame)
        np.testing.assert_array_equal(kernel(table), kernel(frame))


def test_it_says_of_each_column_what_and_why(proposal):
    found = {choice.name: choice for choice in proposal.columns}
    assert list(found) == list(COLUMNS)
    assert [found[name].taken_for for name in ("customer_id", "same", "y")] == ["id", "constant", "target"]
    assert {found[name].part for name in ("customer_id", "same", "y")} == {"left out"}
    assert found["income"].why.startswith("numbers, 41 different, 7 missing; a missing one is the mean")
    assert found["city"].why == "texts, 2 different, 16 missing; missing is a label of its own"
    assert found["joined"].part.endswith(" * periodic, a year")


def test_it_prints_a_table(proposal):
    shown = str(proposal)
    lines = shown.splitlines()
    assert lines[0] == "a kernel for 48 rows x 9 columns"
    assert lines[1].split() == ["column", "taken", "for", "part", "why"]
    assert [line.split()[0] for line in lines[2:11]] == list(COLUMNS)
    assert f"lengthscale {proposal.lengthscale!r}: the root mean squared distance of a row" in lines[11]
    assert mercer.parse(shown.split("kernel:")[1], LEAVES) == proposal.kernel
    assert max(map(len, shown.split("kernel:")[1].splitlines())) <= 120


def test_columns_can_be_left_out(proposal, frame):
    without = proposal.without("city", "note")
    assert without.columns[3].part == "left out"
    assert without.columns[3].why == "you left it out"
    spreads = [choice.spread for choice in proposal.columns if choice.name in ("age", "income", "vip", "joined")]
    assert without.lengthscale == float(f"{sum(spreads) ** 0.5:.3g}")
    assert "city" not in str(without.kernel)
    assert "note" not in str(without.kernel)
    assert without.lengthscale < proposal.lengthscale
    assert proposal.columns[3].part == "hamming"  # the first is as it was


def test_a_column_can_get_another_part(proposal, frame):
    changed = proposal.with_part("age", Laplace("median")).with_part("note", Spectrum(4))
    text = str(changed.kernel)
    assert "*laplace(lengthscale='median').on(['age'])" in text
    assert text.endswith(" + spectrum(k=4).on(['note'])")
    assert "'age', 'joined'" not in text
    assert changed.columns[1].why == "you chose its part"
    values = changed.kernel.resolve(frame)(frame)
    assert np.linalg.eigvalsh(values).min() > -1e-10
    told = proposal.with_part("customer_id", Match())
    assert str(told.kernel).count("match.on(['customer_id'])") == 1


def test_wrong_changes_are_refused(proposal):
    with pytest.raises(InputError, match="needs a column 'town'; the columns are 'customer_id', 'age'"):
        proposal.without("town")
    with pytest.raises(KernelError, match="needs a kernel for 'age'; got 'laplace'"):
        proposal.with_part("age", "laplace")
    everything = proposal.without(*(choice.name for choice in proposal.columns))
    with pytest.raises(InputError, match="needs a column to look at; all are left out"):
        _ = everything.kernel
    assert str(everything).endswith("kernel: none, since all columns are left out")


def test_targets_may_be_several_and_must_exist(frame):
    found = kernel_for(frame, target=["y", "age"])
    assert [choice.name for choice in found.columns if choice.taken_for == "target"] == ["age", "y"]
    with pytest.raises(InputError, match="needs a column named 'z'"):
        kernel_for(frame, target="z")
    with pytest.raises(InputError, match="needs two rows or more; got 1"):
        kernel_for(frame[:1])


entries = st.one_of(
    st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", "ö", ""])), min_size=5, max_size=5),
    st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6)), min_size=5, max_size=5),
    st.lists(st.one_of(st.none(), st.integers(-3, 3)), min_size=5, max_size=5),
    st.lists(st.one_of(st.none(), st.booleans()), min_size=5, max_size=5),
    st.lists(st.one_of(st.none(), st.dates()), min_size=5, max_size=5),
)


@given(st.lists(entries, min_size=1, max_size=4))
def test_property_every_table_gets_a_kernel(columns):
    rows = np.empty((5, len(columns) + 1), dtype=object)
    for j, column in enumerate([*columns, ["a", "b", "a", "b", "a"]]):
        rows[:, j] = column
    proposal = kernel_for(rows)
    assert str(proposal)
    kernel = proposal.kernel
    assert mercer.prove(kernel).status == "proven"
    assert mercer.parse(str(kernel), LEAVES) == kernel
    K = kernel.resolve(rows)(rows)
    assert np.linalg.eigvalsh(K).min() > -1e-12
    np.testing.assert_allclose(np.diag(K), K[0, 0], rtol=1e-12)


def test_numbers_alone_are_one_gaussian():
    X = np.random.default_rng(0).normal(size=(9, 2)) * [3.0, 0.1]
    proposal = kernel_for(X)
    scales = [float(f"{s:.4g}") for s in X.std(axis=0)]
    assert proposal.kernel == Gaussian(1.41).scaled(scales).on([0, 1])
    np.testing.assert_allclose(proposal.kernel(X), Gaussian(1.41)(X / scales), rtol=1e-13)


def test_columns_of_one_name_are_called_by_position():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([["a", 1.5, "x"], ["b", 2.5, "y"], ["a", 4.0, "y"]], columns=["c", "n", "c"])
    proposal = kernel_for(frame)
    assert [choice.name for choice in proposal.columns] == [0, "n", 2]
    assert proposal.kernel(frame).shape == (3, 3)


def test_dates_and_numbers_alone_are_read_from_all_libraries(frame):
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    columns = {name: COLUMNS[name] for name in ("age", "joined")}
    kernel = kernel_for(frame[["age", "joined"]]).kernel
    age, days = np.array(columns["age"], dtype=float), 19.0 * np.arange(COUNT)
    scaled = [np.subtract.outer(x, x) / float(f"{x.std():.4g}") for x in (age, days)]
    turns = [2 * np.sin(np.pi * np.subtract.outer(days, days) / period) for period in (365.2425,)]
    wanted = np.exp(
        -sum(gap**2 for gap in scaled + turns) / (2 * kernel_for(frame[["age", "joined"]]).lengthscale ** 2)
    )
    for table in (frame, frame.astype({"joined": "datetime64[ns]"}), polars.DataFrame(columns), pyarrow.table(columns)):
        np.testing.assert_allclose(kernel(table), wanted, rtol=1e-9)


@pytest.mark.parametrize("unit", ["h", "D"])
@pytest.mark.parametrize("lengths", [[1, 2, 3, 5, 8, 13], [1, 2, None, 5, 8, 13], [1, 2, 1, 2, 2, 1]])
def test_durations_are_days(lengths, unit):
    """As a column of their own type, as objects, and as the numbers that they are."""
    pd = pytest.importorskip("pandas")
    column = pd.to_timedelta(pd.Series(lengths), unit=unit)
    frame = pd.DataFrame({"days": column / pd.Timedelta(days=1)})
    K = kernel_for(frame).kernel(frame)
    for each in (column, column.astype(object)):
        table = pd.DataFrame({"days": each})
        np.testing.assert_allclose(kernel_for(table).kernel(table), K, rtol=1e-12)


def test_a_copy_of_a_column_is_left_out(frame):
    frame["age again"], frame["town"] = frame["age"], frame["city"]
    frame["nearly"] = frame["income"].where(frame.index > 1, 3.5)
    found = {choice.name: choice for choice in kernel_for(frame, target="y").columns}
    assert (found["age again"].taken_for, found["age again"].part) == ("copy", "left out")
    assert found["age again"].why == "it equals column 'age' in every row"
    assert found["town"].taken_for == "copy"
    assert found["nearly"].taken_for == "number with gaps"
    assert found["age"].place == "numbers"


def test_a_text_of_one_length_can_be_read_in_three_ways():
    genes = ["".join(row) for row in np.random.default_rng(0).choice(list("acgt"), (30, 12))]
    proposal = kernel_for(np.array(genes, dtype=object)[:, None])
    assert [reading for reading, _ in proposal.columns[0].readings] == [
        "letters at their places", "runs of three letters", BOTH]  # fmt: skip
    assert str(proposal.kernel).count("degree=3") == str(proposal.kernel).count("spectrum") == 1
    assert "lengthscale" not in str(proposal)
    placed = proposal.with_reading(0, "letters at their places")
    assert str(placed.kernel) == "weighted_degree(degree=3).normalized().on([0])"
    assert placed.columns[0].why.endswith("all of 12 letters: read by letters at their places, as you chose")
    with pytest.raises(InputError, match="got 'words'; its readings are 'letters at their places'"):
        proposal.with_reading(0, "words")


def test_a_table_of_labels_is_told_nothing_of_deviations():
    said = str(kernel_for(np.array([["p"], ["q"], ["p"]], dtype=object)))
    assert "how much labels vary" in said
    assert "deviations" not in said
