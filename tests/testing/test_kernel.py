"""The law suite must accept every kernel and reject every broken one, by the right law."""

import numpy as np
import pytest

import mercer
from mercer.compute.codegen.symbols import Symbol
from mercer.errors import InputError
from mercer.kernels import Coordinate, Dot, Gaussian, Kernel, Linear, Min, Polynomial, Radial, Sigmoid, Sinc
from mercer.kernels.domain import REALS
from mercer.kernels.proof.judgement import Fact
from mercer.testing import check_kernel


def test_data_can_be_given():
    check_kernel(Gaussian(), X=np.random.default_rng(0).normal(size=(10, 3)))
    check_kernel(Linear().on([6]))
    with pytest.raises(InputError, match="Give d"):
        check_kernel(Linear().on([60]))


@pytest.mark.parametrize("kernel", [Sigmoid(), mercer.kernels.Epanechnikov(), Sigmoid(1.0, -1.0)])
def test_what_is_no_kernel_is_rejected(kernel):
    with pytest.raises(AssertionError, match=r"breaks the law of (eigenvalues|the diagonal)"):
        check_kernel(kernel, d=1)


def test_validity_is_by_dimension():
    check_kernel(Sinc(), d=3)
    with pytest.raises(AssertionError, match="law of eigenvalues"):
        check_kernel(Sinc(), d=4)


class Cauchy(Radial):
    """A right one: a class and a method."""

    lengthscale: float = 1.0

    def profile(self, u):
        return 1 / (1 + u)


def test_a_kernel_of_your_own_obeys_the_laws():
    check_kernel(Cauchy(2.0))
    check_kernel(Cauchy(2.0) * Gaussian() + Cauchy(0.5))


class Lopsided(Kernel):
    def evaluate(self, pairs):
        return pairs.dot() + pairs.left.values[:, :1]

    def evaluate_diagonal(self, points):
        return (points.values**2).sum(axis=1) + points.values[:, 0]


class WrongDiagonal(Dot):
    def profile(self, t):
        return t

    def evaluate_diagonal(self, points):
        return np.ones(len(points.values))


class NegativeDiagonal(Dot):
    def profile(self, t):
        return -t


class Indefinite(Radial):
    def profile(self, u):
        return np.exp(-u * u)


class LyingFacts(Radial):
    """Claims to be proven, on the word of a fact that is false."""

    def profile(self, u):
        return np.maximum(0.0, 1 - u)

    def facts(self):
        return (Fact(REALS, "because I say so"),)


class Mutable(Dot):
    size: float = 1.0

    def profile(self, t):
        return self.size * t


Mutable.__setattr__ = object.__setattr__


class UnequalTwins(Dot):
    size: float = 1.0

    def profile(self, t):
        return t

    def __eq__(self, other):
        return self is other

    __hash__ = Kernel.__hash__


class OtherText(Dot):
    size: float = 1.0

    def profile(self, t):
        return self.size * t

    def write(self, python):
        return "linear", 3


class DoublePrecisionOnly(Dot):
    """Gives float64 whatever the data is."""

    def profile(self, t):
        return t

    def __call__(self, X, Z=None):
        return np.asarray(super().__call__(X, Z), dtype=np.float64)


class HalfPrecision(Dot):
    """Loses digits inside."""

    def profile(self, t):
        return t.astype(np.float32).astype(np.float64) if t.dtype != object else t


class SeesTheOrder(Dot):
    """Adds the position of a row to its value."""

    def profile(self, t):
        return t

    def evaluate(self, pairs):
        left, right = len(pairs.left.values), len(pairs.right.values)
        return pairs.dot() + 5 * (np.arange(left)[:, None] == np.arange(right)[None, :])

    def evaluate_diagonal(self, points):
        return (points.values**2).sum(axis=1) + 5


class SeesTheBatch(Dot):
    """Divides by the number of rows."""

    def profile(self, t):
        return t

    def evaluate(self, pairs):
        return pairs.dot() / len(pairs.left.values)

    def evaluate_diagonal(self, points):
        return (points.values**2).sum(axis=1) / len(points.values)


class ChangesTheData(Dot):
    def profile(self, t):
        return t

    def __call__(self, X, Z=None):
        result = super().__call__(X, Z)
        if isinstance(X, np.ndarray) and len(X) > 20:
            X[0, 0] += 1e-3
        return result


class NotANumberFarAway(Radial):
    argument = "distance"

    def profile(self, u):
        return (1 + u) * np.exp(-u)


class AcceptsAnything(Min):
    """States a domain and does not defend it."""

    def __call__(self, X, Z=None):
        return super().__call__(np.abs(X), None if Z is None else np.abs(Z))


class BadSum(Dot):
    """Adds to itself wrongly."""

    def profile(self, t):
        return t

    def __add__(self, other):
        return Polynomial(2)


class BadDistance(Dot):
    def profile(self, t):
        return t

    def distance(self, X, Z=None):
        return self(X, Z)


class ForgetsNearPoints(Radial):
    """Loses to cancellation what `gap` is there to keep."""

    def profile(self, u):
        return np.exp(-u / 2)

    def gap(self, u):
        return 1 - self.profile(u)


class OtherFormula(Radial):
    """Writes down another formula than the one that it computes."""

    def profile(self, u):
        return np.exp(-1.001 * u) if isinstance(u, Symbol) else np.exp(-u)


class OtherFormulaInFloat32(Radial):
    """Right in float64; in float32 the square inside the root is below all numbers."""

    def profile(self, u):
        return 1e25 * np.sqrt(np.square(1e-25 * np.exp(-u))) if isinstance(u, Symbol) else np.exp(-u)


class ForgetsParameters(Dot):
    size: float = 1.0

    def profile(self, t):
        return self.size * t

    def set_params(self, **changes):
        return type(self)(size=5.0)


class BlindToPrecision(Coordinate):
    """Its formula in 50 digits is another one."""

    def term(self, x, z):
        return x * z if x.dtype != object else x * z * 2


class OtherLift(Dot):
    """Its features are those of another kernel."""

    def profile(self, t):
        return t

    def finite_lift(self, build):
        return build.polynomial(degree=2, offset=1.0)


class Miscounted(Dot):
    """It has another number of features than it says."""

    def profile(self, t):
        return t

    def finite_lift(self, build):
        return build.functions(self, 1)

    def features_of(self, X):
        return X

    def names_of(self, inputs):
        return ["x"]


class Unnamed(Miscounted):
    """It does not name all of its features."""

    def finite_lift(self, build):
        return build.functions(self, build.n_columns)


BROKEN = {
    Lopsided: "symmetry",
    WrongDiagonal: "the diagonal",
    NegativeDiagonal: "the diagonal",
    Indefinite: "eigenvalues",
    LyingFacts: "eigenvalues",
    Mutable: "value",
    UnequalTwins: "value",
    OtherText: "text",
    DoublePrecisionOnly: "dtype",
    HalfPrecision: "precision",
    SeesTheOrder: "rows",
    SeesTheBatch: "symmetry",
    ChangesTheData: "data",
    NotANumberFarAway: "limits",
    AcceptsAnything: "domain",
    BadSum: "closure",
    BadDistance: "distance",
    ForgetsNearPoints: "near points",
    OtherFormula: "paths",
    OtherFormulaInFloat32: "paths",
    ForgetsParameters: "parameters",
    BlindToPrecision: "precision",
    OtherLift: "the lift",
    Miscounted: "the lift",
    Unnamed: "the lift",
}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.__name__)
def test_broken_kernels_are_rejected_by_the_right_law(broken):
    with pytest.raises(AssertionError, match=f"law of {BROKEN[broken]}"):
        check_kernel(broken())


def test_every_law_is_the_one_that_catches_something():
    from mercer.testing.kernel import LAWS

    assert set(LAWS) == set(BROKEN.values())
