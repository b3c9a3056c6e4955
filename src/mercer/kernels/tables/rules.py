"""From what a column holds to its place in a kernel: one rule a kind, each with its reason in words."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.graphs.weisfeiler_lehman import WeisfeilerLehman
from mercer.kernels.strings.bag_of_words import BagOfWords
from mercer.kernels.strings.spectrum import Spectrum
from mercer.kernels.strings.weighted_degree import WeightedDegree
from mercer.kernels.tables.choice import DAY, WEEK, YEAR, Choice
from mercer.kernels.tables.survey import Survey

MAX_LABELS = 20
"""Up to so many different short texts are labels, however few rows there are."""
MIN_ROWS_PER_LABEL = 5
"""Texts that stand in so many rows each, on the average, are labels."""
MAX_WHOLE_NUMBER_LABELS = 2
"""Up to so many different integers are labels: more of them have an order that a label would lose."""
MIN_WORDS_PER_TEXT = 3
"""From so many words on, on the average, a text is read word by word; below, letter by letter."""
IDENTIFIERS = frozenset(
    {"id", "ids", "uuid", "guid", "key", "index", "idx", "row", "rowid", "serial", "unnamed", "nr", "no", "nummer"}
)
"""Words at the beginning or the end of the name of a column that numbers its rows."""
POSTAL_NAMES = frozenset({"zip", "zipcode", "zipcodes", "postcode", "postal", "plz"})
"""Words at the beginning or the end of the name of a column of post codes."""
POSTAL_RANGE = (100, 100_000)
"""The numbers that post codes are."""
MAX_CODE_FORMS = 3
"""Up to so many forms, such as C-12345, all entries of a column of codes have."""
MIN_CODE_ROWS = 20
"""Rows that it takes to tell a column of codes."""
MAX_CODE_LETTERS = 64
"""Letters of a code."""
CYCLES = (DAY, WEEK, YEAR)
"""Periods in days."""
MIN_DATES_PER_PERIOD = 2.0
"""How many different dates a period needs, on average, to show a cycle."""
MIN_PERIODS = 2.0
"""How often the dates must span a period to show a cycle."""
MAX_DIFFERENT_LETTERS = 30
"""Texts of one length may have their letters at places where they are made of so few different ones."""
MIN_LETTERS_AT_PLACES = 4
"""The least length of such texts."""
GRAPH_DEPTHS = (2, 5)
"""How far around a node graphs are compared."""
AT_PLACES, IN_RUNS = "letters at their places", "runs of three letters"
BOTH = f"{AT_PLACES} and {IN_RUNS}"

HAS_DIGIT, HEX = re.compile(r"\d"), re.compile(r"[0-9A-Fa-f]{8,}(?:-[0-9A-Fa-f]{4,})*")
"""A digit; numbers in base 16, as hashes and UUIDs are written."""


def choice_of(survey: Survey) -> Choice:
    """The place of a column in the kernel."""
    if survey.holds in ("nothing", "other objects"):
        why = survey.remark or "all entries are missing"
        return Choice(survey.name, survey.holds, why)
    if survey.different == 1:
        return _constant(survey)
    if _is_identifier(survey):
        return Choice(survey.name, "id", f"{_content(survey)}, and its name says that it numbers the rows")
    if _is_code(survey):
        return Choice(survey.name, "id", f"{_content(survey)}: codes such as {survey.texts[0]!r}, another in each row")
    return RULES[survey.holds](survey)


# -- one rule a kind --------------------------------------------------------------------------------------------------


def _constant(survey: Survey) -> Choice:
    if not survey.missing or survey.holds == "times":
        return Choice(survey.name, "constant", "all entries are equal, which tells nothing")
    return _category(survey, "whether it is missing is all that it tells")


def _category(survey: Survey, why: str = "") -> Choice:
    missing = "; missing is a label of its own" if survey.missing else ""
    counts = np.append(survey.counts, survey.missing) / survey.rows
    spread = 1 - float((counts**2).sum())
    return Choice(survey.name, "category", why or f"{_content(survey)}{missing}", "categories", spread=spread)


def _number(survey: Survey) -> Choice:
    values = survey.numbers
    deviation = _short(float(values.std()))
    mean = _beside(float(values.mean()), deviation)
    if not survey.missing:
        return Choice(survey.name, "number", _content(survey), "numbers", (mean, deviation), spread=1.0)
    known = 1 - survey.missing / survey.rows
    why = f"{_content(survey)}; a missing one is the mean, and one deviation away from all others"
    spread = known * (2 - known)
    return Choice(survey.name, "number with gaps", why, "gapped", (mean, deviation), spread=spread)


def _whole_number(survey: Survey) -> Choice:
    least, most = POSTAL_RANGE
    if _named(survey) & POSTAL_NAMES and least <= survey.numbers.min() <= survey.numbers.max() < most:
        return _category(survey, f"{_content(survey)}, and its name says that they are codes of places, no amounts")
    return _category(survey) if survey.different <= MAX_WHOLE_NUMBER_LABELS else _number(survey)


def _text(survey: Survey) -> Choice:
    words = float(np.mean([len(text.split()) for text in survey.texts]))
    present = survey.rows - survey.missing
    if (
        survey.declared
        or (survey.different <= MAX_LABELS and words < MIN_WORDS_PER_TEXT)
        or present >= MIN_ROWS_PER_LABEL * survey.different
    ):
        return _category(survey)
    if survey.missing:
        return Choice(survey.name, "text", f"{_content(survey)}: fill these with '' to have it read")
    if words >= MIN_WORDS_PER_TEXT:
        why = f"{_content(survey)}, {words:.0f} words each: read word by word"
        return Choice(survey.name, "text", why, "added", kernels=(BagOfWords(weights="idf").normalized(),))
    if length := _one_length(survey):
        return _letters(survey, length)
    why = f"{_content(survey)}, of few words: read by {IN_RUNS}"
    return Choice(survey.name, "name", why, "added", kernels=(Spectrum(3).normalized(),))


def _letters(survey: Survey, length: int) -> Choice:
    """Texts of one length: their letters may matter at their places, or wherever they stand."""
    placed, runs = WeightedDegree(3).normalized(), Spectrum(3).normalized()
    readings = ((AT_PLACES, (placed,)), (IN_RUNS, (runs,)), (BOTH, (placed, runs)))
    why = f"{_content(survey)}, all of {length} letters: read by {BOTH}"
    return Choice(survey.name, "sequence", why, "added", kernels=(placed, runs), readings=readings)


def _date(survey: Survey) -> Choice:
    days = survey.numbers
    span = float(days.max() - days.min())
    if survey.missing:
        return Choice(survey.name, "date", f"dates, {survey.missing:,} missing: fill these to have it read")
    periods = tuple(period for period in CYCLES if span >= MIN_PERIODS * period and _shows(days, period))
    why = f"dates over {span:,.0f} days: days since 1970" + (", and where in the cycles" if periods else "")
    moments = (float(days.mean()), _short(float(days.std())))
    spread = 1.0 + sum(1 - _gathered(days, period) ** 2 for period in periods)
    return Choice(survey.name, "date", why, "numbers", moments, periods, spread=spread)


def _graph(survey: Survey) -> Choice:
    if survey.missing:
        why = f"graphs, {survey.missing:,} missing: drop these rows to have it read"
        return Choice(survey.name, "graph", why)
    readings = tuple(
        (f"subtrees of depth {depth}", (WeisfeilerLehman(depth, survey.declared).normalized(),))
        for depth in GRAPH_DEPTHS
    )
    why = f"graphs{' with labels of edges' * survey.declared}: read by {readings[0][0]}"
    return Choice(survey.name, "graph", why, "added", kernels=readings[0][1], readings=readings)


RULES: dict[str, Callable[[Survey], Choice]] = {
    "numbers": _number,
    "integers": _whole_number,
    "booleans": _category,
    "texts": _text,
    "times": _date,
    "graphs": _graph,
}

# -- what rules ask ---------------------------------------------------------------------------------------------------


def _content(survey: Survey) -> str:
    """What a column holds, in words."""
    missing = f", {survey.missing:,} missing" if survey.missing else ""
    declared = "labels by declaration" if survey.declared else survey.holds.replace("booleans", "true or false")
    return f"{declared}, {survey.different:,} different{missing}"


def _one_length(survey: Survey) -> int:
    """The length that all texts have, but for empty ones, if their letters are few different ones; else 0."""
    lengths = {len(text) for text in survey.texts} - {0}
    length = lengths.pop() if len(lengths) == 1 else 0
    letters = set().union(*survey.texts) if length >= MIN_LETTERS_AT_PLACES else set()
    return length if letters and len(letters) <= MAX_DIFFERENT_LETTERS and not any(map(str.isspace, letters)) else 0


def _is_code(survey: Survey) -> bool:
    """Whether all entries are different texts of digits and letters in few forms: 7590-VHVEG, C12, C13, ..."""
    if survey.holds != "texts" or survey.declared or not MIN_CODE_ROWS <= survey.rows == survey.different:
        return False
    if not all(len(text) <= MAX_CODE_LETTERS and HAS_DIGIT.search(text) for text in survey.texts):
        return False
    forms = {re.sub(r"[A-Za-z]", "a", re.sub(r"\d+", "1", text)) for text in survey.texts}
    return (len(forms) <= MAX_CODE_FORMS and not any(" " in form for form in forms)) or all(
        map(HEX.fullmatch, survey.texts)
    )


def _is_identifier(survey: Survey) -> bool:
    """Whether all entries are different integers or short texts, under a name that says what for."""
    if survey.holds not in ("integers", "texts") or survey.different < survey.rows:
        return False
    if any(" " in text.strip() for text in survey.texts):
        return False
    return bool(_named(survey) & IDENTIFIERS)


def _named(survey: Survey) -> frozenset[str]:
    """The first and the last word of a column's name."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", str(survey.name))
    return frozenset(word.lower() for word in (words[:1] + words[-1:]))


def _short(value: float) -> float:
    """Four digits, which are enough for a scale, and pleasant to read."""
    return float(f"{value:.4g}")


def _beside(mean: float, deviation: float) -> float:
    """A mean with as many digits as tell a thousandth of the deviation."""
    return round(mean, 3 - math.floor(math.log10(deviation)))


def _gathered(days: NDArray[np.float64], period: float) -> float:
    """How near together the points of a cycle are: 1 where all are one, 0 where they are spread evenly."""
    return float(np.abs(np.exp(2j * np.pi * days / period).mean()))


def _shows(days: NDArray[np.float64], period: float) -> bool:
    """Whether different dates are near enough to one another to show a cycle, and stand at different points of it."""
    gaps = np.diff(np.unique(days))
    return float(np.median(gaps)) <= period / MIN_DATES_PER_PERIOD and _gathered(days, period) < 1 - 1e-9
