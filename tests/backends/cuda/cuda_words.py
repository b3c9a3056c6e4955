"""The words of generated Triton code on many arguments: interpreted, or on a card."""

import numpy as np
import torch
from scipy import special

from mercer.backends.cuda import kernels
from mercer.backends.cuda.tiles import Tiles
from mercer.backends.cuda.words import LIBRARY, prelude

UNARY = ("exp2_down", "exp2", "log2", "sin", "cos", "sin_pi", "tanh", "rint", "trunc")
BINARY = ("atan2_positive", "power")
LOOP = """

@triton.jit
def {word}_loop({inputs}, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, {word}({values}), mask=i < n)
"""
ONE = "tl.load(x + i, mask=i < n)"
BOTH = "tl.load(x + i, mask=i < n), tl.load(y + i, mask=i < n)"
SIN_LIMIT = {"float32": 1e4, "float64": 1e6}


def arguments(word, dtype):
    """Arguments all over the domain of a word: even, log-spaced, and where it is hard."""
    rng, info, half = np.random.default_rng(7), np.finfo(dtype), 2000
    spread = np.exp2(rng.uniform(info.minexp + 1, info.maxexp - 1, half))
    near = rng.uniform(0, 4, half)
    if word == "exp2_down":
        columns = [np.concatenate([-spread, -near, rng.uniform(info.minexp, 0, half), [0.0]])]
    elif word == "exp2":
        columns = [np.concatenate([rng.uniform(info.minexp + 1, info.maxexp - 0.01, 2 * half), near, -near, [0.0]])]
    elif word == "log2":
        columns = [np.concatenate([spread, near[near > 0], 1 + rng.uniform(-1e-3, 1e-3, half)])]
    elif word in ("sin", "cos"):
        limit = SIN_LIMIT[dtype]
        columns = [np.concatenate([rng.uniform(-limit, limit, half), rng.uniform(-8, 8, half)])]
    elif word == "sin_pi":
        columns = [rng.uniform(-0.5, 0.5, half)]
    elif word == "tanh":
        columns = [np.concatenate([rng.uniform(-12, 12, half), 1e-3 * rng.normal(size=half), [0.0, 50.0, -50.0]])]
    elif word in ("rint", "trunc"):
        columns = [np.concatenate([rng.uniform(-40, 40, half), np.arange(-5, 5, 0.5), -spread, spread])]
    elif word == "atan2_positive":
        columns = [np.concatenate([rng.uniform(0, 2, half), [0.0, 0.0]]), np.concatenate([near, [0.0, 1.0]])]
    else:
        columns = [np.exp2(rng.uniform(-8, 8, half)), rng.uniform(-6, 6, half)]
    return [column.astype(dtype) for column in columns]


def outputs(dtype, device):
    """What each word gives for its arguments, and where it has a limit."""
    words = (*UNARY, *BINARY)
    loops = [LOOP.format(word=word, inputs="x", values=ONE) for word in UNARY]
    loops += [LOOP.format(word=word, inputs="x, y", values=BOTH) for word in BINARY]
    module = kernels.module(prelude(dtype, words) + "".join(loops))
    found = {}
    for word in words:
        found[word] = _run(module, word, arguments(word, dtype), device)
    for word in UNARY:
        limits = np.array([np.nan, np.inf, -np.inf, 0.0, -1.0], dtype)
        found[f"{word} at limits"] = _run(module, word, [limits], device)
    return found


def _run(module, word, columns, device):
    given = [torch.tensor(column, device=device) for column in columns]
    out, size = torch.empty_like(given[0]), 1024
    grid = (-(-len(out) // size),)
    kernels.launch(getattr(module, f"{word}_loop"), grid, Tiles(1, size), *given, out, len(out), B=size)
    return out.cpu().numpy()


def library(dtype, device):
    """What the functions of the card's library give, and NumPy's or SciPy's in float64; the interpreter has none."""
    x = np.random.default_rng(0).uniform(0.05, 0.95, 1000).astype(dtype)
    columns = {"arccosh": [1 + x], "arctan2": [x, x[::-1].copy()], "hypot": [x, x[::-1].copy()]}
    columns["fmod"] = [10 * x, x[::-1].copy()]
    found = {}
    for name, there in LIBRARY.items():
        rows = columns.get(name, [x])
        inputs, given = ("x, y", BOTH) if len(rows) == 2 else ("x", ONE)
        loop = LOOP.format(word=f"libdevice.{there}", inputs=inputs, values=given).replace("libdevice.", "", 1)
        module = kernels.module(prelude(dtype, ()) + loop)
        exact = getattr(special if name == "erfc" else np, name)(*(row.astype(np.float64) for row in rows))
        found[name] = _run(module, there, rows, device), exact
    return found
