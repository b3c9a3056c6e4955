"""Lloyd's algorithm against distances that are written out, row by row and cluster by cluster."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mercer.compute.runtime.run import Run, Stopped
from mercer.kernels import Gaussian, Laplace, Linear, Polynomial
from mercer.kernels.evaluation.evaluate import fused_from
from mercer.operators import Dense, Gram, LowRank
from mercer.solvers.kmeans.cluster_sums import FeatureSums, KernelSums, nearest, parts
from mercer.solvers.kmeans.lloyd import LloydSettings, descend

KERNELS = [Gaussian(1.0), Laplace(0.7), Linear(), Polynomial(2, 1.0)]


def draw(n=60, count=4, seed=0, d=2):
    """Rows, weights and a partition without an empty cluster."""
    random = np.random.default_rng(seed)
    labels = random.integers(count, size=n)
    labels[:count] = np.arange(count)
    return random.normal(size=(n, d)), random.uniform(0.2, 3.0, n), labels


def squares(K, weights, labels, count):
    """(n, count): squared distances from weighted means, by the formula."""
    found = np.full((len(K), count), np.inf)
    for c in range(count):
        own = np.flatnonzero(labels == c)
        if len(own):
            w = weights[own] / weights[own].sum()
            found[:, c] = np.diagonal(K) - 2 * K[:, own] @ w + w @ K[np.ix_(own, own)] @ w
    return found


def brute(K, weights, labels, count, steps=300):
    """Labels and the inertia after each step, for starts from which no cluster becomes empty."""
    history = []
    for _ in range(steps):
        D = squares(K, weights, labels, count)
        following = D.argmin(axis=1)
        history.append(weights @ D.min(axis=1))
        assert len(np.unique(following)) == count
        if (following == labels).all():
            break
        labels = following
    return labels, np.array(history)


def rise(history):
    """The largest step upwards."""
    return max(0.0, float(np.diff(history).max(initial=0.0)))


# -- truth ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("seed", [0, 1])
def test_labels_and_inertias_are_those_of_the_formula(kernel, seed):
    X, weights, start = draw(seed=seed)
    K = kernel(X)
    labels, history = brute(K, weights, start, 4)
    for sums in (KernelSums(Dense(K), weights, 4), KernelSums(Gram(kernel, X), weights, 4)):
        found = descend(sums, start)
        assert_array_equal(found.labels, labels)
        assert_array_equal(found.members, labels)
        assert_allclose(found.history, history, rtol=1e-10)
        assert_allclose(found.squares, squares(K, weights, labels, 4).min(axis=1), rtol=1e-9, atol=1e-12)
        assert found.converged
        assert found.reason == f"No row moves after {len(history)} step{'s' * (len(history) != 1)}."


def test_features_are_the_linear_kernel():
    X, weights, start = draw()
    by_rows, by_features = (
        descend(sums, start) for sums in (KernelSums(LowRank(X), weights, 4), FeatureSums(X, weights, 4))
    )
    assert_array_equal(by_rows.labels, by_features.labels)
    assert_allclose(by_rows.history, by_features.history, rtol=1e-12)


def test_the_fused_pass_gives_the_same():
    X, weights, start = draw(300, 5)
    labels, history = brute(Gaussian(0.8)(X), weights, start, 5)
    with fused_from(0):
        true = Gram(Gaussian(0.8), X)
        found = descend(KernelSums(true, weights, 5), start)
        rough = descend(
            KernelSums(true.narrowed().rough(), weights, 5, true.diagonal()), start, LloydSettings(300, 1e-7)
        )
    assert_array_equal(found.labels, labels)
    assert_allclose(found.history, history, rtol=1e-10)
    assert_allclose(rough.inertia, history[-1], rtol=1e-5)


@pytest.mark.parametrize("kind", ["stored", "products", "features", "features32"])
def test_moved_rows_change_the_sums_as_a_new_sum_would(kind):
    X, weights, before = draw(80, 5)
    made = {
        "stored": lambda: KernelSums(Dense(Gaussian(1.0)(X)), weights, 5),
        "products": lambda: KernelSums(Gram(Gaussian(1.0), X), weights, 5),
        "features": lambda: FeatureSums(X, weights, 5),
        "features32": lambda: FeatureSums(X.astype(np.float32), weights, 5),
    }[kind]
    random, moved, anew = np.random.default_rng(1), made(), made()
    moved.settle(before)
    for share in (0.05, 0.4, 0.9, 0.1):  # more than half of the rows are summed up anew
        after = np.where(random.random(80) < share, random.integers(4, size=80), before)
        moved.move(before, after)
        anew.settle(after)
        before = after
        exact = 1e-12 if moved.unit < 1e-12 else 1e-5
        assert_allclose(moved.totals, anew.totals, rtol=1e-12)
        assert_allclose(moved.products(slice(None)), anew.products(slice(None)), rtol=exact, atol=exact * 80)
        assert_allclose(moved.lengths(after), anew.lengths(after), rtol=10 * exact, atol=exact * 80)


def test_distances_of_rows_from_all_rows():
    X, weights, _ = draw(30)
    rows = np.array([3, 17])
    wanted = ((X[rows, None] - X) ** 2).sum(axis=2)
    assert_allclose(FeatureSums(X, weights, 2).apart(rows), wanted, atol=1e-12)
    assert_allclose(KernelSums(Gram("linear", X), weights, 2).apart(rows), wanted, atol=1e-12)
    K = Gaussian(1.0)(X)
    assert_allclose(KernelSums(Dense(K), weights, 2).apart(rows), 2 - 2 * K[rows], atol=1e-14)


# -- the law ----------------------------------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 2**32 - 1),
    kernel=st.sampled_from(KERNELS),
    n=st.integers(1, 40),
    count=st.integers(1, 8),
    heavy=st.booleans(),
)
def test_the_inertia_never_rises(seed, kernel, n, count, heavy):
    """From any partition, with empty clusters and rows that are equal."""
    random = np.random.default_rng(seed)
    X = random.integers(-3, 4, size=(n, 2)).astype(float)
    weights = 10.0 ** random.uniform(-3, 3, n) if heavy else np.ones(n)
    start = random.integers(count, size=n)
    K = kernel(X)
    size = weights @ np.abs(np.diagonal(K)) + 1.0
    for sums in (KernelSums(Dense(K), weights, count), KernelSums(Gram(kernel, X), weights, count)):
        found = descend(sums, start)
        assert found.converged
        assert rise(found.history) <= 1e-12 * size
        D = squares(K, weights, found.members, count)
        assert_allclose(found.squares, np.maximum(D, 0)[np.arange(n), found.labels], atol=1e-11 * np.abs(K).max())
        assert (found.squares <= D.min(axis=1) + 1e-11 * np.abs(K).max()).all()


@pytest.mark.parametrize("seed", range(3))
def test_in_float32_it_rises_by_rounding_alone(seed):
    X, weights, start = draw(400, 6, seed, d=5)
    found = descend(FeatureSums(X.astype(np.float32), weights, 6), start, LloydSettings(300, 1e-7))
    exact = descend(FeatureSums(X, weights, 6), start)
    assert rise(found.history) <= 1e-5 * found.inertia
    assert found.inertia == pytest.approx(exact.inertia, rel=1e-2)


# -- empty clusters and ties --------------------------------------------------------------------------------------


def test_an_empty_cluster_gets_the_row_that_costs_most():
    X = np.array([[0.0], [0.1], [5.0], [9.0]])
    sums = FeatureSums(X, np.ones(4), 3)
    labels = np.array([0, 0, 0, 0])
    found = sums.refilled(labels, np.array([0.0, 0.1, 3.0, 8.0]))
    assert found.tolist() == [0, 0, 2, 1]
    assert labels.tolist() == [0, 0, 0, 0]
    heavy = FeatureSums(X, np.array([1.0, 1.0, 9.0, 1.0]), 2)
    assert heavy.refilled(labels, np.array([0.0, 0.1, 3.0, 8.0])).tolist() == [0, 0, 1, 0]


def test_a_row_that_is_alone_stays_and_equal_rows_are_not_missed():
    sums = FeatureSums(np.array([[0.0], [0.0], [4.0]]), np.ones(3), 3)
    assert sums.refilled(np.array([0, 0, 1]), np.array([0.0, 0.0, 1.0])).tolist() == [0, 0, 1]


def test_a_start_with_empty_clusters_fills_them():
    X, weights, _ = draw(50)
    found = descend(KernelSums(Gram(Gaussian(0.5), X), weights, 7), np.zeros(50, int))
    assert len(np.unique(found.labels)) == 7
    assert rise(found.history) == 0.0


def test_more_clusters_than_different_rows():
    X = np.repeat([[0.0], [1.0], [5.0]], 4, axis=0)
    found = descend(FeatureSums(X, np.ones(12), 6), np.zeros(12, int))
    assert found.converged
    assert found.inertia == 0.0
    assert len(np.unique(found.labels)) == 3


def test_one_cluster_and_as_many_as_rows():
    X, weights, _ = draw(20)
    one = descend(FeatureSums(X, weights, 1), np.zeros(20, int))
    middle = np.average(X, axis=0, weights=weights)
    assert one.inertia == pytest.approx(weights @ ((X - middle) ** 2).sum(axis=1))
    all_alone = descend(FeatureSums(X, weights, 20), np.arange(20))
    assert_array_equal(all_alone.labels, np.arange(20))
    assert all_alone.inertia == pytest.approx(0.0, abs=1e-12)


def test_of_means_that_are_equally_near_the_first_is_taken():
    labels, gaps = nearest(np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 2.0 + 1e-15]]), np.array([1.0, 1.0, 1.0]))
    assert labels.tolist() == [0, 1]
    assert gaps.tolist() == [-1.0, -3.0]
    labels, _ = nearest(np.array([[0.0, 1.0]]), np.array([np.inf, 5.0]))
    assert labels.tolist() == [1]
    labels, _ = nearest(np.array([[1.0, 1.0 + 1e-9]]), np.array([1.0, 1.0]))
    assert labels.tolist() == [1]  # that is more than rounding


def test_a_row_in_the_middle_goes_to_the_first():
    X = np.array([[-1.0], [0.0], [1.0]])
    found = descend(FeatureSums(X, np.array([100.0, 1e-9, 100.0]), 2), np.array([0, 1, 1]), LloydSettings(1))
    assert found.labels.tolist() == [0, 1, 1]
    even = descend(FeatureSums(X, np.ones(3), 2), np.array([1, 0, 0]))
    assert even.inertia == pytest.approx(0.5)


# -- the end ----------------------------------------------------------------------------------------------------------


def test_steps_and_falls_that_are_too_small_end_it():
    X, weights, start = draw(200, 8)
    sums = FeatureSums(X, weights, 8)
    whole = descend(sums, start)
    few = descend(sums, start, LloydSettings(2))
    assert len(whole.history) > 4
    assert (few.converged, few.stopped, len(few.history)) == (False, False, 2)
    assert few.reason == "2 steps were not enough."
    assert_allclose(few.history, whole.history[:2], rtol=1e-12)
    coarse = descend(sums, start, LloydSettings(300, 0.05))
    assert coarse.converged
    assert "falls by less than 5.0e-02" in coarse.reason
    assert len(coarse.history) < len(whole.history)
    falls = -np.diff(coarse.history) / np.array(coarse.history[1:])
    assert falls[-1] <= 0.05 < falls[:-1].min()


def test_labels_of_a_partition_that_is_left_early_are_those_of_its_means():
    X, weights, start = draw(200, 8)
    few = descend(FeatureSums(X, weights, 8), start, LloydSettings(3))
    D = squares(X @ X.T, weights, few.members, 8)
    assert_array_equal(few.labels, D.argmin(axis=1))
    assert few.inertia == pytest.approx(weights @ D.min(axis=1))
    assert (few.labels != few.members).any()


class Brief(Run):
    """A run that ends after so many looks."""

    def __init__(self, looks):
        self.looks = looks

    def tell(self, done):
        self.looks -= 1
        if self.looks < 0:
            raise Stopped("the time limit of 1 s was reached")


@pytest.mark.parametrize("looks", [0, 1, 3])
def test_a_run_that_is_stopped_keeps_what_there_is(looks):
    X, weights, start = draw(200, 8)
    found = descend(FeatureSums(X, weights, 8), start, run=Brief(looks))
    assert found.stopped
    assert not found.converged
    assert found.reason == f"The time limit of 1 s was reached, after {looks + 1} step{'s' * (looks > 0)}."
    D = squares(X @ X.T, weights, found.members, 8)
    assert_array_equal(found.labels, D.argmin(axis=1))
    assert found.inertia == pytest.approx(weights @ D.min(axis=1))


def test_a_product_that_is_stopped_leaves_the_sums_as_they_were():
    X, weights, start = draw(200, 8)
    K = Gaussian(1.0)(X)

    class Halted(LowRank):
        def combine(self, columns, values, rows=None):
            raise Stopped("the fit was interrupted")

    found = descend(KernelSums(Halted(np.linalg.cholesky(K + 1e-9 * np.eye(200))), weights, 8), start)
    assert found.stopped
    assert found.reason.startswith("The fit was interrupted, after")
    D = squares(K + 1e-9 * np.eye(200), weights, found.members, 8)
    assert_allclose(found.squares, D.min(axis=1), atol=1e-9)


def test_parts_cover_all_rows():
    found = parts(10**6, 1000)
    assert found[0].start == 0
    assert found[-1].stop == 10**6
    assert all(one.stop == other.start for one, other in pairwise(found))
    assert parts(3, 10**9) == [slice(0, 1), slice(1, 2), slice(2, 3)]
