"""The product of the columns of every subset."""

from __future__ import annotations

from mercer import kernels
from mercer.errors import InputError, message
from mercer.kernels import Kernel
from mercer.kernels.fields import check_choice, check_integer
from mercer.lifts.expanded import Expanded
from mercer.lifts.graded import Graded
from mercer.lifts.monomial_index import Family


class Subsets(Expanded):
    """The product of the columns of every subset, all 2^d of them: 1, x1, x2, x1 x2, ...

    Its kernel is prod_k (1 + x_k z_k), for the cost of d products. Here all features are written out, in time and
    memory O(n 2^d), or O(n d^max_order); where there is no memory for a row of them, fit says how many they are. Sparse
    rows stay sparse.

    Parameters
    ----------
    max_order : int or None, default=None
        The largest number of columns in a subset, at least 1; None, or a number above d, for d.
    min_order : int, default=0
        The smallest, from 0 to d; 1 leaves the constant out.
    include_bias : bool, default=True
        Whether the empty subset, the constant 1, counts where min_order is 0: without it there are 2^d - 1 features.

    Attributes
    ----------
    expansion_ : Expansion
        The monomials.
    powers_ : array of shape (features, columns)
        1 for the columns of each subset.

    Examples
    --------
    >>> from mercer.lifts import Subsets
    >>> lift = Subsets()
    >>> lift.fit_transform([[2.0, 3.0, 5.0]])
    array([[ 1.,  2.,  3.,  5.,  6., 10., 15., 30.]])
    >>> print(lift.kernel)
    subsets
    >>> Subsets(include_bias=False).fit_transform([[2.0, 3.0, 5.0]])
    array([[ 2.,  3.,  5.,  6., 10., 15., 30.]])

    References
    ----------
    Shawe-Taylor and Cristianini, Kernel Methods for Pattern Analysis (2004), section 9.2.
    """

    takes_sparse = True
    remedy = "Give a max_order, or use the lift's kernel, which needs no features."

    def __init__(self, max_order: int | None = None, min_order: int = 0, include_bias: bool = True) -> None:
        self.max_order = max_order
        self.min_order = min_order
        self.include_bias = include_bias

    @property
    def kernel(self) -> Kernel:
        """The kernel phi(x).phi(z)."""
        return kernels.Subsets(self.min_order, self.max_order, self.include_bias)

    def _expansion(self, width: int) -> Graded:
        order = width if self.max_order is None else check_integer("Subsets", "max_order", self.max_order, 1, None)
        smallest = check_integer("Subsets", "min_order", self.min_order, 0, None)
        empty = check_choice("Subsets", "include_bias", self.include_bias)
        lowest, highest = smallest if empty else max(1, smallest), min(order, width)
        if lowest > highest:
            given = f"min_order = {lowest}, and the largest subset has {highest} of n_features = {width}"
            raise InputError(message("subsets of some order", given, "Lower min_order."))
        return Graded(Family(width, highest, lowest, repeated=False))
