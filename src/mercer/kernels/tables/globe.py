"""Two columns that are latitude and longitude: points on a sphere, where degrees of longitude differ in length."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.tables.choice import Choice
from mercer.kernels.tables.survey import Survey

LATITUDE = re.compile(r"(?<![a-z])(?:lat|latitude|latitud|breite|breitengrad)(?![a-z])")
LONGITUDE = re.compile(
    r"(?<![a-z])(?:lon|long|lng|longitude|longitud|laenge|laengengrad|l\u00e4nge|l\u00e4ngengrad)(?![a-z])"
)
"""Names of the two, as words within names such as pickup_latitude or LatStart."""
MAX_LATITUDE, MAX_LONGITUDE = 90.0, 360.0
"""In degrees; longitudes go from -180 to 180 or from 0 to 360."""


def with_places(choices: Sequence[Choice], surveys: Sequence[Survey | None]) -> list[Choice]:
    """The choices, with numbers that are latitude and longitude of one place taken for that.

    surveys : of each choice; None of one that was not looked at
    """
    found = list(choices)
    north = _called(found, surveys, LATITUDE, MAX_LATITUDE)
    east = _called(found, surveys, LONGITUDE, MAX_LONGITUDE)
    for name in north.keys() & east.keys():
        i, j = north[name], east[name]
        one, other = surveys[i], surveys[j]
        if one is None or other is None:
            continue
        by = _spread(one.numbers, other.numbers)
        why = "degrees on the sphere, where its name and its range say that it is a"
        for k, word, beside in ((i, "latitude", j), (j, "longitude", i)):
            told = f"{found[k].why}: {why} {word}"
            found[k] = replace(found[k], taken_for=word, why=told, place=word, pair=(found[beside].name, by))
    return found


def _called(
    choices: Sequence[Choice], surveys: Sequence[Survey | None], words: re.Pattern[str], most: float
) -> dict[str, int]:
    """Positions of numbers in a range that are called so, by the rest of their names; none that are called alike."""
    found: dict[str, int] = {}
    twice = set()
    for i, (choice, survey) in enumerate(zip(choices, surveys, strict=True)):
        if choice.place != "numbers" or choice.taken_for != "number" or survey is None:
            continue
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(choice.name)).lower()
        rest, count = words.subn("*", name.replace(" ", "_"), count=1)
        low, high = survey.numbers.min(), survey.numbers.max()
        if not count or low < -min(most, 180.0) or high > most or high - low > 360.0:
            continue
        twice |= {rest} & found.keys()
        found[rest] = i
    return {rest: i for rest, i in found.items() if rest not in twice}


def _spread(latitude: NDArray[np.float64], longitude: NDArray[np.float64]) -> float:
    """By what points of the sphere of radius 1 are divided to have two columns' worth of variance: four digits."""
    north, east = np.radians(latitude), np.radians(longitude)
    points = np.column_stack([np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)])
    return float(f"{max(float((points.var(axis=0).sum() / 2) ** 0.5), 1e-9):.4g}")
