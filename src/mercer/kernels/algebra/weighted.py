"""f(x) k(x, z) f(z)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, KernelError, message, number_of
from mercer.kernels.algebra.functions import Formula, name_of, of_each, real, written
from mercer.kernels.algebra.named_functions import NAMED, function_of, named, weights_of
from mercer.kernels.algebra.single import Single, refuse_kernel
from mercer.kernels.base import Kernel
from mercer.kernels.constant import Constant
from mercer.kernels.domain import Domain, meet
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.latex import parens
from mercer.kernels.lift_builder import Features, LiftBuilder
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Column, Points, refuse_sparse
from mercer.kernels.proof.judgement import Judgement, Situation

WORD = re.compile(r"[A-Za-z_]{2,}")
"""What is meant as a name, not as a formula: those have columns, x or x1."""


def check_function(owner: str, name: str, value: Any) -> Any:
    """Something that can be called with rows; a text is the name of a function, or a formula of the columns."""
    needs = "a function of rows, the name of one, or a formula"
    refuse_kernel(owner, needs, value)
    if isinstance(value, str) and value not in NAMED and not WORD.fullmatch(value):
        from mercer.kernels.formulas.expression import function_of_rows  # no other kernel needs the reader

        value = function_of_rows(value)
    found = function_of(owner, needs, value)
    if not callable(found):
        raise KernelError(message(needs, f"got {value!r}", "Give a function.", subject=owner))
    return found


class Weighted(Single):
    """A kernel weighted on both sides, written k.weighted(f); its lift is f(x) phi(x).

    `k(x, z) = f(x) k(x, z) f(z)`

    Parameters
    ----------
    kernel : Kernel
        The kernel inside.
    function : callable or str
        A named function ("abs", "cos", "exp", "log1p", "sin", "sqrt", "tanh") takes rows of one number; "exp", `np.exp`
        and `math.exp` are one function. A formula such as "x1^2 + x2" takes the columns that it names. Texts and model
        files hold both. Of any other: of rows of numbers, it takes all of them (n, d) and returns n real numbers. Of
        strings, graphs or labels, it takes one as the kernel reads it (a str, bytes or tuple of tokens; a `Graph`; the
        label's text, None where it is missing), and returns a real number; where a table has several columns, it takes
        a tuple, the row. The result is checked at each evaluation. Functions are equal by identity, formulas by what
        they say.

    Examples
    --------
    >>> from mercer.kernels import Constant
    >>> Constant(1.0).weighted("exp")([[1.0]], [[2.0]]).round(4)  # exp(x + z)
    array([[20.0855]])
    >>> print(Constant(1.0).weighted("x1 + 2 x2"))
    constant(variance=1.0).weighted('x1 + 2 x2')
    >>> from mercer.kernels import Spectrum
    >>> Spectrum(1).weighted(lambda text: 1 / len(text))(["aaaa", "b"])
    array([[1., 0.],
           [0., 1.]])
    """

    formula = "f(x) k(x, z) f(z)"

    kernel: Kernel
    function: Callable[[NDArray[Any]], NDArray[Any]] = field(metadata={"check": check_function})

    def evaluate(self, pairs: Pairs) -> Block:
        left, right = self.weights(pairs.left), self.weights(pairs.right)
        block: Block = left[:, None] * self.kernel.evaluate(pairs) * right[None, :]
        return block

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        weights = self.weights(points)
        return np.asarray(weights * self.kernel.evaluate_diagonal(points) * weights)

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        gap = self.kernel.evaluate_gap(pairs)
        return None if gap is None else FeatureGap.feature(*pairs.of_rows(self.weights)) * gap

    def inner_points(self, points: Points) -> Points:
        refuse_sparse(points, subject="weighted")
        return points

    def weights(self, points: Points) -> NDArray[Any]:
        """f of each row, checked: one real, finite number per row.

        Parameters
        ----------
        points : Points
            The rows.

        Returns
        -------
        array of shape (n,)
        """
        refuse_sparse(points, subject="weighted")
        if named(self.function):
            return weights_of(self.function, points)  # type: ignore[arg-type]
        if points.first_object is not None:
            return of_each("weighted", self.function, points, self._known(points))
        values = real("weighted", name_of(self.function), self.function(points.values))
        rows = len(points.values)
        if values.shape not in ((rows,), (rows, 1)):
            got = f"{name_of(self.function)} gave an array of shape {values.shape} for {number_of(rows, 'row')}"
            raise InputError(message("one number per row", got, "Return f(X) of shape (n,).", subject="weighted"))
        return values.reshape(rows)

    def _known(self, points: Points) -> dict[int, float]:
        """What was found of the objects of the only column: it is kept with their store."""
        store = points.stores[0]
        return {} if store is None else store.beside(store, self, lambda _: {})

    @property
    def domain(self) -> Domain:
        known = named(self.function)
        return meet(self.kernel.domain, known.domain) if known else self.kernel.domain

    @property
    def width(self) -> int | None:
        own = self.function.width if isinstance(self.function, Formula) else None
        return 1 if named(self.function) else own or self.kernel.width

    def judge(self, situation: Situation) -> Judgement:
        known, name = named(self.function), name_of(self.function)
        if isinstance(self.function, Formula) and not _fits(self.function, situation.d):
            return Judgement(f"{self}: {name} does not take rows of {situation.d} columns", proven=False)
        where = self.function.gap(situation.domain, situation.d) if isinstance(self.function, Formula) else None
        if where is not None:
            reason = f"it is one wherever {name} is real, and on {situation.domain} it is not, at x = {where}"
            return Judgement(f"{self}: {reason}", proven=False)
        if known and situation.d not in (None, 1):
            return Judgement(f"{self}: {name} takes rows of one column, not of {situation.d}", proven=False)
        if known and not situation.domain.within(known.domain):
            outside = f"{name} is not real everywhere on {situation.domain} (it is on {known.domain})"
            return Judgement(f"{self}: {outside}", proven=False)
        return super().judge(situation)

    @property
    def needed(self) -> frozenset[Column] | None:
        return None

    @property
    def radial(self) -> bool:
        return False

    @property
    def divisible(self) -> bool:
        return False

    def finite_lift(self, build: LiftBuilder[Features]) -> Features:
        return build.weighted(self)

    def rule(self) -> str:
        name = name_of(self.function)
        checked = f"{name} real-valued on the domain: checked at each evaluation"
        held = f"{name} is one" if named(self.function) else checked
        return (
            "f(x) k(x, z) f(z) is a kernel for every real function f, with the lift f(x) phi(x) (rule of the weight; "
            f"{held})"
        )

    def write(self, python: bool) -> tuple[str, int]:
        return self.write_postfix(python, "weighted", written(self.function, python))

    def latex(self, x: str = "x", z: str = "z") -> str:
        if isinstance(self.function, Formula):
            inside = "" if self.kernel == Constant() else rf" \, {parens(self.kernel.latex(x, z))}"
            return rf"{parens(self.function.latex(x))}{inside} \, {parens(self.function.latex(z))}"
        f = rf"\mathrm{{{name_of(self.function)}}}"
        return rf"{f}({x}) \, {parens(self.kernel.latex(x, z))} \, {f}({z})"


def _fits(formula: Formula, d: int | None) -> bool:
    """Whether a formula takes rows of so many columns."""
    return d is None or (d >= formula.least_width and formula.width in (None, d))
