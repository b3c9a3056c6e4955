"""What kernels do with blocks of values, as text around `at_rows`, `at_columns` and `at_pairs`.

No program writes where another one does: partial sums have a place of their own for each span of columns, and are added
in order afterwards. Within a span the sums of tiles are added in float64.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mercer.backends.cuda.text import Source

TILES_AT_ONCE = 8
"""Tiles whose sums are added in the type of the values, before they go into those in float64."""

# In the texts, ARGS are the arguments of all, AT_ROWS, AT_COLUMNS and AT_PAIRS are calls.
_REDUCE = """\
def reduce(ARGS, v, out, ldo, block, span, stop, BM: tl.constexpr, BN: tl.constexpr, SQUARE: tl.constexpr):
    first = (block + tl.program_id(0)).to(tl.int64) * BM
    total = tl.zeros((BM,), tl.float64)
    begin = tl.program_id(1) * span
    end = tl.minimum(begin + span, stop)
    if SQUARE > 0:  # on the diagonal alone
        begin = (first // SQUARE * SQUARE).to(tl.int32)
        end = begin + SQUARE
    AT_ROWS(first, BM)
    for at0 in tl.range(begin, end, BN):
        at = first * 0 + at0
        AT_COLUMNS(at, BN)
        value = AT_PAIRS(first, at, BM, BN)
        weight = tl.load(v + at + tl.arange(0, BN))
        total += tl.sum(value * weight[None, :], 1).to(tl.float64)
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    tl.store(out + tl.program_id(1).to(tl.int64) * ldo + row, total)
"""
_MANY = """\
def reduce_many(
    ARGS, v, u, out, ldo, block, span, stop, BM: tl.constexpr, BN: tl.constexpr, BC: tl.constexpr
):
    first = (block + tl.program_id(0)).to(tl.int64) * BM
    total = tl.zeros((BM, BC), tl.float64)
    begin = tl.program_id(1) * span
    end = tl.minimum(begin + span, stop)
    c = tl.arange(0, BC)
    AT_ROWS(first, BM)
    for at1 in tl.range(begin, end, BN * TILES):
        part = tl.zeros((BM, BC), VALUES)
        for at0 in tl.range(at1, tl.minimum(at1 + BN * TILES, end), BN):
            at = first * 0 + at0
            AT_COLUMNS(at, BN)
            value = AT_PAIRS(first, at, BM, BN)
            place = at * BC + (tl.arange(0, BN)[:, None] * BC + c[None, :])
            PRODUCT
        total += part.to(tl.float64)
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    place = tl.program_id(1).to(tl.int64) * ldo + row
    tl.store(out + place[:, None] * BC + c[None, :], total)
"""
_PRODUCTS = {
    "float64": """\
            part = tl.dot(value, tl.load(v + place), part, input_precision="ieee", out_dtype=tl.float64)
""",
    "float32": """\
            large = ((value.to(tl.int32, bitcast=True) + 0x1000) & -0x2000).to(tl.float32, bitcast=True)
            weight = tl.load(v + place)
            part = tl.dot(value - large, weight, part, input_precision="tf32")
            part = tl.dot(large, tl.load(u + place), part, input_precision="tf32")
            part = tl.dot(large, weight, part, input_precision="tf32")
""",
    "bfloat16": """\
            large = value.to(tl.bfloat16)
            small = (value - large.to(tl.float32)).to(tl.bfloat16)
            weight = tl.load(v + place)
            part = tl.dot(small, weight, part)
            part = tl.dot(large, tl.load(u + place), part)
            part = tl.dot(large, weight, part)
""",
}
"""Products with many vectors: v holds the large parts of their numbers, and u the small ones."""
_BOTH = """\
def both(ARGS, v, out, side, ldo, block, span, BM: tl.constexpr, BN: tl.constexpr):
    at = (block + tl.program_id(0)).to(tl.int64) * BN
    own = tl.load(v + at + tl.arange(0, BN))[None, :]
    total = tl.zeros((BM, BN), VALUES)
    begin = tl.program_id(1) * span
    end = tl.minimum(begin + span, at.to(tl.int32))
    AT_COLUMNS(at, BN)
    for first0 in tl.range(begin, end, BM):
        first = at * 0 + first0
        AT_ROWS(first, BM)
        value = AT_PAIRS(first, at, BM, BN)
        total += value * tl.load(v + first + tl.arange(0, BM))[:, None]
        tl.store(side + tl.program_id(0).to(tl.int64) * ldz + first + tl.arange(0, BM), tl.sum(value * own, 1))
    place = tl.program_id(1).to(tl.int64) * ldo + tl.program_id(0) * BN + tl.arange(0, BN)
    tl.store(out + place, tl.sum(total, 0).to(tl.float64))
"""
_FILL = """\
def fill(ARGS, out, ldo, low, n, m, block, span, stop, BM: tl.constexpr, BN: tl.constexpr, MIRRORED: tl.constexpr):
    first = (block + tl.program_id(0)).to(tl.int64) * BM
    begin = tl.program_id(1) * span
    end = tl.minimum(begin + span, stop)
    if MIRRORED:  # tiles with a pair below the diagonal, or on it
        end = tl.minimum(end, (first + BM).to(tl.int32))
    i = (first + tl.arange(0, BM))[:, None]
    AT_ROWS(first, BM)
    for at0 in tl.range(begin, end, BN):
        at = first * 0 + at0
        AT_COLUMNS(at, BN)
        value = AT_PAIRS(first, at, BM, BN)
        j = (at + tl.arange(0, BN))[None, :]
        mask = (i >= low) & (i < n) & (j < m)
        if MIRRORED:
            mask = mask & (j <= i)
            tl.store(out + j * ldo + i, value, mask=mask)
        tl.store(out + (i - low) * ldo + j, value, mask=mask)
"""
SUMS = """\
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["block", "blocks", "n"])
def add_across(side, ld, out, block, blocks, height, n, BN: tl.constexpr):
    j = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.load(out + j, mask=j < n, other=0.0)
    for b in tl.range(0, blocks):
        place = j + (tl.zeros((), tl.int64) + b) * ld
        begun = j < (block + b) * height  # rows above the square on the diagonal
        total += tl.load(side + place, mask=begun & (j < n), other=0.0).to(tl.float64)
    tl.store(out + j, total, mask=j < n)


@triton.jit(do_not_specialize=["spans", "n"])
def add_spans(partial, out, spans, n, BN: tl.constexpr):
    i = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.load(out + i, mask=i < n, other=0.0)
    for s in tl.range(0, spans):
        total += tl.load(partial + (tl.zeros((), tl.int64) + s) * n + i, mask=i < n, other=0.0)
    tl.store(out + i, total, mask=i < n)
"""
"""Adds what spans, and blocks of a symmetric matrix's columns, left for others, in their order."""
FINISHES = {"reduce": _REDUCE, "reduce_many": _MANY, "both": _BOTH, "fill": _FILL}
"""Kernels by their names, which say what they do with values."""


def finish(name: str, source: Source, tables: int, rows: str, columns: str, interpreted: bool) -> str:
    """The text of a kernel around the functions of a formula.

    Parameters
    ----------
    name : str
        One of `FINISHES`.
    source : Source
        What is computed, in which types.
    tables : int
        How many tables of rows there are.
    rows, columns : str
        The names of what `at_rows` and `at_columns` give.
    interpreted : bool
        Whether Triton's interpreter runs it.

    Returns
    -------
    text : str
    """
    shared = shared_arguments(tables)
    product = _PRODUCTS["bfloat16" if source.is_rough else source.values].strip()
    if interpreted:
        product = product.replace(".to(tl.bfloat16)", ".to(tl.bfloat16).to(tl.float32)")
    text = FINISHES[name].replace("PRODUCT", product)
    lines = []
    for line in text.splitlines():
        if found := re.fullmatch(r"( *)AT_(ROWS|COLUMNS)\((.*)\)", line):
            names = rows if found[2] == "ROWS" else columns
            if not names:
                continue
            line = f"{found[1]}{names} = at_{found[2].lower()}({shared}, {found[3]})"
        elif found := re.fullmatch(r"(.*)AT_PAIRS\((.*)\)", line):
            line = f"{found[1]}at_pairs({', '.join(filter(None, [shared, rows, columns, found[2]]))})"
        lines.append(line)
    same = ["block", "low", "n", "m", *(f"d{k}" for k in range(tables))]
    words = {
        "ARGS": shared,
        "VALUES": f"tl.{source.values}",
        "TILES": str(TILES_AT_ONCE),
    }
    text = re.sub(r"\b(ARGS|VALUES|TILES)\b", lambda word: words[word[0]], "\n".join(lines)) + "\n"
    named = [argument for argument in same if re.search(rf"\b{argument}\b", text.partition(":\n")[0])]
    return f"@triton.jit(do_not_specialize={named!r})\n{text}"


def shared_arguments(tables: int) -> str:
    """What every kernel gets: of each table the rows, the columns and the width; vectors, their lengths, numbers."""
    return ", ".join([*(f"x{k}, z{k}, d{k}" for k in range(tables)), "rows, columns, numbers, ldx, ldz"])
