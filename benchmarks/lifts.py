"""Lifts against scikit-learn's: time and kernel error at the same number of features, in one run.

    python benchmarks/lifts.py [--quick] [--only NAME] [--json PATH]

Both take turns in the same process, and the best of several times counts: compare ratios, not seconds, between
machines. Errors are those of phi(x).phi(z) against k(x, z) on the same pairs of rows, averaged over several seeds.
Where the folder of real data is given (--data FOLDER), tables from there are used too.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from alone import Failed, Found, alone, measured
from numpy.typing import NDArray
from pyarrow.parquet import read_table
from report import best_seconds, machine
from seconds import turns
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch, RBFSampler
from sklearn.preprocessing import PolynomialFeatures, StandardScaler, normalize

from mercer import kernels
from mercer.lifts import Nystrom, Polynomial, RandomFourier, Sketch

Array = NDArray[Any]
RESULTS = Path(__file__).parent / "results"
PAIRS = 1_000
"""Rows on each side of the pairs on which errors are measured."""


@dataclass(frozen=True)
class Sizes:
    """How much is computed."""

    fourier: int = 100_000
    polynomial: int = 10_000
    nystrom: int = 50_000
    sketch: int = 10_000
    repeats: int = 3
    seeds: int = 3


QUICK = Sizes(10_000, 2_000, 5_000, 2_000, 2, 1)


@dataclass(frozen=True)
class Row:
    """One comparison: seconds, how many times faster ours is, errors where the lift approximates, and both goals.

    memory : megabytes of both at their peaks, each in a process of its own
    """

    work: str
    against: str
    ours: float
    theirs: float
    faster: float
    fast_enough: float
    error: float | None = None
    their_error: float | None = None
    error_goal: float | None = None
    memory: tuple[float, float] | None = None

    def record(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"turns": turns(self.ours, self.theirs)}

    @property
    def part(self) -> float | None:
        """Our error as a part of theirs."""
        return None if self.error is None or not self.their_error else self.error / self.their_error

    def cells(self) -> list[str]:
        """For the table, under HEAD."""
        met = self.faster >= self.fast_enough
        error = "" if self.part is None else f"{self.error:.2g} / {self.their_error:.2g} = {self.part:.2g}"
        goal = "" if self.error_goal is None else f"<= {self.error_goal:g}"
        if self.part is not None and self.error_goal is not None:
            met = met and self.part <= self.error_goal
        speed = f"{self.faster:.2f} (>= {self.fast_enough:g})"
        return [self.work, self.against, f"{self.ours:.3f}", f"{self.theirs:.3f}", speed, error, goal, _yes(met)]


HEAD = ["work", "against", "ours s", "other s", "times faster", "error, ours / other", "goal", "met"]


def _yes(met: bool) -> str:
    return "yes" if met else "NO"


def _rms(kernel: Callable[[Array, Array], Array], lift: Any, X: Any, seed: int) -> float:
    """The root of the mean squared error of phi.phi on 1,000 x 1,000 pairs of rows."""
    rows = np.random.default_rng(seed).permutation(X.shape[0])[: 2 * PAIRS]
    half = len(rows) // 2
    left, right = X[rows[:half]], X[rows[half:]]
    found = np.asarray(lift.transform(left), dtype=float) @ np.asarray(lift.transform(right), dtype=float).T
    return float(np.sqrt(np.mean((found - kernel(left, right)) ** 2)))


# -- the comparisons -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Contest:
    """Ours against theirs on one table: both are built from a seed.

    whole : whether fit counts too
    exact : the kernel that both approximate, for their errors; None where they are exact
    """

    work: str
    ours: Callable[[int], Any]
    theirs: Callable[[int], Any]
    table: Any
    fast_enough: float
    error_goal: float | None = None
    exact: Any = None
    whole: bool = False

    def run(self, sizes: Sizes) -> Row:
        """Times in turns, then the errors."""
        best = best_seconds({"ours": self._action(self.ours), "theirs": self._action(self.theirs)}, sizes.repeats)
        error, their_error = self._error(self.ours, sizes), self._error(self.theirs, sizes)
        ours, theirs = best["ours"], best["theirs"]
        against = type(self.theirs(0)).__name__
        faster = theirs / ours
        return Row(self.work, against, ours, theirs, faster, self.fast_enough, error, their_error, self.error_goal)

    def _action(self, build: Callable[[int], Any]) -> Callable[[], Any]:
        if self.whole:
            return lambda: build(0).fit_transform(self.table)
        return partial(build(0).fit(self.table).transform, self.table)

    def _error(self, build: Callable[[int], Any], sizes: Sizes) -> float | None:
        if self.exact is None:
            return None
        part = self.table if self.whole else self.table[: 4 * PAIRS]
        return float(np.mean([_rms(self.exact, build(s).fit(part), part, s) for s in range(sizes.seeds)]))


def fourier(sizes: Sizes, data: dict[str, Array]) -> Iterator[Contest]:
    """Random Fourier features: transform at equal D."""
    D = 1_000
    for d in (10, 90):
        for dtype in ("float64", "float32"):
            X = np.random.default_rng(0).normal(size=(sizes.fourier, d)).astype(dtype)
            kernel = kernels.Gaussian("median").resolve(X[:2_000])
            ours = partial(_seeded, RandomFourier, kernel=kernel, n_components=D)
            theirs = partial(_seeded, RBFSampler, gamma=_gamma(kernel), n_components=D)
            work = f"RandomFourier.transform, n = {sizes.fourier:,}, d = {d}, D = {D:,}, {dtype}"
            yield Contest(work, ours, theirs, X, 2.0, 0.5, kernel)


def polynomial(sizes: Sizes, data: dict[str, Array]) -> Iterator[Contest]:
    """All monomials up to a degree, dense and sparse."""
    n = sizes.polynomial
    dense = np.random.default_rng(0).normal(size=(n, 30))
    sparse = scipy.sparse.random_array((n, 1_000), density=0.01, rng=0, format="csr")
    yield Contest(f"Polynomial(3).transform, n = {n:,}, d = 30", *_polynomials(3), dense, 2.0)
    yield Contest(f"Polynomial(3).transform, n = {n:,}, d = 30, float32", *_polynomials(3), dense.astype("f4"), 2.0)
    for degree in (2, 3):
        work = f"Polynomial({degree}).transform, n = {n:,}, sparse, d = 1,000, 1 % filled"
        yield Contest(work, *_polynomials(degree), sparse, 1.0)


def nystrom(sizes: Sizes, data: dict[str, Array]) -> Iterator[Contest]:
    """Landmarks by pivoting against uniform ones: fit and transform."""
    D = 1_000 if sizes.nystrom >= 20_000 else 200
    tables = {"normal, d = 10": np.random.default_rng(0).normal(size=(sizes.nystrom, 10)), **data}
    for name, table in tables.items():
        X = np.ascontiguousarray(table[: sizes.nystrom])
        median: Any = kernels.Gaussian("median").resolve(X[:2_000])
        for wide in (1.0, 3.0):
            kernel = kernels.Gaussian(wide * float(median.lengthscale))
            ours = partial(_seeded, Nystrom, kernel=kernel, n_components=D)
            theirs = partial(_seeded, Nystroem, kernel="rbf", gamma=_gamma(kernel), n_components=D)
            work = f"Nystrom.fit_transform, {name}, n = {len(X):,}, D = {D:,}, Gaussian of {wide:g} medians"
            yield Contest(work, ours, theirs, X, 1.0, 0.1, kernel, whole=True)


def sketch(sizes: Sizes, data: dict[str, Array]) -> Iterator[Contest]:
    """Sketches of polynomial kernels: transform at equal D, on rows of length one."""
    n, D, rng = sizes.sketch, 1_000, np.random.default_rng(0)
    dense = normalize(np.abs(rng.normal(size=(n, 784))) * (rng.random((n, 784)) < 0.2))
    # PolynomialCountSketch takes minutes for more sparse rows.
    sparse = normalize(scipy.sparse.random_array((n // 5, 5_000), density=0.01, rng=0, format="csr"))
    for name, table in (("dense, d = 784", dense), ("sparse, d = 5,000, 1 % filled", sparse)):
        for degree in (2, 3, 4):
            kernel = kernels.Polynomial(degree, 1.0)
            ours = partial(_seeded, Sketch, kernel=kernel, n_components=D)
            theirs = partial(_seeded, PolynomialCountSketch, gamma=1.0, degree=degree, coef0=1, n_components=D)
            work = f"Sketch.transform, degree {degree}, n = {table.shape[0]:,}, D = {D:,}, {name}"
            yield Contest(work, ours, theirs, table, 1.0, 1.0, kernel)


def peak(name: str, number: int, side: str, sizes: Sizes, folder: Path | None) -> Found:
    """The work of one side of a comparison in this process, which makes the table anew."""
    contest = next(islice(COMPARISONS[name](sizes, real_tables(folder)), number, None))
    build: Callable[[int], Any] = getattr(contest, side)
    few = contest.table[:PAIRS]
    build(0).fit(few).transform(few)
    return measured(contest._action(build))[1]


def peaks(name: str, number: int, sizes: Sizes, folder: Path | None) -> tuple[float, float] | None:
    """Megabytes of both sides; None where a process failed."""
    try:
        ours, theirs = (alone(peak, name, number, side, sizes, folder)["megabytes"] for side in ("ours", "theirs"))
    except Failed:
        return None
    return ours, theirs


COMPARISONS = {"fourier": fourier, "polynomial": polynomial, "nystrom": nystrom, "sketch": sketch}


def _seeded(lift: Callable[..., Any], seed: int, **parameters: Any) -> Any:
    return lift(random_state=seed, **parameters)


def _polynomials(degree: int) -> tuple[Callable[[int], Any], Callable[[int], Any]]:
    return lambda seed: Polynomial(degree), lambda seed: PolynomialFeatures(degree)


def _gamma(kernel: Any) -> float:
    return 1 / (2 * float(kernel.lengthscale) ** 2)


def real_tables(folder: Path | None) -> dict[str, Array]:
    """Standardised columns of real tables, where there is a folder of them."""
    if folder is None:
        return {}
    tables = {}
    for name in ("protein", "kin40k", "california_housing"):
        table = read_table(folder / f"{name}.parquet")
        kept = [column for column in table.column_names if column != "target" and not column.startswith("_")]
        columns = [table[column].to_numpy().astype(np.float64) for column in kept]
        tables[name] = StandardScaler().fit_transform(np.column_stack(columns))
    return tables


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller tables")
    parser.add_argument("--only", choices=sorted(COMPARISONS), help="one comparison")
    parser.add_argument("--data", type=Path, help="a folder with protein.parquet and others")
    parser.add_argument("--json", type=Path, default=RESULTS / "lifts.json", help="where the record goes")
    options = parser.parse_args()
    sizes, about, rows = QUICK if options.quick else Sizes(), machine(), []
    data = real_tables(options.data)
    for name, comparison in COMPARISONS.items():
        if options.only in (None, name):
            for number, contest in enumerate(comparison(sizes, data)):
                weighed = not options.quick or number == 0
                held = peaks(name, number, sizes, options.data) if weighed else None
                rows.append(replace(contest.run(sizes), memory=held))
                print("  ".join(rows[-1].cells()), flush=True)
    _table(rows)
    options.json.parent.mkdir(exist_ok=True)
    options.json.write_text(json.dumps({"machine": about, "rows": [row.record() for row in rows]}, indent=1) + "\n")


def _table(rows: list[Row]) -> None:
    print(f"\n| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    for row in rows:
        print(f"| {' | '.join(row.cells())} |")


if __name__ == "__main__":
    main()
