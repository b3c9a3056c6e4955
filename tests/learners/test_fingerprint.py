"""Fingerprints: equal for equal data and settings, whatever the order in memory, and for nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

from mercer.kernels import Gaussian, Matern
from mercer.kernels.points import Points
from mercer.learners import fingerprint as module
from mercer.learners.fingerprint import fingerprint
from mercer.lifts import RandomFourier
from mercer.solvers import Cholesky, Eigen
from mercer.sources.base import Source

TABLE = np.random.default_rng(0).normal(size=(50, 7))
SETTINGS = {"kernel": Gaussian(2.0), "alpha": 1.0, "solver": Cholesky(), "random_state": 3}


def data(*parts):
    return fingerprint(SETTINGS, *parts)()["data"]


def settings(**changes):
    return fingerprint({**SETTINGS, **changes})()["settings"]


@pytest.mark.parametrize("chunk", [1, 64, 1 << 24])
def test_the_order_in_memory_does_not_matter(monkeypatch, chunk):
    monkeypatch.setattr(module, "CHUNK", chunk)
    wide = np.zeros((100, 14))
    wide[::2, ::2] = TABLE
    found = {data(rows) for rows in (TABLE, np.asfortranarray(TABLE), TABLE[::-1][::-1], wide[::2, ::2], TABLE.copy())}
    assert len(found) == 1


def test_every_value_and_its_place_matters():
    tables = [TABLE, TABLE.T.copy(), TABLE[:-1], TABLE.ravel(), TABLE.astype(np.float32), -TABLE, TABLE[::-1]]
    for place in [(0, 0), (49, 6), (20, 3)]:
        changed = TABLE.copy()
        changed[place] = np.nextafter(changed[place], 9.0)
        tables.append(changed)
    assert len({data(table) for table in tables}) == len(tables)


def test_parts_of_the_data_have_their_places():
    weights = np.ones(50)
    found = [data(TABLE), data(TABLE, None), data(None, TABLE), data(TABLE, weights), data(weights, TABLE)]
    assert len(set(found)) == len(found)
    assert data(np.empty((0, 3))) != data(np.empty((0, 4)))


def test_points_and_sparse_tables():
    sparse = csr_array(np.where(TABLE > 0, TABLE, 0.0))
    assert data(sparse) == data(csc_array(sparse)) != data(sparse.toarray())
    names = tuple("abcdefg")
    kinds = [Points(TABLE), Points(TABLE, names), Points(TABLE, dtype=np.dtype(np.float32)), Points(sparse)]
    assert len({data(points) for points in kinds}) == 4
    assert data(Points(TABLE)) == data(Points(np.asfortranarray(TABLE)))


def test_labels_of_any_kind():
    assert data(np.array(["a", "b"])) != data(np.array(["a", "c"]))
    assert data(np.array(["a", None], dtype=object)) != data(np.array(["a", "b"], dtype=object))
    assert data(np.array(["a", "bc"], dtype=object)) != data(np.array(["ab", "c"], dtype=object))


class Rows(Source):
    def __init__(self, mark):
        self.mark = mark

    count = 5
    names = None

    def batches(self, size, start=0, what="all"):
        raise AssertionError("the source says what it is")

    def fingerprint(self):
        return self.mark


def test_a_source_speaks_for_itself():
    assert data(Rows(b"one")) == data(Rows(b"one")) != data(Rows(b"two"))


def test_settings_that_change_the_model_and_those_that_do_not():
    same = [{}, {"alpha": 1}, {"alpha": np.float64(1.0)}, {"verbose": True}, {"time_limit": 3.0}, {"checkpoint": "a"}]
    assert {settings(**changes) for changes in same} == {settings()}
    others = [
        {"alpha": 2.0}, {"alpha": "auto"}, {"alpha": [1.0, 2.0]}, {"alpha": np.array([1.0, 2.0])}, {"solver": Eigen()},
        {"kernel": Gaussian(2.0000000001)}, {"kernel": Matern(nu=2.5)}, {"kernel": RandomFourier(Gaussian(), 10)},
        {"kernel": RandomFourier(Gaussian(), 11)}, {"random_state": None}, {"random_state": True},
        {"random_state": np.random.RandomState(3)}, {"random_state": np.random.RandomState(4)},
        {"random_state": np.random.default_rng(3)}, {"class_weight": {0: 1.0, 1: 2.0}}, {"class_weight": "balanced"},
    ]  # fmt: skip
    assert len({settings(**changes) for changes in others} | {settings()}) == len(others) + 1


def test_generators_are_told_apart_by_their_state_alone():
    assert settings(random_state=np.random.RandomState(3)) == settings(random_state=np.random.RandomState(3))
    generator = np.random.default_rng(3)
    before = fingerprint({"random_state": generator})
    generator.normal()
    assert before()["settings"] == fingerprint({"random_state": np.random.default_rng(3)})()["settings"]
    assert before()["settings"] != fingerprint({"random_state": generator})()["settings"]


def test_the_data_is_read_once_and_only_when_asked_for():
    class Counted(Rows):
        asked = 0

        def fingerprint(self):
            Counted.asked += 1
            return self.mark

    parts = fingerprint(SETTINGS, Counted(b"one"))
    assert Counted.asked == 0
    assert parts() == parts()
    assert Counted.asked == 1
