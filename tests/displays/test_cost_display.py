"""Planned memory and time against the number of rows."""

import numpy as np
import pytest

import mercer
from mercer.displays import CostDisplay
from mercer.errors import InputError
from mercer.planner.machine import ROUGH

figures = pytest.importorskip("matplotlib.figure")
ROWS = (1_000, 10_000, 100_000)


def test_lines_are_those_of_plans():
    drawn = CostDisplay.from_plans(7, rows=ROWS, alpha=0.5, memory_limit="8 GB", machine=ROUGH)
    for k, n in enumerate(ROWS):
        plan = mercer.plan(n, 7, alpha=0.5, memory_limit="8 GB", machine=ROUGH)
        every = (plan, *plan.others)
        for line, name in (("direct", "direct"), ("landmarks", "nystrom"), ("random features", "random features")):
            least = min((each for each in every if each.method.startswith(name)), key=lambda each: each.seconds)
            assert drawn.seconds_[line].get_ydata()[k] == least.seconds
            assert drawn.memory_[line].get_ydata()[k] == least.bytes / 1e9
        assert drawn.chosen[k] == plan.method.replace("nystrom", "landmarks")
        assert np.asarray(drawn.chosen_[1].get_offsets())[k].tolist() == [n, plan.seconds]
    assert "planned" in drawn.ax_.get_ylabel()
    assert "planned" in drawn.time_ax_.get_ylabel()
    assert drawn.ax_.get_xscale() == drawn.time_ax_.get_yscale() == "log"


def test_the_slopes_of_the_exact_solve():
    drawn = CostDisplay.from_plans(machine=ROUGH, memory_limit="8 GB")
    assert drawn.slopes_["memory"] == pytest.approx(2, abs=0.01)
    assert drawn.slopes_["time"] == pytest.approx(3, abs=0.05)
    assert drawn.ax_.get_title() == "planned memory: direct ~ n^2.0"
    assert drawn.time_ax_.get_title() == "planned time: direct ~ n^3.0"
    power = CostDisplay([10, 100, 1000], {"direct": [1.0, 10, 10**2.5]}, {"direct": [1.0, 10, 100]}).plot()
    assert power.slopes_ == pytest.approx({"memory": 1.5, "time": 1.0})


def test_one_axes_has_the_memory_alone():
    axes = figures.Figure().add_subplot()
    drawn = CostDisplay.from_plans(rows=ROWS, machine=ROUGH, ax=axes)
    assert (drawn.ax_, drawn.time_ax_, drawn.seconds_) == (axes, None, {})
    assert drawn.legend_.axes is axes


def test_what_cannot_be_drawn():
    for rows in ((1000,), (1000, 100), (0, 10), (1.5, 2.0), 1000):
        with pytest.raises(InputError, match=r"CostDisplay needs two numbers of rows or more, which grow; got"):
            CostDisplay.from_plans(rows=rows, machine=ROUGH)
    with pytest.raises(InputError, match=r"memory and time of each method at each number of rows; got 1 and 0 methods"):
        CostDisplay([1, 2], {"direct": [1.0, 2.0]}, {}).plot()
    with pytest.raises(InputError, match=r"one chosen method per number of rows; got 1 for 2"):
        CostDisplay([1, 2], {"direct": [1.0, 2.0]}, {"direct": [1.0, 2.0]}, chosen=["direct"]).plot()
