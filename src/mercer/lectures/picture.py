"""The picture of an exercise or an example: panels on one figure, for a page or for a slide."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

from mercer.displays.base import Display, entitle, new_figure
from mercer.errors import InputError, message, speaks
from mercer.lectures.verdict import Found

PAGE_INCHES, PANEL_INCHES = 9.6, 3.6
"""Width of panels side by side on a page, and height of each, at least."""
SQUARE, WIDE = 1.35, 1.1
"""How wide titles may be, as parts of axes that have not found their place yet: square ones leave room beside them."""
TITLE_POINTS = 24.0
"""Points of the title of a panel on a slide, at least."""
FORMATS = ("png", "svg", "pdf")


class Picture(Display):
    """A figure of one panel or of several; `figure_` is matplotlib's, `save` writes it, a notebook shows it."""

    def __init__(self, draw: Callable[[Picture, Found], None], found: Found) -> None:
        self._draw, self._found = draw, found
        self._panels: list[Any] = []
        self._share, self._grid = False, (1, 1)

    @property
    def style(self) -> str:
        """For displays that are drawn on its panels."""
        return "slide" if self._look.letters else "page"

    def _plot(self, ax: Any) -> None:
        self._draw(self, self._found)

    def panels(
        self, count: int = 1, *, rows: int = 1, share: bool = False, projections: dict[int, str] | None = None
    ) -> Any:
        """Axes in rows, in one list.

        share : whether they have one scale of y, whose numbers and name stand beside the first of each row
        projections : those of panels that are not flat, by their numbers
        """
        columns = -(-count // rows)
        self._grid = rows, columns
        self._look, self._share = self._look.of_many(TITLE_POINTS) if rows > 1 else self._look, share
        page = (max(PAGE_INCHES, PANEL_INCHES * columns) if columns > 1 else 6.4, max(4.6, PANEL_INCHES * rows))
        figure = new_figure(self._look.wide if self.style == "slide" else page, pad=self._look.pad)
        axes: list[Any] = []
        for place in range(count):
            with_others = {"sharey": axes[0]} if share and axes else {}
            axes.append(
                figure.add_subplot(rows, columns, place + 1, projection=(projections or {}).get(place), **with_others)
            )
        self._own, self.ax_, self.figure_, self._panels = True, axes[0], figure, axes
        self._note(*axes)
        return axes

    def name(self, axes: Any, title: str, x: str = "", y: str = "") -> None:
        """A title, and the names of both axes, in the letters of the style, over what a display has drawn."""
        axes.set(xlabel=x or axes.get_xlabel(), ylabel=y or axes.get_ylabel())
        if self._share and not axes.get_subplotspec().is_first_col():
            axes.set_ylabel("")
            axes.tick_params(axis="y", which="both", labelleft=False)
        self._look.write(axes)
        part = SQUARE if axes.get_aspect() != "auto" else WIDE
        entitle(axes, title, self._look.letters.get("title"), part)
        self._note(axes)

    def finish(self, axes: Any, title: str, x: str = "", y: str = "") -> None:
        """The same, and the lines, points and legend of what was drawn without a display."""
        self._finish(axes)
        self.name(axes, title, x, y)

    def one_legend(self) -> None:
        """One legend for what each panel would name again: where a panel is free, else above all."""
        named = {
            text: handle
            for axes in self._panels
            for handle, text in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        for legend in filter(None, (axes.get_legend() for axes in self._panels)):
            legend.remove()
        letters = self._look.letters.get("numbers", "small")
        shown = {"handles": list(named.values()), "labels": list(named), "frameon": False, "fontsize": letters}
        rows, columns = self._grid
        if len(self._panels) < rows * columns:
            free = self.figure_.add_subplot(rows, columns, rows * columns)
            free.set_axis_off()
            free.legend(loc="center", **shown)
        else:
            self.figure_.legend(loc="outside upper center", ncols=len(named), **shown)

    @speaks
    def save(self, path: str | Path) -> None:
        """Write it to a file: .png, .svg or .pdf."""
        path = Path(path)
        path.write_bytes(self.written(path.suffix.removeprefix(".")))

    def written(self, form: str = "png") -> bytes:
        """The file of a format."""
        if form not in FORMATS:
            needs, got = f"a name that ends with .{', .'.join(FORMATS)}", f"got .{form}"
            raise InputError(message(needs, got, "Use picture.png."))
        said: dict[str, dict[str, str | None]] = {
            "png": {"Software": "mercer"},
            "svg": {"Creator": "mercer", "Date": None},
            "pdf": {"Creator": "mercer", "CreationDate": None},
        }
        stream = BytesIO()
        self.figure_.savefig(stream, format=form, metadata=said[form])
        return stream.getvalue()
