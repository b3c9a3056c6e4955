"""The kernel that a parameter of a lift names, and whether the lift can read what it reads."""

from __future__ import annotations

from typing import Any

from mercer.errors import KernelError, sentence
from mercer.kernels import Kernel
from mercer.kernels.text import parse


def stated(who: str, given: Any) -> Kernel:
    """A kernel from a kernel or its text.

    It is an object of its own: scikit-learn may still fill a kernel that comes from `clone` in place.
    """
    if isinstance(given, str):
        return parse(given)
    if not isinstance(given, Kernel):
        remedy = "Write Gaussian(), or \"gaussian('median')\"."
        raise KernelError(sentence(who, "a kernel or its text", f"{given!r} came", remedy))
    return given.with_parameters({})


def check_numbers(who: str, given: Any) -> None:
    """An error where a kernel reads strings, graphs or categories, of which only two lifts make features."""
    kernel = stated(who, given)
    if kernel.kinds:
        came = f"{kernel} reads {' and '.join(sorted(set(kernel.kinds.values())))}"
        remedy = "Use Counts(kernel), the exact lift of kernels that count parts, or Nystrom(kernel), which takes any."
        raise KernelError(sentence(who, "a kernel of numbers", came, remedy))
