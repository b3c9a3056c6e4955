"""Gappy subsequences: equal to the enumeration of all of them, and to numbers that can be done by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from string_oracles import columns, few, gappy, gappy_plain

from mercer.errors import KernelError, NumericalWarning
from mercer.kernels import GappySubsequence, Spectrum
from mercer.kernels.strings import subsequence_loops


@given(columns, st.integers(1, 4), st.sampled_from([0.25, 0.5, 1.0]))
def test_property_equal_to_enumeration(strings, length, decay):
    wanted = [[gappy(x, z, length, decay) for z in strings] for x in strings]
    np.testing.assert_allclose(GappySubsequence(length, decay)(strings), wanted, rtol=1e-13)
    np.testing.assert_allclose(GappySubsequence(length, decay).diagonal(strings), np.diag(wanted), rtol=1e-13)


@pytest.mark.slow
@given(st.lists(few, min_size=1, max_size=5), st.lists(few, min_size=1, max_size=5))
def test_property_two_lists_compiled(X, Z):
    wanted = [[gappy(x, z, 3, 0.7) for z in Z] for x in X]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subsequence_loops, "MIN_COMPILED_STEPS", 0)
        np.testing.assert_allclose(GappySubsequence(3, 0.7)(X, Z), wanted, rtol=1e-13)


@given(st.lists(few, min_size=1, max_size=6), st.sampled_from([0.5, 1.0]))
def test_property_gram_matrices_are_positive(strings, decay):
    values = np.linalg.eigvalsh(GappySubsequence(2, decay)(strings))
    assert values[0] >= -1e-12 * max(1.0, values[-1])


def test_the_example_of_the_paper():
    """Lodhi et al., section 2: K(car, cat) = decay^4 and K(car, car) = 2 decay^4 + decay^6."""
    decay = 0.3
    values = GappySubsequence(2, decay)(["car", "cat"])
    np.testing.assert_allclose(values, [[2 * decay**4 + decay**6, decay**4], [decay**4, 2 * decay**4 + decay**6]])
    normal = GappySubsequence(2, decay).normalized()(["car", "cat"])
    assert normal[0, 1] == pytest.approx(1 / (2 + decay**2))


def test_the_other_example_of_the_paper():
    """Lodhi et al., section 3, on two sayings of Kant. (For length 1 they print the value of length 2 again.)"""
    x, z = "science is organized knowledge", "wisdom is organized life"
    for length, published in {2: 0.580, 3: 0.478, 4: 0.439, 5: 0.406, 6: 0.370}.items():
        found = GappySubsequence(length, 0.5).normalized()([x], [z])[0, 0]
        assert found == pytest.approx(published, abs=0.001), length


def test_long_strings_equal_the_loop_of_the_paper():
    rng = np.random.default_rng(0)
    strings = ["".join(rng.choice(list("abcd"), size=n)) for n in (60, 45, 61, 0, 2)]
    wanted = [[gappy_plain(x, z, 4, 0.8) for z in strings] for x in strings]
    np.testing.assert_allclose(GappySubsequence(4, 0.8)(strings), wanted, rtol=1e-12)


def test_a_small_decay_leaves_the_runs():
    strings, decay = ["banana", "ananas", "nab"], 1e-9
    found = GappySubsequence(2, decay)(strings) / decay**4
    np.testing.assert_allclose(found, Spectrum(2)(strings), rtol=1e-8)


def test_overflow_is_said():
    with pytest.warns(NumericalWarning, match="overflows"):
        assert np.isinf(GappySubsequence(260, 1.0).diagonal(["a" * 530])[0])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: GappySubsequence(0), "integer from 1 to 10000 for length"),
        (lambda: GappySubsequence(2, 0), "a positive decay"),
        (lambda: GappySubsequence(2, -0.5), "a positive decay"),
        (lambda: GappySubsequence(2, 1.5), "decay above 0 and up to 1; got 1.5"),
        (lambda: GappySubsequence(200, 0.1), r"decay\^\(2 length\) that float64 holds; it is 0.1\^400"),
    ],
)
def test_bad_fields(build, message):
    with pytest.raises(KernelError, match=message):
        build()
