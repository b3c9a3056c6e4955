"""Fingerprints: equal for equal data and settings, whatever the order in memory, and for nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

from mercer.kernels import Gaussian, Matern
from mercer.kernels.graphs import Graph
from mercer.kernels.objects.reading import objects_from
from mercer.kernels.points import Points
from mercer.learners.run import fingerprint as module
from mercer.learners.run.fingerprint import fingerprint
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
    monkeypatch.setattr(module, "CHUNK_BYTES", chunk)
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


def things(kind, *items):
    return data(objects_from(list(items), None, {None: kind}))


@pytest.mark.parametrize("kind", ["strings", "categories"])
def test_texts_are_told_apart_by_their_letters(kind):
    found = [("ab", "c"), ("a", "bc"), ("c", "ab"), ("ab", "c", "ab"), ("ab", "d")]
    assert len({things(kind, *items) for items in found}) == len(found)
    assert things(kind, "ab", "c") == things(kind, "".join("ab"), "c")


def test_strings_of_tokens_and_columns_of_numbers_beside_them():
    found = [[["a", "b"], ["c"]], [["a"], ["b", "c"]], ["ab", "c"], [b"ab", b"c"]]
    assert len({things("strings", *items) for items in found}) == 4
    tables = [np.array([[text, number]], dtype=object) for text, number in (("a", 1.0), ("b", 1.0), ("a", 2.0))]
    beside = [data(objects_from(table, None, {0: "strings"})) for table in tables]
    assert len({*beside, data(np.zeros((1, 2)))}) == 4


def test_graphs_are_told_apart_by_all_edges_and_labels():
    path = np.column_stack([np.arange(40), np.arange(1, 41)])
    other, names = np.where(path == 20, 22, path), ["C"] * 41
    graphs = [
        Graph(41, path), Graph(42, path), Graph(41, other), Graph(41, path, names), Graph(41, path, [*names[1:], "O"]),
        Graph(41, path, None, [1] * 40), Graph(41, path, names, [1] * 40), Graph(41, path, names, [1] * 39 + [2]),
    ]  # fmt: skip
    assert len({things("graphs", graph) for graph in graphs}) == len(graphs)
    assert things("graphs", graphs[0], graphs[2]) != things("graphs", graphs[2], graphs[0])
    assert things("graphs", graphs[3]) == things("graphs", Graph(41, path[::-1].copy(), list(names)))


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
