"""Batches of any lengths become batches of one length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer.sources.base import Batch
from mercer.sources.tables import is_sparse


def rebatched(batches: Iterator[Batch], size: int, skip: int = 0) -> Iterator[Batch]:
    """All rows after the first `skip`, in batches of exactly `size` rows; the last one may be shorter.

    Memory: what one batch that comes and two that go hold; rows are copied only where a batch is made of several, or
    has to wait for the next ones, whose maker may fill the same arrays again.
    """
    held: list[Batch] = []
    for batch in batches:
        first, skip = min(skip, batch.count), max(0, skip - batch.count)
        while first < batch.count:
            last = min(batch.count, first + size - sum(part.count for part in held))
            part, first = batch.part(slice(first, last)), last
            if sum(each.count for each in held) + part.count < size:
                held.append(_own(part))
            else:
                yield joined([*held, part])
                held = []
    if held:
        yield joined(held)


def joined(parts: list[Batch]) -> Batch:
    """Several batches as one."""
    if len(parts) == 1:
        return parts[0]
    rows, targets, weights = ([getattr(part, name) for part in parts] for name in ("rows", "targets", "weights"))
    return Batch(_stacked(rows), _stacked(targets), _stacked(weights))


def _own(batch: Batch) -> Batch:
    """The same rows in memory of their own."""
    return Batch(*(None if x is None else x.copy() for x in (batch.rows, batch.targets, batch.weights)))


def _stacked(parts: list[Any]) -> Any:
    if parts[0] is None:
        return None
    if is_sparse(parts[0]):
        from scipy.sparse import vstack

        return vstack(parts, format="csr")
    return np.concatenate(parts)
