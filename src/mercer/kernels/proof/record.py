"""What `prove` returns: a proof, a refutation with its witness, or an honest "unknown"."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from mercer.html import LINES, Markup, Shown, badge, brief, details, element, items, table
from mercer.kernels.base import Kernel
from mercer.kernels.domain import Domain

if TYPE_CHECKING:
    from mercer.kernels.formulas.expression import Expression

LINE_WIDTH = 100
"""Columns of a printed proof."""

MAX_SHOWN_COORDINATES = 12
"""Coordinates of a point of a witness that a card shows."""
WITNESSED = ("", "point", "weight")

Status = Literal["proven", "refuted", "unknown"]
BRIEF = 4
"""Points of a witness in a line."""


@dataclass(frozen=True, eq=False)
class Witness(Shown):
    """Points and weights that show that a function is not a kernel: sum_ij c_i c_j k(x_i, x_j) < 0.

    Parameters
    ----------
    points : array of shape (n, d)
        The points x_i.
    weights : array of shape (n,)
        The weights c_i, the largest of size 1.
    value : float
        The quadratic form; negative.
    digits : int
        The decimal digits with which it was verified.

    Examples
    --------
    >>> import mercer
    >>> witness = mercer.prove("sigmoid", d=1).witness
    >>> witness.points.tolist(), witness.weights.tolist(), bool(witness.value < 0)
    ([[-0.5], [2.5]], [1.0, 1.0], True)
    """

    points: NDArray[np.float64]
    weights: NDArray[np.float64]
    value: float
    digits: int

    @property
    def brief(self) -> str:
        """The points and the sum, in a line."""
        points = [f"({', '.join(f'{v:.12g}' for v in point)})" for point in self.points[:BRIEF]]
        if len(self.points) == 1:
            return f"k(x, x) = {self.value:.12g} at x = {points[0]}"
        weights = ", ".join(f"{weight:.12g}" for weight in self.weights[:BRIEF])
        more = ", ..." * (len(self.points) > BRIEF)
        said = f"the points {', '.join(points)}{more} and the weights {weights}{more}"
        return f"{said} make sum_ij c_i c_j k(x_i, x_j) = {self.value:.12g}"

    def __str__(self) -> str:
        count = len(self.points)
        shown = [
            f"    x{i} = ({', '.join(f'{v:.12g}' for v in point)})   weight {weight:.12g}"
            for i, (point, weight) in enumerate(zip(self.points, self.weights, strict=True), start=1)
        ]
        if count > 12:
            shown = [*shown[:12], f"    ... and {count - 12} more (proof.witness.points, proof.witness.weights)"]
        form = "c @ k(X) @ c" if count > 1 else "k(x1, x1)"
        return "\n".join(
            [
                f"Witness: {count} point{'s' * (count != 1)}",
                *shown,
                f"    {form} = {self.value:.12g} < 0   (verified with {self.digits} digits)",
            ]
        )

    def _html_pieces(self) -> Iterable[Markup]:
        count, form = len(self.points), "c @ k(X) @ c" if len(self.points) > 1 else "k(x1, x1)"
        yield element("p", f"Witness: {count:,} point{'s' * (count != 1)}")
        chosen = zip(self.points[:LINES], self.weights[:LINES], strict=True)
        rows = _lines([(_coordinates(point), f"{weight:.12g}") for point, weight in chosen])
        yield table(rows, WITNESSED, count)
        yield element("p", f"{form} = {self.value:.12g} < 0 (verified with {self.digits} digits)")


@dataclass(frozen=True, eq=False)
class ObjectWitness(Shown):
    """Objects (strings, say) and weights that show that a function is not a kernel.

    Parameters
    ----------
    objects : tuple
        The strings, graphs or labels.
    weights : tuple of int
        One per object.
    value : float
        The quadratic form; negative.
    digits : int or None
        The decimal digits to which the values of k are known; None where they are integers.
    kind : str, default="objects"
        What the objects are called.

    Examples
    --------
    >>> import mercer
    >>> witness = mercer.prove("common_subsequence").witness
    >>> witness.objects, [int(weight) for weight in witness.weights], float(witness.value)
    (('a', 'b', 'ab', 'ba'), [2, 2, -1, -1], -2.0)
    """

    objects: tuple[Any, ...]
    weights: tuple[int, ...]
    value: float
    digits: int | None
    kind: str = "objects"

    def __str__(self) -> str:
        shown = [
            f"    x{i} = {each!r}   weight {weight}"
            for i, (each, weight) in enumerate(zip(self.objects, self.weights, strict=True), start=1)
        ]
        how = "in integers" if self.digits is None else f"verified with {self.digits} digits"
        head = f"Witness: {len(self.objects)} {self.kind}"
        return "\n".join([head, *shown, f"    c @ k(X) @ c = {self.value:.12g} < 0   ({how})"])

    def _html_pieces(self) -> Iterable[Markup]:
        how = "in integers" if self.digits is None else f"verified with {self.digits} digits"
        yield element("p", f"Witness: {len(self.objects):,} {self.kind}")
        chosen = zip(self.objects, self.weights, strict=True)
        yield table(_lines([(brief(each), str(weight)) for each, weight in chosen]), WITNESSED)
        yield element("p", f"c @ k(X) @ c = {self.value:.12g} < 0 ({how})")


@dataclass(frozen=True, eq=False)
class Asymmetry(Shown):
    """Two points that show that a function is not symmetric, so that it cannot be an inner product.

    Parameters
    ----------
    points : array of shape (2, d)
        x and z.
    forward : float
        k(x, z).
    backward : float
        k(z, x).

    Examples
    --------
    >>> import mercer
    >>> witness = mercer.prove(lambda x, z: float(x[0] - z[0]), d=1).witness
    >>> type(witness).__name__, bool(witness.forward != witness.backward)
    ('Asymmetry', True)
    """

    points: NDArray[np.float64]
    forward: float
    backward: float

    def __str__(self) -> str:
        x, z = (f"({', '.join(f'{v:.12g}' for v in point)})" for point in self.points)
        return f"Witness: k(x, z) = {self.forward:.12g} but k(z, x) = {self.backward:.12g} for x = {x}, z = {z}"

    def _html_pieces(self) -> Iterable[Markup]:
        yield element("p", str(self))


@dataclass(frozen=True, eq=False)
class SpectralWitness(Shown):
    """A frequency at which the Fourier transform on R^d is negative, for violations too small for a few points.

    By Bochner's theorem a continuous function of x - z is a kernel on R^d only if its Fourier transform is nowhere
    negative; with a Gaussian window of any width, which keeps a kernel a kernel, the same holds.

    Parameters
    ----------
    frequency : float
        The length of the frequency vector w.
    value : float
        The transform there, as a part of the integral of `|k|`; negative.
    window : float
        The width of the Gaussian window, infinity for none.
    digits : int
        The decimal digits with which it was verified.

    Examples
    --------
    >>> import mercer
    >>> witness = mercer.prove("wendland(dimension=1, smoothness=1)", d=4).witness
    >>> type(witness).__name__, bool(witness.value < 0)
    ('SpectralWitness', True)
    """

    frequency: float
    value: float
    window: float
    digits: int

    def __str__(self) -> str:
        window = "" if math.isinf(self.window) else f" (windowed by exp(-r^2 / (2 {self.window:g}^2)))"
        return (
            f"Witness: the Fourier transform{window} at frequency {self.frequency:.12g}\n"
            f"    is {self.value:.6g} < 0 times the integral of |k|   (verified with {self.digits} digits)"
        )

    def _html_pieces(self) -> Iterable[Markup]:
        yield element("p", " ".join(str(self).split()))


@dataclass(frozen=True, eq=False)
class Proof(Shown):
    """The answer to "is this a kernel?".

    Parameters
    ----------
    kernel : Kernel or callable
        The function in question; of a formula the kernel that it is, where it is one.
    status : {"proven", "refuted", "unknown"}
        "proven" by rules and facts, never by sampling; "refuted" with a witness.
    domain : Domain
        The set of points on which it holds.
    dimension : int or None
        The number of columns for which it holds; None for every one up to `max_dimension`.
    max_dimension : int or None
        The largest number of columns for which it is proven; None for every one, 0 where not proven.
    steps : tuple of str
        The argument, to be read in order.
    witness : Witness, SpectralWitness, ObjectWitness, Asymmetry or None, default=None
        What refutes it.
    trials : int, default=0
        How many point sets the search examined.
    asked : Kernel, Expression or None, default=None
        The formula or the difference that was asked about, as it was read; None where it is the kernel.

    Examples
    --------
    >>> import mercer
    >>> proof = mercer.prove("sinc")
    >>> proof.status, proof.max_dimension, len(proof.steps)
    ('proven', 3, 1)
    """

    kernel: Kernel | Callable[..., Any]
    status: Status
    domain: Domain
    dimension: int | None
    max_dimension: int | None
    steps: tuple[str, ...]
    witness: Witness | SpectralWitness | ObjectWitness | Asymmetry | None = None
    trials: int = 0
    asked: Kernel | Expression | None = None

    @property
    def name(self) -> str:
        """What was asked about, in a few letters."""
        if self.asked is not None:
            return str(self.asked)
        if isinstance(self.kernel, Kernel):
            return str(self.kernel)
        return str(getattr(self.kernel, "__name__", repr(self.kernel)))

    @property
    def claim(self) -> str:
        """The result in one sentence."""
        return f"{self.name} {self._said()}"

    def _said(self) -> str:
        """The sentence after the name."""
        verb = {"proven": "is a kernel", "refuted": "is not a kernel", "unknown": "may or may not be a kernel"}
        columns = f", {self._columns()}" if self.domain.columns else ""
        numbers = () if self.asked is None or isinstance(self.asked, Kernel) else self.asked.named_numbers
        plural = f"all numbers {', '.join(numbers[:-1])} and {numbers[-1]}" if len(numbers) > 1 else ""
        chosen = plural or f"every number {''.join(numbers)}"
        all_of = f", and {chosen} of at least 0" if numbers and self.status != "refuted" else ""
        return f"{verb[self.status]} on {self.domain}{columns}{all_of}."

    def _columns(self) -> str:
        if self.dimension is not None:
            return f"d = {self.dimension}"
        if self.status == "proven":
            return "for every d" if self.max_dimension is None else f"for d <= {self.max_dimension}"
        return "for every d"

    def __str__(self) -> str:
        steps = [_wrapped(f"{number:3}. {step}.") for number, step in enumerate(self.steps, start=1)]
        witness = [str(self.witness)] if self.witness is not None else []
        return "\n".join([f"[{self.status}] {self.claim}", *steps, *witness])

    def to_latex(self) -> str:
        r"""The claim, the numbered steps and the witness as LaTeX, for a slide or a solution: it needs `amsmath`.

        Formulas of kernels stand for their texts. Cost: that of the formulas, of the tree's nodes times its depth.

        Returns
        -------
        str

        Examples
        --------
        >>> import mercer
        >>> print(mercer.prove("linear", d=2).to_latex().splitlines()[0])
        \textbf{Claim} (proven). $k(x, z) = \langle x, z \rangle$ is a kernel on the reals, $d = 2$.
        """
        from mercer.kernels.proof.to_latex import written

        return written(self)

    def _html_pieces(self) -> Iterable[Markup]:
        yield element("p", badge(self.status), " ", self.claim)
        yield self._argument(shown=True)

    def _argument(self, shown: bool) -> Markup:
        """The steps and the witness, for a card."""
        steps = f"why: {len(self.steps):,} step{'s' * (len(self.steps) != 1)}"
        found = () if self.witness is None else self.witness._html_pieces()
        return details(steps, (items([f"{step}." for step in self.steps], ordered=True), *found), shown)


def _wrapped(step: str) -> str:
    """A step in lines that fit a terminal."""
    return textwrap.fill(step, LINE_WIDTH, subsequent_indent="     ", break_long_words=False, break_on_hyphens=False)


def _lines(rows: list[tuple[str, str]]) -> list[tuple[str, str, str]]:
    """The points of a witness with their names."""
    return [(f"x{i}", point, weight) for i, (point, weight) in enumerate(rows, start=1)]


def _coordinates(point: NDArray[np.float64]) -> str:
    shown = ", ".join(f"{value:.12g}" for value in point[:MAX_SHOWN_COORDINATES])
    return f"({shown}{', ...' * (len(point) > MAX_SHOWN_COORDINATES)})"
