"""A fingerprint: whether a fit has the data and the settings of another one, in a few bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compute.codegen.sparse import is_sparse
from mercer.compute.runtime.threads import Stop, available, run
from mercer.kernels import Kernel
from mercer.kernels.objects.store import Store
from mercer.kernels.points import Points
from mercer.sources.base import Source
from mercer.version import __version__

Parts = Mapping[str, str]
"""What must agree, by name: "version", "settings" and "data"."""
FORMAT_VERSION = 2
"""How checkpoints are written; it rises when that changes, or what is computed does."""
CHUNK_BYTES = 1 << 24
"""Bytes that a thread reads at once: Ctrl-C waits for no more, and the digests of these are what is digested."""
IGNORED = frozenset({"time_limit", "memory_limit", "verbose", "on_interrupt", "checkpoint", "backend"})
"""Settings that change how long a fit takes or what is said, and not what comes out."""


def fingerprint(settings: Mapping[str, Any], *data: Any) -> Callable[[], Parts]:
    """The parts that must agree: settings are read now, the data when the parts are first asked for.

    data : points, arrays, sparse tables, sources, or None, in a fixed order

    Cost: one pass over the bytes of the data, about 1 GB a second and core; copies of 16 MiB per core.

    >>> fingerprint({"alpha": 1.0}, np.arange(3.0))() == fingerprint({"alpha": 1.0}, np.arange(3.0))()
    True
    """
    found = {"version": f"{__version__}, format {FORMAT_VERSION}", "settings": _settings(settings)}

    @cache
    def parts() -> Parts:
        return {**found, "data": _data(data)}

    return parts


def _settings(settings: Mapping[str, Any]) -> str:
    digest = sha256()
    for name in sorted(settings.keys() - IGNORED):
        digest.update(f"{name}=".encode())
        _feed_setting(digest, settings[name])
    return digest.hexdigest()


def _feed_setting(digest: Any, value: Any) -> None:
    """A setting: text of kernels and numbers, bytes of arrays, the state of generators, the parameters of lifts."""
    if isinstance(value, np.ndarray):
        _feed_array(digest, value)
    elif isinstance(value, np.random.RandomState | np.random.Generator):
        state: Any = value.get_state() if isinstance(value, np.random.RandomState) else value.bit_generator.state
        _feed_setting(digest, state)
    elif isinstance(value, Mapping):
        for name in sorted(value, key=repr):
            _feed_text(digest, name)
            _feed_setting(digest, value[name])
    elif isinstance(value, list | tuple):
        _feed_text(digest, len(value))
        for item in value:
            _feed_setting(digest, item)
    elif hasattr(value, "get_params") and not isinstance(value, Kernel):
        _feed_text(digest, type(value).__name__)
        _feed_setting(digest, value.get_params(deep=False))
    else:
        _feed_text(digest, value)


def _feed_text(digest: Any, value: Any) -> None:
    """A small value as text; numbers alike whatever their type."""
    value = value.item() if isinstance(value, np.generic) else value
    value = int(value) if isinstance(value, float) and value.is_integer() else value
    digest.update(f"{type(value).__name__}:{value!r};".encode())


def _data(data: tuple[Any, ...]) -> str:
    digest = sha256()
    for part in data:
        _feed_part(digest, part)
    return digest.hexdigest()


def _feed_part(digest: Any, part: Any) -> None:
    if isinstance(part, Points):
        digest.update(f"points {part.names} {part.dtype};".encode())
        for store in part.stores:
            _feed_store(digest, store)
        part = part.values
    if part is None:
        digest.update(b"nothing;")
    elif isinstance(part, Source):
        digest.update(f"source of {part.count} rows, {part.names};".encode() + part.fingerprint())
    elif is_sparse(part):
        rows: Any = part.tocsr()
        for array in (np.array(rows.shape), rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data):
            _feed_array(digest, array)
    else:
        _feed_array(digest, np.asarray(part))


def _feed_store(digest: Any, store: Store | None) -> None:
    """The objects of a column, whose positions the values are; None where these are numbers."""
    if store is None:
        digest.update(b"numbers;")
        return
    digest.update(f"{len(store.items)} {store.kind};".encode())
    for item in store.items:
        if store.kind == "graphs":
            _feed_graph(digest, item)
        else:
            _feed_setting(digest, item)


def _feed_graph(digest: Any, graph: Any) -> None:
    """Nodes, edges and labels; a repr would leave out what is in the middle."""
    edges = np.ascontiguousarray(graph.edges, dtype=np.int64)
    digest.update(f"{graph.nodes} nodes, {len(edges)} edges;".encode() + edges.tobytes())
    _feed_setting(digest, graph.labels)
    _feed_setting(digest, graph.edge_labels)


def _feed_array(digest: Any, array: NDArray[Any]) -> None:
    """Type, shape and values, whatever the order in memory."""
    digest.update(f"array {array.dtype.str} {array.shape};".encode())
    if array.dtype.hasobject:
        for value in array.ravel():
            _feed_text(digest, value)
        return
    digest.update(b"".join(_digests(array)))


def _digests(array: NDArray[Any]) -> list[bytes]:
    """The digest of each chunk of the bytes in C order, by all threads; rows of their own memory are not copied."""
    rows = np.atleast_1d(array)
    size = max(1, CHUNK_BYTES // max(1, rows.nbytes // max(1, len(rows))))
    chunks = range(0, len(rows), size)
    found = [b""] * len(chunks)

    def work(worker: int, at: int, stop: Stop) -> None:
        chunk = np.ascontiguousarray(rows[chunks[at] : chunks[at] + size])
        found[at] = sha256(chunk.reshape(-1).view(np.uint8).data).digest()
        stop.step(worker, 1)

    workers = min(available(), len(chunks))
    if workers > 0:
        run(work, [range(worker, len(chunks), workers) for worker in range(workers)], len(chunks))
    return found
