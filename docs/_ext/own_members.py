"""What a class has from other libraries is told there: the reference leaves it out."""

from __future__ import annotations

from typing import Any


def setup(app: Any) -> dict[str, bool]:
    """Asked by autodoc for each member."""
    app.connect("autodoc-skip-member", foreign)
    return {"parallel_read_safe": True}


def foreign(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """True for what another library has defined, None where autodoc decides."""
    home = getattr(obj, "__module__", None) or getattr(getattr(obj, "fget", None), "__module__", None) or "mercer"
    return True if not str(home).startswith("mercer") else None
