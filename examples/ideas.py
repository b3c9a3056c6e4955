"""Pictures of three of the five ideas: a kernel and what it makes of functions, a plan, a certificate.

    python examples/ideas.py FOLDER

Lifts and proofs are drawn by examples/pictures.py (parabolic, indefinite). Plans are those of a machine of
round numbers.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import mercer
from mercer import KernelRidge
from mercer.kernels import Gaussian, Linear, Periodic
from mercer.lifts import Nystrom
from mercer.planner.machine import ROUGH

Array = NDArray[Any]
KERNELS = {
    "gaussian(0.3)": Gaussian(0.3),
    "gaussian(1) * periodic(0.5)": Gaussian(1.0) * Periodic(period=0.5),
    "linear + 0.1 gaussian(0.3)": Linear() + 0.1 * Gaussian(0.3),
}
GRID = np.linspace(-1.5, 1.5, 241)[:, None]
WAYS = {
    "direct": "direct",
    "conjugate gradients": "conjugate gradients",
    "nystrom": "landmarks, one pass",
    "random features": "random features",
}


# -- kernels ---------------------------------------------------------------------------------------------------------


def functions(kernel: mercer.kernels.Kernel, draws: int = 4) -> Array:
    """(points, draws): random functions whose covariance is the kernel, on the grid."""
    values, vectors = np.linalg.eigh(kernel(GRID))
    root = vectors * np.sqrt(np.maximum(values, 0))
    return np.asarray(root @ np.random.default_rng(1).normal(size=(len(GRID), draws)))


def draw_kernel() -> Figure:
    """Above k(x, 1), below functions whose likeness at two places is k."""
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    axes = figure.subplots(2, len(KERNELS), sharex=True)
    for (above, below), (name, kernel) in zip(axes.T, KERNELS.items(), strict=True):
        above.plot(GRID[:, 0], kernel(GRID, [[1.0]])[:, 0], color="black")
        above.axvline(1.0, color="0.8", zorder=0)
        above.set_title(name, fontsize=10)
        below.plot(GRID[:, 0], functions(kernel), linewidth=1)
        below.set_xlabel("x")
    axes[0, 0].set_ylabel("k(x, 1)")
    axes[1, 0].set_ylabel("f(x)")
    return figure


# -- plans -----------------------------------------------------------------------------------------------------------


def times(rows: Sequence[int]) -> tuple[dict[str, Array], list[str]]:
    """The seconds of each method for each number of rows (NaN where it is none), and the one that is taken."""
    found: dict[str, Array] = {way: np.full(len(rows), np.nan) for way in WAYS}
    taken: list[str] = []
    for place, count in enumerate(rows):
        plan = mercer.plan(count, 8, memory_limit="16 GB", machine=ROUGH)
        taken.append(plan.method)
        for each in (*plan.others, plan):
            if each.method in found:
                found[each.method][place] = each.seconds
    return found, taken


def draw_plan() -> Figure:
    """The seconds that each method would take, and the one that is taken."""
    rows = np.unique(np.geomspace(300, 3e6, 33).astype(int)).tolist()
    found, taken = times(rows)
    figure = Figure(figsize=(7, 4), layout="constrained")
    ax = figure.subplots()
    for way, seconds in found.items():
        (line,) = ax.loglog(rows, seconds, linewidth=1.2, label=WAYS[way])
        chosen = [here if choice == way else np.nan for here, choice in zip(seconds, taken, strict=True)]
        ax.loglog(rows, chosen, linewidth=5, alpha=0.4, color=line.get_color(), solid_capstyle="round")
    ax.set_ylim(1e-2, 1e6)
    ax.set_xlabel("rows, of 8 columns")
    ax.set_ylabel("predicted seconds")
    ax.legend(title="thick: the method that is taken", fontsize=9)
    return figure


# -- certificates ----------------------------------------------------------------------------------------------------


def errors(landmarks: Sequence[int]) -> Array:
    """(sizes, 2): the true distance from the exact model, and its certified bound, in the mean over the rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=500)
    exact = KernelRidge("gaussian(2)", alpha=0.1).fit(X, y).predict(X)
    found = []
    for size in landmarks:
        model = KernelRidge(Nystrom("gaussian(2)", size, random_state=0), alpha=0.1).fit(X, y)
        off = np.sqrt(np.mean((model.predict(X) - exact) ** 2))
        found.append((off, float(model.certificate_.rms[0])))
    return np.array(found)


def draw_certificate() -> Figure:
    """How far landmarks are from the exact model, and what the certificate says without knowing that."""
    landmarks = [10, 20, 40, 80, 120, 160, 200]
    found = errors(landmarks)
    figure = Figure(figsize=(6, 3.6), layout="constrained")
    ax = figure.subplots()
    ax.semilogy(landmarks, found[:, 1], "--o", color="black", label="certificate")
    ax.semilogy(landmarks, found[:, 0], "-o", label="true error")
    ax.set_xlabel("landmarks")
    ax.set_ylabel("distance from the exact model")
    ax.legend()
    return figure


PICTURES: dict[str, Callable[[], Figure]] = {
    "idea_kernel": draw_kernel,
    "idea_plan": draw_plan,
    "idea_certificate": draw_certificate,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        draw().savefig(folder / f"{name}.png", dpi=110)


if __name__ == "__main__":
    main()
