"""What finite lifts are made of: a kernel says in these words how its features are built, and builders do it.

`mercer.lift` makes them (`mercer.lifts.part_builder`), and planners count them (`mercer.lifts.n_features`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from numpy.typing import NDArray

from mercer.errors import KernelError

if TYPE_CHECKING:  # kernels need builders as a type only, and builders need kernels as one
    from mercer.kernels.algebra.mapped import Mapped
    from mercer.kernels.algebra.weighted import Weighted
    from mercer.kernels.base import Kernel
    from mercer.kernels.points import Column

Features = TypeVar("Features")
"""What a builder gives for some features: the features themselves, or how many they are."""


class NotFiniteError(KernelError):
    """A kernel, or a part of one, without a finite lift that Mercer knows."""

    def __init__(self, part: Kernel) -> None:
        super().__init__(part)
        self.part = part

    def __str__(self) -> str:  # when it is read: the text of a large kernel takes long
        return f"{self.part} has no finite lift that Mercer knows."


@runtime_checkable
class OwnFeatures(Protocol):
    """A kernel that computes its features itself: `build.functions(kernel, count)`."""

    def features_of(self, X: NDArray[Any]) -> NDArray[Any]:
        """The features of each row.

        Parameters
        ----------
        X : array of shape (n, d)
            Float32 or float64.

        Returns
        -------
        array of shape (n, count)
        """

    def names_of(self, inputs: Sequence[str]) -> list[str]:
        """The names of the features.

        Parameters
        ----------
        inputs : sequence of str
            The names of the columns; behind a map these may be sums, such as "x1 + 2 x2".

        Returns
        -------
        list of str
        """


class LiftBuilder(Protocol[Features]):
    """Builds the features of a kernel on rows of `n_columns` numbers, or counts them.

    `Kernel.finite_lift(build)` returns what these methods return: leaves of its formula, and rules that compose them.

    >>> import mercer
    >>> from mercer.kernels import Dot
    >>> class LinearAndSquare(Dot):
    ...     formula = "<x, z> + <x, z>^2"
    ...
    ...     def profile(self, u):
    ...         return u + u * u
    ...
    ...     def finite_lift(self, build):
    ...         return build.added([build.linear(), build.polynomial(degree=2, offset=0.0)])
    >>> mercer.lift(LinearAndSquare(), 2).get_feature_names_out().tolist()
    ['x1', 'x2', 'x1^2', 'sqrt(2) x1 x2', 'x2^2']
    """

    @property
    def n_columns(self) -> int:
        """How many columns the rows have."""

    # -- leaves ---------------------------------------------------------------------------------------------------

    def constant(self, value: float) -> Features:
        """The feature sqrt(value) of the kernel k(x, z) = value; no feature for zero.

        Parameters
        ----------
        value : float
            At least zero.

        Returns
        -------
        Features
        """

    def linear(self) -> Features:
        """x itself.

        Returns
        -------
        Features
        """

    def squared_length(self) -> Features:
        """The squared length of x, one feature.

        Returns
        -------
        Features
        """

    def polynomial(self, degree: int, offset: float) -> Features:
        """The features of (offset + <x, z>)^degree.

        Parameters
        ----------
        degree : int
            At least 1.
        offset : float
            At least zero.

        Returns
        -------
        Features
        """

    def monomials(self, lowest: int, highest: int, repeated: bool = True, bias: bool = False) -> Features:
        """Each monomial of these degrees, without weights.

        Parameters
        ----------
        lowest, highest : int
            The degrees, from 0.
        repeated : bool, default=True
            Whether a column may stand more than once in a monomial.
        bias : bool, default=False
            Whether the constant 1 is a feature where `lowest` leaves it out.

        Returns
        -------
        Features
        """

    def powers(self, degree: int) -> Features:
        """x_k, x_k^2, ..., x_k^degree of each column.

        Parameters
        ----------
        degree : int
            At least 1.

        Returns
        -------
        Features
        """

    def functions(self, kernel: OwnFeatures, count: int) -> Features:
        """Features that the kernel computes itself, by `features_of` and `names_of`.

        Parameters
        ----------
        kernel : OwnFeatures
            The kernel.
        count : int
            How many features.

        Returns
        -------
        Features
        """

    # -- rules ----------------------------------------------------------------------------------------------------

    def of(self, kernel: Kernel) -> Features:
        """The features of another kernel on the same rows; a NotFiniteError where it has no finite lift.

        Parameters
        ----------
        kernel : Kernel
            The kernel.

        Returns
        -------
        Features
        """

    def added(self, parts: Sequence[Features]) -> Features:
        """Features side by side: their kernels are added.

        Parameters
        ----------
        parts : sequence of Features
            The terms.

        Returns
        -------
        Features
        """

    def multiplied(self, first: Features, second: Features) -> Features:
        """All products of two features: their kernels are multiplied.

        Parameters
        ----------
        first, second : Features
            The factors.

        Returns
        -------
        Features
        """

    def raised(self, part: Features, exponent: int) -> Features:
        """All products of so many features: an integer power of the kernel.

        Parameters
        ----------
        part : Features
            The base.
        exponent : int
            At least 1.

        Returns
        -------
        Features
        """

    def unit(self, part: Features) -> Features:
        """Features divided by their length: the kernel is normalized.

        Parameters
        ----------
        part : Features
            The features.

        Returns
        -------
        Features
        """

    def weighted(self, kernel: Weighted) -> Features:
        """The features of the kernel inside, times a function of the row.

        Parameters
        ----------
        kernel : Weighted
            The kernel.

        Returns
        -------
        Features
        """

    def chosen(self, kernel: Kernel, columns: Sequence[Column]) -> Features:
        """The features of a kernel on some of the columns.

        Parameters
        ----------
        kernel : Kernel
            The kernel.
        columns : sequence of int or str
            The columns.

        Returns
        -------
        Features
        """

    def mapped(self, kernel: Mapped) -> Features:
        """The features of the kernel inside on mapped rows, g(x).

        Parameters
        ----------
        kernel : Mapped
            The kernel.

        Returns
        -------
        Features
        """
