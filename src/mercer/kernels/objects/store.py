"""The objects of one column: a table of points holds their positions here, so that all else sees rows of numbers."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Store:
    """Objects of one kind, checked; equal by identity.

    kind : the name of the domain whose members they are: "strings", "graphs" or "categories"
    items : the objects, in the order of their positions
    """

    kind: str
    items: tuple[Any, ...]
    _known: WeakKeyDictionary[Store, dict[Hashable, Any]] = field(default_factory=WeakKeyDictionary, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.kind, self.items)  # what was found of them is found again

    def beside(self, other: Store, question: Hashable, compute: Callable[[tuple[Any, ...]], Any]) -> Any:
        """What was computed of the objects of this store and of another one after it, computed the first time.

        The other may be this one: then its objects are looked at once. What was found lives as long as both stores.
        """
        answers = self._known.setdefault(other, {})
        if question not in answers:
            answers[question] = compute(self.items if other is self else self.items + other.items)
        return answers[question]


@dataclass(frozen=True, eq=False)
class Column:
    """One column of objects: which of a store stands in each row."""

    store: Store
    codes: Codes

    def alone(self, question: Hashable, compute: Callable[[tuple[Any, ...]], Any]) -> Any:
        """What was computed of the objects of the store, computed the first time."""
        return self.store.beside(self.store, question, compute)


def places(left: Column, right: Column) -> tuple[Codes, Codes]:
    """Where the objects of both columns stand among those of `left.store.beside(right.store, ...)`."""
    offset = 0 if left.store is right.store else len(left.store.items)
    return left.codes, right.codes + offset
