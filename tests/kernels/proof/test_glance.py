"""What is said of a kernel at a glance, where nothing is proven: a word, and where to ask for more."""

import pytest

from mercer.kernels import EditSimilarity, Gaussian, Linear, Sigmoid, Spectrum
from mercer.kernels.proof.glance import MAX_NODES, MORE, SEEN, _quick, glance


def test_a_small_tree_is_refuted_by_points():
    proof = glance(Sigmoid(1.0, -1.0))
    assert (proof.status, proof.dimension, proof.max_dimension) == ("refuted", 1, 0)
    assert proof.steps[-1] == SEEN
    c, X = proof.witness.weights, proof.witness.points
    assert c @ Sigmoid(1.0, -1.0)(X) @ c == pytest.approx(proof.witness.value)
    assert proof.witness.value < 0


def test_points_have_the_columns_that_were_named():
    proof = glance(Sigmoid(1.0, -1.0).on(["a", "b"]))
    assert (proof.status, proof.dimension) == ("refuted", 2)
    assert proof.witness.points.shape[1] == 2


def chain(count):
    """A sum of so many functions that are none: with the sum itself `count` + 1 nodes."""
    return sum((Sigmoid(1.0, -float(i)) for i in range(2, count + 1)), Sigmoid(1.0, -1.0))


def test_large_trees_are_left_alone():
    assert _quick(chain(MAX_NODES - 1))
    assert not _quick(chain(MAX_NODES))
    assert glance(chain(MAX_NODES - 1)).status == "refuted"
    proof = glance(chain(MAX_NODES))
    assert (proof.status, proof.max_dimension, proof.witness) == ("unknown", 0, None)
    assert proof.steps[-1] == MORE


def test_functions_of_a_user_are_not_called():
    def never(rows):
        raise AssertionError("called")

    proof = glance(Sigmoid().weighted(never))
    assert (proof.status, proof.steps[-1]) == ("unknown", MORE)
    assert glance(Sigmoid().after(never)).status == "unknown"


def test_things_are_named_and_not_evaluated():
    proof = glance(EditSimilarity())
    assert (proof.status, proof.max_dimension, proof.witness) == ("refuted", 0, None)
    told = proof.steps[-1]
    assert all(repr(thing) in told for thing in EditSimilarity().counterexample())
    assert told.endswith("are known to show it; mercer.prove(kernel) gives their weights")


def test_what_is_proven_at_once():
    assert glance(Spectrum(2)).status == "proven"
    assert glance(Gaussian() * Linear()).status == "proven"
    assert glance(Gaussian()).max_dimension is None
