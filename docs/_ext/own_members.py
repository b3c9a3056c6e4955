"""What a class has from other libraries is told there: the reference leaves it out, and shows its own signature."""

from __future__ import annotations

import inspect
from typing import Any

UNTOLD = "(*args, **kwargs)"


def setup(app: Any) -> dict[str, bool]:
    """Asked by autodoc for each member and signature; numpydoc, whose priority is 500, looks at signatures later."""
    app.connect("autodoc-skip-member", foreign)
    app.connect("autodoc-process-signature", signature, priority=400)
    return {"parallel_read_safe": True}


def foreign(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """True for what another library has defined, None where autodoc decides."""
    home = getattr(obj, "__module__", None) or getattr(getattr(obj, "fget", None), "__module__", None) or "mercer"
    return True if not str(home).startswith("mercer") else None


def signature(
    app: Any, what: str, name: str, obj: Any, options: Any, args: str | None, result: str | None
) -> tuple[str, str] | None:
    """That of a class whose base says nothing in `__new__`, which autodoc asks before `__init__`; else None."""
    if what != "class" or args != UNTOLD:
        return None
    own = inspect.signature(obj)
    plain = [each.replace(annotation=each.empty) for each in own.parameters.values()]
    return str(own.replace(parameters=plain, return_annotation=own.empty)), ""
