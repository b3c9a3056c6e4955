"""Batches of any lengths become batches of one length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer.sources.base import Batch
from mercer.sources.tables import is_sparse


def rebatched(batches: Iterator[Batch], size: int, skip: int = 0) -> Iterator[Batch]:
    """All rows after the first `skip`, in batches of exactly `size` rows; the last one may be shorter.

    Memory: what one batch that comes and two that go hold; rows are copied only where a batch is made of several.
    """
    held: list[Batch] = []
    for batch in batches:
        first, skip = min(skip, batch.count), max(0, skip - batch.count)
        while first < batch.count:
            last = min(batch.count, first + size - sum(part.count for part in held))
            held.append(batch.part(slice(first, last)))
            first = last
            if sum(part.count for part in held) == size:
                yield joined(held)
                held = []
    if held:
        yield joined(held)


def joined(parts: list[Batch]) -> Batch:
    """Several batches as one."""
    if len(parts) == 1:
        return parts[0]
    rows, targets, weights = ([getattr(part, name) for part in parts] for name in ("rows", "targets", "weights"))
    return Batch(_stacked(rows), _stacked(targets), _stacked(weights))


def _stacked(parts: list[Any]) -> Any:
    if parts[0] is None:
        return None
    if is_sparse(parts[0]):
        from scipy.sparse import vstack

        return vstack(parts, format="csr")
    return np.concatenate(parts)
