"""Where predictions are computed under "auto": on a card where that is clearly faster, never for a second of work."""

from contextlib import contextmanager

import numpy as np
import pytest

import mercer
from mercer.backends import choosing
from mercer.backends.context import current
from mercer.backends.cpu import CPU
from mercer.compute.runtime.memory import Budget
from mercer.kernels import Gaussian
from mercer.learners.estimator import MANY_ROWS
from mercer.lifts import Nystrom, RandomFourier
from mercer.planner import predictions
from mercer.planner.machine import ROUGH, Machine
from mercer.planner.predictions import Comparisons, quickest

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(120, 3))
Y = np.sin(X[:, 0])
NEW = RANDOM.normal(size=(MANY_ROWS, 3))
K = Gaussian(1.5)
FAST = Machine(**{name: rate if name.startswith(("p", "b", "f")) and "pair" not in name else rate / 1000
                  for name, rate in vars(ROUGH).items()})  # fmt: skip
USED = []


class Card(CPU):
    """Says that it is a card, and notes that it was used."""

    room = 100 << 30

    @property
    def name(self):
        return "cuda:0"

    def budget(self):
        return Budget(self.room)

    @contextmanager
    def opened(self):
        USED.append(self)
        yield self


@pytest.fixture(autouse=True)
def a_card(monkeypatch):
    USED.clear()
    card = Card()
    monkeypatch.setattr(predictions, "may_have_card", lambda: True)
    monkeypatch.setattr(predictions, "found_card", lambda: card)
    monkeypatch.setattr(predictions.Machine, "here", classmethod(lambda cls: ROUGH))
    monkeypatch.setattr(predictions.Machine, "of", classmethod(lambda cls, backend: FAST))


def takes_card(work, fitted_there=False):
    with quickest(work, fitted_there):
        return isinstance(current(), Card)


LONG = Comparisons(100_000, 100_000, 10, False)  # 15 s by rough rates
BRIEF = Comparisons(30_000, 50_000, 10, False)  # 2 s: less than it takes to wake a card


def test_a_card_is_taken_where_it_wins():
    assert takes_card(LONG)
    assert takes_card(LONG, fitted_there=True)


def test_who_fitted_on_a_card_has_woken_it():
    assert not takes_card(BRIEF)
    assert takes_card(BRIEF, fitted_there=True)


def test_nobody_looks_for_a_card_for_a_second_of_work(monkeypatch):
    for name in ("may_have_card", "found_card"):
        monkeypatch.setattr(predictions, name, lambda: pytest.fail("looked"))
    assert not takes_card(Comparisons(10_000, 10_000, 10, False), fitted_there=True)


def test_nothing_is_loaded_where_there_is_no_driver(monkeypatch):
    monkeypatch.setattr(predictions, "may_have_card", lambda: False)
    monkeypatch.setattr(predictions, "found_card", lambda: pytest.fail("loaded"))
    assert not takes_card(LONG)


def test_a_card_that_is_no_faster_or_has_no_room_is_left_alone(monkeypatch):
    monkeypatch.setattr(Card, "room", 1 << 20)
    assert not takes_card(LONG)
    monkeypatch.setattr(Card, "room", 100 << 30)
    monkeypatch.setattr(predictions.Machine, "of", classmethod(lambda cls, backend: ROUGH))
    assert not takes_card(LONG, fitted_there=True)


MODELS = {
    "ridge": (mercer.KernelRidge(K, alpha=0.1), Y, 120),
    "ridge on landmarks": (mercer.KernelRidge(K, alpha=0.1, method="landmarks", n_landmarks=30, random_state=0), Y, 30),
    "ridge of waves": (mercer.KernelRidge(RandomFourier(K, 40, random_state=0), alpha=0.1), Y, 40),
    "ridge of a lift": (mercer.KernelRidge(Nystrom(K, 20, random_state=0), alpha=0.1), Y, 20),
    "svc": (mercer.KernelSVC(K, max_iter=300), Y > 0, None),
    "logistic": (mercer.KernelLogisticRegression(K), Y > 0, None),
    "perceptron": (mercer.KernelPerceptron(K, max_iter=2), Y > 0, None),
    "pca": (mercer.KernelPCA(K, n_components=2), None, 120),
    "k-means": (mercer.KernelKMeans(2, kernel=K, random_state=0), None, 120),
}


@pytest.mark.filterwarnings("ignore::mercer.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_every_learner_says_what_it_compares_new_rows_with(name, monkeypatch):
    model, y, others = MODELS[name]
    model.fit(X, y)
    asked = []
    monkeypatch.setattr(predictions, "_faster_card", lambda work, there: asked.append((work, there)))
    predict = getattr(model, "predict", None) or model.transform
    predict(NEW)
    (work, there), count = asked[0], len(asked)
    assert (work.rows, work.columns, work.single, there, count) == (MANY_ROWS, 3, False, False, 1)
    assert 0 < work.others <= 120
    assert others in (None, work.others)
    predict(NEW[:-1])
    assert len(asked) == 1  # few rows ask nobody


@pytest.mark.parametrize(
    ("model", "rows"),
    [
        (mercer.KernelRidge("precomputed", alpha=0.1), K(X, X)),
        (mercer.KernelRidge(K, alpha=0.1, backend="cpu"), X),
    ],
    ids=["precomputed", "the cores are named"],
)
def test_what_a_card_does_not_do_asks_for_none(model, rows, monkeypatch):
    model.fit(rows, Y)
    monkeypatch.setattr(predictions, "_faster_card", lambda work, there: pytest.fail(f"asked for {work}"))
    model.predict(np.tile(rows, (9, 1)))


def test_predictions_of_many_rows_are_those_of_a_card(monkeypatch):
    model = mercer.KernelRidge(K, alpha=0.1).fit(X, Y)
    before = model.predict(NEW)
    assert not USED
    monkeypatch.setattr(predictions, "MIN_SECONDS", 0.0)
    monkeypatch.setattr(predictions, "START_SECONDS", 0.0)
    monkeypatch.setattr(predictions, "SENT", 1e15)
    np.testing.assert_array_equal(model.predict(NEW), before)
    assert len(USED) == 1


# -- models that have moved -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cards", [0, 1])
@pytest.mark.parametrize("named", ["cuda", "cuda:1", "cuda:7"])
def test_a_model_of_another_card_is_loaded_and_used_anywhere(named, cards, monkeypatch, tmp_path):
    here = Card()
    monkeypatch.setattr(choosing, "may_have_card", lambda: True)
    monkeypatch.setattr(choosing, "_looked", lambda number: (here if number < cards else None, "there are too few"))
    model = mercer.KernelRidge(K, alpha=0.1).fit(X, Y)
    expected = model.predict(NEW)
    mercer.save(model.set_params(backend=named), tmp_path / "model.mercer")
    loaded = mercer.load(tmp_path / "model.mercer")
    assert loaded.backend == named
    np.testing.assert_array_equal(loaded.predict(NEW), expected)
    assert loaded.condition_ > 1
    assert bool(USED) == bool(cards)


@pytest.mark.parametrize("cards", [0, 1])
def test_so_is_one_whose_backend_is_an_object(cards, monkeypatch):
    here = Card()
    monkeypatch.setattr(choosing, "may_have_card", lambda: True)
    monkeypatch.setattr(choosing, "_looked", lambda number: (here if number < cards else None, "there are too few"))
    model = mercer.KernelRidge(K, alpha=0.1).fit(X, Y)
    expected = model.predict(NEW)
    model.set_params(backend=mercer.backends.CUDA("cuda:3"))
    np.testing.assert_array_equal(model.predict(NEW), expected)
    assert bool(USED) == bool(cards)
