"""The rows of a fit as an attribute of a model."""

from __future__ import annotations

from typing import Any

from mercer.backends.tensors import on_host


class FittedRows:
    """An attribute that holds the rows of a fit: as an array of this process, when somebody asks.

    Rows on a device stay there until then, and come with a model when it is saved.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: object, owner: type | None = None) -> Any:
        if model is None:
            return self
        if self.name not in vars(model):
            raise AttributeError(f"{type(model).__name__!r} object has no attribute {self.name!r}")
        vars(model)[self.name] = found = on_host(vars(model)[self.name])
        return found

    def __set__(self, model: object, rows: Any) -> None:
        vars(model)[self.name] = rows

    def __delete__(self, model: object) -> None:
        if vars(model).pop(self.name, None) is None:
            raise AttributeError(self.name)
