"""Columns of Parquet files as numbers and labels: which can be read, and how."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, message
from mercer.sources.base import Batch

TEXTS = ("string", "large_string", "string_view")
"""What pyarrow calls texts."""
MAX_LISTED_NAMES = 20
"""Names of columns that a message shows."""


def pyarrow_parquet() -> Any:
    """The module that reads files, which is loaded when it is first needed."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        remedy = 'Run: pip install "mercer[files]"'
        raise ImportError(message("pyarrow", "it is not installed", remedy, subject="Parquet")) from error
    return pyarrow.parquet


@dataclass(frozen=True, eq=False)
class Footer:
    """What the end of a file says of it.

    types : of each column, by name
    index : the columns that pandas wrote as the labels of rows
    groups : the rows of each row group
    """

    file: str
    types: dict[str, Any]
    index: tuple[str, ...]
    groups: tuple[int, ...]


def footer_of(path: Path) -> Footer:
    """The footer of a file, which names every column once."""
    parquet = pyarrow_parquet()
    from pyarrow import ArrowInvalid

    try:
        metadata = parquet.read_metadata(path)
    except ArrowInvalid as error:
        got = f"of {path.name} pyarrow says: {str(error).rstrip('.')}"
        raise InputError(message("files in the format Parquet", got, "Write it again.", subject="Parquet")) from error
    schema = metadata.schema.to_arrow_schema()
    twice = next((name for name in schema.names if schema.names.count(name) > 1), None)
    if twice is not None:
        got = f"{path.name} has several columns named {twice!r}"
        raise InputError(message("a name of its own for each column", got, "Rename them.", subject="Parquet"))
    groups = tuple(metadata.row_group(group).num_rows for group in range(metadata.num_row_groups))
    return Footer(path.name, dict(zip(schema.names, schema.types, strict=True)), _index(schema), groups)


def _index(schema: Any) -> tuple[str, ...]:
    """The names of columns that pandas reads back as labels of rows."""
    noted = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    return tuple(name for name in noted.get("index_columns", ()) if isinstance(name, str))


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
        cls, footer: Footer, features: Sequence[str] | None, target: str | Sequence[str] | None, weight: str | None
    ) -> Columns:
        """The columns by what they are asked for; all others but labels of rows are features where none are named."""
        targets = target if target is None or isinstance(target, str) else tuple(target)
        others = _several(targets) + _several(weight)
        rest = tuple(name for name in footer.types if name not in others + footer.index)
        chosen = rest if features is None else tuple(features)
        _refuse_absent(footer, chosen + others)
        _refuse_roles(chosen, others)
        types = {name: footer.types[name] for name in chosen + others}
        for name in chosen:
            _refuse_feature(name, types[name])
        for name in others:
            _refuse_other(name, types[name], number=name == weight)
        return cls(chosen, targets, weight, types)

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

    def same(self, footer: Footer) -> None:
        """Refuse a file with other columns."""
        for name, kind in self.types.items():
            found = footer.types.get(name, "not there")
            if found != kind:
                got = f"column {name!r} of {footer.file} is {found}, and {kind} in the first file"
                raise InputError(
                    message("files with one schema", got, "Write them with the same one.", subject="Parquet")
                )

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """float32 where no feature is wider, and some are floating; else float64."""
        kinds = [self.types[name] for name in self.features]
        narrow = all(_is_narrow(kind) for kind in kinds) and any(_is_floating(kind) for kind in kinds)
        return np.dtype(np.float32 if narrow else np.float64)

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


def _is_floating(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_floating(kind))


def _is_narrow(kind: Any) -> bool:
    """Whether float32 holds all numbers of a type."""
    from pyarrow import types

    whole = types.is_boolean(kind) or (types.is_integer(kind) and kind.bit_width <= 16)
    return bool(whole or (types.is_floating(kind) and kind.bit_width <= 32))


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind))


def _is_text(kind: Any) -> bool:
    return str(kind) in TEXTS


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
    number = _is_number(coded.type.value_type)
    known = _numbers(coded.dictionary) if number else np.asarray(coded.dictionary.to_pylist(), dtype=np.str_)
    return np.asarray(known[_numbers(coded.indices)])


# -- refusals ---------------------------------------------------------------------------------------------------------


def _refuse_absent(footer: Footer, names: tuple[str, ...]) -> None:
    for name in names:
        if name not in footer.types:
            known = ", ".join(map(repr, list(footer.types)[:MAX_LISTED_NAMES]))
            known += ", ..." * (len(footer.types) > MAX_LISTED_NAMES)
            got = f"the columns of {footer.file} are {known}"
            raise InputError(message(f"a column named {name!r}", got, "Check the spelling.", subject="Parquet"))


def _refuse_roles(features: tuple[str, ...], others: tuple[str, ...]) -> None:
    if not features:
        raise InputError(
            message("at least one feature", "no column is left", "Name some in columns.", subject="Parquet")
        )
    every = features + others
    twice = next((name for name in every if every.count(name) > 1), None)
    if twice is not None:
        remedy = "Leave it out of columns." if twice in others else "Name it once."
        raise InputError(message("one use for each column", f"{twice!r} has several", remedy, subject="Parquet"))


def _refuse_feature(name: str, kind: Any) -> None:
    from pyarrow import types

    if _is_number(kind):
        return
    remedy = "write this one as numbers"
    if types.is_temporal(kind):
        remedy = "count the days since a first date"
    elif types.is_dictionary(kind) or _is_text(kind):
        remedy = "write one column of 0 and 1 for each of its values"
    got, chosen = f"column {name!r} is of type {kind}", "Name the columns to read in Parquet(path, columns=[...])"
    raise InputError(message("numbers as features", got, f"{chosen}, or {remedy}.", subject="Parquet"))


def _refuse_other(name: str, kind: Any, number: bool) -> None:
    from pyarrow import types

    value = kind.value_type if types.is_dictionary(kind) else kind
    if _is_number(kind) or (not number and (_is_text(value) or _is_number(value))):
        return
    needs, got = (
        "numbers as weights" if number else "numbers or texts as targets",
        f"column {name!r} is of type {kind}",
    )
    raise InputError(message(needs, got, "Choose another column, or write it as numbers.", subject="Parquet"))


def _refuse_null(name: str, column: Any, start: int) -> None:
    if column.null_count:
        row = start + int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        got = f"column {name!r} has none in row {row}"
        raise InputError(message("a value in each row", got, "Impute or drop such rows.", subject="Parquet"))
