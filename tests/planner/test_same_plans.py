"""Plans stay what they were, and are the same whether one method was costed or all."""

import json

import pytest
from plan_grid import EVERY, KEPT, grid, numbers, plan_of

PROBLEMS = list(grid())


def test_plans_are_those_that_were_kept():
    found = [numbers(plan_of(*problem)) for problem in PROBLEMS[::EVERY]]
    assert found == json.loads(KEPT.read_text(encoding="utf-8"))


def test_what_is_chosen_at_once_is_what_would_be_chosen_among_all():
    instant = 0
    for problem in PROBLEMS:
        plan = plan_of(*problem)
        if plan is not None:
            task, limits = plan.comparison.task, plan.comparison.limits
            everything = list(task.candidates(limits))
            best = task.started(task.best(everything, limits), limits)
            assert plan == best
            assert len(plan.others) == len(everything) - 1
            instant += task.at_once(limits) is not None
    assert instant > 100


@pytest.mark.parametrize("task", {problem[0].__class__: problem[0] for problem in PROBLEMS}.values(), ids=repr)
def test_every_family_prints_a_table_with_reasons(task):
    plan = plan_of(task, False, 2**60, None)
    lines = str(plan).splitlines()
    assert lines[0].startswith(f"{plan.task} on {plan.rows:,} rows x {plan.columns:,} columns, ")
    assert lines[1].split() == ["method", "time", "memory", "gives", "up"]
    assert lines[2].startswith("  -> ")
    assert sum(line.startswith("  why not ") for line in lines) == len(plan.others)
    assert all(each.reason for each in (plan, *plan.others))
    assert type(plan).restored(json.loads(json.dumps(plan.record()))) == plan
