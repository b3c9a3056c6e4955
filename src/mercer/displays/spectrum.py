"""Eigenvalues by size on a scale of logarithms: positive ones, negative ones, and those that are rounding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues, and which of them can be told from zero.

    values : (n,), the largest first
    doubt : below this size they are rounding: n units in the last place of the largest
    """

    values: NDArray[np.float64]
    doubt: float

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Spectrum:
        """With the doubt of symmetric solvers."""
        return cls(values, float(len(values) * np.finfo(np.float64).eps * np.abs(values).max()))

    def kinds(self) -> dict[str, NDArray[np.bool_]]:
        """Which eigenvalues are of which kind, by name; kinds that there are."""
        negative, positive = self.values < -self.doubt, self.values > self.doubt
        every = {"positive": positive, "negative": negative, "rounding": ~(negative | positive)}
        return {name: which for name, which in every.items() if which.any()}

    def draw(self, axes: Any) -> dict[str, Any]:
        """Sizes in falling order, one collection of points a kind."""
        sizes = np.abs(self.values)
        places = np.empty(len(sizes))
        places[np.argsort(-sizes, kind="stable")] = np.arange(1, len(sizes) + 1)
        colours = {"positive": "tab:blue", "negative": "tab:red", "rounding": "0.7"}
        drawn = {}
        for name, which in self.kinds().items():
            seen = which & (sizes > 0)
            label = f"{name} ({which.sum()})"
            drawn[name] = axes.scatter(places[seen], sizes[seen], s=8, color=colours[name], label=label)
        above = sizes[sizes > 0]
        if len(above) and above.max() > 10 * above.min():
            axes.set_yscale("log")
        else:
            axes.set_ylim(0.0, 1.1 * sizes.max() or None)
        axes.set(xlabel="eigenvalues, by size", ylabel="size")
        return drawn
