"""Sums, products and multiples of lifts, against plain arithmetic on features and on kernel matrices."""

import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_array, csr_array, csr_matrix, hstack, issparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from mercer.compute.runtime.memory import Budget
from mercer.errors import BudgetError, InputError, KernelError
from mercer.kernels import Linear, Spectrum
from mercer.lifts.algebra import linear, row_products
from mercer.lifts.base import Lift
from mercer.lifts.certificate import Certificate
from mercer.lifts.composition import kernel_of, longest, unique
from mercer.lifts.concatenation import Concatenation
from mercer.lifts.counts import Counts
from mercer.lifts.exact import Exact
from mercer.lifts.fourier import RandomFourier
from mercer.lifts.nystrom import Nystrom
from mercer.lifts.polynomial import Polynomial
from mercer.lifts.product import Product
from mercer.lifts.scaled import Scaled
from mercer.lifts.sketch import Sketch

X = np.random.default_rng(0).normal(size=(12, 3))


class Rows(Lift):
    """phi(x) = [x, c]: k(x, z) = x.z + c^2; sparse rows stay sparse."""

    takes_sparse = True

    def __init__(self, constant=1.0):
        self.constant = constant

    @property
    def kernel(self):
        return Linear() + self.constant**2

    def learn(self, X):
        self.width_ = X.shape[1]

    def n_features(self):
        return self.width_ + 1

    def features(self, X):
        ones = np.full((X.shape[0], 1), self.constant, X.dtype)
        return hstack([csr_array(X), csr_array(ones)], format="csr") if issparse(X) else np.hstack([X, ones])

    def feature_names(self, inputs):
        return [*inputs, f"{self.constant:g}"]


class Sums(Lift):
    """phi(x) = [x1 + x2, x1 - x2], which are polynomials: k(x, z) = 2 x.z on the first two columns."""

    @property
    def kernel(self):
        return 2 * Linear().on([0, 1])

    def learn(self, X):
        matrix = np.zeros((2, X.shape[1]))
        matrix[:, :2] = [[1, 1], [1, -1]]
        self.expansion_ = linear(matrix)

    def n_features(self):
        return 2

    def features(self, X):
        return np.ascontiguousarray(X @ self.expansion_.coefficients.toarray().T.astype(X.dtype))

    def feature_names(self, inputs):
        return self.expansion_.names(inputs)


class Off(Lift):
    """Features of x.z that are right for most rows, and too long for those with a large first column."""

    exact = False

    def __init__(self, limit=1.0, stretch=1.5, kind="mean", kernel="linear", fails=0.0):
        self.limit = limit
        self.stretch = stretch
        self.kind = kind
        self.kernel = kernel
        self.fails = fails

    def learn(self, X):
        self.kernel_ = Linear()

    def n_features(self):
        return self.n_features_in_

    def features(self, X):
        return np.where(X[:, :1] > self.limit, X.dtype.type(self.stretch), X.dtype.type(1)) * X

    def feature_names(self, inputs):
        return inputs

    def certificate(self, X, delta=0.01):
        """What is true, to the last digit; it fails with the probability that it may."""
        gaps = errors(self, X)
        bound = gaps.mean() if self.kind == "mean" else gaps.max()
        return Certificate(float(bound), 1 - self.fails * delta, self.kind, "It is so.")


def errors(phi, X):
    """|phi(x).phi(z) - k(x, z)| for all pairs, by plain matrices."""
    features, kernel = np.asarray(phi.transform(X), dtype=np.float64), kernel_of(phi)
    values = np.concatenate([kernel(X[start : start + 400], X) for start in range(0, len(X), 400)])
    return np.abs(features @ features.T - values)


# -- features ----------------------------------------------------------------------------------------------------


def test_a_sum_has_the_features_side_by_side():
    phi = (Rows(2.0) + Sums()).fit(X)
    wanted = np.column_stack([X, np.full(12, 2.0), X[:, 0] + X[:, 1], X[:, 0] - X[:, 1]])
    np.testing.assert_array_equal(phi.transform(X), wanted)


def test_a_product_has_all_products_of_features_those_of_the_second_running_fastest():
    phi = (Rows(2.0) * Sums()).fit(X)
    first, second = Rows(2.0).fit(X).transform(X), Sums().fit(X).transform(X)
    np.testing.assert_array_equal(phi.transform(X), [np.kron(a, b) for a, b in zip(first, second, strict=True)])


@pytest.mark.parametrize(
    "factor", [2, -0.5, np.float64(3.0), np.float32(0.25), np.float16(0.5), np.int64(7), Fraction(1, 3)]
)
def test_a_number_scales_every_feature(factor):
    phi = (factor * Rows()).fit(X)
    assert isinstance(phi, Scaled)
    np.testing.assert_array_equal(phi.transform(X), float(factor) * Rows().fit(X).transform(X))
    np.testing.assert_array_equal((Rows() * factor).fit(X).transform(X), phi.transform(X))


@pytest.mark.parametrize(
    ("lift", "kernel"),
    [
        (Rows(2.0) + Sums(), "linear + 4 + 2*linear.on([0, 1])"),
        (Rows(2.0) * Sums(), "(linear + 4)*2*linear.on([0, 1])"),
        (-3 * Rows(2.0), "9*(linear + 4)"),
        (Sums() * (Rows(1.0) + Rows(2.0)), "2*linear.on([0, 1])*(2*linear + 5)"),
        ((Sums() + Rows(2.0)) * (2 * Rows(1.0)), "(2*linear.on([0, 1]) + linear + 4)*4*(linear + 1)"),
        (Sums() * Rows(1.0) + Rows(2.0), "2*linear.on([0, 1])*(linear + 1) + linear + 4"),
    ],
    ids=["sum", "product", "multiple", "product of a sum", "product of both", "sum of a product"],
)
def test_the_kernel_is_composed_in_the_same_way(lift, kernel):
    from mercer import parse

    phi = lift.fit(X)
    features = phi.transform(X)
    np.testing.assert_allclose(features @ features.T, parse(kernel)(X), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(phi.kernel(X), parse(kernel)(X), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(phi.induced(X), parse(kernel)(X), rtol=1e-13, atol=1e-13)
    assert phi.exact


def test_single_precision_stays_single():
    for lift in (Rows() + Sums(), Rows() * Sums(), 0.1 * Rows()):
        assert lift.fit(X).transform(X.astype(np.float32)).dtype == np.float32


# -- sparse tables -----------------------------------------------------------------------------------------------


def sparse_rows(n, d, density, seed=0):
    rng = np.random.default_rng(seed)
    return csr_array(np.where(rng.random((n, d)) < density, rng.normal(size=(n, d)), 0.0))


@pytest.mark.parametrize("form", [csr_array, csr_matrix, csc_array])
@pytest.mark.parametrize(
    "lift", [Rows(2.0) + Rows(3.0), Rows(2.0) * Rows(3.0), -2 * Rows(), Rows() * (2 * Rows())], ids=repr
)
def test_sparse_rows_stay_sparse(lift, form):
    table = sparse_rows(20, 30, 0.1)
    phi = lift.fit(form(table))
    found = phi.transform(form(table))
    assert issparse(found)
    np.testing.assert_array_equal(found.toarray(), phi.transform(table.toarray()))
    assert found.nnz == np.count_nonzero(found.toarray())


def test_products_of_sparse_rows_cost_their_nonzeros_only():
    first, second = (sparse_rows(7, 100_000, 2e-4, seed) for seed in (1, 2))
    found = row_products(first, second)
    assert found.shape == (7, 10**10)
    assert found.nnz == (np.diff(first.indptr) * np.diff(second.indptr)).sum()
    i, j = first[[3]].indices.astype(np.int64), second[[3]].indices
    np.testing.assert_array_equal(np.sort(found[[3]].indices), np.sort((i[:, None] * 100_000 + j).ravel()))


def test_rows_without_entries():
    empty = csr_array((3, 2))
    np.testing.assert_array_equal(row_products(empty, csr_array(np.ones((3, 2)))).toarray(), np.zeros((3, 4)))


def test_one_dense_part_refuses_sparse_rows():
    for lift in (Rows() + Sums(), Sums() * Rows(), 2 * Sums()):
        assert not lift.takes_sparse
        with pytest.raises(TypeError, match="Sparse data was passed"):
            lift.fit(csr_array(X))


class DenseOfSparse(Rows):
    """Dense features, whatever comes."""

    def features(self, X):
        return super().features(X.toarray() if issparse(X) else X)


def test_features_are_sparse_where_those_of_one_part_are():
    table = csr_array(np.where(np.abs(X) < 1, 0.0, X))
    for lift in (DenseOfSparse() + Rows(2.0), DenseOfSparse() * Rows(2.0)):
        phi = lift.fit(table)
        assert issparse(phi.transform(table))
        np.testing.assert_array_equal(phi.transform(table).toarray(), phi.transform(table.toarray()))


def test_wide_sparse_rows_cost_what_they_store():
    """5e9 features per part, which no budget allows for dense rows."""
    table = sparse_rows(5, 100_000, 1e-4)
    one = Polynomial(2).fit(table).transform(table)
    phi = (Polynomial(2) + 0.5 * Polynomial(2)).fit(table)
    assert phi.transform(table).shape == (5, 2 * one.shape[1])
    assert phi.transform(table).nnz == 2 * one.nnz
    product = (Polynomial(2) * Rows()).fit(table).transform(table)
    assert product.nnz == (np.diff(one.indptr) * (np.diff(table.indptr) + 1)).sum()
    with pytest.raises(BudgetError, match="Product needs features that can be numbered by 64 bits; there are 2500"):
        (Polynomial(2) * Polynomial(2)).fit(table).transform(table)


def test_products_of_stored_numbers_ask_the_budget(monkeypatch):
    monkeypatch.setattr(Budget, "of_machine", classmethod(lambda cls: cls(10**6)))
    table = csr_array(np.ones((100, 100)))
    phi = (Rows() * Rows()).fit(table)
    assert phi.transform(table[:2]).nnz == 2 * 101**2  # so little is given without asking
    monkeypatch.setattr("mercer.lifts.product.MAX_UNASKED_BYTES", 10**5)
    with pytest.raises(BudgetError, match=r"Product needs 23.3 MiB for 1020100 products of stored numbers; 976.6 KiB"):
        phi.transform(table)


def test_dense_features_of_sparse_rows_ask_the_budget_for_their_products(monkeypatch):
    monkeypatch.setattr(Budget, "of_machine", classmethod(lambda cls: cls(10**6)))
    table = csr_array(np.ones((1, 5_000)))
    phi = (DenseOfSparse() * DenseOfSparse()).fit(table)
    with pytest.raises(BudgetError, match=r"Product needs 190.8 MiB for 1 rows of 25010001 features; 976.6 KiB may be"):
        phi.transform(table)


# -- names -------------------------------------------------------------------------------------------------------


def test_names_of_sums_products_and_multiples():
    assert (Rows(2.0) + Sums()).fit(X).get_feature_names_out().tolist() == ["x1", "x2", "x3", "2", "x1 + x2", "x1 - x2"]
    products = (Sums() * Rows(2.0)).fit(X[:, :2]).get_feature_names_out(["a", "b"]).tolist()
    assert products == [f"({total}) * {other}" for total in ("a + b", "a - b") for other in ("a", "b", "2")]
    assert (-0.5 * Sums()).fit(X).get_feature_names_out().tolist() == ["-0.5 * (x1 + x2)", "-0.5 * (x1 - x2)"]


def test_names_that_stand_again_are_numbered():
    twice = Rows(2.0) + Rows(2.0)
    assert twice.fit(X[:, :1]).get_feature_names_out().tolist() == ["x1", "2", "x1 #2", "2 #2"]
    thrice = twice + Rows(2.0)
    assert thrice.fit(X[:, :1]).get_feature_names_out().tolist() == ["x1", "2", "x1 #2", "2 #2", "x1 #3", "2 #3"]
    assert unique(["a", "a #2", "a", "a #2"]) == ["a", "a #2", "a #3", "a #2 #2"]


@given(st.lists(st.sampled_from(["a", "a #2", "a #3", "b", "a #2 #2"]), max_size=12))
def test_numbered_names_are_different_and_first_ones_stay(names):
    found = unique(names)
    assert len(set(found)) == len(found) == len(names)
    assert all(found[i] == name for i, name in enumerate(names) if name not in names[:i])


def test_names_of_a_frame_reach_the_parts():
    frame = pd.DataFrame(X, columns=["age", "height", "weight"])
    phi = (Rows() + 2 * Sums()).fit(frame)
    assert phi.get_feature_names_out().tolist()[-1] == "2 * (age - height)"
    assert phi.first_.feature_names_in_.tolist() == ["age", "height", "weight"]
    assert not hasattr(phi.fit(X).first_, "feature_names_in_")


@pytest.mark.parametrize("lift", [Rows() + Off(), Rows() * Off(), 3 * Off(kind="maximum")], ids=repr)
def test_frames_that_are_asked_for_everywhere_disturb_nothing(lift):
    frame = pd.DataFrame(X, columns=list("abc"))
    plain = clone(lift).fit(X)
    with sklearn.config_context(transform_output="pandas"):
        phi = lift.fit(frame)
        found = phi.transform(frame)
        known = phi.certificate(frame)
    assert list(found.columns) == list(plain.get_feature_names_out(list("abc")))
    np.testing.assert_array_equal(found, plain.transform(X))
    assert known == plain.certificate(X)


# -- parameters, parts, kernels -------------------------------------------------------------------------------------


def test_nested_parameters():
    lift = Rows(2.0) + Sums() * (3 * Rows(4.0))
    found = lift.get_params()
    assert (found["first__constant"], found["second__second__factor"], found["second__second__lift__constant"]) == (
        2,
        3,
        4,
    )
    other = clone(lift).set_params(first__constant=5.0, second__second__factor=-1.0)
    assert (other.first.constant, other.second.second.factor, lift.first.constant) == (5.0, -1.0, 2.0)
    assert (
        repr(other) == "Concatenation(first=Rows(constant=5.0),\n" + " " * 14 + repr(other).split("\n", 1)[1].lstrip()
    )


def test_parts_are_cloned_and_stay_unfitted():
    shared = Rows()
    phi = (shared * shared).fit(X)
    assert phi.first is phi.second is shared
    assert not hasattr(shared, "width_")
    assert phi.first_ is not phi.second_


def test_exactness_is_that_of_the_parts():
    assert (Rows() + Rows()).exact
    assert not (Rows() + Off()).exact
    assert not (Off() * Rows()).exact
    assert not (2 * Off()).exact


def test_a_kernel_is_known_before_fit_where_those_of_the_parts_are():
    assert (Rows() * Sums()).kernel == (Linear() + 1.0) * (2 * Linear().on([0, 1]))
    assert (2 * Rows()).kernel == 4.0 * (Linear() + 1.0)
    for lift in (Rows() + Off(), Off() * Rows(), 2 * Off()):
        with pytest.raises(NotFittedError, match="Off instance is not fitted"):
            lift.kernel  # noqa: B018
        assert kernel_of(lift.fit(X)) == lift.kernel


def test_expansions_are_composed_where_both_parts_have_them():
    for lift in (Sums() + Sums(), Sums() * Sums(), -3 * Sums(), Sums() * (Sums() + 0.5 * Sums())):
        phi = lift.fit(X)
        np.testing.assert_allclose(phi.expansion_.evaluate(X), phi.transform(X), rtol=1e-14, atol=1e-14)
    for lift in (Sums() + Rows(), Rows() * Sums(), 2 * Rows()):
        assert not hasattr(lift.fit(X), "expansion_")
        assert not hasattr(clone(lift), "expansion_")


# -- certificates ------------------------------------------------------------------------------------------------


@st.composite
def parts(draw):
    kind = draw(st.sampled_from(["mean", "maximum"]))
    inexact = Off(limit=draw(st.floats(-1, 2)), stretch=draw(st.floats(0, 3)), kind=kind)
    return draw(st.sampled_from([inexact, Rows(draw(st.floats(-3, 3))), inexact * Rows(0.5), -0.7 * inexact]))


def holds(known, phi, X):
    """Whether the error is within a bound, but for the rounding of this comparison."""
    gaps, features = errors(phi, X), np.asarray(phi.transform(X))
    found = gaps.mean() if known.kind == "mean" else gaps.max()
    return found <= known.bound + 1e-14 * max(np.square(features).sum(axis=1).max(), gaps.max())


@given(parts(), parts(), st.integers(0, 99), st.sampled_from([1e-3, 1.0, 30.0]))
def test_certificates_hold_for_every_composition(first, second, seed, size):
    rows = size * np.random.default_rng(seed).normal(size=(9, 3))
    for lift in (first + second, first * second, -2.5 * first, 0.1 * first + first * second):
        phi = lift.fit(rows)
        known = phi.certificate(rows)
        assert holds(known, phi, rows)
        assert np.isfinite(known.bound)
        assert known.probability == 1
        assert (known.kind == "exact") == phi.exact


@pytest.mark.parametrize("lift", [Rows() + Polynomial(3), Rows() * Polynomial(2), -0.3 * Polynomial(3)], ids=repr)
def test_certificates_hold_in_single_precision(lift):
    rows = np.random.default_rng(5).normal(size=(300, 3)).astype(np.float32)
    phi = lift.fit(rows)
    features = phi.transform(rows).astype(np.float64)
    values = phi.kernel(rows.astype(np.float64))
    gap = np.abs(features @ features.T - values).max()
    assert 1e-8 * values.max() < gap <= phi.certificate(rows).bound < 2e-5 * values.max()


@pytest.mark.parametrize("compose", [Concatenation, Product])
def test_where_only_a_mean_error_is_known_pairs_are_computed(compose):
    """Both parts are wrong for the same pairs: the mean of the products is far above the product of the means."""
    rows = np.where(np.arange(2_100) % 10 == 0, 10.0, 0.1)[:, None]
    part = Off(limit=5.0, stretch=3.0)
    phi, mean = compose(part, part).fit(rows), part.fit(rows).certificate(rows).bound
    few, many = phi.certificate(rows[:100]), phi.certificate(rows, delta=0.001)
    assert (few.kind, few.probability, many.kind, many.probability) == ("maximum", 1.0, "mean", 0.999)
    assert few.bound == pytest.approx(errors(phi, rows[:100]).max(), rel=1e-12)
    truth = errors(phi, rows).mean()
    assert truth <= many.bound <= 2 * truth
    if compose is Product:
        tempting = 2 * mean * np.abs(rows @ rows.T).mean() + mean**2
        assert tempting < truth / 10


def test_mean_errors_of_sparse_rows():
    class Sparse(Off):
        takes_sparse = True

        def features(self, X):
            return super().features(X.toarray() if issparse(X) else X)

        def certificate(self, X, delta=0.01):
            return super().certificate(X.toarray(), delta)

    rows = np.where(np.abs(X) < 1, 0.0, X)
    phi = (Sparse() * Rows()).fit(csr_array(rows))
    assert phi.certificate(csr_array(rows)).bound == pytest.approx(errors(phi, rows).max(), rel=1e-12)


def test_a_sum_adds_the_bounds_and_a_multiple_multiplies_by_the_square():
    part = Off(kind="maximum")
    one, length = part.fit(X).certificate(X).bound, np.square(part.fit(X).transform(X)).sum(axis=1).max()
    assert (part + part).fit(X).certificate(X).bound == pytest.approx(2 * one, rel=1e-12)
    assert (part * part).fit(X).certificate(X).bound == pytest.approx(2 * one * length + one**2, rel=1e-12)
    assert (-3 * part).fit(X).certificate(X).bound == pytest.approx(9 * one, rel=1e-12)
    assert (-3 * Off()).fit(X).certificate(X).kind == "mean"


def test_the_parts_share_the_probability_to_fail():
    """Each part that is estimated gets its share of delta; the probabilities to fail add up to no more than delta."""
    estimated = Off(kind="maximum", fails=1.0)
    for lift in (estimated + estimated, estimated * estimated, estimated + Rows(), 2 * estimated):
        assert lift.fit(X).certificate(X, delta=0.1).probability == pytest.approx(0.9, abs=1e-15)
    deep = (estimated + estimated) * (estimated + Rows())
    assert deep.fit(X).certificate(X, delta=0.1).probability == pytest.approx(0.9, abs=1e-15)
    assert (Rows() + Rows()).fit(X).certificate(X, delta=0.1).probability == 1


NAN = Rows(np.nan)


@pytest.mark.parametrize("lift", [NAN, NAN + Rows(), Rows() * NAN, 2 * NAN], ids=repr)
def test_features_that_are_no_numbers_may_be_off_by_anything(lift):
    for rows in (X, csr_array(X)):
        assert lift.fit(rows).certificate(rows).bound == np.inf


class Watched(Rows):
    """Takes down how many rows are lifted at once."""

    seen = []  # noqa: RUF012  # clones share it

    def features(self, X):
        self.seen.append(X.shape[0])
        return super().features(X)


@pytest.mark.parametrize("lift", [Watched(), Watched() + Watched(), Watched() * Watched(), -3 * Watched()], ids=repr)
def test_certificates_hold_a_block_of_features(lift, monkeypatch):
    phi = lift.fit(X)
    whole = phi.certificate(X)
    monkeypatch.setattr("mercer.lifts.base.BLOCK_NUMBERS", 20)
    Watched.seen.clear()
    assert phi.certificate(X) == whole
    assert set(Watched.seen) == {5, 2}  # of four features per row, or three and what is left


def test_blocks_of_certificates_ask_the_budget(monkeypatch):
    phi = Rows().fit(X)
    monkeypatch.setattr(Budget, "of_machine", classmethod(lambda cls: cls(10)))
    monkeypatch.setattr("mercer.lifts.base.MAX_UNASKED_BYTES", 0)
    with pytest.raises(BudgetError, match=r"Rows needs .* for 12 rows of 4 features"):
        phi._longest(X)


def test_certificates_of_sparse_features_take_few_blocks(monkeypatch):
    """Half a million features per row, of which few are stored: blocks grow with what they hold."""
    table, calls = sparse_rows(3000, 1000, 0.005), []
    phi = (2 * Polynomial(2)).fit(table)
    features = Polynomial.features
    monkeypatch.setattr(Polynomial, "features", lambda self, X: calls.append(X.shape[0]) or features(self, X))
    known = phi.certificate(table)
    assert sum(calls) == 2 * 3000
    assert len(calls) <= 24
    units = 2 * phi._n_features_out * np.finfo(np.float64).eps  # of the part, and of the whole
    assert known.bound == pytest.approx(units * longest(phi.transform(table)), rel=1e-3)


def test_sentences():
    exact = (Rows() + Rows()).fit(X).certificate(X)
    assert re.fullmatch(r"All parts are exact: rounding moves no value by more than [\d.]+e-13\.", str(exact))
    maximum = (Rows() + Off(kind="maximum", fails=1.0)).fit(X).certificate(X)
    assert re.fullmatch(
        r"No value is off by more than [\d.]+, with probability 0.99, by the certificates of the parts\.", str(maximum)
    )
    mean = (2 * Off()).fit(X).certificate(X)
    assert re.fullmatch(
        r"The values are off by [\d.]+ on average at most, by the certificates of the parts\.", str(mean)
    )


def test_counts_of_strings_are_certified_too():
    words = ["banana", "bandana", "ananas"]
    phi = Counts(Spectrum(2)).fit(words)
    known, largest = phi.certificate(words), float(Spectrum(2)(words).max())
    assert (known.kind, known.probability) == ("exact", 1.0)
    assert known.bound == pytest.approx((phi.n_components_ + 16) * np.finfo(np.float64).eps * largest)


# -- what is refused ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: Rows() + 1, "A lift needs another lift in a sum; got 1. Give a lift."),
        (lambda: Rows() + Linear(), "A lift needs another lift in a sum; got Linear(). Give a lift."),
        (lambda: Rows() * "2", "A lift needs a lift or a number in a product; got '2'. Give one of these."),
        (lambda: True * Rows(), "A lift needs a lift or a number in a product; got True. Give one of these."),
        (
            lambda: Concatenation(Rows(), 3).fit(X),
            "Concatenation needs lifts as parts; second is 3. Give a lift, such as",
        ),
        (lambda: Product(Rows, Rows()).fit(X), "Product needs lifts as parts; first is <class"),
        (lambda: Scaled(Linear(), 2.0).fit(X), "Scaled needs lifts as parts; lift is Linear(). Give a lift, such as"),
        *(
            (
                lambda factor=factor: Scaled(Rows(), factor).fit(X),
                f"Scaled needs a factor other than zero, from 1e-150 to 1e150 in size; got {factor!r}. Use 0.5, say.",
            )
            for factor in (0, 0.0, np.nan, np.inf, 1e200, 10**400, "2", True, None, 1j)
        ),
        (
            lambda: (1e30 * Rows()).fit(X).transform(X.astype(np.float32)),
            "Scaled needs rows of float64; got rows of float32, which holds no square of 1e+30,. Use X.astype(float).",
        ),
    ],
)
def test_what_makes_no_lift_is_refused(action, message):
    with pytest.raises(InputError, match=re.escape(message)):
        action()


@pytest.mark.parametrize(
    "lift",
    [
        Counts(Spectrum(2)) + Counts(Spectrum(3)),
        Counts(Spectrum(2)) * Rows(),
        2 * Nystrom(Spectrum(2)),
        Rows() + (Rows() + 3 * Counts(Spectrum(2))),
    ],
    ids=repr,
)
def test_parts_that_read_strings_are_refused_in_words(lift):
    message = f"{type(lift).__name__} needs parts that read tables of numbers; one reads strings, graphs or categories"
    with pytest.raises(InputError, match=f"^{message}. .*Counts\\(k1 \\+ k2\\)"):
        lift.fit(["banana", "bandana"])


@pytest.mark.parametrize("make", [Exact, RandomFourier, Sketch])
@pytest.mark.parametrize("rows", [["banana", "bandana"], [[1.0, 2.0], [3.0, 4.0]]], ids=["strings", "numbers"])
def test_lifts_of_numbers_say_that_a_kernel_reads_strings(make, rows):
    """Before the rows are read: a string is no number, and that a count has no finite lift would be a lie."""
    message = f"{make.__name__} needs a kernel of numbers; spectrum(k=2).normalized() reads strings. Use Counts(kernel)"
    with pytest.raises(KernelError, match=re.escape(message)):
        make(Spectrum(2).normalized()).fit(rows)


def test_products_too_large_for_the_memory_are_refused_before_they_are_made():
    wide = np.ones((1, 10_000))
    phi = (Rows() * Rows() * Rows()).fit(wide)
    with pytest.raises(BudgetError, match=r"Product needs .* for 1 rows of 1000300030001 features"):
        phi.transform(wide)


def test_unfitted_compositions_are_refused():
    for lift in (Rows() + Rows(), Rows() * Rows(), 2 * Rows()):
        for question in (lambda phi: phi.transform(X), lambda phi: phi.certificate(X), lambda phi: phi.induced):
            with pytest.raises(NotFittedError):
                question(lift)
