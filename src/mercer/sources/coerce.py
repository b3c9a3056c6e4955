"""Input of learners that is not a table: paths, memory maps and sources."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from mercer.errors import InputError, message
from mercer.sources.arrays import Arrays
from mercer.sources.base import Source

READABLE = "a table, a Parquet file or folder, a memory map, or a source of mercer.sources"


def source_of(
    X: Any,
    y: Any = None,
    weight: Any = None,
    columns: Sequence[str] | None = None,
    matrix: bool = False,
) -> Source | None:
    """The source that X is or names; None for an ordinary table.

    Parameters
    ----------
    X : object
        A source, a path, a memory map, or an ordinary table.
    y, weight : str, array or None, default=None
        Names of columns where X is a path, arrays where it is a memory map.
    columns : sequence of str or None, default=None
        The features of a fitted model: all other columns of files are skipped.
    matrix : bool, default=False
        Whether X is one matrix of similarities, of which a memory map is an array like any other.

    Returns
    -------
    Source or None

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.sources import Batches, source_of
    >>> source_of(np.zeros((3, 2))) is None, source_of(Batches([np.zeros((3, 2))])).count
    (True, 3)
    """
    if isinstance(X, Source):
        _refuse_twice(X, y, weight)
        if not columns:
            return X
        from mercer.sources.parquet import Parquet  # most rows come in memory

        return replace(X, columns=columns) if isinstance(X, Parquet) and X.columns is None else X
    if isinstance(X, str | os.PathLike):
        return _files(Path(X), y, weight, columns)
    if isinstance(X, np.memmap) and not matrix:
        _refuse_names(y, weight)
        return Arrays(X, y, weight=weight)
    if isinstance(X, Iterator) or (callable(X) and not hasattr(X, "__array__")):
        got = f"got something of type {type(X).__name__}"
        remedy = "Use mercer.sources.Batches(make), where make() gives a fresh iterator of batches."
        raise InputError(message(READABLE, got, remedy))
    return None


def _files(path: Path, y: Any, weight: Any, columns: Sequence[str] | None) -> Source:
    from mercer.sources.parquet import SUFFIX, Parquet

    if path.suffix.lower() != SUFFIX and not path.is_dir():
        _refuse_path(path)
    for name, given in (("y", y), ("sample_weight", weight)):
        if given is not None and not _is_name(given, several=name == "y"):
            got = f"got {type(given).__name__} for {name}, with a path for X"
            raise InputError(message(f"the name of a column for {name}", got, "Keep it in the same files."))
    return Parquet(path, columns=columns, target=y, weight=weight)


def _is_name(given: Any, several: bool) -> bool:
    names = isinstance(given, list | tuple) and len(given) > 0 and all(isinstance(name, str) for name in given)
    return isinstance(given, str) or (several and names)


def _refuse_path(path: Path) -> NoReturn:
    remedy = "Write it as Parquet once, with to_parquet of pandas or write_parquet of polars."
    if path.suffix.lower() == ".npy":
        remedy = f'Use np.load({str(path)!r}, mmap_mode="r").'
    elif not path.exists():
        remedy = "Give a path that ends in .parquet, or a folder of such files."
    raise InputError(message(READABLE, f"got {str(path)!r}", remedy))


def _refuse_twice(source: Source, y: Any, weight: Any) -> None:
    given = "y" if y is not None else "sample_weight" if weight is not None else None
    if given is not None:
        kind = type(source).__name__
        got = f"got {given} beside {kind}"
        remedy = {
            "Parquet": f"Write Parquet(path, {'target' if given == 'y' else 'weight'}=...).",
            "Arrays": f"Write Arrays(X, {'y' if given == 'y' else 'weight=weight'}).",
        }.get(kind, "Give batches of (X, y) or (X, y, weights).")
        raise InputError(message("targets and weights inside the source", got, remedy))


def _refuse_names(y: Any, weight: Any) -> None:
    for name, given in (("y", y), ("sample_weight", weight)):
        if isinstance(given, str):
            got = f"got {given!r}, with an array for X"
            raise InputError(message(f"an array for {name}", got, "Names of columns go with Parquet files."))
