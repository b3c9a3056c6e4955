"""Gaussian processes by GPyTorch against kernel ridge regression, which has the same mean: time, memory and errors.

    python benchmarks/processes.py [--data FOLDER] [--quick] [--repeats N] [--json PATH]

given : the same Gaussian kernel and noise on both sides, nothing learnt; fit and predict means. GPyTorch once as it
    comes, which is conjugate gradients with a tolerance of 1 beyond 800 rows, and once by Cholesky's method.
found : GPyTorch learns one lengthscale a column, scale and noise by STEPS steps of Adam on the marginal likelihood, as
    its tutorials have it; ours finds the lengthscales by the likelihood of 1,000 rows (mercer.tuning.stretch), and the
    penalty by leave-one-out. What counts is the error on rows held out, and the mean negative logarithm of the density
    that each gives to them.

Each runs in a process of its own, after a small one that loads and compiles; they take turns. Without --data the rows
are drawn at random.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from alone import Found, alone, in_turns, measured
from report import machine, version_of
from scaling import HEAD, Row, failure, faster
from sklearn.metrics import r2_score
from tables import Array, Split, median_distance, split, split_of

from mercer import KernelRidge
from mercer.kernels import Gaussian
from mercer.tuning import stretch

RESULTS = Path(__file__).parent / "results"
NOISE, STEPS, RATE = 0.1, 50, 0.1
WARM, LOADED = 1_100, 200
"""Rows of a first fit, which loads and compiles: so many that ours goes the way of many, and fewer for the others."""
LONGEST, GIGABYTES = 1_200.0, 20.0
WORSE = 0.002
"""By how much R^2 may be below the other's and still count as no worse."""
AS_IT_COMES, BY_CHOLESKY, LEARNT = "GPyTorch, as it comes", "GPyTorch, Cholesky", "GPyTorch, Adam"
SETS = {"kin40k": 3_000, "elevators": 3_000}
"""Rows of each that are fitted."""
MADE_UP = "made up"


@dataclass(frozen=True)
class Task:
    """A regression: so many rows of a set, or rows that are drawn."""

    folder: Path | None
    name: str
    rows: int

    @property
    def title(self) -> str:
        """How tables call it."""
        return f"{self.name}, {self.rows:,} rows"

    def data(self) -> Split:
        """Standardised rows and targets, and those held out, 4,000 at most."""
        found = _drawn(self.rows) if self.folder is None else split_of(self.folder, self.name)
        return replace(found.first(self.rows), new=found.new[:4_000], true=found.true[:4_000])


def _drawn(rows: int) -> Split:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows * 5 // 4, 8))
    return split(X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=len(X)), 0.2)


# -- the same model ---------------------------------------------------------------------------------------------------


def ours_given(data: Split, length: float) -> tuple[Array, Array | None]:
    model = KernelRidge(Gaussian(length), alpha=NOISE, fit_intercept=False, verbose=False)
    return np.asarray(model.fit(data.X, data.y).predict(data.new)), None


def theirs_given(data: Split, length: float, exactly: bool) -> tuple[Array, Array | None]:
    torch, gpytorch = import_module("torch"), import_module("gpytorch")
    model, likelihood = _process(data, "float64")
    kernel = model.covariance
    kernel.outputscale, kernel.base_kernel.lengthscale, likelihood.noise = 1.0, length, NOISE
    model.eval(), likelihood.eval()
    most = len(data.X) + 1 if exactly else gpytorch.settings.max_cholesky_size.value()
    with torch.no_grad(), gpytorch.settings.max_cholesky_size(most), gpytorch.settings.skip_posterior_variances():
        return model(torch.from_numpy(data.new)).mean.numpy(), None


# -- the best model of each -------------------------------------------------------------------------------------------


def ours_found(data: Split, length: float) -> tuple[Array, Array | None]:
    kernel = stretch(Gaussian("median"), data.X, data.y).kernel
    model = KernelRidge(kernel, verbose=False).fit(data.X, data.y)
    mean, deviation = model.predict(data.new, return_std=True)
    return np.asarray(mean), np.sqrt(np.asarray(deviation) ** 2 + float(model.noise_))


def theirs_found(data: Split, length: float) -> tuple[Array, Array | None]:
    torch, gpytorch = import_module("torch"), import_module("gpytorch")
    data = data.cast("float32")
    model, likelihood = _process(data, "float32", data.X.shape[1])
    model.covariance.base_kernel.lengthscale = length
    target = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
    model.train(), likelihood.train()
    for _ in range(STEPS):
        optimiser.zero_grad()
        loss = -target(model(model.train_inputs[0]), model.train_targets)
        loss.backward()
        optimiser.step()
    model.eval(), likelihood.eval()
    with torch.no_grad():
        seen = likelihood(model(torch.from_numpy(data.new)))
        return seen.mean.numpy(), seen.stddev.numpy()


def _process(data: Split, dtype: str, lengths: int | None = None) -> tuple[Any, Any]:
    """An exact process with a scaled Gaussian kernel and a mean of zero: the targets are standardised.

    lengths : how many lengthscales there are; None for one
    """
    torch, gpytorch = import_module("torch"), import_module("gpytorch")
    X, y = (torch.from_numpy(np.ascontiguousarray(values, dtype=dtype)) for values in (data.X, data.y))
    likelihood = gpytorch.likelihoods.GaussianLikelihood()

    class Process(gpytorch.models.ExactGP):  # type: ignore[misc,name-defined]  # torch is loaded when it is needed
        def __init__(self) -> None:
            super().__init__(X, y, likelihood)
            self.mean = gpytorch.means.ZeroMean()
            self.covariance = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel(ard_num_dims=lengths))

        def forward(self, rows: Any) -> Any:
            return gpytorch.distributions.MultivariateNormal(self.mean(rows), self.covariance(rows))

    model = Process().to(getattr(torch, dtype))
    return model, likelihood.to(getattr(torch, dtype))


WAYS: dict[str, dict[str, Callable[[Split, float], tuple[Array, Array | None]]]] = {
    "given": {
        "ours": ours_given,
        AS_IT_COMES: partial(theirs_given, exactly=False),
        BY_CHOLESKY: partial(theirs_given, exactly=True),
    },
    "found": {"ours": ours_found, LEARNT: theirs_found},
}


def predicted(task: Task, table: str, who: str) -> Found:
    warnings.simplefilter("ignore")
    data, action = task.data(), WAYS[table][who]
    length = median_distance(data.X)
    action(data.first(WARM if who == "ours" else LOADED), length)
    (mean, deviation), cost = measured(lambda: action(data, length))
    score = float(r2_score(data.true, mean.astype(float)))
    return cost | {"score": score, "mean": mean.astype(float), "density": _density(data.true, mean, deviation)}


def _density(true: Array, mean: Array, deviation: Array | None) -> float | None:
    """The mean of -log p(y) of the rows held out, with noise; None where no deviations were asked."""
    if deviation is None:
        return None
    z = (true - mean.astype(float)) / deviation.astype(float)
    return float(np.mean(0.5 * z * z + np.log(deviation.astype(float)) + 0.5 * np.log(2 * np.pi)))


# -- the tables -------------------------------------------------------------------------------------------------------


def compared(task: Task, table: str, repeats: int) -> Iterator[Row]:
    """Ours in turns with each way of GPyTorch's; one that fails does not end the others."""
    for who in [name for name in WAYS[table] if name != "ours"]:
        job = partial(alone, predicted, task, table, seconds=LONGEST, gigabytes=GIGABYTES)
        best = in_turns({name: partial(job, name) for name in ("ours", who)}, repeats)
        work = f"{task.title}, {'kernel and noise given' if table == 'given' else 'kernel and noise found'}"
        yield _row(work, who, best)


def _row(work: str, who: str, best: dict[str, Found]) -> Row:
    if failed := [f"{name}: {found['failed']}" for name, found in best.items() if "failed" in found]:
        return failure(work, who, failed)
    ours, theirs = best["ours"], best[who]
    apart = float(np.abs(ours["mean"] - theirs["mean"]).max())
    note = f"means differ by {apart:.1e} at most"
    if ours["density"] is not None:
        note = f"-log density of rows held out {ours['density']:.3f} / {theirs['density']:.3f}"
    row = faster(work, who, best, None, ours["score"] >= theirs["score"] - WORSE, note)
    return replace(row, accuracy=("R^2", ours["score"], theirs["score"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a folder with kin40k.parquet and elevators.parquet")
    parser.add_argument("--quick", action="store_true", help="few rows, and the same model only")
    parser.add_argument("--repeats", type=int, help="turns: 2, quickly 1")
    parser.add_argument("--json", type=Path, help="where the record goes")
    options = parser.parse_args()
    path = options.json or RESULTS / f"processes{'-quick' * options.quick}.json"
    sets = SETS if options.data else {MADE_UP: 4_000}
    folder = options.data.resolve() if options.data else None
    tasks = [Task(folder, name, 1_200 if options.quick else rows) for name, rows in sets.items()]
    about = {"date": time.strftime("%Y-%m-%d"), "machine": machine() | {"gpytorch": version_of("gpytorch")}}
    record: dict[str, Any] = {}
    for table in list(WAYS)[: 1 if options.quick else None]:
        rows: list[Row] = []
        for task in tasks[:1] if options.quick else tasks:
            for row in compared(task, table, options.repeats or (1 if options.quick else 2)):
                rows.append(row)
                print("  " + " | ".join(row.cells()), flush=True)
                record[table] = about | {"rows": [each.record() for each in rows]}
                path.write_text(json.dumps(record, indent=1) + "\n")
        print("\n".join(f"| {' | '.join(line)} |" for line in [HEAD, ["---"] * len(HEAD), *(r.cells() for r in rows)]))


if __name__ == "__main__":
    main()
