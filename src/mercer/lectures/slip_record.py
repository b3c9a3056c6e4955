"""A slip of a lecture: as it is written, as it should be, and what shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from mercer.html import Markup, Shown, element, p, table
from mercer.lectures.verdict import Verdict, mark_of


@dataclass(frozen=True, eq=False)
class Slip(Shown):
    """A place where a lecture slips: what it writes, what it should say, and a computed counterexample.

    Parameters
    ----------
    lecture : str
        The lecture's name.
    written : str
        As the lecture has it.
    instead : str
        As Mercer has it.
    why : str
        The reason.
    compute : callable or None, default=None
        The verdicts of both; None where it is a matter of words.

    Attributes
    ----------
    verdicts : tuple of Verdict or None
        Of what is written, and of what should be; None where it is a matter of words.

    Examples
    --------
    >>> from mercer import lectures
    >>> slip = lectures.slips("Kernel methods")[0]
    >>> print(slip.written)
    the inner product of all subsets has 2^(2d) terms
    >>> [verdict.holds for verdict in slip.verdicts]
    [False, True]
    """

    lecture: str
    written: str
    instead: str
    why: str
    compute: Callable[[], tuple[Verdict, Verdict]] | None = field(default=None, repr=False)

    @cached_property
    def verdicts(self) -> tuple[Verdict, Verdict] | None:
        """Of what is written, and of what should be; None where it is a matter of words."""
        return None if self.compute is None else self.compute()

    def __str__(self) -> str:
        first, second = ("", "") if self.verdicts is None else (f"\n    {verdict}" for verdict in self.verdicts)
        lines = [
            self.lecture,
            f"  written: {self.written}{first}",
            f"  instead: {self.instead}{second}",
            f"  {self.why}",
        ]
        return "\n".join(lines)

    def _html_pieces(self) -> Iterable[Markup]:
        yield element("p", element("b", self.lecture))
        rows = [("written", self.written), ("instead", self.instead), ("why", self.why)]
        if self.verdicts is None:
            yield table(rows)
            return
        marks = [element("span", mark_of(each), " ", each.why) for each in self.verdicts]
        yield table([(*row, mark) for row, mark in zip(rows, [*marks, Markup("")], strict=True)])
        yield p("computed by Mercer")
