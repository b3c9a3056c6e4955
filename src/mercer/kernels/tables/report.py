"""A proposal in words: a line per column, and the kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mercer.kernels.base import Kernel
from mercer.kernels.lexer import tokens_of
from mercer.kernels.tables.choice import GAUSSIAN, PLACES, Choice

WIDTH = 110
"""Characters of a line of the formula, where it can be broken."""
HEAD = ("column", "taken for", "part", "why")


def report(rows: int, columns: Sequence[Choice], lengthscale: float, kernel: Kernel | None) -> str:
    """The text of `print(proposal)`; the formula in it parses back, line breaks included."""
    text = "none, since all columns are left out" if kernel is None else str(kernel)
    lines = [HEAD, *((str(choice.name), choice.taken_for, choice.part, choice.why) for choice in columns)]
    first, second, third = (max(len(line[k]) for line in lines) for k in range(3))
    table = [f"  {a:<{first}}  {b:<{second}}  {c:<{third}}  {d}" for a, b, c, d in lines]
    numeric = any(choice.place in ("numbers", *PLACES, "gapped") for choice in columns)
    from_what = (
        "the root mean squared distance of a row from the mean, in deviations" if numeric else "how much labels vary"
    )
    said = f"  lengthscale {lengthscale!r}: {from_what}"
    placed = any(choice.place in GAUSSIAN for choice in columns)
    formula = [f"  {'       ' if k else 'kernel:'} {line}" for k, line in enumerate(_lines(text))]
    return "\n".join([f"a kernel for {rows:,} rows x {len(columns):,} columns", *table, *[said] * placed, *formula])


def _lines(text: str) -> Iterator[str]:
    """A formula, broken before operators and after commas, never inside of a name."""
    start = end = 0
    for cut in [*_cuts(text), len(text)]:
        if cut - start > WIDTH and end > start:
            yield text[start:end].strip()
            start = end
        end = cut
    yield text[start:].strip()


def _cuts(text: str) -> Iterator[int]:
    for token in tokens_of(text):
        if token.kind == "symbol" and token.text in "*+,":
            yield token.position + (token.text == ",")
