"""Bags of words: what a word is, how words are weighted, and what is kept from the training texts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from string_oracles import grams, idf, inner, texts, tokens

import mercer
from mercer.errors import InputError, KernelError
from mercer.kernels import BagOfWords
from mercer.kernels.strings.words import documents

TEXTS = ["The cat sat on the mat.", "the dog sat", "A cat, a dog: CAT!", "", "...", "on on on"]
WORD = r"\w+"
words = st.lists(st.sampled_from(["cat", "dog", "The", "the"]), max_size=6)


@given(st.lists(words, min_size=1, max_size=5), st.integers(1, 3))
def test_property_counts_of_texts_and_of_tokens(lists, n):
    wanted = [[inner(grams(x, n), grams(z, n)) for z in lists] for x in lists]
    np.testing.assert_array_equal(BagOfWords(n, case="keep")(lists), wanted)
    np.testing.assert_array_equal(BagOfWords(n, case="keep")([", ".join(x) for x in lists]), wanted)


@given(st.lists(words, min_size=1, max_size=5))
def test_property_ranges_add_up(lists):
    wanted = sum(BagOfWords(n)(lists) for n in (1, 2, 3))
    np.testing.assert_array_equal(BagOfWords((1, 3))(lists), wanted)


@given(st.lists(words, min_size=1, max_size=5), st.integers(1, 2))
def test_property_binary(lists, n):
    wanted = [[len(set(grams(x, n)) & set(grams(z, n))) for z in lists] for x in lists]
    np.testing.assert_array_equal(BagOfWords(n, "binary", case="keep")(lists), wanted)


@given(st.lists(words, min_size=1, max_size=5), st.lists(words, min_size=1, max_size=4))
def test_property_idf_by_plain_python(train, new):
    kernel = BagOfWords(weights="idf", case="keep").resolve(train)
    n = len(train)
    weight = {w: idf(n, sum(w in x for x in train)) for w in ("cat", "dog", "The", "the")}
    wanted = [[sum(x.count(w) * z.count(w) * weight[w] ** 2 for w in weight) for z in new] for x in new]
    np.testing.assert_allclose(kernel(new), wanted, rtol=1e-13)


@pytest.mark.parametrize("weights", ["counts", "binary"])
@given(first=st.lists(tokens, min_size=1, max_size=4), later=st.lists(tokens, min_size=1, max_size=4))
def test_property_later_texts_change_no_order(weights, first, later):
    kernel, first, later = BagOfWords((1, 2), weights), tuple(map(tuple, first)), tuple(map(tuple, later))
    alone, beside = csr_array(kernel.count(first)), csr_array(kernel.count(first + later))[: len(first)]
    wanted, found = alone[:, np.unique(alone.indices)], beside[:, np.unique(beside.indices)]
    np.testing.assert_array_equal(found.toarray(), wanted.toarray())


@given(st.lists(texts, min_size=1, max_size=5))
def test_property_any_text_has_words(strings):
    K = BagOfWords()(strings)
    assert np.linalg.eigvalsh(K)[0] >= -1e-12 * max(1.0, K.max())


class TestAgainstScikitLearn:
    """Its rule for words, with words of one letter kept, is ours on plain texts."""

    @pytest.mark.parametrize("ngrams", [1, 2, (1, 2), (2, 3)])
    @pytest.mark.parametrize("binary", [False, True])
    def test_counts(self, ngrams, binary):
        span = (ngrams, ngrams) if isinstance(ngrams, int) else ngrams
        peer = CountVectorizer(token_pattern=WORD, ngram_range=span, binary=binary)
        rows = peer.fit_transform(TEXTS).toarray()
        np.testing.assert_array_equal(BagOfWords(ngrams, "binary" if binary else "counts")(TEXTS), rows @ rows.T)

    @pytest.mark.parametrize("ngrams", [1, (1, 2)])
    def test_idf(self, ngrams):
        span = (ngrams, ngrams) if isinstance(ngrams, int) else ngrams
        peer = TfidfVectorizer(token_pattern=WORD, ngram_range=span, norm=None)
        rows = peer.fit_transform(TEXTS).toarray()
        kernel = BagOfWords(ngrams, "idf").resolve(TEXTS)
        np.testing.assert_allclose(kernel(TEXTS), rows @ rows.T, rtol=1e-13)
        new = ["the dog on the mat", "sat"]
        np.testing.assert_allclose(kernel(new, TEXTS), peer.transform(new).toarray() @ rows.T, rtol=1e-13)

    def test_normalized_it_is_the_cosine(self):
        rows = TfidfVectorizer(token_pattern=WORD).fit_transform(TEXTS).toarray()
        kernel = BagOfWords(weights="idf").normalized().resolve(TEXTS)
        np.testing.assert_allclose(kernel(TEXTS), rows @ rows.T, atol=1e-14)


class TestIdf:
    def test_it_is_open_until_resolved(self):
        kernel = BagOfWords(weights="idf")
        assert kernel.is_open
        with pytest.raises(InputError, match="resolve"):
            kernel(["a"])
        assert not kernel.resolve(["a"]).is_open
        assert not BagOfWords().is_open

    def test_unseen_words_have_the_weight_of_a_word_that_no_text_has(self):
        kernel = BagOfWords(weights="idf").resolve(["a b", "a", "a c"])
        np.testing.assert_allclose(kernel.diagonal(["a", "b", "zzz"]), np.square([1.0, idf(3, 1), idf(3, 0)]))

    def test_the_order_and_the_copies_of_texts(self):
        kernel = BagOfWords(weights="idf")
        once = kernel.resolve(["b a", "a", "b a"])
        assert once == kernel.resolve(["a", "b a", "b a"]) == kernel.resolve(["a", "b a"], weights=[1, 2])
        assert kernel.resolve(["a", "b"], weights=[0.5, 1]).frequencies == (("a", 0.5), ("b", 1))

    @pytest.mark.parametrize("ngrams", [1, 2, (1, 2)])
    @pytest.mark.parametrize("data", [TEXTS, [["a", "'q\"", 7, ("x", 2)], [7, "a"]]])
    def test_texts(self, data, ngrams):
        kernel = BagOfWords(ngrams, "idf", "keep").resolve(data)
        assert mercer.parse(str(kernel)) == kernel
        assert eval(f"mercer.kernels.{kernel!r}") == kernel  # noqa: S307
        np.testing.assert_array_equal(mercer.parse(str(kernel))(data), kernel(data))

    def test_tokens_are_no_texts(self):
        kernel = BagOfWords(weights="idf").resolve([["a", "b"]])
        with pytest.raises(InputError, match=r"lists of tokens, as those from which it learnt its weights; got str"):
            kernel(["a b"])
        with pytest.raises(InputError, match=r"str, as those .*; got lists of tokens"):
            BagOfWords(weights="idf").resolve(["a b"])([["a"]])

    def test_texts_without_words(self):
        kernel = BagOfWords(weights="idf").resolve(["", "..."])
        assert kernel.frequencies == ()
        np.testing.assert_array_equal(kernel(["", "?"]), np.zeros((2, 2)))
        np.testing.assert_allclose(kernel(["a"]), [[idf(2, 0) ** 2]])


class TestWords:
    @pytest.mark.parametrize(
        ("text", "wanted"),
        [
            ("", ()),
            ("To be, or not", ("to", "be", "or", "not")),
            ("don't snake_case 3.14", ("don", "t", "snake_case", "3", "14")),
            ("Caf\u00e9 cafe\u0301", ("caf\u00e9", "caf\u00e9")),
            ("STRASSE stra\u00dfe", ("strasse", "strasse")),
            ("\u0939\u093f\u0928\u094d\u0926\u0940", ("\u0939\u093f\u0928\u094d\u0926\u0940",)),  # vowel signs stay
            ("a\U0001f600b", ("a", "b")),
            ("\U00010400x", ("\U00010428x",)),  # Deseret, beyond the basic plane, has case as well
            ("a\u0301\u0323 a\u0323\u0301", ("\u1ea1\u0301", "\u1ea1\u0301")),
        ],
    )
    def test_of_a_text(self, text, wanted):
        assert documents("BagOfWords", (text,), "fold") == (wanted,)

    def test_case_is_kept_on_request(self):
        assert documents("BagOfWords", ("The the",), "keep") == (("The", "the"),)
        assert documents("BagOfWords", (("The", 7),), "fold") == (("the", 7),)
        assert documents("BagOfWords", (("The", 7),), "keep") == (("The", 7),)

    @given(st.lists(texts, min_size=1, max_size=4))
    def test_property_the_rule_looks_at_one_text_alone(self, strings):
        together = documents("BagOfWords", tuple(strings), "fold")
        assert together == tuple(documents("BagOfWords", (text,), "fold")[0] for text in strings)

    def test_bytes_are_refused(self):
        with pytest.raises(InputError, match=r"BagOfWords needs str, or lists of tokens; got bytes. Decode"):
            BagOfWords()([b"a"])


@pytest.mark.parametrize("kernel", [BagOfWords(), BagOfWords(2, "binary", "keep"), BagOfWords((1, 2), "idf")])
def test_proofs_and_texts(kernel):
    assert mercer.prove(kernel).status == "proven"
    assert mercer.parse(str(kernel)) == kernel
    assert eval(f"mercer.kernels.{kernel!r}") == kernel  # noqa: S307


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: BagOfWords(0), "integer of at least 1 for ngrams"),
        (lambda: BagOfWords((2, 1)), r"ngrams from low to high; got \(2, 1\). Write \(1, 2\)"),
        (lambda: BagOfWords((1, 2, 3)), "one or two integers for ngrams"),
        (lambda: BagOfWords(weights="tfidf"), "one of 'counts', 'binary', 'idf' for weights; got 'tfidf'"),
        (lambda: BagOfWords(case=True), "one of 'fold', 'keep' for case"),
        (lambda: BagOfWords(frequencies=["a"]), "pairs of a word and a number for frequencies"),
        (lambda: BagOfWords(frequencies=[["a", -1]]), "frequencies of at least zero"),
    ],
)
def test_bad_fields(build, message):
    with pytest.raises(KernelError, match=message):
        build()
