"""Texts that are numbers or dates: "$1,234.50", "12 %", "3,5", "31.12.2019", "3 May 2019", "?" for none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer.tables.units import measured

MISSING = ("?", "-", "--", "---", ".", "none", "None", "NONE", "missing", "unknown", "N.A.", "n.a.")
"""What stands for a missing entry in a column whose others are numbers or dates; among labels each is a label."""
MAX_ODD_SHARE = 0.05
"""The part of the entries that may keep the others from being numbers before it is reported."""
CURRENCIES = "$€£¥"
DAY_FIRST, MONTH_FIRST = "date, day first", "date, month first"
ORDERS = (DAY_FIRST, MONTH_FIRST)
CLOCK = r"(?:[ T](?P<h>\d{1,2}):(?P<min>\d{2})(?::(?P<s>\d{2}(?:\.\d{1,9})?))?Z?)?"
YEAR_FIRST = rf"^(?P<y>\d{{4}})[-/.](?P<m>\d{{1,2}})(?:[-/.](?P<d>\d{{1,2}}){CLOCK})?$"
COMPACT = r"^(?P<y>\d{4})(?P<m>\d{2})(?P<d>\d{2})(?:T(?P<h>\d{2})(?P<min>\d{2})(?P<s>\d{2})?Z?)?$"
"""20150426 and 20150426T120000."""
WEEK = r"^(?P<y>\d{4})-?W(?P<w>\d{2})(?:-?(?P<d>[1-7]))?(?P<h>)(?P<min>)(?P<s>)$"
"""Weeks of ISO 8601, 2015-W17 and 2015-W17-3; a week is its Monday."""
QUARTER = r"^(?P<y>\d{4})[- ]?Q(?P<q>[1-4])(?P<d>)(?P<h>)(?P<min>)(?P<s>)$"
"""2015-Q3, which is its first day."""
FORMS = {
    DAY_FIRST: rf"^(?P<d>\d{{1,2}})[-/.](?P<m>\d{{1,2}})[-/.](?P<y>\d{{4}}){CLOCK}$",
    MONTH_FIRST: rf"^(?P<m>\d{{1,2}})[-/.](?P<d>\d{{1,2}})[-/.](?P<y>\d{{4}}){CLOCK}$",
}
MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
SPELT = {spelling: month for month, name in enumerate(MONTHS, 1) for spelling in (name, name[:3])} | {"sept": 9}
"""How the months are written in English, in small letters."""
WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,? )?"
NAME, DAY = r"(?P<name>[a-z]{3,9})\.?", r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
NAMED = (
    rf"(?i)^{WEEKDAY}{DAY}[ ./-]{NAME},?[ ./-](?P<y>\d{{4}}){CLOCK}$",
    rf"(?i)^{WEEKDAY}{NAME}[ ./-]{DAY},?[ ./-](?P<y>\d{{4}}){CLOCK}$",
    rf"(?i)^{NAME},?[ ./-](?P<y>\d{{4}})(?P<d>)(?P<h>)(?P<min>)(?P<s>)$",  # the first of the month
)
"""Forms with the name of a month: "Fri, 3 May 2019", "May 3rd, 2019 12:30", "May 2019"."""

HOURS = "h:mm"
"""What is noted as the unit of times of a day and of durations."""


@dataclass(frozen=True)
class Texts:
    """How texts may be read.

    decimal : "." or ","; None where the format has numbers of its own, and texts that look like some are meant
    order : one of ORDERS, for all dates; "" where each column shows its own
    orders : of columns whose order is known from a fit
    kept : columns that stay texts
    known : columns that were numbers or dates in a fit
    units : of columns, as a fit read them
    """

    decimal: str | None = None
    order: str = ""
    orders: Mapping[str, str] = field(default_factory=dict)
    kept: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    units: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Read:
    """A column as it was read.

    column : of Arrow
    remark : what was done to it, or what might have been; "" where there is nothing to say
    order : one of ORDERS, where the entries alone would not tell in another table
    doubt : whether it was left as it was, and perhaps should not have been
    unit : of its numbers
    """

    column: Any
    remark: str = ""
    order: str = ""
    doubt: bool = False
    unit: str = ""


def read_columns(table: Any, texts: Texts) -> dict[str, Read]:
    """The columns of texts that are something else, or might be; the others are not among them."""
    from pyarrow import types

    names = [field.name for field in table.schema if types.is_string(field.type) and field.name not in texts.kept]
    read = {name: read_text_column(name, table.column(name), texts) for name in names}
    return {name: found for name, found in read.items() if found.remark}


def odd_entries(table: Any, texts: Texts) -> tuple[str, ...]:
    """What is said of columns that one odd entry in twenty, or fewer, keeps from being numbers: 'Total' at the end."""
    from pyarrow import types

    if texts.decimal is None:
        return ()
    names = [field.name for field in table.schema if types.is_string(field.type) and field.name not in texts.kept]
    found = (_odd(name, table.column(name), texts.decimal) for name in names)
    return tuple(remark for remark in found if remark)


def _odd(name: str, column: Any, decimal: str) -> str:
    from pyarrow import compute

    trimmed = compute.utf8_trim_whitespace(column)
    wrong = compute.and_(compute.is_valid(trimmed), compute.is_null(compute.extract_regex(trimmed, _form(decimal))))
    count, known = compute.sum(wrong).as_py() or 0, len(column) - column.null_count
    if not 0 < count <= MAX_ODD_SHARE * known:
        return ""
    first = compute.index(wrong, value=True).as_py()
    entry = f"{column[first].as_py()[:40]!r} in row {first + 1:,}"
    told = f"{known - count:,} of {known:,} entries are numbers, but {entry} is not"
    return f"{name!r}: read as texts, though {told}. Remove such entries to have it read as numbers"


def read_text_column(name: str, column: Any, texts: Texts) -> Read:
    """A column of texts as numbers or dates, where every entry is one; else as it is. Cost: a few passes."""
    from pyarrow import compute

    trimmed = compute.utf8_trim_whitespace(column)
    marks = compute.fill_null(compute.is_in(trimmed, _strings(MISSING)), fill_value=False)
    known = compute.if_else(marks, None, trimmed)
    missing = known.null_count - column.null_count
    if name not in texts.known and _has_zeros(known):
        return Read(column, f"{name!r}: kept as labels, since some numbers begin with zeros")
    if known.null_count == len(known):
        return _nothing(name, len(column)) if missing and name in texts.known else Read(column)
    found = None if texts.decimal is None else _numbers(known, texts.decimal)
    unit = texts.units.get(name, "")
    found = found or (_clocked(known, unit == HOURS) if unit in ("", HOURS) else None)
    found = found or (None if unit == HOURS else _measured(known, texts.decimal or ".", unit))
    found = found or _dates(known, texts.orders.get(name, texts.order))
    found = found or (_partly(known, texts) if name in texts.known else None)
    if found is None or found.column is known:
        return Read(column) if found is None else Read(column, f"{name!r}: {found.remark}", doubt=True)
    gaps = f", {missing:,} entries such as '?' as missing" * (missing > 0)
    return Read(found.column, f"{name!r}: {found.remark}{gaps}", found.order, unit=found.unit)


def _has_zeros(texts: Any) -> bool:
    """Whether some entries are codes such as 00501; two digits may be a month or an hour, and are a number."""
    from pyarrow import compute

    return bool(compute.any(compute.match_substring_regex(texts, r"^0\d\d+$")).as_py())


def _nothing(name: str, count: int) -> Read:
    """A column of numbers or dates of which none is there."""
    import pyarrow

    return Read(pyarrow.chunked_array([pyarrow.nulls(count)]), f"{name!r}: all entries are such as '?', and missing")


def _strings(values: tuple[str, ...]) -> Any:
    import pyarrow

    return pyarrow.array(values, pyarrow.string())


# -- numbers ----------------------------------------------------------------------------------------------------------


def _thousands(decimal: str) -> str:
    return "," if decimal == "." else "[.' ]"


def number_form(decimal: str) -> str:
    """The form of a number without a sign."""
    comma, point = _thousands(decimal), r"\." if decimal == "." else ","
    return rf"(?:\d{{1,3}}(?:{comma}\d{{3}})+|\d+)?(?:{point}\d*)?(?:[eE][+-]?\d+)?"


def _form(decimal: str) -> str:
    """The form of a number, perhaps with the sign of a currency or a percent sign."""
    sign = rf"[{CURRENCIES}]"
    return rf"^(?P<sign>[+-]?){sign}? ?(?P<number>{number_form(decimal)}) ?(?:%|{sign})?$"


def plain_number(parts: Any, decimal: str) -> Any:
    """Float64 of the parts "sign" and "number" of a form; None where one of them is no number: a lone point."""
    import pyarrow
    from pyarrow import compute

    bare = compute.replace_substring_regex(compute.struct_field(parts, "number"), _thousands(decimal), "")
    if decimal == ",":
        bare = compute.replace_substring(bare, ",", ".")
    try:
        return compute.cast(compute.binary_join_element_wise(compute.struct_field(parts, "sign"), bare, ""), "float64")
    except pyarrow.ArrowInvalid:
        return None


def _numbers(texts: Any, decimal: str) -> Read | None:
    from pyarrow import compute

    parts = compute.extract_regex(texts, _form(decimal))
    if parts.null_count > texts.null_count:
        return None
    values = plain_number(parts, decimal)
    return None if values is None else Read(values, "texts read as numbers")


def _measured(texts: Any, decimal: str, wanted: str) -> Read | None:
    found = measured(texts, decimal, wanted)
    if found is None or found.values.null_count > texts.null_count + (len(texts) // 2 if wanted else 0):
        return None
    others = f", {', '.join(map(repr, found.converted))} converted" if found.converted else ""
    lost = found.values.null_count - texts.null_count
    told = f", {lost:,} entries that are no such numbers as missing" * (lost > 0)
    return Read(found.values, f"texts read as numbers in {found.unit!r}{others}{told}", unit=found.unit)


def _clocked(texts: Any, wanted: bool) -> Read | None:
    """Times of a day and durations, 9:05 or 01:30:00, as hours; where they are wanted, others are missing."""
    import pyarrow
    from pyarrow import compute

    parts = compute.extract_regex(texts, r"^(?P<h>\d{1,4}):(?P<min>[0-5]\d)(?::(?P<s>[0-5]\d(?:\.\d+)?))?$")
    lost = parts.null_count - texts.null_count
    if lost > (len(texts) // 2 if wanted else 0):
        return None
    hours = _floats(parts, "h") + _floats(parts, "min") / 60 + _floats(parts, "s") / 3600
    told = f", {lost:,} entries that are none as missing" * (lost > 0)
    values = pyarrow.chunked_array([pyarrow.array(hours, mask=np.asarray(parts.is_null()))])
    return Read(values, f"times such as 9:05 read as hours{told}", unit=HOURS)


def _partly(texts: Any, options: Texts) -> Read | None:
    """Numbers where most entries are some, in a column that held numbers in the fit; the others are missing."""
    from pyarrow import compute

    parts = compute.extract_regex(texts, _form(options.decimal or "."))
    values = plain_number(parts, options.decimal or ".")
    if values is None or values.null_count > texts.null_count + len(texts) // 2:
        return None
    first = compute.index(compute.and_(compute.is_valid(texts), compute.is_null(values)), value=True).as_py()
    lost = values.null_count - texts.null_count
    return Read(values, f"{lost:,} entries such as {texts[first].as_py()[:40]!r} are no numbers, and read as missing")


# -- dates ------------------------------------------------------------------------------------------------------------


def _dates(texts: Any, order: str) -> Read | None:
    for form in SURE:
        sure = _timestamps(texts, form)
        if sure is not None:
            return Read(sure, "texts read as dates")
    found = {which: _timestamps(texts, FORMS[which]) for which in ORDERS if order in ("", which)}
    fitting = [which for which in found if found[which] is not None]
    if len(fitting) == 2 and _dotted(texts):  # only the day comes first where points part them
        fitting = [DAY_FIRST]
    if not fitting:
        return _mixed_dates(texts, order)
    if len(fitting) == 2:
        return Read(
            texts, "dates that do not tell whether the day or the month comes first: give --dates, or they are texts"
        )
    told = "the day first" if fitting[0] == DAY_FIRST else "the month first"
    return Read(found[fitting[0]], f"texts read as dates, {told}", fitting[0])


def _mixed_dates(texts: Any, order: str) -> Read | None:
    """Dates in several forms: each entry in one that cannot be taken for another."""
    import pyarrow

    gone = np.asarray(texts.is_null())
    values = np.full(len(texts), np.datetime64("NaT"), "datetime64[us]")
    for form in SURE:
        days, sound = _days(texts, form)
        values = np.where(np.isnat(values) & sound, days, values)
    rest = np.isnat(values) & ~gone
    orders = [which for which in ORDERS if order in ("", which)]
    read = {which: _days(texts, FORMS[which]) for which in orders}
    fitting = [which for which in orders if read[which][1][rest].all()] if rest.any() else [""]
    if len(fitting) != 1 or rest.all():
        return None
    if fitting[0]:
        values = np.where(rest, read[fitting[0]][0], values)
    column = pyarrow.chunked_array([pyarrow.array(values, mask=gone)])
    told = {DAY_FIRST: ", the day first", MONTH_FIRST: ", the month first"}.get(fitting[0], "")
    return Read(column, f"texts read as dates in several forms{told}", fitting[0])


def _dotted(texts: Any) -> bool:
    from pyarrow import compute

    return bool(compute.all(compute.match_substring_regex(texts, r"^\d{1,2}\.")).as_py())  # not those of seconds


def _timestamps(texts: Any, form: str) -> Any:
    """Arrow's timestamps, or None where an entry is no date of this form."""
    import pyarrow

    gone = np.asarray(texts.is_null())
    days, sound = _days(texts, form)
    return pyarrow.chunked_array([pyarrow.array(days, mask=gone)]) if (sound | gone).all() else None


def _days(texts: Any, form: str) -> tuple[Any, Any]:
    """Times as NumPy has them, and which entries are dates of this form."""
    from pyarrow import compute

    parts = compute.extract_regex(texts, form)
    written = np.asarray(parts.is_valid())
    if not written.any():
        return np.full(len(texts), np.datetime64("NaT"), "datetime64[us]"), written
    year, day, hour, minute = (_whole(parts, key, start) for key, start in _PARTS)
    months = ((year - 1970) * 12).astype("datetime64[M]")
    if "(?P<w>" in form:
        begins, length, sound = _weeks(months, _whole(parts, "w", 1))
    else:
        month = _month(parts, form)
        months = months + (month - 1)
        begins, sound = months.astype("datetime64[D]"), (month >= 1) & (month <= 12)
        length = ((months + 1).astype("datetime64[D]") - begins).astype(int)
    sound &= written & (day >= 1) & (day <= length) & (hour < 24) & (minute < 60)
    micro = np.rint(1e6 * _floats(parts, "s")).astype("timedelta64[us]")
    clock = (hour * 3600 + minute * 60).astype("timedelta64[s]").astype("timedelta64[us]") + micro
    return (begins + day - 1).astype("datetime64[us]") + clock, sound


def _month(parts: Any, form: str) -> Any:
    if "(?P<q>" in form:
        return 3 * _whole(parts, "q", 1) - 2
    return _spelt(parts) if "(?P<name>" in form else _whole(parts, "m", 1)


def _weeks(years: Any, week: Any) -> tuple[Any, Any, Any]:
    """The Mondays of weeks, how many days they have, and which weeks there are: the first holds January 4th."""
    starts = [(each.astype("datetime64[D]") + 3) for each in (years, years + 12)]
    first, next_first = (day - ((day.astype(int) + 3) % 7) for day in starts)  # 1970-01-01 was a Thursday
    begins = first + 7 * (week - 1)
    return begins, np.full(len(week), 7), (week >= 1) & (begins < next_first)


SURE = (YEAR_FIRST, *NAMED, COMPACT, WEEK, QUARTER)
"""Forms that tell which number is the day."""
_PARTS = (("y", 1970), ("d", 1), ("h", 0), ("min", 0))


def _spelt(parts: Any) -> Any:
    """Months by their names; 0 for a word that is none."""
    from pyarrow import compute

    words = compute.utf8_lower(compute.fill_null(compute.struct_field(parts, "name"), ""))
    places = compute.fill_null(compute.index_in(words, _strings(tuple(SPELT))), -1)
    return np.array([*SPELT.values(), 0])[np.asarray(places)]


def _floats(parts: Any, key: str, start: float = 0.0) -> Any:
    from pyarrow import compute

    part = compute.struct_field(parts, key)
    filled = compute.if_else(compute.equal(compute.fill_null(part, ""), ""), str(start), part)
    return np.asarray(compute.cast(filled, "float64"))


def _whole(parts: Any, key: str, start: int) -> Any:
    return _floats(parts, key, start).astype(np.int64)
