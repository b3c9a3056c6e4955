"""Mismatch: every word of the alphabet, compared with every run, by plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from string_oracles import mismatch, spectrum

import mercer
from mercer.errors import BudgetError, InputError, KernelError
from mercer.kernels import Mismatch, Spectrum
from mercer.kernels.strings import mismatch as module
from mercer.kernels.strings.neighbourhood import neighbours, size

dna = st.lists(st.text("acgt", max_size=7), min_size=1, max_size=4)
strange = st.lists(st.text("acgtNX", max_size=7), min_size=1, max_size=4)


@given(dna, st.sampled_from([(1, 0), (2, 1), (3, 1), (3, 2)]))
def test_property_equal_to_plain_python(strings, sizes):
    k, m = sizes
    wanted = [[mismatch(x, z, k, m, "acgt") for z in strings] for x in strings]
    np.testing.assert_array_equal(Mismatch(k, m, "acgt")(strings), wanted)


@given(strange, st.sampled_from([(2, 0), (2, 1), (3, 2)]))
def test_property_symbols_outside_of_the_alphabet_differ_from_all(strings, sizes):
    k, m = sizes
    wanted = [[mismatch(x, z, k, m, "acgt") for z in strings] for x in strings]
    np.testing.assert_array_equal(Mismatch(k, m, "acgt")(strings), wanted)


@given(dna)
def test_property_without_mismatches_it_is_the_spectrum(strings):
    wanted = [[spectrum(x, z, 2) for z in strings] for x in strings]
    np.testing.assert_array_equal(Mismatch(2, 0, "acgt")(strings), wanted)


@given(first=strange, later=strange)
def test_property_later_strings_change_no_order(first, later):
    kernel, first, later = Mismatch(2, 1, "acgt"), tuple(first), tuple(later)
    alone, beside = csr_array(kernel.count(first)), csr_array(kernel.count(first + later))[: len(first)]
    wanted, found = alone[:, np.unique(alone.indices)], beside[:, np.unique(beside.indices)]
    np.testing.assert_array_equal(found.toarray(), wanted.toarray())


@given(strange)
def test_property_gram_matrices_are_positive(strings):
    values = np.linalg.eigvalsh(Mismatch(3, 1, "acgt")(strings))
    assert values[0] >= -1e-12 * max(1.0, values[-1])


def test_bytes_and_tokens():
    strings = ["gattaca", "tag", "cat"]
    wanted = Mismatch(2, 1, "acgt")(strings)
    blobs = [x.encode() for x in strings]
    np.testing.assert_array_equal(Mismatch(2, 1, b"acgt")(blobs), wanted)
    np.testing.assert_array_equal(Mismatch(2, 1, "acgt")([list(x) for x in strings]), wanted)
    codons = {"a": "AAA", "c": "CCC", "g": "GGG", "t": "TTT"}
    listed = [[codons[letter] for letter in x] for x in strings]
    np.testing.assert_array_equal(Mismatch(2, 1, list(codons.values()))(listed), wanted)


def test_words_too_long_for_64_bits():
    """20 letters of an alphabet of 26: all words are told apart, and few are near."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    x = "thequickbrownfoxjumps"[:20]
    one, two = "x" + x[1:], "yy" + x[2:]
    near = 1 + 20 * 25
    # One difference: the 26 words with anything there. Two differences: one of each to the other's letter.
    wanted = [[near, 26, 2], [26, near, 2], [2, 2, near]]
    np.testing.assert_array_equal(Mismatch(20, 1, letters)([x, one, two]), wanted)


@pytest.mark.parametrize(("k", "m", "letters"), [(1, 0, 2), (3, 1, 4), (4, 2, 3), (3, 2, 1)])
def test_number_of_neighbours(k, m, letters):
    found = neighbours(np.zeros((1, k), dtype=np.int64), m, letters)
    assert found.sum() == found.shape[1] == size(k, m, letters)


class TestAlphabet:
    def test_it_is_found_and_kept(self):
        kernel = Mismatch(2, 1)
        assert kernel.is_open
        found = kernel.resolve(["tag", "cat", "cat"])
        assert found == Mismatch(2, 1, "acgt") == kernel.resolve(["cat", "tag"])
        assert not found.is_open
        np.testing.assert_array_equal(found(["tax"]), [[mismatch("tax", "tax", 2, 1, "acgt")]])

    def test_of_bytes_and_tokens(self):
        assert Mismatch(2, 1).resolve([b"ba"]) == Mismatch(2, 1, (97, 98))
        assert Mismatch(2, 1).resolve([["the", "cat"], [3]]) == Mismatch(2, 1, (3, "cat", "the"))

    @pytest.mark.parametrize("alphabet", ["acgt", "", (97, 98), ("the", "cat"), "a'\"\\\n\U0001f600"])
    def test_texts(self, alphabet):
        kernel = Mismatch(2, 1, alphabet)
        assert mercer.parse(str(kernel)) == kernel
        assert eval(f"mercer.kernels.{kernel!r}") == kernel  # noqa: S307
        assert mercer.prove(kernel).status == "proven"

    def test_an_open_one_is_not_evaluated(self):
        with pytest.raises(InputError, match="resolve"):
            Mismatch(2, 1)(["ab"])

    def test_no_symbols_to_learn_from(self):
        with pytest.raises(InputError, match="symbols from which to learn its alphabet; all strings are empty"):
            Mismatch(2, 1).resolve(["", ""])

    @pytest.mark.parametrize(("data", "alphabet"), [([b"ab"], "ab"), (["ab"], (97, 98)), (["ab"], ("ab",))])
    def test_another_kind(self, data, alphabet):
        with pytest.raises(InputError, match="over an alphabet of its symbols; the alphabet is"):
            Mismatch(1, 0, alphabet)(data)

    def test_of_symbols_that_are_others(self):
        """Nothing is near: zeros, and no error."""
        np.testing.assert_array_equal(Mismatch(2, 1, "acgt")(["xyz", "xxx"]), np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Mismatch(0), "integer from 1 to 100 for k"),
        (lambda: Mismatch(3, 3), "fewer differences m than symbols k; got m = 3 and k = 3"),
        (lambda: Mismatch(3, -1), "integer of at least 0 for m"),
        (lambda: Mismatch(3, 1, "aba"), "each symbol once in alphabet; got 'a' twice"),
        (lambda: Mismatch(3, 1, 4), "a list of symbols for alphabet; got 4"),
    ],
)
def test_bad_fields(build, message):
    with pytest.raises(KernelError, match=message):
        build()


def test_too_much_memory_is_refused(monkeypatch):
    monkeypatch.setattr(module.Budget, "of", lambda memory: module.Budget(10_000))
    with pytest.raises(BudgetError, match=r"Mismatch needs .* for 1051 words near to each run of 5 symbols"):
        Mismatch(5, 2, "abcdefghijk")(["abcdefghijk"])
    assert Spectrum(5)(["abcdefghijk"])[0, 0] == 7
