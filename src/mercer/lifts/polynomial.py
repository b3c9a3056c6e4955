"""All monomials up to a degree, weighted so that phi(x).phi(z) = (offset + <x, z>)^degree."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from math import inf
from operator import add

from mercer import kernels
from mercer.errors import InputError, message
from mercer.kernels import Kernel
from mercer.kernels.dot.polynomial import check_degree
from mercer.kernels.fields import check_choice, check_nonnegative
from mercer.lifts.expanded import Expanded
from mercer.lifts.graded import Graded, OfPower
from mercer.lifts.monomial_index import Family


class Polynomial(Expanded):
    """The polynomial lift: all C(d + degree, d) monomials up to the degree, weighted as the polynomial kernel asks.

    The monomial of exponents a gets the root of degree! / (a_1! ... a_d! r!) offset^r with `r = degree - |a|`, the
    terms of the multinomial theorem for (offset + <x, z>)^degree. Time and memory O(n D) for D features of n dense
    rows; sparse rows stay sparse, and a row of l stored numbers costs C(l + degree, l).

    Parameters
    ----------
    degree : int, default=2
        At least 1.
    offset : float, default=1.0
        At least zero; with 0 only the monomials of exactly this degree remain.
    interaction_only : bool, default=False
        Whether no column may be multiplied by itself; the kernel is then that of the remaining terms.

    Attributes
    ----------
    expansion_ : Expansion
        The monomials and their weights.

    Examples
    --------
    >>> from mercer.lifts import Polynomial
    >>> lift = Polynomial(degree=2)
    >>> lift.fit_transform([[1.0, 2.0], [3.0, 4.0]]).round(3)
    array([[ 1.   ,  1.414,  2.828,  1.   ,  2.828,  4.   ],
           [ 1.   ,  4.243,  5.657,  9.   , 16.971, 16.   ]])
    >>> lift.get_feature_names_out().tolist()
    ['1', 'sqrt(2) x1', 'sqrt(2) x2', 'x1^2', 'sqrt(2) x1 x2', 'x2^2']
    >>> print(lift.kernel)
    polynomial(degree=2, offset=1.0)

    References
    ----------
    Shawe-Taylor and Cristianini, Kernel Methods for Pattern Analysis (2004), section 9.1.
    """

    takes_sparse = True

    def __init__(self, degree: int = 2, offset: float = 1.0, *, interaction_only: bool = False) -> None:
        self.degree = degree
        self.offset = offset
        self.interaction_only = interaction_only

    @property
    def kernel(self) -> Kernel:
        """The kernel phi(x).phi(z); with interactions only, the terms of it that repeat no column."""
        degree, offset, distinct = self._checked()
        if not distinct:
            return kernels.Polynomial(degree, offset)
        orders, weight = range(1 if offset else degree, degree + 1), OfPower(degree, offset)
        terms = [_float(weight(s)) * kernels.Subsets(s, s) for s in orders]
        return reduce(add, terms, kernels.Constant(_float(weight(0)))) if offset else terms[0]

    def _expansion(self, width: int) -> Graded:
        degree, offset, distinct = self._checked()
        if distinct and not offset and degree > width:
            needs, got = (
                f"{degree} columns for products of {degree} different ones",
                f"the data has n_features = {width}",
            )
            raise InputError(message(needs, got, "Lower the degree, or give a positive offset."))
        highest = min(degree, width) if distinct else degree
        family = Family(width, highest, 0 if offset else degree, repeated=not distinct)
        return Graded(family, OfPower(degree, offset))

    def _checked(self) -> tuple[int, float, bool]:
        degree = check_degree("Polynomial", "degree", self.degree)
        offset = check_nonnegative("Polynomial", "offset", self.offset)
        return degree, offset, check_choice("Polynomial", "interaction_only", self.interaction_only)


def _float(term: Fraction) -> float:
    try:
        return float(term)
    except OverflowError:  # kernels refuse what is infinite, in their own words
        return inf
