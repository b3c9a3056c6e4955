"""A polynomial that is not negative: the shape without a name of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.errors import speaks
from mercer.geometry.accurate import Vector
from mercer.geometry.base import Shape
from mercer.geometry.fields import named
from mercer.geometry.terms import Terms


@dataclass(frozen=True, eq=False, init=False)
class Inequality(Shape):
    """p(x) >= 0 for any polynomial p; its value is the decision function of the model.

    Parameters
    ----------
    polynomial : Polynomial
        p, about the origin of the scalers before the lift, where there are some.
    names : sequence of str, default=()
        The names of the columns; x1, x2, ... where none are given.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.array([[0, 0, 0], [0, 1, -1], [-1, -1, -1]])
    >>> cubic = Terms(factors, np.array([1.5, -2.0, 0.3]), origin=np.zeros(2), unit=np.ones(2))
    >>> print(Inequality(cubic))
    1.5 x1^3 - 2 x1 x2 + 0.3 >= 0
    >>> Inequality(cubic).contains([[1.0, 0.0], [1.0, 1.0]])
    array([ True, False])
    """

    polynomial: Terms
    names: tuple[str, ...]

    @speaks
    def __init__(self, polynomial: Terms, names: Sequence[str] = ()) -> None:
        self._keep({"polynomial": polynomial, "names": named(names, polynomial.width)})

    @property
    def kind(self) -> str:
        return "inequality"

    @property
    def terms(self) -> Terms:
        return self.polynomial

    @property
    def degree(self) -> int:
        """The degree of the polynomial."""
        return int(self.terms.nonzero().degrees.max(initial=0))

    def expanded(self) -> Inequality:
        """The same, multiplied out about zero; where the data lies far from zero, this loses digits.

        Returns
        -------
        Inequality
        """
        return Inequality(self.terms.expanded(), self.names)

    def _value(self, X: NDArray[np.float64]) -> Vector:
        return self.terms.value(X)

    def __str__(self) -> str:
        return f"{self.terms.text(self.names)} >= 0"
