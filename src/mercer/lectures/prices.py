"""AAPL at the close, July to October 2019: 87 trading days, as they were before the split of 2020."""

from __future__ import annotations

import csv
from datetime import date
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

LECTURE_DAYS = 65
"""Trading days from 1 July to 1 October: on these, as `linspace(0, 1, 65)`, the median of distances over the root of
2 is 0.20992, the lecture's first bandwidth, and half of it 0.10496, its second. That is inference from two numbers."""


def prices(days: int = LECTURE_DAYS) -> tuple[list[date], NDArray[np.float64], NDArray[np.float64]]:
    """The first trading days, the same as a column from 0 to 1 in equal steps, and the prices in dollars.

    >>> days, X, y = prices()
    >>> str(days[-1]), X.shape, float(y[0])
    ('2019-10-01', (65, 1), 201.55)
    """
    text = (files("mercer.lectures") / "data" / "aapl_2019.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))[:days]
    when, close = [date.fromisoformat(row["date"]) for row in rows], np.array([float(row["close"]) for row in rows])
    return when, np.linspace(0, 1, len(rows))[:, None], close
