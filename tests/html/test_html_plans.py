"""Cards of plans and of certificates."""

import numpy as np
import pytest
from html_reader import SCRIPTED, read

import mercer
from mercer.learners.certificates.bounds import Distance
from mercer.lifts.certificate import Certificate
from mercer.planner.clustering import KMeansDetails
from mercer.planner.logistic import LogisticDetails
from mercer.planner.pca import PCADetails
from mercer.planner.perceptron import PerceptronDetails
from mercer.planner.plan import Compared, Plan, Stage
from mercer.planner.ridge import RidgeDetails
from mercer.planner.svm import SVMDetails
from mercer.solvers import Cholesky, Eigen

STAGES = Stage("first part", 0.25), Stage("second part", 3.0)
SLOW = RidgeDetails("dual", Eigen(), 9e12)
OTHER = Plan("direct", 10_000, 8, 1, 2_400_000_000, 250.0, (), SLOW, comparison=Compared("slower than that"))
WHY, BESIDE = Compared("because"), Compared("because", (OTHER,))
RIDGE = RidgeDetails("dual", Cholesky(), 3.4e11)
LANDMARKS = {"n_landmarks": 128, "gives_up": "exactness"}
PLANS = {
    "least squares": Plan("direct", 10_000, 8, 1, 8 * 10**8, 6.4, STAGES, RIDGE, comparison=BESIDE),
    "clusters": Plan("landmarks", 20_000, 10, 10, 60_000_000, 1.6, STAGES, KMeansDetails(), **LANDMARKS),
    "components": Plan("krylov", 20_000, 10, 10, 90_000_000, 2.4, STAGES, PCADetails(0, 20_000), n_landmarks=625),
    "logistic": Plan("features", 20_000, 54, 7, 180_000_000, 3.3, STAGES, LogisticDetails(), n_features=1000),
    "SVM": Plan("exact", 5_000, 10, 1, 10**8, 1.2, STAGES, SVMDetails(10**8), comparison=WHY),
    "passes": Plan("passes", 50_000, 10, 1, 1_000_000, 2.5, STAGES, PerceptronDetails(3)),
}
MEMORY = {"least squares": "762.9 MiB", "clusters": "57.2 MiB", "components": "85.8 MiB"} | {
    "logistic": "171.7 MiB", "SVM": "95.4 MiB", "passes": "976.6 KiB"
}  # fmt: skip
TIME = {"least squares": "6.4 s", "clusters": "1.6 s", "components": "2.4 s"} | {
    "logistic": "3.3 s", "SVM": "1.2 s", "passes": "2.5 s"
}  # fmt: skip


@pytest.mark.parametrize("name", PLANS)
def test_plans_show_what_is_taken_and_what_it_takes(name):
    plan = PLANS[name]
    page = read(plan._repr_html_())
    assert page.words[0] == str(plan).partition("\n")[0]
    assert {MEMORY[name], TIME[name], "first part", "0.2 s", "second part", "3.0 s"} <= set(page.words)
    assert ("why: because" in page.words) is bool(plan.reason)


def test_methods_that_were_not_taken_are_there_with_their_reasons():
    page = read(PLANS["least squares"]._repr_html_())
    assert {"direct, kernel matrix, Eigen", "4.2 min", "2.2 GiB", "slower than that"} <= set(page.words)
    assert "why not" not in read(PLANS["SVM"]._repr_html_()).text


def test_what_is_given_up_is_told():
    assert "exactness" in read(PLANS["clusters"]._repr_html_()).words
    assert "nothing" in read(PLANS["logistic"]._repr_html_()).words


def test_a_real_plan_has_a_card():
    plan = mercer.plan(1_000_000, 20)
    page = read(plan._repr_html_())
    assert all(other.reason[:200] in page.text for other in plan.others)


def test_many_ways_and_long_reasons_are_cut():
    size = {"rows": 1, "columns": 8, "outputs": 1, "bytes": 1, "seconds": 1.0, "stages": (), "details": SLOW}
    other = Plan("direct", **size, gives_up="g" * 5000, comparison=Compared(SCRIPTED * 500))
    plan = Plan("direct", **size, comparison=Compared("r" * 10**6, (other,) * 3000))
    page = read(plan._repr_html_())
    assert "more characters" in page.text


def test_plans_are_still_equal_and_print_as_before():
    again = Plan("passes", 50_000, 10, 1, 1_000_000, 2.5, STAGES, PerceptronDetails(3), comparison=WHY)
    assert again == PLANS["passes"]
    assert hash(again) == hash(PLANS["passes"])
    assert repr(again).startswith("Plan(method='passes', rows=50000, ")
    assert "because" not in repr(again)


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
