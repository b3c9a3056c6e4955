"""The kernel of ordered labels against its formula, and against a Laplace kernel of ranks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mercer
from mercer.errors import InputError, KernelError
from mercer.kernels import Laplace
from mercer.kernels.categories.ordinal import Ordinal
from mercer.kernels.evaluation.evaluate import fused_from

ORDER = ["bad", "fair", "good", "best"]
ranks = st.lists(st.integers(0, 3), min_size=1, max_size=8)


@given(ranks, st.floats(0.05, 50.0))
def test_property_it_is_the_laplace_kernel_of_ranks(ranks, length):
    kernel, labels = Ordinal(ORDER, length), [ORDER[rank] for rank in ranks]
    wanted = Laplace(length)(np.array(ranks, dtype=float)[:, None])
    np.testing.assert_allclose(kernel(labels), wanted, atol=1e-14)
    np.testing.assert_allclose(kernel.diagonal(labels), 1.0, rtol=1e-14)
    with fused_from(0):
        np.testing.assert_allclose(kernel(labels), wanted, atol=1e-13)


def test_several_columns_are_averaged():
    rows, r = [["bad", "best"], ["fair", "good"]], np.exp(-1.0)
    np.testing.assert_allclose(Ordinal(ORDER)(rows), [[1.0, r], [r, 1.0]], rtol=1e-14)
    np.testing.assert_allclose(Ordinal(ORDER)([["bad", "bad"]], [["bad", "good"]]), [[(1 + r**2) / 2]], rtol=1e-14)


def test_a_missing_entry_is_a_label_off_the_scale_or_the_mean_of_all():
    np.testing.assert_allclose(Ordinal(ORDER)([None], [None, "bad", "best"]), [[1.0, 0.0, 0.0]])
    kernel = Ordinal(ORDER, missing="marginalised").resolve(["bad", "bad", "best", None])
    r = np.exp(-3.0)
    mean = np.array([2 / 3, 1 / 3])
    K = np.array([[1.0, r], [r, 1.0]])
    np.testing.assert_allclose(kernel([None], ["bad", "best", None]), [[*(mean @ K), mean @ K @ mean]], rtol=1e-14)
    with pytest.raises(InputError, match="a label in each row"):
        Ordinal(ORDER, missing="refuse")(["bad", None])


def test_a_label_outside_of_the_order_is_refused():
    words = r"^Ordinal needs labels among 'bad', 'fair', 'good', 'best'; column 0 holds 'worse'\. Add it to the order"
    with pytest.raises(InputError, match=words):
        Ordinal(ORDER)(["bad"], ["bad", "worse"])


def test_numbers_can_be_labels():
    assert Ordinal([1, 2, 3]) == Ordinal(["1", "2", "3"])
    np.testing.assert_allclose(Ordinal([1, 2, 3])([1.0, 3]), Laplace()([[1.0], [3.0]]), rtol=1e-14)


def test_it_is_proven_printed_and_read():
    for kernel in (Ordinal(ORDER), Ordinal(ORDER, 2.5, "marginalised").resolve(["bad", None, "best"])):
        assert mercer.prove(kernel).status == "proven"
        assert mercer.parse(str(kernel), {"ordinal": Ordinal}) == kernel
        assert eval(repr(kernel)) == kernel  # noqa: S307
    assert Ordinal(ORDER).stretched(2.0).lengthscale == 2.0


@pytest.mark.parametrize("order", ["abc", 3, ["a"], ["a", "a"], ["a", None], [1, "1x"], [1, 1.0], [b"a", b"b"]])
def test_wrong_orders_are_refused(order):
    with pytest.raises(KernelError, match=r"^Ordinal"):
        Ordinal(order)
