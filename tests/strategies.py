"""Hypothesis strategies for kernels and for the data on which they are compared."""

import numpy as np
from hypothesis import strategies as st

import mercer
from mercer import kernels as k

lengths = st.floats(0.1, 10.0)
numbers = st.floats(0.0, 3.0)

LEAVES = {
    "constant": st.builds(k.Constant, numbers),
    "linear": st.builds(k.Linear),
    "polynomial": st.builds(k.Polynomial, st.integers(1, 4), numbers),
    "exponential": st.builds(k.Exponential, st.floats(1.0, 10.0)),
    "gaussian": st.builds(k.Gaussian, lengths),
    "laplace": st.builds(k.Laplace, lengths),
    "product_laplace": st.builds(k.ProductLaplace, lengths),
    "matern": st.builds(k.Matern, st.sampled_from([0.5, 0.8, 1.5, 2.5, 4.2]), lengths),
    "rational_quadratic": st.builds(k.RationalQuadratic, st.floats(0.2, 20.0), lengths),
    "periodic": st.builds(k.Periodic, lengths, lengths),
    "cosine": st.builds(k.Cosine),
    "sinc": st.builds(k.Sinc, lengths),
    "product_sinc": st.builds(k.ProductSinc, lengths),
    "subsets": st.one_of(
        st.builds(k.Subsets),
        st.builds(k.Subsets, st.integers(0, 3)),
        st.builds(k.Subsets, st.integers(0, 1), st.integers(1, 3), st.just(False)),
        st.builds(k.Subsets, st.integers(0, 1), st.integers(1, 3)),
    ),
    "monomials": st.builds(k.Monomials, st.integers(1, 3), st.booleans()),
    "powers": st.builds(k.Powers, st.integers(1, 4)),
    "trigonometric": st.builds(k.Trigonometric, st.integers(1, 3), lengths),
    "parabolic": st.builds(k.Parabolic),
    "min": st.builds(k.Min),
    "chi_squared": st.builds(k.ChiSquared),
    "exponential_chi_squared": st.builds(k.ExponentialChiSquared, lengths),
    "arc_cosine": st.builds(k.ArcCosine, st.integers(0, 1)),
    "wendland": st.builds(k.Wendland, st.integers(1, 5), st.integers(0, 3), lengths),
}
"""One strategy for each kernel that is one (somewhere)."""

REFUTED = {
    "sigmoid": st.builds(k.Sigmoid, st.floats(-2, 2), st.floats(-2, 2)),
    "epanechnikov": st.builds(k.Epanechnikov, lengths),
}

leaves = st.one_of(*LEAVES.values())
any_leaf = st.one_of(*LEAVES.values(), *REFUTED.values())
open_leaves = st.sampled_from([k.Gaussian("median"), k.Laplace("median"), k.Matern(0.5, "median")])


def squared_length(X):
    """A function for `weighted`."""
    return (X * X).sum(axis=1)


def first_and_double(X):
    """A map for `after`, from two columns to three."""
    return np.column_stack([X, 2 * X[:, :1]])


NAMES = {"squared_length": squared_length, "first_and_double": first_and_double}


def composed(children):
    """One level of composition over the given kernels, for data of two columns."""
    pairs = st.tuples(children, children)
    return st.one_of(
        pairs.map(lambda p: p[0] + p[1]),
        pairs.map(lambda p: p[0] * p[1]),
        st.tuples(numbers, children).map(lambda p: p[0] * p[1]),
        st.tuples(children, st.integers(2, 3)).map(lambda p: p[0] ** p[1]),
        children.map(lambda c: c.normalized()),
        children.map(lambda c: c.weighted(squared_length)),
        st.tuples(children, lengths, lengths).map(lambda p: p[0].scaled(p[1:])),
        children.map(lambda c: c.after([[1.0, 0.5], [0.0, 2.0]])),
        children.map(lambda c: c.on([1, 0])),
    )


trees = st.recursive(leaves, composed, max_leaves=6)
"""Kernels of up to six leaves, for data of two columns, non-negative for those that need it."""

bounded = st.one_of(
    *(LEAVES[name] for name in ("gaussian", "laplace", "cosine", "sinc", "matern", "rational_quadratic", "periodic"))
)
"""Kernels of values from -1 to 1, whose exponentials do not overflow."""

any_trees = st.recursive(
    st.one_of(any_leaf, open_leaves),
    lambda children: st.one_of(
        composed(children),
        children.map(mercer.exp),
        children.map(lambda c: c.after(first_and_double)),
        children.map(lambda c: c.on(["age", "a b\"c'"])),
        children.map(lambda c: c.on([-1])),
    ),
    max_leaves=8,
)
"""Every way to write a kernel, whether or not it can be evaluated or is one."""


def table(rows=7, seed=0):
    """Non-negative data of two columns, inside the domain of every kernel."""
    return np.random.default_rng(seed).uniform(0.05, 1.5, size=(rows, 2))
