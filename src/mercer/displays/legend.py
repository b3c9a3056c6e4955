"""A legend above axes, where it covers nothing, and below their title."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MAX_NAMES = 16
"""Names in a legend, at most: more are counted in its last line."""
MAX_COLUMNS = 6


def legend_above(axes: Any, fontsize: float | str = "small", named: dict[str, Any] | None = None) -> Any:
    """A legend in the space between axes and title; None where nothing has a name.

    named : what is named instead of the artists of the axes, by name

    The title, even one that is set later, goes above it: matplotlib keeps titles above the children of axes, and one of
    them, without contents, is as high as the legend.
    """
    handles, labels = axes.get_legend_handles_labels() if named is None else (list(named.values()), list(named))
    if not handles:
        return None
    if len(handles) > MAX_NAMES:
        from matplotlib.lines import Line2D

        left = len(handles) - MAX_NAMES + 1
        handles, labels = handles[: MAX_NAMES - 1], [*labels[: MAX_NAMES - 1], f"and {left} more"]
        handles.append(Line2D([], [], linestyle="none"))
    flat = not hasattr(axes, "zaxis")  # of three dimensions there is room below the title, beside the highest corner
    style: dict[str, Any] = {"fontsize": fontsize, "frameon": False, "loc": "lower left" if flat else "upper left"}
    style |= {"bbox_to_anchor": (0, 1)}
    style |= {"borderaxespad": 0.2, "borderpad": 0.2, "columnspacing": 1.2, "handletextpad": 0.5, "scatterpoints": 1}
    width = axes.get_window_extent().width
    for columns in _numbers_of_columns(len(handles), MAX_COLUMNS):
        legend = axes.legend(handles, labels, ncols=columns, **style)
        if legend.get_window_extent().width <= width:
            break
    for text in legend.get_texts():
        text.set_parse_math(False)
    if flat:
        space = axes.inset_axes((0.0, 1.0, 1.0, 0.0))
        space.set_axis_off()
        space.set_axes_locator(Space(axes, legend))
    return legend


def legend_below(figure: Any, style: dict[str, Any]) -> Any:
    """A legend below all axes of a figure with a layout, in as few lines as its width allows."""
    for columns in _numbers_of_columns(len(style["handles"]), len(style["handles"])):
        legend = figure.legend(**style, loc="outside lower center", ncols=columns, frameon=False)
        if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            return legend
        legend.remove()
    return None


def _numbers_of_columns(names: int, most: int) -> list[int]:
    """Columns to try, the most first: names go down the columns, so that those of one height read in order."""
    rows = {-(-names // columns) for columns in range(1, min(most, names) + 1)}
    return [-(-names // height) for height in sorted(rows)]


@dataclass(frozen=True, eq=False)
class Space:
    """Where a legend is, as matplotlib asks for it: above the axes, as high as the legend; flat once it is gone."""

    axes: Any
    legend: Any

    def __call__(self, parent: Any, renderer: Any) -> Any:
        from matplotlib.transforms import Bbox

        box = self.axes.bbox
        there = self.axes.get_legend() is self.legend and self.legend.get_visible()
        letter = self.legend.get_texts()[0].get_fontsize() * self.axes.get_figure(root=True).dpi / 72
        gaps = 2 * self.legend.borderaxespad * letter
        high = self.legend.get_window_extent(renderer).height + gaps if there else 0.0
        return Bbox.from_bounds(box.x0, box.y1, box.width, high).transformed(self.axes.figure.transSubfigure.inverted())
