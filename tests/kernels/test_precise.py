"""Numbers of 50 digits under NumPy's functions."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.kernels.precision.mpmath_arrays import FUNCTIONS, Precise, precisely

values = st.floats(-20, 20)


def text(number):
    return mpmath.nstr(number, 45)


@given(values, values)
def test_property_arithmetic_is_mpmaths(a, b):
    with mpmath.workdps(50):
        x, y = mpmath.mpf(a), mpmath.mpf(b)
        for found, wanted in (
            (Precise(a) + b, x + y),
            (a + Precise(b), x + y),
            (Precise(a) - b, x - y),
            (a - Precise(b), x - y),
            (Precise(a) * Precise(b), x * y),
            (-Precise(a), -x),
            (abs(Precise(a)), abs(x)),
            (2 ** Precise(b), mpmath.mpf(2) ** y),
            (Precise(a) ** 3, x**3),
        ):
            assert text(found.value) == text(wanted)
        if b:
            assert text((a / Precise(b)).value) == text(x / y)
            assert text((Precise(a) / b).value) == text(x / y)
        assert (Precise(a) < b, Precise(a) >= b, Precise(a) == b) == (a < b, a >= b, a == b)


@pytest.mark.parametrize("name", [*FUNCTIONS, "floor", "ceil"])
def test_functions_of_numpy(name):
    ours = getattr(np, name)(precisely(np.array([[0.3, 0.7]])))
    with mpmath.workdps(50):
        wanted = [getattr(mpmath, FUNCTIONS.get(name, name))(mpmath.mpf(x)) for x in (0.3, 0.7)]
    assert [text(x.value) for x in ours[0]] == [text(x) for x in wanted]


def test_choices_and_sums_of_numpy():
    numbers = precisely(np.array([-1.0, 2.0, 0.5]))
    assert np.maximum(numbers, 0.0).astype(float).tolist() == [0.0, 2.0, 0.5]
    assert np.where(numbers > 0, numbers, 7.0).astype(float).tolist() == [7.0, 2.0, 0.5]
    assert float(numbers.sum()) == 1.5
    assert (numbers @ numbers) == Precise(5.25)


def test_other_things_are_not_numbers():
    assert Precise(1).__add__("1") is NotImplemented
    with pytest.raises(TypeError):
        Precise(1) + "1"
    assert len({Precise(1), Precise(1)}) == 1
    assert not Precise(0)
    assert repr(Precise(0.5)) == "Precise(0.5)"


def test_the_users_mpmath_is_left_alone():
    before = mpmath.mp.dps
    Precise(1) / 3
    assert mpmath.mp.dps == before


def test_complex_values_and_endless_ones_are_what_numpy_makes_of_them():
    negative = precisely(np.array([-2.0]))
    with np.errstate(all="ignore"):
        for function in (np.sqrt, np.log, lambda x: np.power(x, 0.5)):
            assert np.isnan(function(np.array([-2.0]))).all()
            assert np.isnan(function(negative).astype(float)).all()
        huge = np.exp(np.exp(precisely(np.array([800.0]))))  # beyond any computer: NumPy's is infinite
        assert float(huge[0]) == np.inf
        assert np.isnan(float(np.cos(huge)[0]))
        assert float(np.exp(-np.exp(precisely(np.array([800.0]))))[0]) == 0.0
