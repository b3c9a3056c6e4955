"""Arithmetic of expansions: what sums, products and maps of kernels do to features that are polynomials."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, kron, vstack
from scipy.sparse.csgraph import connected_components

from mercer.lifts.expansion import Expansion

MAX_MIXED_MONOMIALS = 2_000
"""Monomials that are mixed with one another, at most, for features to be made independent: above it a dense matrix of
them would be large, and the features are left as they are."""
RELATIVE_ROUNDING = 1e-13
"""What is below this part of its column, times the number of rows, is rounding."""


def linear(matrix: NDArray[np.float64]) -> Expansion:
    """The features A x."""
    width = matrix.shape[1]
    return Expansion(width, np.arange(width, dtype=np.intp)[:, None], csr_array(matrix))


def constant(width: int, value: float) -> Expansion:
    """One feature, the same for every row."""
    return Expansion(width, np.full((1, 1), -1, dtype=np.intp), csr_array([[value]]))


def rows(a: Expansion, chosen: NDArray[np.intp]) -> Expansion:
    """Some of the features."""
    return Expansion(a.width, a.factors, csr_array(a.coefficients[chosen]))


def added(a: Expansion, b: Expansion) -> Expansion:
    """The features of a, then those of b: the kernels are added."""
    factors, (of_a, of_b) = _united([a.factors, b.factors])
    C = vstack([a.coefficients @ _places(of_a, len(factors)), b.coefficients @ _places(of_b, len(factors))])
    return Expansion(a.width, factors, csr_array(C))


def multiplied(a: Expansion, b: Expansion) -> Expansion:
    """Every feature i of a times every feature j of b, at i len(b) + j: the kernels are multiplied."""
    left = np.repeat(a.factors, len(b.factors), axis=0)
    right = np.tile(b.factors, (len(a.factors), 1))
    factors, (places,) = _united([np.concatenate([left, right], axis=1)])
    C = csr_array(kron(a.coefficients, b.coefficients, format="csr"))
    return Expansion(a.width, factors, csr_array(C @ _places(places, len(factors))))


def scaled(a: Expansion, factor: float) -> Expansion:
    """Every feature times a number: the kernel is multiplied by its square."""
    return Expansion(a.width, a.factors, a.coefficients * factor)


def on_columns(a: Expansion, columns: list[int], width: int) -> Expansion:
    """The features of x[columns], as features of x, which has `width` columns."""
    chosen = np.array([*columns, -1], dtype=np.intp)  # the last one serves -1
    factors, (places,) = _united([chosen[a.factors]])
    return Expansion(width, factors, csr_array(a.coefficients @ _places(places, len(factors))))


def substituted(a: Expansion, inner: Expansion) -> Expansion:
    """The features of g(x), as features of x, where g is polynomial: every monomial of g(x) is multiplied out."""
    one = constant(inner.width, 1.0)
    forms = added(inner, one)  # the last one stands for a factor that is not there, -1
    opened = rows(one, np.zeros(len(a.factors), dtype=np.intp))
    for column in a.factors.T:
        opened = _by_rows(opened, rows(forms, column))
    return Expansion(opened.width, opened.factors, csr_array(a.coefficients @ opened.coefficients))


def simplified(a: Expansion) -> Expansion:
    """The same kernel with independent features, as many as its rank, in an order that the kernel decides.

    The kernel is m(x)' G m(z) for the monomials m and G = C'C. Where G is diagonal each monomial becomes one feature;
    monomials that are mixed get the rows of the triangular factor of their part of G, without those that are zero.
    """
    C = csr_array(a.coefficients)
    C.eliminate_zeros()
    _, group = connected_components(C.T @ C, directed=False)
    sizes = np.bincount(group, minlength=1)
    alone = np.flatnonzero(sizes[group] == 1)
    weights = _lengths(C, alone)
    rows = [coo_array((weights, (alone, alone)), shape=(C.shape[1], C.shape[1]))]
    leading = [alone]
    by_group = np.argsort(group, kind="stable")
    starts = np.cumsum(sizes) - sizes
    for g in np.flatnonzero(sizes > 1):
        members = by_group[starts[g] : starts[g] + sizes[g]]
        part = _independent(C[:, members].tocsr())
        rows.append(part @ _places(members, C.shape[1]))
        leading.append(members[(abs(part) > 0).argmax(axis=1).ravel()] if part.shape[0] else members[:0])
    return _sorted(a, rows, leading)


def _sorted(a: Expansion, rows: list[csr_array], leading: list[NDArray[np.intp]]) -> Expansion:
    """Features in the order of their first monomials, without monomials that no feature uses."""
    C = csr_array(vstack([rows[0].tocsr()[leading[0]], *rows[1:]]))
    C = C[np.argsort(np.concatenate(leading), kind="stable")]
    C.eliminate_zeros()
    C = C[np.flatnonzero(np.diff(C.indptr))]
    used = np.unique(C.indices)
    C = csr_array(C[:, used])
    C.sort_indices()
    degree = max(1, int((a.factors[used] >= 0).sum(axis=1).max(initial=0)))
    return Expansion(a.width, a.factors[used, :degree], C)


def _lengths(C: csr_array, columns: NDArray[np.intp]) -> NDArray[np.float64]:
    """The Euclidean length of each of these columns; of a single entry its size, to the last digit."""
    part = C[:, columns].tocsc()
    counts = np.diff(part.indptr)
    squares = np.zeros(len(columns))
    np.add.at(squares, np.repeat(np.arange(len(columns)), counts), part.data**2)
    lengths = np.sqrt(squares)
    single = counts == 1
    lengths[single] = np.abs(part.data[part.indptr[:-1][single]])
    return np.asarray(lengths)


def _independent(C: csr_array) -> csr_array:
    """Independent rows R with R'R = C'C, in echelon form; the rows of C themselves where that would be large."""
    C = csr_array(C[np.flatnonzero(np.diff(C.indptr))])
    if C.shape[1] > MAX_MIXED_MONOMIALS:
        return C
    return csr_array(echelon(C.toarray()))


def echelon(C: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows R of full rank and in echelon form, the first number of each positive, with R'R = C'C.

    Reflections of the rows, a column at a time; a column that the rows above it explain, to rounding, gets no row.
    """
    sizes = np.linalg.norm(C, axis=0)
    R = np.array(np.linalg.qr(C, mode="r") if len(C) > C.shape[1] else C)
    top = 0
    for j in range(C.shape[1]):
        column = R[top:, j].copy()
        length = float(np.linalg.norm(column))
        R[top:, j] = 0.0
        if length <= RELATIVE_ROUNDING * len(R) * sizes[j]:
            continue
        column[0] += math.copysign(length, column[0])
        column /= np.linalg.norm(column)
        R[top:, j + 1 :] -= 2 * np.outer(column, column @ R[top:, j + 1 :])
        R[top, j + 1 :] *= -math.copysign(1.0, column[0])
        R[top, j] = length
        top += 1
    R = R[:top]
    R[np.abs(R) <= RELATIVE_ROUNDING * sizes] = 0.0
    return np.asarray(R)


def _united(tables: list[NDArray[np.intp]]) -> tuple[NDArray[np.intp], list[NDArray[np.intp]]]:
    """All monomials of several tables, each once and sorted, and where those of each table stand among them."""
    longest = max(table.shape[1] for table in tables)
    padded = [np.pad(t, ((0, 0), (0, longest - t.shape[1])), constant_values=-1) for t in tables]
    last = np.iinfo(np.intp).max
    stacked = np.concatenate(padded)
    stacked = np.sort(np.where(stacked < 0, last, stacked), axis=1)
    degrees = (stacked != last).sum(axis=1)
    keyed, places = np.unique(np.column_stack([degrees, stacked]), axis=0, return_inverse=True)
    width = max(1, int(degrees.max(initial=0)))
    factors = np.where(keyed[:, 1:] == last, -1, keyed[:, 1:])
    factors = factors[:, :width] if factors.shape[1] >= width else np.full((len(factors), 1), -1)
    ends = np.cumsum([len(table) for table in tables])[:-1]
    return np.ascontiguousarray(factors, dtype=np.intp), np.split(places.ravel(), ends)


def _places(places: NDArray[np.intp], width: int) -> csr_array:
    """The matrix that moves entry i to places[i]; what meets there is added."""
    ones = np.ones(len(places))
    return csr_array((ones, places, np.arange(len(places) + 1)), shape=(len(places), width))


def _by_rows(a: Expansion, b: Expansion) -> Expansion:
    """Feature i of a times feature i of b, for every i."""
    factors, (places,) = _united(
        [
            np.concatenate(
                [np.repeat(a.factors, len(b.factors), axis=0), np.tile(b.factors, (len(a.factors), 1))], axis=1
            )
        ]
    )
    C = row_products(a.coefficients, b.coefficients)
    return Expansion(a.width, factors, csr_array(C @ _places(places, len(factors))))


def row_products(first: csr_array, second: csr_array) -> csr_array:
    """All products of an entry of a row of one table and one of the same row of another; zeros are not stored.

    Each entry of the first table meets the whole row of the second: those rows are copied, scaled and moved.
    """
    width = second.shape[1]
    row = np.repeat(np.arange(first.shape[0]), np.diff(first.indptr))
    copies = second[row]
    room = np.diff(copies.indptr)
    values = copies.data * np.repeat(first.data, room)
    columns = copies.indices.astype(np.int64) + np.repeat(first.indices.astype(np.int64) * width, room)
    starts = copies.indptr[first.indptr]
    return csr_array((values, columns, starts), shape=(first.shape[0], first.shape[1] * width))
