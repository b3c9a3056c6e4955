"""Formulas as typed lines; and the text that Numba gets of them, whose bytes are the key of kept code."""

import hashlib

import numpy as np
import pytest

import mercer
from mercer.compute.codegen.formula import Total
from mercer.compute.codegen.lower import LEAF, lower, lower_term
from mercer.compute.codegen.precision import exponents
from mercer.compute.codegen.program import Method
from mercer.compute.codegen.symbols import Level
from mercer.kernels.evaluation.trace import TracedPairs, trace
from mercer.kernels.objects.leaf import ObjectKernel
from mercer.kernels.points import points_from
from mercer.kernels.text import known_names

KNOWN = {leaf.name: leaf for leaf in known_names().values() if isinstance(leaf, type)}
LEAVES = sorted(name for name, leaf in KNOWN.items() if not issubclass(leaf, ObjectKernel) and name != "function")
COMPOSITIONS = (
    "gaussian + 0.5*linear*matern(nu=1.5)",
    "0.5*gaussian(lengthscale=2) + linear*polynomial(degree=2)",
    "exp(0.1*linear).normalized()",
    "gaussian**0.5*laplace.after([[1, 2], [0, 1]])",
    "gaussian(lengthscale=2).on([0, 1])*linear + laplace.on([1])",
)
METHODS = (
    Method("product"),
    Method("product", shifted=True, repaired=True),
    Method("product", repaired=True, swept=True),
    Method("differences", shifted=True),
)
DIGESTS = {"float32": "ebcd6c4140e2d268", "mixed": "f4d8f5b9d10cc2e8", "float64": "c6bba793b4892a8a"}


def formula_of(text):
    kernel = mercer.parse(text)
    X = points_from(kernel.domain.place(np.random.default_rng(0).normal(size=(5, 2))))
    return trace(kernel, TracedPairs(X, X.rows(np.arange(3))))


@pytest.mark.parametrize("precision", ["float32", "mixed", "float64"])
@pytest.mark.parametrize("text", [*LEAVES, *COMPOSITIONS])
def test_lines_come_after_those_that_they_need(text, precision):
    formula = formula_of(text)
    lowered = lower(formula, precision)
    known = set()
    for line in lowered.lines:
        assert known.issuperset(line.parts)
        assert (line.operation in LEAF) == (not line.parts)
        known.add(line)
        if isinstance(line.value, Total):
            assert all(inner.wide for inner in lower_term(line.value.term))
    assert lowered.result is lowered.lines[-1]
    assert len(lowered.lines) == len(known)


def test_a_line_knows_its_level_and_its_type():
    lines = lower(formula_of("gaussian"), "mixed").lines
    assert [(line.operation, line.wide, line.level) for line in lines] == [
        ("number", True, Level.UNIFORM),
        ("square", True, Level.PAIR),
        ("multiply", True, Level.PAIR),
        ("exp2_parts", False, Level.PAIR),
    ]
    lines = lower(formula_of("gaussian"), "float32").lines
    assert [line.operation for line in lines] == ["number", "square", "multiply", "exp2_down"]
    assert not any(line.wide for line in lines)


@pytest.mark.parametrize("precision", DIGESTS)
def test_the_text_of_numba_is_what_it_was(precision):
    """Compiled code is kept under a hash of its text: who changes a byte makes every user compile anew."""
    pytest.importorskip("numba")
    from mercer.compute.codegen.emit import write
    from mercer.compute.codegen.products import DIGEST  # it depends on the version of Python

    found = hashlib.sha256()
    for text in (*LEAVES, *COMPOSITIONS):
        formula = formula_of(text)
        for method in METHODS if precision != "mixed" or exponents(formula) else ():
            methods = dict.fromkeys(lower(formula, precision).wanted, method)
            found.update(write(formula, precision, methods).text.replace(DIGEST, "").encode())
    assert found.hexdigest()[:16] == DIGESTS[precision]
