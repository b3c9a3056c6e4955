"""The triangle R of landmarks, k(L, L) = R'R, for Falkon: in this process, or at a backend, where thin arrays go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mercer.backends.squares import Triangle
from mercer.learners.ridge.landmark_preconditioner import Preconditioner, preconditioner, preconditioner_there
from mercer.learners.streaming.basis import LandmarkBasis

Array = NDArray[np.float64]


class Whitening(Protocol):
    """What the steps need of R."""

    @property
    def corner(self) -> Array:
        """k(l, l) of each landmark."""

    def to_raw(self, weights: Array) -> Array:
        """R^-1 w for each column."""

    def to_features(self, sums: Array) -> Array:
        """R^-T u for each column."""

    def preconditioner(self, near: Array, intercept: bool, alphas: Array) -> Preconditioner:
        """Of rows at their nearest landmarks, for some alphas."""


@dataclass(frozen=True, eq=False)
class Here:
    """R of a basis, in this process."""

    basis: LandmarkBasis

    @property
    def corner(self) -> Array:
        """As in the protocol."""
        return np.asarray(np.einsum("ij,ij->j", self.basis.factor, self.basis.factor))

    def to_raw(self, weights: Array) -> Array:
        """As in the protocol."""
        return self.basis.to_raw(weights)

    def to_features(self, sums: Array) -> Array:
        """As in the protocol."""
        return np.ascontiguousarray(self.basis.to_features(np.ascontiguousarray(sums.T)).T)

    def preconditioner(self, near: Array, intercept: bool, alphas: Array) -> Preconditioner:
        """As in the protocol."""
        return preconditioner(self.basis.factor, near, intercept, alphas)


@dataclass(frozen=True, eq=False)
class There:
    """R at a backend, which also holds the preconditioner."""

    triangle: Triangle

    @property
    def corner(self) -> Array:
        """As in the protocol."""
        return self.triangle.squares

    def to_raw(self, weights: Array) -> Array:
        """As in the protocol."""
        return self.triangle.to_raw(weights)

    def to_features(self, sums: Array) -> Array:
        """As in the protocol."""
        return self.triangle.to_features(sums)

    def preconditioner(self, near: Array, intercept: bool, alphas: Array) -> Preconditioner:
        """As in the protocol."""
        return preconditioner_there(self.triangle, near, intercept, alphas)
