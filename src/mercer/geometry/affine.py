"""Scalers: u = (x - origin) / unit, coordinate by coordinate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.errors import InputError, message
from mercer.geometry.accurate import Vector, dot


@dataclass(frozen=True, eq=False)
class Affine:
    """The map u = (x - origin) / unit.

    origin : (d,)
    unit : (d,), not zero
    """

    origin: Vector
    unit: Vector

    @classmethod
    def identity(cls, width: int) -> Affine:
        """The map that changes nothing."""
        return cls(np.zeros(width), np.ones(width))

    @classmethod
    def of(cls, scaler: Any, width: int) -> Affine:
        """What a fitted scaler does, from its attributes: mean_ or center_ and scale_, or min_ and scale_.

        These are the names in scikit-learn's StandardScaler, RobustScaler, MaxAbsScaler and MinMaxScaler.
        """
        _refuse_clipping(scaler)
        scale = getattr(scaler, "scale_", None)
        unit = np.ones(width) if scale is None else np.asarray(scale, dtype=np.float64)
        least = getattr(scaler, "min_", None)
        if least is not None:  # u = x scale_ + min_
            return cls(-np.asarray(least, dtype=np.float64) / unit, 1 / unit)
        return cls(_origin(scaler, width), unit)

    def then(self, other: Affine) -> Affine:
        """First this map, then another."""
        return Affine(self.origin + self.unit * other.origin, self.unit * other.unit)

    def folded(self, weights: Vector, intercept: float) -> tuple[Vector, float]:
        """The weights and the intercept before the map of those after it."""
        before = weights / self.unit
        return before, dot(-before, self.origin, intercept)


def is_scaler(step: Any) -> bool:
    """Whether a fitted step has the attributes of a scaler."""
    return hasattr(step, "scale_") and not hasattr(step, "components_")


def _origin(scaler: Any, width: int) -> Vector:
    if getattr(scaler, "with_mean", True) and getattr(scaler, "mean_", None) is not None:
        return np.asarray(scaler.mean_, dtype=np.float64)
    center = getattr(scaler, "center_", None)
    return np.zeros(width) if center is None else np.asarray(center, dtype=np.float64)


def _refuse_clipping(scaler: Any) -> None:
    if getattr(scaler, "clip", False):
        raise InputError(
            message("scalers that are affine", f"got {type(scaler).__name__}(clip=True)", "Use clip=False.")
        )
