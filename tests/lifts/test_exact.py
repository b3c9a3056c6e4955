"""The exact lift of a kernel: phi(x).phi(z) is k(x, z), with the features of the lectures; else an error helps."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import mercer
from mercer import kernels as k
from mercer.errors import BudgetError, InputError, KernelError
from mercer.lifts import Exact

D = 3
X = np.random.default_rng(0).normal(size=(7, D))
Z = np.random.default_rng(1).normal(size=(6, D))


def names(kernel, d):
    return mercer.lift(kernel, d).get_feature_names_out().tolist()


def assert_same(kernel, lift, left=X, right=Z, part=1e-12, cancelled=0.0):
    """To rounding, relative to sqrt(k(x, x) k(z, z)); `cancelled` is a part of the largest of these.

    Columns that are added before they are raised to a power may cancel; in monomials they do not until the end.
    """
    found = lift.transform(left) @ lift.transform(right).T
    scale = np.sqrt(kernel.diagonal(left))[:, None] * np.sqrt(kernel.diagonal(right))
    assert (np.abs(found - kernel(left, right)) <= part * scale + cancelled * scale.max() + 1e-300).all()


# -- the lectures --------------------------------------------------------------------------------------------------


def test_exercise_19():
    for kernel in (k.Linear() + k.Linear() ** 2, k.Linear() + k.Polynomial(2, offset=0.0)):
        assert names(kernel, 2) == ["x1", "x2", "x1^2", "sqrt(2) x1 x2", "x2^2"]


def test_exercise_20():
    """x1 z1 + x2 z2 + x3 z3 + x2 z3 + x3 z2, written in two ways."""
    assert names(k.Linear().after([[1, 0, 0], [0, 1, 1]]), 3) == ["x1", "x2 + x3"]
    assert names(k.Linear().on(0) + k.Linear().after([[0, 1, 1]]), 3) == ["x1", "x2 + x3"]
    phi = mercer.lift(k.Linear().after([[1, 0, 0], [0, 1, 1]]), 3)
    x, z = X[0], Z[0]
    wanted = x @ z + x[1] * z[2] + x[2] * z[1]
    assert (phi.transform(X[:1]) @ phi.transform(Z[:1]).T)[0, 0] == pytest.approx(wanted, rel=1e-14)


def test_all_subsets_of_two():
    assert names(k.Subsets(), 2) == ["1", "x1", "x2", "x1 x2"]
    assert names(k.Subsets(min_order=2, max_order=2), 3) == ["x1 x2", "x1 x3", "x2 x3"]
    assert names(k.Subsets(max_order=0), 3) == ["1"]
    assert names(k.Linear() + k.Subsets(min_order=4), 3) == ["x1", "x2", "x3"]


# -- every way to build one ----------------------------------------------------------------------------------------

LEAVES = [
    k.Linear(), k.Constant(2.0), k.Polynomial(2, 0.7), k.Polynomial(3, 0.0), k.Monomials(2), k.Monomials(2, False),
    k.Monomials(3, True, 2), k.Powers(3), k.Parabolic(), k.Subsets(), k.Subsets(max_order=2),
    k.Trigonometric(2, 3.0), k.Cosine(),
]  # fmt: skip
POLYNOMIAL = LEAVES[:-2]


@pytest.mark.parametrize("kernel", LEAVES, ids=str)
def test_every_leaf_that_has_one(kernel):
    assert_same(kernel, mercer.lift(kernel, D))


def trees(leaves):
    """Kernels composed from leaves by every rule that keeps a finite lift."""
    small = st.floats(0.1, 3.0)

    def extend(inner):
        return st.one_of(
            st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
            st.tuples(inner, inner).map(lambda pair: pair[0] * pair[1]),
            st.tuples(small, inner).map(lambda pair: pair[0] * pair[1]),
            inner.map(lambda kernel: kernel**2),
            st.tuples(inner, st.lists(st.integers(0, D - 1), min_size=1, max_size=3)).map(
                lambda pair: pair[0].on(pair[1]) if pair[0].width is None and pair[0].needed is None else pair[0]
            ),
            st.tuples(inner, st.lists(small, min_size=D, max_size=D)).map(lambda pair: pair[0].scaled(pair[1])),
            st.tuples(inner, st.lists(small, min_size=D * D, max_size=D * D)).map(
                lambda pair: pair[0].after(np.reshape(pair[1], (D, D)))
            ),
        )

    return st.recursive(st.sampled_from(leaves), extend, max_leaves=3)


@settings(max_examples=80, deadline=None)
@given(trees(POLYNOMIAL))
def test_property_compositions_of_polynomials(kernel):
    try:
        phi = mercer.lift(kernel, D)
    except BudgetError:  # a power of a power of a power
        return
    assert_same(kernel, phi, part=1e-11, cancelled=1e-13)
    assert phi.expansion_.degree >= 0


@settings(max_examples=40, deadline=None)
@given(trees(LEAVES))
def test_property_compositions_of_all_leaves(kernel):
    phi = mercer.lift(kernel, D)
    assert_same(kernel, phi, part=1e-11, cancelled=1e-13)
    assert len(phi.get_feature_names_out()) == phi.transform(X).shape[1]


def length(rows):
    return np.linalg.norm(rows, axis=1)


def turned(rows):
    return np.column_stack([np.sin(rows[:, 0]), rows[:, 1] * rows[:, 2]])


@pytest.mark.parametrize(
    "kernel",
    [
        k.Linear().weighted(length),
        k.Polynomial(2).after(turned),
        k.Polynomial(2).normalized(),
        k.Trigonometric(1).on([2, 0]) * k.Linear() + k.Polynomial(2),
        (k.Linear() * k.Cosine()).weighted(length) + 3.0,
        k.Trigonometric(2).after([[1.0, 1.0, 0.0], [0.0, 2.0, 1.0]]),
        k.Trigonometric(1).scaled([1.0, 2.0, 3.0]),
    ],
    ids=str,
)
def test_features_that_are_no_polynomials(kernel):
    phi = mercer.lift(kernel, D)
    assert_same(kernel, phi)
    assert len(set(phi.get_feature_names_out())) == phi.transform(X).shape[1]
    copy = pickle.loads(pickle.dumps(phi))  # noqa: S301  # our own
    np.testing.assert_array_equal(copy.transform(X), phi.transform(X))
    with pytest.raises(AttributeError, match="polynomials"):
        phi.expansion_  # noqa: B018


def test_names_of_such_features():
    assert names(k.Linear().weighted(length), 2) == ["length(x) * x1", "length(x) * x2"]
    assert names(k.Polynomial(1, 0.0).after(turned), 3) == ["turned(x)[1]", "turned(x)[2]"]


def test_a_large_map_is_not_multiplied_out():
    """12 columns, degree 4 would give 1,820 features of thousands of terms each."""
    matrix = np.random.default_rng(2).normal(size=(12, 12))
    kernel = k.Polynomial(4).after(matrix)
    left, right = np.random.default_rng(3).normal(size=(2, 4, 12))
    phi = mercer.lift(kernel, 12)
    assert_same(kernel, phi, left, right, 1e-11)
    assert phi.transform(left).shape[1] == 1_820


# -- as an estimator -----------------------------------------------------------------------------------------------


def test_columns_by_name():
    frame = pd.DataFrame(X, columns=["age", "height", "mass"])
    phi = mercer.lift(k.Linear().on("age") * k.Linear().on(["height", "mass"]), frame)
    assert phi.get_feature_names_out().tolist() == ["age height", "age mass"]
    assert phi.set_output(transform="pandas").transform(frame).columns.tolist() == ["age height", "age mass"]


def test_open_numbers_are_found_in_fit():
    kernel = k.Polynomial(2).scaled([1.0, 2.0, 3.0])
    assert Exact(kernel).fit(X).kernel_ == kernel
    assert clone(Exact("linear + 1")).fit(X).transform(X).shape == (7, 4)


def test_float32_is_kept():
    phi = mercer.lift("polynomial(degree=3)", D)
    assert phi.transform(X.astype(np.float32)).dtype == np.float32


# -- what it refuses -----------------------------------------------------------------------------------------------


def test_an_infinite_lift_says_what_can_be_had():
    with pytest.raises(KernelError, match=r"no finite lift.*RandomFourier.*Nystrom"):
        mercer.lift(k.Gaussian(), 2)
    with pytest.raises(KernelError, match=r"features of one point, g\(x\), are those of Linear\(\)\.after\(g\)"):
        mercer.lift(lambda x: x**2, 2)
    with pytest.raises(KernelError, match=r"min has no finite lift that Mercer knows. Nystrom"):
        mercer.lift("min + linear", 2)
    with pytest.raises(KernelError, match=r"gaussian\(.*\) has no finite lift that Mercer knows. Nystrom"):
        mercer.lift("gaussian + linear", 2)  # the sum has no spectral law
    with pytest.raises(KernelError, match="no finite lift"):
        mercer.lift(mercer.exp(k.Linear()), 2)


@pytest.mark.parametrize("d", [0, -1, True])
def test_a_number_of_columns_is_above_zero(d):
    with pytest.raises(InputError, match="positive"):
        mercer.lift("linear", d)


def test_what_else_it_refuses():
    with pytest.raises(KernelError, match="a kernel or its text"):
        mercer.lift(3.0, 2)
    with pytest.raises(KernelError, match="zero everywhere"):
        mercer.lift(k.Constant(0.0), 2)
    with pytest.raises(BudgetError, match="features"):
        mercer.lift(k.Subsets(), 60)
    with pytest.raises(InputError, match="column"):
        mercer.lift(k.Linear().on(5), 2)


def test_names_follow_those_of_the_columns():
    phi = mercer.lift(k.Trigonometric(1).after([[1.0, 1.0]]), 2)
    assert phi.get_feature_names_out(["a", "b"]).tolist() == ["sin(a + b)", "cos(a + b)"]
    large = mercer.lift(k.Polynomial(4).after(np.ones((12, 12))), 12)
    assert large.get_feature_names_out()[1].startswith("2 (x1 + x2")
