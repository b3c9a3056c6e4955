"""Mutants of model files: changed byte by byte, or where it matters, with a digest that holds."""

from __future__ import annotations

import hashlib
import json
import random
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mercer.kernels.text import known_names
from mercer.kernels.text_grammar import METHODS
from mercer.models.registry import ENTRIES
from mercer.models.safetensors import VERSIONS

EDGES = [None, True, False, 0, 1, -1, 2, 7, 63, 64, 2**31, 2**32, 2**53, 2**63 - 1, -(2**63), 2**64, 10**19]
REALS = [0.0, -0.0, 0.5, 1e-308, 1e308, -1e308]
TEXTS = ["", "x", "nan", "linear", "\x00", "é", "KernelRidge", "precomputed", "__class__", "\ud800"]
VALUES: list[Any] = [*EDGES, *REALS, *TEXTS, [], {}]
NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.5, 1e300, -1e300, float("inf"), float("-inf"), float("nan"), 2.0**31, 2.0**53]
CODES = ["F64", "I64", "U64", "F32", "I32", "U8", "I8", "BOOL", "F16"]
FORMS = ["tuple", "list", "dict", "float", "dtype", "scalar", "slice", "kernel", "number", "object", "array"]
WIDEST = 300_000
"""Letters by which a mutant may grow."""
Tensors = dict[str, tuple[str, list[int], bytes]]


@dataclass(frozen=True)
class Seed:
    """A whole file, and what it consists of.

    raw : its bytes
    record : of the model
    tensors : by name, each a dtype, a shape and bytes
    """

    raw: bytes
    record: Any
    tensors: Tensors

    @classmethod
    def of(cls, path: Path) -> Seed:
        """From a file."""
        raw = path.read_bytes()
        (length,) = struct.unpack("<Q", raw[:8])
        header = json.loads(raw[8 : 8 + length])
        metadata, data = header.pop("__metadata__"), raw[8 + length :]
        tensors = {
            name: (about["dtype"], about["shape"], data[slice(*about["data_offsets"])])
            for name, about in header.items()
        }
        return cls(raw, json.loads(metadata["record"]), tensors)


def signed(raw: bytes, lies: bool = False) -> bytes:
    """The same bytes with a digest that holds, and a length of the header that does, unless it lies."""
    if len(raw) < 200:
        return raw
    (length,) = struct.unpack("<Q", raw[:8])
    length = min(length, len(raw) - 8)
    start = raw[:8] if lies else struct.pack("<Q", length)
    blank = raw[8:35] + b"0" * 64 + raw[99:]
    return start + blank[:27] + hashlib.sha256(start + blank).hexdigest().encode() + blank[91:]


def put_together(record: Any, tensors: Tensors, rng: random.Random) -> bytes:
    """A file with a digest that holds; now and then its header lies."""
    about: dict[str, Any] = {}
    at = 0
    for name, (code, shape, content) in tensors.items():
        about[name] = {"dtype": code, "shape": list(shape), "data_offsets": [at, at + len(content)]}
        at += len(content)
    if rng.random() < 0.05:
        node, key = rng.choice(list(places(about)) or [({}, "x")])
        node[key] = rng.choice(VALUES)
    metadata = {"sha256": "0" * 64, "format": "mercer model", "version": VERSIONS[-1], "record": json.dumps(record)}
    raw = json.dumps({"__metadata__": metadata, **about}, separators=(",", ":")).encode()
    data = b"".join(content for _, _, content in tensors.values())
    return signed(struct.pack("<Q", len(raw)) + raw + data)


# -- bytes ------------------------------------------------------------------------------------------------------------


def by_bytes(seed: Seed, rng: random.Random) -> bytes:
    """Bytes flipped, written over, put in, taken out, doubled or cut off; most with a digest that holds."""
    raw = bytearray(seed.raw)
    for _ in range(rng.choice([1, 1, 1, 2, 4, 16])):
        _change_bytes(raw, rng)
        if not raw:
            return b""
    return signed(bytes(raw), rng.random() < 0.1) if rng.random() < 0.7 else bytes(raw)


def _change_bytes(raw: bytearray, rng: random.Random) -> None:
    at, size = rng.randrange(len(raw)), rng.choice([1, 1, 2, 8, 64])
    kind = rng.randrange(6)
    if kind == 0:
        raw[at] ^= 1 << rng.randrange(8)
    elif kind == 1:
        raw[at : at + size] = rng.randbytes(size)
    elif kind == 2:
        raw[at:at] = rng.randbytes(size)
    elif kind == 3:
        del raw[at : at + size]
    elif kind == 4:
        raw[at:at] = raw[at : at + size]
    elif len(raw) > 300:
        del raw[rng.randrange(200, len(raw)) :]


def by_letters(seed: Seed, rng: random.Random) -> bytes:
    """Letters of the header changed into others that JSON knows, so that it is often read."""
    (length,) = struct.unpack("<Q", seed.raw[:8])
    raw = bytearray(seed.raw)
    for _ in range(rng.choice([1, 1, 2, 3])):
        raw[rng.randrange(99, 8 + length)] = rng.choice(b'0123456789-+.eE"[]{}:,\\ ntfalrusx')
    return signed(bytes(raw))


# -- the record -------------------------------------------------------------------------------------------------------


def places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Every container of a tree with every key of it."""
    for key, below in list(node.items() if isinstance(node, dict) else enumerate(node)):
        yield node, key
        if isinstance(below, dict | list):
            yield from places(below)


def copied(node: Any) -> Any:
    """A tree that may be changed."""
    return json.loads(json.dumps(node))


def stranger(seed: Seed, rng: random.Random) -> Any:
    """A value that may stand where another one stood."""
    kind = rng.randrange(10)
    if kind < 4:
        return rng.choice(VALUES)
    if kind == 4:
        return {"object": rng.randrange(-1, len(seed.record["objects"]) + 1)}
    if kind == 5:
        return {"array": rng.randrange(-1, len(seed.tensors) + 1)} | ({"order": "F"} if rng.random() < 0.3 else {})
    if kind == 6:
        return {rng.choice(FORMS): rng.choice(VALUES)}
    if kind == 7:
        return rng.choice(list(ENTRIES))
    node, key = rng.choice(list(places(seed.record)))
    return copied(node[key])


def by_record(seed: Seed, rng: random.Random) -> bytes:
    """Values of the record replaced, moved, doubled or taken out."""
    record = copied(seed.record)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        if not record.get("objects"):
            break
        node, key = rng.choice(list(places(record)))
        kind = rng.randrange(6)
        if kind < 4:
            node[key] = stranger(seed, rng)
        elif kind == 4 and isinstance(node, dict):
            node[rng.choice([*TEXTS, "fields", "__reduce__", key])] = node.pop(key)
        elif isinstance(node, list):
            node.insert(rng.randrange(len(node) + 1), stranger(seed, rng))
        else:
            node.pop(key)
    return put_together(record, seed.tensors, rng)


def by_numbers(seed: Seed, rng: random.Random) -> bytes:
    """Numbers of the record replaced by others of their type: what is left is nearly a model."""
    record = copied(seed.record)
    found = [(node, key) for node, key in places(record) if type(node[key]) in (int, float)]
    for node, key in rng.sample(found, min(len(found), rng.choice([1, 1, 2, 3]))):
        likely = REALS if isinstance(node[key], float) else [one for one in EDGES if type(one) is int]
        node[key] = rng.choice([*likely, node[key] + 1, node[key] - 1, 2 * node[key]])
    return put_together(record, seed.tensors, rng)


def by_growth(seed: Seed, rng: random.Random) -> bytes:
    """A list or a text of the record repeated until it is large."""
    record = copied(seed.record)
    found = [(node, key) for node, key in places(record) if isinstance(node[key], list | str) and node[key]]
    node, key = rng.choice(found)
    node[key] = node[key] * rng.randrange(2, max(3, WIDEST // len(json.dumps(node[key]))))
    return put_together(record, seed.tensors, rng)


# -- kernels ----------------------------------------------------------------------------------------------------------

NAMES = [*known_names(), "exp", "os", "__import__", "lambda"]


def kernel_text(rng: random.Random, depth: int = 0) -> str:
    """A formula that is often one of a kernel."""
    kind = rng.randrange(9)
    if depth > 4 or kind < 3:
        return rng.choice(NAMES) + (f"({_value(rng, depth)})" if rng.random() < 0.5 else "")
    if kind < 6:
        return kernel_text(rng, depth + 1) + rng.choice(["+", "*", " - ", "**"]) + kernel_text(rng, depth + 1)
    if kind == 6:
        return f"({kernel_text(rng, depth + 1)}).{rng.choice([*METHODS, '__class__'])}({_value(rng, depth)})"
    return str(rng.choice([*EDGES, *REALS])) if kind == 7 else f"exp({kernel_text(rng, depth + 1)})"


def _value(rng: random.Random, depth: int) -> str:
    kind = rng.randrange(6)
    if kind < 3:
        name = rng.choice(["", "", "degree=", "lengthscale=", "nu=", "offset=", "variance=", "k="])
        return name + repr(rng.choice([*EDGES, *REALS, "median", "x", 3, 2.5]))
    if kind == 3:
        return str([rng.choice([*EDGES, *REALS, "a"]) for _ in range(rng.choice([0, 1, 2, 3, 200]))])
    return kernel_text(rng, depth + 1) if kind == 4 else ""


def by_kernel(seed: Seed, rng: random.Random) -> bytes:
    """A text of a kernel replaced, or some of its letters."""
    record = copied(seed.record)
    found = [(node, key) for node, key in places(record) if key == "kernel" and isinstance(node[key], str)]
    for node, key in found or [(record["objects"][-1]["fields"], "kernel")]:
        text = kernel_text(rng)
        if key in node and isinstance(node[key], str) and node[key] and rng.random() < 0.4:
            at = rng.randrange(len(node[key]))
            text = node[key][:at] + rng.choice(["", "(", ")", "e9", "9", "-", "*2", ".on([0])"]) + node[key][at + 1 :]
        node[key] = text if "entry" not in node and len(node) < 3 else {"kernel": text}
    return put_together(record, seed.tensors, rng)


# -- tensors ----------------------------------------------------------------------------------------------------------


def by_tensors(seed: Seed, rng: random.Random) -> bytes:
    """Numbers, shapes and dtypes of tensors changed."""
    tensors = dict(seed.tensors)
    for _ in range(rng.choice([1, 1, 2, 4])):
        name = rng.choice(list(tensors))
        tensors[name] = _changed(*tensors[name], rng)
    return put_together(seed.record, tensors, rng)


def _changed(code: str, shape: list[int], content: bytes, rng: random.Random) -> tuple[str, list[int], bytes]:
    kind = rng.randrange(6)
    if kind < 3 and len(content) >= 8:
        at = 8 * rng.randrange(len(content) // 8)
        word = struct.pack("<d", rng.choice(NUMBERS)) if code == "F64" else _whole(rng)
        return code, shape, content[:at] + word[: len(content) - at] + content[at + 8 :]
    if kind == 3:
        return code, rng.choice([shape[::-1], [*shape, 1], [1, *shape], shape[:-1], [len(content)], [0], []]), content
    if kind == 4:
        return rng.choice(CODES), shape, content
    size = rng.randrange(0, 64)
    return code, [size], rng.randbytes(8 * size)


def _whole(rng: random.Random) -> bytes:
    value = rng.choice([one for one in EDGES if isinstance(one, int) and -(2**63) <= one < 2**63])
    return struct.pack("<q", value)


def by_shapes(seed: Seed, rng: random.Random) -> bytes:
    """Tensors that are shorter or longer, and say so: their header is right, and what they are for is not."""
    tensors = dict(seed.tensors)
    for name in rng.sample(list(tensors), min(len(tensors), rng.choice([1, 1, 2]))):
        code, shape, content = tensors[name]
        if not shape or not shape[0] or not content:
            continue
        row, rows = len(content) // shape[0], rng.choice([0, 1, shape[0] - 1, shape[0] + 1, 3 * shape[0]])
        content = (content * 3)[: rows * row] if rows <= 3 * shape[0] else content
        tensors[name] = code, [rows, *shape[1:]], content
    return put_together(seed.record, tensors, rng)


Way = Callable[[Seed, random.Random], bytes]
WAYS: tuple[Way, ...] = (*[by_bytes] * 6, *[by_letters] * 4, by_record, by_record, by_record, by_numbers, by_numbers)
WAYS += (by_kernel, by_kernel, by_tensors, by_tensors, by_shapes)
"""Half by bytes and letters, half where it matters."""
RARE = 0.002
"""How often a mutant is a large one: these take a hundred times longer."""


def mutant(seed: Seed, rng: random.Random) -> bytes:
    """One mutant of a file."""
    return (by_growth if rng.random() < RARE else rng.choice(WAYS))(seed, rng)
