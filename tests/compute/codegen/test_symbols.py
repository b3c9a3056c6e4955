"""Formulas that code writes down: they say what NumPy computes, and what cannot be followed is left to NumPy."""

from typing import ClassVar

import numpy as np
import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as st

from mercer.compute.codegen import jit_cache, symbols
from mercer.compute.codegen.cache_folder import directory
from mercer.compute.codegen.formula import nodes
from mercer.compute.codegen.symbols import (
    ARITHMETIC,
    COMPARISONS,
    LIBRARY,
    LOGIC,
    SPECIAL,
    WORDS,
    Level,
    Symbol,
    Untraceable,
)
from mercer.kernels import Coordinate, Dot, Gaussian, Laplace, Linear, Min, Polynomial, Radial, RationalQuadratic
from mercer.kernels.evaluation import dispatch
from mercer.kernels.evaluation.evaluate import fused_from
from mercer.kernels.points import points_from

RNG = np.random.default_rng(0)

# -- every function that a symbol knows, compiled, against NumPy -------------------------------------------------------

ONLY_WORDS = {
    "sin_pi": lambda t: symbols.apply("sin_pi", t / 2) if isinstance(t, Symbol) else np.sin(np.pi * t / 2),
    "atan2_positive": lambda t: (
        symbols.apply("atan2_positive", abs(t), 0.7 + t * t)
        if isinstance(t, Symbol)
        else np.arctan2(np.abs(t), 0.7 + t * t)
    ),
}
"""Words that have no name in NumPy."""
OF_TWO = {
    "add": lambda t: np.add(t, 0.3),
    "subtract": lambda t: np.subtract(0.3, t) + np.subtract(t, 0.2) * np.subtract(2, t),
    "multiply": lambda t: np.multiply(np.multiply(0.5, t), 3.0),
    "divide": lambda t: np.divide(t, 0.3) + np.divide(0.3, 2 + t),
    "true_divide": lambda t: t / (1.5 + t),
    "power": lambda t: np.power(1.5 + t, 1.7) + np.power(t, 3) - np.power(2 + t, -2) + np.power(1.3, t) + t**0,
    "float_power": lambda t: np.float_power(1.5 + t, 0.4) + np.float_power(t, 5.0),
    "minimum": lambda t: np.minimum(t, 0.1),
    "fmin": lambda t: np.fmin(t * t, t),
    "maximum": lambda t: np.maximum(t, 0.1),
    "fmax": lambda t: np.fmax(t * t, t),
    "logical_and": lambda t: np.where(np.logical_and(t > -0.2, t < 0.4), t, 2.0),
    "bitwise_and": lambda t: np.where((t > -0.2) & (t < 0.4), t, 2.0),
    "logical_or": lambda t: np.where(np.logical_or(t < -0.2, t > 0.4), t, 2.0),
    "bitwise_or": lambda t: np.where((t < -0.2) | (t > 0.4), t, 2.0),
    "arctan2": lambda t: np.arctan2(t, t - 0.2),
    "hypot": lambda t: np.hypot(t, 0.4),
    "fmod": lambda t: np.fmod(10 * t, 3.0),
    **{name: (lambda t, f=getattr(np, name): np.where(f(t, 0.1), 2.0, t)) for name in COMPARISONS},
}
OF_ONE = {
    "logical_not": lambda t: np.where(np.logical_not(t > 0.2), 1.0, t),
    "invert": lambda t: np.where(~(t > 0.2), 1.0, t),
    "reciprocal": lambda t: np.reciprocal(1.5 + t),
    "sqrt": lambda t: np.sqrt(1 + t),
    "log": lambda t: np.log(1.2 + t),
    "log2": lambda t: np.log2(1.2 + t),
    "log10": lambda t: np.log10(1.2 + t),
    "arccosh": lambda t: np.arccosh(2.5 + t),
    "exp": lambda t: np.exp(t) + np.exp(-t * t),
    "exp2": lambda t: np.exp2(3 * t) + np.exp2(-3 * abs(t)),
    "erf": lambda t: scipy.special.erf(t),
    "erfc": lambda t: scipy.special.erfc(t),
    "floor": lambda t: np.floor(5 * t + 0.01),
    "ceil": lambda t: np.ceil(5 * t + 0.01),
    "rint": lambda t: np.rint(5 * t + 0.01),
    "trunc": lambda t: np.trunc(5 * t + 0.01),
}
PLAIN = (set(SPECIAL) | WORDS | set(LIBRARY)) - set(OF_ONE) - set(OF_TWO) - set(ONLY_WORDS)
OF_ONE |= {name: getattr(np, name) for name in sorted(PLAIN)}
OF_ARRAYS = {
    np.where: lambda t: np.where(t > 0, np.where(t > 0.5, 0.5, t), 0.0),
    np.clip: lambda t: np.clip(t, -0.3, 0.3) + np.clip(t, None, 0.5) + np.clip(t, 0.1, None),
    np.ones_like: lambda t: t + np.ones_like(t),
    np.zeros_like: lambda t: t + np.zeros_like(t),
    np.full_like: lambda t: t + np.full_like(t, 0.7),
}
PYTHON = {
    "operators": lambda t: -t + (+t) * 2 - abs(t) / 3 + 2**t + (1 - t) / 2 + 3 / (2 + t) + t**2 - 1,
    "comparisons": lambda t: np.where((t < 0.1) | (t >= 0.5) & (t != 0.6), 1.0, np.where(t >= 0.3, t, t == t)),
    "numbers": lambda t: np.float64(2) * t + np.int64(3) * t + np.asarray(t) + True * t,
    "shared parts": lambda t: (lambda s: s * s + np.exp(-s) * s)(1 + t * t),
}
FAMILIES = {
    "words": ONLY_WORDS | PYTHON,
    "of two": OF_TWO,
    "of one": OF_ONE,
    "of arrays": {function.__name__: call for function, call in OF_ARRAYS.items()},
}


class Mixture(Dot):
    """A weighted sum of functions of t: the weights are arguments, so that one compilation serves for all functions."""

    functions: ClassVar = ()
    weights: ClassVar = ()

    def profile(self, t):
        return sum((w * f(t) for w, f in zip(self.weights, self.functions, strict=True)), start=0.0 * t)


def rows(count, dtype=np.float64):
    """Rows whose inner products lie between -0.9 and 0.9."""
    angles = RNG.uniform(0, 2 * np.pi, count)
    return 0.94 * np.column_stack([np.cos(angles), np.sin(angles)]).astype(dtype)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-14), ("float32", 3e-6)])
def test_every_function_gives_what_numpy_gives(family, dtype, tolerance, monkeypatch):
    named = FAMILIES[family]
    monkeypatch.setattr(Mixture, "functions", tuple(named.values()))
    points, columns = (points_from(rows(n, dtype)) for n in (37, 23))
    t = points.values @ columns.values.T
    before = set(jit_cache._LOADED)
    for k, (name, function) in enumerate(named.items()):
        monkeypatch.setattr(Mixture, "weights", tuple(float(k == j) for j in range(len(named))))
        passes = dispatch.bound(Mixture(), points, columns)
        assert passes is not None, name
        wanted = np.asarray(function(t), dtype=float)
        found = passes.matrix(np.dtype(np.float64), 1)[0]
        steps = np.abs(found - wanted) > 0.4  # where rounding decided on which side of a step a value falls
        assert steps.mean() < (0.02 if dtype == "float32" else 1e-9), name
        np.testing.assert_allclose(found[~steps], wanted[~steps], rtol=tolerance, atol=tolerance * 10, err_msg=name)
    assert len(set(jit_cache._LOADED) - before) <= 2  # one code for all weights, in each precision that was chosen


def test_every_function_is_among_those():
    tried = set(OF_ONE) | set(OF_TWO) | set(ONLY_WORDS)
    assert tried >= set(SPECIAL) | WORDS | set(LIBRARY) | set(COMPARISONS) | set(LOGIC)
    assert set(OF_ARRAYS) == set(symbols.ARRAY_FUNCTIONS)


# -- random expressions: the graph, interpreted with NumPy, against the code that wrote it -----------------------------


def interpreted(formula, leaves):
    """The values of a formula by NumPy, and a check of the signs that it claims."""
    known = {}
    calls = ARITHMETIC.keys() | COMPARISONS.keys() | WORDS | LIBRARY.keys() | {"power", "minimum", "maximum"}
    for node in nodes(formula):
        parts = [known[id(part)] for part in node.parts]
        if node.name in ("number", "whole"):
            value = float(node.value)
        elif node.name == "select":
            value = np.where(*parts)
        elif node.name in ("and", "or"):
            value = getattr(np, f"logical_{node.name}")(*parts)
        elif node.name in calls and parts:
            value = getattr(np, node.name)(*parts)
        else:
            value = leaves[node.name]
        known[id(node)] = value
        if node.name not in COMPARISONS:
            assert node.sign == 0 or np.all(np.isnan(value) | (np.asarray(value) * node.sign >= 0)), node.name
    return known[id(formula)]


numbers = st.one_of(st.integers(-3, 3), st.floats(-4, 4, allow_subnormal=False).map(lambda x: round(x, 3)))
atoms = st.one_of(st.sampled_from(["t", "s"]), numbers.map(repr))
TREES = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        st.tuples(inner, st.integers(-3, 6)).map(lambda p: f"np.power({p[0]}, {float(p[1])})"),
        st.tuples(st.sampled_from(["np.exp", "np.sin", "np.tanh", "abs", "-", "np.square", "np.cos"]), inner).map(
            lambda p: f"{p[0]}({p[1]})"
        ),
        st.tuples(st.sampled_from(["np.minimum", "np.maximum"]), inner, inner).map(lambda p: f"{p[0]}({p[1]}, {p[2]})"),
        st.tuples(inner, st.sampled_from(["<", ">="]), inner, inner, inner).map(
            lambda p: f"np.where(np.asarray({p[0]}) {p[1]} np.asarray({p[2]}), {p[3]}, {p[4]})"
        ),
    ),
    max_leaves=8,
)


@given(TREES)
def test_property_a_formula_says_what_the_code_computes(text):
    values = {"t": np.linspace(-1.5, 2.0, 29), "s": np.linspace(0.0, 3.0, 29)}
    marks = {"t": Symbol("t", level=Level.PAIR), "s": Symbol("s", level=Level.PAIR, sign=1)}
    with np.errstate(all="ignore"):
        try:
            wanted = eval(text, {"np": np}, values)  # noqa: S307
            formula = symbols.as_symbol(eval(text, {"np": np}, marks))  # noqa: S307
        except (Untraceable, ZeroDivisionError):  # numbers beyond floats, a division by zero: left to NumPy
            return
        found = interpreted(formula, values)
        wanted = np.asarray(wanted, dtype=float)
        # Uniform factors are brought together and powers multiplied, which rounds otherwise, and near a jump or a
        # cancelled sum decides otherwise: few values may differ, and those of most points must not.
        near = np.isclose(found, wanted, rtol=1e-9, atol=1e-9) | ~np.isfinite(wanted)
    assert np.mean(near) > 0.85, text


# -- what cannot be followed -------------------------------------------------------------------------------------------


def cut_by_mask(u):
    out = np.exp(-u)
    out[u > 2] = 0.0
    return out


def cut_by_truth(u):
    return np.exp(-u) if (u >= 0).all() else u


def cut_by_if(u):
    return u * 0 + 1 if u is None or bool(np.max(u) < 0) else 1 / (1 + u)


def through_floats(u):
    return np.reshape([np.exp(-float(v)) for v in np.ravel(u)], np.shape(u))


def by_table(u):
    return np.interp(u, [0.0, 1.0, 2.0, 1e9], [1.0, 0.4, 0.1, 0.0])


def by_bessel(u):
    return scipy.special.j0(np.sqrt(u))


def by_shape(u):
    return np.exp(-u) + np.zeros(u.shape)


def by_type(u):
    return np.exp(-u.astype(np.float64))


def in_place(u):
    out = np.empty_like(u)
    np.exp(-u, out=out)
    return out


def beyond_floats(u):
    with np.errstate(over="ignore"):
        return np.exp(-u) + np.minimum(u / np.float64(1e-320), 1.0)


def by_remainder(u):
    return np.exp(-u) * (1 + 0.1 * (u % 1.0)) + 0.1 * (u // 2)


def by_length(u):
    return np.exp(-u) * len(u) / len(u)


def as_floats(u):
    return np.exp(-np.asarray(u, dtype=float))


def by_either(u):
    return np.where((u > 0.5) ^ (u > 1.0), 0.5, np.exp(-u))


def by_own_error(u):
    if not isinstance(u, np.ndarray):
        raise ValueError("this profile takes arrays only")
    return np.exp(-u)


UNFOLLOWED = [cut_by_mask, cut_by_truth, cut_by_if, through_floats, by_table, by_bessel, by_shape, by_type, in_place]
UNFOLLOWED += [beyond_floats, by_remainder, by_length, as_floats, by_either, by_own_error]


class Own(Radial):
    """A kernel whose profile is chosen by a test."""

    lengthscale: float = 1.0
    chosen: ClassVar = staticmethod(cut_by_mask)

    def profile(self, u):
        return self.chosen(u)


@pytest.mark.parametrize("profile", UNFOLLOWED, ids=lambda f: f.__name__)
def test_code_that_cannot_be_followed_is_left_to_numpy(profile, monkeypatch):
    monkeypatch.setattr(Own, "chosen", staticmethod(profile))
    X, Z = RNG.normal(size=(9, 3)), RNG.normal(size=(4, 3))
    with fused_from(0):
        found, whole = Own(0.8)(X, Z), Own(0.8)(X)
    gaps = ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2) / 0.8 / 0.8
    np.testing.assert_allclose(found, profile(gaps.copy()), rtol=1e-13, atol=1e-13)
    assert np.array_equal(whole, whole.T)
    assert dispatch.bound(Own(0.8), points_from(X), points_from(Z)) is None


@pytest.mark.parametrize(
    "question",
    [
        *[bool, float, int, complex, len, iter, list, np.sum, np.sort, np.add.reduce],
        *[lambda s: s[0], lambda s: s.shape, lambda s: np.exp(s, out=np.empty(3)), lambda s: s + "a"],
        *[lambda s: np.clip(s, 0, 1, out=np.empty(3)), lambda s: s + np.ones((2, 2)), lambda s: s * np.inf],
        *[lambda s: s + 1j, lambda s: s / 0, lambda s: s + None],
    ],
)
def test_what_a_symbol_does_not_know_it_says(question):
    with pytest.raises((Untraceable, TypeError)):
        question(Symbol("t", level=Level.PAIR))


# -- numbers are arguments, integers are structure ----------------------------------------------------------------


@pytest.fixture
def own_folder(monkeypatch, tmp_path):
    """Compiled code goes where no other process, of other tests, adds files."""
    monkeypatch.setenv("MERCER_CACHE_DIR", str(tmp_path))
    directory.cache_clear()
    yield
    monkeypatch.undo()
    directory.cache_clear()


def compiled(kernels, X, Z):
    """How many modules and files the evaluation of kernels adds."""
    before, files = len(jit_cache._LOADED), len(list(directory().glob("*.nbc")))
    with fused_from(0):
        for kernel in kernels:
            np.testing.assert_allclose(kernel(X, Z), fresh(kernel, X, Z), rtol=1e-11, atol=1e-12)
    return len(jit_cache._LOADED) - before, len(list(directory().glob("*.nbc"))) - files


def fresh(kernel, X, Z):
    with fused_from(1 << 60):
        return kernel(X, Z)


class Shifted(Coordinate):
    """A kernel of its own structure, so that no other test has compiled it."""

    shift: float = 0.25
    order: int = 3

    def term(self, x, z):
        return np.minimum(x, z) + self.shift * x * z

    def profile(self, total):
        return (1.0 + total) ** self.order


def test_a_formula_is_compiled_once_for_all_numbers(own_folder):
    X, Z = RNG.uniform(size=(6, 5)), RNG.uniform(size=(3, 5))
    modules, files = compiled([Shifted(0.25)], X, Z)
    assert modules == 1
    assert files <= 1  # none where an earlier run has left it
    assert compiled([Shifted(0.5), Shifted(1e-3), Shifted(7.0)], X, Z) == (0, 0)
    assert compiled([Shifted(0.25)], X[:2], Z[:1]) == (0, 0)  # nor for other shapes
    assert compiled([Shifted(0.25)], X[:, :2], Z[:, :2]) == (0, 0)  # nor for other columns
    assert compiled([Shifted(0.25, 5)], X, Z)[0] == 1  # an integer is part of the formula


def test_equal_structure_shares_code(own_folder):
    X, Z = RNG.uniform(size=(6, 2)), RNG.uniform(size=(3, 2))
    compiled([Gaussian(1.0), Laplace(1.0) * Linear() + 0.3 * Min(), RationalQuadratic(0.7)], X, Z)
    again = [Gaussian(0.1), Gaussian(25.0), Laplace(3.3) * Linear() + 1.7 * Min(), RationalQuadratic(3.3, 0.2)]
    assert compiled(again, X, Z) == (0, 0)
    assert compiled([Gaussian(2.0).scaled([3.0, 0.1]), Gaussian(1.5).on([1])], X, Z) == (0, 0)
    compiled([Polynomial(3, 1.0)], X, Z)
    assert compiled([Polynomial(3, 0.5)], X, Z) == (0, 0)
    assert compiled([Polynomial(11, 0.5)], X, Z)[0] == 1
