"""Edit distance and longest common subsequence: right by plain Python, and refuted by strings that all can check."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from string_oracles import columns, common_length, edit_distance, few

import mercer
from mercer.kernels import CommonSubsequence, EditSimilarity
from mercer.kernels.strings import alignment


def similarity(x, z):
    return 1 - Fraction(edit_distance(x, z), max(len(x), len(z), 1))


@given(columns)
def test_property_edit_similarity(strings):
    wanted = [[float(similarity(x, z)) for z in strings] for x in strings]
    np.testing.assert_allclose(EditSimilarity()(strings), wanted, atol=1e-15)
    np.testing.assert_array_equal(EditSimilarity().diagonal(strings), np.ones(len(strings)))


@given(columns)
def test_property_common_subsequence(strings):
    wanted = [[common_length(x, z) for z in strings] for x in strings]
    np.testing.assert_array_equal(CommonSubsequence()(strings), wanted)
    np.testing.assert_array_equal(CommonSubsequence().diagonal(strings), list(map(len, strings)))


@given(st.lists(few, min_size=1, max_size=5), st.lists(few, min_size=1, max_size=4))
def test_property_batches(X, Z):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment, "BATCH_PAIRS", 3)
        np.testing.assert_array_equal(CommonSubsequence()(X, Z), [[common_length(x, z) for z in Z] for x in X])
        wanted = [[float(similarity(x, z)) for z in Z] for x in X]
        np.testing.assert_allclose(EditSimilarity()(X, Z), wanted, atol=1e-15)


@pytest.mark.parametrize(("kernel", "value"), [(EditSimilarity(), similarity), (CommonSubsequence(), common_length)])
@pytest.mark.parametrize("wrapped", [False, True])
def test_the_witness_can_be_checked_by_hand(kernel, value, wrapped):
    proof = mercer.prove(str(3 * kernel) if wrapped else kernel)
    assert proof.status == "refuted"
    things, weights = proof.witness.objects, proof.witness.weights
    assert all(isinstance(weight, int) for weight in weights)
    pairs = list(zip(things, weights, strict=True))
    form = sum(a * b * value(x, z) for x, a in pairs for z, b in pairs)
    assert form < 0
    assert proof.witness.value == pytest.approx(float(form * (3 if wrapped else 1)))


def test_what_the_objections_say_is_true():
    S = similarity
    assert [S("aba", "a") + S("aba", "b"), S("aba", "ab") + S("aba", "ba")] == [Fraction(2, 3), Fraction(4, 3)]
    weights = {"a": 1, "b": 1, "ab": -1, "ba": -1}
    assert sum(a * b * S(x, z) for x, a in weights.items() for z, b in weights.items()) == 0
    weights = {"a": 2, "b": 2, "ab": -1, "ba": -1}
    assert sum(a * b * common_length(x, z) for x, a in weights.items() for z, b in weights.items()) == -2
