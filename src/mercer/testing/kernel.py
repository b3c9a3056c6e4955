"""The laws of kernels. `check_kernel` raises AssertionError with the name of the first law that is broken."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.errors import InputError, NumericalWarning, speaks
from mercer.kernels import Kernel, Radial
from mercer.kernels.evaluation.evaluate import fused_from
from mercer.kernels.pairs import Pairs
from mercer.kernels.points import points_from
from mercer.kernels.precision.mpmath_arrays import precisely
from mercer.kernels.precision.pairs import PrecisePairs
from mercer.kernels.proof.prove import prove
from mercer.kernels.proof.search import find_witness
from mercer.kernels.proof.subject import KernelSubject
from mercer.lifts.exact import exact_lift
from mercer.lifts.n_features import most_features
from mercer.testing import structured
from mercer.testing.laws import AGREEMENT, PATHS, close, law_of_parameters, law_of_text, law_of_value, require

Table = NDArray[np.float64]
ROWS = 24
NEAR_AGREEMENT = 1e-11
"""How far the distance of two near points may be off, relatively: what is promised for kernels of the library, and ten
times as much for the rounding of others' profiles."""
UNRESOLVED = 1e-20
"""A distance below this part of sqrt(k(x, x) + k(z, z)) counts as zero."""
MAX_FEATURES = 10_000
"""A finite lift with more features is not built."""


@speaks
def check_kernel(kernel: Kernel, d: int | None = None, X: ArrayLike | None = None) -> None:
    """Check a kernel against the laws of its kind.

    The laws: data (left unchanged), value (frozen, hashable, equal by value), symmetry, diagonal, precision (agreement
    with 50 digits), distance, near points (their distances keep their digits), rows (their order, and whether they come
    alone), dtype, closure under sums and products, text, parameters, domain, limits (at infinite distance), the lift
    (features of `finite_lift` give k), paths (plain NumPy and the fused pass agree), eigenvalues (on data, and on the
    point sets of the search for a witness). The laws about values are checked on both paths. Cost: about a second, and
    a few more to compile a formula that is new.

    Parameters
    ----------
    kernel : Kernel
        Open numbers are resolved on the data.
    d : int or None, default=None
        The number of columns of the data that is made for the check; None takes the first that fits.
    X : array, table or None, default=None
        Data to use instead: at least 3 rows inside the kernel's domain. Kernels of strings, graphs and categories have
        laws of their own (of counting, say); where they look at columns by name, X must be given.

    Raises
    ------
    AssertionError
        with the name of the law and what broke it

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear
    >>> from mercer.testing import check_kernel
    >>> check_kernel(Gaussian(2.0) * Linear() + 1.0)
    """
    data, laws = (_things(kernel, X), structured.LAWS) if kernel.kinds else (_table(kernel, d, X), LAWS)
    settled = kernel.resolve(data)
    with warnings.catch_warnings():
        warnings.simplefilter("error", NumericalWarning)
        for name, law in laws.items():
            for path in ("plain", "fused") if name in ON_BOTH_PATHS else ("plain",):
                try:
                    with fused_from(PATHS[path]):
                        law(settled, data)
                except AssertionError as broken:
                    where = ", on the fused path" if path == "fused" else ""
                    raise AssertionError(f"{kernel!r} breaks the law of {name}{where}: {broken}") from broken


def _things(kernel: Kernel, X: Any) -> Any:
    return structured.sample(kernel) if X is None else X


def _table(kernel: Kernel, d: int | None, X: ArrayLike | None) -> Table:
    """The rows that were given, or some in the kernel's domain, two of them equal and two of them near each other."""
    if X is not None:
        return points_from(X).values
    subject = KernelSubject.of(kernel)
    options = [columns for columns in ((2, 1, 3, 4, 5, 6, 7, 8) if d is None else (d,)) if subject.fits(columns)]
    if not options:
        raise InputError(f"check_kernel found no number of columns that fits {kernel}. Give d, or data X.")
    rows = np.random.default_rng(20).normal(size=(ROWS, options[0]))
    rows[1] = rows[0]
    rows[2] = rows[3] + 1e-7
    return kernel.domain.place(rows)


def law_of_symmetry(kernel: Kernel, X: Table) -> None:
    """k(X) is exactly symmetric, equals k(X, X), and k(X, Z) is the transpose of k(Z, X)."""
    K = kernel(X)
    raw = kernel.evaluate(Pairs(points_from(X), points_from(X)))
    close(raw, np.asarray(raw).T, "k(x, z) against k(z, x)")
    require(np.array_equal(K, K.T), "k(X) is not exactly symmetric")
    require(np.array_equal(K, kernel(X, X.copy())), "k(X) differs from k(X, X)")
    close(kernel(X[:5], X[5:]), kernel(X[5:], X[:5]).T, "k(X, Z) against k(Z, X)")


def law_of_the_diagonal(kernel: Kernel, X: Table) -> None:
    """The diagonal is that of the matrix, and not negative."""
    diagonal, some = kernel.diagonal(X), X[: len(X) // 2 + 1]
    require(np.array_equal(diagonal, np.diag(kernel(X))), "the matrix has another diagonal")
    close(diagonal[: len(some)], np.diag(kernel(some, X)), "diagonal(X) against k(X, Z)")
    require((diagonal >= 0).all(), f"k(x, x) is negative: {diagonal.min():.3g}")


def law_of_eigenvalues(kernel: Kernel, X: Table) -> None:
    """No negative eigenvalue on the data, and no witness among structured point sets."""
    for pairs in PATHS.values():
        with fused_from(pairs):
            K = kernel(X)
        values = np.linalg.eigvalsh(K)
        floor = -len(X) * np.finfo(float).eps * max(float(np.abs(K).max()), 1e-300) * len(X)
        require(values[0] >= floor, f"the smallest eigenvalue on the data is {values[0]:.3g}")
    subject = KernelSubject.of(kernel)
    found = find_witness(subject.matrix, kernel.domain.place, X.shape[1], scale=subject.scale, effort=0.3)
    if found.points is not None and found.weights is not None:
        check = subject.check(found.points, found.weights)
        require(not check.negative, f"points {found.points.tolist()} give {check.value:.3g}")
    require(prove(kernel, d=X.shape[1]).status != "refuted", "mercer.prove refutes it")


def law_of_distance(kernel: Kernel, X: Table) -> None:
    """The kernel distance squared is k(x, x) + k(z, z) - 2 k(x, z), zero from a point to itself."""
    D, diagonal = kernel.distance(X), kernel.diagonal(X)
    require(np.isfinite(D).all() and (np.diag(D) == 0).all(), "a distance is not finite, or not zero to itself")
    wanted = np.maximum(diagonal[:, None] + diagonal[None, :] - 2 * kernel(X), 0)
    close(D * D, wanted, "distance squared", tolerance=1e-9)


def law_of_near_points(kernel: Kernel, X: Table) -> None:
    """Distances of points a billionth apart keep their digits: they are those of the definition with 50 digits."""
    some = X[:4]
    steps = np.random.default_rng(2).uniform(0.5, 1.0, some.shape)
    near = kernel.domain.place(some + 1e-9 * steps)
    found = np.diag(kernel.distance(some, near))
    try:
        wanted, sizes = np.array([_exact_distance(kernel, *pair) for pair in zip(some, near, strict=True)]).T
    except (TypeError, AttributeError, InputError):  # a function inside that insists on floats
        return
    gap = np.abs(found - wanted)
    allowed = np.where(wanted > UNRESOLVED * sizes, NEAR_AGREEMENT * wanted, UNRESOLVED * sizes)
    worst = int(np.argmax(gap - allowed))
    told = f"{found[worst]:.17g} instead of {wanted[worst]:.17g}"
    require((gap <= allowed).all(), f"the distance of two near points is {told}")


def _exact_distance(kernel: Kernel, x: Table, z: Table) -> tuple[float, float]:
    """The distance of two points, and sqrt(k(x, x) + k(z, z)), from the definition with 50 digits."""
    both = points_from(np.array([x, z]))
    exact = type(both)(precisely(both.values), both.names)
    K: Any = kernel.evaluate(PrecisePairs(exact, exact))
    if K.dtype != object:
        raise TypeError("the kernel gives floats for numbers of 50 digits")
    total = K[0, 0] + K[1, 1]
    return math.sqrt(max(float(total - 2 * K[0, 1]), 0.0)), math.sqrt(abs(float(total)))


def law_of_paths(kernel: Kernel, X: Table) -> None:
    """Plain NumPy and the fused pass agree: on k, on k away from zero, on a composition of k, and in float32."""
    _same_on_both_paths(kernel, X)
    _same_on_both_paths(kernel, kernel.domain.place(0.25 * X + 1.0))  # the fused pass measures from another origin
    _same_on_both_paths(kernel * (kernel + 1.0) + 0.5 * kernel, X)
    narrow = X.astype(np.float32)
    if not kernel.domain.misfits(narrow.astype(np.float64)).any():
        _same_on_both_paths(kernel, narrow)


def _same_on_both_paths(kernel: Kernel, X: NDArray[Any]) -> None:
    some = X[: len(X) // 2 + 1]
    found: dict[str, list[NDArray[Any]]] = {}
    for path, pairs in PATHS.items():
        with fused_from(pairs):
            found[path] = [kernel(X), kernel(some, X)]
    sizes = np.sqrt(np.abs(kernel.diagonal(X).astype(np.float64)))
    for one, other, rows in zip(found["plain"], found["fused"], (len(X), len(some)), strict=True):
        scale = np.maximum(np.outer(sizes[:rows], sizes), np.abs(one))
        gap = float((np.abs(one.astype(np.float64) - other) / np.maximum(scale, 1e-300)).max())
        require(
            gap <= AGREEMENT[X.dtype.name],
            f"{kernel} on {X.dtype}: the paths differ by {gap:.3g} of sqrt(k(x, x) k(z, z))",
        )


def law_of_closure(kernel: Kernel, X: Table) -> None:
    """Sums, multiples, products and powers are what plain arithmetic says."""
    K = kernel(X)
    close((kernel + kernel)(X), K + K, "k + k")
    close((2.5 * kernel)(X), 2.5 * K, "2.5 * k")
    close((kernel * kernel)(X), K * K, "k * k")
    close((kernel**2)(X), K * K, "k ** 2")
    close((kernel * (kernel + 1.0))(X), K * (K + 1.0), "k * (k + 1)")


def law_of_dtype(kernel: Kernel, X: Table) -> None:
    """float32 stays float32, and agrees with float64."""
    narrow = X.astype(np.float32)
    try:
        kernel.check(narrow)
    except InputError:  # rounding can leave the domain, such as the unit sphere
        return
    for result in (kernel(narrow), kernel.diagonal(narrow), kernel.distance(narrow), kernel(narrow, narrow[:3])):
        require(result.dtype == np.float32, f"float32 data gives {result.dtype}")
    require(kernel(X).dtype == np.float64, f"float64 data gives {kernel(X).dtype}")
    close(kernel(narrow), kernel(narrow.astype(np.float64)), "float32 against float64", tolerance=1e-6)


def law_of_rows(kernel: Kernel, X: Table) -> None:
    """The order of rows does not matter, nor whether a row comes alone or with others."""
    order = np.random.default_rng(1).permutation(len(X))
    K = kernel(X)
    close(kernel(X[order]), K[np.ix_(order, order)], "rows in another order")
    close(kernel(X[:1], X), K[:1], "a row alone")
    close(kernel(X[-1:], X), K[-1:], "another row alone")
    close(kernel.diagonal(X[order]), kernel.diagonal(X)[order], "the diagonal in another order")


def law_of_data(kernel: Kernel, X: Table) -> None:
    """Data is left unchanged."""
    before = X.copy()
    for action in (kernel, kernel.diagonal, kernel.distance, kernel.resolve):
        action(X)
        require(np.array_equal(before, X), "the data was changed")


def law_of_domain(kernel: Kernel, X: Table) -> None:
    """Data outside the domain of a leaf is refused."""
    if kernel.children:
        return
    outside = X - 7.3
    if kernel.domain.misfits(outside).any():
        try:
            kernel(outside)
        except InputError:
            return
        raise AssertionError(f"data outside {kernel.domain} was accepted")


def law_of_precision(kernel: Kernel, X: Table) -> None:
    """The value in float64 agrees with the same formula at 50 digits."""
    few = points_from(X[:6])
    exact = type(few)(precisely(few.values), few.names)
    try:
        wanted = kernel.evaluate(PrecisePairs(exact, exact))
    except (TypeError, AttributeError):  # a user's function that insists on floats
        return
    close(kernel.evaluate(Pairs(few, few)), np.asarray(wanted, dtype=float), "float64 against 50 digits")


def law_of_limits(kernel: Kernel, X: Table) -> None:
    """A radial kernel is finite at every distance, infinity included."""
    if isinstance(kernel, Radial):
        with np.errstate(all="ignore"):
            values = kernel.profile(np.array([0.0, 5e-324, 1e-150, 1.0, 1e10, 1e300, np.inf]))
        require(np.isfinite(values).all(), f"the profile gives {values} from 0 to infinity")


def law_of_the_lift(kernel: Kernel, X: Table) -> None:
    """Where `finite_lift` answers: phi(x).phi(z) is k(x, z), with no more features than are counted."""
    most = most_features(kernel, X.shape[1])
    if most is None or not 0 < most <= MAX_FEATURES:
        return
    phi = exact_lift(kernel, points_from(X))
    features = phi.transform(X)
    require(phi.n_features() <= most, f"{phi.n_features()} features are built where at most {most} are counted")
    require(features.shape == (len(X), phi.n_features()), f"features are of shape {features.shape}")
    require(len(phi.get_feature_names_out()) == phi.n_features(), "there is not one name per feature")
    close(features @ features.T, kernel(X), "phi(x).phi(z) against k(x, z)", tolerance=1e-9)


LAWS: dict[str, Callable[[Kernel, Table], None]] = {
    "data": law_of_data,
    "value": law_of_value,
    "symmetry": law_of_symmetry,
    "the diagonal": law_of_the_diagonal,
    "paths": law_of_paths,
    "precision": law_of_precision,
    "distance": law_of_distance,
    "rows": law_of_rows,
    "dtype": law_of_dtype,
    "closure": law_of_closure,
    "text": law_of_text,
    "parameters": law_of_parameters,
    "domain": law_of_domain,
    "limits": law_of_limits,
    "near points": law_of_near_points,
    "the lift": law_of_the_lift,
    "eigenvalues": law_of_eigenvalues,
}
ON_BOTH_PATHS = {"data", "symmetry", "the diagonal", "distance", "rows", "dtype"}
"""The laws about values of k itself; that compositions agree is part of the law of paths."""
