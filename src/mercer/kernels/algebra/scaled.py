"""A kernel after each column was divided by a lengthscale of its own."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, KernelError, sentence
from mercer.kernels.algebra.single import Single
from mercer.kernels.base import Kernel
from mercer.kernels.domain import NONNEGATIVE, REALS
from mercer.kernels.fields import check_positive
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Points
from mercer.kernels.proof.judgement import Situation


def check_lengthscales(owner: str, name: str, value: Any) -> tuple[float, ...]:
    """A tuple of numbers above zero, at least one."""
    if np.ndim(value) != 1 or len(value) == 0:
        raise KernelError(sentence(owner, "one lengthscale a column", f"{value!r} came", "Give a list of numbers."))
    return tuple(check_positive(owner, name, v) for v in np.asarray(value).tolist())


class Scaled(Single):
    """A kernel with one lengthscale a column (anisotropy, ARD), written k.scaled([...]).

    Parameters
    ----------
    kernel : the kernel inside
    lengthscales : one number above zero a column

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> Gaussian().scaled([1.0, 10.0])([[0.0, 0.0]], [[0.0, 10.0]]).round(4)
    array([[0.6065]])
    """

    formula = "k(x / lengthscales, z / lengthscales)"

    kernel: Kernel
    lengthscales: tuple[float, ...] = field(metadata={"check": check_lengthscales})

    def evaluate(self, pairs: Pairs) -> Block:
        return self.kernel.evaluate(pairs.after(self.lengthscales, self.inner_points))

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        return self.kernel.evaluate_diagonal(self.inner_points(points))

    def inner_points(self, points: Points) -> Points:
        width = points.values.shape[1]
        if width != len(self.lengthscales):
            needs, came = f"data of {len(self.lengthscales)} columns", f"the data has {width}"
            raise InputError(sentence("scaled", needs, came, "Give one lengthscale a column."))
        return Points(points.values / np.array(self.lengthscales), points.names, points.dtype)

    def inner_situation(self, situation: Situation) -> Situation | None:
        if situation.d not in (None, len(self.lengthscales)):
            return None
        kept = NONNEGATIVE if situation.domain.within(NONNEGATIVE) else REALS
        return Situation(kept, d=len(self.lengthscales))

    @property
    def divisible(self) -> bool:
        return self.kernel.divisible

    def rule(self) -> str:
        return "dividing columns by numbers is a map of the points (rule of the map)"

    def write(self, python: bool) -> tuple[str, int]:
        return self.write_postfix(python, "scaled", repr(list(self.lengthscales)))

    def latex(self, x: str = "x", z: str = "z") -> str:
        return self.kernel.latex(rf"\Lambda {x}", rf"\Lambda {z}")
