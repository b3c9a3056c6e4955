"""The formula as users and other parts of Mercer hold it: a frozen tree that evaluates, prints and expands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import InputError, KernelError, message
from mercer.kernels.algebra.functions import Formula, real
from mercer.kernels.algebra.named_functions import NAMED
from mercer.kernels.domain import Domain
from mercer.kernels.formulas.build import absolute, multiply, power
from mercer.kernels.formulas.evaluation import is_assumed, values_of_pairs, values_of_rows
from mercer.kernels.formulas.polynomials import NotPolynomialError, Polynomial, expanded
from mercer.kernels.formulas.reading import Read, read_tree
from mercer.kernels.formulas.surds import TooLargeError
from mercer.kernels.formulas.tree import (
    ONLY,
    RUN,
    Call,
    Column,
    Dot,
    Node,
    Norm,
    Number,
    Over,
    Power,
    columns_in,
    points_in,
    rebuilt,
)
from mercer.kernels.formulas.writing import Writer

MAX_FEATURES = 10_000
"""Formulas of a list."""
TRIED = (0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0)
"""Coordinates of points at which a formula may be undefined."""


@dataclass(frozen=True)
class Expression(Formula):
    """A formula of one point (a feature), or of two (a kernel, or what may be one).

    Parameters
    ----------
    root : Node
        The tree.
    points : int, default=2
        1 or 2.
    columns : tuple of str, default=()
        The names of the columns, where formulas of one point use them.
    assumed : tuple of str, default=()
        Letters of scale without a value, which were taken as 1.
    exact_width : int or None, default=None
        The number of columns that a matrix insists on.

    Examples
    --------
    >>> from mercer.kernels.formulas import read_features, read_kernel
    >>> feature, = read_features(["sqrt(2)*x1*x2"])
    >>> print(feature, feature.values([[1.0, 3.0]]).round(3), feature.polynomial(2))
    sqrt(2) x1 x2 [4.243] {(((0, 0), 1), ((0, 1), 1)): sqrt(2)}
    >>> print(read_kernel("(1 + x_1 x_1')**2"), read_kernel("x.z").pairs([[1.0, 2.0]], [[3.0, 4.0]]))
    (1 + x1 z1)^2 [[11.]]
    """

    root: Node
    points: int = 2
    columns: tuple[str, ...] = ()
    assumed: tuple[str, ...] = field(default=(), compare=False)
    exact_width: int | None = None

    def __str__(self) -> str:
        return Writer().text(self.root)

    def latex(self, x: str = "x", z: str = "z") -> str:
        """The formula in LaTeX, with these names of the points."""
        return Writer(latex=True, points=(x, z)).text(self.root)

    def text(self, columns: Sequence[str]) -> str:
        """The text with names for the columns, in place of x1, x2, ...

        >>> from mercer.kernels.formulas import read_features
        >>> read_features(["x1^2 + 2*x2^2"])[0].text(["a", "b"])
        'a^2 + 2 b^2'
        """
        settled = settled_on(self.root, len(columns)) if len(columns) == 1 else self.root
        return Writer(columns=columns).text(settled)

    def __call__(self, X: ArrayLike) -> NDArray[Any]:
        """The values of a formula of one point: it is a function of rows."""
        return self.values(X)

    def gap(self, domain: Domain, d: int | None) -> str | None:
        """A point of the domain, as a text, at which a formula of one point is no real number; None where none is seen.

        >>> from mercer.kernels import REALS
        >>> read_feature("log(1 + x)").gap(REALS, None), read_feature("cos(x)").gap(REALS, None)
        ('(-1)', None)
        """
        if is_assumed(self.root):
            return None
        rows = np.tile(np.reshape(TRIED, (-1, 1)), (1, d or self.width or self.least_width))
        rows = np.concatenate([rows, rows * (-1.0) ** np.arange(rows.shape[1])])
        rows = rows[~domain.misfits(rows).any(axis=1)]
        with np.errstate(all="ignore"):
            bad = rows[~np.isfinite(values_of_rows(self.root, rows, self.columns))]
        return f"({', '.join(f'{value:g}' for value in bad[0])})" if len(bad) else None

    @cached_property
    def least_width(self) -> int:
        """The least number of columns that the data must have."""
        named = columns_in(self.root)
        places = [self.columns.index(c) if isinstance(c, str) else c for c in named]
        return max([1, self.exact_width or 1, *(place + 1 for place in places)])

    @cached_property
    def width(self) -> int | None:
        """The number of columns that the data must have; None where any from `least_width` on will do."""
        return self.exact_width or (1 if ONLY in columns_in(self.root) else None)

    def check_width(self, d: int) -> None:
        """Refuse a number of columns that does not fit."""
        if (self.width not in (None, d)) or d < self.least_width:
            needs = f"{self.width}" if self.width is not None else f"at least {self.least_width}"
            columns = f"{needs} column{'s' * (needs != '1')} for {self!s:.60}"
            remedy = "Check the columns: x1 is the first."
            if ONLY in columns_in(self.root):
                remedy = "Write x1, x2, ... for the columns, |x| for the length, or x.z for the inner product."
            raise InputError(message(columns, f"the data has {d}", remedy, subject="A formula"))

    def values(self, X: ArrayLike) -> NDArray[Any]:
        """One number per row, of a formula of one point; an error names the formula where one is not finite.

        Parameters
        ----------
        X : array of shape (n, d)
            Numbers; numbers of 50 digits come back as such.

        Returns
        -------
        array of shape (n,)
        """
        rows = np.asarray(X)
        rows = rows if rows.dtype == object else rows.astype(np.float64, copy=False)
        self.check_width(rows.shape[1])
        with np.errstate(all="ignore"):
            found = values_of_rows(self.root, rows, self.columns)
        return real("A formula", str(self), found)

    def pairs(self, X: ArrayLike, Z: ArrayLike) -> NDArray[Any]:
        """One number for each pair of rows, of a formula of two points; NaN where it is not defined.

        Parameters
        ----------
        X, Z : array of shape (n, d) and (m, d)
            The rows.

        Returns
        -------
        array of shape (n, m)
        """
        left, right = (np.asarray(each) for each in (X, Z))
        if left.dtype != object:
            left, right = left.astype(np.float64, copy=False), right.astype(np.float64, copy=False)
        self.check_width(left.shape[1])
        with np.errstate(all="ignore"):
            return values_of_pairs(self.root, left, right)

    def polynomial(self, d: int) -> Polynomial | None:
        """The exact polynomial in d columns: coefficients by monomials; None where it is none, or too long a one."""
        try:
            return expanded(self.root, d, self.columns)
        except (NotPolynomialError, TooLargeError, ZeroDivisionError):
            return None

    @property
    def named_numbers(self) -> tuple[str, ...]:
        """The numbers that it only names, which stand for any of at least 0."""
        return tuple(sorted(_named_numbers(self.root)))

    @property
    def by_position(self) -> Expression:
        """The same formula with x1, x2, ... in place of names of columns."""
        return Expression(_placed(self.root, self.columns), self.points, (), self.assumed, self.exact_width)

    @property
    def sides(self) -> frozenset[int]:
        """Which points it looks at."""
        return points_in(self.root)


def read_kernel(
    text: str, names: Mapping[str, Any] | None = None, *, scales: bool = True, assumed: bool = False
) -> Expression:
    """Read a formula of two points, such as "(1 + x.x')^2".

    Parameters
    ----------
    text : str
        The formula.
    names : mapping or None, default=None
        Numbers, vectors and matrices that it uses by name.
    scales : bool, default=True
        Whether s, sigma, l, ell, lambda, gamma and tau are 1 where `names` has no value for them.
    assumed : bool, default=False
        Whether functions of the points may only be named, as in f(x) k(x, z) f(z); they have no values.

    Returns
    -------
    Expression

    Examples
    --------
    >>> print(read_kernel("x'Mz", {"M": [[2, 1], [1, 2]]}))
    (2 x1 + x2) z1 + (x1 + 2 x2) z2
    """
    (found,) = read_tree(_text(text), 2, dict(names or {}), scales=scales, assumed=assumed)
    return Expression(found.root, 2, (), found.assumed, found.width)


def read_features(
    texts: str | Sequence[str], columns: Sequence[str] = (), names: Mapping[str, Any] | None = None
) -> tuple[Expression, ...]:
    """Read features: formulas of one point, such as ["x1", "x2", "x1^2 + 2*x2^2"].

    Parameters
    ----------
    texts : str or sequence of str
        A formula each; one text may be a list, "[x1, x2, x1 x2]".
    columns : sequence of str, default=()
        Names of columns that the formulas may use, beside x1, x2, ...
    names : mapping or None, default=None
        Numbers, vectors and matrices that they use by name.

    Returns
    -------
    tuple of Expression

    Examples
    --------
    >>> [str(each) for each in read_features("[x_1, x_2, sqrt(2) x_1x_2]")]
    ['x1', 'x2', 'sqrt(2) x1 x2']
    >>> [str(each) for each in read_features(["age^2", "log1p(income)"], columns=["age", "income"])]
    ['age^2', 'log1p(income)']
    """
    listed = [texts] if isinstance(texts, str) else list(texts)
    if not 1 <= len(listed) <= MAX_FEATURES:
        raise KernelError(f"Features need 1 to {MAX_FEATURES:,} formulas; got {len(listed)}. Give a list of texts.")
    found: list[Read] = []
    for text in listed:
        found += read_tree(_text(text), 1, dict(names or {}), columns)
    return tuple(Expression(each.root, 1, tuple(columns), (), each.width) for each in found)


def read_feature(text: str) -> Expression:
    """Read one feature.

    >>> print(read_feature("exp(x)"))
    exp(x)
    """
    found = read_features(text)
    if len(found) != 1:
        raise KernelError(f"Here one formula is needed; got {len(found)} in {text!r:.60}. Give 'x1^2 + x2', say.")
    return found[0]


def function_of_rows(text: str) -> Any:
    """The function of rows that a formula is: exp(x) is the named function exp, NumPy's.

    >>> function_of_rows("exp(x)"), str(function_of_rows("exp(x) + 1"))
    (<ufunc 'exp'>, 'exp(x) + 1')
    """
    found = read_feature(text)
    match found.root:
        case Call(name, (Column(0, column),)) if column == ONLY and name in NAMED:
            return NAMED[name].function
    return found


def _text(text: Any) -> str:
    if not isinstance(text, str):
        raise KernelError(f"A formula is a text; got {text!r:.60}. Write 'x1^2 + x2', say.")
    return text


def settled_on(node: Node, d: int) -> Node:
    """The formula on rows of one column, without sums over columns; on more, as it is."""
    if d != 1:
        return node
    if isinstance(node, Column):
        return Column(node.point, 0) if node.column in (RUN, ONLY) else node
    if isinstance(node, Dot):
        return multiply((settled_on(node.left, 1), settled_on(node.right, 1)))
    if isinstance(node, Over):
        return settled_on(node.of, 1)
    if isinstance(node, Power) and isinstance(node.base, Norm) and _is_even(node.exponent):
        return power(settled_on(node.base.of, 1), node.exponent)
    if isinstance(node, Norm):
        return absolute(settled_on(node.of, 1))
    return rebuilt(node, tuple(settled_on(child, 1) for child in node.children))


def _placed(node: Node, columns: Sequence[str]) -> Node:
    if isinstance(node, Column):
        return Column(node.point, columns.index(node.column)) if isinstance(node.column, str) else node
    return rebuilt(node, tuple(_placed(child, columns) for child in node.children))


def _named_numbers(node: Node) -> frozenset[str]:
    own = {node.name} if isinstance(node, Call) and not node.arguments else set()
    return frozenset(own).union(*map(_named_numbers, node.children))


def _is_even(node: Node) -> bool:
    return isinstance(node, Number) and node.value % 2 == 0
