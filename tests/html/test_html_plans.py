"""Cards of plans and of certificates."""

import numpy as np
import pytest
from html_reader import SCRIPTED, read

import mercer
from mercer.learners.certificates.bounds import Distance
from mercer.lifts.certificate import Certificate
from mercer.planner.clustering import ClusterPlan
from mercer.planner.logistic import LogisticPlan
from mercer.planner.pca import ComponentPlan
from mercer.planner.perceptron import PassPlan
from mercer.planner.plan import Plan, Stage
from mercer.planner.svm import MarginPlan
from mercer.solvers import Cholesky, Eigen

STAGES = Stage("first part", 0.25), Stage("second part", 3.0)
OTHER = Plan("direct", "dual", Eigen(), 10_000, 8, 1, None, 9e12, 2_400_000_000, 250.0, reason="slower than that")
PLANS = {
    "least squares": Plan(
        "direct",
        "dual",
        Cholesky(),
        10_000,
        8,
        1,
        None,
        3.4e11,
        8 * 10**8,
        6.4,
        STAGES,
        reason="because",
        others=(OTHER,),
    ),
    "clusters": ClusterPlan("k-means", "landmarks", 20_000, 10, 10, 128, 60_000_000, 1.6, STAGES),
    "components": ComponentPlan("krylov", 20_000, 10, 10, 625, 0, 20_000, 90_000_000, 2.4, STAGES),
    "logistic": LogisticPlan("features", 20_000, 54, 7, 1000, 180_000_000, 3.3, STAGES),
    "margins": MarginPlan("exact", 5_000, 10, 1, 0, 10**8, 10**8, 1.2, STAGES, "because"),
    "passes": PassPlan(50_000, 10, 1, 3, 1_000_000, 2.5, STAGES),
}
MEMORY = {"least squares": "762.9 MiB", "clusters": "57.2 MiB", "components": "85.8 MiB"} | {
    "logistic": "171.7 MiB", "margins": "95.4 MiB", "passes": "976.6 KiB"
}  # fmt: skip
TIME = {"least squares": "6.4 s", "clusters": "1.6 s", "components": "2.4 s"} | {
    "logistic": "3.3 s", "margins": "1.2 s", "passes": "2.5 s"
}  # fmt: skip


@pytest.mark.parametrize("name", PLANS)
def test_plans_show_what_is_taken_and_what_it_takes(name):
    plan = PLANS[name]
    page = read(plan._repr_html_())
    assert page.words[0] == str(plan).partition("\n")[0]
    assert {MEMORY[name], TIME[name], "first part", "0.2 s", "second part", "3.0 s"} <= set(page.words)
    assert ("why: because" in page.words) is hasattr(plan, "reason")


def test_ways_that_were_not_taken_are_there_with_their_reasons():
    page = read(PLANS["least squares"]._repr_html_())
    assert {"direct, kernel matrix, Eigen", "4.2 min", "2.2 GiB", "slower than that"} <= set(page.words)
    assert "why not" not in read(PLANS["margins"]._repr_html_()).text


def test_what_is_given_up_is_told():
    assert "the kernel is approximated" in read(PLANS["clusters"]._repr_html_()).words
    assert "nothing" in read(PLANS["logistic"]._repr_html_()).words


def test_a_real_plan_has_a_card():
    plan = mercer.plan(1_000_000, 20)
    page = read(plan._repr_html_())
    assert all(other.reason[:200] in page.text for other in plan.others)


def test_many_ways_and_long_reasons_are_cut():
    other = Plan("direct", "dual", Eigen(), 1, 8, 1, None, 1.0, 1, 1.0, gives_up="g" * 5000, reason=SCRIPTED * 500)
    plan = Plan("direct", "dual", Eigen(), 1, 8, 1, None, 1.0, 1, 1.0, reason="r" * 10**6, others=(other,) * 3000)
    page = read(plan._repr_html_())
    assert "more characters" in page.text


def test_plans_are_still_equal_and_print_as_before():
    again = PassPlan(50_000, 10, 1, 3, 1_000_000, 2.5, STAGES)
    assert again == PLANS["passes"]
    assert hash(again) == hash(PLANS["passes"])
    assert repr(again).startswith("PassPlan(rows=50000, ")


def test_certificates_say_their_sentence():
    page = read(Certificate(0.01, 0.99, "mean", f"No entry {SCRIPTED}.")._repr_html_())
    assert f"No entry {SCRIPTED}." in page.text
    assert {"0.01", "0.99", "mean"} <= set(page.words)


@pytest.mark.parametrize("outputs", [1, 500])
def test_distances_show_each_output(outputs):
    norm, rms = np.full(outputs, np.inf), np.linspace(0.5, 1.0, outputs)
    distance = Distance(norm, rms, 0.99, 0.0, np.full(outputs, 2.0), norm)
    page = read(distance._repr_html_())
    assert str(distance) in page.text
    assert {"output 1", "0.5", "0.25", "inf"} <= set(page.words)
