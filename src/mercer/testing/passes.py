"""One of each pass that Mercer knows, with columns of random rows: what `check_backend` tries on a backend."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.backends.passes import Pass
from mercer.learners.clustering.features import FromOrigin
from mercer.learners.ridge.falkon_passes import First, Product, Rest
from mercer.learners.ridge.residual_pass import Left
from mercer.learners.streaming.basis import Combined
from mercer.learners.streaming.feature_pass import Features
from mercer.learners.streaming.moments import Squares
from mercer.lifts.pivoting import NewFeatures

Array = NDArray[np.float64]
OUTPUTS, BEFORE = 2, 5


@dataclass(frozen=True, eq=False)
class Tried:
    """A pass, and columns of rows as it reads them."""

    work: Pass
    rows: dict[str, Array]


def known_passes(count: int, width: int, seed: int = 0) -> list[Tried]:
    """Every pass, for so many rows of so many values."""
    random = np.random.default_rng(seed)
    weights, targets = random.uniform(0.5, 2.0, count), random.normal(size=(count, OUTPUTS))
    shift, v = random.normal(size=width), random.normal(size=(width, OUTPUTS))
    level = random.normal(size=OUTPUTS)
    known = {"weights": weights, "targets": targets}
    lower = np.tril(random.normal(size=(width, width))) / width + 2.0 * np.eye(width)
    before = random.normal(size=(width, BEFORE))
    others = np.column_stack([targets, np.ones(count)])
    return [
        Tried(Squares(shift, OUTPUTS + 1), {"others": others}),
        Tried(Squares(shift, OUTPUTS + 1), {"others": others, "roots": np.sqrt(weights)}),
        Tried(First(np.ones(width), OUTPUTS), known),
        Tried(Product(v, level), {"weights": weights}),
        Tried(Rest(v, level, 2.0 * level), known),
        Tried(Left(v, level, shift), known),
        Tried(Features(), {}),
        Tried(Combined(v, shift), {}),
        Tried(FromOrigin(shift, dtype="float32"), {"diagonal": np.full(count, 3.0)}),
        Tried(NewFeatures(before, lower), {"before": random.normal(size=(count, BEFORE))}),
    ]
