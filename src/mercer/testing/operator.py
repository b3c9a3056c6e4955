"""The laws of operators. `check_operator` raises AssertionError with the name of the first law that is broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import aslinearoperator

from mercer.errors import InputError, speaks
from mercer.operators import Operator, Sum
from mercer.testing.laws import require

Matrix = NDArray[Any]
TOLERANCE = {"float32": 1e-5, "float64": 1e-11}
"""How much of its largest entry a result may be off, times the size of what it was multiplied with."""
COLUMNS = 3


@speaks
def check_operator(operator: Operator) -> None:
    """Check an operator against the laws of its kind; `to_dense` is the reference.

    The laws: value (frozen), data (what comes in stays as it is, and what comes out can be changed freely), product
    (with vectors and columns, from both sides), linearity, transpose, symmetry, the diagonal, rows, block, dtype,
    shapes (wrong ones are refused), missing values (NaN stays NaN, in its own column), peak, arithmetic, SciPy. Cost:
    some 50 products, and some 10 matrices of n m numbers; give an operator of a few hundred rows.

    Parameters
    ----------
    operator : Operator
        Its entries are finite.

    Raises
    ------
    AssertionError
        with the name of the law and what broke it

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.operators import LowRank
    >>> from mercer.testing import check_operator
    >>> check_operator(LowRank(np.ones((5, 2)), np.ones((3, 2))))
    >>> check_operator(LowRank(np.ones((5, 2))).ridge(0.1))
    """
    dense = operator.to_dense()
    for name, law in LAWS.items():
        try:
            law(operator, dense.copy())
        except AssertionError as broken:
            raise AssertionError(f"{operator!r} breaks the law of {name}: {broken}") from broken


def vectors(operator: Operator, length: int, seed: int = 0) -> Matrix:
    """Random columns in the operator's dtype."""
    draws = np.random.default_rng(seed).normal(size=(length, COLUMNS))
    return draws.astype(operator.dtype)


def tolerance(operator: Operator) -> float:
    """What the dtype of the work decides; in a sum, that of its narrowest term."""
    terms = operator.terms if isinstance(operator, Sum) else (operator,)
    return max(TOLERANCE[term.dtype.name] for term in terms)


def close(found: Any, wanted: Any, what: str, size: float, operator: Operator) -> None:
    """Fail unless two arrays agree to a part of a size."""
    require(isinstance(found, np.ndarray), f"{what} is {type(found).__name__} instead of an array")
    require(found.shape == wanted.shape, f"{what}: the shape is {found.shape} instead of {wanted.shape}")
    gap = float(np.abs(found - wanted).max(initial=0.0))
    allowed = tolerance(operator) * max(size, 1e-300)
    require(gap <= allowed, f"{what}: the difference is {gap:.3g}, at most {allowed:.3g} is allowed")


def product_close(operator: Operator, found: Any, A: Matrix, V: Matrix, what: str) -> None:
    """Fail unless something is A V, to a part of |A| |V|, which is what rounding in a product is relative to."""
    wide = A.astype(np.float64)
    close(found, wide @ V, what, float((np.abs(wide) @ np.abs(V)).max()), operator)


def law_of_value(operator: Operator, A: Matrix) -> None:
    """Frozen, and of the shape and dtype that it states."""
    n, m = operator.shape
    require(A.shape == (n, m), f"to_dense gives the shape {A.shape} instead of {(n, m)}")
    require(A.dtype == operator.dtype, f"to_dense gives {A.dtype} instead of {operator.dtype}")
    for name in ("shape", "dtype", "symmetric"):
        try:
            setattr(operator, name, getattr(operator, name))
        except FrozenInstanceError:
            continue
        raise AssertionError(f"{name} can be set")


def law_of_data(operator: Operator, A: Matrix) -> None:
    """V is left unchanged, and writing into an answer does not change the operator."""
    V = vectors(operator, A.shape[1])
    before = V.copy()
    answers: tuple[Callable[[], Matrix], ...] = (
        lambda: operator @ V,
        lambda: operator @ V[:, 0],
        operator.diagonal,
        lambda: operator.rows([0]),
        lambda: operator.rows(slice(None)),
        lambda: operator.block([0], [0]),
        operator.to_dense,
    )
    for answer in answers:
        first = answer()
        kept = first.copy()
        require(first.flags.writeable, "an answer is read-only")
        first += 1
        require(np.array_equal(V, before), "the vectors were changed")
        require(np.array_equal(answer(), kept), "the same question has another answer after the first was changed")


def law_of_the_product(operator: Operator, A: Matrix) -> None:
    """A @ V is what the dense matrix gives, for columns, for a vector, and from the left."""
    V, U = vectors(operator, A.shape[1]), vectors(operator, A.shape[0])
    product_close(operator, operator @ V, A, V, "A @ V")
    product_close(operator, operator @ V[:, 0], A, V[:, 0], "A @ v")
    product_close(operator, operator @ V[:, :1], A, V[:, :1], "A @ V of one column")
    product_close(operator, operator @ np.asfortranarray(V)[:, ::-1], A, V[:, ::-1], "A @ V of other strides")
    product_close(operator, (U.T @ operator).T, A.T, U, "V @ A")
    product_close(operator, U[:, 0] @ operator, A.T, U[:, 0], "v @ A")


def law_of_linearity(operator: Operator, A: Matrix) -> None:
    """A (2.5 u - v) is 2.5 A u - A v, whatever else was asked before, and A 0 is 0."""
    U, V = vectors(operator, A.shape[1], seed=1), vectors(operator, A.shape[1], seed=2)
    apart = 2.5 * (operator @ U) - operator @ V
    size = float((np.abs(A) @ (2.5 * np.abs(U) + np.abs(V))).max())
    close(operator @ (2.5 * U - V), apart, "A (2.5 u - v)", size, operator)
    huge = operator.dtype.type(2.0**40)  # a power of two, so that no digit changes
    close(operator @ (U * huge), (operator @ U) * huge, "A (2^40 u)", size * float(huge), operator)
    require(not (operator @ np.zeros_like(U)).any(), "A 0 is not 0")


def law_of_the_transpose(operator: Operator, A: Matrix) -> None:
    """The transpose is an operator with the transposed matrix, and u' (A v) is (A' u)' v."""
    other = operator.T
    require(isinstance(other, Operator), f"A.T is {type(other).__name__}, which is no Operator")
    require(other.shape == A.shape[::-1], f"A.T has the shape {other.shape}")
    require(other.dtype == operator.dtype, f"A.T has dtype {other.dtype}")
    U, V = vectors(operator, A.shape[0], seed=1), vectors(operator, A.shape[1], seed=2)
    size = float((np.abs(U).T @ np.abs(A) @ np.abs(V)).max())
    close((other @ U).T @ V, U.T @ (operator @ V), "(A' u)' v against u' (A v)", size, operator)
    close(other.to_dense(), A.T, "A.T.to_dense()", float(np.abs(A).max()), operator)
    close(other.T.to_dense(), A, "A.T.T.to_dense()", float(np.abs(A).max()), operator)


def law_of_symmetry(operator: Operator, A: Matrix) -> None:
    """What says that it is symmetric is so, to rounding, and is its own transpose."""
    if operator.symmetric:
        require(A.shape[0] == A.shape[1], f"it says that it is symmetric, but its shape is {A.shape}")
        close(A, A.T, "A against A.T", float(np.abs(A).max()), operator)
        require(operator.T is operator, "it is symmetric, but A.T is not A")


def law_of_the_diagonal(operator: Operator, A: Matrix) -> None:
    """The diagonal is that of the matrix."""
    close(operator.diagonal(), A.diagonal(), "diagonal()", float(np.abs(A).max()), operator)
    require(operator.diagonal().dtype == operator.dtype, f"diagonal() has dtype {operator.diagonal().dtype}")


def _choices(length: int) -> list[Any]:
    """Ways to say which rows: positions in any order, twice, from the end; a mask; slices; none."""
    mask = np.arange(length) % 2 == 0
    return [[length - 1, 0, length // 2, 0], [-1], mask, mask.tolist(), slice(1, None, 2), slice(None, None, -1), []]


def law_of_rows(operator: Operator, A: Matrix) -> None:
    """Rows are those of the matrix; rows that are not there are refused."""
    for chosen in _choices(A.shape[0]):
        close(operator.rows(chosen), A[_plain(chosen)], f"rows({chosen})", float(np.abs(A).max()), operator)
    for outside in ([A.shape[0]], [-A.shape[0] - 1], np.ones(A.shape[0] + 1, dtype=bool), [0.5], 0):
        _refuses(lambda: operator.rows(outside), f"rows({outside!r})")  # noqa: B023  # called at once


def law_of_the_block(operator: Operator, A: Matrix) -> None:
    """Blocks are those of the matrix, for each way to say which rows and columns."""
    for i in _choices(A.shape[0]):
        for j in _choices(A.shape[1]):
            wanted = A[_plain(i)][:, _plain(j)]
            close(operator.block(i, j), wanted, f"block({i}, {j})", float(np.abs(A).max()), operator)
    require(operator.block([0], [0]).dtype == operator.dtype, f"block gives {operator.block([0], [0]).dtype}")
    _refuses(lambda: operator.block([0], [A.shape[1]]), f"block([0], [{A.shape[1]}])")


def law_of_dtype(operator: Operator, A: Matrix) -> None:
    """The result has NumPy's dtype for A and V; integers are taken as they are."""
    for kind in (np.float32, np.float64, np.int64, np.int8, np.bool_):
        V = np.random.default_rng(4).integers(0, 2, size=(A.shape[1], COLUMNS)).astype(kind)
        found, wanted = operator @ V, np.result_type(operator.dtype, kind)
        require(found.dtype == wanted, f"A of {operator.dtype} @ V of {V.dtype} gives {found.dtype}, not {wanted}")
        product_close(operator, found, A, V, f"A @ V of {V.dtype}")


def law_of_shapes(operator: Operator, A: Matrix) -> None:
    """A V that does not fit is refused, and so is what holds no real numbers."""
    n, m = A.shape
    misfits: list[Any] = [np.ones(m + 1), np.ones((m + 1, 2)), np.ones((m, 1, 1)), np.ones(m) * 1j, ["a"] * m, operator]
    for V in misfits:
        _refuses(lambda: operator @ V, f"A @ V for V of shape {np.shape(V)}")  # noqa: B023  # called at once
    _refuses(lambda: np.ones((2, n + 1)) @ operator, f"V @ A for V of shape (2, {n + 1})")


def law_of_missing_values(operator: Operator, A: Matrix) -> None:
    """NaN in V gives NaN wherever A has an entry to meet it, and nowhere in other columns."""
    V = vectors(operator, A.shape[1])
    row = int(np.abs(A).sum(axis=0).argmax())
    V[row, 1] = np.nan
    found = operator @ V
    require(np.isnan(found[A[:, row] != 0, 1]).all(), "a NaN in V was lost")
    product_close(operator, np.delete(found, 1, axis=1), A, np.delete(V, 1, axis=1), "the columns beside a NaN")


def law_of_the_peak(operator: Operator, A: Matrix) -> None:
    """The predicted peak counts at least the result, and grows with the columns."""
    for columns in (1, COLUMNS):
        found, least = operator.peak(columns), A.shape[0] * columns * operator.dtype.itemsize
        require(isinstance(found, int), f"peak({columns}) is {type(found).__name__}, not int")
        require(found >= least, f"peak({columns}) is {found} bytes, less than the {least} of the result")
    require(operator.peak() == operator.peak(1) <= operator.peak(2), "peak() does not grow with the columns")


def law_of_arithmetic(operator: Operator, A: Matrix) -> None:
    """Sums, multiples and ridges have the entries that plain arithmetic gives, and multiply as such."""
    cases: dict[str, tuple[Operator, Matrix]] = {
        "A + A": (operator + operator, A + A),
        "2.5 * A": (2.5 * operator, 2.5 * A),
        "-A": (-operator, -A),
        "A / 4": (operator / 4, A / 4),
        "2 * A - A": (2 * operator - operator, A),
    }
    if A.shape[0] == A.shape[1]:
        penalties = np.linspace(0, 1, len(A))
        cases["A.ridge(0.5)"] = (operator.ridge(0.5), A + 0.5 * np.eye(len(A), dtype=A.dtype))
        cases["A.ridge(vector)"] = (operator.ridge(penalties), A + np.diag(penalties).astype(A.dtype))
    V = vectors(operator, A.shape[1])
    size = 3 * float(np.abs(A).max()) + 1
    for name, (found, wanted) in cases.items():
        close(found.to_dense(), wanted, name, size, operator)
        close(found @ V, wanted @ V, f"({name}) @ V", size * float(np.abs(V).sum()), operator)
        require(found.dtype == operator.dtype, f"{name} has dtype {found.dtype}")


def law_of_scipy(operator: Operator, A: Matrix) -> None:
    """SciPy takes it as it is, and its names give the same products."""
    other = aslinearoperator(operator)
    require(other.shape == A.shape and other.dtype == operator.dtype, "SciPy sees another shape or dtype")
    V, U = vectors(operator, A.shape[1]), vectors(operator, A.shape[0])
    product_close(operator, other.matvec(V[:, 0]), A, V[:, 0], "matvec")
    product_close(operator, other.rmatvec(U[:, 0]), A.T, U[:, 0], "rmatvec")
    product_close(operator, other.matmat(V[:, :1]), A, V[:, :1], "matmat of one column")
    product_close(operator, other.matmat(V), A, V, "matmat")
    product_close(operator, other.rmatmat(U), A.T, U, "rmatmat")
    product_close(operator, other.H @ U, A.T, U, "H @ V")
    product_close(operator, other.dot(V), A, V, "dot")
    product_close(operator, other(V), A, V, "A(V)")


def _plain(chosen: Any) -> Any:
    """The same choice as NumPy takes it: an empty list is one of integers."""
    return chosen if isinstance(chosen, slice) or len(chosen) else np.empty(0, dtype=int)


def _refuses(action: Callable[[], Any], what: str) -> None:
    try:
        action()
    except InputError:
        return
    raise AssertionError(f"{what} was accepted")


LAWS: dict[str, Callable[[Operator, Matrix], None]] = {
    "value": law_of_value,
    "data": law_of_data,
    "linearity": law_of_linearity,
    "the product": law_of_the_product,
    "symmetry": law_of_symmetry,
    "the transpose": law_of_the_transpose,
    "the diagonal": law_of_the_diagonal,
    "rows": law_of_rows,
    "the block": law_of_the_block,
    "dtype": law_of_dtype,
    "shapes": law_of_shapes,
    "missing values": law_of_missing_values,
    "the peak": law_of_the_peak,
    "arithmetic": law_of_arithmetic,
    "SciPy": law_of_scipy,
}
