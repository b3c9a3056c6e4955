r"""The formula that is shown is the one that is computed: LaTeX, read back as arithmetic, gives the kernel's values.

The reader knows the few words that formulas of numbers use, and the names that they give after "\quad".
"""

import re

import numpy as np
import pytest
from scipy.special import gamma, kv

from mercer import kernels as k
from mercer.kernels import latex

WORDS = {
    r"\lVert x - z \rVert": "R",
    r"\lVert x \rVert": "A",
    r"\lVert z \rVert": "B",
    r"\langle x, z \rangle": "T",
    r"\left": "",
    r"\right": "",
    r"\,": " ",
    r"\cdot": "*",
    r"\Gamma": "Gamma",
}
INNERMOST = [
    (r"K_\{([^{}]*)\}\(", r"K(\1, "),
    (r"\\sqrt\{([^{}]*)\}", r"sqrt(\1)"),
    (r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"((\1)/(\2))"),
    (r"\^\{([^{}]*)\}", r"**(\1)"),
    (r"\^(\d)", r"**\1"),
]


def arithmetic(text):
    """A formula as Python has it."""
    for word, name in WORDS.items():
        text = text.replace(word, name)
    before = ""
    while before != text:
        before = text
        for pattern, written in INNERMOST:
            text = re.sub(pattern, written, text)
    text = re.sub(r"\\(exp|tanh|sin|cos|max)", r"\1", text)
    assert "\\" not in text, text
    assert "{" not in text, text
    return re.sub(r"(?<=[\w)]) +(?=[\w(])", " * ", re.sub(r" *([-+*/]+) *", r"\1", text))


def value_of(text, x, z):
    names = {"R": np.linalg.norm(x - z), "T": x @ z, "A": np.linalg.norm(x), "B": np.linalg.norm(z)}
    names |= {"exp": np.exp, "tanh": np.tanh, "sin": np.sin, "cos": np.cos, "sqrt": np.sqrt, "max": max}
    names |= {"Gamma": gamma, "K": kv}
    formula, *given = text.split(r", \quad ")
    for one in given:
        name, written = one.split(" = ", 1)
        names[name] = eval(arithmetic(written), names)  # noqa: S307
    return eval(arithmetic(formula), names)  # noqa: S307


KERNELS = [
    k.Linear(),
    k.Gaussian(1.0),
    k.Gaussian(2.5),
    k.Laplace(1.0),
    k.Laplace(3.0),
    k.Matern(nu=1.5, lengthscale=2.0),
    k.Matern(nu=2.5),
    k.RationalQuadratic(),
    k.RationalQuadratic(2.5, 3.0),
    k.Exponential(1.0),
    k.Exponential(2.0),
    k.Polynomial(3),
    k.Polynomial(degree=2, offset=0.5),
    k.Sigmoid(2.0, -1.0),
    k.Cosine(),
    k.Sinc(2.0),
    k.Wendland(3, 1, 4.0),
    2.5 * k.Gaussian(2.0) + k.Linear() ** 2,
    k.Gaussian() * (k.Linear() + 3),
    0.123456789 * k.Gaussian(2.0),
    1e-7 * k.Linear() + 1e-8,
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_what_is_shown_is_what_is_computed(kernel):
    rng = np.random.default_rng(0)
    for _ in range(5):
        x, z = rng.normal(size=(2, 3))
        assert value_of(kernel.latex(), x, z) == pytest.approx(kernel([x], [z]).item(), rel=1e-10)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.0, "3"),
        (-2, "-2"),
        (0.5, "0.5"),
        (1e15, r"1000000000000000.0"),
        (1e-7, r"1 \cdot 10^{-7}"),
        (2.5e20, r"2.5 \cdot 10^{20}"),
        (999999999999999.0, "999999999999999"),
        ("median", r"\mathrm{median}"),
    ],
)
def test_numerals(value, text):
    assert latex.numeral(value) == text


def test_pieces():
    assert latex.over("a", 1) == "a"
    assert latex.over("a", 1.0, power=2, factor=2) == r"\frac{a}{2}"
    assert latex.over("a", 3, power=2) == r"\frac{a}{3^{2}}"
    assert latex.over("a", 3, power=2, factor=2) == r"\frac{a}{2 \cdot 3^{2}}"
    assert latex.raise_to("x", 1) == "x"
    assert latex.raise_to("2.5", 2) == "2.5^{2}"
    assert latex.raise_to("a + b", 0.5) == r"\left( a + b \right)^{0.5}"
    assert latex.exponential("a") == r"\exp\left( a \right)"


def test_what_a_part_of_a_sum_names_stays_in_it():
    first = r"\left( \frac{\sin(t)}{t}, \quad t = \lVert x - z \rVert \right)"
    second = r"\left( \frac{\sin(t)}{t}, \quad t = \frac{\lVert x - z \rVert}{2} \right)"
    assert (k.Sinc() + k.Sinc(2.0) + k.Linear()).latex() == rf"{first} + {second} + \langle x, z \rangle"


def test_a_normalized_kernel_names_the_one_inside():
    plain = r"\frac{h(x, z)}{\sqrt{h(x, x) \, h(z, z)}}, \quad h(x, z) = \langle x, z \rangle"
    assert k.Linear().normalized().latex() == plain
    twice = (k.Linear().normalized() + 1).normalized().latex("a", "b")
    outer = r"\frac{h'(a, b)}{\sqrt{h'(a, a) \, h'(b, b)}}, \quad h'(x, z) = "
    assert twice == outer + rf"\left( {plain} \right) + 1"


def test_small_numbers_are_powers_of_ten():
    small = r"\left( 1 \cdot 10^{-5} \right)"
    assert rf"{small}^{{2 |u|}} \, \#_u(x)" in k.BlendedSpectrum(2, 1e-5).latex()
    assert r"0.5^{2 |u|} \, \#_u(x)" in k.BlendedSpectrum(2, 0.5).latex()
    assert k.GappySubsequence(2, 1e-5).latex().endswith(small + r"^{\ell(i) + \ell(j)}")
    assert k.GappySubsequence(2, 0.5).latex().endswith(r" 0.5^{\ell(i) + \ell(j)}")
