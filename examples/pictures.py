"""One picture of each display, on the classical examples of the lectures and on real data.

    python examples/pictures.py FOLDER [--data FOLDER] [--small] [--only NAME ...]

Each is a file FOLDER/NAME.png. Prices are those of examples/data; with --data the spirals, the passengers of an airline
and the rows of a sonar are those of that folder, else spirals and passengers are made, and rows of the sonar are waves.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer import (
    KernelKMeans,
    KernelPCA,
    KernelPerceptron,
    KernelRidge,
    KernelSVC,
    Perceptron,
    mmd,
)
from mercer.displays import (
    BasisDisplay,
    BoundaryDisplay,
    ClusterDisplay,
    ComponentsDisplay,
    CostDisplay,
    CurveDisplay,
    DescentDisplay,
    GramDisplay,
    HistoryDisplay,
    LeaveOneOutDisplay,
    LiftErrorDisplay,
    NullDisplay,
    ParabolicDisplay,
    ScreeDisplay,
    SeparationDisplay,
    StepsDisplay,
)
from mercer.errors import message
from mercer.lifts import Nystrom, RadialBasis, RandomFourier
from mercer.planner.machine import ROUGH
from mercer.solvers import ConjugateGradient, GradientDescent

Array = NDArray[Any]
PRICES = Path(str(files("mercer.lectures") / "data" / "aapl_2019.csv"))


# -- the rows ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """Where rows come from, and how many of them there are to be.

    data : a folder with files of real data, or None
    small : whether few rows and a coarse grid are enough
    """

    data: Path | None = None
    small: bool = False

    @property
    def grid(self) -> int:
        return 40 if self.small else 200

    def table(self, name: str) -> Any:
        """The table of a file, None where there is none."""
        if self.data is None or not (self.data / f"{name}.parquet").exists():
            return None
        from pyarrow.parquet import read_table

        return read_table(self.data / f"{name}.parquet")


def circles(rows: Rows) -> tuple[Array, Array]:
    """Points inside and outside of a circle, with a gap between them."""
    X = np.random.default_rng(0).uniform(-2, 2, size=(60 if rows.small else 200, 2))
    size = ((X - [0.3, 0.2]) ** 2).sum(axis=1)
    kept = np.abs(size - 1.5) > 0.2
    return X[kept], np.where(size[kept] < 1.5, "inside", "outside")


def lines(rows: Rows) -> tuple[Array, Array]:
    """Points above and below a line, with a gap between them."""
    X = np.random.default_rng(2).normal(size=(40 if rows.small else 120, 2))
    height = X @ [1.0, 2.0] - 0.5
    kept = np.abs(height) > 0.3
    return X[kept], np.where(height[kept] > 0, "above", "below")


def spirals(rows: Rows) -> tuple[Array, Array]:
    """Two spirals of three turns: those of the file, which lie in a unit square, or as they are made."""
    table = rows.table("two_spirals")
    if table is not None:
        X = np.column_stack([table[name].to_numpy().astype(float) for name in ("x", "y")])
        return 13 * (X - 0.5), np.array(["one", "other"])[table["target"].to_numpy().astype(int)]
    turn = np.arange(97) * np.pi / 16
    arm = ((6.5 * (104 - np.arange(97)) / 104)[:, None]) * np.column_stack([np.cos(turn), np.sin(turn)])
    return np.vstack([arm, -arm]), np.repeat(["one", "other"], 97)


def sonar(rows: Rows) -> tuple[Array, Array]:
    """Echoes of rocks and of mines at 60 frequencies, as the file has them; else waves of two lengths."""
    table = rows.table("sonar")
    if table is not None:
        names = [name for name in table.column_names if name != "target" and not name.startswith("_")]
        return np.column_stack([table[name].to_numpy().astype(float) for name in names]), np.array(
            table["target"].to_pylist()
        )
    rng, kind = np.random.default_rng(0), np.arange(80) % 2
    waves = np.sin(np.outer(0.1 + 0.05 * kind, np.arange(60)) + rng.uniform(0, 1, (80, 1)))
    return waves + 0.3 * rng.normal(size=waves.shape), np.array(["M", "R"])[kind]


def prices(rows: Rows) -> tuple[Array, Array]:
    """The price of AAPL at the close of 87 days, against the number of the day."""
    with PRICES.open(newline="") as opened:
        found = np.array([float(row["close"]) for row in csv.DictReader(opened)])
    return np.arange(len(found), dtype=float)[:, None], found


def passengers(rows: Rows) -> tuple[Array, Array]:
    """The passengers of an airline in 144 months, in thousands; or as many made up, which grow and swing."""
    table = rows.table("airline_passengers")
    months = np.arange(144.0)
    if table is not None:
        return months[:, None] / 12, table["target"].to_numpy().astype(float)
    return months[:, None] / 12, 110 + 2.5 * months + (20 + 0.4 * months) * np.sin(2 * np.pi * months / 12)


# -- the pictures --------------------------------------------------------------------------------------------------


def boundary(rows: Rows) -> Any:
    X, y = spirals(rows)
    return BoundaryDisplay.from_estimator(KernelSVC("gaussian(0.7)", C=1e3).fit(X, y), X, y, grid=rows.grid)


def lifts(rows: Rows) -> Any:
    X, y = circles(rows)
    return SeparationDisplay.from_lifts({"lines": "linear", "circles": "parabolic"}, X, y, grid=rows.grid)


def costs(rows: Rows) -> Any:
    counts = (1_000, 10_000, 100_000) if rows.small else tuple(np.logspace(3, 6, 13).astype(int).tolist())
    return CostDisplay.from_plans(10, rows=counts, machine=ROUGH, memory_limit="16 GB")


def curve(rows: Rows) -> Any:
    X, y = prices(rows)
    model = KernelRidge("gaussian(12)").fit(X, y)
    return CurveDisplay.from_estimator(model, X, y, grid=rows.grid)


def bumps(rows: Rows) -> Any:
    X, y = prices(rows)
    basis = RadialBasis("random", 7, lengthscale=10.0, random_state=3)
    return BasisDisplay.from_estimator(KernelRidge(basis, alpha=0.03).fit(X, y), X, y, grid=rows.grid)


def gram(rows: Rows) -> Any:
    X, y = sonar(rows)
    return GramDisplay.from_kernel("gaussian(0.5)", X, order=y)


def indefinite(rows: Rows) -> Any:
    """The sigmoid, which is often called a kernel."""
    X, y = circles(rows)
    return GramDisplay.from_kernel("sigmoid", X, order=y)


def parabolic(rows: Rows) -> Any:
    X, y = circles(rows)
    return ParabolicDisplay.from_estimator(KernelSVC("parabolic", C=100).fit(X, y), X, y)


def waves(rows: Rows) -> Any:
    X, _ = sonar(rows)
    return LiftErrorDisplay.from_lift(RandomFourier("gaussian('median')"), X, draws=2 if rows.small else 5)


def landmarks(rows: Rows) -> Any:
    X, _ = sonar(rows)
    return LiftErrorDisplay.from_lift(
        Nystrom("gaussian('median')"), X, components=(8, 16, 32, 64), draws=2 if rows.small else 5
    )


def leave_one_out(rows: Rows) -> Any:
    X, y = prices(rows)
    lengths = (3.0, 10.0, 30.0) if rows.small else (1.0, 3.0, 10.0, 30.0, 100.0)
    return LeaveOneOutDisplay.from_lengthscales(KernelRidge("gaussian('median')"), X, y, lengths)


def history(rows: Rows) -> Any:
    X, y = passengers(rows)
    model = KernelRidge(
        "gaussian(0.3)", alpha=0.01, solver=ConjugateGradient(preconditioner_rank=10, tol=1e-10, random_state=0)
    )
    return HistoryDisplay.from_runs(model, X, y, iterations=range(1, 15 if rows.small else 60))


def mistakes(rows: Rows) -> Any:
    return HistoryDisplay.from_estimator(KernelPerceptron("gaussian(1)", max_iter=100).fit(*spirals(rows)))


def steps(rows: Rows) -> Any:
    X, y = lines(rows)
    return StepsDisplay.from_estimator(Perceptron(max_iter=100).fit(X, y), X, y, grid=rows.grid)


def descent(rows: Rows) -> Any:
    X, y = prices(rows)
    solver = GradientDescent(step=0.025, max_iter=20_000, tol=1e-8)
    model = KernelRidge("gaussian(10)", alpha=1.0, solver=solver).fit(X[::3], y[::3])
    return DescentDisplay.from_estimator(model, pair=(0, 5))


def scree(rows: Rows) -> Any:
    return ScreeDisplay.from_estimator(KernelPCA("gaussian('median')", n_components=10).fit(sonar(rows)[0]))


def components(rows: Rows) -> Any:
    X, y = sonar(rows)
    return ComponentsDisplay.from_estimator(KernelPCA("gaussian('median')", n_components=2).fit(X), X, y)


def clusters(rows: Rows) -> Any:
    X, _ = circles(rows)
    return ClusterDisplay.from_estimator(KernelKMeans(2, kernel="parabolic", random_state=0).fit(X), X, grid=rows.grid)


def null(rows: Rows) -> Any:
    X, y = sonar(rows)
    names = np.unique(y)
    return NullDisplay.from_result(mmd(X[y == names[0]], X[y == names[1]], null="permutation", random_state=0))


PICTURES: dict[str, Callable[[Rows], Any]] = {
    each.__name__: each
    for each in (
        boundary,
        lifts,
        costs,
        curve,
        bumps,
        gram,
        indefinite,
        parabolic,
        waves,
        landmarks,
        leave_one_out,
        history,
        mistakes,
        steps,
        descent,
        scree,
        components,
        clusters,
        null,
    )
}


def draw(folder: Path, rows: Rows, names: Sequence[str]) -> list[Path]:
    """The files of the pictures, one a name."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{name}.png" for name in names]
    for name, file in zip(names, files, strict=True):
        PICTURES[name](rows).figure_.savefig(file, dpi=80)
        print(f"{name}: {file}")
    return files


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the pictures go")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="where real data is, in Parquet")
    parser.add_argument("--small", action="store_true", help="few rows, coarse grids")
    parser.add_argument("--only", nargs="+", choices=list(PICTURES), metavar="NAME", help="some pictures alone")
    options = parser.parse_args(arguments)
    try:
        import matplotlib  # noqa: F401  # the error says what to install
    except ModuleNotFoundError as missing:
        remedy = 'Install it with: pip install "mercer[examples]".'
        raise SystemExit(message("matplotlib", "it is not installed", remedy, subject="pictures.py")) from missing
    draw(options.folder, Rows(options.data, options.small), options.only or list(PICTURES))


if __name__ == "__main__":
    main(sys.argv[1:])
