"""The objects of a column (strings, labels, graphs) in tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.graphs.graph import Graph
from mercer.kernels.objects.domains import KINDS
from mercer.kernels.objects.store import Store
from mercer.models.entry import made
from mercer.models.refusing import refuse, shown
from mercer.models.texts import Texts

Whole = NDArray[np.int64]
MAX_NODES = 1 << 24
TEXTS_PER_GRAPH = 16
"""How many texts a graph takes the memory of, about."""


@dataclass(frozen=True, eq=False)
class Labels:
    """Texts, of which some are missing.

    texts : "" where one is missing
    missing : which ones are
    """

    texts: Texts
    missing: NDArray[np.bool_]

    @classmethod
    def of(cls, items: Sequence[str | None]) -> Self:
        """Of labels as a store holds them."""
        return cls(Texts.of(item or "" for item in items), np.array([item is None for item in items], bool))

    def items(self) -> list[str | None]:
        """The labels."""
        if self.texts.plain or self.missing.shape != (len(self.texts),):
            refuse("as many booleans as labels", f"got {self.missing.shape} for {len(self.texts)}")
        pairs = zip(self.texts.items(), self.missing.tolist(), strict=True)
        return [None if gone else item for item, gone in pairs]


@dataclass(frozen=True, eq=False)
class Lists:
    """Lists of texts or of integers, one after the other.

    members : of all lists
    counts : how many each list has; -1 where there is no list
    """

    members: Texts | Whole
    counts: Whole

    @classmethod
    def of(cls, lists: Sequence[Sequence[Any] | None]) -> Self:
        """Of lists whose members are all texts, or all integers."""
        members = list(chain.from_iterable(one for one in lists if one is not None))
        counts = np.array([-1 if one is None else len(one) for one in lists], np.int64)
        if all(type(member) is str for member in members):
            return cls(Texts.of(members), counts)
        odd = [one for one in members if type(one) is not int or abs(one) >= 1 << 63]
        if odd:
            needs = "labels and tokens that are all texts, or all integers"
            refuse(needs, f"got {shown(odd[0])}", "Convert them to texts.")
        return cls(np.array(members, np.int64), counts)

    def items(self) -> Iterator[tuple[Any, ...] | None]:
        """The lists."""
        if isinstance(self.members, Texts):
            members = list(self.members.items())
        else:
            members = self.members.tolist() if self.members.ndim == 1 else []
        counts = self.counts
        if counts.ndim != 1 or (counts < -1).any() or (counts > len(members)).any() or _total(counts) != len(members):
            refuse("lists that hold all members", f"got {len(members)} for other counts")
        at = 0
        for count in counts.tolist():
            yield None if count < 0 else tuple(members[at : at + count])
            at += max(count, 0)

    def __len__(self) -> int:
        return self.counts.size + (len(self.members) if isinstance(self.members, Texts) else self.members.size)


@dataclass(frozen=True, eq=False)
class Graphs:
    """Graphs.

    nodes : how many each has
    edges : (m, 2), of all graphs, one after the other
    counts : how many edges each graph has
    labels, edge_labels : a list per graph
    """

    nodes: Whole
    edges: Whole
    counts: Whole
    labels: Lists
    edge_labels: Lists

    @classmethod
    def of(cls, items: Sequence[Graph]) -> Self:
        """Of graphs as a store holds them."""
        edges = np.concatenate([np.empty((0, 2), np.int64), *(item.edges for item in items)])
        nodes = np.array([item.nodes for item in items], np.int64)
        counts = np.array([len(item.edges) for item in items], np.int64)
        labels = Lists.of([item.labels for item in items])
        return cls(nodes, edges, counts, labels, Lists.of([item.edge_labels for item in items]))

    def items(self) -> Iterator[Graph]:
        """The graphs; each checks itself."""
        edges, counts = self.edges, self.counts
        if edges.ndim != 2 or edges.shape[1] != 2 or counts.ndim != 1 or self.nodes.shape != counts.shape:
            refuse("edges of two nodes, and counts of them", f"got shapes {edges.shape} and {counts.shape}")
        if (counts < 0).any() or (counts > len(edges)).any() or _total(counts) != len(edges):
            refuse("graphs that hold all edges", f"got {len(edges)} edges for other counts")
        labels, kinds = list(self.labels.items()), list(self.edge_labels.items())
        if not len(labels) == len(kinds) == len(counts):
            refuse("labels for every graph", f"got {len(labels)} and {len(kinds)} lists for {len(counts)} graphs")
        if self.nodes.max(initial=0) > MAX_NODES:
            refuse(f"graphs of at most {MAX_NODES:,} nodes", "got a larger one", "Cut it.")
        at = 0
        for nodes, count, own, kind in zip(self.nodes.tolist(), counts.tolist(), labels, kinds, strict=True):
            yield Graph(nodes, edges[at : at + count], own, kind)
            at += count


Items = Texts | Labels | Lists | Graphs


def packed(store: Store) -> dict[str, Any]:
    """A store as its kind and its objects in tensors."""
    return {"kind": store.kind, "items": _packed(store.kind, store.items)}


def _packed(kind: str, items: tuple[Any, ...]) -> Items:
    if kind == "graphs":
        return Graphs.of(items)
    if kind == "categories":
        return Labels.of(items)
    return Lists.of(items) if items and isinstance(items[0], tuple) else Texts.of(items)


def unpacked(fields: dict[str, Any]) -> Store:
    """The store of what `packed` gave."""
    kind, items = fields["kind"], fields["items"]
    allowed = {"strings": Texts | Lists, "categories": Labels, "graphs": Graphs}
    if kind not in KINDS or not isinstance(items, allowed[kind]):
        refuse(f"a kind of objects among {', '.join(KINDS)}", f"got {shown(kind)} with {type(items).__name__}")
    found = tuple(items.items())
    if isinstance(items, Lists) and any(item is None for item in found):
        refuse("strings", "one is missing")
    return Store(kind, found)


def many(fields: dict[str, Any]) -> int:
    """How many texts the objects of a store take the memory of, about; each is counted before one is made."""
    items = fields["items"]
    if isinstance(items, Graphs):
        return TEXTS_PER_GRAPH * items.nodes.size + len(items.labels) + len(items.edge_labels)
    return len(items.texts) if isinstance(items, Labels) else len(items)


def _total(counts: Whole) -> int:
    """The sum of what is not missing; each is at most the number of members, so that nothing overflows."""
    return int(np.maximum(counts, 0).sum())


STORE = made(Store, {"kind": str, "items": Items}, packed, unpacked).counted(many)
