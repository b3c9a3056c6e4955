"""The law suite must accept every operator and reject every broken one, by the right law."""

import numpy as np
import pytest

from mercer.operators import Dense, Diagonal, LowRank, Operator, Sum
from mercer.testing import check_operator
from mercer.testing.operator import LAWS

SHAPES = [(6, 6), (7, 4), (4, 7), (1, 5), (5, 1), (1, 1)]


def draw(*shape, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_family_obeys_the_laws(shape, dtype):
    n, m = shape
    A, L, R = draw(n, m, dtype=dtype), draw(n, 2, dtype=dtype), draw(m, 2, dtype=dtype)
    check_operator(Dense(A))
    check_operator(Dense(A).T)
    check_operator(Dense(A @ A.T, symmetric=True))
    check_operator(LowRank(L, R))
    check_operator(LowRank(L))
    check_operator(Diagonal(draw(n, dtype=dtype)))
    check_operator(LowRank(L) + Diagonal(draw(n, dtype=dtype)))
    check_operator(LowRank(L, draw(n, 2, dtype=dtype, seed=1)).ridge(0.5))
    check_operator(2 * Dense(A) - LowRank(L, R))
    check_operator(-LowRank(L))


def test_mixed_dtypes_obey_the_laws():
    narrow, wide = draw(6, 6, dtype=np.float32), draw(6, 6)
    check_operator(Dense(narrow) + Dense(wide))
    check_operator(Sum([Dense(wide), Dense(narrow)], [1.0, -2.0]))
    check_operator(LowRank(narrow[:, :2], wide[:, :2]))
    check_operator(LowRank(narrow[:, :2]) + Diagonal(wide[0]))
    check_operator(LowRank(wide[:, :2]) + Diagonal(narrow[0]))
    check_operator(LowRank(narrow[:, :2]) + Dense(wide))


class Mine(Operator):
    """A right one of one's own, with no more than the four hooks."""

    def __init__(self, symmetric=False):
        self.matrix = draw(5, 5)
        super().__init__((5, 5), np.float64, symmetric)

    def _multiply(self, V):
        return self.matrix @ V

    def _transposed(self):
        return Dense(self.matrix.T)

    def _block(self, i, j):
        return self.matrix[i][:, j].copy()

    def diagonal(self):
        return self.matrix.diagonal().copy()


def test_an_operator_of_your_own_obeys_the_laws():
    check_operator(Mine())


class Mutable(Mine):
    __setattr__ = object.__setattr__


class WrongShape(Mine):
    def _block(self, i, j):
        return self.matrix[:4][i][:, j]


class HandsOutItsMatrix(Mine):
    def _block(self, i, j):
        return self.matrix[i][:, j]


class ReadOnly(Mine):
    def diagonal(self):
        return self.matrix.diagonal()


class ChangesItsInput(Mine):
    def _multiply(self, V):
        result = self.matrix @ V
        V *= 2
        return result


class Shifted(Mine):
    def _multiply(self, V):
        return self.matrix @ V + 1e-6


class Clipped(Mine):
    """Right for vectors of common size only."""

    def _multiply(self, V):
        return self.matrix @ np.clip(V, -1e6, 1e6)


class FlipsColumns(Mine):
    """Right for a vector, wrong for columns."""

    def _multiply(self, V):
        return (self.matrix @ V)[:, ::-1]


class SquareOnly(Mine):
    """Multiplies like another matrix than it shows."""

    def _multiply(self, V):
        return self.matrix.T @ V


class ClaimsSymmetry(Mine):
    def __init__(self):
        super().__init__(symmetric=True)

    def __rmatmul__(self, V):
        return V @ self.matrix


class SymmetricButAnother(Mine):
    """Symmetric, yet its transpose is another object."""

    def __init__(self):
        super().__init__(symmetric=True)
        self.__dict__["matrix"] = self.matrix + self.matrix.T

    @property
    def T(self):  # noqa: N802
        return Dense(self.matrix)


class NotTransposed(Mine):
    def _transposed(self):
        return self

    def __rmatmul__(self, V):
        return V @ self.matrix


class TransposedArray(Mine):
    def _transposed(self):
        return self.matrix.T


class LastColumnAsDiagonal(Mine):
    def diagonal(self):
        return self.matrix[:, -1].copy()


class NarrowDiagonal(Mine):
    def diagonal(self):
        return np.round(self.matrix.diagonal(), 13).astype(np.longdouble)


class IgnoresTheOrder(Mine):
    def rows(self, indices):
        every = np.arange(5)
        return self.matrix[np.sort(every[indices if isinstance(indices, slice) else np.asarray(indices, dtype=int)])]


class AcceptsAnyRow(Mine):
    def rows(self, indices):
        if isinstance(indices, list) and indices == [5]:
            return self.matrix[:1].copy()
        return super().rows(indices)


class PairsInsteadOfBlocks(Mine):
    """Right for slices, wrong where both are positions."""

    def _block(self, i, j):
        if isinstance(i, slice) or isinstance(j, slice):
            return super()._block(i, j)
        return np.resize(self.matrix[i[: len(j)]][:, j[: len(i)]].copy(), (len(i), len(j))) * (len(i) == len(j))


class AlwaysDouble(Mine):
    """Single precision that answers in double."""

    def __init__(self):
        super().__init__()
        self.__dict__.update(matrix=self.matrix.astype(np.float32), dtype=np.dtype(np.float32))

    def _multiply(self, V):
        return self.matrix.astype(np.float64) @ V


class AcceptsAnyShape(Mine):
    def __matmul__(self, V):
        return super().__matmul__(V[:5] if isinstance(V, np.ndarray) else V)


class HidesMissingValues(Mine):
    def _multiply(self, V):
        return self.matrix @ np.nan_to_num(V)


class SpreadsMissingValues(Mine):
    def _multiply(self, V):
        return self.matrix @ V + 0 * V.sum()


class ForgetsTheResult(Mine):
    def peak(self, columns=1):
        return 8


class GuessesThePeak(Mine):
    def peak(self, columns=1):
        return 1e6


class BadScale(Mine):
    def _scaled(self, factor):
        return self


class BadRidge(Mine):
    def ridge(self, alpha):
        return self + Diagonal(np.asarray(alpha) * np.arange(5.0))


class ForeignMatvec(Mine):
    def _matvec(self, x):
        return 2 * (self.matrix @ x)


class ForeignAdjoint(Mine):
    def _adjoint(self):
        return self


BROKEN = {
    Mutable: "value",
    WrongShape: "value",
    HandsOutItsMatrix: "data",
    ReadOnly: "data",
    ChangesItsInput: "data",
    Shifted: "linearity",
    Clipped: "linearity",
    FlipsColumns: "the product",
    SquareOnly: "the product",
    ClaimsSymmetry: "symmetry",
    SymmetricButAnother: "symmetry",
    NotTransposed: "the transpose",
    TransposedArray: "the transpose",
    LastColumnAsDiagonal: "the diagonal",
    NarrowDiagonal: "the diagonal",
    IgnoresTheOrder: "rows",
    AcceptsAnyRow: "rows",
    PairsInsteadOfBlocks: "the block",
    AlwaysDouble: "dtype",
    AcceptsAnyShape: "shapes",
    HidesMissingValues: "missing values",
    SpreadsMissingValues: "missing values",
    ForgetsTheResult: "the peak",
    GuessesThePeak: "the peak",
    BadScale: "arithmetic",
    BadRidge: "arithmetic",
    ForeignMatvec: "SciPy",
    ForeignAdjoint: "SciPy",
}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.__name__)
def test_broken_operators_are_rejected_by_the_right_law(broken):
    with pytest.raises(AssertionError, match=f"law of {BROKEN[broken]}:"):
        check_operator(broken())


def test_every_law_is_the_one_that_catches_something():
    assert set(LAWS) == set(BROKEN.values())
