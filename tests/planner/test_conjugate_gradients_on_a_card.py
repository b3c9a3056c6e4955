"""Conjugate gradients where each pivot and each turn takes its time: the rank is expected, and weighed again."""

from dataclasses import replace

import pytest
from machines import kernel

from mercer.planner.machine import ROUGH
from mercer.planner.record import recorded, restored
from mercer.solvers import ConjugateGradient

RATES = {"products": 5e13, "products32": 4e13, "bandwidth": 3.5e12, "fresh": 3e12, "pair": 2e-12, "pair32": 7e-13}
CARD = replace(ROUGH, **RATES, pair_column=1e-14, pair32_column=2e-14, call=1e-5, turn=6e-5, thin=3e-9)


def planned(rows, machine=CARD, **settings):
    solver = ConjugateGradient(tol=1e-3, **settings)
    return kernel(rows, solver=solver, machine=machine, single=True)


def test_the_price_is_in_the_plan_and_in_its_record():
    plan = planned(100_000)
    assert plan.details.price is not None
    assert plan.details.describe(plan) == f"conjugate gradients, rank about {plan.details.rank:,}"
    assert restored(recorded(plan)).details == plan.details
    here = planned(100_000, machine=ROUGH)
    assert here.details.price is None
    assert "step" not in recorded(here)
    assert restored(recorded(here)).details == here.details


def test_few_rows_are_worth_a_lower_rank():
    ranks = [planned(rows).details.rank for rows in (5_000, 50_000, 1_000_000)]
    assert ranks == sorted(ranks)
    assert ranks[0] < ranks[-1]
    slow = replace(CARD, turn=6e-3)
    assert planned(5_000, machine=slow).details.rank <= ranks[0]


@pytest.mark.parametrize("rank", [0, 7])
def test_a_rank_that_was_given_is_kept(rank):
    assert planned(50_000, preconditioner_rank=rank).details.rank == rank
