"""An ellipse, as in exercise 17 of the lectures, and two spirals: the boundary, the margins and the support vectors.

    python examples/boundaries.py [--picture PATH]

An ellipse in the plane is a line after the lift to polynomials of degree two; two spirals need a kernel that can bend
more. Both are SVMs: what decides is a few rows, the support vectors.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer import KernelSVC

Array = NDArray[Any]


def ellipse(count: int = 200) -> tuple[Array, Array]:
    """Points inside and outside of an ellipse, with a gap between them."""
    X = np.random.default_rng(0).uniform(-2, 2, size=(4 * count, 2))
    size = (X[:, 0] / 1.6) ** 2 + (X[:, 1] / 0.9) ** 2
    kept = np.flatnonzero(np.abs(size - 1) > 0.15)[:count]
    return X[kept], np.where(size[kept] < 1, "inside", "outside")


def spirals(count: int = 97) -> tuple[Array, Array]:
    """Two spirals of three turns."""
    turn = np.arange(count) * np.pi / 16
    arm = ((6.5 * (104 - np.arange(count)) / 104)[:, None]) * np.column_stack([np.cos(turn), np.sin(turn)])
    return np.vstack([arm, -arm]), np.repeat(["one", "other"], count)


def models() -> dict[str, tuple[Array, Array, KernelSVC]]:
    """What is drawn: rows, labels and a fitted model, by name."""
    found = {}
    for name, (X, y), kernel in (
        ("an ellipse: polynomial(degree=2)", ellipse(), "polynomial(degree=2)"),
        ("two spirals: gaussian(0.7)", spirals(), "gaussian(0.7)"),
    ):
        found[name] = X, y, KernelSVC(kernel, C=1e3, tol=1e-8).fit(X, y)
    return found


def draw(path: Path) -> None:
    """One picture of both."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5))
    for axes, (name, (X, y, model)) in zip(figure.subplots(1, 2), models().items(), strict=True):
        low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
        across, up = np.meshgrid(np.linspace(low[0], high[0], 200), np.linspace(low[1], high[1], 200))
        scores = model.decision_function(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
        axes.contourf(across, up, scores, levels=[-np.inf, 0, np.inf], colors=["#dbe9f6", "#fde6d2"])
        axes.contour(across, up, scores, levels=[-1, 0, 1], colors="black", linestyles=["dotted", "solid", "dotted"])
        for label, color in zip(model.classes_, ("#2166ac", "#d95f0e"), strict=True):
            axes.scatter(*X[y == label].T, s=14, color=color, label=label)
        axes.scatter(*X[model.support_].T, s=60, facecolors="none", edgecolors="black", label="support vectors")
        axes.set_title(f"{name}, {len(model.support_)} of {len(X)} rows decide")
        axes.set_aspect("equal")
        axes.legend(loc="upper right", fontsize="small")
    figure.tight_layout()
    figure.savefig(path)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--picture", type=Path, help="where the picture goes")
    options = parser.parse_args(arguments)
    for name, (X, y, model) in models().items():
        told = f"{model.score(X, y):.1%} of {len(X)} rows right, {len(model.support_)} support vectors"
        print(f"{name}: {told}, duality gap {model.duality_gap_:.1e}")
    if options.picture is not None:
        draw(options.picture)
        print(f"drawn: {options.picture}")


if __name__ == "__main__":
    main()
