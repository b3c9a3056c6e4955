"""k(x, z) = f(x, z), for a Python function of two points, or of two tables."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.sparse import is_sparse
from mercer.errors import DomainError, InputError, KernelError, NumericalWarning, caller_level, message
from mercer.kernels.algebra.functions import name_of, real
from mercer.kernels.algebra.single import refuse_kernel
from mercer.kernels.base import ATOM, Kernel
from mercer.kernels.domain import REALS, Domain
from mercer.kernels.objects.domains import KINDS
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Column, Points

MISUSED = (TypeError, ValueError, IndexError, KeyError, AttributeError, AssertionError)
"""What a function of points raises where it gets tables, and the other way round."""
MAX_ASYMMETRY = 1e-9
"""A gap between f(x, z) and f(z, x) above this part of the largest value is no rounding, of float32 neither."""
MAX_ROUNDING = 1e-6
"""How far the values of a table may be from those of its rows, in parts of the largest: products may be in float32."""
DIAGONAL_ROWS = 32
"""Rows in a table whose diagonal is taken from its square."""


def check_callable(owner: str, name: str, value: Any) -> Any:
    """Something that can be called with two points; its method where it has no hash, as a kernel needs one."""
    refuse_kernel(owner, "a function of two points, or of two tables", value)
    if not callable(value) or isinstance(value, type):
        needs, remedy = "a function of two points, or of two tables", "Give lambda x, z: (1 + x @ z)**2, say."
        raise KernelError(message(needs, f"got {value!r}", remedy, subject=owner))
    return value if isinstance(value, Hashable) else value.__call__


def check_kind(owner: str, name: str, value: Any) -> Any:
    """The name of a kind of structured data, or None."""
    if value is None or (isinstance(value, str) and value in KINDS):
        return value
    raise KernelError(
        message(f"{', '.join(map(repr, KINDS))} or None for {name}", f"got {value!r}", "Use None.", subject=owner)
    )


@dataclass(frozen=True)
class Form:
    """What was found out about a function.

    of : whether it takes two points, or two tables
    symmetric : whether f(x, z) = f(z, x), so that one of both suffices
    """

    function: Callable[[Any, Any], Any]
    of: Literal["points", "tables"]
    symmetric: bool


class Function(Kernel):
    """A Python function as a kernel; learners and lifts make it of a function given as kernel=.

    `k(x, z) = f(x, z)`

    The function takes two points, k(x, z), and gives a number; or two tables, k(A, B), and gives the matrix of all
    pairs of rows. Which it is, is found on a few of the first rows. Of a function that is not symmetric,
    (k(x, z) + k(z, x)) / 2 is used, with a warning. A function can be refuted or left unknown, never proven; it is not
    saved in model files. Cost: a call of Python for each pair, or for each block of about 262,000 pairs.

    Parameters
    ----------
    function : callable
        Takes arrays of d numbers, or of shape (n, d) and (m, d); sparse tables are passed as they are. Values must be
        real and finite, which is checked at each evaluation. Functions are equal by identity.
    kind : {"strings", "graphs", "categories"} or None, default=None
        What the points are: a function of points then takes the objects themselves, and where a table has several
        columns a tuple, the row. None for numbers.

    Examples
    --------
    >>> from mercer.kernels import Function, Linear
    >>> k = Function(lambda x, z: (1 + x @ z) ** 2)
    >>> k([[1.0, 2.0], [0.0, 1.0]])
    array([[36.,  9.],
           [ 9.,  4.]])
    >>> (Function(lambda A, B: A @ B.T) + Linear())([[1.0, 2.0]], [[3.0, 4.0]])
    array([[22.]])
    >>> Function(lambda x, z: float(x[0] == z[0]), "strings")(["ape", "ant", "bee"])
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """

    formula = "f(x, z)"
    of_numbers = False

    function: Callable[[Any, Any], Any] = field(metadata={"check": check_callable})
    kind: str | None = field(default=None, metadata={"check": check_kind})

    def evaluate(self, pairs: Pairs) -> Block:
        return pairs.compared(("function", self.function), self._values)

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        rows = points.values.shape[0]
        if self._form(points, points).of == "points":
            return np.array([self._one(x, x) for x in _cells(points)])
        starts = range(0, rows, DIAGONAL_ROWS)
        tables = [points.values[start : start + DIAGONAL_ROWS] for start in starts]
        return np.concatenate([self._table(table, table).diagonal() for table in tables])

    @property
    def domain(self) -> Domain:
        return REALS if self.kind is None else KINDS[self.kind]

    @property
    def kinds(self) -> dict[Column | None, str]:
        return {} if self.kind is None else {None: self.kind}

    def objection(self) -> str:
        return "a Python function can be refuted or left unknown: no sampling proves that it is a kernel"

    def write(self, python: bool) -> tuple[str, int]:
        arguments = name_of(self.function) + ("" if self.kind is None else f", kind={self.kind!r}")
        return f"{type(self).__name__ if python else self.name}({arguments})", ATOM

    def latex(self, x: str = "x", z: str = "z") -> str:
        name = name_of(self.function).replace("_", r"\_")
        return rf"\mathrm{{{name}}}({x}, {z})"

    # -- values -------------------------------------------------------------------------------------------------

    def _values(self, left: Points, right: Points) -> Block:
        form = self._form(left, right)
        if form.symmetric:
            return self._block(form, left, right)
        return np.asarray((self._block(form, left, right) + self._block(form, right, left).T) / 2)

    def _block(self, form: Form, left: Points, right: Points) -> Block:
        if form.of == "tables":
            return self._table(left.values, right.values)
        there = _cells(right)
        return np.array([[self._one(x, z) for z in there] for x in _cells(left)])

    def _one(self, x: Any, z: Any) -> Any:
        """One value."""
        value = real("Function", name_of(self.function), self.function(x, z))
        if value.size != 1:
            got = f"{name_of(self.function)} gave an array of shape {value.shape}"
            raise InputError(message("one number for two points", got, "Return a float.", subject="Function"))
        return value.item()

    def _table(self, A: Any, B: Any) -> NDArray[Any]:
        """The matrix of two tables."""
        given = self.function(A, B)
        values = real("Function", name_of(self.function), given.toarray() if is_sparse(given) else given)
        shape = (A.shape[0], B.shape[0])
        if values.shape != shape:
            got = f"{name_of(self.function)} gave an array of shape {values.shape}"
            raise InputError(
                message(f"a matrix of shape {shape} for two tables", got, "Return all pairs.", subject="Function")
            )
        if A.dtype == object and values.dtype != object:  # a proof must not take 16 digits for 50
            raise TypeError(f"{name_of(self.function)} gave {values.dtype} for numbers of 50 digits")
        return values if values.dtype == object else values.astype(np.float64, copy=False)

    # -- of points, or of tables ----------------------------------------------------------------------------------

    def _form(self, left: Points, right: Points) -> Form:
        """What the function takes, found the first time."""
        known: Form | None = self.__dict__.get("_known")
        if known is None or known.function is not self.function:
            known = self._found(left, right)
            object.__setattr__(self, "_known", known)
        return known

    def _found(self, left: Points, right: Points) -> Form:
        """A function of tables gives the same for tables of one row; one of points gives a number.

        Of m + 1 and m rows, with m other than d, nothing fits by chance: neither a broadcast nor a product.
        """
        m = 3 if left.values.shape[1] == 2 else 2
        A, B = (_repeated(points, size) for points, size in ((left, m + 1), (right, m)))
        if left.first_object is None:
            K = self._tried(A.values, B.values)
            if K is not None and K.shape == (m + 1, m) and self._by_rows(K, A.values, B.values):
                apart = np.abs(K - self._table(B.values, A.values).T).max()
                return self._noted("tables", float(apart), float(np.abs(K).max()))
            if left.sparse:
                needs, remedy = "a function of two tables for sparse rows", "Use X.toarray()."
                raise InputError(message(needs, f"{name_of(self.function)} takes none", remedy, subject="Function"))
        pairs = [(x, z) for x in _cells(A) for z in _cells(B)]
        try:
            found = np.array([[self._one(x, z), self._one(z, x)] for x, z in pairs], dtype=np.float64)
        except MISUSED as error:
            if isinstance(error, DomainError):  # it was called as it should be
                raise
            error.add_note(
                f"{name_of(self.function)}(A, B) of tables with {m + 1} and {m} rows does not give their {m + 1} x {m} "
                f"values either. A kernel takes two points and gives a number, or two tables and gives a matrix."
            )
            raise
        return self._noted("points", float(np.abs(found[:, 0] - found[:, 1]).max()), float(np.abs(found).max()))

    def _tried(self, A: Any, B: Any) -> NDArray[Any] | None:
        """What the function gives for two tables, as numbers; None where it takes none."""
        with np.errstate(all="ignore"):
            try:
                given = self.function(A, B)
                return np.asarray(given.toarray() if is_sparse(given) else given, dtype=np.float64)
            except MISUSED:
                return None

    def _by_rows(self, K: NDArray[Any], A: Any, B: Any) -> bool:
        """Whether tables of one row give the entries of the matrix."""
        each = np.empty(K.shape)
        for i, j in np.ndindex(K.shape):
            value = self._tried(A[i : i + 1], B[j : j + 1])
            if value is None or value.shape != (1, 1):
                return False
            each[i, j] = value.item()
        apart = np.abs(each - K).max()
        # What is not finite is refused later, in words.
        return bool(apart <= MAX_ROUNDING * np.abs(K).max()) or not np.isfinite(K).all()

    def _noted(self, of: Literal["points", "tables"], apart: float, largest: float) -> Form:
        symmetric = not apart > MAX_ASYMMETRY * largest
        if not symmetric:
            warnings.warn(
                f"{self} is not symmetric: k(x, z) and k(z, x) differ by {apart:.2g} on the first rows. "
                "(k(x, z) + k(z, x)) / 2 is used.",
                NumericalWarning,
                stacklevel=caller_level(),
            )
        return Form(self.function, of, symmetric)


def _repeated(points: Points, size: int) -> Points:
    """The first rows, from the start again where there are too few."""
    return points.rows(np.arange(size, dtype=np.intp) % points.values.shape[0])


def _cells(points: Points) -> list[Any]:
    """The points one by one, as a function of points gets them."""
    if points.first_object is None:
        return list(points.values)
    rows = list(points.cells())
    return [row[0] for row in rows] if points.shape[1] == 1 else rows


def kernel_from(given: Any) -> Any:
    """A Python function as a kernel; all else as it is.

    >>> print(kernel_from(max), kernel_from("rbf"))
    function(max) rbf
    """
    return Function(given) if callable(given) and not isinstance(given, Kernel | type) else given
