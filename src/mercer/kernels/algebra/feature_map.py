"""A map of rows that is written as formulas, [x1, x2 + x3]: kernels after it print, and read back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray

from mercer.errors import KernelError

if TYPE_CHECKING:  # the reader of formulas is loaded where there are some
    from mercer.kernels.formulas import Expression

MAX_LETTERS = 1 << 16
"""Letters of all formulas of a list."""


@dataclass(frozen=True)
class FeatureMap:
    """x -> [phi_1(x), ..., phi_D(x)]; equal where the formulas are.

    formulas : expressions of one point

    >>> phi = FeatureMap.read(["x1", "sqrt(2)*x1*x2"])
    >>> phi.texts, phi.transform(np.array([[1.0, 3.0]])).round(3)
    (['x1', 'sqrt(2) x1 x2'], array([[1.   , 4.243]]))
    """

    formulas: tuple[Expression, ...]

    @classmethod
    def read(cls, texts: str | Sequence[str], columns: Sequence[str] = ()) -> Self:
        """The map of some texts; columns are names that they may use beside x1, x2, ..."""
        from mercer.kernels.formulas import read_features

        listed = [texts] if isinstance(texts, str) else list(texts)
        letters = sum(len(text) for text in listed if isinstance(text, str))
        if letters > MAX_LETTERS:
            raise KernelError(
                f"Formulas need at most {MAX_LETTERS:,} letters in all; got {letters:,}. Give a function of rows."
            )
        return cls(read_features(listed, columns))

    def __len__(self) -> int:
        return len(self.formulas)

    @property
    def texts(self) -> list[str]:
        """The formulas as texts."""
        return [str(each) for each in self.formulas]

    @property
    def least_width(self) -> int:
        """The least number of columns that rows must have."""
        return max(each.least_width for each in self.formulas)

    def fits(self, d: int) -> bool:
        """Whether rows of d columns can be mapped."""
        return d >= self.least_width and all(each.width in (None, d) for each in self.formulas)

    @property
    def by_position(self) -> FeatureMap:
        """The same formulas with x1, x2, ... in place of names of columns."""
        return FeatureMap(tuple(each.by_position for each in self.formulas))

    def transform(self, rows: NDArray[Any]) -> NDArray[Any]:
        """A column for each formula, of floats, or of numbers of 50 digits for such rows."""
        return np.stack([each.values(rows) for each in self.formulas], axis=1)

    def latex(self, x: str) -> str:
        """The vector of the formulas at a point."""
        return rf"\left( {', '.join(each.latex(x) for each in self.formulas)} \right)"


def is_texts(value: Any) -> TypeGuard[str | list[str] | tuple[str, ...]]:
    """Whether something is a list of texts, or a text of a list: formulas."""
    if isinstance(value, str):
        return value.lstrip().startswith("[")
    return isinstance(value, list | tuple) and len(value) > 0 and all(isinstance(text, str) for text in value)
