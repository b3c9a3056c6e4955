"""The domains of kernels of structured data: strings, graphs, categories."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.domain import Domain, Values


class Structured(Domain):
    """Structured data of one kind. To all else such a column is one of numbers: positions in a store."""

    by_coordinate = True
    searchable = False
    inside = frozenset({"reals"})
    columns = False

    def __init__(self, name: str, remedy: str) -> None:
        self.name = self.phrase = self.needs = name
        self.remedy = remedy

    def misfits(self, values: Values) -> NDArray[np.bool_]:
        return np.zeros(values.shape, dtype=bool)

    def place(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        return points


STRINGS = Structured("strings", "Give str, bytes, or lists of tokens.")
GRAPHS = Structured("graphs", "Give graphs of mercer.kernels.graphs, NetworkX, or adjacency matrices.")
CATEGORIES = Structured("categories", "Give labels: strings, integers or booleans.")
KINDS: dict[str, Any] = {domain.name: domain for domain in (STRINGS, GRAPHS, CATEGORIES)}
