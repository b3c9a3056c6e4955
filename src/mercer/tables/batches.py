"""Batches of Arrow as one table, counted as they come: what a file says of its own size may be wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from mercer.tables.limits import TableLimits


def counted(name: str, batches: Iterable[Any], schema: Any, limits: TableLimits) -> Any:
    """All batches as a table; what is too large is refused after the batch with which it is."""
    import pyarrow

    found, rows, size, cells = [], 0, 0, 0
    known: set[int] = set()
    for batch in batches:
        batch.validate(full=True)  # who looks into a list that lies may end the process
        rows, size = rows + batch.num_rows, size + sum(_size(column, known) for column in batch.columns)
        cells += sum(len(leaf) for column in batch.columns for leaf in leaves(column))
        limits.check(name, rows, batch.num_columns, size, cells)
        found.append(batch)
    return pyarrow.Table.from_batches(found, found[0].schema if found else schema)


def leaves(array: Any) -> Iterator[Any]:
    """The arrays of entries inside of lists, records and maps; any other array itself."""
    import pyarrow

    if isinstance(array, pyarrow.MapArray):
        yield from leaves(array.keys)
        yield from leaves(array.items)
    elif isinstance(array, pyarrow.StructArray):
        for part in array.flatten():
            yield from leaves(part)
    elif hasattr(array, "flatten"):  # lists
        yield from leaves(array.flatten())
    else:
        yield array


def _size(column: Any, known: set[int]) -> int:
    """Bytes of a column of a batch; a dictionary that several batches share counts once."""
    if not hasattr(column, "dictionary"):
        return int(column.nbytes)
    place = max((buffer.address for buffer in column.dictionary.buffers() if buffer is not None), default=0)
    shared = place in known
    known.add(place)
    return int(column.indices.nbytes) + (0 if shared else int(column.dictionary.nbytes))
