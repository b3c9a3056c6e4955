"""Components of many rows, against scikit-learn's and against a reference: parts of unsupervised.py."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from alone import Found, alone, in_turns, measured
from scaling import Row, failure, held, peaks
from sklearn.decomposition import KernelPCA as Theirs
from tables import Array
from unsupervised_reference import RESIDUAL, computed
from unsupervised_rows import LOADED, Rows

from mercer import KernelPCA
from mercer.kernels import Gaussian

COUNT = 10
"""Components."""
SOLVERS = ("arpack", "randomized")
FASTER, SMALL, LARGE = 8.0, 1_000.0, 2_000.0
"""The goals: times faster than the faster solver, and megabytes at 20,000 and at 100,000 rows."""
APART = 1e-3
"""The sine of the largest angle between subspaces, at most."""
GIGABYTES, LONGEST = 20.0, 7_200.0


def ours(rows: Rows, megabytes: float) -> Found:
    X, few = rows.values(), rows.few()
    kernel, limit = Gaussian(rows.length), f"{megabytes:.0f}MB"
    model = KernelPCA(kernel, n_components=COUNT, memory_limit=limit, random_state=0)
    model.fit(few)
    _, cost = measured(lambda: model.fit(X))
    told = {"way": model.plan_.method, "unexplained": float(model.unexplained_), "converged": bool(model.converged_)}
    return cost | told | {"basis": basis(model, X), "values": np.asarray(model.eigenvalues_, dtype=float)}


def scikit_learn(rows: Rows, solver: str) -> Found:
    """Threads on all cores compute the matrix; the rest is BLAS, which takes them by itself."""
    X, few = rows.values(), rows.few(LOADED)
    settings = {"n_components": COUNT, "kernel": "rbf", "gamma": rows.gamma, "n_jobs": -1, "random_state": 0}
    model = Theirs(eigen_solver=solver, **settings)
    with import_module("joblib").parallel_config(backend="threading"):  # processes, the default, start no others here
        model.fit(few)
        _, cost = measured(lambda: model.fit(X))
    return cost | {"basis": basis(model, X), "values": np.asarray(model.eigenvalues_, dtype=float)}


def basis(model: Any, X: Array) -> Array:
    """Orthonormal columns that span the eigenvectors; those of scores are the same."""
    vectors = getattr(model, "eigenvectors_", None)
    return np.linalg.qr(np.asarray(model.transform(X) if vectors is None else vectors, dtype=float))[0]


def apart(one: Array, other: Array) -> float:
    """The sine of the largest angle between the spans of orthonormal columns."""
    return float(np.linalg.norm(one - other @ (other.T @ one), 2))


def components(file: Path, quick: bool, repeats: int) -> Iterator[Row]:
    """10 components of the Gaussian at the median distance; scikit-learn's faster solver counts."""
    for dtype in ("float64",) if quick else ("float64", "float32"):
        rows = Rows(file, 4_000 if quick else 20_000, dtype)
        print(f"  {rows.title}", flush=True)
        mine = partial(alone, ours, rows, SMALL, seconds=LONGEST)
        other = partial(alone, scikit_learn, rows, seconds=LONGEST, gigabytes=GIGABYTES)
        tried = SOLVERS[:1] if quick else SOLVERS
        # As many turns for ours as for each solver, and one that fails does not end the rest.
        pairs = [in_turns({"ours": mine, solver: partial(other, solver)}, repeats) for solver in tried]
        yield from _compared(rows.title, pairs, FASTER if dtype == "float64" else None)


def _compared(work: str, pairs: list[dict[str, Found]], goal: float | None) -> Iterator[Row]:
    lost = [f"{who}: {found['failed']}" for pair in pairs for who, found in pair.items() if "failed" in found]
    peers = {who: found for pair in pairs for who, found in pair.items() if who != "ours" and "failed" not in found}
    if not peers or any("failed" in pair["ours"] for pair in pairs):
        yield failure(work, "scikit-learn", lost)
        return
    mine = min((pair["ours"] for pair in pairs), key=lambda found: float(found["seconds"]))
    name = min(peers, key=lambda who: float(peers[who]["seconds"]))
    off = {who: apart(mine["basis"], found["basis"]) for who, found in peers.items()}
    told = [f"{who} {found['seconds']:.1f} s, {off[who]:.1e} from our subspace" for who, found in peers.items()]
    note = "; ".join([str(mine["way"]), *told, *lost, f"unexplained {mine['unexplained']:.3f}"])
    seconds, theirs, fine = mine["seconds"], peers[name]["seconds"], min(off.values()) <= APART
    against, ratio = f"KernelPCA, {name}", theirs / seconds
    row = Row(work, against, seconds, theirs, ratio, "times faster", goal, True, fine, note, peaks(mine, peers[name]))
    yield replace(row, accuracy=("sine of the angle between subspaces", off[name], None))
    least = min(found["megabytes"] for found in peers.values())
    yield held(work, mine, SMALL, f"scikit-learn, with threads: {least:,.0f} MB")


def large(file: Path, quick: bool, repeats: int) -> Iterator[Row]:
    """10 components of more rows, against block subspace iteration in float64."""
    count = 4_000 if quick else 100_000
    rows = Rows(file, count)
    work = rows.title
    found = in_turns({"ours": partial(alone, ours, rows, LARGE, seconds=LONGEST)}, min(repeats, 2))["ours"]
    if "failed" in found:
        yield failure(work, "reference", [found["failed"]])
        return
    yield held(work, found, LARGE, f"{found['way']}, unexplained {found['unexplained']:.3f}")
    truth = computed(rows, COUNT, LONGEST)
    off = apart(found["basis"], truth["basis"])
    values = float(np.abs(found["values"] / truth["values"] - 1).max())
    note = f"reference: {truth['steps']} products, residual {truth['residual']:.1e}, "
    note += f"products off by {truth['off']:.1e}; "
    note += f"its eigenvalues 1, {COUNT}, {COUNT + 1}: {truth['near']}; ours off by {values:.1e}"
    fine = truth["residual"] <= RESIDUAL and found["converged"]
    yield Row(f"{work}: subspace error", "float64 reference", found["seconds"], None, off, "", APART, False, fine, note)
