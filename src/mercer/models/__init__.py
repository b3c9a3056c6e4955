"""Tables in; model files out and in."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mercer.models.describe import Description, inspect
    from mercer.models.save_load import load, save

__all__ = ["Description", "inspect", "load", "save"]

_LATER = {
    "Description": "mercer.models.describe",
    "inspect": "mercer.models.describe",
    "load": "mercer.models.save_load",
    "save": "mercer.models.save_load",
}
"""What is imported when it is first asked for: models load all learners, of which tables need none."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'mercer.models' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
