"""Requests and results of methods that read rows in pieces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.learners.data.validation import Penalty
from mercer.learners.ridge.request import Fit
from mercer.learners.streaming.basis import Basis
from mercer.learners.streaming.stream import Stream
from mercer.planner import Plan
from mercer.solvers.ridge.spectrum import Spectrum

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Streamed:
    """Rows in pieces, the functions of which the model is made, and how to fit it.

    who : the name in messages
    intercept : whether there is one, without penalty
    coded : whether targets are coded labels, +1 and -1, one column per class where there are more than two
    trusted : the relative error of predictions above which rounding is told
    random : where draws come from
    """

    who: str
    stream: Stream
    basis: Basis
    penalty: Penalty
    intercept: bool
    coded: bool
    plan: Plan
    trusted: float
    random: np.random.Generator


@dataclass(frozen=True, eq=False)
class StreamedFit:
    """A fit of features, and how to predict with it.

    fit : with weights of features; duals only where all rows are in memory and alpha is above 0
    raw : (p, outputs), weights of raw functions: a prediction is raw(x) . raw + offset
    offset : (outputs,)
    spectrum : of Z'Z of the centred features; None where it was never formed
    """

    fit: Fit
    raw: Array
    offset: Array
    spectrum: Spectrum | None
