"""The law suite must accept every right lift and reject every broken one, by the right law."""

import numpy as np
import pytest
from scipy.sparse import csr_array, hstack, issparse

from mercer.kernels import Linear
from mercer.lifts import Certificate, Lift
from mercer.lifts.randomness import generator
from mercer.testing import check_lift
from mercer.testing.lift import LAWS


class Mine(Lift):
    """A right one of one's own, with no more than the hooks: phi(x) = [x, c], so k(x, z) = x.z + c^2."""

    def __init__(self, constant=3.0):
        self.constant = constant

    @property
    def kernel(self):
        return Linear() + self.constant**2

    def learn(self, X):
        self.width_ = X.shape[1]

    def n_features(self):
        return self.width_ + 1

    def features(self, X):
        return np.column_stack([X, np.full(X.shape[0], self.constant, X.dtype)])

    def feature_names(self, inputs):
        return [*inputs, "c"]


class Sparse(Mine):
    """A right one that keeps sparse rows sparse."""

    takes_sparse = True

    def features(self, X):
        if issparse(X):
            ones = csr_array(np.full((X.shape[0], 1), self.constant, X.dtype))
            return hstack([csr_array(X), ones], format="csr")
        return super().features(X)


class Projected(Lift):
    """A right one that approximates: x.z by random projections (Johnson and Lindenstrauss)."""

    exact = False

    def __init__(self, n_components=40, random_state=None):
        self.n_components = n_components
        self.random_state = random_state

    kernel = Linear()

    def learn(self, X):
        draws = generator(self.random_state).normal(size=(X.shape[1], self.n_components))
        self.directions_ = draws / np.sqrt(self.n_components)

    def n_features(self):
        return self.n_components

    def features(self, X):
        return np.asarray(X @ self.directions_.astype(X.dtype))

    def feature_names(self, inputs):
        return [f"projection{i}" for i in range(1, self.n_features() + 1)]

    def certificate(self, X, delta=0.01):
        """|x'(G - I)z| <= |G - I| |x| |z|, which is computed, not estimated."""
        self.transform(X)  # refuses what cannot be lifted
        values = np.linalg.eigvalsh(self.directions_ @ self.directions_.T - np.eye(self.n_features_in_))
        bound = float(np.abs(values).max() * np.square(np.asarray(X)).sum(axis=1).max())
        return Certificate(bound, 1.0, "maximum", f"No value is off by more than {bound:.3g}.")


@pytest.mark.parametrize("lift", [Mine(), Mine(-0.5), Sparse(), Projected(), Projected(300, random_state=7)], ids=repr)
def test_lifts_of_your_own_obey_the_laws(lift):
    check_lift(lift)


def test_data_of_your_own():
    X = np.random.default_rng(0).normal(size=(9, 1))
    check_lift(Mine(), X)
    check_lift(Projected(5), X.tolist())
    check_lift(Mine(), np.eye(2))
    check_lift(Projected(5), [[1.0, 2.0]])


def test_a_fitted_lift_stays_as_it_is():
    phi = Projected(4, random_state=None).fit(np.eye(2))
    before = phi.directions_.copy()
    check_lift(phi)
    assert phi.random_state is None
    assert np.array_equal(phi.directions_, before)


class MissesAName(Mine):
    def feature_names(self, inputs):
        return inputs


class Infinite(Mine):
    def features(self, X):
        with np.errstate(all="ignore"):
            return super().features(X) / (X[:, :1] != 0)


class MiscountsItself(Mine):
    def n_features(self):
        return self.width_ + 2


class AnswersUnfitted(Mine):
    def certificate(self, X, delta=0.01):
        return Certificate(1.0, 1.0, "exact", "It is exact.")


class DrawsFromElsewhere(Projected):
    def learn(self, X):
        self.directions_ = np.random.default_rng().normal(size=(X.shape[1], self.n_components))


class DrawsWhenAsked(Mine):
    """Another sign at each call: the kernel is right, the features are not the same twice."""

    calls = 0

    def features(self, X):
        type(self).calls += 1
        return super().features(X) * (-1) ** self.calls


class RemembersThePast(Mine):
    def learn(self, X):
        super().learn(X)
        self.sign_ = -1 if hasattr(self, "sign_") else 1

    def features(self, X):
        return self.sign_ * super().features(X)


class ForgetsToCheck(Mine):
    """Fails before fit, but by accident."""

    def certificate(self, X, delta=0.01):
        return Certificate(1e-12 * self.width_, 1.0, "exact", "It is exact.")


class LeavesTraces(Mine):
    def features(self, X):
        self.last_ = X.shape
        return super().features(X)


class HandsOutTheData(Lift):
    kernel = Linear()

    def learn(self, X):
        self.width_ = X.shape[1]

    def n_features(self):
        return self.width_

    def features(self, X):
        return X

    def feature_names(self, inputs):
        return inputs


class KeepsTheData(Mine):
    """Measures from the first row, as a view of the table that it was fitted to."""

    kernel = None

    def learn(self, X):
        super().learn(X)
        self.origin_ = X[:1]
        self.kernel_ = (Linear() + 9.0).after(lambda rows: rows - self.origin_)

    def features(self, X):
        return super().features(X - self.origin_.astype(X.dtype))


class ChangesTheData(Mine):
    def features(self, X):
        result = super().features(X)
        X *= 0.5
        return result


class ReadOnly(Mine):
    def features(self, X):
        result = super().features(X)
        result.flags.writeable = False
        return result


class AcceptsMoreColumns(Mine):
    def transform(self, X):
        wide = np.ndim(X) == 2 and hasattr(self, "width_")
        return super().transform(X[:, : self.width_] if wide else X)


class CentresTheRows(Mine):
    """Depends on which rows come together."""

    def features(self, X):
        result = super().features(X)
        result[:, 0] += 0.001 * X[:, 0].mean()
        return result


class AlwaysDouble(Mine):
    def features(self, X):
        return super().features(X.astype(np.float64))


class NarrowInside(Mine):
    """Single precision, whatever comes: right in float32, and not to rounding in float64."""

    def features(self, X):
        return super().features(X.astype(np.float32)).astype(X.dtype)


class RoundsSingles(Mine):
    def features(self, X):
        return super().features(X.round(2) if X.dtype == np.float32 else X)


class SameNames(Mine):
    def feature_names(self, inputs):
        return ["x"] * (len(inputs) + 1)


class ForgetsTheColumns(Mine):
    """Names that speak of columns, but never of the given ones."""

    def feature_names(self, inputs):
        return [*(f"x{j + 1}" for j in range(len(inputs))), "c"]


class WrongWeight(Mine):
    """The constant of another kernel."""

    @property
    def kernel(self):
        return Linear() + self.constant


class RightNearby(Mine):
    """Right for common sizes only."""

    def features(self, X):
        return super().features(np.clip(X, -100, 100))


class SlightlyOff(Mine):
    def features(self, X):
        return super().features(X) * (1 + X.dtype.type(1e-10))


class OtherInduced(Mine):
    @property
    def induced(self):
        return 2 * super().induced


class ClaimsExactness(Projected):
    exact = True


class BoldCertificate(Projected):
    def certificate(self, X, delta=0.01):
        known = super().certificate(X, delta)
        return Certificate(known.bound / 1e3, 1.0, "maximum", known.sentence)


class NoSentence(Projected):
    def certificate(self, X, delta=0.01):
        return Certificate(super().certificate(X).bound, 1.0, "maximum", "")


class LessSureThanAsked(Projected):
    def certificate(self, X, delta=0.01):
        return Certificate(super().certificate(X).bound, 0.9, "maximum", "It is so.")


class GrowsWithDelta(Projected):
    def certificate(self, X, delta=0.01):
        return Certificate(super().certificate(X).bound * (1 + delta), 1 - delta, "maximum", "It is so.")


class InfiniteBound(Projected):
    def certificate(self, X, delta=0.01):
        super().certificate(X)
        return Certificate(np.inf, 1.0, "maximum", "Who knows.")


class IgnoresSparseSigns(Sparse):
    def features(self, X):
        return super().features(abs(X) if issparse(X) else X)


class SparseAlways(Sparse):
    def features(self, X):
        return csr_array(super().features(X))


class TakesSparseSilently(Mine):
    """Says that it does not take sparse tables, but does."""

    def _read(self, X, reset):
        return super()._read(X.toarray() if issparse(X) else X, reset)


class HoldsAFunction(Mine):
    def learn(self, X):
        super().learn(X)
        self.function_ = lambda rows: rows

    def features(self, X):
        return super().features(self.function_(X))


class LosesItsState(Mine):
    def learn(self, X):
        super().learn(X)
        self.sign_ = -1

    def features(self, X):
        return getattr(self, "sign_", 1) * super().features(X)

    def __getstate__(self):
        return {name: value for name, value in super().__getstate__().items() if name != "sign_"}


class IgnoresFrames(Mine):
    """Knows names that are given, but not those of a frame."""

    def _inputs(self, given):
        return [f"x{j + 1}" for j in range(self.width_)] if given is None else super()._inputs(given)


class OverridesTransform(Mine):
    """Scales in `transform` what the parts of a composition never see."""

    @property
    def kernel(self):
        return 4 * super().kernel

    def transform(self, X):
        return 2 * super().transform(X)

    @property
    def induced(self):
        return 4 * super().induced


class OwnSum(Mine):
    def __add__(self, other):
        return self


BROKEN = {
    MissesAName: "shape",
    Infinite: "shape",
    MiscountsItself: "shape",
    AnswersUnfitted: "the unfitted",
    ForgetsToCheck: "the unfitted",
    DrawsFromElsewhere: "value",
    DrawsWhenAsked: "value",
    RemembersThePast: "value",
    LeavesTraces: "value",
    HandsOutTheData: "data",
    KeepsTheData: "data",
    ChangesTheData: "data",
    ReadOnly: "data",
    AcceptsMoreColumns: "columns",
    CentresTheRows: "rows",
    AlwaysDouble: "dtype",
    RoundsSingles: "dtype",
    SameNames: "names",
    ForgetsTheColumns: "names",
    WrongWeight: "the kernel",
    RightNearby: "the kernel",
    SlightlyOff: "the kernel",
    NarrowInside: "the kernel",
    OtherInduced: "the kernel",
    ClaimsExactness: "the kernel",
    BoldCertificate: "the kernel",
    NoSentence: "the certificate",
    LessSureThanAsked: "the certificate",
    GrowsWithDelta: "the certificate",
    InfiniteBound: "the certificate",
    IgnoresSparseSigns: "sparse tables",
    SparseAlways: "sparse tables",
    TakesSparseSilently: "sparse tables",
    HoldsAFunction: "pickle",
    LosesItsState: "pickle",
    IgnoresFrames: "frames",
    OverridesTransform: "composition",
    OwnSum: "composition",
}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.__name__)
def test_broken_lifts_are_rejected_by_the_right_law(broken):
    with pytest.raises(AssertionError, match=f"law of {BROKEN[broken]}:"):
        check_lift(broken())


def test_every_law_is_the_one_that_catches_something():
    assert set(LAWS) == set(BROKEN.values())
