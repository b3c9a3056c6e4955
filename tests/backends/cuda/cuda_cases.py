"""Kernels on which generated Triton code is tried, and what it gives beside plain NumPy: interpreted, or on a card."""

import math

import numpy as np
import torch

import mercer
from mercer.backends.base import Traced
from mercer.backends.cuda import launch
from mercer.backends.cuda.launch import Launched
from mercer.backends.cuda.on_card import OnCard
from mercer.backends.cuda.resident import Resident
from mercer.compute.codegen.formula import asked, groups
from mercer.compute.codegen.pair_statistics import Measured
from mercer.compute.codegen.precision import exponents
from mercer.compute.codegen.program import Method
from mercer.compute.runtime import threads
from mercer.kernels import Coordinate, Radial
from mercer.kernels.evaluation.trace import TracedPairs, trace
from mercer.kernels.objects.leaf import ObjectKernel
from mercer.kernels.pairs import Pairs
from mercer.kernels.points import points_from
from mercer.kernels.text import known_names

KNOWN = {leaf.name: leaf for leaf in known_names().values() if isinstance(leaf, type)}
LEAVES = sorted(name for name, leaf in KNOWN.items() if not issubclass(leaf, ObjectKernel) and name != "function")
COMPOSITIONS = (
    "gaussian + 0.5*linear*matern(nu=1.5)",
    "matern(nu=0.5)",
    "matern(nu=4.5)",
    "arc_cosine(order=0)",
    "polynomial(degree=5)",
    "exp(0.1*linear).normalized()",
    "gaussian**0.5*laplace.after([[1, 2], [0, 1]])",
    "gaussian(lengthscale=2).on([0, 1])*linear + laplace.on([1])",
    "gaussian*gaussian(lengthscale=3) + 2",
)
PROMISE = {"float32": 9.5e-7, "mixed": 9.5e-7, "float64": 5e-13}
"""How far a value may be off, relative to sqrt(k(x, x) k(z, z)), where rows are no longer than a few lengthscales."""
FORMULA = {"float32": 2.4e-7, "mixed": 2.4e-7, "float64": 9e-16}
"""Four units of a value, for the formula: the promise is about statistics."""
ROUGH = 3e-5
"""The same of products of bfloat16, three for each."""


class Cauchy(Radial):
    """A user's own profile."""

    def profile(self, u):
        return 1 / (1 + u)


class Bumps(Coordinate):
    """A user's own term, with functions and selects."""

    joined_by = "product"

    def term(self, x, z):
        t = np.abs(x - z)
        return np.where((t < 2) & (x + z > -9), 2 + np.cos(t) * np.sqrt(t), 2.0 - np.sin(2.0))


OWN = {"cauchy": Cauchy(), "bumps": Bumps(), "both": Cauchy() * mercer.parse("gaussian") + Bumps()}
"""Kernels as a user writes them."""
NAMES = (*LEAVES, *COMPOSITIONS, *OWN)


def kernel_of(name):
    """A kernel by its name or text."""
    return OWN[name] if name in OWN else mercer.parse(name)


def table(kernel, n, d, seed):
    """Rows where a kernel is defined, at most a few lengthscales long; those of float32 keep their values there."""
    X = np.random.default_rng(seed).uniform(-0.6, 1.0, size=(n, d)) * math.sqrt(2 / max(d, 2))
    return kernel.domain.place(X).astype(np.float32).astype(np.float64)


def precisions(name, d=2):
    """In which precisions a kernel can be computed."""
    kernel = kernel_of(name)
    points = points_from(table(kernel, 4, d, 0))
    parted = exponents(trace(kernel, TracedPairs(points, points)))
    return ("float32", "mixed", "float64") if parted else ("float32", "float64")


def has_distances(kernel, X):
    """Whether it asks for distances, which may come from products or from differences."""
    points = points_from(X)
    formula = trace(kernel, TracedPairs(points, points))
    return any(asked(formula, group) & {"square", "root"} for group in groups(formula))


def traced(kernel, X, Z, precision, kind="product", rough=False):
    """A kernel as a backend gets it; Z is None for a symmetric matrix."""
    left = points_from(X)
    right = left if Z is None else points_from(Z)
    formula = trace(kernel, TracedPairs(left, right))
    wanted = {group: found for group in groups(formula) if (found := asked(formula, group))}
    measured = {group: Measured(group, movable=found != {"dot"}) for group, found in wanted.items()}
    methods = {}
    for group, found in wanted.items():
        shifted = "dot" in found and measured[group].origin is not None
        by = kind if found != {"dot"} else "product"
        methods[group] = Method(by, shifted, by == "product" and "root" in found)
    shape = len(X), len(X if Z is None else Z)
    return Traced(formula, shape, precision, methods, measured, Z is None, rough)


def values(kernel, X, Z):
    """The matrix by plain NumPy in float64, and what errors are relative to."""
    left = points_from(X)
    right = left if Z is None else points_from(Z)
    K = np.array(np.broadcast_to(kernel.evaluate(Pairs(left, right)), (len(X), len(right.values))))
    sizes = [np.sqrt(np.maximum(np.broadcast_to(kernel.evaluate_diagonal(p), len(p.values)), 0)) for p in (left, right)]
    return K, np.maximum(np.outer(*sizes), np.abs(K))


def errors(name, n, m, precision, kind="product", d=2, device="cpu", offset=0.0, **options):
    """How far products and values are off, in units of the promise: all are to be at most 1.

    m : None for a symmetric matrix
    offset : how far all rows are from zero
    """
    kernel = kernel_of(name)
    X, Z = table(kernel, n, d, 1) + offset, None if m is None else table(kernel, m, d, 2) + offset
    K, sizes = values(kernel, X, Z)
    found = Launched.of(traced(kernel, X, Z, precision, kind, options.pop("rough", False)), device, **options)
    promise = (ROUGH if found.source.is_rough else PROMISE[precision]) + FORMULA[precision]
    V = np.random.default_rng(3).normal(size=(K.shape[1], 5)).astype(np.float32).astype(np.float64)
    summed = promise * (sizes @ np.abs(V))
    given = torch.tensor(V, device=device)
    out = torch.full(K.shape, math.nan, dtype=torch.float64, device=device)
    found.matrix(out)
    report = {
        "one": _largest(found.times(given[:, :1]).cpu().numpy() - K @ V[:, :1], summed[:, :1]),
        "many": _largest(found.times(given).cpu().numpy() - K @ V, summed),
        "values": _largest(out.cpu().numpy() - K, promise * sizes),
    }
    if m is None:
        report["symmetric"] = 0.0 if torch.equal(out, out.T) else math.inf
    return report


def missing_stays(precision, device="cpu", **options):
    """0 where a row that overflowed to NaN has values that are NaN, and other rows have none; else infinity."""
    kernel = kernel_of("matern(nu=1.5) + 0.1*gaussian")
    X, Z = table(kernel, 65, 3, 1), table(kernel, 64, 3, 2)
    found = Launched.of(traced(kernel, X, Z, precision), device, **options)
    found._arguments.tables[0][0][7] = math.nan
    out = torch.zeros((65, 64), dtype=torch.float64, device=device)
    found.matrix(out)
    missing = torch.isnan(out).cpu()
    return {"NaN": 0.0 if bool(missing[7].all()) and int(missing.sum()) == 64 else math.inf}


def _largest(errors, scale):
    return float(np.max(np.abs(errors) / np.maximum(scale, np.finfo(float).tiny)))


def differences_of_parts(device, **options):
    """(case, found, wanted): parts and the whole, to rounding; pieces of any size and the same work twice, exactly."""
    kernel, (X, Z) = kernel_of("gaussian + 0.5*laplace"), (table(kernel_of("gaussian"), n, 3, n) for n in (150, 70))
    V = torch.tensor(np.random.default_rng(0).normal(size=(150, 3)), device=device)
    both = Launched.of(traced(kernel, X, Z, "float32"), device, **options)
    one = Launched.of(traced(kernel, X, None, "float32"), device, **options)
    whole, square = torch.zeros((2, 150, 150), dtype=torch.float64, device=device)
    both.matrix(whole[:, :70])
    one.matrix(square)
    rows, columns = np.array([3, 149, 0, 77]), np.array([69, 5])

    def filled(part):
        out = torch.zeros(part.shape, dtype=torch.float64, device=device)
        part.matrix(out)
        return out

    some = torch.zeros((40, 70), dtype=torch.float32, device=device)
    both.fill(100, 140, some)
    yield "part, fill", some.double(), whole[100:140, :70]
    yield "part, at", filled(both.at(rows)), whole[rows][:, :70]
    yield "part, within", filled(both.within(rows, columns)), whole[rows][:, columns]
    yield "part, within, all rows", filled(both.within(None, columns)), whole[:, columns]
    part = one.within(rows, rows)
    assert part.symmetric
    assert not one.at(rows).symmetric
    yield "part, within, symmetric", filled(part), square[rows][:, rows]
    yield "no vectors", one.times(V[:, :0]), V[:, :0]
    yield "twice", one.times(V[:, :1]), one.times(V[:, :1])
    for values, count in ((one, 1), (one, 3), (both, 1)):
        weights = V[: values.shape[1], :count]
        wanted, most = values.times(weights), launch.MAX_BLOCKS
        try:
            launch.MAX_BLOCKS = 1  # a launch for each block of rows
            yield f"pieces, {count} vectors", values.times(weights), wanted
        finally:
            launch.MAX_BLOCKS = most


def told_and_stopped(device, **options):
    """What a watch was told until it raised an error, which must come out."""
    kernel = kernel_of("gaussian")
    found = Launched.of(traced(kernel, table(kernel, 700, 3, 0), None, "float32"), device, **options)
    told, most = [], launch.MAX_BLOCKS

    def watch(progress):
        told.append(progress.done / progress.total)
        raise KeyboardInterrupt

    try:
        launch.MAX_BLOCKS = 1
        threads.WATCH_SECONDS, before = 0.0, threads.WATCH_SECONDS
        found.times(torch.zeros((700, 1), device=device), watch)
    except KeyboardInterrupt:
        return told
    finally:
        launch.MAX_BLOCKS, threads.WATCH_SECONDS = most, before
    return None


def gap(case, found, wanted):
    """How far two results differ, in units of what is allowed."""
    if not case.startswith("part, "):
        return 0.0 if torch.equal(found, wanted) else math.inf
    return float(abs(found - wanted).max()) / PROMISE["float32"]


def gaps_of_evaluator(device):
    """(case, found, wanted): the evaluator of a card beside plain NumPy, through NumPy arrays."""
    kernel = kernel_of("gaussian + 0.5*laplace")
    X, Z = table(kernel, 70, 3, 0), table(kernel, 30, 3, 1)
    resident = Resident(torch.device(device))
    found = OnCard(traced(kernel, X, Z, "float32"), resident)
    K = values(kernel, X, Z)[0]
    V = np.random.default_rng(0).normal(size=(30, 2)) / 30
    rows, columns = np.array([5, 1]), np.array([0, 29, 3])
    filled = np.empty((20, 30), np.float32)
    assert found.dtype == np.float32
    assert found.fill(10, 30, filled)
    yield "part, fill", filled, K[10:30]
    yield "part, times", found.times(V, 1), K @ V
    yield "part, matrix", found.matrix(np.dtype(np.float64), 1)[0], K
    yield "part, at", found.at(rows).matrix(np.dtype(np.float32), 1)[0], K[rows]
    yield "part, within", found.within(rows, columns).matrix(np.dtype(np.float64), 1)[0], K[np.ix_(rows, columns)]
    square = OnCard(traced(kernel, X, None, "float64"), resident)
    matrix, sure = square.matrix(np.dtype(np.float64), 1)
    assert sure
    yield "mirrored", torch.tensor(matrix), torch.tensor(matrix.T)
    yield "part, square", matrix, values(kernel, X, None)[0]
