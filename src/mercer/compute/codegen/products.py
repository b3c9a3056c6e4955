"""Inner products and squared distances of a few rows with a panel of columns, as vector code that Numba pastes in.

LLVM turns plain loops into vector code, but keeps the sums of a pair in memory between coordinates. Here they stay in
registers until they are complete, so that the arithmetic is the limit. BLAS does the same, but a call for few
coordinates packs both sides anew, and writes a tile that a formula then has to read.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from types import CodeType
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from mercer.compute.codegen.sweeps import BLOCK_BYTES, ROWS

FUSED = ("contract", "nsz")
"""What LLVM may do: multiply and add in one step. The order of a sum stays as it is, the same for every row."""


def _sweep(squares: bool) -> Any:
    @intrinsic
    def sweep(typing: Any, left: Any, i: Any, last: Any, blocks: Any, start: Any, stop: Any, out: Any) -> Any:
        """Join all coordinates of rows i, i + 1, ... of `left`, none beyond `last`, with columns of the right side.

        blocks : (blocks, coordinates, columns of a block); out : (ROWS, columns), from the block of `start` on
        """

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            arrays = (context.make_array(signature.args[k])(context, builder, arguments[k]) for k in (0, 3, 6))
            form = _Form.of(context, signature.args[6].dtype, squares)
            _over_columns(builder, form, *arrays, *(arguments[k] for k in (1, 2, 4, 5)))
            return context.get_dummy_value()

        return types.void(left, types.intp, types.intp, blocks, types.intp, types.intp, out), generate

    return sweep


@dataclass(frozen=True)
class _Form:
    """The shape of the vector code.

    vector : a register full of numbers
    count : registers of columns that meet a row at once
    wide : columns of a block
    align : bytes to whose multiples numbers are aligned
    squares : whether squares of differences are summed, and not products
    """

    vector: Any
    count: int
    wide: int
    align: int
    squares: bool

    @classmethod
    def of(cls, context: Any, dtype: Any, squares: bool) -> _Form:
        number = context.get_data_type(dtype)
        item = context.get_abi_sizeof(number)
        size, count = _registers(context.codegen().magic_tuple()[2])
        return cls(ir.VectorType(number, size // item), count, BLOCK_BYTES // item, item, squares)


def _registers(features: str) -> tuple[int, int]:
    """Bytes of a vector register, for the features of a processor, and registers of columns that meet a row at once.

    With `ROWS` rows the sums take half of all registers: eight at least, since a sum takes four steps on two units.
    """
    has = features.split(",")
    if "+avx512f" in has:
        return 64, 4
    return (32 if "+avx" in has else 16), 2 if "+sse2" in has else 4


def _over_columns(
    builder: Any, form: _Form, left: Any, right: Any, out: Any, i: Any, last: Any, start: Any, stop: Any
) -> None:
    """The loop over columns, some registers of them at a time."""
    depth, line = builder.extract_value(left.shape, 1), builder.extract_value(out.shape, 1)
    rows = []
    for r in range(ROWS):
        row = builder.add(i, i.type(r))
        row = builder.select(builder.icmp_signed("<", row, last), row, last)
        rows.append(builder.gep(left.data, [builder.mul(row, depth)]))
    begin, lanes = builder.and_(start, i.type(-form.wide)), form.vector.count
    with cgutils.for_range_slice(builder, begin, stop, i.type(lanes * form.count), i.type) as (j, _):
        inside = builder.and_(j, i.type(form.wide - 1))
        block = builder.gep(right.data, [builder.add(builder.mul(builder.sub(j, inside), depth), inside)])
        for r, sums in enumerate(_over_coordinates(builder, form, rows, block, depth)):
            place = builder.add(builder.mul(i.type(r), line), builder.sub(j, begin))
            for n, total in enumerate(sums):
                there = builder.gep(out.data, [builder.add(place, i.type(n * lanes))])
                builder.store(total, builder.bitcast(there, form.vector.as_pointer()), align=form.align)


def _over_coordinates(builder: Any, form: _Form, rows: list[Any], block: Any, depth: Any) -> list[list[Any]]:
    """The loop over coordinates, and the sums of every row when it has ended."""
    before = builder.block
    head, body, after = (builder.append_basic_block(name) for name in ("coordinates", "coordinate", "sums"))
    builder.branch(head)
    builder.position_at_end(head)
    k = builder.phi(depth.type)
    sums = [[builder.phi(form.vector) for _ in range(form.count)] for _ in rows]
    builder.cbranch(builder.icmp_signed("<", k, depth), body, after)
    builder.position_at_end(body)
    columns = []
    for n in range(form.count):
        place = builder.add(builder.mul(k, k.type(form.wide)), k.type(n * form.vector.count))
        column = builder.bitcast(builder.gep(block, [place]), form.vector.as_pointer())
        columns.append(builder.load(column, align=form.align))
    for row, totals in zip(rows, sums, strict=True):
        x = _in_all_lanes(builder, builder.load(builder.gep(row, [k])), form.vector)
        for total, z in zip(totals, columns, strict=True):
            total.add_incoming(form.vector([0.0] * form.vector.count), before)
            total.add_incoming(_with_term(builder, form, total, x, z), body)
    k.add_incoming(k.type(0), before)
    k.add_incoming(builder.add(k, k.type(1)), body)
    builder.branch(head)
    builder.position_at_end(after)
    return sums


def _in_all_lanes(builder: Any, value: Any, vector: Any) -> Any:
    lane = ir.IntType(32)
    first = builder.insert_element(vector(ir.Undefined), value, lane(0))
    zeros = ir.VectorType(lane, vector.count)([0] * vector.count)
    return builder.shuffle_vector(first, vector(ir.Undefined), zeros)


def _with_term(builder: Any, form: _Form, total: Any, x: Any, z: Any) -> Any:
    if form.squares:
        x = z = builder.fsub(x, z)
    return builder.fadd(total, builder.fmul(x, z, flags=FUSED), flags=FUSED)


inner_products = _sweep(squares=False)
squared_distances = _sweep(squares=True)


def _meaning(code: CodeType) -> list[Any]:
    """What a function does, in words that change when it does."""
    inner = [_meaning(each) if isinstance(each, CodeType) else each for each in code.co_consts]
    return [code.co_code.hex(), code.co_names, code.co_varnames, inner]


_FUNCTIONS = (_sweep, _Form.of, _registers, _over_columns, _over_coordinates, _in_all_lanes, _with_term)
_WORDS = [_meaning(each.__code__) for each in _FUNCTIONS]
DIGEST = hashlib.sha256(repr([*_WORDS, ROWS, BLOCK_BYTES, FUSED]).encode()).hexdigest()[:32]
"""Of all that decides what is pasted in, beside the processor: it belongs to the key of the code that uses it."""
