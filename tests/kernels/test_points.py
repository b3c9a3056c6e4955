"""Bad input: one clear error each, that says who, what is needed, what came and what to do."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from mercer.errors import DomainError, InputError, MercerError, NumericalWarning
from mercer.kernels import ChiSquared, Exponential, Gaussian, Linear, Min, Sinc, Wendland

GOOD = np.arange(6.0).reshape(3, 2)
FRAME = pd.DataFrame({"age": [1.0, 2.0], "hours": [3.0, np.nan]})

BAD = {
    "NaN": ([[1.0, np.nan]], r"column 1 holds nan in row 0"),
    "infinity": ([[1.0, 2.0], [-np.inf, 0.0]], r"column 0 holds -inf in row 1"),
    "NaN in a DataFrame": (FRAME, r"column 'hours' holds nan in row 1"),
    "no rows": (np.empty((0, 3)), r"empty table of shape \(0, 3\)"),
    "no columns": (np.empty((3, 0)), r"empty table of shape \(3, 0\)"),
    "an empty list": ([], r"shape \(0,\)"),
    "a 1-D array": ([1.0, 2.0], r"reshape\(-1, 1\)"),
    "a 3-D array": (np.zeros((2, 2, 2)), r"3 dimensions and shape \(2, 2, 2\)"),
    "a number": (3.0, r"0 dimensions.*Write one number as \[\[3\.0\]\]"),
    "objects": (np.array([[1, "a"]], dtype=object), r"column 1 holds 'a' \(dtype object\)"),
    "texts": (np.array([["a", "b"]]), r"column 0 holds .*'a'.*Convert the columns"),
    "dates": (np.array([["2026-01-01"]], dtype="datetime64[D]"), r"dtype datetime64"),
    "complex numbers": (np.ones((2, 2), dtype=complex), r"complex"),
    "ragged rows": ([[1.0, 2.0], [3.0]], r"rows of equal length"),
    "None": (None, r"0 dimensions"),
    "a sparse NaN": (scipy.sparse.csr_matrix([[0.0, 1.0], [0.0, np.nan]]), r"column 1 holds nan in row 1"),
    "a mixed DataFrame": (pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}), r"column 'b' holds 'x'"),
}


CALLS = ("matrix", "right side", "diagonal", "distance", "resolve", "check")
# As the right side None stands for X itself.
COMBINATIONS = [(case, call) for case in BAD for call in CALLS if (case, call) != ("None", "right side")]


@pytest.mark.parametrize(("case", "call"), COMBINATIONS)
def test_bad_input(case, call):
    data, message = BAD[case]
    kernel = Gaussian("median") if call == "resolve" else Gaussian()
    calls = {
        "matrix": lambda: kernel(data),
        "right side": lambda: kernel(GOOD, data),
        "diagonal": lambda: kernel.diagonal(data),
        "distance": lambda: kernel.distance(data),
        "resolve": lambda: kernel.resolve(data),
        "check": lambda: kernel.check(data),
    }
    with pytest.raises(InputError, match=message) as caught:
        calls[call]()
    text = str(caught.value)
    assert text.startswith("Gaussian needs ")
    assert text.endswith(".")
    assert isinstance(caught.value, MercerError)
    assert isinstance(caught.value, ValueError)


def test_different_numbers_of_columns():
    with pytest.raises(InputError, match="X has 2 and Z has 3"):
        Gaussian()(GOOD, np.ones((2, 3)))


def test_different_names_of_columns():
    left, right = pd.DataFrame(GOOD, columns=["a", "b"]), pd.DataFrame(GOOD, columns=["b", "a"])
    with pytest.raises(InputError, match="column 0 is 'a' in X and 'b' in Z"):
        Gaussian()(left, right)


@pytest.mark.parametrize("kernel", [Min(), ChiSquared(), 2 * Min() + Gaussian(), Min().normalized() ** 2])
def test_data_outside_the_domain_names_column_and_value(kernel):
    table = np.ones((2, 4))
    table[1, 3] = -0.7
    with pytest.raises(DomainError, match=r"needs non-negative coordinates; column 3 holds -0.7. Shift the data"):
        kernel(table)
    with pytest.raises(DomainError):
        kernel.check(table)
    kernel.check(np.abs(table))


def test_check_also_refuses_too_many_columns():
    with pytest.raises(DomainError, match=r"Sinc needs at most 3 columns to be a kernel; the data has 4\."):
        Sinc().check(np.ones((2, 4)))
    Sinc().check(np.ones((2, 3)))
    Sinc().on([0, 1, 2]).check(np.ones((2, 4)))
    with pytest.raises(DomainError, match="at most 1 column to"):
        (Gaussian() * Wendland(1, 0)).check(np.ones((2, 2)))
    assert np.isfinite(Sinc()(np.ones((2, 4)))).all()  # a value is a value


def test_names_that_stand_twice_are_refused():
    frame = pd.DataFrame(GOOD, columns=["a", "a"])
    with pytest.raises(InputError, match="2 columns have that name"):
        Gaussian().on("a")(frame)
    assert Gaussian().on(0)(frame).shape == (3, 3)


def test_the_message_of_the_design():
    with pytest.raises(DomainError) as caught:
        Min()([[1.0, 1.0, 1.0, -0.7]])
    wanted = "Min needs non-negative coordinates; column 3 holds -0.7. Shift the data, or use Gaussian()."
    assert str(caught.value) == wanted


def test_messages_name_the_columns_of_the_users_data():
    table = np.ones((2, 5))
    table[1, 3] = -0.7
    for kernel in (Min().on([3]), Min().on([0, 3]), Min().on([1]).on([0, 3, 1])):
        with pytest.raises(DomainError, match=r"; column 3 holds -0.7"):
            kernel(table)
    with pytest.raises(DomainError, match=r"; scaled column 3 holds -0.35"):
        Min().scaled([1.0, 2.0]).on([4, 3])(table)
    with pytest.raises(DomainError, match=r"mapped column 1 holds -0.7"):
        Min().after(np.eye(5)[[0, 3]])(table)
    table[1, 3] = np.nan
    with pytest.raises(InputError, match=r"column 3 holds nan in row 1"):
        Linear().on([1, 3])(table)


def test_the_domain_counts_only_where_the_kernel_looks():
    table = np.array([[1.0, -2.0], [3.0, -4.0]])
    kernel = Min().on([0]) + Gaussian().on([1])
    assert np.isfinite(kernel(table)).all()
    frame = pd.DataFrame(table, columns=["count", "shift"])
    with pytest.raises(DomainError, match="column 'shift' holds -2"):
        Min().on(["shift"])(frame)
    assert np.isfinite(Min().after(np.abs)(table)).all()
    with pytest.raises(DomainError):
        Min().after(np.negative)(np.abs(table))


@pytest.mark.parametrize("build", [pd.DataFrame, lambda table: pl.DataFrame(dict(table))])
def test_frames_are_read_by_name_and_position(build):
    frame = build({"age": [1.0, 2.0], "hours": [3.0, 5.0]})
    plain = np.array([[1.0, 3.0], [2.0, 5.0]])
    np.testing.assert_array_equal(Gaussian()(frame), Gaussian()(plain))
    np.testing.assert_array_equal(Linear().on("hours")(frame), Linear()(plain[:, 1:]))
    np.testing.assert_array_equal(Linear().on([1])(frame), Linear()(plain[:, 1:]))
    with pytest.raises(InputError, match=r"column named 'hour'.*'age', 'hours'"):
        Linear().on("hour")(frame)


@pytest.mark.parametrize("build", [pd.DataFrame, lambda table: pl.DataFrame(dict(table))])
def test_columns_at_which_no_kernel_looks_may_hold_anything(build):
    frame = build({"city": ["Rome", "Oslo"], "age": [1.0, 2.0], "gap": [np.nan, 0.0], "hours": [3.0, 5.0]})
    kernel = 2 * Gaussian("median").on("age") * (1 + Linear().on([3])) ** 2
    closed = kernel.resolve(frame)
    age, hours = np.array([[1.0], [2.0]]), np.array([[3.0], [5.0]])
    np.testing.assert_allclose(closed(frame), 2 * Gaussian(1.0)(age) * (1 + Linear()(hours)) ** 2)
    with pytest.raises(InputError, match="column 'gap' holds nan in row 0"):
        (closed + Linear().on("gap"))(frame)
    with pytest.raises(InputError, match="column 'city' holds 'Rome'"):
        (Gaussian() + Linear().on("age"))(frame)
    array = np.array([[np.nan, 1.0], [2.0, 3.0]])
    np.testing.assert_array_equal(Linear().on(-1)(array), Linear()(array[:, 1:]))


def test_composites_speak_in_their_own_name():
    with pytest.raises(InputError, match=r"^gaussian\(lengthscale=1.0\) \+ linear needs finite"):
        (Gaussian() + Linear())([[np.nan]])
    with pytest.raises(InputError, match=r"^The kernel needs finite"):
        (Gaussian() + Linear() + Gaussian(2.0) + Gaussian(3.0))([[np.nan]])


def test_whole_numbers_booleans_and_lists_are_data():
    assert Linear()([[1, 2]], [[3, 4]])[0, 0] == 11.0
    assert Linear()(np.array([[True, False]]))[0, 0] == 1.0


MIXED = {"whole": [1, 2, 3], "half": [0.5, 1.5, 2.5], "flag": [True, False, True]}


@pytest.mark.parametrize("frame", [pd.DataFrame(MIXED), pd.DataFrame(MIXED).convert_dtypes()], ids=["NumPy", "pandas"])
def test_columns_of_several_types_of_numbers_are_numbers(frame):
    """Joined by pandas they are objects."""
    plain = np.column_stack([MIXED["whole"], MIXED["half"], MIXED["flag"]]).astype(float)
    assert np.asarray(frame).dtype == object
    np.testing.assert_array_equal(Linear()(frame), Linear()(plain))
    np.testing.assert_array_equal(Linear().on(["flag", "half"])(frame), Linear()(plain[:, [2, 1]]))
    frame = frame.astype({"whole": "Int64"})
    frame.loc[1, "whole"] = pd.NA
    with pytest.raises(InputError, match=r"needs finite numbers; column 'whole' holds nan in row 1"):
        Linear()(frame)
    with pytest.raises(InputError, match=r"column 'text' holds 'x'"):
        Linear()(frame[["half"]].assign(text="x"))


def test_an_open_number_must_be_found_first():
    with pytest.raises(InputError, match=r"resolve\(X\)"):
        Gaussian("median")(GOOD)


def test_overflow_is_said():
    with pytest.warns(NumericalWarning, match="overflows float64"):
        K = Exponential()([[1e3]])
    assert K[0, 0] == np.inf
    with pytest.warns(NumericalWarning, match="overflows float32"):
        Exponential()(np.array([[10.0]], dtype=np.float32))
    with pytest.warns(NumericalWarning):
        D = Exponential().distance([[1e3], [0.0]])
    assert not np.isnan(D).any()
