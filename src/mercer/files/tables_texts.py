"""Texts that are numbers or dates: "$1,234.50", "12 %", "3,5", "31.12.2019", "3 May 2019", "?" for none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

MISSING = ("?", "-", "--", "---", ".", "none", "None", "NONE", "missing", "unknown", "N.A.", "n.a.")
"""What stands for a missing entry in a column whose others are numbers or dates; among labels each is a label."""
ODD = 0.05
"""The part of the entries that may keep the others from being numbers before it is told."""
CURRENCIES = "$€£¥"
DAY_FIRST, MONTH_FIRST = "date, day first", "date, month first"
ORDERS = (DAY_FIRST, MONTH_FIRST)
CLOCK = r"(?:[ T](?P<h>\d{1,2}):(?P<min>\d{2})(?::(?P<s>\d{2}(?:\.\d{1,9})?))?Z?)?"
YEAR_FIRST = rf"^(?P<y>\d{{4}})[-/.](?P<m>\d{{1,2}})(?:[-/.](?P<d>\d{{1,2}}){CLOCK})?$"
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


@dataclass(frozen=True)
class Texts:
    """How texts may be read.

    decimal : "." or ","; None where the format has numbers of its own, and texts that look like some are meant
    order : one of ORDERS, for all dates; "" where each column shows its own
    orders : of columns whose order is known from a fit
    kept : columns that stay texts
    known : columns that were numbers or dates in a fit
    """

    decimal: str | None = None
    order: str = ""
    orders: Mapping[str, str] = field(default_factory=dict)
    kept: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Read:
    """A column as it was read.

    column : of Arrow
    remark : what was done to it, or what might have been; "" where there is nothing to say
    order : one of ORDERS, where the entries alone would not tell in another table
    doubt : whether it was left as it was, and perhaps should not have been
    """

    column: Any
    remark: str = ""
    order: str = ""
    doubt: bool = False


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
    if not 0 < count <= ODD * known:
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
    if known.null_count == len(known):
        return _nothing(name, len(column)) if missing and name in texts.known else Read(column)
    found = None if texts.decimal is None else _numbers(known, texts.decimal)
    found = found or _dates(known, texts.orders.get(name, texts.order))
    if found is None or found.column is known:
        return Read(column) if found is None else Read(column, f"{name!r}: {found.remark}", doubt=True)
    gaps = f", {missing:,} entries such as '?' as missing" * (missing > 0)
    return Read(found.column, f"{name!r}: {found.remark}{gaps}", found.order)


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


def _form(decimal: str) -> str:
    """The form of a number."""
    comma, point, sign = _thousands(decimal), r"\." if decimal == "." else ",", rf"[{CURRENCIES}]"
    number = rf"(?:\d{{1,3}}(?:{comma}\d{{3}})+|\d+)?(?:{point}\d*)?(?:[eE][+-]?\d+)?"
    return rf"^(?P<minus>[+-]?){sign}? ?(?P<number>{number}) ?(?:%|{sign})?$"


def _numbers(texts: Any, decimal: str) -> Read | None:
    import pyarrow
    from pyarrow import compute

    parts = compute.extract_regex(texts, _form(decimal))
    if parts.null_count > texts.null_count:
        return None
    bare = compute.replace_substring_regex(compute.struct_field(parts, "number"), _thousands(decimal), "")
    if decimal == ",":
        bare = compute.replace_substring(bare, ",", ".")
    try:
        values = compute.cast(
            compute.binary_join_element_wise(compute.struct_field(parts, "minus"), bare, ""), "float64"
        )
    except pyarrow.ArrowInvalid:  # a lone sign, or a lone point
        return None
    return Read(values, "texts read as numbers")


# -- dates ------------------------------------------------------------------------------------------------------------


def _dates(texts: Any, order: str) -> Read | None:
    for form in (YEAR_FIRST, *NAMED):
        sure = _timestamps(texts, form)
        if sure is not None:
            return Read(sure, "texts read as dates")
    found = {which: _timestamps(texts, FORMS[which]) for which in ORDERS if order in ("", which)}
    fitting = [which for which in found if found[which] is not None]
    if len(fitting) == 2 and _dotted(texts):  # only the day comes first where points part them
        fitting = [DAY_FIRST]
    if not fitting:
        return None
    if len(fitting) == 2:
        return Read(
            texts, "dates that do not tell whether the day or the month comes first: give --dates, or they are texts"
        )
    told = "the day first" if fitting[0] == DAY_FIRST else "the month first"
    return Read(found[fitting[0]], f"texts read as dates, {told}", fitting[0])


def _dotted(texts: Any) -> bool:
    from pyarrow import compute

    return bool(compute.all(compute.match_substring_regex(texts, r"^\d{1,2}\.")).as_py())  # not those of seconds


def _timestamps(texts: Any, form: str) -> Any:
    """Arrow's timestamps, or None where an entry is no date of this form."""
    import pyarrow
    from pyarrow import compute

    parts = compute.extract_regex(texts, form)
    if parts.null_count > texts.null_count:
        return None
    gone = np.asarray(texts.is_null())
    year, day, hour, minute = (_whole(parts, key, start) for key, start in _PARTS)
    month = _spelt(parts) if "(?P<name>" in form else _whole(parts, "m", 1)
    months = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    begins = months.astype("datetime64[D]")
    length = (months + 1).astype("datetime64[D]") - begins
    sound = (month >= 1) & (month <= 12) & (day >= 1) & (day <= length.astype(int)) & (hour < 24) & (minute < 60)
    if not (sound | gone).all():
        return None
    micro = np.rint(1e6 * _floats(parts, "s")).astype("timedelta64[us]")
    clock = (hour * 3600 + minute * 60).astype("timedelta64[s]").astype("timedelta64[us]") + micro
    return pyarrow.chunked_array([pyarrow.array((begins + day - 1).astype("datetime64[us]") + clock, mask=gone)])


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
