"""What `mercer.check` compares: features on the one side, a kernel, a formula or a function on the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from mercer.errors import DomainError, InputError, KernelError, ParseError, message
from mercer.kernels import Kernel
from mercer.kernels.algebra.feature_map import FeatureMap, is_texts
from mercer.kernels.algebra.functions import name_of, real
from mercer.kernels.formulas import Expression, read_kernel
from mercer.kernels.formulas.closed_form import inner_product, polynomials_of
from mercer.kernels.formulas.detect import is_formula
from mercer.kernels.formulas.of_kernel import meant, polynomial_of
from mercer.kernels.formulas.polynomials import MAX_TERMS, Polynomial
from mercer.kernels.formulas.surds import TooLargeError
from mercer.kernels.formulas.tree import ONLY, columns_in
from mercer.kernels.pairs import Pairs
from mercer.kernels.points import Points
from mercer.kernels.precision.mpmath_arrays import precisely
from mercer.kernels.precision.pairs import PrecisePairs
from mercer.kernels.text import known_names, numbers_among, parse
from mercer.lifts.base import Lift
from mercer.lifts.composition import kernel_of as stated_kernel
from mercer.lifts.expansion import Expansion
from mercer.lifts.formulas import Formulas

Values = NDArray[np.float64]


class Side(ABC):
    """A function of two points."""

    name: str
    least_width: int = 0
    """The least number of columns that it names; 0 where it is of any number."""

    @abstractmethod
    def values(self, X: Values) -> Values:
        """The values at all pairs of rows, rounded from 50 digits where they can be had; NaN where there is none."""

    def polynomial(self, d: int) -> Polynomial | None:
        """The exact polynomial in d columns; None where it is none, or too long a one."""
        return None

    def check_width(self, d: int) -> None:
        """Refuse a number of columns that does not fit."""
        if d < self.least_width:
            needs = f"at least {self.least_width} columns for {self.name:.60}"
            raise InputError(message(needs, f"got d = {d}", "Leave d out, or give more."))

    def defined(self, row: Values) -> bool:
        """Whether it is defined at a point."""
        try:
            return bool(np.isfinite(self.values(row[None, :])).all())
        except DomainError:
            return False


# -- features --------------------------------------------------------------------------------------------------------


class Features(Side):
    """phi(x).phi(z)."""

    name = "phi(x).phi(z)"

    @abstractmethod
    def table(self, X: Values) -> NDArray[Any]:
        """A row of features for each row, of floats or of numbers of 50 digits."""

    def values(self, X: Values) -> Values:
        table = self.table(X)
        return np.asarray(table @ table.T, dtype=np.float64)

    def sizes(self, X: Values) -> Values:
        """The sum of the sizes of what is added up, for all pairs."""
        table = np.abs(np.asarray(self.table(X), dtype=np.float64))
        return np.asarray(table @ table.T)


class OfFormulas(Features):
    """Features by formulas."""

    def __init__(self, phi: FeatureMap) -> None:
        self.phi = phi
        self.least_width = max(map(_named, phi.formulas))

    def check_width(self, d: int) -> None:
        for formula in self.phi.formulas:
            formula.check_width(d)

    def table(self, X: Values) -> NDArray[Any]:
        return self.phi.transform(precisely(X))

    def defined(self, row: Values) -> bool:
        try:
            self.phi.transform(row[None, :])
        except DomainError:
            return False
        return True

    def polynomial(self, d: int) -> Polynomial | None:
        features = polynomials_of(self.phi, d)
        return None if features is None else inner_product(features, d)


class OfLift(Features):
    """Features of a fitted lift."""

    def __init__(self, lift: Lift) -> None:
        self.lift = lift
        self.least_width = int(lift.n_features_in_)

    def check_width(self, d: int) -> None:
        if d != self.least_width:
            raise InputError(message(f"d = {self.least_width}, as the lift was fitted", f"got {d}", "Leave d out."))

    def table(self, X: Values) -> NDArray[Any]:
        found = self.lift.features(np.ascontiguousarray(X))
        return np.asarray(found.toarray() if hasattr(found, "toarray") else found)

    def polynomial(self, d: int) -> Polynomial | None:
        if self.lift.exact and type(self.lift).__module__.startswith("mercer.lifts."):  # no number is rounded there
            return polynomial_of(stated_kernel(self.lift), d)
        expansion = getattr(self.lift, "expansion_", None)
        if not isinstance(expansion, Expansion) or expansion.size > MAX_TERMS:
            return None
        try:
            return inner_product(_polynomials(expansion), d)
        except (TooLargeError, OverflowError):
            return None


class OfFunction(Features):
    """Features by a function of all rows."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def table(self, X: Values) -> NDArray[Any]:
        found = real("check", name_of(self.function), self.function(X.copy())).astype(np.float64)
        found = found[:, None] if found.ndim == 1 else found
        if found.ndim != 2 or len(found) != len(X):
            got = f"{name_of(self.function)} gave an array of shape {found.shape} for {len(X)} rows"
            raise InputError(message("a row of features for each row", got, "It gets all rows at once."))
        return found


def features_of(phi: Any, d: int) -> Features:
    """Features as they were given; d is the number of columns on which a lift is fitted, 0 where it is not known."""
    if is_texts(phi) or isinstance(phi, str):
        return OfFormulas(FeatureMap.read(phi))
    if isinstance(phi, Formulas) and hasattr(phi, "n_features_in_"):
        return OfFormulas(phi._map.by_position)
    if isinstance(phi, Formulas):
        return OfFormulas(FeatureMap.read(phi.formulas))
    if isinstance(phi, Lift):
        return OfLift(phi if hasattr(phi, "n_features_in_") else clone(phi).fit(np.ones((1, d or 2))))
    if callable(phi) and not isinstance(phi, Kernel | type):
        return OfFunction(phi)
    needs, remedy = "features for phi: formulas, a lift or a function of rows", 'Write phi=["x1", "x2"], say.'
    raise InputError(message(needs, f"got {phi!r:.60}", remedy))


def _polynomials(expansion: Expansion) -> list[Polynomial]:
    """The features of an expansion, their numbers as `meant` takes them."""
    monomials = [
        tuple(((0, column), row.count(column)) for column in sorted(set(row) - {-1}))
        for row in expansion.factors.tolist()
    ]
    C = expansion.coefficients
    spans = [slice(C.indptr[i], C.indptr[i + 1]) for i in range(C.shape[0])]
    return [
        {
            monomials[m]: meant(number)
            for m, number in zip(C.indices[span], C.data[span].tolist(), strict=True)
            if number
        }
        for span in spans
    ]


# -- kernels ---------------------------------------------------------------------------------------------------------


class OfKernel(Side):
    """A kernel; open lengthscales are 1."""

    def __init__(self, kernel: Kernel, name: str = "") -> None:
        self.kernel, self.name = kernel.closed(1.0), name or str(kernel)
        named = [column + 1 for column in kernel.needed or () if isinstance(column, int)]
        phi = getattr(kernel, "formulas", None)
        self.least_width = max([kernel.width or 0, 0 if phi is None else phi.least_width, *named])

    def check_width(self, d: int) -> None:
        super().check_width(d)
        if self.kernel.width not in (None, d):
            needs = f"d = {self.kernel.width} for {self.name:.60}"
            raise InputError(message(needs, f"got {d}", "Give phi and the kernel of equally many columns."))

    def values(self, X: Values) -> Values:
        exact = Points(precisely(X))
        with np.errstate(all="ignore"):
            try:
                found = self.kernel.evaluate(PrecisePairs(exact, exact))
            except (TypeError, AttributeError):  # a user's function that insists on floats
                found = self.kernel.evaluate(Pairs(Points(X), Points(X)))
        return np.asarray(found, dtype=np.float64)

    def defined(self, row: Values) -> bool:
        return self.kernel.domain.first_misfit(row[None, :]) is None and super().defined(row)

    def polynomial(self, d: int) -> Polynomial | None:
        return polynomial_of(self.kernel, d)


class OfExpression(Side):
    """A formula of two points."""

    def __init__(self, formula: Expression, name: str) -> None:
        self.formula, self.name = formula, name
        self.least_width = _named(formula)

    def check_width(self, d: int) -> None:
        self.formula.check_width(d)

    def values(self, X: Values) -> Values:
        exact = precisely(X)
        return np.asarray(self.formula.pairs(exact, exact), dtype=np.float64)

    def defined(self, row: Values) -> bool:
        return bool(np.isfinite(self.formula.pairs(row[None, :], row[None, :])).all())

    def polynomial(self, d: int) -> Polynomial | None:
        return self.formula.polynomial(d)


class OfPairs(Side):
    """A Python function of two points, or of two tables."""

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function, self.name = function, f"{name_of(function)}(x, z)"

    def values(self, X: Values) -> Values:
        found = np.array([[self._one(x, z) for z in X] for x in X])
        return found.astype(np.float64)

    def _one(self, x: Values, z: Values) -> float:
        value = real("check", name_of(self.function), self.function(x.copy(), z.copy()))
        if value.size != 1:
            got = f"{name_of(self.function)} gave an array of shape {value.shape}"
            raise InputError(message("one number for two points", got, "Return a float."))
        return float(value.item())


def kernel_of(given: Any, names: Mapping[str, Any] | None = None) -> Side:
    """A kernel, a text or a function as it was given; what is no text of a kernel is read as a formula."""
    if isinstance(given, Kernel):
        return OfKernel(given)
    if isinstance(given, str):
        try:
            return OfKernel(parse(given, names), given.strip())
        except ParseError:
            if not is_formula(given, known_names().keys()):
                raise
            return OfExpression(read_kernel(given, numbers_among(names)), given.strip())
    if callable(given) and not isinstance(given, type):
        return OfPairs(given)
    needs, remedy = "a kernel, its text, a formula or a function of two points", 'Write kernel="linear", say.'
    raise KernelError(message(needs, f"got {given!r:.60}", remedy))


def _named(formula: Expression) -> int:
    """The least number of columns that a formula names; 0 where it is of any number."""
    named = columns_in(formula.root)
    is_of_columns = formula.exact_width is not None or ONLY in named or any(isinstance(c, str) or c >= 0 for c in named)
    return formula.least_width if is_of_columns else 0
