"""From things that a leaf states to a witness: small whole weights, checked in fractions, for the whole tree."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

import mercer
from mercer.kernels import CommonSubsequence, EditSimilarity, Gaussian, Spectrum
from mercer.kernels.objects.compared import Compared
from mercer.kernels.objects.domains import STRINGS
from mercer.kernels.proof import counterexample
from mercer.kernels.proof.counterexample import quadratic_form, refutation
from mercer.kernels.proof.record import ObjectWitness


class Stated(Compared):
    """A kernel of the strings "0", "1", ... whose matrix is given, which states these strings against itself."""

    matrix: tuple[tuple[float, ...], ...] = ()

    @property
    def domain(self):
        return STRINGS

    def encode(self, items):
        return np.array([int(item) for item in items])

    def values(self, encoded, rows, columns):
        return np.array(self.matrix)[np.ix_(encoded[rows], encoded[columns])]

    def own(self, encoded, rows):
        return np.diag(np.array(self.matrix))[encoded[rows]]

    def counterexample(self):
        return tuple(map(str, range(len(self.matrix))))


@pytest.mark.parametrize(
    ("matrix", "weights"),
    [
        (((-1.0,),), (1,)),
        (((1.0, 2.0), (2.0, 1.0)), (1, -1)),
        (((0.0, 1.0), (1.0, 5.0)), (3, -1)),
        (((1.0, 0.0, 2.0), (0.0, 1.0, 0.0), (2.0, 0.0, 1.0)), (1, -1)),
    ],
)
def test_the_smallest_weights(matrix, weights):
    witness = refutation(Stated(matrix))
    assert witness.weights == weights
    kept = [int(thing) for thing in witness.objects]
    part = np.array(matrix)[np.ix_(kept, kept)]
    assert witness.value == np.array(weights) @ part @ np.array(weights) < 0


@pytest.mark.parametrize(
    "matrix",
    [
        ((1.0, 0.5), (0.5, 1.0)),
        ((1.0, 1.0), (1.0, 1.0)),
        ((1.0, 1.0 + 1e-9), (1.0 + 1e-9, 1.0)),  # may be rounding of a user's own formula
        ((1.0, np.inf), (np.inf, 1.0)),
    ],
)
def test_no_witness(matrix):
    kernel = Stated(matrix)
    assert refutation(kernel) is None
    proof = mercer.prove(kernel)
    assert proof.status == "unknown"
    assert "no points are searched on such a domain; sampling would prove nothing" in str(proof)


def test_nearly_semi_definite_needs_larger_weights():
    """A null direction of 1 : 0.37, and a little less."""
    matrix = ((0.37**2 - 1e-4, -0.37), (-0.37, 1.0))
    witness = refutation(Stated(matrix))
    assert witness.weights == (8, 3)
    value, size = quadratic_form(np.array(matrix), list(witness.weights))
    assert value < -Fraction(1, 10**6) * size


def test_the_form_is_exact():
    """Floats that cancel: 0.1 + 0.2 - 0.3 is no zero, and neither is what fractions give."""
    value, size = quadratic_form(np.array([[0.1, 0.0, 0.0], [0.0, 0.2, 0.0], [0.0, 0.0, -0.3]]), [1, 1, 1])
    assert value == Fraction(0.1) + Fraction(0.2) - Fraction(0.3)
    assert value > 0
    assert size == Fraction(0.1) + Fraction(0.2) + Fraction(0.3)


@pytest.mark.parametrize(
    ("kernel", "status"),
    [
        (2 * CommonSubsequence(), "refuted"),
        (CommonSubsequence().normalized(), "refuted"),
        (EditSimilarity().on(0), "refuted"),
        (CommonSubsequence() + Spectrum(5), "refuted"),
        (CommonSubsequence() + 1000 * Spectrum(1), "refuted"),  # whose features the weights cancel
        (CommonSubsequence() + 1000 * Spectrum(2), "unknown"),
        (EditSimilarity().on("name"), "unknown"),
        (EditSimilarity().on(0) * Gaussian().on(1), "unknown"),
        (Spectrum(2).on(0) * Gaussian().on(1), "proven"),
    ],
)
def test_whole_trees(kernel, status):
    proof = mercer.prove(kernel)
    assert proof.status == status
    assert (proof.witness is None) == (status != "refuted")


def test_what_is_printed():
    proof = mercer.prove("common_subsequence")
    assert isinstance(proof.witness, ObjectWitness)
    assert str(proof).startswith("[refuted] common_subsequence is not a kernel on strings.\n")
    assert "x3 = 'ab'   weight -1" in str(proof)
    assert "(in integers)" in str(proof)
    assert ">x3</th><td>&#39;ab&#39;</td><td>-1</td>" in proof._repr_html_()
    assert "for every d" not in str(mercer.prove("spectrum(k=2)"))


def test_weights_of_a_larger_set(monkeypatch):
    """A hundred strings, of which a few matter: the weights are whole, and some are zero."""
    rng = np.random.default_rng(0)
    features = csr_array(rng.normal(size=(30, 40))).toarray()
    matrix = features @ features.T
    matrix[0, 1] = matrix[1, 0] = 2 * max(matrix[0, 0], matrix[1, 1])
    witness = refutation(Stated(tuple(map(tuple, matrix))))
    assert witness.value < 0
    assert 2 <= len(witness.objects) < 30
    monkeypatch.setattr(counterexample, "MAX_WEIGHT", 0)
    assert refutation(Stated(tuple(map(tuple, matrix)))) is None
