"""The kernel that a parameter of a lift names, and whether the lift can read what it reads."""

from __future__ import annotations

import numbers
from functools import lru_cache
from typing import Any

from mercer.errors import KernelError, message
from mercer.kernels import Kernel
from mercer.kernels.parameters import settled

WITH_COMPONENTS = ("Nystrom", "RandomFourier", "Sketch")
"""Lifts for which a number in the place of the kernel is meant to be n_components."""


def stated(given: Any, subject: object = None) -> Kernel:
    """A kernel from a kernel, its text or a Python function; a lengthscale that a text does not give is open.

    One that scikit-learn may still fill in place, since it is fresh from `clone`, becomes an object of its own.
    """
    if isinstance(given, str) and given == "precomputed":
        needs, remedy = "a kernel or its text", "A matrix is taken by learners, and by Nystrom where it is no part."
        raise KernelError(message(needs, "got 'precomputed'", remedy, subject=subject))
    if isinstance(given, str):
        return parsed(given)
    given = as_kernel(given)
    if not isinstance(given, Kernel):
        remedy = "Write Gaussian(), or \"gaussian('median')\"."
        if subject in WITH_COMPONENTS and isinstance(given, numbers.Number) and not isinstance(given, bool):
            remedy = f"Write {subject}(n_components={given!r}), say."
        raise KernelError(message("a kernel or its text", f"got {given!r}", remedy, subject=subject))
    return settled(given)


@lru_cache(maxsize=128)
def parsed(text: str) -> Kernel:
    """A fit reads its kernel's text several times, and kernels never change."""
    from mercer.kernels.text import parse  # most kernels are given as objects

    return parse(text, open=True)


def as_kernel(given: Any) -> Any:
    """A Python function as a kernel; all else as it is."""
    if isinstance(given, Kernel) or not callable(given):
        return given
    from mercer.kernels.function import kernel_from  # few kernels are functions

    return kernel_from(given)


def check_numbers(given: Any) -> None:
    """An error where a kernel reads strings, graphs or categories, of which only two lifts make features."""
    kernel = stated(given)
    if kernel.kinds:
        got = f"{kernel} reads {' and '.join(sorted(set(kernel.kinds.values())))}"
        remedy = "Use Counts(kernel), the exact lift of kernels that count parts, or Nystrom(kernel), which takes any."
        raise KernelError(message("a kernel of numbers", got, remedy))
