"""One graphics card: products with kernel matrices, fits of all learners, and GPyTorch on the same card.

    python benchmarks/gpu.py [--quick] [--only WORD ...] [--data FOLDER] [--json PATH]

Every time stands beside its accuracy: products against plain NumPy on some rows, fits against held-out rows or a solver
that both can take. Times are those of a user: products with rows and vectors that are tensors on the card, the best of
some, and of one also with vectors of this process; fits from arrays of this process, rows going up included. --quick
takes a tenth of the rows.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from lines import FASTER, LESS, MORE, SCHEMA, Line, Spread
from numpy.typing import NDArray

import mercer
from mercer import backends
from mercer.kernels import Gaussian, Kernel, Linear, Matern
from mercer.kernels.radial.base import Radial
from mercer.operators import Gram
from mercer.solvers import Cholesky, ConjugateGradient

Array = NDArray[Any]
Measured = tuple[list[float], float, tuple[str, float | None, float | None], str]
"""The seconds of all turns, the measure, what is accurate and how far for us and a peer, and a note."""
TROUBLES = (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError)
"""What a fit or a peer may raise: its reason is reported."""
RESULT = Path(__file__).resolve().parent / "results" / "gpu.json"
PART = "gpu"
SIZE = 131_072
"""Rows of the products."""
RATES = {3: (3.0, 3.2), 10: (2.2, 2.8), 30: (1.3, 2.1), 64: (0.6, 1.3), 90: (0.25, 0.55)}
"""Goals by columns: Tpairs/s within the promise, and roughly."""
SYMMETRIC, DOUBLE, COMPOSITE = 1.7, 0.25, 2.0
GROWTH = (100_000, 200_000, 500_000, 1_000_000, 2_000_000)
CHECKED = 64
"""Rows at which products are compared with plain NumPy."""
TURNS = 5
WARMED = 20_000
"""Rows of a fit whose time does not count: formulas are compiled once, and kept."""
NEW = 10_000
"""Rows that are predicted."""


class Cauchy(Radial):
    """1 / (1 + t): a kernel that a user would write."""

    lengthscale: float = 1.0

    def profile(self, t: Any) -> Any:
        """Of the squared distance in lengthscales."""
        return 1 / (1 + t)


@dataclass(frozen=True)
class Task:
    """A line of the table: `run` gives the seconds of its turns, the measure, the accuracy, and a note."""

    table: str
    work: str
    goal: float | None
    unit: str
    better: str
    run: Callable[[], Measured]
    peer: str = ""

    def line(self) -> Line:
        """The result, also of what fails."""
        about = {"part": PART, "table": self.table, "work": self.work, "peer": self.peer, "goal": self.goal}
        try:
            times, ratio, accuracy, note = self.run()
        except (
            ArithmeticError,
            AttributeError,
            LookupError,
            MemoryError,
            RuntimeError,
            TypeError,
            ValueError,
        ) as error:
            reason = f"{type(error).__name__}: {str(error)[:300]}"
            return Line(**about, unit=self.unit, better=self.better, failed=reason)  # type: ignore[arg-type]
        met = None if self.goal is None else (ratio >= self.goal if self.better == MORE else ratio <= self.goal)
        return Line(
            **about,  # type: ignore[arg-type]
            ours=Spread.of(times),
            ratio=ratio,
            unit=self.unit,
            better=self.better,
            accuracy=accuracy,
            met=met,
            note=note,
        )


def rows_of(n: int, d: int, dtype: str = "float32", seed: int = 0) -> tuple[Array, Array]:
    """Rows, and a smooth function of them with noise."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d), dtype=np.float32).astype(dtype)
    y = np.sin(X[:, : min(d, 5)].astype(np.float64)).sum(axis=1) + 0.1 * random.standard_normal(n)
    return X, y


# -- products ---------------------------------------------------------------------------------------------------------


def product(
    card: backends.CUDA,
    kernel: Kernel,
    n: int,
    d: int,
    dtype: str,
    form: str = "",
    columns: int = 1,
    vectors: str = "tensors",
) -> Measured:
    """K @ V; form is "", "rough" or "symmetric", vectors are "tensors" on the card or "arrays" of this process."""
    import torch  # whoever reads the record needs none

    X, Z = rows_of(n, d, dtype)[0], rows_of(n, d, dtype, seed=1)[0]
    Z = X if form == "symmetric" else Z
    V = np.random.default_rng(2).standard_normal((n, columns)).astype(dtype)
    left, right = (torch.from_numpy(each).to(card.device) for each in (X, Z))
    given = torch.from_numpy(V).to(card.device) if vectors == "tensors" else V
    with backends.use(card):
        K = Gram(kernel, left, None if form == "symmetric" else right)
        K = K.rough() if form == "rough" else K
        answer: Any = K @ given
        times = list[float]()
        for _ in range(TURNS):
            start = time.perf_counter()
            answer = K @ given  # it looks whether all is finite, and so waits for the card
            times.append(time.perf_counter() - start)
    found = answer.cpu().numpy() if vectors == "tensors" else answer
    some = np.linspace(0, n - 1, CHECKED).astype(int)
    exact = kernel(X[some].astype(float), Z.astype(float)) @ V.astype(float)
    weights = np.abs(kernel(X[some].astype(float), Z.astype(float))) @ np.abs(V.astype(float))
    error = float((np.abs(found[some] - exact) / weights).max())
    return times, n * n / min(times) / 1e12, ("largest error, of the sum of |k v|", error, None), ""


def products(card: backends.CUDA, quick: bool) -> Iterator[Task]:
    """The table of products."""
    n, unit = (SIZE // 8 if quick else SIZE), "Tpairs/s"

    def task(work: str, goal: float | None, *arguments: Any, **options: Any) -> Task:
        return Task("products", work, goal, unit, MORE, lambda: product(card, *arguments, **options))

    for d, (promised, rough) in RATES.items():
        kernel = Gaussian(math.sqrt(2 * d))
        yield task(f"Gaussian, float32, d = {d}", promised, kernel, n, d, "float32")
        yield task(f"Gaussian, float32, roughly, d = {d}", rough, kernel, n, d, "float32", "rough")
        yield task(f"Gaussian, float32, symmetric, d = {d}", SYMMETRIC * promised, kernel, n, d, "float32", "symmetric")
    kernel = Gaussian(math.sqrt(20))
    yield task("Gaussian, float32, vectors of this process, d = 10", None, kernel, n, 10, "float32", vectors="arrays")
    for d in (3, 10, 30, 90):
        kernel = Gaussian(math.sqrt(2 * d))
        yield task(f"Gaussian, float64, d = {d}", DOUBLE if d == 10 else None, kernel, n, d, "float64")
    kernel, d = Gaussian(math.sqrt(20)), 10
    yield task("Gaussian, float32, 16 vectors, d = 10", None, kernel, n, d, "float32", columns=16)
    composite = kernel + 0.5 * Linear() * Matern(2.5, math.sqrt(20))
    goal = RATES[10][0] / COMPOSITE
    yield task("Gaussian + 0.5 * Linear * Matern, float32, d = 10", goal, composite, n, d, "float32")
    sizes = tuple(n // (10 if quick else 1) for n in GROWTH)
    yield Task(
        "products", "growth with rows, 100,000 to 2,000,000", 2.02, "exponent", LESS, lambda: growth(card, sizes)
    )
    yield task("Matern 5/2, float32, d = 10", None, Matern(2.5, math.sqrt(20)), n, d, "float32")
    yield task("Cauchy, of a user, float32, d = 10", goal, Cauchy(math.sqrt(20)), n, d, "float32")


def growth(card: backends.CUDA, sizes: tuple[int, ...]) -> Measured:
    """The slope of seconds over rows, on logarithmic scales; the accuracy is that of the largest product."""
    kernel, times = Gaussian(math.sqrt(20)), list[float]()
    accuracy: tuple[str, float | None, float | None] = "", None, None
    for n in sizes:
        found, _, accuracy, _ = product(card, kernel, n, 10, "float32")
        times.append(min(found))
    slope = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    told = ", ".join(f"{n:,} rows {seconds:.4f} s" for n, seconds in zip(sizes, times, strict=True))
    return [times[-1]], slope, accuracy, told


# -- fits -------------------------------------------------------------------------------------------------------------


def fitted(make: Callable[[], Any], X: Array, y: Array | None, Xn: Array, yn: Array | None) -> Measured:
    """One fit, from rows in this process to a model, and its score on new rows; code is compiled before, on few."""
    few = slice(0, WARMED)
    make().fit(X[few]) if y is None else make().fit(X[few], y[few])
    model, start = make(), time.perf_counter()
    model.fit(X) if y is None else model.fit(X, y)
    seconds, start = time.perf_counter() - start, time.perf_counter()
    score = None if yn is None else float(model.score(Xn, yn))
    told = time.perf_counter() - start
    plan = model.plan_
    note = f"{plan.method} on {plan.backend}; {told:.2f} s to score {len(Xn):,} new rows"
    return [seconds], seconds, ("score on new rows", score, None), note


def fits(card: backends.CUDA, quick: bool, data: Path) -> Iterator[Task]:
    """The table of fits."""
    shrink = 10 if quick else 1
    settings: dict[str, Any] = {"backend": card, "random_state": 0}

    def task(work: str, goal: float | None, n: int, dtype: str, make: Callable[[], Any], rows: bool = False) -> Task:
        def run() -> Measured:
            X, y = rows_of(n // shrink, 10, dtype)
            Xn, yn = rows_of(NEW, 10, dtype, seed=1)
            return fitted(make, X, None if rows else y, Xn, None if rows else yn)

        return Task("fits", work, goal, "s", LESS, run)

    def ridge(**own: Any) -> Callable[[], Any]:
        return lambda: mercer.KernelRidge(Gaussian(math.sqrt(20)), **settings, **own)

    exact = ridge(alpha=0.1, solver=Cholesky())
    yield task("ridge by Cholesky, float64, 40,000 rows", None, 40_000, "float64", exact)
    yield task("ridge by Cholesky, float64, 100,000 rows", 15.0, 100_000, "float64", exact)
    steps = ridge(alpha=0.1, solver=ConjugateGradient(tol=1e-3))
    for n in (100_000, 250_000, 500_000):
        yield task(f"ridge by conjugate gradients to 1e-3, {n:,} rows", None, n, "float32", steps)
    yield task("ridge by conjugate gradients to 1e-3, 1,000,000 rows", 45.0, 1_000_000, "float32", steps)
    one = ridge(alpha=1e-3, method="landmarks", n_landmarks=4_000)
    yield task("one pass, 4,000 landmarks, 10,000,000 rows", 20.0, 10_000_000, "float32", one)
    falkon = ridge(alpha=1e-3, method="landmarks", n_landmarks=50_000 // shrink)
    yield task("Falkon, 50,000 landmarks, 10,000,000 rows", 90.0, 10_000_000, "float32", falkon)
    pca = lambda: mercer.KernelPCA(Gaussian(math.sqrt(20)), n_components=10, **settings)  # noqa: E731
    yield task("PCA, 10 components, 1,000,000 rows", 30.0, 1_000_000, "float32", pca, rows=True)
    means = lambda: mercer.KernelKMeans(8, kernel=Gaussian(math.sqrt(20)), method="landmarks", **settings)  # noqa: E731
    yield task("k-means on landmarks, 10,000,000 rows", 30.0, 10_000_000, "float32", means, rows=True)
    if (data / "covertype.parquet").exists():
        yield Task(
            "fits", "exact SVC, covertype, 464,000 rows", 120.0, "s", LESS, lambda: covertype(settings, data, shrink)
        )


def covertype(settings: dict[str, Any], data: Path, shrink: int) -> Measured:
    """The most frequent class against the others; four fifths of the rows."""
    import pyarrow.parquet as parquet

    table = parquet.read_table(data / "covertype.parquet").to_pandas()
    y = table.pop(table.columns[-1]).to_numpy()
    X = table.to_numpy(dtype=np.float32)
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-6)
    y = y == np.unique(y)[np.unique(y, return_counts=True)[1].argmax()]
    order = np.random.default_rng(0).permutation(len(X))
    train, new = order[: len(X) * 4 // 5 // shrink], order[-NEW:]
    make = lambda: mercer.KernelSVC(Gaussian(3.0), C=10.0, method="exact", **settings)  # noqa: E731
    return fitted(make, X[train], y[train], X[new], y[new])


# -- peers ------------------------------------------------------------------------------------------------------------


def against_gpytorch(card: backends.CUDA, n: int) -> Measured:
    """Fit and predict: the same kernel, noise and tolerance, in float32, on the same card; memory at the peak."""
    import gpytorch
    import torch

    (X, y), (Xn, yn), scale, noise = rows_of(n, 10), rows_of(NEW, 10, seed=1), math.sqrt(20), 0.1

    def ours() -> Array:
        solver = ConjugateGradient(tol=1e-3)
        model = mercer.KernelRidge(Gaussian(scale), alpha=noise, solver=solver, backend=card, random_state=0)
        return np.asarray(model.fit(X, y).predict(Xn))

    def theirs() -> Array:
        class GP(gpytorch.models.ExactGP):  # type: ignore[misc]
            def __init__(self, X: Any, y: Any, likelihood: Any) -> None:
                super().__init__(X, y, likelihood)
                self.mean_module = gpytorch.means.ConstantMean()
                self.covar_module = gpytorch.kernels.RBFKernel()

            def forward(self, x: Any) -> Any:
                return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

        there = [torch.as_tensor(a, dtype=torch.float32, device=card.device) for a in (X, y, Xn)]
        likelihood = gpytorch.likelihoods.GaussianLikelihood().to(card.device)
        model = GP(there[0], there[1], likelihood).to(card.device)
        model.covar_module.lengthscale, likelihood.noise = scale, noise
        model.mean_module.constant.data.fill_(float(y.mean()))
        model.eval()
        likelihood.eval()
        settings = gpytorch.settings
        with (
            torch.no_grad(),
            settings.cg_tolerance(1e-3),
            settings.eval_cg_tolerance(1e-3),
            settings.skip_posterior_variances(),
            settings.max_cholesky_size(0),
            settings.max_cg_iterations(1000),
            settings.max_preconditioner_size(100),
        ):
            return np.asarray(model(there[2]).mean.cpu().numpy())

    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    memory, scores = dict[str, float](), dict[str, float]()
    for _ in range(2):
        for name, run in (("ours", ours), ("theirs", theirs)):
            torch.cuda.reset_peak_memory_stats()
            start = time.perf_counter()
            found = run()
            times[name].append(time.perf_counter() - start)
            memory[name] = torch.cuda.max_memory_allocated() / 2**20
            scores[name] = float(1 - ((found - yn) ** 2).mean() / yn.var())
            torch.cuda.empty_cache()
    note = (
        f"memory at the peak {memory['ours']:,.0f} and {memory['theirs']:,.0f} MB; theirs {min(times['theirs']):.2f} s"
    )
    ratio = min(times["theirs"]) / min(times["ours"])
    return times["ours"], ratio, ("R^2", scores["ours"], scores["theirs"]), note


def peers(card: backends.CUDA, quick: bool) -> Iterator[Task]:
    """GPyTorch on the same card."""
    for n in (50_000, 100_000):
        rows = n // 10 if quick else n
        work = f"exact Gaussian process, {n:,} rows, fit and predict"
        yield Task("peers", work, 5.0, FASTER, MORE, lambda rows=rows: against_gpytorch(card, rows), "GPyTorch")  # type: ignore[misc]


def machine() -> dict[str, str]:
    """The card, its driver and the versions."""
    import torch
    import triton

    free, whole = torch.cuda.mem_get_info()
    return {
        "card": torch.cuda.get_device_name(0),
        "memory": f"{whole / 2**30:.0f} GiB, {free / 2**30:.0f} free",
        "cuda": str(torch.version.cuda),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "numpy": np.__version__,
        "mercer": mercer.__version__,
        "day": date.today().isoformat(),
    }


def main() -> None:
    """Measure what was asked, print a line each, and keep the record of what was not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--json", type=Path, default=RESULT)
    options = parser.parse_args()
    card = backends.CUDA()
    tasks = [*products(card, options.quick), *fits(card, options.quick, options.data), *peers(card, options.quick)]
    known = json.loads(options.json.read_text())["rows"] if options.json.exists() else []
    found = {Line.read(row).key: Line.read(row) for row in known}
    product(card, Gaussian(1.0), 1 << 14, 3, "float32")  # the card wakes
    for task in tasks:
        if options.only and not any(word in f"{task.table}: {task.work}" for word in options.only):
            continue
        line = task.line()
        found[line.key] = line
        told = line.failed or f"{line.ratio:.3g} {line.unit}, {line.accuracy}, {line.note}"
        goal = "" if task.goal is None else f" (goal {task.goal:g}: {'met' if line.met else 'missed'})"
        print(f"{task.table}: {task.work}{goal}: {told}", flush=True)
        record = {"schema": SCHEMA, "machine": machine(), "rows": [each.record() for each in found.values()]}
        options.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
