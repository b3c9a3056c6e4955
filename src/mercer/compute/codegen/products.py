"""Inner products and squared distances of a few rows with a panel of columns, as vector code that Numba pastes in.

LLVM turns plain loops into vector code, but keeps the sums of a pair in memory between coordinates. Here they stay in
registers until they are complete, so that the arithmetic is the limit. BLAS does the same, but for a call with few
coordinates it packs both sides anew, and its tile is written to memory before a formula reads it.
"""

from __future__ import annotations

import hashlib
from types import CodeType
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from mercer.compute.codegen.sweeps import BLOCK_BYTES, ROWS

_FUSED = ("contract", "nsz")


def _registers(codegen: Any) -> tuple[int, int]:
    """Bytes of a vector register of the processor for which code is made, and vectors of a row that are held at once.

    With `ROWS` rows the sums take half of the registers; a product in flight on each unit needs eight of them.
    """
    features = codegen.magic_tuple()[2]
    for feature, size, vectors in (("+avx512f", 64, 4), ("+avx", 32, 2), ("+sse2", 16, 2)):
        if feature in features.split(","):
            return size, vectors
    return 16, 4


def _sweep(squares: bool) -> Any:
    @intrinsic  # type: ignore[misc]
    def sweep(typing: Any, left: Any, i: Any, last: Any, blocks: Any, start: Any, stop: Any, out: Any) -> Any:
        """Join all coordinates of rows i, i + 1, ... of `left`, none beyond `last`, with columns of the right side.

        blocks : (blocks, coordinates, columns of a block); out : (ROWS, columns), from the block of `start` on
        """

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            _generate(context, builder, signature, arguments, squares)
            return context.get_dummy_value()

        return types.void(left, types.intp, types.intp, blocks, types.intp, types.intp, out), generate

    return sweep


def _generate(context: Any, builder: Any, signature: Any, arguments: Any, squares: bool) -> None:
    left, right, out = (context.make_array(signature.args[k])(context, builder, arguments[k]) for k in (0, 3, 6))
    i, last, start, stop = (arguments[k] for k in (1, 2, 4, 5))
    number = context.get_data_type(signature.args[6].dtype)
    item = context.get_abi_sizeof(number)
    size, vectors = _registers(context.codegen())
    lanes, wide = size // item, BLOCK_BYTES // item
    vector = ir.VectorType(number, lanes)
    index = i.type

    def whole(value: int) -> Any:
        return ir.Constant(index, value)

    depth = builder.extract_value(left.shape, 1)
    line = builder.extract_value(out.shape, 1)
    rows = []
    for r in range(ROWS):
        place = builder.add(i, whole(r))
        place = builder.select(builder.icmp_signed("<", place, last), place, last)
        rows.append(builder.gep(left.data, [builder.mul(place, depth)]))
    begin = builder.and_(start, whole(-wide))
    zero = ir.Constant(vector, [0.0] * lanes)
    with cgutils.for_range_slice(builder, begin, stop, whole(lanes * vectors), index) as (j, _):
        inside = builder.and_(j, whole(wide - 1))
        first = builder.gep(right.data, [builder.add(builder.mul(builder.sub(j, inside), depth), inside)])
        before = builder.block
        head = builder.append_basic_block("coordinates")
        body = builder.append_basic_block("coordinate")
        after = builder.append_basic_block("sums")
        builder.branch(head)
        builder.position_at_end(head)
        k = builder.phi(index)
        sums = [[builder.phi(vector) for _ in range(vectors)] for _ in range(ROWS)]
        builder.cbranch(builder.icmp_signed("<", k, depth), body, after)
        builder.position_at_end(body)
        here = builder.gep(first, [builder.mul(k, whole(wide))])
        columns = [_load(builder, here, n * lanes, vector, item) for n in range(vectors)]
        found = []
        for r in range(ROWS):
            x = _splat(builder, builder.load(builder.gep(rows[r], [k])), vector)
            found.append([_joined(builder, total, x, z, squares) for total, z in zip(sums[r], columns, strict=True)])
        following = builder.add(k, whole(1))
        builder.branch(head)
        k.add_incoming(whole(0), before)
        k.add_incoming(following, body)
        for r in range(ROWS):
            for total, more in zip(sums[r], found[r], strict=True):
                total.add_incoming(zero, before)
                total.add_incoming(more, body)
        builder.position_at_end(after)
        for r in range(ROWS):
            there = builder.gep(out.data, [builder.add(builder.mul(whole(r), line), builder.sub(j, begin))])
            for n, total in enumerate(sums[r]):
                place = builder.bitcast(builder.gep(there, [whole(n * lanes)]), vector.as_pointer())
                builder.store(total, place, align=item)


def _load(builder: Any, start: Any, offset: int, vector: Any, item: int) -> Any:
    place = builder.gep(start, [ir.Constant(ir.IntType(64), offset)])
    return builder.load(builder.bitcast(place, vector.as_pointer()), align=item)


def _splat(builder: Any, value: Any, vector: Any) -> Any:
    empty = ir.Constant(vector, ir.Undefined)
    one = builder.insert_element(empty, value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(one, empty, zeros)


def _joined(builder: Any, total: Any, x: Any, z: Any, squares: bool) -> Any:
    first = second = builder.fsub(x, z) if squares else None
    product = builder.fmul(first or x, second or z, flags=_FUSED)
    return builder.fadd(total, product, flags=_FUSED)


inner_products = _sweep(squares=False)
squared_distances = _sweep(squares=True)


def _meaning(code: CodeType) -> list[Any]:
    """What a function does, in words that change when it does."""
    inner = [_meaning(each) if isinstance(each, CodeType) else each for each in code.co_consts]
    return [code.co_code.hex(), code.co_names, code.co_varnames, inner]


_CODES = [each.__code__ for each in (_registers, _sweep, _generate, _load, _splat, _joined)]
DIGEST = hashlib.sha256(repr([*map(_meaning, _CODES), ROWS, BLOCK_BYTES, _FUSED]).encode()).hexdigest()[:32]
"""Of all that decides what is pasted in, beside the processor."""
