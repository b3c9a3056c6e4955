"""From the parameter `backend` of a learner to what computes."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from mercer.backends.base import Backend
from mercer.backends.context import CORES, current, use
from mercer.backends.tensors import is_held
from mercer.errors import InputError, message

if TYPE_CHECKING:
    from mercer.backends.cuda.backend import CUDA

AUTO, CPU_NAME, CUDA_NAME = "auto", "cpu", "cuda"
REMEDY = 'Install it with pip install "mercer[gpu]", or use backend="cpu".'


def named(given: Any) -> Backend | None:
    """The backend that a parameter names, or one clear error; None for "auto"."""
    if isinstance(given, Backend):
        return CORES if given == CORES else given
    if isinstance(given, str):
        if given == AUTO:
            return None
        if given == CPU_NAME:
            return CORES
        number = _number(given)
        if number is not None:
            return _card(number)
    needs = 'backend that is "auto", "cpu", "cuda", "cuda:1" or a member of mercer.backends'
    raise InputError(message(needs, f"got {given!r}", 'Use "auto", the default.'))


def computing(given: Any) -> AbstractContextManager[object]:
    """Inside, the backend computes that is named.

    A model may have moved: where there is no such card the first one computes, and the cores where there is none.
    """
    if given is AUTO or given is CORES or (isinstance(given, str) and given.startswith((AUTO, CPU_NAME))):
        return nullcontext()
    if isinstance(given, Backend):
        found: Backend | None = given if given.is_here() else found_card()
    else:
        number = _number(given)
        found = named(given) if number is None else found_card(number) or found_card()
    return nullcontext() if found is None else use(found)


def _number(given: str) -> int | None:
    """Of "cuda" and "cuda:1"; None of what names no card."""
    device, _, number = given.partition(":")
    return int(number or 0) if device == CUDA_NAME and (not number or number.isdecimal()) else None


def at_rows(*sides: Any) -> AbstractContextManager[object]:
    """Inside, a card computes where rows of one of the sides lie on it, and none is open already."""
    there = next((side for side in sides if is_held(side)), None)
    if there is None or current().holds_tables:
        return nullcontext()
    from mercer.backends.cuda.backend import CUDA

    return use(CUDA(there.device))


def _card(number: int) -> CUDA:
    if find_spec("torch") is None:
        raise InputError(message("PyTorch for a graphics card", "it is not installed", REMEDY))
    found, why = _looked(number)
    if found is None:
        raise InputError(message(f"a graphics card for backend={CUDA_NAME!r}", why, 'Use backend="cpu".'))
    return found


@cache
def _looked(number: int) -> tuple[CUDA | None, str]:
    """A card, or why there is none."""
    import torch

    if not torch.cuda.is_available():
        made = "" if torch.version.cuda else ", and this PyTorch was built without CUDA"
        return None, f"PyTorch finds none{made}"
    if number >= torch.cuda.device_count():
        return None, f"card {number} was asked for, and there are {torch.cuda.device_count()}"
    from mercer.backends.cuda.backend import CUDA

    return CUDA(f"cuda:{number}"), ""


def found_card(number: int = 0) -> CUDA | None:
    """A card, where PyTorch is installed and finds it; nothing is imported where there is no driver."""
    return _looked(number)[0] if may_have_card() else None


def may_have_card() -> bool:
    """Whether PyTorch is installed, and the driver of a card; nothing is imported."""
    return find_spec("torch") is not None and _has_driver()


@cache
def _has_driver() -> bool:
    """Whether the driver of a card can be loaded, and counts one: far quicker than to import PyTorch."""
    import ctypes

    for name in ("libcuda.so.1", "nvcuda.dll"):
        try:
            driver, count = ctypes.CDLL(name), ctypes.c_int(0)
        except OSError:
            continue
        return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0
    return False
