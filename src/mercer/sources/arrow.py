"""Columns of Parquet files as numbers and labels: which can be read, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, sentence
from mercer.sources.base import Batch

LISTED = 20
"""Names of columns that a message shows."""


def pyarrow_parquet() -> Any:
    """The module that reads files, which is loaded when it is first needed."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        remedy = 'Run: pip install "mercer[files]"'
        raise ImportError(sentence("Parquet", "pyarrow", "it is not installed", remedy)) from error
    return pyarrow.parquet


def types_of(path: Path) -> dict[str, Any]:
    """The type of each column of a file, by name."""
    import_error = pyarrow_parquet()
    from pyarrow import ArrowInvalid

    try:
        schema = import_error.read_schema(path)
    except ArrowInvalid as error:
        raise InputError(
            sentence(
                "Parquet", "files in the format Parquet", f"of {path.name} pyarrow says: {error}", "Write it again."
            )
        ) from error
    twice = next((name for name in schema.names if schema.names.count(name) > 1), None)
    if twice is not None:
        came = f"{path.name} has several columns named {twice!r}"
        raise InputError(sentence("Parquet", "a name of its own for each column", came, "Rename them."))
    return dict(zip(schema.names, schema.types, strict=True))


@dataclass(frozen=True, eq=False)
class Columns:
    """Which columns are what.

    targets : several names, or one: then targets have one dimension
    types : of the columns that are read
    """

    features: tuple[str, ...]
    targets: str | tuple[str, ...] | None
    weight: str | None
    types: dict[str, Any]

    @classmethod
    def of(
        cls,
        file: str,
        types: dict[str, Any],
        features: Sequence[str] | None,
        target: str | Sequence[str] | None,
        weight: str | None,
    ) -> Columns:
        """The columns of a file by what they are asked for; all others are features where none are named."""
        targets = target if target is None or isinstance(target, str) else tuple(target)
        others = _several(targets) + _several(weight)
        chosen = tuple(name for name in types if name not in others) if features is None else tuple(features)
        for name in chosen + others:
            if name not in types:
                known = ", ".join(map(repr, list(types)[:LISTED])) + ", ..." * (len(types) > LISTED)
                came = f"the columns of {file} are {known}"
                raise InputError(sentence("Parquet", f"a column named {name!r}", came, "Check the spelling."))
        _refuse_roles(chosen, others)
        for name in chosen:
            _refuse_feature(name, types[name])
        for name in others:
            _refuse_other(name, types[name], number=name == weight)
        return cls(chosen, targets, weight, {name: types[name] for name in chosen + others})

    @property
    def others(self) -> tuple[str, ...]:
        """The columns of targets and weights."""
        return _several(self.targets) + _several(self.weight)

    @property
    def roles(self) -> tuple[Any, ...]:
        """What tells one choice of columns from another."""
        return self.features, self.targets, self.weight

    def read(self, every: bool) -> list[str]:
        """The names of the columns to be read: all, or targets and weights."""
        return list((self.features if every else ()) + self.others)

    def same(self, file: str, types: dict[str, Any]) -> None:
        """Refuse a file with other columns."""
        for name, type in self.types.items():
            if types.get(name) != type:
                came = f"column {name!r} of {file} is {types.get(name, 'not there')}, and {type} in the first file"
                raise InputError(sentence("Parquet", "files with one schema", came, "Write them with the same one."))

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 where no feature is wider, and some are floating; else float64."""
        from pyarrow import types as is_

        kinds = [self.types[name] for name in self.features]
        narrow = all(
            is_.is_boolean(t) or (_is_binary(t) and t.bit_width <= (32 if is_.is_floating(t) else 16)) for t in kinds
        )
        return np.dtype(np.float32 if narrow and any(map(is_.is_floating, kinds)) else np.float64)

    def batch(self, records: Any, start: int, every: bool) -> Batch:
        """Records as numbers; `start` is the row of the first."""
        for name in self.read(every):
            _refuse_null(name, _column(records, name), start)
        rows = None
        if every:
            rows = np.empty((records.num_rows, len(self.features)), self.dtype)
            for at, name in enumerate(self.features):
                rows[:, at] = _numbers(_column(records, name))
        weights = None if self.weight is None else _numbers(_column(records, self.weight)).astype(np.float64)
        return Batch(rows, self._targets(records), weights)

    def _targets(self, records: Any) -> NDArray[Any] | None:
        if self.targets is None:
            return None
        if isinstance(self.targets, str):
            return _values(_column(records, self.targets))
        return np.column_stack([_values(_column(records, name)) for name in self.targets])


def _several(names: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return () if names is None else (names,) if isinstance(names, str) else names


def _column(records: Any, name: str) -> Any:
    return records.column(records.schema.get_field_index(name))


# -- values -----------------------------------------------------------------------------------------------------------


def _is_binary(type: Any) -> bool:
    """Whether numbers of a type are those of NumPy."""
    from pyarrow import types as is_

    return bool(is_.is_integer(type) or is_.is_floating(type))


def _is_number(type: Any) -> bool:
    from pyarrow import types as is_

    return bool(_is_binary(type) or is_.is_boolean(type) or is_.is_decimal(type))


def _numbers(column: Any) -> NDArray[Any]:
    """A column without nulls as an array; decimals as float64."""
    import pyarrow

    plain = column.cast(pyarrow.float64()) if pyarrow.types.is_decimal(column.type) else column
    return np.asarray(plain.to_numpy(zero_copy_only=False))


def _values(column: Any) -> NDArray[Any]:
    """Numbers, or labels as texts of one width."""
    if _is_number(column.type):
        return _numbers(column)
    import pyarrow

    coded = column if pyarrow.types.is_dictionary(column.type) else column.dictionary_encode()
    if _is_number(coded.type.value_type):
        return _numbers(coded.dictionary)[_numbers(coded.indices)]
    return np.asarray(coded.dictionary.to_pylist(), dtype=np.str_)[_numbers(coded.indices)]


# -- refusals ---------------------------------------------------------------------------------------------------------


def _refuse_roles(features: tuple[str, ...], others: tuple[str, ...]) -> None:
    if not features:
        raise InputError(sentence("Parquet", "at least one feature", "no column is left", "Name some in columns."))
    every = features + others
    twice = next((name for name in every if every.count(name) > 1), None)
    if twice is not None:
        remedy = "Leave it out of columns." if twice in others else "Name it once."
        raise InputError(sentence("Parquet", "one use for each column", f"{twice!r} has several", remedy))


def _refuse_feature(name: str, type: Any) -> None:
    from pyarrow import types as is_

    if _is_number(type):
        return
    remedy = "Name the columns to read in columns, or write this one as numbers."
    if is_.is_temporal(type):
        remedy = "Name the columns to read in columns, or count the days since a first date."
    elif is_.is_dictionary(type) or is_.is_string(type) or is_.is_large_string(type):
        remedy = "Name the columns to read in columns, or write one column of 0 and 1 for each of its values."
    raise InputError(sentence("Parquet", "numbers as features", f"column {name!r} is of type {type}", remedy))


def _refuse_other(name: str, type: Any, number: bool) -> None:
    from pyarrow import types as is_

    value = type.value_type if is_.is_dictionary(type) else type
    text = is_.is_string(value) or is_.is_large_string(value)
    if _is_number(type) or (not number and (text or _is_number(value))):
        return
    needs = "numbers as weights" if number else "numbers or texts as targets"
    came = f"column {name!r} is of type {type}"
    raise InputError(sentence("Parquet", needs, came, "Choose another column, or write it as numbers."))


def _refuse_null(name: str, column: Any, start: int) -> None:
    if column.null_count:
        row = start + int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        came = f"column {name!r} has none in row {row}"
        raise InputError(sentence("Parquet", "a value in each row", came, "Impute or drop such rows."))
