"""That what the worked examples state holds, and what they compute is computed here another way."""

from itertools import combinations

import numpy as np
import pytest

from mercer import lectures
from mercer.errors import InputError

NAMES = list(lectures.examples())


@pytest.mark.parametrize("name", NAMES)
def test_every_statement_holds(name):
    example = lectures.example(name)
    assert len(example.verdicts) == len(example.claims) > 0
    assert [text for text, verdict in example.verdicts.items() if not verdict.holds] == []
    shown = str(example)
    assert max(map(len, shown.split("\n"))) <= 100
    assert example.title in shown
    assert example.lecture in ("Liftings", "Nonlinear classifier", "Kernel methods", "Feature transform")


@pytest.mark.parametrize("name", NAMES)
def test_the_code_is_what_was_run(name):
    example = lectures.example(name)
    scope = dict(example.compute.__globals__)
    exec(example.code, scope)  # noqa: S102  # as a reader would
    assert set(scope[example.compute.__name__]()) == set(example.results)


@pytest.mark.parametrize("name", NAMES)
def test_cards_are_whole(name):
    card = lectures.example(name)._repr_html_()
    assert "cannot be shown" not in card
    assert "<script" not in card
    assert lectures.example(name).title.split(":")[0].replace("<", "&lt;") in card


def test_names_of_examples():
    assert lectures.example("AAPL waves") is lectures.example("aapl_waves")
    with pytest.raises(InputError, match="Did you mean 'bumps'"):
        lectures.example("bump")
    with pytest.raises(InputError, match="There are parabolic, conics"):
        lectures.example("zzz")


def test_data_are_shared_and_not_written_to():
    prices = lectures.example("aapl")
    assert prices.X is prices.X
    with pytest.raises(ValueError, match="read-only"):
        prices.X[0] = 1
    with pytest.raises(AttributeError, match="costs needs data for X"):
        _ = lectures.example("costs").X


def test_bandwidths_of_the_prices():
    prices = lectures.example("aapl")
    gaps = sorted(abs(i - j) / 64 for i, j in combinations(range(65), 2))
    assert len(gaps) % 2 == 0
    median = (gaps[len(gaps) // 2 - 1] + gaps[len(gaps) // 2]) / 2
    assert prices.results["median"] == median == 19 / 64
    assert [str(prices.results["days"][i]) for i in (0, -1)] == ["2019-07-01", "2019-10-01"]
    for s, model in prices.results["models"].items():
        K = np.exp(-((prices.X - prices.X.T) ** 2) / (2 * s**2))
        np.testing.assert_allclose(
            model.predict(prices.X), K @ np.linalg.solve(K + 0.01 * np.eye(65), prices.y), atol=1e-8
        )
        assert model.intercept_ == 0


def test_no_other_scale_of_the_lectures_months_has_both_bandwidths():
    """The median over the root of 2, of days in equal steps from 0 to 1, over all spans of the file."""

    def told(n):
        gaps = np.abs(np.subtract.outer(np.linspace(0, 1, n), np.linspace(0, 1, n)))[np.triu_indices(n, 1)]
        return [f"{np.median(gaps) / root:.4f}" for root in (np.sqrt(2), np.sqrt(8))]

    assert [n for n in range(20, 88) if told(n) == ["0.2099", "0.1050"]] == [65]


def test_margins_by_the_nearest_rows():
    """The hard margin is half of the distance of the convex hulls: here of a row and a segment, or of two rows."""
    found = lectures.example("margins").results
    model, X = found["models"]["hard"], found["X"]
    support = X[model.support_]
    sides = [support[np.isin(found["y"][model.support_], label)] for label in ("left", "right")]
    t = np.linspace(0, 1, 100_001)[:, None]
    hulls = [side if len(side) == 1 else side[0] + t * (side[1] - side[0]) for side in sides]
    single, segment = sorted(hulls, key=len)
    assert len(single) == 1
    distance = np.linalg.norm(segment - single, axis=1).min()
    w = model.dual_coef_.ravel() @ support
    assert 1 / np.linalg.norm(w) == pytest.approx(distance / 2, rel=1e-3)
