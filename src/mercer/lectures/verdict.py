"""A statement of a lecture, and what Mercer finds of it: what exercises, worked examples and slips are made of."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.errors import message
from mercer.html import Markup, Shown, element, joined, shown

Found = Mapping[str, Any]
"""What was computed, by name."""
WIDTH = 100
"""Columns of a printed question."""


@dataclass(frozen=True, eq=False)
class Verdict(Shown):
    """Whether a statement holds, as it was computed, and why.

    Parameters
    ----------
    holds : bool
        Whether it does.
    why : str
        A sentence or two, with the numbers that decide.
    evidence : object, default=None
        What was computed: a proof, the answer of `mercer.separable` or of `mercer.check`, a difference.

    Examples
    --------
    >>> from mercer import lectures
    >>> verdict = lectures.exercise(21).check("F")
    >>> verdict.holds, verdict.evidence.status
    (False, 'refuted')
    """

    holds: bool
    why: str
    evidence: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "holds", bool(self.holds))  # of NumPy as well

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return f"{'yes' if self.holds else 'no'}: {self.why}"

    def _html_pieces(self) -> Iterable[Markup]:
        yield element("p", mark_of(self), " ", self.why)
        if hasattr(self.evidence, "_html_pieces"):
            yield from shown(self.evidence)


@dataclass(frozen=True, eq=False)
class Claim:
    """A statement, in the words of its lecture, and what decides it.

    text : the statement
    decide : the verdict, from what was computed
    """

    text: str
    decide: Callable[[Found], Verdict]


def mark_of(verdict: Verdict) -> Markup:
    """Its yes or no, on a coloured ground."""
    word, kind = ("yes", "proven") if verdict.holds else ("no", "refuted")
    return element("span", word, kind=f"badge {kind}")


def computed(compute: Callable[[], Found] | None) -> Found:
    """What is computed, by name; arrays are shared by all who ask, and therefore not to be written to."""
    found = {} if compute is None else dict(compute())
    for value in found.values():
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
    return found


def data_of(found: Found, name: str, of: str) -> Any:
    """The data of that name, or an error that says that there are none."""
    if name not in found:
        raise AttributeError(message(f"data for {name}", "it has none", "See results for what it has.", subject=of))
    return found[name]


def agreement(left: ArrayLike, right: ArrayLike, within: float, of: str) -> Verdict:
    """Whether two computations of one quantity agree, and how far they are apart.

    >>> print(agreement([1.0, 2.0], [1.0, 2.5], within=1e-9, of="the weights"))
    no: the weights differ by up to 0.5.
    """
    gap = float(np.max(np.abs(np.asarray(left, dtype=float) - np.asarray(right, dtype=float))))
    # digits of rounding are not the same on every machine
    told = f"less than {within:.0e}" if gap < within else f"up to {gap:.2g}"
    return Verdict(gap <= within, f"{of} differ by {told}.", gap)


def lines_of(verdicts: Mapping[str, tuple[str, Verdict]]) -> str:
    """Statements with their verdicts, as a text."""
    found = (
        f"{wrapped(f'{name}. {text}', '  ')}\n{wrapped(str(verdict), '     ')}"
        for name, (text, verdict) in verdicts.items()
    )
    return "\n".join(found)


def wrapped(text: str, indent: str = "") -> str:
    """Lines that fit a terminal; what is on a line of its own stays there."""
    return "\n".join(
        textwrap.fill(line, WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False)
        for line in text.split("\n")
    )


def list_of(verdicts: Mapping[str, tuple[str, Verdict]]) -> Markup:
    """The same for a card."""
    rows = (
        element("p", f"{name}. {text} ", mark_of(verdict), " ", verdict.why)
        for name, (text, verdict) in verdicts.items()
    )
    return joined(rows)
