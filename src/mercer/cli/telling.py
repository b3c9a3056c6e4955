"""What a terminal is told of a table and a fit, in a line each: what is odd; the rest is for --verbose."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mercer.cli.features import ASIDE
from mercer.compute.runtime.memory import text_of
from mercer.kernels.lexer import tokens_of
from mercer.kernels.tables.choice import LEFT_OUT
from mercer.planner.explain import duration, summary

if TYPE_CHECKING:
    from mercer.cli.features import Look
    from mercer.cli.output import Voice
    from mercer.tables.read import Sheet

MAX_TOLD_ENTRIES = 3
"""Entries of a list that are told, of longer ones."""
MAX_REMARKS = 5
"""Remarks on how columns were read that are told, of more."""
MAX_KERNEL_CHARACTERS = 240
"""Characters of a kernel that are told."""


def tell_remarks(remarks: Sequence[str], voice: Voice) -> None:
    """Say how columns were read: those in units, in codes, with numbers for "missing"; of many the first."""
    shown = remarks if len(remarks) <= MAX_REMARKS + 1 else remarks[:MAX_REMARKS]
    more = [f"and {len(remarks) - MAX_REMARKS:,} more such remarks: --verbose"] if len(shown) < len(remarks) else []
    voice.tell("\n".join([*shown, *more]), "\n".join(remarks))


def tell_columns(found: Look, sheet: Sheet, voice: Voice) -> None:
    """Say which columns are left out, and which texts are read, and how; the table of all of them has more."""
    notes = [] if sheet.sparse is not None else [name for name in sheet.names if name.startswith(ASIDE)]
    if notes:
        voice.say(f"no features, as their names begin with {ASIDE}: {_named(notes)}")
    if found.proposal is None:
        return
    gone: dict[str, list[Any]] = {}
    read: dict[str, list[Any]] = {}
    for choice in found.proposal.columns:
        if choice.place == LEFT_OUT and choice.taken_for != "other objects":  # of these there is a warning
            gone.setdefault(f"{choice.taken_for}: {choice.why}", []).append(choice.name)
        elif choice.place == "added":
            read.setdefault(choice.why, []).append(choice.name)
    for what, groups in (("left out", gone), ("read as text", read)):
        if groups:
            voice.tell(f"{what}: {_some([f'{_named(names)} ({why})' for why, names in groups.items()], '; ')}", "")


def short_kernel(kernel: Any) -> str:
    """A kernel in one line; of long lists the first entries.

    >>> from mercer.kernels import Gaussian
    >>> print(short_kernel(Gaussian(2.0).on(list("abcdef"))))
    gaussian(lengthscale=2.0).on(['a', 'b', 'c', and 3 more])
    """
    text, start, depth = str(kernel), 0, 0
    parts: list[str] = []
    commas: list[int] = []
    for token in tokens_of(text):
        if token.text in ("[", "(") and (depth or token.text == "["):  # depth is counted from a list on
            depth += 1
            commas = [] if depth == 1 else commas
        elif token.text in ("]", ")") and depth:
            depth -= 1
            if not depth and len(commas) > MAX_TOLD_ENTRIES:
                more = len(commas) + 1 - MAX_TOLD_ENTRIES
                parts += [text[start : commas[MAX_TOLD_ENTRIES - 1]], f", and {more:,} more"]
                start = token.position
        elif token.text == "," and depth == 1:
            commas.append(token.position)
    short = "".join([*parts, text[start:]])
    return short if len(short) <= MAX_KERNEL_CHARACTERS else f"{short[: MAX_KERNEL_CHARACTERS - 3]}..."


def short_plan(plan: Any) -> str:
    """A plan in one line: the method, what it takes and what it gives up."""
    gives_up = f", giving up {plan.gives_up}" if plan.gives_up else ""
    return f"{summary(plan)}, about {duration(plan.seconds)} and {text_of(plan.bytes)}{gives_up}"


def _named(names: Iterable[Any]) -> str:
    return _some([repr(name) for name in names], ", ")


def _some(texts: list[str], between: str) -> str:
    more = [f"and {len(texts) - MAX_TOLD_ENTRIES:,} more"] if len(texts) > MAX_TOLD_ENTRIES + 1 else []
    return between.join([*(texts[:MAX_TOLD_ENTRIES] if more else texts), *more])
