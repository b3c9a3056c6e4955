"""Tests of difference between many rows: the part `difference` of unsupervised.py."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from alone import Found, alone, in_turns, measured
from scaling import Row, failure
from scipy.spatial.distance import cdist
from tables import Array
from unsupervised_rows import Rows

from mercer import mmd
from mercer.kernels import Gaussian

SIZES, QUICK = (12_500, 25_000, 50_000, 100_000), (4_000, 16_000)
"""Rows a side."""
SHIFT = 0.1
"""By so many deviations the first column differs, where something differs."""
LINEAR = 1.1
"""The exponent with which memory may grow."""
DEFINED = 1_000
"""Rows a side for which the statistic is computed from the definition, too."""
LONGEST = 7_200.0


def differ(rows: Rows, shift: float) -> Found:
    """The test of rows against others that come after them, one column of which is shifted."""
    X, Y, kernel = rows.values(), rows.values(rows.count), Gaussian(rows.length)
    Y[:, 0] += shift
    few = X[:DEFINED], Y[:DEFINED]
    mmd(*few, kernel, method="features", random_state=0)  # the method of many rows has its own code to load and compile
    off = abs(float(mmd(*few, kernel, random_state=0).statistic) - unbiased(*few, rows.length))
    result: Any
    result, cost = measured(lambda: mmd(X, Y, kernel, random_state=0))
    told = {"method": str(result.method), "null": str(result.null), "statistic": float(result.statistic)}
    return cost | told | {"p_value": float(result.p_value), "off": off}


def unbiased(X: Array, Y: Array, length: float) -> float:
    """The mean of k over pairs of different rows on either side, less twice the mean across."""

    def kernel(A: Array, B: Array) -> Array:
        return np.asarray(np.exp(cdist(A, B, "sqeuclidean") / (-2 * length**2)))

    n, m = len(X), len(Y)
    inside = (kernel(X, X).sum() - n) / (n * (n - 1)) + (kernel(Y, Y).sum() - m) / (m * (m - 1))
    return float(inside - 2 * kernel(X, Y).mean())


def difference(file: Path, quick: bool, repeats: int) -> Iterator[Row]:
    """MMD between rows of one table: seconds, memory, and how memory grows; once with a column shifted."""
    sizes, held, off = QUICK if quick else SIZES, list[float](), 0.0
    for count in sizes:
        rows = Rows(file, count)
        work, jobs = f"MMD, {rows.title} a side", {"same": partial(alone, differ, rows, 0.0, seconds=LONGEST)}
        if count == sizes[-1]:
            jobs["shifted"] = partial(alone, differ, rows, SHIFT, seconds=LONGEST)
        found = in_turns(jobs, 1)
        if failed := [each["failed"] for each in found.values() if "failed" in each]:
            yield failure(work, "", failed)
            return
        same = found["same"]
        held.append(same["megabytes"])
        off = max(off, same["off"])
        note = f"{same['method']}, null: {same['null']}; p = {same['p_value']:.3f}"
        if "shifted" in found:
            note += f", {found['shifted']['p_value']:.3g} where a column is shifted by {SHIFT:g} deviations"
        yield Row(work, "", same["seconds"], None, same["megabytes"], "MB", None, False, True, note)
    exponent = float(np.polyfit(np.log(sizes), np.log(np.maximum(held, 1.0)), 1)[0])
    more = 1e6 * (held[-1] - held[0]) / (sizes[-1] - sizes[0])
    note = f"{more:.0f} bytes more for a row more a side; "
    note += f"the statistic of all pairs of {DEFINED:,} rows a side is off by {off:.1e} at most"
    yield Row("MMD: growth of memory", "", None, None, exponent, "= exponent", LINEAR, False, True, note)
