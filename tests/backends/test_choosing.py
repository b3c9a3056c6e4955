"""Who computes: what the parameter may say, what a missing card is told, and where plans place a fit."""

import numpy as np
import pytest

import mercer
from mercer.backends import choosing
from mercer.backends.base import Backend
from mercer.backends.context import CORES, current, use
from mercer.backends.cpu import CPU
from mercer.compute.runtime.memory import Budget
from mercer.errors import BudgetError, InputError
from mercer.planner import RidgeTask, placement
from mercer.planner.machine import ROUGH, Machine

LARGE = RidgeTask(50_000, 10, 1, None, 1, False)
ROOM = Budget(60 << 30)
SMALL = RidgeTask(500, 10, 1, None, 1, False)


class Card(CPU):
    """Says that it is a card, ten times as fast as these cores."""

    @property
    def name(self):
        return "cuda:0"

    def budget(self):
        return Budget(100 << 30)


@pytest.fixture
def a_card(monkeypatch):
    speeds = ("products", "products32", "bandwidth", "fresh")
    fast = Machine(**{name: rate * 10 if name in speeds else rate / 10 for name, rate in vars(ROUGH).items()})
    monkeypatch.setattr(placement, "found_card", Card)
    monkeypatch.setattr(placement.Machine, "of", classmethod(lambda cls, backend: fast))


@pytest.mark.parametrize("wrong", ["gpu", "cuda:x", "", 1, None, "CPU"])
def test_what_names_no_backend_is_refused(wrong):
    with pytest.raises(InputError, match='needs backend that is "auto", "cpu", "cuda"'):
        mercer.KernelRidge(backend=wrong).fit(np.eye(3), np.arange(3.0))


def test_a_card_without_its_library_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(choosing, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r'pip install "mercer\[gpu\]"'):
        mercer.KernelRidge(backend="cuda").fit(np.eye(3), np.arange(3.0))


def test_a_missing_card_is_one_sentence(monkeypatch):
    monkeypatch.setattr(choosing, "find_spec", lambda name: object())
    monkeypatch.setattr(choosing, "_looked", lambda number: (None, "PyTorch finds none"))
    with pytest.raises(InputError, match="KernelRidge needs a graphics card for backend='cuda'; PyTorch finds none"):
        mercer.KernelRidge(backend="cuda").fit(np.eye(3), np.arange(3.0))


def test_nobody_looks_for_a_card_for_a_second_of_work(monkeypatch):
    monkeypatch.setattr(placement, "found_card", lambda: pytest.fail("looked"))
    assert placement.place(SMALL, "auto", ROOM).backend == "cpu"
    assert placement.place(LARGE, "cpu", ROOM).backend == "cpu"
    assert placement.place(LARGE, CORES, ROOM).backend == "cpu"


def test_auto_takes_a_card_that_is_faster(a_card):
    plan = placement.place(LARGE, "auto", ROOM)
    assert plan.backend == "cuda:0"
    assert any(other.backend == "cpu" for other in plan.others)
    assert "on cuda:0" in str(plan)
    assert "cpu would take" in plan.reason
    assert placement.place(LARGE, "auto", ROOM, takes_card=False).backend == "cpu"


def test_auto_takes_a_card_where_only_that_has_room(a_card):
    assert placement.place(LARGE, "auto", Budget(1 << 30)).backend == "cuda:0"
    with pytest.raises(BudgetError):
        placement.place(LARGE, "cpu", Budget(1 << 30))


def test_a_plan_keeps_its_backend_in_files(a_card):
    plan = placement.place(LARGE, "auto", ROOM)
    assert type(plan).restored(plan.record()).backend == "cuda:0"
    assert "backend" not in placement.place(LARGE, "cpu", ROOM).record()


def test_the_backend_at_hand_is_that_of_the_context():
    card = Card()
    assert current() is CORES
    with use(card):
        assert current() is card
        with use(CORES):
            assert current() is CORES
    assert isinstance(current(), Backend)
    assert current() is CORES


def test_predictions_of_a_model_from_a_card_need_none(monkeypatch):
    monkeypatch.setattr(choosing, "found_card", lambda *number: None)
    model = mercer.KernelRidge("gaussian", alpha=0.1).fit(np.eye(5), np.arange(5.0))
    model.set_params(backend="cuda")
    assert model.predict(np.eye(5)).shape == (5,)


def test_another_object_for_the_cores_is_the_cores():
    """Its plan keeps to memory_limit, and takes the rates of this machine."""
    assert choosing.named(CPU()) is CORES
    with pytest.raises(BudgetError):
        placement.place(LARGE, CPU(), Budget(1 << 20))


def test_a_card_without_room_leaves_auto_on_the_cores(a_card, monkeypatch):
    monkeypatch.setattr(Card, "budget", lambda self: Budget(1 << 20))
    assert placement.place(LARGE, "auto", ROOM).backend == "cpu"
    with pytest.raises(BudgetError, match=r"1\.0 GiB"):  # the refusal of the cores, which has a remedy
        placement.place(LARGE, "auto", Budget(1 << 30))
