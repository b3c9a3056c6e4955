"""What every display has: axes, their figure, and no window."""

from __future__ import annotations

from abc import ABC, abstractmethod
from io import BytesIO
from typing import Any, Self

from mercer.errors import InputError, sentence

SIZE = (6.4, 4.8)
"""Inches of a figure of a display's own."""
REMEDY = 'Install it with: pip install "mercer[examples]".'


class Display(ABC):
    """A picture on axes that are given, or on a figure of its own, which belongs to no window.

    Artists that were drawn are attributes, for the caller to change.

    ax_ : the axes that were drawn on
    figure_ : their figure; `figure_.savefig(path)` writes it to a file
    """

    ax_: Any
    figure_: Any
    _own: bool = False

    @abstractmethod
    def plot(self, ax: Any = None) -> Self:
        """Draw, once more where it was drawn before; None for a figure of its own."""

    def _begin(self, ax: Any) -> Any:
        """The axes to draw on."""
        self._own = ax is None
        self.ax_ = _figure(type(self).__name__).add_subplot() if ax is None else ax
        self.figure_ = self.ax_.figure
        return self.ax_

    def _repr_png_(self) -> bytes | None:
        """What a notebook shows: a figure of its own; who made the axes shows them."""
        if not self._own:
            return None
        picture = BytesIO()
        self.figure_.savefig(picture, format="png")
        return picture.getvalue()


def _figure(who: str) -> Any:
    try:
        from matplotlib.figure import Figure  # pyplot would keep it, and might open a window
    except ImportError as error:
        raise ImportError(sentence(who, "matplotlib", "it is not installed", REMEDY)) from error
    return Figure(figsize=SIZE, layout="constrained")


def found(who: str, model: object, name: str, remedy: str) -> Any:
    """An attribute of something fitted, or an error that says that it has none."""
    value = getattr(model, name, None)
    if value is None:
        raise InputError(sentence(who, f"something that has {name}", f"{type(model).__name__} has none", remedy))
    return value
