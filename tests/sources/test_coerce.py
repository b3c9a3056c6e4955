"""What is a source, and what is a table."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mercer.errors import InputError, speaking
from mercer.sources import Arrays, Batches, Parquet, source_of


@pytest.fixture(autouse=True)
def _learner():
    """Whoever checks says its name."""
    with speaking("KernelRidge"):
        yield


FRAME = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0], "y": [5.0, 6.0], "w": [1.0, 2.0]})
X = FRAME[["a", "b"]].to_numpy()


@pytest.fixture
def file(tmp_path):
    pytest.importorskip("pyarrow", reason="Parquet files are read by pyarrow")
    FRAME.to_parquet(tmp_path / "x.parquet")
    return tmp_path / "x.parquet"


@pytest.mark.parametrize("table", [X, X.tolist(), FRAME, None, 3.0, [X, X]])
def test_tables_are_no_sources(table):
    assert source_of(table, [1, 2], None) is None


@pytest.mark.parametrize("kind", [str, Path, lambda path: path.parent])
def test_paths_are_parquet_with_names(file, kind):
    source = source_of(kind(file), "y", "w")
    assert isinstance(source, Parquet)
    assert source.names == ("a", "b")
    assert next(source.batches(2)).targets.tolist() == [5.0, 6.0]
    assert next(source.batches(2)).weights.tolist() == [1.0, 2.0]
    assert next(source_of(kind(file), ["y", "w"]).batches(2)).targets.shape == (2, 2)


def test_a_fitted_model_takes_the_columns_that_it_knows(file):
    assert source_of(file, columns=("b", "a")).names == ("b", "a")
    assert source_of(Parquet(file, target="y"), columns=("b", "a")).names == ("b", "a")
    assert source_of(Parquet(file, columns=["a"]), columns=("b", "a")).names == ("a",)
    assert source_of(Parquet(file)).names == ("a", "b", "y", "w")


def test_memory_maps_are_arrays(tmp_path):
    np.save(tmp_path / "x.npy", X)
    source = source_of(np.load(tmp_path / "x.npy", mmap_mode="r"), [1, 2], [1, 3])
    assert isinstance(source, Arrays)
    assert next(source.batches(2)).weights.tolist() == [1, 3]


def test_sources_are_themselves():
    source = Batches([X])
    assert source_of(source) is source


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((iter([X]),), r"list_iterator. Use mercer.sources.Batches\(make\)"),
        ((lambda: [X],), r"function. Use mercer.sources.Batches\(make\)"),
        (("flights.csv",), "got 'flights.csv'. Give a path that ends in .parquet, or a folder"),
        (("x.npy",), r"""Use np.load\('x.npy', mmap_mode="r"\)"""),
        ((__file__,), "Write it as Parquet once"),
        (("x.parquet", [1, 2]), "the name of a column for y; got list for y, with a path for X. Keep it in"),
        (("x.parquet", "y", np.ones(2)), "the name of a column for sample_weight; got ndarray"),
        ((Batches([X]), [1, 2]), r"got y beside Batches. Give batches of \(X, y\)"),
        ((Arrays(X), None, [1, 2]), r"got sample_weight beside Arrays. Write Arrays\(X, weight=weight\)"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(InputError, match=f"^KernelRidge needs .*{message}"):
        source_of(*given)


def test_targets_are_named_once(file):
    with pytest.raises(InputError, match=r"got y beside Parquet. Write Parquet\(path, target=...\)"):
        source_of(Parquet(file), "y")


def test_names_go_with_files(tmp_path):
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(InputError, match="an array for y; got 'delay', with an array for X"):
        source_of(np.load(tmp_path / "x.npy", mmap_mode="r"), "delay")
