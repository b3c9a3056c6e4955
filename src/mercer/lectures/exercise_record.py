"""An exercise of a lecture: its question, its choices, which of them hold, and what is wrong with the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from mercer.errors import InputError, message, speaks
from mercer.html import Markup, Shown, badge, details, element, items, p
from mercer.lectures.picture import Picture
from mercer.lectures.verdict import Claim, Found, Verdict, computed, data_of, lines_of, list_of, wrapped


@dataclass(frozen=True, eq=False)
class Mark(Shown):
    """What is said of a student's answer.

    Parameters
    ----------
    given : str
        The letters of the answer.
    right : bool
        Whether these are the right ones, all of them.
    remarks : tuple of str
        What is wrong, one remark per wrong letter; letters that are missing are counted, and not named.
    missing : int, default=0
        How many right letters are missing.

    Examples
    --------
    >>> from mercer import lectures
    >>> mark = lectures.exercise(21).mark("ABCDEF")
    >>> mark.right, len(mark.remarks)
    (False, 1)
    """

    given: str
    right: bool
    remarks: tuple[str, ...]
    missing: int = 0

    @property
    def _head(self) -> str:
        if self.right:
            return f"{self.given} is right."
        return f"{self.given} is {'right, and not all' if len(self.remarks) == bool(self.missing) else 'not right'}."

    def __bool__(self) -> bool:
        return self.right

    def __str__(self) -> str:
        return "\n".join([self._head, *(wrapped(remark, "  ") for remark in self.remarks)])

    def _html_pieces(self) -> Iterable[Markup]:
        yield p(badge("proven" if self.right else "refuted"), " ", self._head)
        yield items(self.remarks)


@dataclass(frozen=True, eq=False)
class Exercise(Shown):
    """An exercise of a lecture, whose choices are decided by computing.

    `print(exercise)` shows the question and the choices, and no answer. Attributes are computed when they are first
    asked for.

    Parameters
    ----------
    number : int
        Its number in the lecture.
    lecture : str
        The lecture's name.
    title : str
        What it is about, in a few words.
    question : str
        The question, as the lecture has it.
    claims : dict of str to Claim
        The choices by letter, each with what decides it.
    stated : str
        The letters that the lecture gives as its answer; "" where the text has none.
    reason : str
        Why the answer is what it is.
    draw : callable
        Draws the picture.
    compute : callable or None, default=None
        The data, and what is computed of them; None where there are none.

    Attributes
    ----------
    choices : dict of str to str
        The choices by letter, as the lecture has them.
    verdicts : dict of str to Verdict
        Whether each choice holds, as it was computed.
    answer : str
        The letters of the choices that hold.
    explanation : str
        The reason, and the verdict of each choice.
    results : dict
        What was computed, by name.
    X, y : array
        The rows and their labels, where the exercise has data.

    Examples
    --------
    >>> from mercer import lectures
    >>> exercise = lectures.exercise(20)
    >>> exercise.answer, exercise.stated
    ('C', 'C')
    >>> print(exercise.mark("A"))
    A is not right.
      A. phi(x) = [x1, x2, x3]: at x = (0, 1, 0), z = (0, 0, 1) phi(x).phi(z) is 0 and the kernel is 1;
      the coefficient of x2 z3 is 0 in the one and 1 in the other.
      1 right choice is missing.
    """

    number: int
    lecture: str
    title: str
    question: str
    claims: Mapping[str, Claim] = field(repr=False)
    stated: str
    reason: str = field(repr=False)
    draw: Callable[[Picture, Found], None] = field(repr=False)
    compute: Callable[[], Found] | None = field(default=None, repr=False)

    @property
    def choices(self) -> dict[str, str]:
        """The choices by letter, as the lecture has them."""
        return {letter: claim.text for letter, claim in self.claims.items()}

    @cached_property
    def results(self) -> Found:
        """What was computed, by name."""
        return computed(self.compute)

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """Whether each choice holds, as it was computed."""
        return {letter: claim.decide(self.results) for letter, claim in self.claims.items()}

    @property
    def answer(self) -> str:
        """The letters of the choices that hold."""
        return "".join(letter for letter, verdict in self.verdicts.items() if verdict.holds)

    @property
    def explanation(self) -> str:
        """The reason, and the verdict of each choice."""
        head = wrapped(f"Answer: {self.answer}. {self.reason}")
        return f"{head}\n\n{lines_of(self._decided())}"

    @property
    def X(self) -> Any:  # noqa: N802  # as everywhere
        """The rows, where the exercise has data."""
        return data_of(self.results, "X", f"Exercise {self.number}")

    @property
    def y(self) -> Any:
        """Their labels."""
        return data_of(self.results, "y", f"Exercise {self.number}")

    @speaks
    def check(self, choice: str) -> Verdict:
        """Whether one choice holds, and why.

        Parameters
        ----------
        choice : str
            Its letter.

        Returns
        -------
        Verdict
        """
        letters = self._letters(choice)
        if len(letters) != 1:
            raise InputError(message("one letter", f"got {choice!r}", "Use mark for several."))
        return self.verdicts[letters[0]]

    @speaks
    def mark(self, answer: str | Iterable[str]) -> Mark:
        """Whether an answer is right; where it is not, what is wrong with each wrong letter.

        Parameters
        ----------
        answer : str or list of str
            The letters of an answer: "BE", "B, E" or ["B", "E"].

        Returns
        -------
        Mark
            Letters that are missing are counted, and not named, so that one can try again.
        """
        letters = self._letters(answer)
        wrong = [letter for letter in letters if not self.verdicts[letter].holds]
        missing = len(set(self.answer) - set(letters))
        remarks = [f"{letter}. {self.choices[letter]}: {self.verdicts[letter].why}" for letter in wrong or letters]
        if missing:
            remarks = [
                *(remarks if wrong else ()),
                f"{missing} right choice{'s are' if missing > 1 else ' is'} missing.",
            ]
        return Mark("".join(letters), not wrong and not missing, tuple(remarks), missing)

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

    def _letters(self, answer: str | Iterable[str]) -> list[str]:
        """The letters of an answer, each once, in order."""
        given = answer if isinstance(answer, str) else "".join(map(str, answer))
        letters = sorted(set(given.upper()) - set(" ,;.&+()[]"))
        if not letters or not set(letters) <= set(self.claims):
            known = list(self.claims)
            needs, got = f"letters from {known[0]} to {known[-1]}", f"got {answer!r}"
            raise InputError(message(needs, got, f'Write "{known[0]}", or "{known[0]}{known[1]}" for two.'))
        return letters

    def _decided(self) -> dict[str, tuple[str, Verdict]]:
        return {letter: (claim.text, self.verdicts[letter]) for letter, claim in self.claims.items()}

    def __str__(self) -> str:
        head = f"Exercise {self.number}: {self.title} ({self.lecture})"
        choices = "\n".join(f"  {letter}. {text}" for letter, text in self.choices.items())
        return f"{head}\n\n{wrapped(self.question)}\n\n{choices}"

    def _html_pieces(self) -> Iterable[Markup]:
        yield element("p", element("b", f"Exercise {self.number}: {self.title}"), f" ({self.lecture})")
        yield from (p(part) for part in self.question.split("\n"))
        yield items([f"{letter}. {text}" for letter, text in self.choices.items()])
        yield details("answer", self._solution())

    def _solution(self) -> Iterable[Markup]:
        stated = f"; the lecture's: {self.stated}" if self.stated else ""
        yield p(element("b", self.answer), f", as computed{stated}. {self.reason}")
        yield list_of(self._decided())
