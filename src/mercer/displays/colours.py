"""One colour a label."""

from __future__ import annotations

from typing import Any

import numpy as np

MAX_NAMED_COLOURS = 10
"""Labels that have colours which are told apart by name; more are shades from one end of a scale to the other."""
SCALE = "viridis"


def colours(count: int) -> list[Any]:
    """So many colours, as numbers of red, green, blue and opacity."""
    from matplotlib import colormaps

    if count <= MAX_NAMED_COLOURS:
        return [colormaps["tab10"](place) for place in range(count)]
    return [colormaps[SCALE](place) for place in np.linspace(0, 1, count)]
