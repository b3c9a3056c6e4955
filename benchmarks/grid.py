"""Few columns and many rows: waves on a grid of frequencies against the goals that were set, and against others.

    python benchmarks/grid.py [--only PART ...] [--data FOLDER] [--quick] [--rows N] [--json PATH]

satellite : KernelRidge() without an argument on 105,569 temperatures of a map; error and coverage on 42,740 others
million : one million rows of a plane, Matern 3/2 at a tenth of the box, against a solution on a finer grid
path : 30 penalties with exact leave-one-out errors of all rows, in units of one fit at one of them
streamed : rows of a memory map (--rows, 10 million), fitted in pieces: seconds, and memory at the peak
landmarks : scikit-learn's Nystroem and Ridge with as many landmarks as come near to our error on 100,000 rows

Each part runs in a process of its own. Errors are in units of the standard deviation of what is predicted.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from alone import Failed, Found, alone, measured
from report import machine, version_of

FOLDER = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
RESULTS = Path(__file__).resolve().parent / "results" / "grid.json"
GOALS: dict[str, dict[str, float]] = {
    "satellite": {"seconds": 20.0, "rmse": 1.65, "least coverage": 0.93, "most coverage": 0.97},
    "million": {"seconds": 6.0, "error": 1e-4},
    "path": {"fits": 3.0},
    "streamed": {"megabytes": 2_000.0, "seconds per million": 2.4},
    "landmarks": {"times faster": 20.0},
}
"""What was to be reached, on two cores."""
NORMAL = 1.959964
"""Deviations that hold 95 % of a normal law."""
PIECE = 1 << 20
"""Rows that are drawn at once."""


def surface(X: np.ndarray) -> np.ndarray:
    """What is to be found."""
    found: np.ndarray = np.sin(9 * X[:, 0]) * np.cos(7 * X[:, 1]) + np.sin(23 * X[:, 0] * X[:, 1]) + X[:, 1]
    return found


def drawn(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the unit square, and noisy values of the surface there."""
    random = np.random.default_rng(seed)
    X = random.uniform(0, 1, (rows, 2))
    return X, surface(X) + 0.3 * random.standard_normal(rows)


def satellite(options: dict[str, Any]) -> Found:
    from mercer import KernelRidge

    table = import_module("pandas").read_parquet(Path(options["data"]) / "heaton_satellite.parquet")
    train, test = (table[table["part"] == part] for part in ("train", "test"))
    names, model = ["lon", "lat"], KernelRidge()

    def work() -> tuple[np.ndarray, np.ndarray]:
        model.fit(train[names], train["target"])
        mean, deviation = model.predict(test[names], return_std=True)
        return mean, np.sqrt(deviation**2 + model.noise_)

    (mean, deviation), cost = measured(work)
    if options["picture"]:
        draw(Path(options["picture"]), train, test, mean, deviation)
    off = test["target"].to_numpy() - mean
    return {
        **cost,
        "rmse": float(np.sqrt(np.mean(off**2))),
        "coverage": float(np.mean(np.abs(off) <= NORMAL * deviation)),
        "rmse of the mean": float(np.std(test["target"])),
        "kernel": str(model.kernel_),
        "alpha": float(model.alpha_),
        "method": model.plan_.details.describe(model.plan_),
        "gives up": model.plan_.gives_up,
    }


def draw(path: Path, train: Any, test: Any, mean: np.ndarray, deviation: np.ndarray) -> None:
    """The temperatures that were fitted, the whole map with what was predicted, and the deviations."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(13, 3.4), sharey=True, layout="constrained")
    low, high = np.quantile(train["target"], [0.002, 0.998])
    dots: dict[str, Any] = {"s": 0.6, "marker": "s", "linewidths": 0, "rasterized": True}
    shades: dict[str, Any] = {"vmin": low, "vmax": high, "cmap": "inferno"}
    axes[0].scatter(train["lon"], train["lat"], c=train["target"], **shades, **dots)
    axes[1].scatter(train["lon"], train["lat"], c=train["target"], **shades, **dots)
    warm = axes[1].scatter(test["lon"], test["lat"], c=mean, **shades, **dots)
    wide = axes[2].scatter(test["lon"], test["lat"], c=deviation, cmap="viridis", **dots)
    figure.colorbar(warm, ax=axes[1], label="degrees Celsius")
    figure.colorbar(wide, ax=axes[2], label="standard deviation")
    titles = "what the satellite saw", "with what is predicted under the clouds", "how far that may be off"
    for each, title in zip(axes, titles, strict=True):
        each.set_title(title)
        each.set_xlabel("longitude")
    axes[0].set_ylabel("latitude")
    figure.savefig(path, dpi=110)


def million(options: dict[str, Any]) -> Found:
    from mercer import KernelRidge
    from mercer.lifts import FourierGrid

    X, y = drawn(options["million"])
    new = np.random.default_rng(1).uniform(0, 1, (20_000, 2))

    def fitted(epsilon: float) -> np.ndarray:
        lift = FourierGrid("matern(nu=1.5, lengthscale=0.1)", epsilon=epsilon)
        model = KernelRidge(lift, alpha=0.1, method="fourier_grid").fit(X, y)
        waves.append(model.lift_.n_features())
        return np.asarray(model.predict(new))

    waves: list[int] = []
    fitted(1e-2)  # what is loaded and compiled once
    mean, cost = measured(lambda: fitted(1e-5))
    finer = fitted(3e-6)
    return {**cost, "error": float(np.sqrt(np.mean((mean - finer) ** 2)) / finer.std()), "features": waves[1:]}


def path(options: dict[str, Any]) -> Found:
    from mercer import KernelRidge

    X, y = drawn(options["million"])
    kernel, alphas = "matern(nu=2.5, lengthscale=0.3)", np.geomspace(1e-3, 1e3, 30)
    KernelRidge(kernel, alpha=1.0, method="fourier_grid").fit(X[:9_000], y[:9_000])
    one, cost = measured(lambda: KernelRidge(kernel, alpha=1.0, method="fourier_grid").fit(X, y))
    whole, many = measured(lambda: KernelRidge(kernel, alpha=alphas, method="fourier_grid").fit(X, y))
    return {
        **many,
        "one": cost["seconds"],
        "fits": many["seconds"] / cost["seconds"],
        "features": one.lift_.n_features(),
        "alpha": float(whole.alpha_),
    }


def streamed(options: dict[str, Any]) -> Found:
    from mercer import KernelRidge
    from mercer.lifts import FourierGrid
    from mercer.sources import Arrays

    rows = options["rows"]
    with tempfile.TemporaryDirectory() as folder:
        X = np.lib.format.open_memmap(Path(folder) / "X.npy", "w+", np.float64, (rows, 2))
        y = np.lib.format.open_memmap(Path(folder) / "y.npy", "w+", np.float64, (rows,))
        for seed, start in enumerate(range(0, rows, PIECE)):
            stop = min(rows, start + PIECE)
            X[start:stop], y[start:stop] = drawn(stop - start, seed)
        X.flush()
        y.flush()
        X, y = (np.load(Path(folder) / f"{name}.npy", mmap_mode="r") for name in ("X", "y"))
        lift = FourierGrid("matern(nu=1.5, lengthscale=0.1)", epsilon=1e-4)
        model = KernelRidge(lift, alpha=1.0, method="fourier_grid", memory_limit="1 GB")
        _, cost = measured(lambda: model.fit(Arrays(X, y)))
        new = np.random.default_rng(1).uniform(0, 1, (20_000, 2))
        off = np.asarray(model.predict(new)) - surface(new)
    return {
        **cost,
        "rows": rows,
        "seconds per million": cost["seconds"] / rows * 1e6,
        "error": float(np.sqrt(np.mean(off**2))),
        "features": model.plan_.n_features,
    }


def landmarks(options: dict[str, Any]) -> Found:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import Ridge

    from mercer import KernelRidge

    X, y = drawn(options["few"])
    new = np.random.default_rng(1).uniform(0, 1, (20_000, 2))
    kernel, alpha = "gaussian(0.05)", 0.1
    KernelRidge(kernel, alpha=alpha, method="fourier_grid").fit(X[:5_000], y[:5_000])
    ours, cost = measured(lambda: KernelRidge(kernel, alpha=alpha, method="fourier_grid").fit(X, y).predict(new))
    error = float(np.sqrt(np.mean((ours - surface(new)) ** 2)))
    theirs: Found = {}
    for count in (400, 800, 1_600, 3_200):
        lift = Nystroem(kernel="rbf", gamma=200.0, n_components=count, random_state=0)

        def work(lift: Nystroem = lift) -> np.ndarray:
            ridge = Ridge(alpha).fit(lift.fit_transform(X), y)
            return np.asarray(ridge.predict(lift.transform(new)))

        found, theirs = measured(work)
        theirs["error"], theirs["landmarks"] = float(np.sqrt(np.mean((found - surface(new)) ** 2))), count
        if theirs["error"] <= 1.05 * error:
            break
    return {**cost, "error": error, "theirs": theirs, "times faster": theirs["seconds"] / cost["seconds"]}


PARTS: dict[str, Callable[[dict[str, Any]], Found]] = {
    "satellite": satellite,
    "million": million,
    "path": path,
    "streamed": streamed,
    "landmarks": landmarks,
}


def met(part: str, found: Found) -> bool | None:
    """Whether all goals of a part are met; None where it has no result."""
    if "failed" in found:
        return None
    goals = dict(GOALS[part])
    low, high = goals.pop("least coverage", None), goals.pop("most coverage", None)
    inside = low is None or high is None or low <= found["coverage"] <= high
    faster = found["times faster"] >= goals.pop("times faster") if part == "landmarks" else True
    return inside and faster and all(found[name] <= most for name, most in goals.items())


def shown(part: str, found: Found) -> str:
    """One line of the table."""
    if "failed" in found:
        return f"{part:<10} failed: {found['failed']}"
    told = "  ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in found.items()
        if name not in ("seconds", "cpu", "megabytes")
    )
    goal = "goal met" if met(part, found) else "GOAL MISSED"
    return f"{part:<10} {found['seconds']:7.2f} s {found['megabytes']:7.0f} MB  {goal}  {told}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="these parts alone")
    parser.add_argument("--data", type=Path, default=FOLDER, help="the folder of the satellite's table")
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of the memory map")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--picture", default="", help="where a map of the satellite's example goes")
    parser.add_argument("--json", type=Path, default=RESULTS, help="where the record goes")
    given = parser.parse_args()
    share = 10 if given.quick else 1
    options = {
        "data": str(given.data),
        "picture": given.picture,
        "rows": given.rows // share,
        "million": 1_000_000 // share,
        "few": 100_000 // share,
    }
    results: dict[str, Found] = {}
    for part in given.only:
        if part == "satellite" and not (given.data / "heaton_satellite.parquet").exists():
            continue
        start = time.time()
        try:
            results[part] = alone(PARTS[part], options)
        except Failed as failed:
            results[part] = {"failed": str(failed)}
        results[part] |= {"goals": GOALS[part], "met": met(part, results[part]), "date": time.strftime("%Y-%m-%d")}
        print(shown(part, results[part]), f"({time.time() - start:.0f} s in all)", flush=True)
    known = {"finufft": version_of("finufft"), "scikit-learn": version_of("scikit-learn")}
    record = {"machine": machine(), "versions": known, "results": results}
    given.json.parent.mkdir(parents=True, exist_ok=True)
    given.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
