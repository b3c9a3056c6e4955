"""Texts and trees beyond every limit: refused in words, before anything large is built."""

import numpy as np
import pytest

import mercer
from mercer.errors import KernelError, ParseError
from mercer.kernels import Exp, Gaussian, Linear, Mismatch, Sum
from mercer.kernels.base import MAX_DEPTH
from mercer.kernels.evaluation.dispatch import bound
from mercer.kernels.points import points_from
from mercer.kernels.text import MAX_LETTERS
from mercer.kernels.text_grammar import MAX_NODES

LARGE = {
    "many terms": ("cosine + " * MAX_NODES + "cosine", "composes at most 4,096 kernels"),
    "many factors": ("2*" * MAX_NODES + "2", "composes at most 4,096 kernels"),
    "many methods": ("linear" + ".normalized()" * 999, "nests at most 100 levels, got 101"),
    "many powers": ("(" * 59 + "linear" + "**2)" * 59 + "**2" * 2, "cannot stand here"),
    "deep parentheses": ("(" * 5_000 + "1" + ")" * 5_000, "nests deeper than 60 levels"),
    "deep lists": ("linear.after(" + "[" * 5_000, "nests deeper than 60 levels"),
    "deep calls": ("exp(" * 5_000 + "1" + ")" * 5_000, "nests deeper than 60 levels"),
    "long text": ("1 + " * (MAX_LETTERS // 4) + "1", "at most 1,048,576 letters"),
    "long number": ("9" * 100_000, "a finite number"),
    "open quote": ("'" + "\\'" * 100_000, "has no meaning"),
}


LARGE |= {
    "infinite number": ("mismatch(alphabet=[1e999])", "Here a finite number is needed; got '1e999'"),
    "long name": ("a" * 100_000, "There is no kernel"),
    "monomials": ("monomials(degree=1000000)", "an integer from 1 to 100 for degree"),
    "powers": ("powers(degree=100000000)", "an integer from 1 to 10000 for degree"),
    "waves": ("trigonometric(order=1000000000)", "an integer from 1 to 10000 for order"),
    "runs": ("blended_spectrum(k=1000000000)", "an integer from 1 to 10000 for k"),
    "weighted runs": ("weighted_degree(degree=1000000000)", "an integer from 1 to 10000 for degree"),
    "words": (f"gappy_subsequence(length={10**20}, decay=1)", "an integer from 1 to 10000 for length"),
    "differences": ("mismatch(k=1000000, m=999999)", "an integer from 1 to 100 for k"),
    "rounds": ("weisfeiler_lehman(iterations=1000000000)", "an integer from 0 to 1000 for iterations"),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_texts_are_refused(name):
    text, words = LARGE[name]
    with pytest.raises(ParseError, match=words) as caught:
        mercer.parse(text)
    assert len(str(caught.value)) < 2_500


def test_a_sum_is_built_once(monkeypatch):
    """Built term by term, n terms would take n^2 steps."""
    built = []
    original = Sum.__post_init__
    monkeypatch.setattr(Sum, "__post_init__", lambda self: built.append(len(self.parts)) or original(self))
    assert len(mercer.parse("linear + " * 500 + "linear").parts) == 501
    assert built == [501]


DEEPER = {
    "normalized": lambda kernel: kernel.normalized(),
    "exp": Exp,
    "power": lambda kernel: kernel**2,
    "on": lambda kernel: kernel.on([0, 1]),
    "scaled": lambda kernel: kernel.scaled([1.0, 2.0]),
    "after": lambda kernel: kernel.after([[1.0, 0.0], [0.0, 1.0]]),
    "sums and products": lambda kernel: kernel * 1 if isinstance(kernel, Sum) else kernel + 1,
}


@pytest.mark.parametrize("name", DEEPER)
@pytest.mark.filterwarnings("ignore::mercer.errors.NumericalWarning")
def test_trees_have_a_largest_depth(name):
    kernel = Gaussian()
    for _ in range(MAX_DEPTH - 1):
        kernel = DEEPER[name](kernel)
    assert kernel.depth == MAX_DEPTH
    assert hash(kernel) == hash(kernel)
    assert str(kernel)
    assert kernel.diagonal(np.zeros((2, 2))).shape == (2,)
    assert mercer.prove(kernel).status == "proven"
    with pytest.raises(KernelError, match=r"nests at most 100 levels, got 10[12]\. Build a flatter tree"):
        DEEPER[name](DEEPER[name](kernel))


def test_a_flat_sum_of_many_kernels_is_not_deep():
    assert Sum(tuple(Linear() for _ in range(5_000))).depth == 2


@pytest.mark.parametrize("power", ["(1 + gaussian)**1000000000", "gaussian**1e308"])
def test_powers_without_end_have_no_law(power):
    """It would be the sum of as many draws."""
    assert mercer.parse(power).law(2) is None


def test_a_zero_with_a_sign_is_written_without():
    kernel = mercer.parse("constant(-0.0) + linear")
    assert mercer.parse(str(kernel)) == kernel


def test_names_of_columns_are_no_tex():
    name = r"a}$ \input{/etc/passwd} ${b_^~<x>" + "\n%"
    formula = Linear().on([name]).latex()
    assert r"a\}\$ \backslash{}input\{/etc/passwd\} \$\{b\_\wedge{}\sim{}\lt{}x\gt{} \%" in formula
    assert "\\input" not in formula


def test_long_formulas_are_not_compiled():
    """Compiling would take minutes; plain NumPy gives the same values."""
    points, kernel = points_from(np.linspace(0, 0.9, 8)[:, None]), mercer.parse("powers(degree=1000)")
    assert bound(kernel, points, points) is None
    values = kernel(points.values)
    assert values[7, 7] == pytest.approx(0.81 / 0.19)


def test_symbols_of_an_alphabet_that_cannot_be_hashed():
    with pytest.raises(KernelError, match="symbols that can be hashed"):
        Mismatch(alphabet=[{}, {}])
    with pytest.raises(KernelError, match="each symbol once in alphabet; got 'A' twice"):
        Mismatch(alphabet="ACGTA")
