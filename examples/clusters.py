"""Two circles and two spirals: clusters that no straight line parts, found without their labels.

    python examples/clusters.py [--data FOLDER] [--picture FILE.png]

Circles around one center are parted by a plane after the parabolic lift, so that k-means with its kernel finds them.
Spirals need a graph: what matters is who is near whom, step by step along an arm, and that is what spectral clustering
sees; k-means is lost there. Kernel PCA shows what the kernel of k-means sees. Labels are used for nothing but colours
there, and the accuracy that is printed.

The lengthscale of a graph is a quarter of the longest distance from a row to its nearest neighbour. Every row is then
tied to the next one of its arm by exp(-8) at least, and to the other arm, half as far again, by exp(-19) at most. No
label is needed to choose it, nor to see how well that went: a walk along the graph should leave a cluster much more
rarely than it crosses one, and eigenvalues tell how much. With a third of the distance, ties across add up, and the
spirals are cut in the middle. With --data they are those of two_spirals.parquet in that folder, else they are made.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial import cKDTree

from mercer import KernelKMeans, KernelPCA, SpectralClustering
from mercer.displays import ClusterDisplay, ComponentsDisplay
from mercer.errors import message
from mercer.kernels import Gaussian, Kernel, Parabolic

Array = NDArray[Any]
FILE = "two_spirals.parquet"
NEAR = 1 / 4
"""The lengthscale of a graph, as a part of the longest distance to a nearest neighbour."""
SMALLEST = 1e-12
"""Differences from 1 below this are rounding."""


@dataclass(frozen=True)
class Case:
    """Rows, their true classes, and the kernels: of k-means and the components, and of the graph."""

    X: Array
    y: Array
    kernel: Kernel
    graph: Kernel


@dataclass(frozen=True)
class Found:
    """The three models of a case, fitted."""

    means: KernelKMeans
    spectral: SpectralClustering
    components: KernelPCA


# -- the rows ------------------------------------------------------------------------------------------------------


def circles(count: int = 200) -> tuple[Array, Array]:
    """Points near two circles of radius 1 and 3 around the origin, half of them each."""
    y = np.arange(count) % 2
    turn, radius = 2 * np.pi * np.arange(count) / count, 1.0 + 2.0 * y + np.random.default_rng(0).normal(0, 0.1, count)
    return radius[:, None] * np.column_stack([np.cos(turn), np.sin(turn)]), y


def spirals(count: int = 193) -> tuple[Array, Array]:
    """Two spirals of three turns."""
    step = np.arange(count) / 2
    arm = (6.5 * (104 - step) / 104)[:, None] * np.column_stack([np.cos(step * np.pi / 16), np.sin(step * np.pi / 16)])
    return np.vstack([arm, -arm]), np.repeat([0, 1], count)


def spirals_of(folder: Path) -> tuple[Array, Array]:
    """Those of the file, all rows."""
    from pyarrow.parquet import read_table

    table = read_table(folder / FILE)
    return np.column_stack([table[name].to_numpy().astype(float) for name in ("x", "y")]), table["target"].to_numpy()


def graph_kernel(X: Array) -> Gaussian:
    """A Gaussian that ties each row to its nearest neighbour, and hardly reaches beyond."""
    nearest = cKDTree(X).query(X, k=2)[0][:, 1]
    return Gaussian(NEAR * float(nearest.max()))


def cases(folder: Path | None = None) -> dict[str, Case]:
    """What is clustered, by name."""
    ring, arms = circles(), spirals() if folder is None else spirals_of(folder)
    tied = graph_kernel(arms[0])
    return {"circles": Case(*ring, Parabolic(), graph_kernel(ring[0])), "spirals": Case(*arms, tied, tied)}


# -- the models ----------------------------------------------------------------------------------------------------


def fitted(case: Case) -> Found:
    """All models of a case; none of them sees y."""
    means = KernelKMeans(2, kernel=case.kernel, random_state=0).fit(case.X)
    spectral = SpectralClustering(2, kernel=case.graph, random_state=0).fit(case.X)
    return Found(means, spectral, KernelPCA(case.kernel, n_components=2).fit(case.X))


def accuracy(labels: Array, y: Array) -> float:
    """The part of the rows whose cluster is their class, where each cluster stands for one class, as well as can be."""
    counts = np.array([[np.sum((labels == a) & (y == b)) for b in np.unique(y)] for a in np.unique(labels)])
    rows, columns = linear_sum_assignment(-counts)
    return float(counts[rows, columns].sum() / len(y))


def rarity(case: Case) -> float:
    """How many times as far from 1 the third eigenvalue of the graph is as the second, which parts the clusters."""
    values = SpectralClustering(2, kernel=case.graph, n_components=3, random_state=0).fit(case.X).eigenvalues_
    return float((1 - values[2]) / max(1 - values[1], SMALLEST))


def report(name: str, case: Case, found: Found) -> None:
    print(f"{name}: {len(case.X)} rows")
    for title, kernel, labels in (
        ("k-means", case.kernel, found.means.labels_),
        ("spectral clustering", case.graph, found.spectral.labels_),
    ):
        print(f"  {title} with {kernel}: {accuracy(labels, case.y):.1%} of the rows in the cluster of their class")
    print(f"  the graph's third eigenvalue is {rarity(case):.2g} times as far from 1 as the second")
    ratios = found.components.explained_variance_ratio_
    told = f"{100 * ratios.sum():.3g} % of the variance, {100 * found.components.unexplained_:.3g} % unexplained"
    print(f"  two components of {case.kernel}: {told}")
    for model in (found.means, found.spectral, found.components):
        print(f"  plan: {str(model.plan_).splitlines()[0]}")


# -- the picture ---------------------------------------------------------------------------------------------------


def draw(file: Path, all_cases: dict[str, Case], all_found: dict[str, Found]) -> None:
    """A row of panels a case: the regions of k-means, the labels of the graph, and the true classes in components."""
    figure = _figure()
    for panels, (name, case) in zip(figure.subplots(len(all_cases), 3), all_cases.items(), strict=True):
        found = all_found[name]
        ClusterDisplay.from_estimator(found.means, case.X, ax=panels[0])
        ClusterDisplay.from_estimator(found.spectral, case.X, ax=panels[1])
        ComponentsDisplay.from_estimator(found.components, case.X, case.y, ax=panels[2])
        for axes, model, title in zip(
            panels, (found.means, found.spectral, None), ("k-means", "spectral clustering", "kernel PCA"), strict=True
        ):
            right = "" if model is None else f", {accuracy(model.labels_, case.y):.0%} right"
            axes.set_title(f"{name}: {title}{right}")
        for axes in panels[:2]:
            axes.set_aspect("equal")
    figure.savefig(file)


def _figure() -> Any:
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as missing:
        remedy = 'Install it with: pip install "mercer[examples]".'
        raise SystemExit(message("matplotlib", "it is not installed", remedy, subject="--picture")) from missing
    return Figure(figsize=(14, 8.5), layout="constrained")


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, metavar="FOLDER", help=f"where {FILE} is")
    parser.add_argument("--picture", type=Path, metavar="FILE.png", help="draw into this file")
    options = parser.parse_args(arguments)
    all_cases = cases(options.data)
    all_found = {name: fitted(case) for name, case in all_cases.items()}
    for name, case in all_cases.items():
        report(name, case, all_found[name])
    if options.picture is not None:
        draw(options.picture, all_cases, all_found)
        print(f"The picture is in {options.picture}.")


if __name__ == "__main__":
    main(sys.argv[1:])
