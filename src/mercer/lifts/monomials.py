"""All monomials up to a degree, as they are."""

from __future__ import annotations

from mercer import kernels
from mercer.compute.family import Family
from mercer.kernels import Kernel
from mercer.kernels.coordinate.monomials import check_choice
from mercer.kernels.fields import check_whole
from mercer.lifts.expanded import Expanded
from mercer.lifts.graded import Graded


class Monomials(Expanded):
    """All C(d + degree, d) monomials up to the degree, without weights: 1, x1, x2, x1^2, x1 x2, x2^2, ...

    The plain form of the polynomial lift. It spans the same functions as `Polynomial`, but its kernel, the sum of
    prod_k (x_k z_k)^a_k over all exponents a with |a| <= degree, is another. Time and memory O(n D) for D features of n
    dense rows; sparse rows stay sparse, and a row of l stored numbers costs C(l + degree, l).

    Parameters
    ----------
    degree : whole number of at least 1
    include_bias : whether the monomial 1 is one of them

    Attributes
    ----------
    expansion_ : the monomials

    Examples
    --------
    >>> from mercer.lifts import Monomials
    >>> lift = Monomials(degree=2)
    >>> lift.fit_transform([[2.0, 3.0]])
    array([[1., 2., 3., 4., 6., 9.]])
    >>> lift.get_feature_names_out().tolist()
    ['1', 'x1', 'x2', 'x1^2', 'x1 x2', 'x2^2']

    References
    ----------
    Macdonald, Symmetric Functions and Hall Polynomials (1995), section I.2.
    """

    takes_sparse = True

    def __init__(self, degree: int = 2, include_bias: bool = True) -> None:
        self.degree = degree
        self.include_bias = include_bias

    @property
    def kernel(self) -> Kernel:
        """The kernel phi(x).phi(z)."""
        return kernels.Monomials(self.degree, self.include_bias)

    def _expansion(self, width: int) -> Graded:
        degree = check_whole("Monomials", "degree", self.degree, 1, None)
        bias = check_choice("Monomials", "include_bias", self.include_bias)
        return Graded(Family(width, degree, 0 if bias else 1))
