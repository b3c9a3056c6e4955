"""What kernels of labels share: a row of features per label, missing entries, and shares of labels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import field, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from mercer.errors import InputError, message
from mercer.kernels.base import ATOM, Kernel
from mercer.kernels.categories.features import encoded, squares
from mercer.kernels.categories.items import MISSING, Label
from mercer.kernels.categories.shares import Shares, by_label, check_shares, counted, text_of
from mercer.kernels.domain import Domain
from mercer.kernels.fields import check_one_of
from mercer.kernels.objects.domains import CATEGORIES
from mercer.kernels.objects.leaf import ObjectKernel
from mercer.kernels.points import Points

CATEGORY, MARGINALISED, REFUSE = "category", "marginalised", "refuse"


def one_of(*words: str) -> Any:
    """One of some words, the first where none is given."""

    def check(owner: str, name: str, value: Any) -> str:
        return check_one_of(owner, name, value, words)

    return field(default=words[0], metadata={"check": check})


def shares() -> Any:
    """For each column the labels of the data with their shares; empty until `resolve` has counted them."""
    return field(default=(), metadata={"check": check_shares})


class Labelled(ObjectKernel):
    """A kernel of one or several columns of labels: `lifted` gives the features of labels."""

    @property
    @abstractmethod
    def missing(self) -> str:
        """What is done with missing entries: "category", "marginalised" or "refuse"."""

    @property
    @abstractmethod
    def seen(self) -> Shares:
        """The shares of labels, where they are known."""

    @abstractmethod
    def lifted(self, labels: Sequence[Label], seen: dict[Label, float], where: str) -> Any:
        """phi of each label of a column: a sparse table with a row per label; `where` names the column."""

    @property
    def needs_shares(self) -> bool:
        """Whether shares of labels are needed."""
        return self.missing == MARGINALISED

    @property
    def domain(self) -> Domain:
        return CATEGORIES

    @property
    def is_open(self) -> bool:
        return super().is_open or (self.needs_shares and not self.seen)

    @property
    def width(self) -> int | None:
        return len(self.seen) or None

    def encoded(self, left: Points, right: Points) -> tuple[Points, Points]:
        """The features of the labels of two tables, those of each column side by side."""
        self._refuse_width(left)
        return encoded(self, left, right, self._lift)

    def squares(self, points: Points) -> NDArray[np.float64]:
        """|phi(x)|^2 of each row."""
        self._refuse_width(points)
        return squares(self, points, self._lift)

    def _lift(self, labels: tuple[Label, ...], column: int, where: str) -> Any:
        """phi of labels that may be missing. Counted labels come too, so that means do not depend on the others."""
        seen = by_label(self.seen[column]) if self.seen else {}
        if MISSING in labels and self.missing == REFUSE:
            got, remedy = f"{where} has missing entries", 'Fill them, or use missing="category".'
            raise InputError(message("a label in each row", got, remedy, subject=type(self).__name__))
        means = self.missing == MARGINALISED
        members = [label for label in dict.fromkeys((*seen, *labels)) if not (means and label is MISSING)]
        phi = csr_array(self.lifted(members, seen, where))
        if means:
            mean = csr_array(np.array([[seen.get(label, 0.0) for label in members]])) @ phi
            phi, members = csr_array(vstack([phi, mean])), [*members, MISSING]
        place = {label: i for i, label in enumerate(members)}
        return phi[[place[label] for label in labels]]

    def _refuse_width(self, points: Points) -> None:
        width = points.values.shape[1]
        if self.seen and len(self.seen) != width:
            needs, got = f"the {len(self.seen)} columns whose labels were counted", f"got {width}"
            raise InputError(message(needs, got, "Choose the same ones with on().", subject=type(self).__name__))

    def _resolved(self, points: Points, weights: NDArray[Any], stretch: float) -> Kernel:
        return self.counted(points, weights)

    def counted(self, points: Points, weights: NDArray[Any]) -> Self:
        """The kernel with the shares of the labels of some rows, where it needs them and has none."""
        if self.seen or not self.needs_shares:
            return self
        return self.with_parameters(
            {"seen": counted(type(self).__name__, points, weights, self.missing != MARGINALISED)}
        )

    def write(self, python: bool) -> tuple[str, int]:
        given = [item.name for item in fields(self) if getattr(self, item.name) != item.default]
        inside = ", ".join(f"{name}={text_of(getattr(self, name))}" for name in given)
        if python:
            return f"{type(self).__name__}({inside})", ATOM
        return (f"{self.name}({inside})" if given else self.name), ATOM
