"""Gram matrices against scikit-learn, KeOps on the CPU and hand-written NumPy: the table of goals, in one run.

    python benchmarks/gram.py [--quick] [--only NAME] [--json PATH]

Everything that is compared takes turns in the same process, and the best of several times counts: compare ratios, not
seconds, between machines. Every row of ours is checked against float64 from the definition on a sample of rows.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from operator import matmul
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from gram_by_hand import by_hand
from gram_peers import (
    coordinate_matrices,
    keops_product,
    keops_trouble,
    matrix_of,
    peaks,
    product_of,
    scikit_learn_matrix,
    scikit_learn_product,
)
from numpy.typing import NDArray
from report import COST, FASTER, MEGABYTES, SECONDS, Row, best_seconds, machine, show
from scipy.spatial.distance import cdist
from seconds import Seconds

from mercer.errors import InputError
from mercer.kernels import Gaussian, Kernel, Linear, Matern, Min, ProductLaplace, Radial, Subsets
from mercer.operators import Gram

Array = NDArray[Any]
Action = Callable[[], Array]
Definition = Callable[[Array, Array], Array]

RESULTS = Path(__file__).parent / "results"
DTYPES = ("float32", "float64")
SAMPLE = 25
"""Rows on which an answer is checked."""


@dataclass(frozen=True)
class Sizes:
    """How much is computed: rows of both sides in products, dense matrices, the large product and the sparse table.

    weighed : the dimensions for which the memory of products is measured, too
    """

    product: int = 20_000
    dense: int = 10_000
    large: int = 200_000
    sparse: tuple[int, int] = (5_000, 20_000)
    dimensions: tuple[int, ...] = (3, 10, 30, 90)
    repeats: int = 3
    processes: int = 7
    weighed: tuple[int, ...] = (10,)


QUICK = Sizes(4_000, 3_000, 20_000, (2_000, 4_000), (10,), 3, 3, (10,))


# -- kernels of one's own: a class with one method ----------------------------------------------------------------


class Cauchy(Radial):
    """1 / (1 + u), the example of the README."""

    lengthscale: float = 1.0

    def profile(self, u: Array) -> Array:
        return np.asarray(1 / (1 + u))


class DampedCauchy(Radial):
    """exp(-u / 2) / (1 + u)."""

    lengthscale: float = 1.0

    def profile(self, u: Array) -> Array:
        return np.asarray(np.exp(-u / 2) / (1 + u))


# -- a kernel beside its definition, and the data on which they meet -------------------------------------------------


@dataclass(frozen=True)
class Subject:
    """A kernel, and its formula written a second time, for plain float64."""

    kernel: Kernel
    definition: Definition

    def error(self, X: Array, Z: Array, found: Array, V: Array | None = None) -> float:
        """The largest error of some rows of K, relative to each entry, or of K V, relative to the norm of its terms."""
        rows = np.linspace(0, X.shape[0] - 1, SAMPLE).astype(int)
        K = self.definition(_wide(X[rows]), _wide(Z))
        exact, size = (K, np.abs(K)) if V is None else (K @ _wide(V), np.sqrt(K**2 @ _wide(V) ** 2))
        return float((np.abs(found[rows] - exact) / size).max())


def gaussian(d: int) -> Subject:
    return Subject(Gaussian(d**0.5), lambda X, Z: np.exp(-cdist(X, Z, "sqeuclidean") / (2 * d)))


def composite(d: int) -> Subject:
    def definition(X: Array, Z: Array) -> Array:
        r = np.sqrt(3 / d) * cdist(X, Z)
        return np.asarray(gaussian(d).definition(X, Z) + 0.5 * (X @ Z.T) * (1 + r) * np.exp(-r))

    return Subject(Gaussian(d**0.5) + 0.5 * Linear() * Matern(1.5, d**0.5), definition)


def own(kernel: Cauchy | DampedCauchy) -> Subject:
    return Subject(kernel, lambda X, Z: kernel.profile(cdist(X, Z, "sqeuclidean") / kernel.lengthscale**2))


@dataclass(frozen=True, eq=False)
class Data:
    """Two tables of normal numbers and a matrix of columns to multiply."""

    n: int
    d: int
    dtype: str
    X: Array = field(init=False)
    Z: Array = field(init=False)
    V: Array = field(init=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(0)
        for name, columns in {"X": self.d, "Z": self.d, "V": 16}.items():
            object.__setattr__(self, name, rng.standard_normal((self.n, columns)).astype(self.dtype))

    @property
    def v(self) -> Array:
        """One column."""
        return np.ascontiguousarray(self.V[:, 0])

    @property
    def size(self) -> str:
        """What a row of the table says of it."""
        return f"{self.n:,} x {self.n:,}, d = {self.d}"


def _wide(values: Any) -> Array:
    return np.asarray(values.toarray() if scipy.sparse.issparse(values) else values, dtype=np.float64)


# -- the table ----------------------------------------------------------------------------------------------------


def products(sizes: Sizes) -> Iterator[Row]:
    """The Gaussian's matrix times a vector."""
    goals = {
        "float32": {"scikit-learn": 12.0, "KeOps": 8.0, "by hand": 0.8},
        "float64": {"scikit-learn": 4.0, "KeOps": 4.0},
    }
    for data in _each(sizes.product, sizes.dimensions):
        subject, X, Z, v = gaussian(data.d), data.X, data.Z, data.v
        gram = Gram(subject.kernel, X, Z)
        peers = {"scikit-learn": scikit_learn_product(X, Z, v, 1 / (2 * data.d))}
        if data.dtype == "float32":
            peers["by hand"] = by_hand(X, Z, v, 1 / (2 * data.d))
        if not keops_trouble():
            peers["KeOps"] = keops_product(X, Z, v, 1 / (2 * data.d))
        best = best_seconds(_products(gram, X, Z, v) | peers, sizes.repeats)
        error = subject.error(X, Z, gram @ v, v)
        for name, goal in goals[data.dtype].items():
            if name not in peers:
                row = Row(f"K @ v, {data.size}", data.dtype, best["ready"], name, None, 0.0, FASTER, goal)
                yield replace(row, failed=keops_trouble())
                continue
            row = _faster(f"K @ v, {data.size}", data.dtype, best, name, goal, error)
            weighed = data.d in sizes.weighed and name != "by hand"
            held = peaks(product_of, name, data.n, data.d, data.dtype) if weighed else None
            yield replace(row, memory=held, their_error=subject.error(X, Z, np.ravel(peers[name]()), v))


def columns(sizes: Sizes) -> Iterator[Row]:
    """Sixteen columns at once, against one."""
    for data in _each(sizes.product, sizes.dimensions):
        subject = gaussian(data.d)
        gram = Gram(subject.kernel, data.X, data.Z)
        found = _costs({"16 columns": (gram, data.V), "one column": (gram, data.v)}, sizes)
        error = subject.error(data.X, data.Z, gram @ data.V, data.V)
        yield _cost(f"K @ V, 16 columns, {data.size}", data.dtype, found, 3.0, error)


def composites(sizes: Sizes) -> Iterator[Row]:
    """Gaussian + 0.5 * Linear * Matern(1.5), against the Gaussian alone."""
    yield from _beside_gaussian({"composite": composite(10)}, 2.5, sizes)


def own_kernels(sizes: Sizes) -> Iterator[Row]:
    """Classes with one method, against the Gaussian of the library."""
    subjects = {type(kernel).__name__: own(kernel) for kernel in (Cauchy(10**0.5), DampedCauchy(10**0.5))}
    yield from _beside_gaussian(subjects, 1.5, sizes)


def dense(sizes: Sizes) -> Iterator[Row]:
    """The Gaussian's matrix itself."""
    data, subject = Data(sizes.dense, 10, "float64"), gaussian(10)
    X, Z, k = data.X, data.Z, subject.kernel
    for name, other in {"k(X, Z)": Z, "k(X), symmetric": X}.items():
        peer = scikit_learn_matrix("rbf_kernel", X, other, 1 / 20)
        best = best_seconds({"ready": partial(k, X, other), "scikit-learn": peer}, sizes.repeats)
        error = subject.error(X, other, k(X, other))
        row = _faster(f"{name}, {data.size}", "float64", best, "scikit-learn", 4.0, error)
        held = peaks(matrix_of, "scikit-learn", data.n, data.d, "float64") if other is Z else None
        yield replace(row, memory=held, their_error=subject.error(X, other, peer()))


def coordinates(sizes: Sizes) -> Iterator[Row]:
    """Kernels of the coordinates, against the best of several ways to write them in NumPy, and scikit-learn."""
    X, Z = np.random.default_rng(0).random((2, sizes.dense, 10))
    for kernel, definition in (
        (Subsets(), lambda X, Z: np.prod(1 + X[:, None] * Z, axis=-1)),
        (Min(), lambda X, Z: np.minimum(X[:, None], Z).sum(axis=-1)),
        (ProductLaplace(3.0), lambda X, Z: np.exp(-np.abs(X[:, None] - Z).sum(axis=-1) / 3)),
    ):
        subject = Subject(kernel, definition)
        peers = coordinate_matrices(kernel, X, Z)
        best = best_seconds({"ready": partial(kernel, X, Z)} | peers, sizes.repeats)
        error = subject.error(X, Z, kernel(X, Z))
        hand_written = [name for name in peers if name.startswith("NumPy")]
        goals = {min(hand_written, key=best.__getitem__): 5.0, "scikit-learn": 5.0}
        for name in peers:
            work = f"{type(kernel).__name__}, {sizes.dense:,} x {sizes.dense:,}, d = 10"
            row = _faster(work, "float64", best, name, goals.get(name), error)
            yield replace(row, their_error=subject.error(X, Z, peers[name]()))


# A child inherits the ru_maxrss of the process that starts it, so the peak comes from /proc, where it can be reset.
MEMORY = """
import json, sys, time
import numpy as np
from pathlib import Path
from scipy.spatial.distance import cdist
from mercer.kernels import Gaussian
from mercer.operators import Gram

def held(which):
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(which))

n, dtype = int(sys.argv[1]), sys.argv[2]
X = np.random.default_rng(0).standard_normal((n, 10), dtype=dtype)
v = np.ones(n, dtype)
Gram(Gaussian(10**0.5), X[:4_000]) @ v[:4_000]  # loads the code
before = held("VmRSS")
Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
start = time.perf_counter()
found = Gram(Gaussian(10**0.5), X) @ v
taken, peak = time.perf_counter() - start, held("VmHWM")

wide, rows = X.astype(float), np.linspace(0, n - 1, 25).astype(int)
exact = np.exp(-cdist(wide[rows], wide, "sqeuclidean") / 20).sum(axis=1)
error = float((np.abs(found[rows] - exact) / exact).max())
print(json.dumps({"seconds": taken, "bytes": peak - before, "error": error}))
"""


def memory(sizes: Sizes) -> Iterator[Row]:
    """What a product that no machine could store holds at its peak, above its inputs, in a process of its own."""
    if not Path("/proc/self/clear_refs").exists():
        print("\nmemory: skipped. Only Linux tells the peak of a part of a process.")
        return
    for dtype in DTYPES:
        found = _child(MEMORY, str(sizes.large), dtype)
        work = f"K @ v, symmetric, {sizes.large:,} x {sizes.large:,}, d = 10"
        megabytes = found["bytes"] / 1e6
        yield Row(work, dtype, found["seconds"], "", None, megabytes, MEGABYTES, 200.0, found["error"])


FIRST_CALL = """
import json, sys, time
import numpy as np

start = time.perf_counter()
import mercer, mercer.operators
imported = time.perf_counter() - start

X, Z = np.random.default_rng(0).standard_normal((2, 2_000, 10)).astype(sys.argv[1])
v = np.ones(2_000, X.dtype)
start = time.perf_counter()
mercer.operators.Gram(mercer.kernels.Gaussian(10**0.5), X, Z) @ v
print(json.dumps({"import": imported, "call": time.perf_counter() - start}))
"""


def first_call(sizes: Sizes) -> Iterator[Row]:
    """The first product in a new process whose code is on the disk, beyond the import."""
    for dtype in DTYPES:
        runs = [_child(FIRST_CALL, dtype) for _ in range(sizes.processes + 1)][1:]  # the first may compile
        taken, imported = (min(run[what] for run in runs) for what in ("call", "import"))
        yield Row("first K @ v, 2,000 x 2,000, d = 10", dtype, taken, "import mercer", imported, taken, SECONDS, 0.5)


def symmetric(sizes: Sizes) -> Iterator[Row]:
    """Half the work: K(X) @ v against K(X, Z) @ v."""
    for data in _each(sizes.product, (10,)):
        subject = gaussian(10)
        half, full = Gram(subject.kernel, data.X), Gram(subject.kernel, data.X, data.Z)
        found = _costs({"symmetric": (half, data.v), "K(X, Z) @ v": (full, data.v)}, sizes)
        error = subject.error(data.X, data.X, half @ data.v, data.v)
        yield _cost(f"K @ v, symmetric, {data.size}", data.dtype, found, None, error)


def sparse(sizes: Sizes) -> Iterator[Row]:
    """A sparse table of two sides, one per cent of it filled."""
    n, d = sizes.sparse
    rng = np.random.default_rng(0)
    X, Z = (scipy.sparse.random(n, d, 0.01, format="csr", random_state=rng) for _ in range(2))
    v, subject = rng.standard_normal(n), gaussian(100)
    try:
        gram = Gram(subject.kernel, X, Z)
    except InputError as refusal:
        print(f"\nsparse: skipped. {refusal}")
        return
    peer = scikit_learn_product(X, Z, v, 1 / 200)
    best = best_seconds(_products(gram, X, Z, v) | {"scikit-learn": peer}, sizes.repeats)
    error = subject.error(X, Z, gram @ v, v)
    yield _faster(f"K @ v, CSR {n:,} x {n:,}, d = {d:,}, 1 %", "float64", best, "scikit-learn", None, error)


SECTIONS: dict[str, Callable[[Sizes], Iterator[Row]]] = {
    "products": products, "columns": columns, "composites": composites, "own": own_kernels, "dense": dense,
    "coordinates": coordinates, "memory": memory, "first": first_call, "symmetric": symmetric, "sparse": sparse,
}  # fmt: skip


# -- what the sections share ----------------------------------------------------------------------------------------


def _each(n: int, dimensions: tuple[int, ...]) -> Iterator[Data]:
    return (Data(n, d, dtype) for dtype in DTYPES for d in dimensions)


def _products(gram: Gram, X: Any, Z: Any, v: Array) -> dict[str, Action]:
    """Ours: the product on a ready operator, and with building it."""
    return {"ready": lambda: gram @ v, "built": lambda: Gram(gram.kernel, X, Z) @ v}


def _costs(multiplied: dict[str, tuple[Gram, Array]], sizes: Sizes) -> dict[str, Seconds]:
    """Seconds of several products of ours, taken in turns."""
    return best_seconds({name: partial(matmul, K, V) for name, (K, V) in multiplied.items()}, 2 * sizes.repeats)


def _beside_gaussian(subjects: dict[str, Subject], goal: float, sizes: Sizes) -> Iterator[Row]:
    for data in _each(sizes.product, (10,)):
        grams = {name: Gram(s.kernel, data.X, data.Z) for name, s in (subjects | {"Gaussian": gaussian(10)}).items()}
        best = _costs({name: (gram, data.v) for name, gram in grams.items()}, sizes)
        for name, subject in subjects.items():
            error = subject.error(data.X, data.Z, grams[name] @ data.v, data.v)
            found = {name: best[name], "Gaussian": best["Gaussian"]}
            yield _cost(f"{name} @ v, {data.size}", data.dtype, found, goal, error)


def _faster(work: str, dtype: str, best: dict[str, Seconds], peer: str, goal: float | None, error: float) -> Row:
    ours, theirs = best["ready"], best[peer]
    return Row(work, dtype, ours, peer, theirs, theirs / ours, FASTER, goal, error, best.get("built"))


def _cost(work: str, dtype: str, best: dict[str, Seconds], goal: float | None, error: float) -> Row:
    """The first of two products of ours, in units of the second."""
    (_, ours), (base, seconds) = best.items()
    return Row(work, dtype, ours, base, seconds, ours / seconds, COST, goal, error)


def _child(code: str, *arguments: str) -> dict[str, float]:
    """What code in a new process prints as JSON."""
    command = [sys.executable, "-c", code, *arguments]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)  # noqa: S603
    return found


def measure(names: list[str], sizes: Sizes, path: Path) -> None:
    """Print some sections, and write what is known after each."""
    result: dict[str, Any] = {"date": time.strftime("%Y-%m-%d"), "machine": machine(), "sizes": asdict(sizes)}
    print("\n".join(f"{name}: {value}" for name, value in result["machine"].items()))
    path.parent.mkdir(parents=True, exist_ok=True)
    sections = result["sections"] = {}
    for name in names:
        rows = list(SECTIONS[name](sizes))
        if rows:
            show(f"{name}: {SECTIONS[name].__doc__}", rows)
        sections[name] = [row.record() for row in rows]
        path.write_text(json.dumps(result, indent=2) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, in about a minute; goals mean little there")
    parser.add_argument("--only", choices=SECTIONS, action="append", help="this section; may be given several times")
    parser.add_argument("--json", type=Path, help="where to write (default: benchmarks/results/gram.json for all)")
    options = parser.parse_args()
    usual = RESULTS / f"gram{'-partly' * bool(options.only)}{'-quick' * options.quick}.json"
    path, start = options.json or usual, time.perf_counter()
    measure(options.only or list(SECTIONS), QUICK if options.quick else Sizes(), path)
    print(f"\n{time.perf_counter() - start:.0f} s; written to {path}")


if __name__ == "__main__":
    main()
