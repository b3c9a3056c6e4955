"""Triton's kernels from text: compiled by Triton when they are first launched, kept in a folder of this user alone."""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from types import ModuleType
from typing import Any

import torch
import triton

from mercer.backends.cuda.finishes import SUMS
from mercer.backends.cuda.tiles import Tiles
from mercer.compute.codegen import cache_folder, jit_cache

_LOCK = threading.Lock()
INTERPRETED = bool(triton.knobs.runtime.interpret)
"""Whether Triton interprets kernels on the processor (TRITON_INTERPRET=1), for tests."""


def module(text: str) -> ModuleType:
    """The kernels of a text."""
    return jit_cache.load(text)


def sums(name: str) -> Any:
    """A kernel that adds what others left: "add_across" or "add_spans"."""
    return getattr(module(SUMS), name)


def launch(kernel: Any, grid: tuple[int, ...], tiles: Tiles, *arguments: Any, **constants: Any) -> None:
    """Start a kernel on the device of its arguments; it is compiled where that has not been done."""
    options = {"num_warps": tiles.warps, "num_stages": tiles.stages, "enable_fp_fusion": True}
    known = kernel, tiles, tuple(constants.items()), tuple(map(_sort, arguments))
    with _LOCK, nullcontext() if known in _LAUNCHED else _kept(), _on(arguments[0].device):
        kernel[grid](*arguments, **constants, **options)
        _LAUNCHED.add(known)


_LAUNCHED: set[Any] = set()
"""What has been launched, and so compiled."""


def _sort(argument: Any) -> Any:
    """What Triton compiles anew for."""
    if isinstance(argument, torch.Tensor):
        return argument.device, argument.dtype, argument.data_ptr() % 16 == 0
    return type(argument), argument == 1, argument % 16 == 0


def _on(device: torch.device) -> AbstractContextManager[Any]:
    """Inside, this is the card that Triton takes."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


@contextmanager
def _kept() -> Iterator[None]:
    """Inside, Triton keeps what it compiles in our folder, not in that of all of this user's programs."""
    with triton.knobs.cache.scope():
        triton.knobs.cache.dir = folder()
        yield


@cache
def folder() -> str:
    """Where compiled kernels are kept: a folder that only this user can write to, or one of this process alone."""
    kept = cache_folder.private(f"triton{triton.__version__}-{sys.implementation.cache_tag}")
    return str(kept) if kept is not None else tempfile.mkdtemp(prefix="mercer-triton-")
