"""Pictures of a run of the suite: how many times faster, with the quartiles; and time and memory against rows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
from lines import FASTER, Line, package_of

DOTS = 110
COLOURS = {
    "ours": "#b2182b", "ours, Cholesky": "#ef8a62", "scikit-learn": "#2166ac", "scikit-learn-intelex": "#67a9cf",
    "LIBSVM": "#762a83", "thundersvm": "#c2a5cf", "himalaya": "#1b7837", "GPyTorch": "#e08214", "tslearn": "#35978f",
    "GraKeL": "#8c510a", "scikit-learn, Laplace": "#2166ac", "NumPy loop": "#777777",
}  # fmt: skip
"""Everybody has the same colour in every picture."""
LETTERS = 90
"""Of a work beside its dot, at most."""


def draw(lines: list[Line], growth: dict[str, Any], folder: Path) -> dict[str, list[str]]:
    """All pictures; for each part the names of its files, and under "all" those of the whole."""
    mpl.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("bench_*.png"):  # none of another run stays
        old.unlink()
    found: dict[str, list[str]] = {"all": [], "growth": []}
    timed = [line for line in lines if line.unit == FASTER and line.ratio and not line.failed and line.peer]
    for part in dict.fromkeys(line.part for line in timed):
        chosen = [line for line in timed if line.part == part]
        found[part] = [ratios(part, chosen, folder)]
    if timed:
        found["all"].append(overview(timed, folder))
    for learner in dict.fromkeys(curve["learner"] for curve in growth.get("curves", [])):
        found["growth"].append(grown(learner, growth, folder))
    return found


def ratios(part: str, lines: list[Line], folder: Path) -> str:
    """A dot for each comparison, with its quartiles and its goal; right of the line ours is faster."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(10, 0.9 + 0.21 * len(lines)), layout="constrained")
    for place, line in enumerate(lines):
        axes.plot(_ratio(line), place, "o", color="#b2182b", markersize=4, zorder=3)
        if line.spread:
            axes.plot([line.spread[0], line.spread[2]], [place, place], "-", color="#b2182b", linewidth=2)
        if line.goal is not None:
            axes.plot(line.goal, place, "|", color="#222222", markersize=9)
    axes.axvline(1.0, color="#888888", linewidth=0.8)
    axes.set(xscale="log", ylim=(len(lines) - 0.5, -0.5), xlabel="times faster than the other; | is the goal")
    _plainly(axes.xaxis)
    axes.set_yticks(range(len(lines)), [_label(line) for line in lines], fontsize=6)
    axes.grid(visible=True, axis="x", which="both", color="#e5e5e5", linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    return _saved(figure, folder, f"bench_{part}.png")


def _plainly(*sides: Any) -> None:
    """Numbers as people write them, instead of powers of ten."""
    for side in sides:
        side.set_major_formatter(
            mpl.ticker.FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
        )
        side.set_minor_formatter(mpl.ticker.NullFormatter())


def _ratio(line: Line) -> float:
    """Of lines that have one."""
    return float(line.ratio or 1.0)


def _label(line: Line) -> str:
    room = LETTERS - len(line.peer)
    work = line.work if len(line.work) <= room else f"{line.work[: room // 2]} ... {line.work[5 - room // 2 :]}"
    return f"{work} — {line.peer}"


def overview(lines: list[Line], folder: Path) -> str:
    """All comparisons with each peer in one row."""
    from matplotlib import pyplot as plt

    peers = sorted({package_of(line.peer) for line in lines})
    figure, axes = plt.subplots(figsize=(8, 1.0 + 0.35 * len(peers)), layout="constrained")
    for place, peer in enumerate(peers):
        found = [_ratio(line) for line in lines if package_of(line.peer) == peer]
        axes.plot(found, [place] * len(found), "o", color="#b2182b", alpha=0.35, markersize=6, markeredgewidth=0)
    axes.axvline(1.0, color="#888888", linewidth=0.8)
    axes.set(
        xscale="log", ylim=(len(peers) - 0.5, -0.5), xlabel="times faster than the other, a dot for each comparison"
    )
    _plainly(axes.xaxis)
    axes.set_yticks(range(len(peers)), [_told(peer) for peer in peers], fontsize=8)
    axes.grid(visible=True, axis="x", color="#e5e5e5", linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    return _saved(figure, folder, "bench_all.png")


def _told(peer: str) -> str:
    return f"{peer}, and loops by hand" if peer == "scikit-learn" else peer


def grown(learner: str, growth: dict[str, Any], folder: Path) -> str:
    """Seconds and megabytes against rows; a cross is where somebody gave out."""
    from matplotlib import pyplot as plt

    figure, sides = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    limits = growth["limits"]
    for axes, name, most in zip(
        sides, ("seconds", "megabytes"), (limits["seconds"], 1e3 * limits["gigabytes"]), strict=True
    ):
        for curve in growth["curves"]:
            if curve["learner"] == learner and curve["points"]:
                _curve(axes, curve, name)
        axes.axhline(most, color="#888888", linewidth=0.8, linestyle=":")
        axes.set(xscale="log", yscale="log", xlabel="rows", ylabel=name)
        _plainly(axes.xaxis, axes.yaxis)
        axes.grid(visible=True, color="#e5e5e5", linewidth=0.5)
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(*sides[0].get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False, fontsize=8)
    figure.suptitle(learner, fontsize=10)
    return _saved(figure, folder, f"bench_growth_{re.sub('[^a-z0-9]+', '_', learner.lower()).strip('_')}.png")


def _curve(axes: Any, curve: dict[str, Any], name: str) -> None:
    rows = [point["rows"] for point in curve["points"]]
    values = [max(point[name], 1e-4 if name == "seconds" else 1.0) for point in curve["points"]]
    colour = COLOURS.get(curve["who"], "#000000")
    axes.plot(rows, values, "o-", color=colour, label=curve["who"], markersize=3, linewidth=1.3)
    if not curve["end"].startswith("no more rows"):
        axes.plot(rows[-1], values[-1], "x", color=colour, markersize=8)


def _saved(figure: Any, folder: Path, name: str) -> str:
    from matplotlib import pyplot as plt

    figure.savefig(folder / name, dpi=DOTS, metadata={"Software": None})
    plt.close(figure)
    return name
