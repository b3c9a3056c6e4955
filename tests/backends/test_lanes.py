"""Passes over the cores of this machine, against the whole matrix: who gets which rows, in which strips."""

import pickle
import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from mercer import kernels
from mercer.backends import CPU, Column, Layout, Pass, RowValues
from mercer.backends.lanes import (
    MAX_STRIP_ROWS,
    MIN_STRIP_ROWS,
    SHARED_STRIP_NUMBERS,
    WORKER_STRIP_NUMBERS,
    NumPyOperations,
    height,
)
from mercer.compute.codegen.tiles import TILE_ROWS
from mercer.errors import NumericalWarning
from mercer.kernels.evaluation.evaluate import evaluator, fused_from, matrix
from mercer.kernels.points import Points

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(1000, 3)), RNG.normal(size=(70, 3))
LAYOUTS = [Layout(1), Layout(1, threads=2), Layout(2), Layout(3)]


@dataclass(frozen=True)
class Gathered(Pass):
    """The values as they are, which rows a lane had, and in how many strips."""

    reads: ClassVar = ("number",)

    rows: int

    def sums(self, width):
        return {"order": (self.rows,), "strips": ()}

    def columns(self, width):
        return {"values": Column((width,))}

    def add(self, values, rows, sums, ops):
        rows["values"][...] = values
        sums["strips"] += 1
        sums["order"][rows["number"]] = sums["strips"]
        values[...] = np.nan  # they are its own


def gathered(values, layout, rows=len(X)):
    """All rows as strips brought them, and for each lane the number of the strip in which it had each row, or 0."""
    sums = CPU().accumulate(Gathered(rows), values.shape[1], layout)
    found = sums.add(values, {"number": np.arange(rows), "unread": np.zeros(1)})
    assert list(found) == ["values"]
    state = sums.state()
    return found["values"], np.array([state[f"order {lane}"] for lane in range(layout.lanes)])


def of_kernel(kernel, X=X):
    return RowValues(evaluator(kernel, Points(X), Points(Z)), subject=kernel)


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("rows", [64, TILE_ROWS, 300, 2000])
def test_strips_are_the_rows_of_the_matrix(rows, layout, fused):
    kernel = kernels.Gaussian(1.5) + 0.5 * kernels.Laplace(2.0)
    layout = Layout(layout.lanes, layout.threads, rows)
    with fused_from(0 if fused else 1 << 60):
        found, order = gathered(of_kernel(kernel), layout)
        whole = matrix(kernel, Points(X), Points(Z))
    np.testing.assert_allclose(found, whole, rtol=1e-13)
    dealt = np.zeros((layout.lanes, len(X)))
    for k, start in enumerate(range(0, len(X), rows)):
        dealt[k % layout.lanes, start : start + rows] = 1 + k // layout.lanes  # in order, whoever is faster
    np.testing.assert_array_equal(order, dealt)


def test_values_are_divided_by_a_triangle():
    lower = np.tril(RNG.normal(size=(70, 70))) + 10 * np.eye(70)
    values = RowValues(evaluator(kernels.Gaussian(1.0), Points(X), Points(Z)), triangle=lower)
    found, _ = gathered(values, Layout(2))
    np.testing.assert_allclose(found @ lower.T, kernels.Gaussian(1.0)(X, Z), atol=1e-12)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_infinities_are_told_once_and_handed_on(layout):
    huge = X.copy()
    huge[500] = 1e200
    with fused_from(0), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found, _ = gathered(of_kernel(kernels.Polynomial(3), huge), layout)
    assert not np.isfinite(found[500]).all()
    assert np.isfinite(np.delete(found, 500, axis=0)).all()
    assert [each.category for each in caught] == [NumericalWarning]
    assert "polynomial" in str(caught[0].message)


@pytest.mark.parametrize("lanes", [1, 3])
def test_a_table_is_dealt_like_a_matrix(lanes):
    table = RNG.normal(size=(500, 4))
    found, order = gathered(RowValues(table=table.copy()), Layout(lanes, rows=64), 500)
    np.testing.assert_array_equal(found, table)
    strips = np.arange(500) // 64 if lanes > 1 else np.zeros(500)  # one lane has all of it at once
    np.testing.assert_array_equal(order.argmax(axis=0), strips % lanes)
    np.testing.assert_array_equal(order.max(axis=0), 1 + strips // lanes)


def test_values_of_nothing_are_refused():
    with pytest.raises(ValueError, match="neither"):
        _ = RowValues().shape


@dataclass(frozen=True)
class Faulty(Pass):
    def add(self, values, rows, sums, ops):
        raise KeyError(len(values))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_error_in_a_strip_is_raised(layout):
    for values in (of_kernel(kernels.Gaussian(1.0)), RowValues(table=np.ones((500, 70)))):
        with pytest.raises(KeyError):
            CPU().accumulate(Faulty(), 70, layout).add(values, {})


def test_what_is_left_is_written_where_there_is_a_place_for_it():
    place, numbers = np.zeros((1000, 70)), np.arange(1000)
    sums = CPU().accumulate(Gathered(1000), 70, Layout(2))
    found = sums.add(of_kernel(kernels.Gaussian(1.0)), {"number": numbers, "values": place})
    assert found["values"] is place
    assert place.all()


def test_memory_goes_on_to_the_next_pass():
    first = CPU().accumulate(Gathered(1000), 70, Layout(2, rows=100))
    first.add(of_kernel(kernels.Gaussian(1.0)), {"number": np.arange(1000)})
    held = [id(each) for each in first._memory]
    second = CPU().accumulate(Gathered(1000), 35, Layout(2, rows=200), after=first)
    assert first._memory == []
    half = RowValues(evaluator(kernels.Gaussian(1.0), Points(X), Points(Z[:35])))
    second.add(half, {"number": np.arange(1000)})
    assert [id(each) for each in second._memory] == held


@pytest.mark.parametrize("width", [1, 70, 1000, 5000, 10**6])
def test_lanes_have_memory_for_a_strip(width):
    rows = height(width, Layout(2))
    assert rows == height(width, Layout(7)) == height(width, Layout(1))
    assert MIN_STRIP_ROWS <= rows <= MAX_STRIP_ROWS
    assert rows == MIN_STRIP_ROWS or rows * width <= WORKER_STRIP_NUMBERS
    assert height(width, Layout(1, threads=2)) >= max(2 * TILE_ROWS, SHARED_STRIP_NUMBERS // width)
    assert height(width, Layout(2, rows=3)) == 3


def test_heights_do_not_depend_on_the_machine(monkeypatch):
    layouts = [Layout(1), Layout(1, threads=8), Layout(2)]
    before = [height(width, layout) for width in (10, 3000) for layout in layouts]
    monkeypatch.setattr("mercer.compute.runtime.threads.available", lambda: 64)
    assert [height(width, layout) for width in (10, 3000) for layout in layouts] == before


class TestOperations:
    A, B = RNG.normal(size=(9, 4)), RNG.normal(size=(9, 3))

    def test_row_squares(self):
        np.testing.assert_allclose(NumPyOperations.row_squares(self.A), (self.A**2).sum(axis=1))

    def test_numbers_are_added_at_their_positions(self):
        sums = np.ones(4)
        NumPyOperations.add_at(sums, np.array([2, 0, 2]), np.array([1.0, 2.0, 4.0]))
        np.testing.assert_array_equal(sums, [3, 1, 6, 1])


class TestPass:
    def test_a_key_is_that_of_the_content(self):
        @dataclass(frozen=True, eq=False)
        class Other(Gathered):
            weights: np.ndarray | None = None

        equal = [Other(3, np.arange(4.0)), Other(3, np.arange(4.0))]
        different = [Other(4, np.arange(4.0)), Other(3, np.arange(4)), Other(3, np.arange(5.0)), Other(3), Gathered(3)]
        assert equal[0].key() == equal[1].key()
        assert len({each.key() for each in (equal[0], *different)}) == 6

    def test_its_arrays_are_moved(self):
        from mercer.learners.ridge.falkon_passes import Rest

        given = Rest(np.ones((3, 2)), np.ones(2), np.zeros(2))
        moved = given.moved(lambda array: array.astype(np.float32))
        assert moved.v.dtype == moved.shift.dtype == moved.level.dtype == np.float32
        assert given.v.dtype == np.float64
        assert pickle.loads(pickle.dumps(given)).key() == given.key() != moved.key()  # noqa: S301
