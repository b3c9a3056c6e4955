"""Tables of rows for the card's inner products: numbers split into short ones, and norms packed beside them.

One inner product of a left and a right row of a table is <x, z>, or c |x - z|^2 where norms are packed: the left row
holds [-2c x, c |x|^2, 1], the right one [z, 1, |z|^2]. In short formats each number is a sum of a few parts, and each
pair of parts that matters has columns of its own, small ones first. All parts are such numbers already, so that the
card rounds nothing but its sums. In tables of wide rows each part stands once, since there loading is what takes time:
the kernel multiplies pairs of parts, and begins with the norms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

PADDING = 256
"""Rows come in multiples of this; the last one is repeated, so that no tile has an end of its own."""
PACKED_ROWS = 1 << 16
"""Rows that are split at once."""


MIN_CHUNK, MAX_CHUNK = 16, 128
"""Columns that are multiplied at once: a table has a multiple of the first, and is cut into powers of two."""
WIDE_CHUNK = 32
"""Columns of wide rows that are loaded and multiplied at once, of which there are more than `NARROW`."""
NARROW = 64


@dataclass(frozen=True)
class Form:
    """How numbers are split.

    dtype : of the table
    left, right : of which part each block of columns is, on either side; part 0 is the largest
    norms : the parts of a norm
    precision : how the card is to take float32: "tf32" where each number is one already
    """

    dtype: str
    left: tuple[int, ...]
    right: tuple[int, ...]
    norms: int
    precision: str = "ieee"

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The parts that are multiplied, small products first."""
        return list(zip(self.left, self.right, strict=True))

    @property
    def parts(self) -> int:
        """Of how many parts a number consists."""
        return max(self.left) + 1

    def width(self, columns: int, norms: bool) -> int:
        """The columns of a table."""
        return -(-self._packed(columns, norms) // MIN_CHUNK) * MIN_CHUNK

    def _packed(self, columns: int, norms: bool) -> int:
        return len(self.left) * columns + 2 * self.norms * norms


FORMS = {
    "float64": Form("float64", (0,), (0,), 1),
    "tf32x3": Form("float32", (1, 0, 0), (0, 1, 0), 2, "tf32"),
    "bf16x6": Form("bfloat16", (1, 0, 2, 0, 1, 0), (1, 2, 0, 1, 0, 0), 3),
    "bf16x3": Form("bfloat16", (1, 0, 0), (0, 1, 0), 3),
}
"""float64 as it is; float32's accuracy from three products of TF32 or six of bfloat16; a rough one from three."""


def rounded(values: torch.Tensor, dtype: str) -> torch.Tensor:
    """Float64 numbers to the nearest of a short format: TF32 stands in float32."""
    if dtype == "bfloat16":
        return values.to(torch.bfloat16)
    if dtype == "float64":
        return values
    bits = values.to(torch.float32).contiguous().view(torch.int32)
    return ((bits + 0x1000) & ~0x1FFF).view(torch.float32)


def split(values: torch.Tensor, parts: int, dtype: str) -> list[torch.Tensor]:
    """So many short numbers whose sum is about each number, the largest first."""
    found, rest = [], values
    for _ in range(parts):
        found.append(rounded(rest, dtype))
        rest = rest - found[-1].to(torch.float64)
    return found


Moved = Callable[[int, int], torch.Tensor]
"""moved(start, stop): some rows, measured from the origin, in float64."""


def packed(
    shape: tuple[int, int],
    moved: Moved,
    norms: torch.Tensor | None,
    factor: float,
    form: Form,
    left: bool,
    like: torch.Tensor,
) -> torch.Tensor:
    """The table of the rows of one side.

    Parameters
    ----------
    shape : (n, d)
        Of the rows.
    moved : callable
        Gives some of them.
    norms : tensor of shape (n,), or None
        |x|^2 of each; None for <x, z> alone.
    factor : float
        c: what squared distances are multiplied with.
    form : Form
        How numbers are split.
    left : bool
        Which side it is.
    like : tensor
        Has the type and the device of the table: for Triton's interpreter, which has no bfloat16, float32.

    Returns
    -------
    table : tensor of shape (n padded, K)
    """
    n, d = shape
    table = like.new_zeros((padded(n), form.width(d, norms is not None)))
    for start in range(0, n, PACKED_ROWS):
        rows = moved(start, start + PACKED_ROWS)
        if norms is not None and left:
            rows = rows * (-2.0 * factor)
        parts = split(rows, form.parts, form.dtype)
        columns = [parts[k] for k in (form.left if left else form.right)]
        if norms is not None:
            own = split(norms[start : start + PACKED_ROWS, None] * factor, form.norms, form.dtype)
            ones = [torch.ones_like(own[0])] * form.norms
            columns += own[::-1] + ones if left else ones + own[::-1]
        block = torch.cat(columns, dim=1).to(table.dtype)
        table[start : start + len(block), : block.shape[1]] = block
    table[n:] = table[n - 1]
    return table


def parted(shape: tuple[int, int], moved: Moved, factor: float, form: Form, like: torch.Tensor) -> torch.Tensor:
    """The table of wide rows: all coordinates of a part, those of the next one, and so on.

    Parameters
    ----------
    shape : (n, d)
        Of the rows.
    moved : callable
        Gives some of them.
    factor : float
        With what they are multiplied.
    form : Form
        How numbers are split.
    like : tensor
        See `packed`.

    Returns
    -------
    table : tensor of shape (n padded, parts times d filled up)
    """
    n, d = shape
    table = like.new_zeros((padded(n), form.parts, coordinates(d)))
    for start in range(0, n, PACKED_ROWS):
        rows = moved(start, start + PACKED_ROWS) * factor
        for k, part in enumerate(split(rows, form.parts, form.dtype)):
            table[start : start + len(rows), k, :d] = part
    table[n:] = table[n - 1]
    return table.reshape(padded(n), -1)


def coordinates(columns: int) -> int:
    """The columns of a part of wide rows."""
    step = MIN_CHUNK if columns <= NARROW else WIDE_CHUNK
    return -(-columns // step) * step


def wide_chunk(width: int) -> int:
    """So many columns of a part of wide rows are loaded at once, where rows are not held."""
    return WIDE_CHUNK if width % WIDE_CHUNK == 0 else MIN_CHUNK


def chunks(width: int, most: int = MAX_CHUNK) -> list[tuple[int, int]]:
    """Where a table of this width is cut, and how many columns begin there: as few as there can be.

    Examples
    --------
    >>> chunks(48), chunks(96), chunks(272)
    ([(0, 32), (32, 16)], [(0, 64), (64, 32)], [(0, 128), (128, 128), (256, 16)])
    """
    found, start = [], 0
    while start < width:
        size = min(1 << (width - start).bit_length() - 1, most)
        found.append((start, size))
        start += size
    return found


def padded(rows: int) -> int:
    """So many rows and those that fill them up."""
    return -(-rows // PADDING) * PADDING


def filled(positions: Any, count: int) -> Any:
    """Positions of rows, the last one repeated until they are a multiple of `PADDING`."""
    return torch.cat([positions, positions[-1:].expand(padded(count) - count)])


def vectors(entries: list[torch.Tensor], dtype: torch.dtype) -> torch.Tensor:
    """Vectors of n numbers as rows of a table, filled up."""
    stacked = torch.stack([entry.to(dtype) for entry in entries])
    n = stacked.shape[1]
    return torch.cat([stacked, stacked[:, -1:].expand(-1, padded(n) - n)], dim=1).contiguous()


def transposed(values: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The coordinates of rows as vectors, filled up."""
    n, d = values.shape
    table = torch.empty((d, padded(n)), dtype=dtype, device=values.device)
    table[:, :n] = values.T
    table[:, n:] = table[:, n - 1 : n]
    return table
