"""What proofs, refutations and plain evaluation cost, with scikit-learn beside them in the same run.

    python benchmarks/kernels.py [--quick] [--json PATH]

Prints three tables and writes a record. Times are the best of several, interleaved; compare
ratios, not seconds, between machines.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from alone import Found, alone, measured
from seconds import Seconds, turns
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics import pairwise

import mercer
from mercer import kernels as k

RESULTS = Path(__file__).parent / "results"

PROOFS: list[tuple[str, int | None, str | None]] = [
    ("0.5*gaussian(lengthscale=2) + linear*polynomial(degree=2)", None, None),
    ("sinc", 3, None),
    ("sinc", 4, None),
    ("sinc", 5, None),
    ("min", None, None),
    ("min", 1, "integers"),
    ("sigmoid", 1, None),
    ("sigmoid(slope=2, offset=3)", 3, None),
    ("epanechnikov", 1, None),
    ("epanechnikov", 3, None),
    ("wendland(dimension=1, smoothness=0)", 1, None),
    ("wendland(dimension=1, smoothness=0)", 2, None),
    ("wendland(dimension=3, smoothness=0)", 4, None),
    ("wendland(dimension=3, smoothness=3)", 4, None),
]

PAIRS: dict[str, tuple[k.Kernel, Callable[[Any, Any], Any]]] = {
    "gaussian": (k.Gaussian(3.0), lambda X, Z: pairwise.rbf_kernel(X, Z, gamma=1 / 18)),
    "product_laplace": (k.ProductLaplace(3.0), lambda X, Z: pairwise.laplacian_kernel(X, Z, gamma=1 / 3)),
    "matern 3/2": (k.Matern(1.5, 3.0), lambda X, Z: gp.Matern(3.0, nu=1.5)(X, Z)),
    "matern 1.2": (k.Matern(1.2, 3.0), lambda X, Z: gp.Matern(3.0, nu=1.2)(X, Z)),
    "polynomial": (k.Polynomial(3), lambda X, Z: pairwise.polynomial_kernel(X, Z, degree=3, gamma=1, coef0=1)),
    "chi squared (exponential)": (k.ExponentialChiSquared(3.0), lambda X, Z: pairwise.chi2_kernel(X, Z, gamma=1 / 3)),
}


def seconds(*actions: Callable[[], Any], repeats: int = 5) -> list[Seconds]:
    """The best time of each action, taken in turns."""
    found: list[list[float]] = [[] for _ in actions]
    for _ in range(repeats):
        for times, action in zip(found, actions, strict=True):
            start = time.perf_counter()
            action()
            times.append(time.perf_counter() - start)
    return [Seconds.best_of(*times) for times in found]


def imports() -> dict[str, float]:
    """Seconds of a new process for `import mercer`, which is lazy, and for a learner, beyond what that has to load."""

    def run(code: str) -> Callable[[], Any]:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603

    base, bare, ours = seconds(
        run("import scipy.optimize, sklearn.base, sklearn.utils"),
        run("import mercer"),
        run("from mercer import KernelRidge"),
    )
    return {"the others": base, "import mercer": bare, "from mercer import KernelRidge": ours, "beyond": ours - base}


def proofs(questions: list[tuple[str, int | None, str | None]]) -> list[dict[str, Any]]:
    """Each question with its answer and time."""
    rows = []
    for text, d, domain in questions:
        (taken,) = seconds(lambda text=text, d=d, domain=domain: mercer.prove(text, d, domain), repeats=3)  # type: ignore[misc]
        proof = mercer.prove(text, d, domain)
        kind = type(proof.witness).__name__ if proof.witness is not None else ""
        points = len(proof.witness.weights) if isinstance(proof.witness, mercer.Witness) else None
        rows.append(
            {"kernel": text, "d": d, "domain": domain, "status": proof.status, "witness": kind, "points": points,
             "trials": proof.trials, "seconds": taken}
        )  # fmt: skip
    return rows


def evaluation(names: Iterable[str], rows: int = 2_000, columns: int = 10) -> list[dict[str, Any]]:
    """Time and memory against scikit-learn, and the error of both where the data lies far from the origin."""
    rng = np.random.default_rng(0)
    X, Z = rng.uniform(0, 4, size=(2, rows, columns))
    table = []
    for name in names:
        kernel, theirs = PAIRS[name]
        ours_s, theirs_s = seconds(lambda k=kernel: k(X, Z), lambda t=theirs: t(X, Z))  # type: ignore[misc]
        row = {"kernel": name, "mercer seconds": ours_s, "scikit-learn seconds": theirs_s, "ratio": theirs_s / ours_s}
        row |= {f"{who} error at offset 1e8": error for who, error in _errors(name).items()}
        peaks = [alone(peak, name, who, rows, columns)["megabytes"] for who in ("mercer", "scikit-learn")]
        table.append(row | {"memory": peaks, "turns": turns(ours_s, theirs_s)})
    return table


def peak(name: str, who: str, rows: int, columns: int) -> Found:
    """One evaluation in this process."""
    X, Z = np.random.default_rng(0).uniform(0, 4, size=(2, rows, columns))
    kernel: Callable[[Any, Any], Any] = PAIRS[name][who != "mercer"]
    kernel(X[:50], Z[:50])
    return measured(lambda: kernel(X, Z))[1]


def _errors(name: str) -> dict[str, float | None]:
    """The largest error of both on data far from the origin, against the same data brought back exactly."""
    if name in NOT_STATIONARY:
        return {"mercer": None, "scikit-learn": None}
    kernel, theirs = PAIRS[name]
    far = np.random.default_rng(1).uniform(0, 4, size=(300, 10)) + 1e8
    exact = kernel(far - 1e8)
    return {"mercer": _largest(kernel(far), exact), "scikit-learn": _largest(theirs(far, far), exact)}


def _largest(found: Any, exact: Any) -> float:
    return float(np.abs(found - exact).max())


NOT_STATIONARY = {"polynomial", "chi squared (exponential)"}


def show(title: str, rows: list[dict[str, Any]]) -> None:
    print(f"\n{title}")
    rows = [{name: value for name, value in row.items() if name != "turns"} for row in rows]
    cells = [[_cell(value) for value in row.values()] for row in rows]
    widths = [max(len(line[i]) for line in [list(rows[0]), *cells]) for i in range(len(rows[0]))]
    for line in [list(rows[0]), *cells]:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    return "" if value is None else str(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="some of the questions and kernels")
    parser.add_argument("--json", type=Path, default=RESULTS / "kernels.json", help="where the record goes")
    options = parser.parse_args()
    few, names = (PROOFS[:3], list(PAIRS)[:1]) if options.quick else (PROOFS, list(PAIRS))
    result: dict[str, Any] = {
        "machine": {"python": platform.python_version(), "processor": platform.machine(), "numpy": np.__version__,
                    "scipy": scipy.__version__, "scikit-learn": sklearn.__version__, "mercer": mercer.__version__},
        "import": imports(), "proofs": proofs(few), "evaluation": evaluation(names),
    }  # fmt: skip
    show("Import (seconds)", [result["import"]])
    show("Proofs and refutations (seconds, best of 3)", result["proofs"])
    show("Evaluation in plain NumPy, 2,000 x 2,000, d = 10, float64", result["evaluation"])
    options.json.parent.mkdir(exist_ok=True)
    options.json.write_text(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
