"""All monomials up to a degree, as they are."""

from __future__ import annotations

from typing import Any

from mercer import kernels
from mercer.errors import InputError, message
from mercer.kernels import Kernel
from mercer.kernels.fields import check_choice, check_integer
from mercer.lifts.expanded import Expanded
from mercer.lifts.graded import Biased, Graded
from mercer.lifts.monomial_index import Family


class Monomials(Expanded):
    """All C(d + degree, d) monomials up to the degree, without weights: 1, x1, x2, x1^2, x1 x2, x2^2, ...

    The plain form of the polynomial lift. It spans the same functions as `Polynomial`, but its kernel, the sum of
    prod_k (x_k z_k)^a_k over all exponents a with `|a| <= degree`, is another. Time and memory O(n D) for D features of
    n dense rows; sparse rows stay sparse, and a row of l stored numbers costs C(l + degree, l).

    Parameters
    ----------
    degree : int or (int, int), default=2
        At least 1; or a pair, the lowest degree and the highest one.
    include_bias : bool, default=True
        Whether the monomial 1 is included, also where the lowest degree is above it.

    Attributes
    ----------
    expansion_ : Expansion
        The monomials.
    powers_ : array of shape (features, columns)
        The exponent of each column in each monomial.

    Examples
    --------
    >>> from mercer.lifts import Monomials
    >>> lift = Monomials(degree=2)
    >>> lift.fit_transform([[2.0, 3.0]])
    array([[1., 2., 3., 4., 6., 9.]])
    >>> lift.get_feature_names_out().tolist()
    ['1', 'x1', 'x2', 'x1^2', 'x1 x2', 'x2^2']
    >>> Monomials(degree=(2, 3), include_bias=False).fit_transform([[2.0, 3.0]])
    array([[ 4.,  6.,  9.,  8., 12., 18., 27.]])

    References
    ----------
    Macdonald, Symmetric Functions and Hall Polynomials (1995), section I.2.
    """

    takes_sparse = True

    def __init__(self, degree: int | tuple[int, int] = 2, include_bias: bool = True) -> None:
        self.degree = degree
        self.include_bias = include_bias

    @property
    def kernel(self) -> Kernel:
        """The kernel phi(x).phi(z)."""
        lowest, degree = self._degrees()
        return kernels.Monomials(degree, self.include_bias, lowest)

    def _expansion(self, width: int) -> Graded:
        lowest, degree = self._degrees()
        bias = check_choice("Monomials", "include_bias", self.include_bias)
        if bias and lowest > 1:
            return Biased(Family(width, degree, lowest))
        return Graded(Family(width, degree, 0 if bias else max(1, lowest)))

    def _degrees(self) -> tuple[int, int]:
        """The lowest degree and the highest one."""
        given: Any = self.degree
        if not isinstance(given, tuple | list):
            return 0, check_integer("Monomials", "degree", given, 1, None)
        if len(given) != 2:
            needs, remedy = "an integer or a pair of them for degree", "Write 3, or (2, 3)."
            raise InputError(message(needs, f"got {given!r}", remedy))
        highest = check_integer("Monomials", "the highest degree", given[1], 1, None)
        lowest = check_integer("Monomials", "the lowest degree", given[0], 0, None)
        if lowest > highest:
            raise InputError(message("the lowest degree first", f"got {given!r}", "Exchange them."))
        return lowest, highest
