"""What kernels do with blocks of values, as text around `at_rows` and `at_pairs`.

No program writes where another one does: partial sums have a place of their own for each span of columns, and are added
in order afterwards. Within a span the sums of tiles are added in float64.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mercer.backends.cuda.text import Source

TILES_AT_ONCE = 8
"""Tiles whose sums are added in the type of the values, before they go into those in float64."""

# In the texts, ARGS are the arguments of all, AT_ROWS and AT_PAIRS are calls, and what is below EACH comes once for
# each block of rows that meets others.
_REDUCE = """\
def reduce(ARGS, v, out, ldo, block, span, stop, BM: tl.constexpr, BN: tl.constexpr, SQUARE: tl.constexpr):
    first = (block + tl.program_id(0)).to(tl.int64) * BM
    total = tl.zeros((BM,), tl.float64)
    begin = tl.program_id(1) * span
    end = tl.minimum(begin + span, stop)
    if SQUARE > 0:  # on the diagonal alone
        begin = (first // SQUARE * SQUARE).to(tl.int32)
        end = begin + SQUARE
    AT_ROWS(first)
    for at0 in tl.range(begin, end, BN):
        at = first * 0 + at0
        value = AT_PAIRS(first, at)
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
    AT_ROWS(first)
    for at1 in tl.range(begin, end, BN * TILES):
        part = tl.zeros((BM, BC), VALUES)
        for at0 in tl.range(at1, tl.minimum(at1 + BN * TILES, end), BN):
            at = first * 0 + at0
            value = AT_PAIRS(first, at)
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
    home = (block + tl.program_id(0)).to(tl.int64) * (BM * BLOCKS)
    begin = tl.program_id(1) * span
    end = tl.minimum(begin + span, home.to(tl.int32))
    EACH
        first{b} = home + {b} * BM
        own{b} = tl.load(v + first{b} + tl.arange(0, BM))[:, None]
        total{b} = tl.zeros((BM,), tl.float64)
        AT_ROWS{b}(first{b})
    for at0 in tl.range(begin, end, BN):
        at = home * 0 + at0
        weight = tl.load(v + at + tl.arange(0, BN))[None, :]
        across = tl.zeros((BM, BN), VALUES)
        EACH
            value = AT_PAIRS{b}(first{b}, at)
            total{b} += tl.sum(value * weight, 1).to(tl.float64)
            across += value * own{b}
        tl.store(side + tl.program_id(0).to(tl.int64) * ldz + at + tl.arange(0, BN), tl.sum(across, 0))
    row = tl.program_id(1).to(tl.int64) * ldo + tl.program_id(0) * (BM * BLOCKS) + tl.arange(0, BM)
    EACH
        tl.store(out + row + {b} * BM, total{b})
"""
_FILL = """\
def fill(ARGS, out, ldo, low, n, m, block, span, stop, BM: tl.constexpr, BN: tl.constexpr, MIRRORED: tl.constexpr):
    first = (block + tl.program_id(0)).to(tl.int64) * BM
    begin = tl.program_id(1) * span
    end = tl.minimum(begin + span, stop)
    if MIRRORED:  # tiles with a pair below the diagonal, or on it
        end = tl.minimum(end, (first + BM).to(tl.int32))
    i = (first + tl.arange(0, BM))[:, None]
    AT_ROWS(first)
    for at0 in tl.range(begin, end, BN):
        at = first * 0 + at0
        value = AT_PAIRS(first, at)
        j = (at + tl.arange(0, BN))[None, :]
        mask = (i >= low) & (i < n) & (j < m)
        if MIRRORED:
            mask = mask & (j <= i)
            tl.store(out + j * ldo + i, value, mask=mask)
        tl.store(out + (i - low) * ldo + j, value, mask=mask)
"""
ACROSS = """\
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["block", "blocks", "n"])
def add_across(side, ld, out, block, blocks, height, n, BN: tl.constexpr):
    j = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.load(out + j, mask=j < n, other=0.0)
    for b in tl.range(0, blocks):
        place = j + (tl.zeros((), tl.int64) + b) * ld
        begun = j < (block + b) * height  # columns left of the square on the diagonal
        total += tl.load(side + place, mask=begun & (j < n), other=0.0).to(tl.float64)
    tl.store(out + j, total, mask=j < n)
"""
"""Adds what blocks of rows left for the columns of a symmetric matrix, in their order."""
FINISHES = {"reduce": _REDUCE, "reduce_many": _MANY, "both": _BOTH, "fill": _FILL}
"""Kernels by their names, which say what they do with values."""


def finish(name: str, source: Source, tables: int, held: str, interpreted: bool) -> str:
    """The text of a kernel around the functions of a formula.

    Parameters
    ----------
    name : str
        One of `FINISHES`.
    source : Source
        What is computed, in which types.
    tables : int
        How many tables of rows there are.
    held : str
        The names of what `at_rows` gives.
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
    for line in _repeated(text.splitlines(), source.blocks):
        if found := re.fullmatch(r"( *)AT_ROWS(\d?)\((.*)\)", line):
            if not held:
                continue
            line = f"{found[1]}{_numbered(held, found[2])} = at_rows({shared}, {found[3]}, BM)"
        elif found := re.fullmatch(r"(.*)AT_PAIRS(\d?)\((.*)\)", line):
            given = ", ".join([shared, *([_numbered(held, found[2])] if held else []), found[3]])
            line = f"{found[1]}at_pairs({given}, BM, BN)"
        lines.append(line)
    same = ["block", "low", "n", "m", *(f"d{k}" for k in range(tables))]
    words = {
        "ARGS": shared,
        "VALUES": f"tl.{source.values}",
        "TILES": str(TILES_AT_ONCE),
        "BLOCKS": str(source.blocks),
    }
    text = re.sub(r"\b(ARGS|VALUES|TILES|BLOCKS)\b", lambda word: words[word[0]], "\n".join(lines)) + "\n"
    named = [argument for argument in same if re.search(rf"\b{argument}\b", text.partition(":\n")[0])]
    return f"@triton.jit(do_not_specialize={named!r})\n{text}"


def shared_arguments(tables: int) -> str:
    """What every kernel gets: of each table the rows, the columns and the width; vectors, their lengths, numbers."""
    return ", ".join([*(f"x{k}, z{k}, d{k}" for k in range(tables)), "rows, columns, numbers, ldx, ldz"])


def _repeated(lines: list[str], blocks: int) -> Iterator[str]:
    """The lines, those below an EACH once for each block."""
    inside: list[str] = []
    depth = -1
    for line in [*lines, ""]:
        indent = len(line) - len(line.lstrip())
        if depth >= 0 and indent <= depth:
            for b in range(blocks):
                yield from (each[4:].replace("{b}", str(b)) for each in inside)
            inside, depth = [], -1
        if line.strip() == "EACH":
            depth = indent
        elif depth >= 0:
            inside.append(line)
        else:
            yield line


def _numbered(names: str, block: str) -> str:
    return ", ".join(name + (f"_of{block}" if block else "") for name in names.split(", "))
