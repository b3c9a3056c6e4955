"""The laws of kernels of strings, graphs, categories, and of tables with columns of these."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.sparse import canonical
from mercer.errors import InputError
from mercer.kernels import Kernel
from mercer.kernels.evaluation.evaluate import fused_from, leaves, points_of_kernel
from mercer.kernels.objects.counted import Counted
from mercer.kernels.objects.table import table_of
from mercer.kernels.proof.prove import prove
from mercer.testing.laws import AGREEMENT, PATHS, close, law_of_parameters, law_of_text, law_of_value, require

SAMPLES: dict[str, list[Any]] = {
    "strings": [
        "",
        "a",
        "banana",
        "bandana",
        "ananas",
        "Ünïcødé 😀",
        "the cat sat",
        "the cat sat",
        "aaaaaaaa",
        "ab ba",
    ],
    "categories": ["red", "green", "blue", "red", None, "violet", "green", "", "é", "blue"],
    "graphs": [
        {"nodes": ["C"], "edges": []},
        {"nodes": ["C", "C"], "edges": [0, 1]},
        {"nodes": ["C", "O", "N"], "edges": []},
        {"nodes": ["C", "O", "N"], "edges": [0, 1, 1, 2]},
        {"nodes": ["C", "C", "C", "O"], "edges": [0, 1, 1, 2, 0, 2, 2, 3]},
        {"nodes": ["N", "C", "O"], "edges": [1, 2, 0, 2]},
        {"nodes": ["C"] * 5, "edges": [0, 1, 1, 2, 2, 3, 3, 4, 0, 4]},
        {"nodes": ["C", "O"], "edges": [0, 0, 0, 1]},
    ],
}
"""Objects of each kind, where none are given: empty ones, equal ones and odd ones among them."""


def sample(kernel: Kernel) -> list[Any]:
    """Objects for a kernel of one column."""
    kind = kernel.kinds.get(None)
    if kind is None:
        raise InputError(f"check_kernel needs a table for {kernel}, which looks at columns by name. Give data X.")
    return SAMPLES[kind]


def taken(X: Any, rows: NDArray[np.intp]) -> Any:
    """Some rows of a table, or some of a list of objects."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "take") and hasattr(X, "column_names"):  # Arrow
        return X.take(rows)
    return X[rows] if isinstance(X, np.ndarray) or hasattr(X, "get_columns") else [X[i] for i in rows]


def _half(X: Any) -> tuple[Any, Any]:
    every = np.arange(_count(X))
    return taken(X, every[: len(every) // 2]), taken(X, every[len(every) // 2 :])


def _count(X: Any) -> int:
    return int(X.num_rows) if hasattr(X, "num_rows") else len(X)


def law_of_data(kernel: Kernel, X: Any) -> None:
    """Data is left unchanged."""
    kind = kernel.kinds.get(None)
    before = [copy.deepcopy(table_of(X, kind).things(i)) for i in range(_width(X, kind))]
    kernel(X)
    kernel.distance(X)
    after = [table_of(X, kind).things(i) for i in range(_width(X, kind))]
    require(repr(before) == repr(after), "the data was changed")


def _width(X: Any, kind: str | None) -> int:
    return table_of(X, kind).width


def law_of_symmetry(kernel: Kernel, X: Any) -> None:
    """k(X) is exactly symmetric, equals k(X, Z) for a copy Z, and k(X, Z) is the transpose of k(Z, X)."""
    K, (one, other) = kernel(X), _half(X)
    require(np.array_equal(K, K.T), "k(X) is not exactly symmetric")
    close(kernel(X, taken(X, np.arange(_count(X)))), K, "k(X, Z) for a copy Z of X")
    close(kernel(one, other), kernel(other, one).T, "k(X, Z) against k(Z, X)")


def law_of_the_diagonal(kernel: Kernel, X: Any) -> None:
    """The diagonal is that of the matrix, whatever stands beside, and not negative."""
    diagonal, (one, _) = kernel.diagonal(X), _half(X)
    require(np.array_equal(diagonal, np.diag(kernel(X))), "the matrix has another diagonal")
    close(np.diag(kernel(one, X)), diagonal[: _count(one)], "diagonal(X) against k(X, Z)")
    require((diagonal >= 0).all(), f"k(x, x) is negative: {diagonal.min():.3g}")


def law_of_distance(kernel: Kernel, X: Any) -> None:
    """The kernel distance squared is k(x, x) + k(z, z) - 2 k(x, z), zero from an object to an equal one."""
    D, diagonal = kernel.distance(X), kernel.diagonal(X)
    last = np.arange(_count(X))[::-1]
    require((kernel.distance(X, taken(X, last))[last, np.arange(_count(X))] == 0).all(), "equal objects are apart")
    require(np.isfinite(D).all() and (np.diag(D) == 0).all(), "a distance is not finite, or not zero to itself")
    close(D * D, np.maximum(diagonal[:, None] + diagonal - 2 * kernel(X), 0), "distance squared", tolerance=1e-9)


def law_of_rows(kernel: Kernel, X: Any) -> None:
    """The order of objects does not matter, nor whether one comes alone or with others."""
    order, K = np.random.default_rng(1).permutation(_count(X)), kernel(X)
    close(kernel(taken(X, order)), K[np.ix_(order, order)], "objects in another order")
    for i in (0, _count(X) - 1):
        close(kernel(taken(X, np.array([i])), X), K[i : i + 1], "an object alone")


def law_of_closure(kernel: Kernel, X: Any) -> None:
    """Sums, multiples, products, powers and normalised forms are what plain arithmetic says."""
    K, sizes = kernel(X), np.sqrt(kernel.diagonal(X))
    close((kernel + kernel)(X), K + K, "k + k")
    close((2.5 * kernel)(X), 2.5 * K, "2.5 * k")
    close((kernel * (kernel + 1.0))(X), K * (K + 1.0), "k * (k + 1)")
    close((kernel**2)(X), K * K, "k ** 2")
    unit = np.divide(K, np.outer(sizes, sizes), out=np.zeros_like(K), where=np.outer(sizes, sizes) > 0)
    close(kernel.normalized()(X) + 1.0, unit + 1.0, "k.normalized()")


def law_of_paths(kernel: Kernel, X: Any) -> None:
    """Plain NumPy and the fused pass agree, on k and on a composition of it."""
    for each in (kernel, kernel * (kernel + 1.0)):
        found = []
        for pairs in PATHS.values():
            with fused_from(pairs):
                found.append(each(X))
        sizes = np.sqrt(np.abs(each.diagonal(X)))
        scale = np.maximum(np.maximum(np.outer(sizes, sizes), np.abs(found[0])), 1e-300)
        gap = float((np.abs(found[0] - found[1]) / scale).max())
        require(gap <= AGREEMENT["float64"], f"{each}: the paths differ by {gap:.3g} of sqrt(k(x, x) k(z, z))")


def law_of_eigenvalues(kernel: Kernel, X: Any) -> None:
    """No negative eigenvalue on the data, and no proof to the contrary."""
    K = kernel(X)
    floor = -(len(K) ** 2) * float(np.finfo(float).eps) * max(float(np.abs(K).max()), 1e-300)
    least = float(np.linalg.eigvalsh(K)[0])
    require(least >= floor, f"the smallest eigenvalue on the data is {least:.3g}")
    require(prove(kernel).status != "refuted", "mercer.prove refutes it")


def law_of_counting(kernel: Kernel, X: Any) -> None:
    """Features of the first objects keep their order, and their numbers, whatever comes after."""
    for leaf, items in _counted(kernel, X):
        first = items[: len(items) // 2 + 1]
        alone, beside = canonical(leaf.count(first)), canonical(leaf.count(items)[: len(first)])
        kept = np.flatnonzero(np.bincount(beside.indices, minlength=beside.shape[1]))
        close(beside[:, kept].toarray(), alone.toarray(), f"features of {leaf} with and without others")
        require(len(kept) == alone.shape[1], f"{leaf} counts a column that nothing has")


def _counted(kernel: Kernel, X: Any) -> Iterator[tuple[Counted, tuple[Any, ...]]]:
    for leaf, points in leaves(kernel, points_of_kernel(X, kernel)):
        if isinstance(leaf, Counted):
            yield leaf, leaf.column(points).store.items


LAWS: dict[str, Callable[[Kernel, Any], None]] = {
    "data": law_of_data,
    "value": law_of_value,
    "symmetry": law_of_symmetry,
    "the diagonal": law_of_the_diagonal,
    "distance": law_of_distance,
    "rows": law_of_rows,
    "closure": law_of_closure,
    "text": law_of_text,
    "parameters": law_of_parameters,
    "paths": law_of_paths,
    "eigenvalues": law_of_eigenvalues,
    "counting": law_of_counting,
}
"""By name, in the order in which they are checked."""
