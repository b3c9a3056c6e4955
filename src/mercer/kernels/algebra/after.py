"""k(g(x), g(z)): a kernel after a map of the points."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mercer.errors import InputError, KernelError, message, number_of
from mercer.kernels.algebra.feature_map import FeatureMap, is_texts
from mercer.kernels.algebra.functions import name_of, real, written
from mercer.kernels.algebra.mapped import Mapped
from mercer.kernels.algebra.named_functions import function_of, named, transformed
from mercer.kernels.algebra.single import refuse_kernel
from mercer.kernels.base import Kernel
from mercer.kernels.domain import INTEGERS, NATURALS, NONNEGATIVE, REALS, Domain, meet
from mercer.kernels.law import Law, moved
from mercer.kernels.points import Points, refuse_objects, refuse_sparse
from mercer.kernels.proof.judgement import Judgement, Situation


def check_map(owner: str, name: str, value: Any) -> Any:
    """A matrix as rows of numbers; texts as formulas; a function, or a lift with `transform`, as it is."""
    needs = "a matrix of finite numbers, a list of formulas, a function of rows or its name, or a lift"
    refuse_kernel(owner, needs, value)
    if is_texts(value):
        return FeatureMap.read(value)
    found = function_of(owner, needs, value)
    if callable(found) or hasattr(found, "transform"):
        return found
    matrix = _numbers(value)
    if matrix.ndim != 2 or matrix.size == 0 or not np.isfinite(matrix).all():
        raise KernelError(message(needs, f"got {value!r}", "A matrix A of shape (m, d) maps x to A x.", subject=owner))
    return tuple(tuple(row) for row in matrix.tolist())


def _numbers(value: Any) -> NDArray[np.float64]:
    """An array of numbers; an empty one where the value is none."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):  # texts, or rows of different lengths
        return np.empty(0)


class After(Mapped):
    """A kernel after a map, written k.after(g); its lift is phi(g(x)).

    `k(x, z) = k(g(x), g(z))`

    Parameters
    ----------
    kernel : Kernel
        The kernel inside.
    map : array, list of str, callable, {"abs", "cos", "exp", "log1p", "sin", "sqrt", "tanh"} or lift
        A matrix of shape (m, d), which maps x to A x; formulas of the columns x1, x2, ...; a function of rows, (n, d)
        to (n, m), or the name of one that takes each number by itself ("exp", `np.exp` and `math.exp` are one function,
        and texts and model files hold it); or a lift, an object with a method `transform`. Functions and lifts are
        equal by identity.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> k = Linear().after([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])  # the lift [x1, x2 + x3]
    >>> k([[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]])
    array([[59.]])
    >>> print(Linear().after(["x1", "x1^2 + 2*x2^2"]))
    linear.after(['x1', 'x1^2 + 2 x2^2'])
    >>> print(Linear().after("log1p"), Linear().after("log1p")([[0.0, 1.0]], [[2.0, 3.0]]).round(4))
    linear.after(log1p) [[0.9609]]
    """

    formula = "k(g(x), g(z))"

    kernel: Kernel
    map: Any = field(metadata={"check": check_map})

    @property
    def matrix(self) -> NDArray[np.float64] | None:
        """The matrix, where the map is one."""
        return np.array(self.map) if isinstance(self.map, tuple) else None

    @property
    def formulas(self) -> FeatureMap | None:
        """The formulas, where the map is given by some."""
        return self.map if isinstance(self.map, FeatureMap) else None

    @property
    def named(self) -> np.ufunc | None:
        """The map, where it is a function of the table."""
        return self.map if named(self.map) else None

    @property
    def map_key(self) -> Hashable:
        return (type(self), self.map)

    def inner_points(self, points: Points) -> Points:
        refuse_objects(points, subject="after")
        if self.matrix is None:
            refuse_sparse(points, subject="after")
        if (function := self.named) is not None:
            return points.mapped(lambda _: transformed("after", function, points))
        return points.mapped(self._apply)

    @property
    def _name(self) -> str:
        if self.formulas is not None:
            return "the formulas"
        return "the matrix" if self.matrix is not None else name_of(self.map)

    def _apply(self, values: NDArray[Any]) -> NDArray[Any]:
        if self.matrix is not None:
            return real("after", self._name, self._multiply(values, self.matrix))
        given = self.map.transform(values) if hasattr(self.map, "transform") else self.map(values)
        mapped = real("after", self._name, given)
        if mapped.ndim != 2 or len(mapped) != len(values):
            got = f"{self._name} gave an array of shape {mapped.shape} for {number_of(len(values), 'row')}"
            raise InputError(
                message("one row per row from its map", got, "Return an array of shape (n, m).", subject="after")
            )
        if values.dtype == object and mapped.dtype != object:  # a proof must not take 16 digits for 50
            raise TypeError(f"{self._name} gave {mapped.dtype} for numbers of 50 digits")
        return mapped if mapped.dtype == object else mapped.astype(np.float64)

    def _multiply(self, values: NDArray[Any], matrix: NDArray[np.float64]) -> NDArray[Any]:
        if matrix.shape[1] != values.shape[1]:
            got = f"the data has {values.shape[1]}"
            raise InputError(
                message(
                    f"data of {number_of(matrix.shape[1], 'column')} for its matrix",
                    got,
                    "Check the columns.",
                    subject="after",
                )
            )
        product: NDArray[Any] = values @ matrix.T
        return product

    @property
    def width(self) -> int | None:
        return None if self.matrix is None else self.matrix.shape[1]

    @property
    def map_label(self) -> str:
        if self.formulas is not None:
            return "phi(x)"
        return "A x" if self.matrix is not None else f"{self._name}(x)"

    def image(self, domain: Domain) -> Domain:
        if self.matrix is None:
            known = named(self.map)
            return known.image(domain) if known else REALS
        stays_whole = domain.within(INTEGERS) and bool((self.matrix == np.rint(self.matrix)).all())
        stays_positive = domain.within(NONNEGATIVE) and bool((self.matrix >= 0).all())
        if stays_whole and stays_positive:
            return NATURALS
        return INTEGERS if stays_whole else NONNEGATIVE if stays_positive else REALS

    @property
    def domain(self) -> Domain:
        known = named(self.map)
        if known is None:
            return super().domain
        anywhere = known.image(known.domain).within(self.kernel.domain)
        return known.domain if anywhere else meet(super().domain, known.domain)

    def judge(self, situation: Situation) -> Judgement:
        known = named(self.map)
        if known and not situation.domain.within(known.domain):
            outside = f"{self._name} is not real everywhere on {situation.domain} (it is on {known.domain})"
            return Judgement(f"{self}: {outside}", proven=False)
        return super().judge(situation)

    def inner_width(self, d: int | None) -> int | None:
        if self.formulas is not None:
            return len(self.formulas) if d is None or self.formulas.fits(d) else 0
        if self.matrix is None:
            return d if self.named else None
        return len(self.matrix) if d in (None, self.width) else 0

    def law(self, d: int) -> Law | None:
        matrix = self.matrix
        return None if matrix is None or matrix.shape[1] != d else moved(self.kernel.law(len(matrix)), matrix)

    @property
    def linear_map(self) -> csr_array | None:
        return None if self.matrix is None else csr_array(self.matrix)

    def rule(self) -> str:
        return "a kernel of mapped points k(g(x), g(z)) is a kernel, with the lift phi(g(x)) (rule of the map)"

    def write(self, python: bool) -> tuple[str, int]:
        if self.formulas is not None:
            return self.write_postfix(python, "after", repr(self.formulas.texts))
        matrix = self.matrix
        argument = written(self.map, python) if matrix is None else repr(matrix.tolist())
        return self.write_postfix(python, "after", argument)

    def latex(self, x: str = "x", z: str = "z") -> str:
        if self.formulas is not None:
            return self.kernel.latex(self.formulas.latex(x), self.formulas.latex(z))
        g = name_of(self.map) if self.matrix is None else "A"
        if self.matrix is None:
            return self.kernel.latex(rf"\mathrm{{{g}}}({x})", rf"\mathrm{{{g}}}({z})")
        return self.kernel.latex(f"A {x}", f"A {z}")
