"""From a kernel to its exact lift, where finitely many features suffice."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mercer.errors import InputError, KernelError, message, speaks
from mercer.kernels import Function, Kernel
from mercer.kernels.algebra.feature_map import is_texts
from mercer.kernels.lift_builder import NotFiniteError
from mercer.kernels.points import Points
from mercer.kernels.text import parse, parse_for
from mercer.lifts.base import Lift
from mercer.lifts.coerce import check_numbers, stated
from mercer.lifts.composition import unique
from mercer.lifts.counts import Counts
from mercer.lifts.expansion import Expansion
from mercer.lifts.formulas import Formulas
from mercer.lifts.part_builder import PartBuilder
from mercer.lifts.parts import Part, Polynomials


class Exact(Lift):
    """The exact features of a kernel: phi(x).phi(z) = k(x, z), with as few features as are independent.

    Linear, Polynomial, Monomials, Powers, Parabolic, Subsets, Trigonometric, Cosine and constants have finite lifts,
    and so have their sums, products, whole powers, weights, maps and choices of columns. Features that are polynomials
    are simplified as a whole: a kernel m(x)' G m(z) of the monomials m gets the rows of the triangular factor of G.

    Parameters
    ----------
    kernel : Kernel or str, default="linear"
        A kernel, or its text; "median" is found from the data of fit.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel, with its numbers.
    expansion_ : Expansion
        Monomials and coefficients, where all features are polynomials.

    Examples
    --------
    >>> import mercer
    >>> mercer.lift("linear.after([[1, 0, 0], [0, 1, 1]])", 3).get_feature_names_out().tolist()
    ['x1', 'x2 + x3']
    >>> mercer.lift("linear + linear**2", 2).get_feature_names_out().tolist()
    ['x1', 'x2', 'x1^2', 'sqrt(2) x1 x2', 'x2^2']
    """

    def __init__(self, kernel: Kernel | str = "linear") -> None:
        self.kernel = kernel

    def _read(self, X: ArrayLike, reset: bool) -> Any:
        if reset:
            check_numbers(self.kernel)
        return super()._read(X, reset)

    def learn(self, X: Any) -> None:
        kernel = stated(self.kernel, subject="Exact")
        names = getattr(self, "feature_names_in_", None)
        points = Points(X.astype(np.float64, copy=False), None if names is None else tuple(names))
        self.kernel_ = kernel.resolve_points(points)
        try:
            self._part: Part = PartBuilder(points).of(self.kernel_)
        except NotFiniteError as error:
            raise KernelError(f"{error} {_instead(self.kernel_, X.shape[1])}") from error
        if len(self._part) == 0:
            raise KernelError(
                message("a kernel that is not zero everywhere", f"{kernel} is", "Check it.", subject="A lift")
            )

    _saved: ClassVar[Mapping[str, Any]] = {"kernel_": Kernel, "_part": Part}

    def _inconsistency(self) -> str:
        return self._part.inconsistency(self.n_features_in_)

    @property
    def expansion_(self) -> Expansion:
        """Monomials and coefficients."""
        part = getattr(self, "_part", None)
        if not isinstance(part, Polynomials):
            raise AttributeError("expansion_: not fitted, or not all features are polynomials")
        return part.expansion

    def n_features(self) -> int:
        return len(self._part)

    def features(self, X: Any) -> Any:
        return self._part.features(X)

    def feature_names(self, inputs: list[str]) -> list[str]:
        return unique(self._part.names(inputs))


def _instead(kernel: Kernel, d: int) -> str:
    """What can be had where no finite lift can."""
    if isinstance(kernel, Function):
        return "Nystrom(kernel) approximates it; features of one point, g(x), are those of Linear().after(g)."
    if kernel.law(d) is None:
        return "Nystrom(kernel) approximates the kernel by landmarks."
    return "RandomFourier(kernel) approximates the kernel by random waves, Nystrom(kernel) by landmarks."


def exact_lift(kernel: Kernel, points: Points) -> Exact:
    """The exact lift of a kernel for points that were read already."""
    found = Exact(kernel)
    found.n_features_in_ = points.values.shape[1]
    if points.names is not None:
        found.feature_names_in_ = np.asarray(points.names, dtype=object)
    found.learn(points.values[:1])
    return found


@speaks
def lift(
    kernel: Kernel | str | list[str] | tuple[str, ...],
    d: int | ArrayLike,
    *,
    names: Mapping[str, Any] | None = None,
) -> Lift:
    """The exact lift of a kernel, or the lift of some formulas, ready to transform.

    Where a kernel has no finite lift, an error says what can be had instead.

    Parameters
    ----------
    kernel : Kernel, str or list of str
        A kernel, its text, or a formula of two points such as "(1 + x.z)^2"; a lengthscale that a text leaves out is
        found from a table, and is 1.0 without one. Or formulas of the columns, one for each feature, as `Formulas`
        takes them.
    d : int, array or table
        A number of columns, or a table, whose names of columns then name the features.
    names : mapping or None, default=None
        Numbers, vectors and matrices that the text of a kernel uses by name: names={"M": [[2, 1], [1, 2]]} for "x'Mz".

    Returns
    -------
    Lift
        Fitted. Cost: none beyond that of its class.

    Examples
    --------
    >>> from mercer.kernels import Polynomial
    >>> phi = lift(Polynomial(2), 2)
    >>> phi.get_feature_names_out().tolist()
    ['1', 'sqrt(2) x1', 'sqrt(2) x2', 'x1^2', 'sqrt(2) x1 x2', 'x2^2']
    >>> lift("x1*z1 + x2*z2 + x2*z3 + x3*z2 + x3*z3", 3).get_feature_names_out().tolist()
    ['x1', 'x2 + x3']
    >>> phi.transform([[1.0, 2.0]]) @ phi.transform([[3.0, 4.0]]).T
    array([[144.]])
    >>> psi = lift(["x1", "x2", "x1^2 + 2*x2^2"], 2)
    >>> psi.n_features_out_, psi.get_feature_names_out().tolist()
    (3, ['x1', 'x2', 'x1^2 + 2 x2^2'])
    >>> print(lift(["x1", "x2", "x1^2", "sqrt(2)*x1*x2", "x2^2"], 2).kernel)
    linear + linear**2
    """
    known: Any = kernel
    if names and not isinstance(kernel, str):
        raise InputError(message("the text of a kernel, to use names", f"got {kernel!r:.60}", "Leave names out."))
    if names and isinstance(kernel, str):
        known = parse_for(kernel, int(d), names) if isinstance(d, numbers.Integral) else parse(kernel, names, open=True)
    if isinstance(known, list | tuple) or is_texts(known):
        return Formulas(known).fit(_rows(d))
    if not isinstance(d, numbers.Integral):
        return (Counts if stated(known).kinds else Exact)(known).fit(d)
    rows = _rows(d)
    known = parse_for(known, int(d)) if isinstance(known, str) else known  # no data, no median
    return Exact(known).fit(rows)


def _rows(d: int | ArrayLike) -> ArrayLike:
    """A table as it is; a row of so many columns."""
    if not isinstance(d, numbers.Integral):
        return d
    if isinstance(d, bool) or d < 1:
        raise InputError(message("a positive number of columns, or a table", f"got {d!r}", "Use 2, say."))
    return np.ones((1, int(d)))
