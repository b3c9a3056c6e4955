"""What formulas of one structure share, and that each gets what is its own."""

import threading

import numpy as np
import pytest
import scipy.sparse as sp

import mercer
from mercer.compute.codegen import emit
from mercer.compute.codegen.formula import Group, groups, nodes, square
from mercer.compute.codegen.lower import lower
from mercer.compute.codegen.precision import exponents
from mercer.compute.codegen.program import Method, Program
from mercer.compute.codegen.structure import MAX_STRUCTURES, Place, leaves
from mercer.compute.codegen.symbols import as_symbol
from mercer.kernels import Gaussian, Polynomial
from mercer.kernels.evaluation.evaluate import fused_from, gram
from mercer.kernels.evaluation.trace import TracedPairs, trace
from mercer.kernels.objects.leaf import ObjectKernel
from mercer.kernels.points import points_from
from mercer.kernels.text import known_names

KNOWN = {leaf.name: leaf for leaf in known_names().values() if isinstance(leaf, type)}
LEAVES = sorted(name for name, leaf in KNOWN.items() if not issubclass(leaf, ObjectKernel) and name != "function")
COMPOSITIONS = (
    "gaussian + 0.5*linear*matern(nu=1.5)",
    "exp(0.1*linear).normalized()",
    "gaussian*gaussian(lengthscale=3) + 2",
    "gaussian(lengthscale=2).on([0, 1])*linear + laplace.on([1])",
)
METHODS = (
    Method("product"),
    Method("product", shifted=True, repaired=True),
    Method("product", shifted=True, repaired=True, swept=True),
    Method("differences", shifted=True),
)


def formula_of(kernel, seed=0, is_sparse=False):
    kernel = mercer.parse(kernel) if isinstance(kernel, str) else kernel
    X = kernel.domain.place(np.random.default_rng(seed).normal(size=(6, 2)))
    points = points_from(sp.csr_array(X) if is_sparse else X)
    return trace(kernel, TracedPairs(points, points.rows(np.arange(3))))


def printed_anew(formula, precision, methods):
    """The program as the printer makes it of the formula itself."""
    program = Program(precision)
    writer = emit._Writer(program, lower(formula, precision), methods)
    return program, [writer.function(finish) for finish in ("fill", "reduce", "both")]


def told(program):
    """The arguments of a program, those that are objects by which they are."""
    coordinates = [(id(each.group), each.moved, each.paneled) for each in program.coordinates]
    vectors = [each if isinstance(each, tuple) else id(each) for each in (*program.rows, *program.columns)]
    return program.numbers, len(program.rows), vectors, list(map(id, program.tiles)), coordinates


@pytest.mark.parametrize("precision", ["float32", "mixed", "float64"])
@pytest.mark.parametrize("text", [*LEAVES, *COMPOSITIONS])
def test_a_formula_gets_its_own_arguments(text, precision):
    pytest.importorskip("numba")
    for seed in (0, 1):
        formula = formula_of(text, seed)
        if precision == "mixed" and not exponents(formula):
            return
        for method in METHODS:
            methods = dict.fromkeys(groups(formula), method)
            program = emit.write(formula, precision, methods)
            anew, functions = printed_anew(formula, precision, methods)
            assert told(program) == told(anew)
            assert program.text.endswith("\n\n".join(functions) + "\n")


def test_sparse_rows_have_tiles():
    pytest.importorskip("numba")
    formula = formula_of("gaussian + linear", is_sparse=True)
    methods = dict.fromkeys(groups(formula), Method("ready"))
    program = emit.write(formula, "float64", methods)
    assert told(program) == told(printed_anew(formula, "float64", methods)[0])
    assert len(program.tiles) == 2
    assert leaves(formula).structure is not leaves(formula_of("gaussian + linear")).structure


def test_one_text_for_all_numbers_and_rows():
    pytest.importorskip("numba")
    one, other = formula_of(Gaussian(2.0), 0), formula_of(Gaussian(3.0), 1)
    assert leaves(one).structure is leaves(other).structure
    texts = [emit.write(each, "float64", dict.fromkeys(groups(each), METHODS[0])).text for each in (one, other)]
    assert texts[0] is texts[1]
    assert leaves(one).values != leaves(other).values
    assert leaves(one).groups != leaves(other).groups


def test_what_the_text_depends_on_is_structure():
    def structure(kernel):
        return leaves(formula_of(kernel)).structure

    assert structure(Polynomial(2)) is not structure(Polynomial(3))
    assert structure(Gaussian(2.0) + Gaussian(2.0)) is not structure(Gaussian(2.0))
    falling, rising = (leaves(square(Group(np.ones((2, 1)), np.ones((2, 1)))) * sign) for sign in (-2.0, 2.0))
    assert falling.structure is not rising.structure  # an exponential of the first never exceeds one


def test_one_vector_twice_is_not_two_vectors():
    first, second = as_symbol(np.ones((3, 1))), as_symbol(np.full((3, 1), 2.0))
    twice, two = leaves(first * (first + 1.0)), leaves(first * (second + 1.0))
    assert twice.structure is not two.structure
    assert (len(twice.values), len(two.values)) == (2, 3)


def test_a_structure_holds_no_numbers_and_no_rows():
    found = leaves(formula_of("exp(0.1*linear).normalized()"))
    inner = list(nodes(found.structure.formula))
    held = [node.value for node in inner if node.name in ("number", "row", "column")]
    assert held
    assert all(isinstance(value, Place) for value in held)
    assert all(group.left is None for group in found.structure.groups)
    assert [node.sign for node in inner] == [node.sign for node in nodes(formula_of("exp(0.1*linear).normalized()"))]


def test_the_memory_is_bounded():
    symbol = square(Group(np.ones((2, 1)), np.ones((2, 1))))
    before = leaves(symbol * 2).structure
    for k in range(MAX_STRUCTURES):
        leaves(symbol * (3 + k))
    assert leaves(symbol * 2).structure is not before


def test_threads_that_come_at_once_get_the_same():
    pytest.importorskip("numba")
    emit._written.cache_clear()
    X, found, start = np.random.default_rng(0).normal(size=(40, 3)), {}, threading.Barrier(8)

    def evaluate(k):
        start.wait()
        with fused_from(0):
            found[k] = gram(Gaussian(1.0 + k) + 0.5 * Gaussian(2.0 + k), X)

    workers = [threading.Thread(target=evaluate, args=(k,)) for k in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for k in range(8):
        expected = gram(Gaussian(1.0 + k) + 0.5 * Gaussian(2.0 + k), X)
        np.testing.assert_allclose(found[k], expected, rtol=1e-11)
