"""What Python's operators do with kernels, and what they refuse."""

from __future__ import annotations

import numbers
from typing import NoReturn

from mercer.errors import KernelError
from mercer.kernels import algebra
from mercer.kernels.base import Kernel
from mercer.kernels.constant import Constant

ZERO = Constant(0.0)


def as_kernel(thing: object, operation: str) -> Kernel:
    """A kernel as it is, a number of at least zero as a constant kernel."""
    if isinstance(thing, Kernel):
        return thing
    if isinstance(thing, numbers.Real) and not isinstance(thing, bool):
        if thing < 0:
            raise KernelError(
                f"A kernel takes no negative number in {operation}; got {thing}. Use a number of at least zero, or ask "
                'mercer.prove("...") about the text of the difference, which may be a kernel or none.'
            )
        return Constant(float(thing))
    remedy, got = (
        "Give one of these.",
        f"an array of shape {thing.shape}" if hasattr(thing, "shape") else f"{thing!r:.60}",
    )
    if isinstance(thing, type) and issubclass(thing, Kernel):
        remedy = f"Write {thing.__name__}()."
    elif isinstance(thing, str):
        remedy = f"Write mercer.parse({thing!r:.60})."
    elif operation == "exp":
        remedy = "Of numbers it is np.exp."
    raise KernelError(f"A kernel needs a kernel or a number in {operation}; got {got}. {remedy}")


def add(left: object, right: object) -> Kernel:
    """Left + right, flattened."""
    return algebra.Sum((as_kernel(left, "a sum"), as_kernel(right, "a sum")))


def multiply(left: object, right: object) -> Kernel:
    """Left * right, flattened; numbers come first."""
    if isinstance(left, Kernel) and not isinstance(right, Kernel):
        left, right = right, left
    return algebra.Product((as_kernel(left, "a product"), as_kernel(right, "a product")))


def divide(kernel: Kernel, number: float) -> Kernel:
    """Kernel / number."""
    if isinstance(number, Kernel) or not isinstance(number, numbers.Real) or not number > 0:
        raise KernelError(
            f"A kernel is divided by a positive number; got {number!r:.60}. A quotient of kernels is not a kernel in "
            "general: ask mercer.prove about its text."
        )
    return multiply(kernel, 1.0 / float(number))


def raise_to(kernel: Kernel, exponent: float) -> Kernel:
    """Kernel ** exponent; the first power is the kernel itself."""
    if isinstance(exponent, Kernel) or not isinstance(exponent, numbers.Real):
        raise KernelError(f"A power of a kernel needs a positive number as exponent; got {exponent!r}. Give one.")
    return kernel if exponent == 1 else algebra.Power(kernel, exponent)


def refuse_difference(left: object, right: object) -> NoReturn:
    """Say why a difference is no kernel, and who knows whether it is one after all."""
    text = f"{'' if left == 0 else left} - {f'({right})' if isinstance(right, algebra.Sum) else right}".strip()
    raise KernelError(
        f"A difference of kernels is not a kernel in general, so it is not taken as one; got {text:.200}. "
        f'Ask mercer.prove("{text:.200}"), or add kernels with weights of at least zero.'
    )
