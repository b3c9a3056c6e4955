"""Numbers with a unit: "16.7 kg", "850 g", "1,455 km", "12 EUR"; those of one dimension become one unit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

DIMENSIONS: tuple[dict[str, float], ...] = (
    {"mg": 1e-3, "g": 1.0, "kg": 1e3, "t": 1e6, "oz": 28.349523125, "lb": 453.59237, "lbs": 453.59237},
    {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3, "in": 0.0254, "ft": 0.3048, "yd": 0.9144, "mi": 1609.344},
    {"ms": 1e-3, "s": 1.0, "sec": 1.0, "min": 60.0, "h": 3600.0, "hr": 3600.0, "hrs": 3600.0, "d": 86400.0},
    {"ml": 1e-3, "cl": 1e-2, "dl": 0.1, "l": 1.0},
    {"m2": 1.0, "m²": 1.0, "sqm": 1.0, "km2": 1e6, "km²": 1e6, "ha": 1e4, "sqft": 0.09290304},
    {"W": 1.0, "kW": 1e3, "MW": 1e6, "GW": 1e9},
    {"Wh": 1.0, "kWh": 1e3, "MWh": 1e6, "GWh": 1e9},
    {"kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12},
)
"""Units that can be converted, as multiples of one of them; Celsius and Fahrenheit have other zeros, and cannot."""
UNIT = r"[A-Za-zµ°][A-Za-zµ°/]{0,11}[²³23]?\.?"


class Measured(NamedTuple):
    """Numbers in one unit.

    values : float64 of Arrow, missing where an entry is no such number; unit : theirs; converted : other units
    """

    values: Any
    unit: str
    converted: tuple[str, ...]


def measured(texts: Any, decimal: str, wanted: str = "") -> Measured | None:
    """Texts as numbers in their most frequent unit, or in the one that is wanted; None where that is not what they are.

    Every entry needs a unit, the same one or another of its dimension. With a unit that is wanted, a bare number is in
    that unit, and what cannot be read is missing.
    """
    from pyarrow import compute

    from mercer.tables.coerce import number_form, plain_number

    parts = compute.extract_regex(texts, rf"^(?P<sign>[+-]?)(?P<number>{number_form(decimal)}) ?(?P<unit>{UNIT})?$")
    digits = compute.match_substring_regex(compute.struct_field(parts, "number"), r"\d")
    found = np.asarray(compute.fill_null(digits, fill_value=False))
    units = np.asarray(compute.fill_null(compute.struct_field(parts, "unit"), ""), dtype=object)
    present = sorted(set(units[found]) - {""})
    named, counts = np.unique(units[found & (units != "")].astype(str), return_counts=True)
    unit = wanted or (str(named[np.argmax(counts)]) if len(named) else "")
    factors = {each: _factor(each, unit) for each in present} | ({"": 1.0} if wanted else {})
    readable = found & np.array([factors.get(each) is not None for each in units], dtype=bool)
    if not unit or not (wanted or bool((readable | np.asarray(texts.is_null())).all())):
        return None
    values = plain_number(compute.if_else(readable, parts, None), decimal)
    if values is None:
        return None
    scales = np.array([factors.get(each) or 1.0 for each in units])
    return Measured(compute.multiply(values, scales), unit, tuple(each for each in present if factors[each] != 1.0))


def _factor(unit: str, wanted: str) -> float | None:
    """What a number in a unit is multiplied by to be one in another; None where there is no such factor.

    >>> _factor("g", "kg"), _factor("KG", "kg"), _factor("stars", "stars"), _factor("g", "km")
    (0.001, 1.0, 1.0, None)
    """
    if unit.rstrip(".").casefold() == wanted.rstrip(".").casefold():
        return 1.0
    for units in DIMENSIONS:
        names = {name.casefold(): factor for name, factor in units.items()}
        one, other = (names.get(each.rstrip(".").casefold()) for each in (unit, wanted))
        if one is not None and other is not None:
            return one / other
    return None
