"""How large a picture is written: for a page, or for a slide."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from mercer.errors import InputError, message

MANY = 0.8
"""How large letters are, as a part, where a slide has two rows of panels or more."""


@dataclass(frozen=True)
class Look:
    """Sizes of figures, letters and lines.

    figure, wide : inches of a figure with one axes, and with several side by side
    scale : lines are so many times as thick as displays ask for, points as broad, and letters inside of axes as high
    pad : inches around axes, None as matplotlib has them
    letters : points of the title, of the names of axes, and of numbers and legends; empty as matplotlib has them
    """

    figure: tuple[float, float]
    wide: tuple[float, float]
    scale: float = 1.0
    pad: float | None = None
    letters: dict[str, float] = field(default_factory=dict)

    def of_many(self, title: float = 0.0) -> Look:
        """The same, where several rows of panels share a figure.

        title : points of short titles, at least
        """
        smaller = {name: MANY * points for name, points in self.letters.items()}
        smaller |= {"title": max(title, smaller.get("title", 0.0))}
        return self if not self.letters else replace(self, scale=MANY * self.scale, letters=smaller)

    @contextmanager
    def colours(self) -> Iterator[None]:
        """Dark on light, whatever the settings are; on a page as the settings have it."""
        if not self.letters:
            yield
            return
        from matplotlib import rc_context, rcParamsDefault

        names = [
            name for name in rcParamsDefault if name.endswith("color") and not name.startswith(("lines", "boxplot"))
        ]
        with rc_context({name: rcParamsDefault[name] for name in names}):
            yield

    def write(self, axes: Any) -> None:
        """The letters, numbers and frame of axes."""
        if not self.letters:
            return
        for axis in (axes.xaxis, axes.yaxis, *([axes.zaxis] if hasattr(axes, "zaxis") else [])):
            axis.label.set_fontsize(self.letters["names"])
            axis.offsetText.set_fontsize(self.letters["numbers"])
            if hasattr(axes, "zaxis"):
                axis.labelpad = self.letters["names"]
        axes.tick_params(which="both", labelsize=self.letters["numbers"])
        axes.tick_params(which="major", width=0.8 * self.scale, length=3.5 * self.scale)
        axes.tick_params(which="minor", width=0.6 * self.scale, length=2.0 * self.scale)
        for spine in axes.spines.values():
            spine.set_linewidth(0.8 * self.scale)

    def enlarge(self, artist: Any) -> None:
        """Thicker lines, broader points, larger letters."""
        k = self.scale
        if k == 1.0:
            return
        if hasattr(artist, "set_markersize"):
            artist.set_markersize(k * artist.get_markersize())
            artist.set_markeredgewidth(k * artist.get_markeredgewidth())
        if hasattr(artist, "get_sizes") and len(artist.get_sizes()):
            artist.set_sizes([k * k * each for each in artist.get_sizes()])
        if hasattr(artist, "set_fontsize"):
            artist.set_fontsize(k * artist.get_fontsize())
            if hasattr(artist, "xyann"):
                artist.xyann = (
                    tuple(k * each for each in artist.xyann) if artist.anncoords == "offset points" else artist.xyann
                )
        elif hasattr(artist, "get_linewidth"):
            thick = artist.get_linewidth()
            artist.set_linewidth(k * thick if isinstance(thick, int | float) else [k * each for each in thick])


PAGE = Look(figure=(6.4, 4.8), wide=(10.4, 4.8))
SLIDE = Look(
    figure=(13.333, 7.5),
    wide=(13.333, 7.5),
    scale=2.2,
    pad=0.15,
    letters={"title": 26.0, "names": 24.0, "numbers": 20.0},
)
"""Sixteen to nine: read from the last row where letters are a thirtieth of the height, 18 points of 540."""
LOOKS = {"page": PAGE, "slide": SLIDE}


def look_of(style: str) -> Look:
    """The look of a style by its name."""
    if style not in LOOKS:
        raise InputError(message('style "page" or "slide"', f"got {style!r}", 'Use style="slide" for large letters.'))
    return LOOKS[style]
