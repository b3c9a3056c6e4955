"""Every kernel of strings keeps the laws of kernels, on strings that nobody chose."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from string_oracles import blobs, texts, tokens

from mercer.kernels import (
    BagOfWords,
    BlendedSpectrum,
    CommonSubsequence,
    EditSimilarity,
    GappySubsequence,
    Mismatch,
    Spectrum,
    WeightedDegree,
)
from mercer.testing import check_kernel

KERNELS = [
    Spectrum(2),
    BlendedSpectrum(3, 0.5),
    WeightedDegree(2),
    Mismatch(2, 1),
    GappySubsequence(2, 0.5),
    BagOfWords((1, 2), "idf"),
    Spectrum(1).normalized() * GappySubsequence(1) + 2.0,
]
kinds = st.sampled_from([(texts, "abab a"), (blobs, b"abab a"), (tokens, ["the", "cat", "the"])])


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@settings(max_examples=3)
@given(data=st.data())
def test_property_laws(kernel, data):
    strings, known = data.draw(kinds)
    rows = [known, *data.draw(st.lists(strings, min_size=3, max_size=5))]
    if isinstance(kernel, BagOfWords) and isinstance(known, bytes):
        rows = [row.decode("latin-1") for row in rows]
    check_kernel(kernel, X=rows)


@pytest.mark.parametrize("kernel", [EditSimilarity(), CommonSubsequence()])
def test_what_is_no_kernel_is_caught(kernel):
    with pytest.raises(AssertionError, match="eigenvalues"):
        check_kernel(kernel)
