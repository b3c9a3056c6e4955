"""What is under examination, and the small steps of the search: each against plain arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

import mercer
from mercer.errors import InputError
from mercer.kernels import ExponentialChiSquared, Gaussian, Laplace, Linear, Polynomial, Sigmoid, Sinc
from mercer.kernels.precision.mpmath_arrays import precisely
from mercer.kernels.proof import counterexample, examiner, search, simplify
from mercer.kernels.proof.configurations import Configuration
from mercer.kernels.proof.record import Witness
from mercer.kernels.proof.subject import FunctionSubject, KernelSubject

X = np.array([[0.0, 1.0], [2.0, -1.0], [0.5, 3.0]])


def test_the_matrix_of_a_kernel_is_its_own():
    for kernel in (Linear(), Gaussian(0.7), 2 * Polynomial(2)):
        np.testing.assert_allclose(KernelSubject.of(kernel).matrix(X), kernel(X), rtol=1e-14)


def test_open_numbers_are_taken_as_one():
    subject = KernelSubject.of(Gaussian("median") + Laplace(3.0))
    np.testing.assert_allclose(subject.matrix(X), (Gaussian(1.0) + Laplace(3.0))(X), rtol=1e-14)
    assert subject.scale == 2.0  # the median of 1 and 3
    assert KernelSubject.of(Linear()).scale == 1.0


def test_a_kernel_has_no_value_at_a_pole():
    """(x - z)^2 / (x + z) at x = -z: exp(-inf) would be 0."""
    found = KernelSubject.of(ExponentialChiSquared()).matrix(np.array([[-1.0], [1.0], [2.0]]))
    assert np.isnan(found).tolist() == [[False, True, False], [True, False, False], [False] * 3]


def test_numbers_of_columns_to_try():
    assert KernelSubject.of(Linear()).columns(None) == (1, 2, 3, 4)
    assert KernelSubject.of(Linear()).columns(7) == (7,)
    named = KernelSubject.of(Linear().on(["b", "a"]) * Gaussian().on(["a", "c"]))
    assert named.columns(None) == (3,)
    assert named.names == ("b", "a", "c")
    assert named.columns(5) == (5,)
    third = KernelSubject.of(Linear().after(lambda rows: rows[:, [2]]))
    assert [third.fits(d) for d in (1, 2, 3, 4)] == [False, False, True, True]


def test_maps_that_stack_rows_fit():
    """A map may give other values, not fewer rows: two rows are tried."""
    assert KernelSubject.of(Linear().after(lambda rows: np.diff(rows, axis=1))).fits(2)


def test_profiles():
    r = np.array([[0.0, 1.0], [2.0, 0.5]])
    subject = KernelSubject.of(Gaussian(2.0))
    np.testing.assert_allclose(subject.profile(r), np.exp(-(r**2) / 8), rtol=1e-15)
    precise = subject.precise_profile(precisely(r))
    np.testing.assert_allclose(precise.astype(float), np.exp(-(r.ravel() ** 2) / 8), rtol=1e-15)

    class Stubborn(mercer.kernels.Radial):
        def profile(self, u):
            return np.where(np.isfinite(u), 1.0, 0.0)

    assert KernelSubject.of(Stubborn()).precise_profile(precisely(r)) is None


def test_functions():
    subject = FunctionSubject(lambda x, z: float(x @ z) + 1.0)
    np.testing.assert_array_equal(subject.matrix(X), X @ X.T + 1.0)
    check = subject.check(X, np.array([1.0, 0.0, -2.0]))
    assert (check.value, check.digits) == (np.array([1.0, 0.0, -2.0]) @ (X @ X.T + 1.0) @ [1.0, 0.0, -2.0], 16)
    assert subject.effort == 0.5
    assert FunctionSubject(lambda x, z: np.array([[True]])).value(X[0], X[1]) == 1.0
    for answer in ([1.0, 2.0], "a", 1j, None):
        with pytest.raises(InputError, match="one real number for two points"):
            FunctionSubject(lambda x, z, answer=answer: answer).value(X[0], X[1])


@pytest.mark.parametrize(
    ("asked", "d", "columns"),
    [
        (Sigmoid(), None, 1),
        (Sinc(), 4, 4),
        (lambda x, z: -float(x @ z), None, 1),
        (lambda x, z: -float(x @ z), 3, 3),
        (lambda x, z: float(x[0] - z[0]), None, 1),
    ],
    ids=["sigmoid", "sinc", "minus", "minus in three", "difference"],
)
def test_a_refuted_function_is_a_kernel_in_no_dimension(asked, d, columns):
    proof = mercer.prove(asked, d=d)
    assert (proof.status, proof.dimension, proof.max_dimension) == ("refuted", columns, 0)


def test_unknown_is_known_for_no_dimension():
    proof = mercer.prove(lambda x, z: float(x @ z), d=2)
    assert (proof.status, proof.dimension, proof.max_dimension, proof.witness) == ("unknown", 2, 0, None)


# -- small steps ------------------------------------------------------------------------------------------------------


def test_distinct_points():
    rows = np.array([[1.0, 2.0], [np.nan, 0.0], [0.0, 0.0], [1.0, 2.0 + 1e-14], [3.0, np.inf], [0.0, 0.0], [0.0, 1.0]])
    np.testing.assert_array_equal(examiner.distinct(rows), [[1, 2], [0, 0], [0, 1]])
    assert examiner.distinct(rows[:1]).tolist() == [[1, 2]]
    assert len(examiner.distinct(np.zeros((3, 2)))) == 1
    small = 1e-20 * np.array([[1.0], [2.0], [1.0]])
    np.testing.assert_array_equal(examiner.distinct(small), small[:2])


def test_the_most_negative_weights():
    """Of [[1, 2], [2, 1]], with eigenvalues 3 and -1, the weights are (1, -1), and the form is -2."""
    found = examiner.most_negative(X[:2], np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert found.ratio == pytest.approx(-1.0)
    np.testing.assert_allclose(np.sort(found.weights), [-1.0, 1.0])
    assert found.value == pytest.approx(-2.0)
    assert found.clear
    assert examiner.most_negative(X[:2], np.eye(2)) is None
    assert examiner.most_negative(X[:2], np.zeros((2, 2))) is None
    uneven = np.diag([100.0, 1.0])
    uneven[0, 1] = uneven[1, 0] = 15.0
    assert examiner.most_negative(X[:2], uneven).ratio == pytest.approx(-0.5)  # 1 - 15 / sqrt(100 * 1)


def test_points_are_examined_once_where_they_are_moved():
    seen = []

    def gram(points):
        seen.append(points)
        return -np.eye(len(points))

    watch = examiner.Examiner(gram, np.rint)
    assert watch.examine_new(np.array([[0.1], [1.2], [0.9]])).points.tolist() == [[0.0], [1.0]]
    assert watch.examine_new(np.array([[0.2], [0.8]])) is None
    assert watch.trials == len(seen) == 1
    assert watch.stays(np.array([[0.0], [1.0]]))
    assert not watch.stays(np.array([[0.0], [1.5]]))
    assert not watch.stays(np.array([[0.0], [0.0]]))


def test_gram_matrices_are_symmetric_and_finite():
    skew = examiner.Examiner(lambda points: np.array([[1.0, 4.0], [2.0, 1.0]]), lambda points: points)
    np.testing.assert_array_equal(skew.gram(X[:2]), [[1.0, 3.0], [3.0, 1.0]])
    assert examiner.Examiner(lambda points: np.array([[np.nan]]), lambda points: points).gram(X[:1]) is None


@pytest.mark.parametrize(("kernel", "moves"), [(Gaussian(), False), (Linear(), True)], ids=["gaussian", "linear"])
def test_what_a_shift_changes(kernel, moves):
    watch = examiner.Examiner(lambda points: kernel(points), lambda points: points)
    assert watch.stationary(2, 1.5) is not moves
    assert not examiner.Examiner(lambda points: kernel(points), np.rint).stationary(2, 1.5)


def test_versions_of_a_set():
    """A shift is a multiple of the size, or stands by itself where the multiple is 0."""
    ends = Configuration("ends", np.array([[-1.0], [1.0]]))
    shifts = search._shifts(1, 3.0)
    found = [points.ravel().tolist() for points in search._versions(ends, np.array([1.0, 10.0]), shifts)]
    assert found[:4] == [[2, 4], [-7, 13], [1, 3], [10, 30]]
    assert found[4:] == [[-3, -1], [-30, -10], [0.5, 2.5], [5, 25]]
    assert [list(direction) for _, direction in search._shifts(2, 3.0)] == [[3, 0], [1, 0], [1, 0], [1, 1]]


def test_roundings_start_at_the_first_digit():
    found = list(simplify._roundings(np.array([-0.0123456789012, 0.001])))
    assert len(found) == 9
    assert found[0].tolist() == [-0.01, 0.0]
    assert found[1].tolist() == [-0.012, 0.001]
    assert list(simplify._roundings(np.array([123.4]))) == [100, 120, 123, 123.4, *[123.4] * 5]
    assert [each.item() for each in simplify._roundings(np.zeros(1))] == [0.0] * 9


def test_whole_weights():
    """[[0, 1], [1, 0]] is least along (1, -1); [[1, 2], [2, 1.5]] where the first has the larger weight."""
    assert next(counterexample._whole_weights(np.array([[0.0, 1.0], [1.0, 0.0]]))) == [1, -1]
    found = list(counterexample._whole_weights(np.array([[1.0, 4.0], [4.0, 9.0]])))
    direction = np.linalg.eigh([[1.0, 4.0], [4.0, 9.0]])[1][:, 0]
    assert len(found) == 1000
    assert found[-1][0] == 1000
    assert found[-1][1] == round(1000 * direction[1] / direction[0])
    assert [max(map(abs, weights)) for weights in found] == list(range(1, 1001))
    assert not list(counterexample._whole_weights(np.eye(2)))


def test_quadratic_forms_are_exact():
    value, size = counterexample.quadratic_form(np.array([[0.1, 0.2], [0.2, 0.3]]), [1, -2])
    exact = [Fraction(0.1), -4 * Fraction(0.2), 4 * Fraction(0.3)]
    assert value == sum(exact)
    assert size == sum(map(abs, exact))


def test_long_witnesses_are_cut_off():
    def told(count):
        return str(Witness(np.arange(count)[:, None] / 4, np.linspace(1, -1, count), -0.5, 50)).splitlines()

    assert told(1) == [
        "Witness: 1 point",
        "    x1 = (0)   weight 1",
        "    k(x1, x1) = -0.5 < 0   (verified with 50 digits)",
    ]
    assert told(2)[-1] == "    c @ k(X) @ c = -0.5 < 0   (verified with 50 digits)"
    assert len(told(12)) == 14
    assert told(12)[12] == "    x12 = (2.75)   weight -1"
    assert told(15)[13] == "    ... and 3 more (proof.witness.points, proof.witness.weights)"
    with pytest.raises(ValueError, match="zip"):
        str(Witness(np.zeros((2, 1)), np.ones(3), -0.5, 50))


@pytest.mark.parametrize(
    ("matrix", "wanted"),
    [
        ([[1.0, 8.0], [8.0, 3.0]], "plain"),
        ([[4.0, 1.0, -10.0], [1.0, 4.0, -10.0], [-10.0, -10.0, 6.0]], "normalised"),
    ],
)
def test_the_better_of_two_eigenvectors_is_shown(matrix, wanted):
    """The one of the matrix, or that of the matrix with a diagonal of ones: whichever makes the form more negative."""
    K = np.array(matrix)
    unit = np.sqrt(np.diag(K))
    choices = {
        "plain": np.linalg.eigh(K)[1][:, 0],
        "normalised": np.linalg.eigh(K / np.outer(unit, unit))[1][:, 0] / unit,
    }
    forms = {name: (w / np.abs(w).max()) @ K @ (w / np.abs(w).max()) for name, w in choices.items()}
    assert min(forms, key=forms.get) == wanted
    found = examiner.most_negative(np.zeros((len(K), 1)), K)
    assert found.value == pytest.approx(forms[wanted])
    assert found.ratio == pytest.approx(np.linalg.eigvalsh(K / np.outer(unit, unit))[0])
