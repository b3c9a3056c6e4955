"""The ends of spectra against dense eigenvalues."""

import math

import numpy as np
import pytest

from mercer.errors import InputError
from mercer.operators import Dense, Gram
from mercer.solvers.eigenvalues.lanczos import MAX_STEPS, edges


def turned(values, seed=0):
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))[0]
    A = (Q * np.asarray(values)) @ Q.T
    return (A + A.T) / 2


SPECTRA = {
    "one": [3.0],
    "two": [1.0, 2.0],
    "equal": np.full(30, 2.5),
    "even": np.linspace(1, 300, 300),
    "decaying": 2.0 ** -np.arange(60.0),
    "a needle": np.r_[np.ones(299), 5.0],
    "crowded at the top": 100 - np.geomspace(1e-3, 99, 200),
    "indefinite": np.linspace(-4, 2, 15),
    "negative": -np.arange(1.0, 9.0),
}


@pytest.mark.parametrize("name", SPECTRA)
def test_the_ends_lie_inside_and_the_top_is_near(name):
    values = np.asarray(SPECTRA[name])
    ends = edges(turned(values))
    rounding = 1e-12 * np.abs(values).max()
    assert values.min() - rounding <= ends.low <= ends.high <= values.max() + rounding
    assert ends.high >= values.max() - 0.05 * np.abs(values).max()
    assert max(values.max(), 0) - rounding <= ends.top * (1 + 1e-3)
    assert ends.error >= 0


@pytest.mark.parametrize("n", [1, 2, 50])
def test_a_matrix_of_zeros_has_its_ends_at_zero(n):
    assert edges(np.zeros((n, n))) == (0.0, 0.0, 0.0)


def test_few_unknowns_are_exact():
    values = np.array([0.5, 1.0, 4.0, 9.0])
    low, high, error = edges(turned(values))
    np.testing.assert_allclose([low, high], [0.5, 9.0], rtol=1e-12)
    assert error < 1e-12


def test_the_steps_suffice_for_half_of_the_eigenvalue_by_the_bound_of_the_paper():
    bound = 0.103 * (math.log(1e12 * (MAX_STEPS - 1) ** 4) / (MAX_STEPS - 1)) ** 2
    assert bound < 0.5


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_sizes_whose_squares_are_no_numbers(size):
    assert edges(turned([1.0, 2.0, 4.0, 7.0]) * size).top == pytest.approx(7 * size, rel=1e-7)


class Counted(Dense):
    products = 0

    def _multiply(self, V):
        type(self).products += 1
        return super()._multiply(V)


def test_products_are_few_and_fewer_where_the_spectrum_decays():
    even, decaying = Counted(turned(np.linspace(1, 2, 100))), Counted(turned(10.0 ** -np.arange(100.0)))
    edges(even)
    first = Counted.products
    edges(decaying)
    assert first == MAX_STEPS == 20
    assert Counted.products - first < MAX_STEPS


def test_an_operator_that_is_not_stored_and_the_same_bits_twice():
    X = np.random.default_rng(1).normal(size=(60, 2))
    K = Gram("gaussian", X)
    values = np.linalg.eigvalsh(K.to_dense())
    assert edges(K) == edges(K)
    assert edges(K).high == pytest.approx(values[-1], rel=1e-12)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_matrix_that_is_not_finite_is_refused(wrong):
    A = np.eye(4)
    A[1, 2] = A[2, 1] = wrong
    with pytest.raises(
        InputError, match="A system needs a matrix of finite numbers; a product with it holds infinities"
    ):
        edges(A)
