"""The lecture's stock prices: AAPL at the close, July to October 2019, by waves, by bumps and by kernels.

python examples/aapl.py [--picture FILE.png]

Time runs from 0 on the first day to 1 on the last of four months, weekends counted, and models have an intercept. The
lecture's bandwidths, 0.2099 and 0.1050, are taken on this scale, though its own seems to be another one: 65 trading
days in equal steps, without an intercept (`mercer.lectures.example("aapl")`). The prices are those of the time, before
the split of 2020.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from mercer import KernelRidge
from mercer.errors import message
from mercer.kernels import Gaussian
from mercer.lifts import RadialBasis, Trigonometric

Array = NDArray[np.float64]
PRICES = Path(str(files("mercer.lectures") / "data" / "aapl_2019.csv"))
PERIOD = 2.0
"""Of the longest wave: twice the four months. With a period of 1 the last day's price would have to be the first's."""
CENTERS = np.linspace(0, 1, 7)[:, None]
"""Of the bumps: seven, as in the lecture's picture, but evenly spaced."""
WIDTH = 0.1
"""The lengthscale of a bump, a bit less than the distance of two."""
ALPHA = 0.01
TUNED = ("Gaussian, both chosen", "Matern 3/2, both chosen", "no argument")
MODELS: dict[str, KernelRidge] = {
    "waves, order 2": KernelRidge(Trigonometric(2, PERIOD), alpha=0.0),
    "waves, order 4": KernelRidge(Trigonometric(4, PERIOD), alpha=0.0),
    "7 bumps": KernelRidge(RadialBasis(CENTERS, lengthscale=WIDTH), alpha=0.0),
    "Gaussian, lengthscale 0.2099": KernelRidge(Gaussian(0.2099), alpha=ALPHA),
    "Gaussian, lengthscale 0.1050": KernelRidge(Gaussian(0.1050), alpha=ALPHA),
    "Gaussian, both chosen": KernelRidge("gaussian(lengthscale='median')", alpha="auto", lengthscale="loo"),
    "Matern 3/2, both chosen": KernelRidge("matern(nu=1.5, lengthscale='median')", alpha="auto", lengthscale="loo"),
    "no argument": KernelRidge(),
}
"""The lecture's five, the first three without a penalty; and three that leave-one-out tunes.

The last keeps the median distance of the days as its lengthscale, and has its alpha chosen.
"""


def prices(file: Path = PRICES) -> tuple[list[date], Array]:
    """The trading days, and the price of each at the close, in dollars."""
    with file.open(newline="") as opened:
        rows = list(csv.DictReader(opened))
    return [date.fromisoformat(row["date"]) for row in rows], np.array([float(row["close"]) for row in rows])


def time_of(days: list[date]) -> Array:
    """Days as one column from 0 to 1."""
    passed = np.array([(day - days[0]).days for day in days], dtype=np.float64)
    return np.asarray(passed[:, None] / passed[-1])


def fitted(X: Array, y: Array) -> dict[str, KernelRidge]:
    """All models, fitted to the same days."""
    return {name: clone(model).fit(X, y) for name, model in MODELS.items()}


def left_out(model: KernelRidge, X: Array, y: Array) -> Array:
    """The error on each day of the model without that day: the residual over 1 - leverage; nothing is fitted again."""
    return np.asarray((y - model.predict(X)) / (1 - model.leverage_))


def root(values: Array) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(values**2)))


# -- the report ----------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--picture", type=Path, metavar="FILE.png", help="draw the fits into this file")
    options = parser.parse_args(arguments)
    days, y = prices()
    X = time_of(days)
    print(f"AAPL at the close, {len(y)} days from {days[0]} ({y[0]:.2f}) to {days[-1]} ({y[-1]:.2f}).")
    print("Errors in dollars, roots of mean squares; left out: on each day by the model without it.\n")
    print(f"{'model':30}{'parameters':>10}{'on the days':>13}{'left out':>10}")
    models = fitted(X, y)
    for name, model in models.items():
        errors = root(y - model.predict(X)), root(left_out(model, X, y))
        print(f"{name:30}{model.degrees_of_freedom_:10.1f}{errors[0]:13.2f}{errors[1]:10.2f}")
    print()
    for name in TUNED:
        print(f"{name}: {models[name].kernel_} with alpha = {models[name].alpha_:.2g}")
    print("A day that is left out has neighbours on both sides: this measures how well gaps are filled, no forecast.")
    if options.picture is not None:
        draw(options.picture, models, days, y)
        print(f"\nThe picture is in {options.picture}.")


# -- the picture ---------------------------------------------------------------------------------------------------


def draw(file: Path, models: dict[str, KernelRidge], days: list[date], y: Array) -> None:
    """One panel a model: the prices, and the fitted curve."""
    figure = _figure()
    grid = np.linspace(0, 1, 500)
    hours = (24 * (days[-1] - days[0]).days * grid).round().astype("timedelta64[h]")
    when = np.datetime64(days[0], "h") + hours
    panels = figure.subplots(2, 4, sharex=True, sharey=True)
    for (name, model), axes in zip(models.items(), panels.flat, strict=True):
        axes.plot(days, y, ".", color="0.6", markersize=4)
        axes.plot(when, model.predict(grid[:, None]), color="black", linewidth=1)
        axes.set_title(f"{name}\nleft out: {root(left_out(model, time_of(days), y)):.2f} dollars", fontsize=10)
        axes.set_xticks([date(2019, month, 1) for month in range(7, 12)], ["July", "Aug", "Sept", "Oct", "Nov"])
    figure.savefig(file)


def _figure() -> Any:
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as missing:
        remedy = 'Install it with: pip install "mercer[examples]".'
        raise SystemExit(message("matplotlib", "it is not installed", remedy, subject="--picture")) from missing
    return Figure(figsize=(14, 6), layout="constrained")


if __name__ == "__main__":
    main(sys.argv[1:])
