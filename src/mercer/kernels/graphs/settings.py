"""Fields that are true or false."""

from __future__ import annotations

from dataclasses import field, fields
from typing import Any

from mercer.kernels.base import ATOM, Kernel
from mercer.kernels.fields import check_choice


def choice(*, default: bool) -> Any:
    """True or False; texts write 1 or 0."""
    return field(default=default, metadata={"check": check_choice})


def written(kernel: Kernel, python: bool) -> tuple[str, int]:
    """The text of a leaf with such fields."""
    if python:
        return Kernel.write(kernel, python)
    values = ((item.name, getattr(kernel, item.name)) for item in fields(kernel))
    arguments = (f"{name}={int(value) if isinstance(value, bool) else value!r}" for name, value in values)
    return f"{kernel.name}({', '.join(arguments)})", ATOM
