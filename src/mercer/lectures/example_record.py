"""A worked example of a lecture: what it says, whether that holds, the code that shows it, and its picture."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from mercer.errors import speaks
from mercer.html import Markup, Shown, details, element, p, pre
from mercer.lectures.picture import Picture
from mercer.lectures.verdict import Claim, Found, Verdict, computed, data_of, lines_of, list_of, wrapped


@dataclass(frozen=True, eq=False)
class Example(Shown):
    """A worked example of a lecture, with its statements decided by computing.

    `print(example)` shows what the lecture says, and what was found. Attributes are computed when they are first asked
    for.

    Parameters
    ----------
    name : str
        By which `mercer.lectures.example` knows it.
    lecture : str
        The lecture's name.
    title : str
        What it is about, in a few words.
    says : str
        What the lecture says, and what Mercer adds.
    compute : callable
        The data, the models and what is computed of them, by name.
    claims : tuple of Claim
        Statements, each with what decides it.
    draw : callable
        Draws the picture.

    Attributes
    ----------
    results : dict
        What was computed, by name: data, models, numbers.
    X, y : array
        The rows and their targets or labels, where there are any.
    verdicts : dict of str to Verdict
        Whether each statement holds.
    code : str
        The code that computes `results`: to be shown, copied and changed.

    Examples
    --------
    >>> from mercer import lectures
    >>> example = lectures.example("aapl")
    >>> example.X.shape, [round(s, 4) for s in example.results["bandwidths"]]
    ((65, 1), [0.2099, 0.105])
    >>> all(example.verdicts.values())
    True
    """

    name: str
    lecture: str
    title: str
    says: str
    compute: Callable[[], Found] = field(repr=False)
    claims: tuple[Claim, ...] = field(repr=False)
    draw: Callable[[Picture, Found], None] = field(repr=False)

    @cached_property
    def results(self) -> Found:
        """What was computed, by name."""
        return computed(self.compute)

    @property
    def X(self) -> Any:  # noqa: N802  # as everywhere
        """The rows, where there are any."""
        return data_of(self.results, "X", self.name)

    @property
    def y(self) -> Any:
        """Their targets or labels."""
        return data_of(self.results, "y", self.name)

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """Whether each statement holds, as it was computed."""
        return {claim.text: claim.decide(self.results) for claim in self.claims}

    @property
    def code(self) -> str:
        """The code that computes `results`."""
        return inspect.getsource(self.compute)

    @speaks
    def plot(self, style: str = "page") -> Picture:
        """Draw its picture.

        Parameters
        ----------
        style : {"page", "slide"}, default="page"
            For a page, or for a slide: sixteen to nine, large letters.

        Returns
        -------
        Picture
            `figure_` is its figure; `save(path)` writes it.
        """
        return Picture(self.draw, self.results).plot(style=style)

    def _numbered(self) -> dict[str, tuple[str, Verdict]]:
        return {str(place): pair for place, pair in enumerate(self.verdicts.items(), start=1)}

    def __str__(self) -> str:
        return f"{self.title} ({self.lecture})\n\n{wrapped(self.says)}\n\n{lines_of(self._numbered())}"

    def _html_pieces(self) -> Iterable[Markup]:
        yield element("p", element("b", self.title), f" ({self.lecture})")
        yield p(self.says)
        yield list_of(self._numbered())
        yield details("code", [pre(self.code)])
