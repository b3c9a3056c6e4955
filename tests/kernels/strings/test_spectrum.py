"""Spectrum and blended spectrum: equal to plain Python's counts on strings of every kind."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer
from string_oracles import blended, columns, few, spectrum, tokens

import mercer
from mercer.errors import InputError, KernelError
from mercer.kernels import BagOfWords, BlendedSpectrum, GappySubsequence, Mismatch, Spectrum, WeightedDegree
from mercer.kernels.strings.sequences import short


@given(columns, st.integers(1, 4))
def test_property_spectrum_counts(strings, k):
    wanted = [[spectrum(x, z, k) for z in strings] for x in strings]
    np.testing.assert_array_equal(Spectrum(k)(strings), wanted)
    np.testing.assert_array_equal(Spectrum(k).diagonal(strings), np.diag(wanted))


@given(columns, st.integers(1, 4), st.sampled_from([0.5, 1.0, 2.0]))
def test_property_blended_counts(strings, k, decay):
    wanted = [[blended(x, z, k, decay) for z in strings] for x in strings]
    np.testing.assert_allclose(BlendedSpectrum(k, decay)(strings), wanted, rtol=1e-14)


def _at_places(x, z, degree):
    weights = [2 * (degree - j + 1) / (degree * (degree + 1)) for j in range(1, degree + 1)]
    shared = [
        sum(x[i : i + j] == z[i : i + j] for i in range(min(len(x), len(z)) - j + 1)) for j in range(1, degree + 1)
    ]
    return sum(weight * count for weight, count in zip(weights, shared, strict=True))


@given(columns, st.integers(1, 4))
def test_property_weighted_degree_counts_runs_at_their_places(strings, degree):
    wanted = [[_at_places(x, z, degree) for z in strings] for x in strings]
    np.testing.assert_allclose(WeightedDegree(degree)(strings), wanted, rtol=1e-13)


@given(st.lists(few, min_size=1, max_size=5), st.lists(few, min_size=1, max_size=4))
def test_property_two_lists_of_strings(X, Z):
    np.testing.assert_array_equal(Spectrum(2)(X, Z), [[spectrum(x, z, 2) for z in Z] for x in X])


@pytest.mark.parametrize("kernel", [Spectrum(1), Spectrum(3), BlendedSpectrum(3, 0.5), WeightedDegree(3)])
@given(first=st.lists(tokens, min_size=1, max_size=4), later=st.lists(tokens, min_size=1, max_size=4))
def test_property_later_strings_change_no_order(kernel, first, later):
    """The append law of `Counted.count`."""
    first, later = tuple(map(tuple, first)), tuple(map(tuple, later))
    alone, beside = csr_array(kernel.count(first)), csr_array(kernel.count(first + later))[: len(first)]
    wanted, found = alone[:, np.unique(alone.indices)], beside[:, np.unique(beside.indices)]
    np.testing.assert_array_equal(found.toarray(), wanted.toarray())


@given(st.lists(few, min_size=1, max_size=6), st.integers(1, 3))
def test_property_gram_matrices_are_positive(strings, k):
    values = np.linalg.eigvalsh(Spectrum(k)(strings))
    assert values[0] >= -1e-12 * max(1.0, values[-1])


@pytest.mark.parametrize("k", [1, 2, 5])
def test_equal_to_scikit_learn(k):
    texts = ["Free entry in 2 a wkly comp", "Nah I don't think", "Ok lar... Joking", "x" * 12, "FREE entry"]
    counts = CountVectorizer(analyzer="char", ngram_range=(k, k), lowercase=False).fit_transform(texts).toarray()
    np.testing.assert_array_equal(Spectrum(k)(texts), counts @ counts.T)


def test_lengths_short_of_k_have_no_runs():
    np.testing.assert_array_equal(Spectrum(3)(["", "ab", "abc"]), np.diag([0, 0, 1]))
    np.testing.assert_array_equal(Spectrum(3).normalized()(["", "ab", "abc"]), np.diag([0, 0, 1]))
    np.testing.assert_array_equal(Spectrum(3)(["", "ab"]), np.zeros((2, 2)))


def test_combining_characters_are_symbols():
    """Code points count, not what is seen: a letter with an accent in one and in two code points differ."""
    assert Spectrum(1)(["\u00e9"], ["e\u0301"])[0, 0] == 0
    assert Spectrum(1)(["e"], ["e\u0301"])[0, 0] == 1


@pytest.mark.parametrize(
    "kernel",
    [Spectrum(2), BlendedSpectrum(2, 0.5), Mismatch(2, 1, "ab"), BagOfWords(), BagOfWords((1, 2), "idf", documents=3)],
)
@pytest.mark.parametrize("strings", [("abba", "b"), ("", "a")])
def test_features_have_places_of_32_bits(kernel, strings):
    """Linear models of scikit-learn take no others."""
    rows = kernel.count(strings)
    assert (rows.indices.dtype, rows.indptr.dtype) == (np.int32, np.int32)
    assert rows.dtype == np.float64
    assert short(2**31) is np.int64


@pytest.mark.parametrize("kernel", [Spectrum(4), BlendedSpectrum(2, 0.5), GappySubsequence(2, 0.25)])
def test_proofs_and_texts(kernel):
    assert mercer.prove(kernel).status == "proven"
    assert mercer.prove(kernel.normalized() + 2 * kernel**2).status == "proven"
    assert mercer.parse(str(kernel)) == kernel
    assert eval(f"mercer.kernels.{kernel!r}") == kernel  # noqa: S307
    assert kernel._repr_latex_().count("{") == kernel._repr_latex_().count("}")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Spectrum(0), "integer from 1 to 10000 for k"),
        (lambda: Spectrum(2.5), "integer from 1 to 10000 for k"),
        (lambda: BlendedSpectrum(2, 0), "a positive decay"),
        (lambda: BlendedSpectrum(2, -0.5), "a positive decay"),
    ],
)
def test_bad_fields(build, message):
    with pytest.raises(KernelError, match=message):
        build()


@pytest.mark.parametrize(
    ("X", "Z", "message"),
    [
        (["a", None], None, "Spectrum needs strings .* row 1 holds None"),
        (["a", b"b"], None, "strings of one type; row 0 holds str and row 1 holds bytes"),
        (["a"], [b"a"], "strings of one type"),
        ("abc", None, "Spectrum needs"),
        ([[1.0, 2.0]], [["a"]], None),
    ],
)
def test_bad_data(X, Z, message):
    if message is None:  # numbers are tokens, too
        assert Spectrum(1)(X, Z)[0, 0] == 0
        return
    with pytest.raises(InputError, match=message):
        Spectrum(1)(X, Z)
