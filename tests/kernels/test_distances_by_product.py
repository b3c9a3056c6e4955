"""Squared distances by one product: as accurate as by differences, wherever the rows lie."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from mercer.kernels import pairs
from mercer.kernels.pairs import MAX_COLUMNS_BY_DIFFERENCES, squared_distances

RANDOM = np.random.default_rng(0)
WIDTHS = [MAX_COLUMNS_BY_DIFFERENCES, MAX_COLUMNS_BY_DIFFERENCES + 1, 100]


@pytest.fixture(autouse=True)
def few_rows_by_products_too(monkeypatch):
    monkeypatch.setattr(pairs, "MAX_NUMBERS_BY_DIFFERENCES", 0)


def tables(width):
    """Rows near the origin and far from it, in tight clusters, equal, of all sizes, and with one that is far away."""
    rows = RANDOM.normal(size=(60, width))
    clusters = RANDOM.normal(size=(6, width))[np.arange(60) % 6] + 1e-6 * rows
    outlier = rows.copy()
    outlier[7] *= 1e8
    return {
        "plain": rows,
        "offset": rows + 1e6,
        "clusters": clusters,
        "equal": np.repeat(rows[:20], 3, axis=0),
        "sizes": rows * 10.0 ** RANDOM.integers(-9, 9, 60)[:, None],
        "outlier": outlier,
        "zero": np.zeros((5, width)),
        "tiny": 1e-170 * rows,
    }


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", tables(2))
def test_like_differences(name, width):
    rows = tables(width)[name]
    for other in (rows, rows[:11].copy(), rows[5:30] + 0.5 * rows[0], rows[:0]):
        assert_allclose(squared_distances(rows, other), cdist(rows, other, "sqeuclidean"), rtol=1e-12, atol=0)


@pytest.mark.parametrize("width", WIDTHS)
def test_equal_rows_have_no_distance(width):
    rows = tables(width)["equal"] + 3.0
    found = squared_distances(rows, rows)
    assert (found[np.arange(60)[:, None] // 3 == np.arange(60) // 3] == 0).all()
    assert (found >= 0).all()


@pytest.mark.filterwarnings("error")
def test_overflow_is_infinite():
    rows = RANDOM.normal(size=(9, 20))
    rows[3] = 1e200
    found = squared_distances(rows, rows)
    assert found[3, 3] == 0
    assert np.isinf(np.delete(found[3], 3)).all()
    others = np.delete(np.arange(9), 3)
    assert_allclose(found[np.ix_(others, others)], cdist(rows[others], rows[others], "sqeuclidean"), rtol=1e-12)


def test_these_tables_go_both_ways(monkeypatch):
    """Some are differences after all, since most pairs cancel; the others are not."""
    taken = []
    monkeypatch.setattr(pairs, "cdist", lambda *given: taken.append(1) or cdist(*given))
    for name, rows in tables(40).items():
        taken.clear()
        squared_distances(rows, rows)
        assert bool(taken) == (name in ("clusters", "sizes", "outlier")), name
