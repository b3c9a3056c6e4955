"""Kernels of labels obey the laws of kernels of things, on tables that are made up, and their features are exact."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import KernelRidge, KernelRidgeClassifier
from mercer.kernels import Gaussian
from mercer.kernels.categories.gapped import Gapped
from mercer.kernels.categories.hamming import Hamming
from mercer.kernels.categories.match import Match
from mercer.kernels.categories.ordinal import Ordinal
from mercer.kernels.evaluation.evaluate import fused_from, read
from mercer.lifts.counts import Counts
from mercer.testing import check_kernel

ORDER = ["", "low", "high", "é"]
MATCHES = [Match(), Match("rarity"), Match("rarity", "marginalised"), Match(missing="marginalised")]
COUNTED = [*MATCHES, Ordinal(ORDER, 2.0), Ordinal(ORDER, missing="marginalised")]
OTHERS = [Hamming(1.5), Hamming(0.8, "rarity", "marginalised")]

labels = st.sampled_from([*ORDER, None])
tables = st.integers(1, 3).flatmap(lambda d: st.lists(st.lists(labels, min_size=d, max_size=d), min_size=3, max_size=9))


@pytest.mark.parametrize("kernel", [*COUNTED, *OTHERS], ids=str)
@settings(max_examples=3)
@given(table=tables)
def test_property_the_laws_hold(kernel, table):
    check_kernel(kernel, X=table)


@settings(max_examples=3)
@given(st.lists(st.lists(st.one_of(st.none(), st.integers(-4, 9)), min_size=2, max_size=2), min_size=3, max_size=9))
def test_property_the_laws_hold_with_gaps(table):
    check_kernel(Gapped(2.0), X=table)


def test_both_paths_agree_in_a_table():
    rows = [[1.0, "a", "low"], [2.5, None, "high"], [-1.0, "a", "low"], [0.0, "b", None]]
    kernel = Gaussian(2.0).on(0) * Hamming(2.0).on([1, 2]) + 0.5 * Ordinal(["low", "high"]).on(2)
    with fused_from(0):
        fused = kernel(rows)
    np.testing.assert_allclose(fused, kernel(rows), rtol=1e-12)


@pytest.mark.parametrize("kernel", COUNTED, ids=str)
@settings(max_examples=20)
@given(table=tables, others=tables)
def test_property_features_are_exact(kernel, table, others):
    others = [(row * 3)[: len(table[0])] for row in others]
    kernel = kernel.resolve(table)
    phi, psi = (points.values for points in kernel.features(read(kernel, table), read(kernel, others)))
    np.testing.assert_allclose(phi @ phi.T, kernel(table), atol=1e-14)
    np.testing.assert_allclose(psi @ phi.T, kernel(others, table), atol=1e-14)


@pytest.mark.parametrize("kernel", MATCHES, ids=str)
def test_a_lift_of_labels(kernel):
    table, others = [["a", "x"], ["b", None], ["a", "y"]], [["b", "new"], [None, "x"]]
    lift = Counts(kernel).fit(table)
    phi = lift.transform(table)
    np.testing.assert_allclose((phi @ phi.T).toarray(), lift.kernel_(table), atol=1e-14)
    np.testing.assert_allclose((lift.transform(others) @ phi.T).toarray(), lift.kernel_(others, table), atol=1e-14)


@pytest.mark.parametrize("kernel", [*COUNTED, Hamming("median")], ids=str)
def test_learners_take_labels_that_they_have_not_seen(kernel):
    rows = [[ORDER[i % 4], ORDER[i // 4 % 4]] for i in range(32)]
    y = np.array([float(i % 4 == i // 4 % 4) + 0.1 * i for i in range(32)])
    model = KernelRidge(kernel, alpha=0.1, verbose=False).fit(rows[:24], y[:24])
    K = model.kernel_(rows[:24])
    center = np.eye(24) - 1 / 24
    dual = np.linalg.solve(center @ K @ center + 0.1 * np.eye(24), center @ y[:24])
    new = model.kernel_(rows[24:], rows[:24])
    wanted = y[:24].mean() + (new - K.mean(axis=0)) @ center @ dual
    np.testing.assert_allclose(model.predict(rows[24:]), wanted, rtol=1e-9)


def test_classes_follow_labels_and_numbers():
    rng = np.random.default_rng(4)
    rows = np.empty((120, 3), dtype=object)
    rows[:, 0], rows[:, 1] = rng.normal(size=120), rng.choice(["a", "b", "c"], 120)
    rows[:, 2] = [None if u < 0.1 else "x" if u < 0.5 else "y" for u in rng.random(120)]
    y = np.where((rows[:, 0].astype(float) > 0) ^ (rows[:, 1] == "b"), "yes", "no")
    kernel = Gaussian("median").on(0) * Hamming("median").on([1, 2])
    model = KernelRidgeClassifier(kernel, lengthscale="loo", verbose=False).fit(rows[:90], y[:90])
    assert np.mean(model.predict(rows[90:]) == y[90:]) >= 0.9
    rows[95, 1] = "never seen"
    assert model.predict(rows[90:]).shape == (30,)
