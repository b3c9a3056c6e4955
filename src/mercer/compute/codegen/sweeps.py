"""The text of loops that join terms of any formula over the coordinates of pairs.

A sweep meets a few rows with a few coordinates of all columns at hand. So a number of the right side, once loaded,
serves several rows, and a partial sum takes several terms before it is stored.
"""

from __future__ import annotations

from collections.abc import Callable

ROWS = 4
"""Rows at once: what they need of vector registers fits where there are 16."""
COORDINATES = 4
"""Coordinates a sweep: each partial sum is then loaded and stored a quarter as often."""
BLOCK_BYTES = 256
"""Bytes of a coordinate of a block of columns of the right side; those of the next coordinate follow."""

Term = Callable[[str, str], str]
"""term(x, z): the text of a term of two coordinates."""


def sweeping(name: str, joined_by: str, term: Term, extra: str, rows: int) -> str:
    """A function that joins the terms of `ROWS` rows, `rows` at a time, with each of the columns at hand.

    Rows beyond the last are the last once more, so that there is one loop for all. The sums of a pair are taken in the
    same order whatever rows are beside it.
    """
    sign, neutral = (" + ", 0) if joined_by == "sum" else (" * ", 1)
    places = range(rows)
    lines = [
        f"def {name}(left, i, last, panels, start, stop, out, panel{extra}):",
        "    z, begin, width, depth = panels[start // panel], start % panel, stop - start, left.shape[1]",
        "    first = (depth - 1) % COORDINATES + 1  # the first sweep takes what does not fill one",
        f"    for r in range(0, ROWS, {rows}):",
        *(f"        i{s}, q{s} = min(i + r + {s}, last), out[r + {s}, start % WIDE :]" for s in places),
        "        if depth == 0:",
        "            for j in range(width):",
        *(f"                q{s}[j] = S({neutral})" for s in places),
    ]
    for count in range(1, COORDINATES + 1):
        lines += [f"        elif first == {count}:", *_sweep("0", count, rows, sign, term, False)]
    lines += ["        for k in range(first, depth, COORDINATES):", *_sweep("k", COORDINATES, rows, sign, term, True)]
    return "\n".join([HEAD, *lines])


HEAD = "@njit(nogil=True, boundscheck=False, **WORD | {'forceinline': False})"
"""It is called, not inlined, since three functions share it."""


def _sweep(k: str, count: int, rows: int, sign: str, term: Term, more: bool) -> list[str]:
    lines = [f"z{c} = z[{k} + {c}, begin : begin + width]" for c in range(count)]
    lines += [f"x{s}_{c} = left[i{s}, {k} + {c}]" for s in range(rows) for c in range(count)]
    lines.append("for j in range(width):")
    for s in range(rows):
        terms = [term(f"x{s}_{c}", f"z{c}[j]") for c in range(count)]
        lines.append(f"    s{s} = {sign.join([f'q{s}[j]'] * more + terms)}")
    lines += [f"    q{s}[j] = s{s}" for s in range(rows)]
    return [" " * 12 + line for line in lines]
