"""Every kernel obeys the laws of kernels, through plain NumPy and through the fused pass."""

import numpy as np
import pytest

import mercer
from mercer import kernels as k
from mercer.compute.codegen.tiles import Fused
from mercer.kernels.evaluation import dispatch
from mercer.kernels.objects.leaf import ObjectKernel
from mercer.kernels.points import points_from
from mercer.kernels.text import known_names
from mercer.testing import check_kernel

NOT_KERNELS = {"sigmoid", "epanechnikov", "edit_similarity", "common_subsequence"}
KNOWN = {leaf.name: leaf for leaf in known_names().values() if isinstance(leaf, type)}
THINGS = sorted(name for name, leaf in KNOWN.items() if issubclass(leaf, ObjectKernel) and name not in NOT_KERNELS)
LEAVES = sorted(KNOWN.keys() - NOT_KERNELS - set(THINGS) - {"function"})  # Python's are never proven: test_function.py
LABELS = [["1", "S"], ["2", "M"], ["3", "L"], ["1", "L"], ["2", "S"], ["3", "M"], ["1", "S"]]
GIVEN = {
    "gapped": [1.0, 2.5, None, 4.0, -1.0, 2.5, None],
    "ordinal": ["S", "M", "L", "M", "S"],
    "match": LABELS,
    "hamming": LABELS,
}
"""Data for kernels of things that do not take what everybody takes."""


def is_fused(kernel, d=2):
    points = points_from(kernel.domain.place(np.random.default_rng(0).normal(size=(5, d))))
    return isinstance(dispatch.bound(kernel, points, points), Fused)


@pytest.mark.parametrize("name", LEAVES)
def test_every_kernel_obeys_the_laws(name):
    kernel = mercer.parse(name)
    check_kernel(kernel)
    assert is_fused(kernel)  # else both paths were one


@pytest.mark.parametrize("name", THINGS)
def test_every_kernel_of_things_obeys_the_laws(name):
    kernel = k.Ordinal(["S", "M", "L"]) if name == "ordinal" else mercer.parse(name)
    check_kernel(kernel, X=GIVEN.get(name))


@pytest.mark.slow
@pytest.mark.parametrize(
    "kernel",
    [
        k.Matern(0.5),
        k.Matern(1.5),
        k.Matern(4.5),
        k.ArcCosine(0),
        k.Geodesic(0.7, 1.5),
        k.Polynomial(5, 2.0),
        k.Wendland(3, 2),
        k.Monomials(3, include_bias=False),
        k.Trigonometric(3, 0.7),
    ],
    ids=str,
)
def test_members_whose_formula_depends_on_whole_numbers(kernel):
    check_kernel(kernel)
    assert is_fused(kernel)


@pytest.mark.parametrize(
    "kernel", [k.Subsets(min_order=1), k.Subsets(max_order=2), k.Subsets(2, 3), k.Subsets(min_order=4)], ids=str
)
def test_subsets_of_some_orders_are_plain(kernel):
    """They need several numbers per coordinate, where a formula joins one; Newton's identities would cancel."""
    check_kernel(kernel, d=4)
    assert not is_fused(kernel, d=4)
    assert is_fused(k.Subsets(max_order=4), d=4)  # these are all subsets again


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "0.5*gaussian(lengthscale=2) + linear*polynomial(degree=2)",
        "gaussian('median')*(min + 0.1)",
        "exp(0.1*linear).normalized()",
        "matern(nu=0.8).scaled([1, 2, 3]) + linear.on([2])**2",  # no half integer: plain on both paths
        "gaussian**0.5*laplace.after([[1, 2], [0, 1]])",
        "gaussian(lengthscale=2).on([0, 1, 2, 3, 4])*linear + laplace.on([1])",
    ],
)
def test_compositions_obey_the_laws(text):
    check_kernel(mercer.parse(text))


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [k.Gaussian(2.0), k.Laplace(3.0), k.Min(), k.Linear() * k.Matern(1.5)], ids=str)
def test_many_columns_obey_the_laws_too(kernel):
    """Above a dozen columns distances come from products of matrices."""
    check_kernel(kernel, d=19)
