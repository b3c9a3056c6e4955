"""What every display has: axes, their figure, and no window."""

from __future__ import annotations

from abc import ABC, abstractmethod
from io import BytesIO
from typing import Any, Self

from mercer.displays.estimators import Pipelined
from mercer.errors import InputError, message

FIGURE_INCHES = (6.4, 4.8)
"""Inches of a figure of a display's own."""
WIDE_FIGURE_INCHES = (10.4, 4.8)
"""The same where two axes stand side by side."""
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

    def _begin(self, ax: Any, projection: str | None = None) -> Any:
        """The axes to draw on."""
        self._own = ax is None
        self.ax_ = new_figure().add_subplot(projection=projection) if ax is None else ax
        self.figure_ = self.ax_.figure
        return self.ax_

    def _begin_two(self, ax: Any) -> tuple[Any, Any]:
        """Two axes side by side to draw on; of one that is given the second is None, and nothing is drawn there."""
        self._own = ax is None
        if ax is None:
            first, second = new_figure(WIDE_FIGURE_INCHES).subplots(1, 2)
        else:
            first, second = _two(ax)
        self.ax_, self.figure_ = first, first.figure
        return first, second

    def _name(self, axes: Any) -> Any:
        """A legend: above the axes in a figure of its own, where it hides nothing; else where there is most room."""
        if not self._own:
            return axes.legend(fontsize="small")
        return axes.legend(fontsize="small", loc="lower left", bbox_to_anchor=(0, 1), ncols=4, frameon=False)

    def _repr_png_(self) -> bytes | None:
        """What a notebook shows: a figure of its own; axes that were given are shown by their owner."""
        if not self._own:
            return None
        picture = BytesIO()
        self.figure_.savefig(picture, format="png")
        return picture.getvalue()


def _two(given: Any) -> tuple[Any, Any]:
    axes = list(given.flat) if hasattr(given, "flat") else list(given) if isinstance(given, list | tuple) else [given]
    if len(axes) > 2 or not all(hasattr(each, "plot") for each in axes):
        got = f"got {len(axes)}" if len(axes) > 2 else f"got {type(given).__name__}"
        raise InputError(message("one or two axes", got, "Use figure.subplots(1, 2)."))
    return (axes[0], axes[1]) if len(axes) == 2 else (axes[0], None)


def new_figure(size: tuple[float, float] = FIGURE_INCHES, subject: object = None) -> Any:
    """An empty figure that belongs to no window."""
    try:
        from matplotlib.figure import Figure  # pyplot would keep it, and might open a window
    except ImportError as error:
        raise ImportError(message("matplotlib", "it is not installed", REMEDY, subject=subject)) from error
    return Figure(figsize=size, layout="constrained")


def check_fitted(model: object, columns: int | None = None) -> None:
    """Refuse a model that has seen no rows, or rows of more columns: every fitted one knows how many these had."""
    known = found(model, "n_features_in_", "Fit the model first.")
    if columns is not None and known != columns:
        needs, got = (
            f"a model of {columns} column{'s' * (columns > 1)}",
            f"{type(model).__name__} was fitted to {known}",
        )
        raise InputError(message(needs, got, "Fit it to the columns that are drawn."))


def before_last(model: object, X: Any) -> Any:
    """The rows as the last step of a pipeline sees them; other models see them as they are."""
    return model[:-1].transform(X) if isinstance(model, Pipelined) and len(model.steps) > 1 else X


def last_step(model: object) -> Any:
    """The last step of a pipeline, which knows what was learned; other models are their own."""
    return model.steps[-1][1] if isinstance(model, Pipelined) else model


def found(model: object, name: str, remedy: str) -> Any:
    """An attribute of something fitted, or an error that says that it has none."""
    value = getattr(model, name, None)
    if value is None:
        raise InputError(message(f"something that has {name}", f"{type(model).__name__} has none", remedy))
    return value
