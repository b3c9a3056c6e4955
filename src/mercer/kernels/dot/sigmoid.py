"""tanh(slope <x, z> + offset): common in other libraries, and not a kernel."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from mercer.kernels.domain import REALS
from mercer.kernels.dot.base import Dot
from mercer.kernels.fields import number
from mercer.kernels.latex import inner, numeral
from mercer.kernels.precision import formulas
from mercer.kernels.proof.judgement import Fact


class Sigmoid(Dot):
    """The sigmoid function of the inner product, here to be refuted: no lift gives it.

    `k(x, z) = tanh(slope <x, z> + offset)`

    Parameters
    ----------
    slope : float, default=1.0
        Only 0 with offset >= 0, which makes a constant, is a kernel.
    offset : float, default=0.0
        Added to slope <x, z>.

    Examples
    --------
    >>> import mercer
    >>> mercer.prove("sigmoid(slope=0.5, offset=1)", d=1).status
    'refuted'

    References
    ----------
    Lin and Lin, A study on sigmoid kernels for SVM and the training of non-PSD kernels by SMO-type methods (2003).
    """

    aliases = ("tanh",)
    formula = "tanh(slope <x, z> + offset)"

    slope: float = number(default=1.0)
    offset: float = number(default=0.0)

    def profile(self, t: NDArray[Any]) -> NDArray[Any]:
        return formulas.tanh_of_line(self.slope, t, self.offset)

    def facts(self) -> tuple[Fact, ...]:
        if self.slope == 0 and self.offset >= 0:
            return (Fact(REALS, "with slope 0 it is the constant tanh(offset), which is at least zero"),)
        return ()

    def objection(self) -> str:
        if self.slope < 0:
            return "with slope < 0 it is negative for x = z far from the origin, and k(x, x) may not be negative"
        if self.offset < 0:
            return f"k(0, 0) = tanh({self.offset}) is negative, and k(x, x) may not be negative"
        return (
            "two points x and c x in one direction need k(x, cx)^2 <= k(x, x) k(cx, cx), but tanh saturates, and "
            "so breaks this for large x. Use ArcCosine() for a kernel that comes from neural networks"
        )

    def latex(self, x: str = "x", z: str = "z") -> str:
        return rf"\tanh\left({numeral(self.slope)} \, {inner(x, z)} + {numeral(self.offset)}\right)"
