"""Printing and parsing: every kernel comes back, every mistake is pointed at."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import NAMES, any_trees, squared_length

import mercer
from mercer.errors import KernelError, ParseError
from mercer.kernels import (
    BagOfWords,
    Constant,
    Gaussian,
    Hamming,
    Linear,
    Matern,
    Monomials,
    Polynomial,
    Power,
    Product,
    Sigmoid,
    Subsets,
    Sum,
)


@given(any_trees)
def test_property_text_parses_back_to_an_equal_kernel(kernel):
    again = mercer.parse(str(kernel), names=NAMES)
    assert again == kernel
    assert hash(again) == hash(kernel)
    assert str(again) == str(kernel)


@given(any_trees)
def test_property_python_text_builds_an_equal_kernel(kernel):
    scope = {name: getattr(mercer.kernels, name) for name in dir(mercer.kernels)} | NAMES
    assert eval(repr(kernel), scope) == kernel  # noqa: S307 - repr is Python; this test alone evaluates it


@given(any_trees)
def test_property_latex_is_balanced_and_whole(kernel):
    text = kernel._repr_latex_()
    depth = 0
    for before, letter in zip(" " + text, text, strict=False):
        depth += (letter == "{" and before != "\\") - (letter == "}" and before != "\\")
        assert depth >= 0
    assert depth == 0
    assert text.count(r"\left(") == text.count(r"\right)")
    assert text.startswith("$k(x, z) = ")


@given(st.text(max_size=40))
def test_property_no_text_does_anything_but_parse_or_explain(text):
    try:
        kernel = mercer.parse(text)
    except ParseError as error:
        assert 0 <= error.position <= len(text)
    else:
        assert mercer.parse(str(kernel)) == kernel


@given(
    st.lists(
        st.sampled_from(
            [
                "2",
                ".5",
                "1e3",
                "gaussian",
                "linear",
                "exp",
                "(",
                ")",
                "[",
                "]",
                "**",
                "*",
                "+",
                "-",
                ",",
                "=",
                "lengthscale",
                ".",
                "on",
                "scaled",
                "'a'",
                "normalized",
                "median",
            ]
        ),
        max_size=12,
    )
)
def test_property_token_soup_does_nothing_but_parse_or_explain(tokens):
    text = " ".join(tokens)
    try:
        kernel = mercer.parse(text)
    except ParseError:
        return
    assert mercer.parse(str(kernel)) == kernel


def test_the_example_of_the_documentation():
    kernel = mercer.parse("0.5*gaussian(lengthscale=2) + linear*polynomial(degree=2)")
    assert kernel == 0.5 * Gaussian(2.0) + Linear() * Polynomial(2)
    assert str(kernel) == "0.5*gaussian(lengthscale=2.0) + linear*polynomial(degree=2, offset=1.0)"


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("rbf", Gaussian()),
        ("RBF(2)", Gaussian(2.0)),
        ("gaussian(2.)", Gaussian(2.0)),
        ("tanh(offset=-1)", Sigmoid(offset=-1.0)),
        ('gaussian("median")', Gaussian("median")),
        ("1", Constant(1.0)),
        ("1 + linear", 1 + Linear()),
        ("(1 + linear)**2", (1 + Linear()) ** 2),
        ("1e-3*linear", 1e-3 * Linear()),
        ("exp(linear)", mercer.exp(Linear())),
        ("exp(2)", mercer.exp(2)),
        ("linear*(gaussian + 2)", Linear() * (Gaussian() + 2)),
        ("2*3", Product((Constant(2.0), Constant(3.0)))),
        ("2**2", Power(Constant(2.0), 2)),
        ("gaussian**0.5", Gaussian() ** 0.5),
        ("matern(0.5, lengthscale=3).on('age') ", Matern(0.5, 3.0).on("age")),
        ("linear.on([0, -1]).normalized()", Linear().on([0, -1]).normalized()),
        ("linear.after([[1, 0, 0], [0, 1, 1]])", Linear().after([[1, 0, 0], [0, 1, 1]])),
        ("gaussian.scaled([1, 2e1])", Gaussian().scaled([1.0, 20.0])),
        ("linear.weighted(f)", Linear().weighted(squared_length)),
        ("subsets", Subsets()),
        ("subsets(1, 2)", Subsets(1, 2)),
        ("subsets(max_order=2)", Subsets(max_order=2)),
        ("monomials(3, include_bias=0)", Monomials(3, include_bias=False)),
        ("\n  linear\n+ linear", Sum((Linear(), Linear()))),
    ],
)
def test_texts(text, kernel):
    assert mercer.parse(text, names={"f": squared_length}) == kernel


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("", 0, "got nothing"),
        ("2*gausian(1)", 2, "Did you mean 'gaussian'"),
        ("gaussian(lengthscale=2", 22, "','"),
        ("gaussian(size=2)", 0, "Gaussian has no parameter 'size'. Known: lengthscale"),
        ("matern(mu=2)", 0, "Did you mean 'nu'"),
        ("gaussian(1, 2)", 0, "each once"),
        ("gaussian(1, lengthscale=2)", 0, "each once"),
        ("linear(2)", 0, r"Linear takes no parameter; a factor is written 2\*linear"),
        ("linear.on()", 7, "missing"),
        ("linear.on('\\q')", 11, "escape"),
        ("linear.on('\\U00110000')", 11, "escape"),
        ("linear.on('a)", 10, "no meaning"),
        ("9" * 400 + "*linear", 0, "finite"),
        ("\u0663*linear", 0, "no meaning"),
        ("gaussian(lengthscale=1, lengthscale=2)", 24, "twice"),
        ("gaussian - linear", 9, "difference"),
        ("-2*gaussian", 0, "negative"),
        ("gaussian + -linear", 11, "negative"),
        ("gaussian(-1)", 0, "positive"),
        ("gaussian(1e999)", 9, "finite"),
        ("linear^2", 6, "written \\*\\*"),
        ("linear + x.x'", 12, "linear for x.z"),
        ("gaussian*exp(x + z)", 13, "no kernel 'x'. A text has kernels by their names, .* or points, .* not both"),
        ("linear + <x, z>", 9, "not both"),
        ("x.z + ", 5, "got 'the end'"),
        ("x1*z1 + x2*z3", 0, "mercer.prove\\('x1"),
        ("exp(-|x-z|", 10, "is needed"),
        ("linear**1.5", 8, "whole exponent"),
        ("linear**linear", 8, "number is needed"),
        ("linear linear", 7, "cannot stand here"),
        ("linear.fit()", 7, "no method"),
        ("linear.scalled([1])", 7, "Did you mean 'scaled'"),
        ("linear.__class__()", 7, "no method"),
        ("__import__('os')", 0, "no kernel"),
        ("exp('os')", 0, "kernel or a number"),
        ("'linear'", 0, "kernel is needed"),
        ("exp", 0, "needs a kernel inside"),
        ("linear @ linear", 7, "no meaning"),
        ("(linear", 7, "'\\)' is needed"),
        ("(" * 3000 + "linear" + ")" * 3000, 60, "deeper"),
        ("linear.on(" + "[" * 3000, 70, "deeper"),
        ("constant(-1)", 0, "at least zero"),
        ("subsets(2, 1)", 0, "max_order of at least min_order; got 1 with min_order=2"),
        ("monomials(include_bias=2)", 0, "True or False for include_bias; got 2. Texts write 1 or 0"),
        ("linear.weighted(g)", 16, "no function 'g'"),
    ],
)
def test_mistakes_are_pointed_at(text, position, message):
    with pytest.raises(ParseError, match=message) as caught:
        mercer.parse(text)
    assert caught.value.position == position
    pointed = str(caught.value).splitlines()
    assert set(pointed[-1].strip()) == {"^"}


@given(st.text(max_size=8))
def test_property_every_column_name_comes_back(name):
    kernel = Linear().on([name, "other"])
    assert mercer.parse(str(kernel)) == kernel


def test_the_pointer_stands_under_the_mistake():
    with pytest.raises(ParseError) as caught:
        mercer.parse("linear + gausian(2)")
    *_, line, pointer = str(caught.value).splitlines()
    start = pointer.index("^")
    assert line[start : start + pointer.count("^")] == "gausian"


def test_only_texts_are_parsed():
    with pytest.raises(KernelError, match="needs a text"):
        mercer.parse(3)


def test_a_kernel_of_your_own_has_a_name():
    class MyCauchy(mercer.kernels.Radial):
        lengthscale: float = 1.0

        def profile(self, u):
            return 1 / (1 + u)

    kernel = 2 * MyCauchy(3.0)
    assert str(kernel) == "2.0*my_cauchy(lengthscale=3.0)"
    assert mercer.parse(str(kernel), names={"my_cauchy": MyCauchy}) == kernel
    with pytest.raises(ParseError, match="no kernel 'my_cauchy'"):
        mercer.parse(str(kernel))


def test_every_exported_leaf_can_be_parsed_and_has_a_formula():
    from mercer.kernels.text import known_names

    leaves = {thing for thing in known_names().values() if isinstance(thing, type)}
    leaves.remove(mercer.kernels.Function)  # needs a function: test_function.py
    assert {leaf.__name__ for leaf in leaves} == set(CATALOGUE.split())
    for leaf in leaves:
        kernel = leaf(["S", "M"]) if leaf.__name__ == "Ordinal" else leaf()  # an order has to be given
        assert mercer.parse(str(kernel)) == kernel
        assert leaf.__name__ == "Ordinal" or mercer.parse(leaf.name) == kernel
        assert leaf.formula
        assert "mathrm{" + leaf.name not in kernel.latex()


CATALOGUE = """
    Constant Linear Polynomial Exponential Gaussian Laplace ProductLaplace Matern RationalQuadratic Periodic Cosine Sinc
    ProductSinc Subsets Min ChiSquared ExponentialChiSquared ArcCosine Geodesic Wendland Sigmoid Epanechnikov
    Powers Trigonometric Parabolic Monomials
    Spectrum BlendedSpectrum WeightedDegree Mismatch GappySubsequence BagOfWords EditSimilarity CommonSubsequence
    WeisfeilerLehman ShortestPath RandomWalk Graphlet VertexHistogram EdgeHistogram
    Match Hamming Ordinal Gapped
"""


@pytest.mark.parametrize(
    "kernel",
    [
        Linear().on([np.str_("age"), np.int64(2)]),
        Linear().on(np.str_("age")),
        Linear().on(np.array(["a", "b"])),
        Gaussian(np.str_("median")),
        Hamming(np.str_("median"), np.str_("rarity"), np.str_("refuse")),
        BagOfWords(weights=np.str_("idf"), case=np.str_("keep")),
        (Linear() ** 2).set_params(exponent=1),
        ((Linear() ** 2).set_params(exponent=1) ** 3).on([0]),
    ],
    ids=str,
)
def test_texts_that_come_back(kernel):
    assert "np." not in repr(kernel) + str(kernel)
    again = mercer.parse(str(kernel))
    assert again == kernel
    assert str(again) == str(kernel)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("linear.after([[1, 2], [3]])", "After needs a matrix of finite numbers"),
        ("linear.after([['a']])", "After needs a matrix of finite numbers"),
        ("linear.after([[gaussian]])", "After needs a matrix of finite numbers"),
        ("linear.after(gaussian)", "Compose kernels with"),
        ("linear.scaled([[1, 2], [3]])", "Scaled needs one lengthscale per column"),
        ("linear.scaled(['a'])", "Scaled needs a number for lengthscales"),
    ],
)
def test_matrices_that_are_none_are_refused_in_words(text, message):
    with pytest.raises(ParseError, match=message):
        mercer.parse(text)
