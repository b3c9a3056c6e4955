"""What is said about names of kernels that other books and libraries use."""

import re

import numpy as np
import pytest

import mercer
from mercer.errors import ParseError
from mercer.guesses.kernels import MEANT, TEXT, hint
from mercer.guesses.spelling import ENDINGS, distance, nearest, stem
from mercer.kernels import Gaussian, Polynomial, Subsets
from mercer.kernels.text import known_names

X = np.array([[0.0], [0.3], [0.8], [1.6]])
R = np.abs(X - X.T)


def said(text):
    with pytest.raises(ParseError) as caught:
        mercer.parse(text)
    return str(caught.value).splitlines()[0]


@pytest.mark.parametrize("name", MEANT)
def test_every_text_that_is_offered_can_be_read(name):
    for text in TEXT.findall(MEANT[name]):
        assert mercer.parse(text) is not None
    assert stem(name) == name
    if name not in known_names():  # `quadratic` is one, and here for modules
        assert "{" not in said(name)


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("se", Gaussian()),
        ("squared_exponential(2)", Gaussian(2.0)),
        ("RBF", Gaussian()),
        ("poly(3)", Polynomial(3)),
        ("quadratic", Polynomial(2)),
        ("2*quadratic + all_subsets", 2 * Polynomial(2) + Subsets()),
    ],
)
def test_aliases_are_read(text, kernel):
    assert mercer.parse(text) == kernel


@pytest.mark.parametrize(
    ("guess", "values"),
    [
        ("triangular", np.maximum(0.0, 1.0 - R)),
        ("cauchy", 1 / (1 + R**2 / 2)),
        ("inverse_multiquadric", 1 / np.sqrt(1 + R**2)),
        ("ou", np.exp(-R)),
        ("matern32", (1 + np.sqrt(3) * R) * np.exp(-np.sqrt(3) * R)),
        ("sine", np.exp(-2 * np.sin(np.pi * R) ** 2)),
        ("wiener", np.minimum(X, X.T)),
        ("affine", 1 + X * X.T),
        ("cubic", (1 + X * X.T) ** 3),
        ("dirichlet", np.cos(R) + np.cos(2 * R) + np.cos(3 * R)),
        ("Matérn 5/2", (1 + np.sqrt(5) * R + 5 * R**2 / 3) * np.exp(-np.sqrt(5) * R)),
    ],
)
def test_the_first_text_is_the_function_of_that_name(guess, values):
    text = re.findall(r"'(.*?)'", hint(guess, []))[0]
    assert np.allclose(mercer.parse(text)(X), values, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("guess", "matrix"),
    [
        ("max", np.maximum(X, X.T)),
        ("multiquadric", np.sqrt(1 + R**2)),
        ("tophat", (R <= 1.0).astype(float)),
        ("additive_chi2", -(R**2) / np.maximum(X + X.T, 1e-300)),
        ("distance", R),
    ],
)
def test_what_is_said_to_be_no_kernel_is_none(guess, matrix):
    assert "no kernel" in said(guess).partition(".")[2]
    assert np.linalg.eigvalsh(matrix)[0] < -1e-3


@pytest.mark.parametrize(
    ("guess", "answer"),
    [
        ("string", "For strings: 'spectrum(k=3)'"),
        ("graph", "'weisfeiler_lehman(iterations=5)'"),
        ("inner product", "'linear'"),
        ("GaussianKernel", "Write 'gaussian'."),
        ("guassian", "Did you mean 'gaussian'?"),
        ("gauss", "Did you mean 'gaussian'?"),
        ("lapalce", "Did you mean 'laplace'?"),
        ("lin", "Did you mean 'linear'?"),  # and not min, a typo away
        ("squared", "'linear**2'"),
        ("zzz", "Known: linear, polynomial, gaussian"),
        ("quadratic(3)", "quadratic is 'polynomial(degree=2, offset=1.0)', and takes no parameters"),
    ],
)
def test_guesses_are_answered(guess, answer):
    assert answer in said(guess)


@pytest.mark.parametrize("leaf", [name for name in known_names() if len(name) > 5])
def test_a_typo_in_any_name_is_found(leaf):
    known = list(known_names())
    dropped, exchanged = leaf[:2] + leaf[3:], leaf[:3] + leaf[4] + leaf[3] + leaf[5:]
    for typo in {dropped, exchanged} - {leaf}:
        assert nearest(typo, known) == leaf


def test_no_other_word_is_a_typo():
    known = list(known_names())
    others = ("string", "graph", "cauchy", "normal", "random", "kernel", "cosmic", "signal", "exact", "sequence")
    assert [nearest(word, known) for word in others] == [""] * 10


def test_letters_that_differ_are_counted():
    def slow(word, other):
        """The definition, letter by letter."""
        if not word or not other:
            return len(word) + len(other)
        found = min(
            slow(word[1:], other) + 1, slow(word, other[1:]) + 1, slow(word[1:], other[1:]) + (word[0] != other[0])
        )
        exchanged = word[:2] == other[1::-1] and len(word) > 1 and len(other) > 1
        return min(found, slow(word[2:], other[2:]) + 1) if exchanged else found

    rng = np.random.default_rng(0)
    for _ in range(200):
        word, other = ("".join(rng.choice(list("abc"), size=rng.integers(0, 6))) for _ in range(2))
        assert distance(word, other) == slow(word, other)


def test_endings_are_dropped_once():
    assert [stem("Gaussian" + ending.title()) for ending in ENDINGS] == ["gaussian"] * len(ENDINGS)
