"""Cards of kernels, and of what is proven of them."""

import inspect

import numpy as np
import pytest
from html_reader import SCRIPTED, read
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from strategies import LEAVES, REFUTED, any_trees

import mercer
from mercer import kernels as k
from mercer.errors import KernelError
from mercer.kernels.proof.glance import glance
from mercer.kernels.radial.base import Radial
from mercer.kernels.tree_size import nodes

EXPORTED = {name: each for name, each in inspect.getmembers(k, inspect.isclass) if issubclass(each, k.Kernel)}


def simple(name):
    """A kernel with its defaults; None where it has none."""
    try:
        return EXPORTED[name]()
    except TypeError:
        return None


NAMES = sorted(name for name in EXPORTED if not inspect.isabstract(EXPORTED[name]) and simple(name) is not None)


@given(any_trees)
def test_every_tree_has_a_card(kernel):
    page = read(kernel._repr_html_())
    assert str(kernel)[:500] in page.text
    assert "cannot be shown" not in page.text


@pytest.mark.parametrize("name", NAMES)
def test_exported_kernels_show_their_formula_and_what_prove_says(name):
    kernel, page = simple(name), read(simple(name)._repr_html_())
    proof = mercer.prove(kernel)
    assert f"k(x, z) = {kernel.formula}" in page.text
    assert page.words[0] == glance(kernel).status == proof.status
    assert proof.claim.removeprefix(str(kernel)).partition(", d = ")[0] in page.text
    if proof.status == "proven":
        assert all(step in page.text for step in proof.steps)


@given(st.one_of(*LEAVES.values()))
def test_kernels_are_proven_at_a_glance_with_the_steps_of_prove(kernel):
    proof, seen = mercer.prove(kernel), glance(kernel)
    assert (seen.status, seen.steps, seen.max_dimension) == (proof.status, proof.steps, proof.max_dimension)


@given(st.one_of(*REFUTED.values()))
def test_what_is_refuted_at_a_glance_is(kernel):
    seen = glance(kernel)
    assert seen.status in ("refuted", "unknown", "proven")
    if seen.status == "refuted":
        weights = seen.witness.weights
        assert weights @ kernel(seen.witness.points) @ weights < 0
        assert "Witness" in read(kernel._repr_html_()).text
    if seen.status == "proven":
        assert mercer.prove(kernel).status == "proven"


# -- hostile and huge -------------------------------------------------------------------------------------------------


def shared(times):
    kernel = k.Gaussian()
    for _ in range(times):
        kernel = (kernel + kernel).normalized()
    return kernel


def deep(times):
    kernel = k.Gaussian()
    for _ in range(times):
        kernel = kernel.normalized()
    return kernel


WORDS = tuple((f"word{i}", 1.0 + i) for i in range(50_000))
HUGE = {
    "10,000 terms": lambda: k.Sum(tuple(k.Gaussian(1.0 + j) for j in range(10_000))),
    "250 terms": lambda: k.Sum(tuple(k.Gaussian(1.0 + j).on(f"column {j}") for j in range(140))),
    "2^18 sums": lambda: shared(18),
    "99 levels": lambda: deep(99),
    "39 levels": lambda: deep(39),
    "50,000 words": lambda: k.BagOfWords(weights="idf", documents=1e6, frequencies=WORDS),
    "words in a table": lambda: (
        k.BagOfWords(weights="idf", documents=1e6, frequencies=WORDS).on("text") + k.Linear().on("x")
    ),
    "a matrix": lambda: k.Linear().after(np.random.default_rng(0).normal(size=(300, 300))),
    "a long matrix": lambda: k.Linear().after(np.random.default_rng(0).normal(size=(2, 300_000))),
    "many columns": lambda: k.Gaussian().on([f"column {j}" for j in range(30_000)]),
    "a long name": lambda: k.Gaussian().on("x" * 1_000_000),
    "names to escape": lambda: k.Gaussian().on(["'\"<&>" * 40_000]),
    "wide characters": lambda: k.Gaussian().on(["\U0001f600" * 20_000, "\ud800" * 20_000]),
}


@pytest.mark.parametrize("name", HUGE)
def test_huge_kernels_have_small_cards(name):
    kernel = HUGE[name]()
    page = read(kernel._repr_html_())
    assert "cannot be shown" not in page.text
    assert page.words[0] in ("proven", "large")


@pytest.mark.parametrize(
    ("build", "told"), [(lambda: shared(60), "at most 1,000,000 nodes"), (lambda: deep(20_000), "at most 100 levels")]
)
def test_trees_that_nobody_can_walk_through_are_not_built(build, told):
    with pytest.raises(KernelError, match=told):
        build()


def test_deep_trees_are_outlined_before_they_are_too_deep_for_python():
    assert read(deep(39)._repr_html_()).words[0] == "proven"
    assert read(deep(40)._repr_html_()).words[0] == "large"


def test_what_is_left_out_of_a_large_tree_is_counted():
    page = read(HUGE["10,000 terms"]()._repr_html_())
    assert "sum of 10,000 kernels" in page.text
    assert page.tags.count("li") == 13
    assert "... and 9,988 more" in page.text
    assert "[400,000 in all]" in read((k.Gaussian().on(["c"] * 400_000))._repr_html_()).text


@pytest.mark.parametrize(
    "name", [SCRIPTED, "$\\href{javascript:alert(1)}{x}$", "a\x00b", "\u202eabc", "x\ud800", "</code>"]
)
def test_names_of_columns_do_nothing(name):
    card = (k.Gaussian().on([name]) + k.Linear().on(["age"]))._repr_html_()
    assert SCRIPTED not in card
    assert read(card).text.count("gaussian") >= 2
    assert "mathjax_ignore" in card


def test_functions_of_users_are_not_called():
    def forbidden(X):
        raise AssertionError("a card has called a function")

    kernel = k.Gaussian().weighted(forbidden) + k.Linear().after(forbidden)
    assert read(kernel._repr_html_()).words[0] == "proven"
    assert read((k.Sigmoid().after(forbidden))._repr_html_()).words[0] == "unknown"


def test_a_kernel_that_cannot_be_asked_is_shown_as_far_as_it_can():
    class Broken(Radial):
        argument = "distance"

        def profile(self, u):
            return np.exp(-u)

        def latex(self, x="x", z="z"):
            raise ZeroDivisionError

        def facts(self):
            raise LookupError(SCRIPTED)

    assert "cannot be shown: LookupError" in read(Broken()._repr_html_()).text


def test_a_card_settles_no_draft():
    draft = clone(k.Gaussian(2.0))
    draft._repr_html_()
    draft.set_params(lengthscale=3.0)  # in place, as long as it is a draft
    assert draft == k.Gaussian(3.0)


# -- formulas ---------------------------------------------------------------------------------------------------------


@given(any_trees)
def test_the_formula_of_each_leaf_is_shown_as_text(kernel):
    text = read(kernel._repr_html_()).text
    for node in nodes(kernel):
        if not node.children:
            assert node.formula in text


# -- proofs and witnesses ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "domain", "status"),
    [
        ("gaussian*linear + 1", None, "proven"),
        ("min", "integers", "refuted"),
        (lambda x, z: x[0] - z[0], None, "refuted"),
    ],
    ids=["proven", "points", "asymmetry"],
)
def test_proofs_show_steps_and_witness(kernel, domain, status):
    proof = mercer.prove(kernel, domain=domain)
    page = read(proof._repr_html_())
    assert page.words[0] == status
    assert all(step in page.text for step in proof.steps)
    assert ("Witness" in page.text) is (status == "refuted")


@pytest.mark.parametrize("kernel", [k.Wendland(3, 1), k.EditSimilarity()], ids=["frequency", "strings"])
def test_other_witnesses_have_cards(kernel):
    proof = mercer.prove(kernel, d=5) if kernel.of_numbers else mercer.prove(kernel)
    assert proof.status == "refuted"
    assert f"{proof.witness.value:.6g}" in read(proof.witness._repr_html_()).text


def test_large_witnesses_are_cut():
    witness = mercer.kernels.proof.record.Witness(np.full((5000, 400), 1 / 3), np.ones(5000), -1.0, 50)
    page = read(witness._repr_html_())
    assert "5,000 points" in page.text
    assert "... and 4,960 more rows" in page.text


def test_proofs_of_many_steps_are_cut():
    proof = mercer.prove(k.Sum(tuple(k.Gaussian(1.0 + j) for j in range(2000))))
    page = read(proof._repr_html_())
    assert "why: 2,001 steps" in page.text
    assert "... and 1,961 more lines" in page.text
