"""Tables in; model files out and in."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mercer.files.describe import Description, inspect
    from mercer.files.models import load, save

__all__ = ["Description", "inspect", "load", "save"]

_LATER = {
    "Description": "mercer.files.describe",
    "inspect": "mercer.files.describe",
    "load": "mercer.files.models",
    "save": "mercer.files.models",
}
"""What is imported when it is first asked for: models load all learners, of which tables need none."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'mercer.files' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
