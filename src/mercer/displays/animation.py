"""A figure that changes, as a GIF or as a page of its own."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, message
from mercer.html import escaped

MAX_FRAMES = 200
"""Pictures of an animation, at most."""
PIXELS = 960
"""How wide a picture is."""
COLOURS = 160
"""Of a picture: lines, points and pale regions have few."""
LAST_SECONDS = 2.0
"""The last picture of a GIF stays so long, before it begins again."""
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>
body {{ margin: 0; background: white; color: black; font: 18px sans-serif; text-align: center }}
img {{ max-width: 100%; max-height: 90vh; display: block; margin: auto }}
input {{ width: 60%; vertical-align: middle }}
</style></head><body>
<img id="picture" alt="{title}">
<button id="play">play</button> <input id="place" type="range" min="0" max="{last}" value="0" aria-label="step">
<script>
const pictures = [{pictures}];
const picture = document.getElementById("picture"), place = document.getElementById("place");
const play = document.getElementById("play");
let timer = null;
function show() {{ picture.src = "data:image/png;base64," + pictures[Number(place.value)]; }}
function stop() {{ clearInterval(timer); timer = null; play.textContent = "play"; }}
function next() {{
  if (Number(place.value) >= {last}) return stop();
  place.value = Number(place.value) + 1; show();
}}
place.oninput = () => {{ stop(); show(); }};
play.onclick = () => {{
  if (timer) return stop();
  if (Number(place.value) >= {last}) place.value = 0;
  play.textContent = "stop"; show(); timer = setInterval(next, {milliseconds});
}};
show();
</script></body></html>
"""


def checked(path: Any, frames: int, seconds: float) -> Path:
    """The path of a GIF or a page, or an error before anything is drawn."""
    file = Path(path)
    if file.suffix.lower() not in (".gif", ".html"):
        got = f"got {file.name!r}"
        raise InputError(message("a file that ends with .gif or .html", got, 'Use "steps.gif".'))
    if isinstance(frames, bool) or not isinstance(frames, int | np.integer) or not 2 <= frames <= MAX_FRAMES:
        raise InputError(message(f"from 2 to {MAX_FRAMES} frames", f"got {frames}", "Use frames=40."))
    if not 0.02 <= seconds <= 60:
        raise InputError(message("from 0.02 to 60 seconds for a frame", f"got {seconds:g}", "Use seconds=0.5."))
    return file


def chosen_steps(count: int, most: int) -> NDArray[np.intp]:
    """Steps from 0 to `count`: all, or so many of them, closer to each other at the beginning."""
    if count < most:
        return np.arange(count + 1)
    if most < 3:
        return np.array([0, count][-most:])
    return np.unique([0, *np.round(np.geomspace(1, count, most - 1)).astype(np.intp)])


def written(file: Path, figure: Any, drawn: Iterable[object], seconds: float, title: str) -> Path:
    """Write a picture of the figure after each step of an iteration that changes it."""
    from PIL import Image  # matplotlib needs it, too

    dots = PIXELS / figure.get_size_inches()[0]
    pictures = []
    for _ in drawn:
        found = BytesIO()
        figure.savefig(found, format="png", dpi=dots)
        found.seek(0)
        with Image.open(found) as opened:
            pictures.append(opened.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE))
    if file.suffix.lower() == ".gif":
        times = [round(1000 * seconds)] * (len(pictures) - 1) + [round(1000 * max(seconds, LAST_SECONDS))]
        pictures[0].save(file, save_all=True, append_images=pictures[1:], duration=times, loop=0, optimize=True)
    else:
        file.write_text(_page(pictures, seconds, title), encoding="utf-8")
    return file


def _page(pictures: Sequence[Any], seconds: float, title: str) -> str:
    found = []
    for picture in pictures:
        buffer = BytesIO()
        picture.save(buffer, format="png", optimize=True)
        found.append(f'"{base64.b64encode(buffer.getvalue()).decode()}"')
    last, milliseconds = len(found) - 1, round(1000 * seconds)
    return PAGE.format(title=escaped(title), pictures=",".join(found), last=last, milliseconds=milliseconds)
