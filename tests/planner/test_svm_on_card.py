"""Plans of exact SVMs on a card, where a board keeps no rows of the matrix."""

from dataclasses import replace

import pytest

from mercer.backends.cpu import CPU
from mercer.compute.runtime.memory import Budget
from mercer.errors import BudgetError
from mercer.planner import SVMTask, placement
from mercer.planner.choose import choose
from mercer.planner.machine import ROUGH, Machine
from mercer.planner.svm import BOARD_ROWS, MOST, POOL

COVERTYPE = SVMTask(464_000, 54, (464_000,), 54.0, on_card=True)
FAST = Machine(
    products=5e13, products32=4e13, factor=1e-10, eigen=1e-12, eigen_row=1e-5, bandwidth=4e12, fresh=3e12,
    pair=1e-12, pair_column=6e-14, pair32=6e-13, pair32_column=4e-14, call=1e-5,
)  # fmt: skip
"""About an H200."""


class Card(CPU):
    """Says that it is a card with a given memory."""

    bytes = 100 << 30

    @property
    def name(self):
        return "cuda:0"

    def budget(self):
        return Budget(self.bytes)


@pytest.fixture(autouse=True)
def a_card(monkeypatch):
    monkeypatch.setattr(placement, "found_card", Card)
    monkeypatch.setattr(placement.Machine, "of", classmethod(lambda cls, backend: FAST))
    monkeypatch.setattr(placement.Machine, "here", classmethod(lambda cls: ROUGH))


def on_card(task, room=100 << 30):
    return choose(task, Budget(room), machine=FAST, on_card=True)


def test_auto_is_exact_on_a_card_where_the_cores_take_landmarks():
    plan = placement.place(COVERTYPE, "auto", Budget(60 << 30))
    assert (plan.method, plan.backend) == ("exact", "cuda:0")
    assert any(other.method == "landmarks" and other.backend == "cpu" for other in plan.others)
    assert placement.place(COVERTYPE, "cpu", Budget(60 << 30)).method == "landmarks"


def test_a_board_keeps_no_rows():
    plan = on_card(COVERTYPE)
    assert plan.details.pool == 0
    assert 8 * 464_000 * 54 < plan.bytes < 2 << 30
    assert 10 < plan.seconds < 40  # measured on an H200: 18.7 s


@pytest.mark.parametrize("change", [{"on_card": False}, {"stored": True}, {"n_features": 20}])
def test_what_a_card_cannot_compute_has_its_rows_kept(change):
    plan = on_card(replace(COVERTYPE, rows=20_000, sizes=(20_000,), method="exact", **change))
    assert plan.details.pool == POOL


def test_few_rows_have_their_matrix_kept_on_a_card_too():
    few = replace(COVERTYPE, rows=BOARD_ROWS, sizes=(BOARD_ROWS,))
    assert on_card(few).details.pool == 4 * BOARD_ROWS**2
    assert on_card(replace(few, rows=2 * BOARD_ROWS, sizes=(BOARD_ROWS + 1, BOARD_ROWS - 1))).details.pool == 0


def test_rows_for_which_exact_would_take_too_long_have_landmarks_there_too():
    plan = on_card(replace(COVERTYPE, rows=30_000_000, sizes=(30_000_000,)))
    assert plan.method == "landmarks"
    assert "would take about" in plan.reason
    others = on_card(replace(COVERTYPE, rows=MOST + 1, sizes=(MOST + 1,))).others
    assert all(str(MOST) not in other.reason for other in others)


def test_features_that_a_card_makes_are_gone_through_by_the_cores():
    task = replace(COVERTYPE, method="landmarks")
    assert on_card(task).stages[1].seconds == choose(task, Budget(100 << 30), machine=ROUGH).stages[1].seconds


def test_a_card_that_has_not_even_room_for_the_rows_says_what_is_needed():
    with pytest.raises(BudgetError, match="needs 1"):
        on_card(replace(COVERTYPE, method="exact"), 1 << 28)
