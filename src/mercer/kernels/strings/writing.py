"""Texts of kernels some of whose fields are lists, and are there only once data has been seen."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from mercer.kernels.base import ATOM, Kernel


def written(kernel: Kernel, python: bool, later: tuple[str, ...] = ()) -> tuple[str, int]:
    """What `Kernel.write` gives; lists stand in brackets, and `later` fields only where they say something."""
    shown = [item for item in fields(kernel) if item.name not in later or getattr(kernel, item.name) != item.default]
    inside = ", ".join(f"{item.name}={_listed(getattr(kernel, item.name))!r}" for item in shown)
    return f"{type(kernel).__name__ if python else kernel.name}({inside})", ATOM


def frozen(value: Any) -> Any:
    """Lists, and lists in them, as tuples: a field must not change."""
    return tuple(map(frozen, value)) if isinstance(value, list | tuple) else value


def _listed(value: Any) -> Any:
    return list(map(_listed, value)) if isinstance(value, tuple) else value
