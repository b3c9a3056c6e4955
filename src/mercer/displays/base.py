"""What every display has: axes, their figure, a title and a legend that cover nothing, and no window."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from inspect import signature
from io import BytesIO
from textwrap import fill
from typing import Any, Self

from mercer.displays.estimators import Pipelined
from mercer.displays.legend import legend_above, legend_below
from mercer.displays.look import PAGE, Look, look_of
from mercer.errors import InputError, message, speaks

FIGURE_INCHES = PAGE.figure
"""Inches of a figure of a display's own, on a page."""
PANEL_INCHES = (3.5, 3.3)
"""The same of one of many panels."""
REMEDY = 'Install it with: pip install "mercer[examples]".'
MAX_KERNEL_CHARACTERS = 40
"""Letters of a kernel in a title, at most; longer ones are left out."""
NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?:e[+-]?\d+)?")
TITLE_LINES = 3
"""Lines of a title, at most."""
ALONE, BESIDE_OTHERS = 1.1, 0.85
"""How wide a title may be, as a part of its axes before these have found their place in a figure."""


class Display(ABC):
    """A picture on axes that are given, or on a figure of its own, which belongs to no window.

    Artists that were drawn are attributes, for the caller to change.

    ax_ : the axes that were drawn on
    figure_ : their figure; `figure_.savefig(path)` writes it to a file
    """

    ax_: Any
    figure_: Any
    _own: bool = False
    _look: Look = PAGE
    _large: frozenset[int] = frozenset()

    def __new__(cls, *given: Any, **named: Any) -> Self:
        """Refuse what does not fit the constructor with the name of the method that takes a model."""
        try:
            if given or named:  # a copy is made without
                signature(cls.__init__).bind(None, *given, **named)
        except TypeError as error:
            makers = " or ".join(f"{cls.__name__}.{name}(...)" for name in dir(cls) if name.startswith("from_"))
            told = f"{cls.__name__} takes numbers that were computed already, and got others: {error}."
            raise TypeError(f"{told} Use {makers}." if makers else told) from None
        return super().__new__(cls)

    @speaks
    def plot(self, ax: Any = None, *, style: str = "page") -> Self:
        """Draw, once more where it was drawn before.

        Parameters
        ----------
        ax : Axes or None, default=None
            Where to draw; None for new axes.
        style : {"page", "slide"}, default="page"
            For a page, or for a slide: sixteen to nine, large letters, thick lines. On axes that are given a slide has
            the letters and lines, and the figure stays as it is.

        Returns
        -------
        Self
        """
        self._look, self._large = look_of(style), frozenset()
        with self._look.colours():
            self._plot(ax)
        return self

    @abstractmethod
    def _plot(self, ax: Any) -> None:
        """Draw: `_begin`, artists, and `_finish` of each axes; None for a figure of its own."""

    def _begin(self, ax: Any, projection: str | None = None) -> Any:
        """The axes to draw on."""
        self._own = ax is None
        own = new_figure(self._look.figure, pad=self._look.pad) if ax is None else None
        self.ax_ = ax if own is None else own.add_subplot(projection=projection)
        self.figure_ = self.ax_.figure
        self._note(self.ax_)
        return self.ax_

    def _begin_two(self, ax: Any) -> tuple[Any, Any]:
        """Two axes side by side to draw on; of one that is given the second is None, and nothing is drawn there."""
        self._own = ax is None
        if ax is None:
            first, second = new_figure(self._look.wide, pad=self._look.pad).subplots(1, 2)
        else:
            first, second = _two(ax)
        self.ax_, self.figure_ = first, first.figure
        self._note(first, *(() if second is None else (second,)))
        return first, second

    def _begin_several(self, ax: Any, count: int, columns: int) -> list[Any]:
        """Axes for so many panels, which share their limits; of those that are given as many as there are."""
        self._own = ax is None
        if ax is None:
            wide = min(count, columns)
            rows = -(-count // wide)
            self._look = self._look.of_many() if rows > 1 else self._look
            size = self._look.wide if self._look.letters else (PANEL_INCHES[0] * wide, PANEL_INCHES[1] * rows)
            panels = new_figure(size, pad=self._look.pad).subplots(rows, wide, sharex=True, sharey=True, squeeze=False)
            found = list(panels.flat)[:count]
            for spare in list(panels.flat)[count:]:
                spare.set_axis_off()
        else:
            found = _axes_of(ax, count)
        self.ax_, self.figure_ = found[0], found[0].figure
        self._note(*found)
        return found

    def _note(self, *axes: Any) -> None:
        """What was drawn before by others stays as large as it is."""
        self._large = self._large | {id(each) for one in axes for each in one.get_children()}

    def _finish(self, axes: Any, title: str = "", bar: Any = None, legend: bool = True) -> Any:
        """Sizes of the look, a title where there is none yet, and a legend, which is returned, above the axes.

        bar : the axes of a bar of colours
        """
        for artist in axes.get_children():
            if id(artist) not in self._large and artist in _drawn(axes):
                self._look.enlarge(artist)
        self._note(axes)
        self._look.write(axes)
        if bar is not None:
            self._look.write(bar)
        drawn = legend_above(axes, self._look.letters.get("numbers", "small")) if legend else None
        if title and not axes.get_title():
            part = {1: ALONE, 2: BESIDE_OTHERS, 3: BESIDE_OTHERS}.get(len(self.figure_.axes), 1.0) if self._own else 1.0
            entitle(axes, title, self._look.letters.get("title"), part)
        return drawn

    def _shared_legend(self, panels: list[Any]) -> Any:
        """One legend for all panels: where a panel is free, or below them; of given axes above the first."""
        named: dict[str, Any] = {}
        for axes in panels:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                named.setdefault(label, handle)
        letters = self._look.letters.get("numbers", "small")
        if not self._own:
            return legend_above(panels[0], letters, named)
        free = [axes for axes in self.figure_.axes if axes not in panels]
        style: dict[str, Any] = {"handles": list(named.values()), "labels": list(named), "fontsize": letters}
        if free:
            return free[0].legend(**style, loc="center", frameon=False)
        return legend_below(self.figure_, style)

    def _repr_png_(self) -> bytes | None:
        """What a notebook shows: a figure of its own; axes that were given are shown by their owner."""
        if not self._own:
            return None
        picture = BytesIO()
        self.figure_.savefig(picture, format="png")
        return picture.getvalue()


def entitle(axes: Any, title: str, fontsize: float | None = None, part: float = 1.0) -> None:
    """A title over axes, in lines that are no wider than this part of them."""
    text = axes.set_title(title, parse_math=False)
    if fontsize is not None:
        text.set_fontsize(fontsize)
    width = part * axes.get_window_extent().width
    for lines in range(2, TITLE_LINES + 1):
        if text.get_window_extent().width <= width:
            return
        text.set_text(fill(title, max(10, -(-len(title) // lines) + 4), break_long_words=False))


def titled(name: str, sees: str) -> str:
    """Of what a picture is, if that has a name, and what one sees."""
    return f"{name}: {sees}" if name else sees


def _drawn(axes: Any) -> list[Any]:
    """The artists of a display, without the frame, the names and the numbers of the axes."""
    return [*axes.lines, *axes.collections, *axes.patches, *axes.texts]


def _axes_of(given: Any, count: int) -> list[Any]:
    axes = list(given.flat) if hasattr(given, "flat") else list(given) if isinstance(given, list | tuple) else [given]
    if len(axes) < count or not all(hasattr(each, "plot") for each in axes):
        got = f"got {len(axes)}" if len(axes) < count else f"got {type(given).__name__}"
        raise InputError(message(f"{count} axes", got, f"Use figure.subplots(1, {count})."))
    return axes[:count]


def _two(given: Any) -> tuple[Any, Any]:
    axes = list(given.flat) if hasattr(given, "flat") else list(given) if isinstance(given, list | tuple) else [given]
    if len(axes) > 2 or not all(hasattr(each, "plot") for each in axes):
        got = f"got {len(axes)}" if len(axes) > 2 else f"got {type(given).__name__}"
        raise InputError(message("one or two axes", got, "Use figure.subplots(1, 2)."))
    return (axes[0], axes[1]) if len(axes) == 2 else (axes[0], None)


def new_figure(size: tuple[float, float] = FIGURE_INCHES, subject: object = None, pad: float | None = None) -> Any:
    """An empty figure that belongs to no window; `pad` inches around its axes."""
    try:
        from matplotlib.figure import Figure  # pyplot would keep it, and might open a window
    except ImportError as error:
        raise ImportError(message("matplotlib", "it is not installed", REMEDY, subject=subject)) from error
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    return Figure(figsize=size, layout=ConstrainedLayoutEngine(w_pad=pad, h_pad=pad))


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


def short(kernel: object) -> str:
    """A kernel as a text with three digits of each number, and without the names of lengthscales."""
    return NUMBER.sub(lambda found: f"{float(found[0]):.3g}", str(kernel).replace("lengthscale=", ""))


def name_of(model: object, kernel: bool = True) -> str:
    """The class of a model, or of the last step of a pipeline, and its kernel, in a title."""
    last = last_step(model)
    known = getattr(last, "kernel_", None) if kernel else None
    text = "" if known is None else short(known)
    return type(last).__name__ + (f", {text}" if 0 < len(text) <= MAX_KERNEL_CHARACTERS else "")
