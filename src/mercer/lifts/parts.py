"""What exact lifts are made of: each part gives some features of the rows, and their names."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels import After, Weighted
from mercer.kernels.algebra.functions import Formula, name_of
from mercer.kernels.algebra.mapped import Mapped
from mercer.kernels.algebra.named_functions import named
from mercer.kernels.lift_builder import OwnFeatures
from mercer.kernels.points import Points
from mercer.lifts.expansion import Expansion

Rows = NDArray[Any]


class Part(ABC):
    """Some features of a row."""

    @abstractmethod
    def __len__(self) -> int:
        """How many features there are."""

    @abstractmethod
    def features(self, X: Rows) -> Rows:
        """The features of each row."""

    @abstractmethod
    def names(self, inputs: Sequence[str]) -> list[str]:
        """The features as texts."""

    @abstractmethod
    def inconsistency(self, columns: int | None) -> str:
        """What is wrong for rows of so many columns, "" where nothing is; None where the number is not known."""


@dataclass(frozen=True, eq=False)
class Polynomials(Part):
    """Features that are polynomials of the columns."""

    expansion: Expansion

    def __len__(self) -> int:
        return len(self.expansion)

    def features(self, X: Rows) -> Rows:
        return np.asarray(self.expansion.evaluate(X))

    def names(self, inputs: Sequence[str]) -> list[str]:
        return self.expansion.names(inputs)

    def inconsistency(self, columns: int | None) -> str:
        width = self.expansion.width
        return f"got polynomials of {width} columns for {columns}" if width != columns else ""


@dataclass(frozen=True, eq=False)
class Functions(Part):
    """Features that a kernel computes itself, of rows of so many columns."""

    kernel: OwnFeatures
    columns: int
    count: int

    def __len__(self) -> int:
        return self.count

    def features(self, X: Rows) -> Rows:
        return np.asarray(self.kernel.features_of(X), dtype=X.dtype)

    def names(self, inputs: Sequence[str]) -> list[str]:
        return self.kernel.names_of(inputs)

    def inconsistency(self, columns: int | None) -> str:
        return f"got functions of {self.columns} columns for {columns}" if self.columns != columns else ""


@dataclass(frozen=True, eq=False)
class Joined(Part):
    """Parts side by side: their kernels are added."""

    parts: tuple[Part, ...]

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def features(self, X: Rows) -> Rows:
        return np.concatenate([part.features(X) for part in self.parts], axis=1)

    def names(self, inputs: Sequence[str]) -> list[str]:
        return [name for part in self.parts for name in part.names(inputs)]

    def inconsistency(self, columns: int | None) -> str:
        return next((wrong for part in self.parts if (wrong := part.inconsistency(columns))), "")


@dataclass(frozen=True, eq=False)
class Multiplied(Part):
    """All products of a feature of one part and one of another: their kernels are multiplied."""

    first: Part
    second: Part

    def __len__(self) -> int:
        return len(self.first) * len(self.second)

    def features(self, X: Rows) -> Rows:
        products: Rows = self.first.features(X)[:, :, None] * self.second.features(X)[:, None, :]
        return products.reshape(len(X), -1)

    def names(self, inputs: Sequence[str]) -> list[str]:
        seconds = [bracketed(name) for name in self.second.names(inputs)]
        return [product_text(bracketed(a), b) for a in self.first.names(inputs) for b in seconds]

    def inconsistency(self, columns: int | None) -> str:
        return self.first.inconsistency(columns) or self.second.inconsistency(columns)


@dataclass(frozen=True, eq=False)
class Weighed(Part):
    """Features times one number per row: f(x) phi(x), and with it f(x) k(x, z) f(z)."""

    inside: Part
    kernel: Weighted
    columns: tuple[str, ...] | None

    def __len__(self) -> int:
        return len(self.inside)

    def features(self, X: Rows) -> Rows:
        weights = self.kernel.weights(Points(X.astype(np.float64, copy=False), self.columns))
        return np.asarray(self.inside.features(X) * weights[:, None], dtype=X.dtype)

    def names(self, inputs: Sequence[str]) -> list[str]:
        alone = inputs[0] if named(self.kernel.function) else "x"
        label = f"{name_of(self.kernel.function)}({alone})"
        if isinstance(self.kernel.function, Formula):
            label = bracketed(self.kernel.function.text(inputs))
        return [product_text(label, bracketed(name)) for name in self.inside.names(inputs)]

    def inconsistency(self, columns: int | None) -> str:
        return self.inside.inconsistency(columns)


@dataclass(frozen=True, eq=False)
class Moved(Part):
    """Features of mapped rows, phi(g(x)).

    columns : the names of the columns of x, where they have some
    forms : the columns of g(x) as polynomials of those of x; or, where g is any function, their names
    """

    inside: Part
    kernel: Mapped
    columns: tuple[str, ...] | None
    forms: Expansion | tuple[str, ...]

    def __len__(self) -> int:
        return len(self.inside)

    def features(self, X: Rows) -> Rows:
        moved = self.kernel.inner_points(Points(X.astype(np.float64, copy=False), self.columns)).values
        return self.inside.features(np.ascontiguousarray(moved, dtype=X.dtype))

    def names(self, inputs: Sequence[str]) -> list[str]:
        labels: Sequence[str] = self.forms.names(inputs) if isinstance(self.forms, Expansion) else self.forms
        if isinstance(self.kernel, After) and self.kernel.named is not None:
            labels = [f"{name_of(self.kernel.named)}({name})" for name in inputs]
        own = isinstance(self.inside, Functions)  # which put parentheses around a column themselves
        return self.inside.names(labels if own else [bracketed(label) for label in labels])

    def inconsistency(self, columns: int | None) -> str:
        return self.inside.inconsistency(self.kernel.inner_width(columns))


@dataclass(frozen=True, eq=False)
class Chosen(Part):
    """Features of some of the columns."""

    inside: Part
    columns: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.inside)

    def features(self, X: Rows) -> Rows:
        return self.inside.features(np.ascontiguousarray(X[:, self.columns]))

    def names(self, inputs: Sequence[str]) -> list[str]:
        return self.inside.names([inputs[column] for column in self.columns])

    def inconsistency(self, columns: int | None) -> str:
        return self.inside.inconsistency(len(self.columns))


@dataclass(frozen=True, eq=False)
class Unit(Part):
    """Features divided by their length: the kernel is normalized. Where all are zero they stay so."""

    inside: Part

    def __len__(self) -> int:
        return len(self.inside)

    def features(self, X: Rows) -> Rows:
        values = self.inside.features(X)
        largest = np.abs(values).max(axis=1, keepdims=True, initial=0.0)
        values = values / np.where(largest > 0, largest, 1)  # so that no square overflows or vanishes
        length = np.linalg.norm(values, axis=1, keepdims=True)
        return np.asarray(values / np.where(length > 0, length, 1), dtype=X.dtype)

    def names(self, inputs: Sequence[str]) -> list[str]:
        return [f"{bracketed(name)} / |phi(x)|" for name in self.inside.names(inputs)]

    def inconsistency(self, columns: int | None) -> str:
        return self.inside.inconsistency(columns)


def bracketed(name: str) -> str:
    """A name as a factor: what is a sum or a quotient outside of its parentheses gets some."""
    outside = name
    while outside != (outside := re.sub(r"\([^()]*\)", "", outside)):
        pass
    return f"({name})" if re.search(" [-+/] ", outside) else name


def product_text(first: str, second: str) -> str:
    """A product of two named features; a factor of 1 is not written."""
    return first if second == "1" else second if first == "1" else f"{first} * {second}"
