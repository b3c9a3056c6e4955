"""From what a column holds to its place in a kernel: one rule a kind, each with its reason in words."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.strings.bag_of_words import BagOfWords
from mercer.kernels.strings.spectrum import Spectrum
from mercer.kernels.tables.choice import DAY, WEEK, YEAR, Choice
from mercer.kernels.tables.survey import Survey

FEW = 20
"""Up to so many different short texts are labels, however few rows there are."""
REPEATED = 5
"""Texts that stand in so many rows each, on the average, are labels."""
LEVELS = 2
"""Up to so many different whole numbers are labels: more of them have an order that a label would lose."""
WORDS = 3
"""From so many words on, on the average, a text is read word by word; below, letter by letter."""
IDENTIFIERS = frozenset({"id", "ids", "uuid", "guid", "key", "index", "idx", "rowid", "serial", "unnamed"})
"""Words at the beginning or the end of the name of a column that numbers its rows."""
CYCLES = ((DAY, 2.0), (WEEK, 14.0), (YEAR, 2 * YEAR))
"""Periods in days, and how many days a column of dates must span to show them twice."""


def choice_of(survey: Survey) -> Choice:
    """The place of a column in the kernel."""
    if survey.holds in ("nothing", "other things"):
        why = survey.remark or "all entries are missing"
        return Choice(survey.name, survey.holds, why)
    if survey.different == 1:
        return _constant(survey)
    if _is_identifier(survey):
        return Choice(survey.name, "id", f"{_content(survey)}, and its name says that it numbers the rows")
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
    values = _values(survey)
    deviation = _short(float(values.std()))
    mean = _beside(float(values.mean()), deviation)
    if not survey.missing:
        return Choice(survey.name, "number", _content(survey), "numbers", (mean, deviation), spread=1.0)
    known = 1 - survey.missing / survey.rows
    why = f"{_content(survey)}; a missing one is the mean, and one deviation away from all others"
    spread = known * (2 - known)
    return Choice(survey.name, "number with gaps", why, "gapped", (mean, deviation), spread=spread)


def _whole_number(survey: Survey) -> Choice:
    return _category(survey) if survey.different <= LEVELS else _number(survey)


def _text(survey: Survey) -> Choice:
    words = float(np.mean([len(text.split()) for text in survey.texts]))
    present = survey.rows - survey.missing
    if survey.declared or (survey.different <= FEW and words < WORDS) or present >= REPEATED * survey.different:
        return _category(survey)
    if survey.missing:
        return Choice(survey.name, "text", f"{_content(survey)}: fill these with '' to have it read")
    if words >= WORDS:
        why = f"{_content(survey)}, {words:.0f} words each: read word by word"
        return Choice(survey.name, "text", why, "added", kernels=(BagOfWords(weights="idf").normalized(),))
    why = f"{_content(survey)}, of few words: read by runs of three letters"
    return Choice(survey.name, "name", why, "added", kernels=(Spectrum(3).normalized(),))


def _date(survey: Survey) -> Choice:
    days = _values(survey)
    span = float(days.max() - days.min())
    if survey.missing:
        return Choice(survey.name, "date", f"dates, {survey.missing:,} missing: fill these to have it read")
    periods = tuple(period for period, least in CYCLES if span >= least and _varies(days, period))
    why = f"dates over {span:,.0f} days: days since 1970" + (", and where in the cycles" if periods else "")
    moments = (float(days.mean()), _short(float(days.std())))
    spread = 1.0 + sum(1 - _gathered(days, period) ** 2 for period in periods)
    return Choice(survey.name, "date", why, "numbers", moments, periods, spread=spread)


RULES: dict[str, Callable[[Survey], Choice]] = {
    "numbers": _number,
    "whole numbers": _whole_number,
    "truths": _category,
    "texts": _text,
    "times": _date,
}

# -- what rules ask ---------------------------------------------------------------------------------------------------


def _content(survey: Survey) -> str:
    """What a column holds, in words."""
    missing = f", {survey.missing:,} missing" if survey.missing else ""
    declared = "labels by declaration" if survey.declared else survey.holds
    return f"{declared}, {survey.different:,} different{missing}"


def _is_identifier(survey: Survey) -> bool:
    """Whether all entries are different whole numbers or short texts, under a name that says what for."""
    if survey.holds not in ("whole numbers", "texts") or survey.different < survey.rows:
        return False
    if any(" " in text.strip() for text in survey.texts):
        return False
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", str(survey.name))
    return bool({word.lower() for word in (words[:1] + words[-1:])} & IDENTIFIERS)


def _values(survey: Survey) -> NDArray[np.float64]:
    assert survey.values is not None  # noqa: S101  # these are numbers or times
    return survey.values


def _short(value: float) -> float:
    """Four digits, which are enough for a scale, and pleasant to read."""
    return float(f"{value:.4g}")


def _beside(mean: float, deviation: float) -> float:
    """A mean with as many digits as tell a thousandth of the deviation."""
    return round(mean, 3 - math.floor(math.log10(deviation)))


def _gathered(days: NDArray[np.float64], period: float) -> float:
    """How near together the points of a cycle are: 1 where all are one, 0 where they are spread evenly."""
    return float(np.abs(np.exp(2j * np.pi * days / period).mean()))


def _varies(days: NDArray[np.float64], period: float) -> bool:
    """Whether dates stand at different points of a cycle."""
    return _gathered(days, period) < 1 - 1e-9
