"""The sets of points on which a kernel can be a kernel."""

from __future__ import annotations

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.backends.tensors import is_held
from mercer.compute.codegen.sparse import is_sparse, place
from mercer.errors import KernelError
from mercer.kernels.pairs import lengths, unit_rows

Values = NDArray[Any]
"""Rows of points: float64, or objects of high precision."""


BLOCK_NUMBERS = 1 << 16
"""Numbers of a sparse table that are looked at at once, where its zeros count too."""


class Domain(ABC):
    """A set of points in R^d, the same for every d.

    `phrase` names it in a sentence, `needs` says what data must be, `remedy` what to do when it is not.

    Examples
    --------
    >>> import mercer
    >>> domain = mercer.kernels.Min().domain
    >>> print(domain, "|", domain.needs)
    the non-negative reals | non-negative coordinates
    """

    name: str
    phrase: str
    needs: str
    remedy: str
    inside: frozenset[str] = frozenset()
    """The names of the domains that contain this one."""

    @abstractmethod
    def misfits(self, values: Values) -> NDArray[np.bool_]:
        """Which entries of the rows are outside the domain.

        Parameters
        ----------
        values : array or sparse array of shape (n, d)
            The rows.

        Returns
        -------
        array of bool
        """

    @abstractmethod
    def place(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Move arbitrary points into the domain; points of the domain do not move.

        Parameters
        ----------
        points : array of shape (n, d)
            The points.

        Returns
        -------
        array of shape (n, d)
        """

    def first_misfit(self, values: Values) -> tuple[int, int] | None:
        """The row and the column of the first entry outside the domain; None where there is none.

        Parameters
        ----------
        values : array or sparse array of shape (n, d)
            The rows.

        Returns
        -------
        (int, int) or None
        """
        if not is_sparse(values):
            return _first(self.misfits(values))
        rows: Any = values
        if self.by_coordinate and not self.misfits(np.zeros((1, 1))).any():  # then only stored numbers can break it
            at = _first(self.misfits(rows.data[:, None]))
            return None if at is None else place(rows, at[0])
        step = max(1, BLOCK_NUMBERS // rows.shape[1])
        for start in range(0, rows.shape[0], step):
            at = _first(self.misfits(rows[start : start + step].toarray()))
            if at is not None:
                return start + at[0], at[1]
        return None

    by_coordinate: bool = False
    """Whether it is a condition on each coordinate alone, so that a part of a point of the domain belongs to it."""
    searchable: bool = True
    """Whether `place` can lead points into the domain, so that a witness can be searched there."""

    columns: bool = True
    """Whether points have a number of columns."""

    @property
    def identity(self) -> Hashable:
        """What tells it from others: its name, and the map where it has one. Equal ones have equal names."""
        return self.name

    def within(self, other: Domain) -> bool:
        """Whether this domain is a subset of the other.

        Parameters
        ----------
        other : Domain
            The other.

        Returns
        -------
        bool
        """
        if isinstance(other, Both):
            return self.within(other.first) and self.within(other.second)
        return self.identity == other.identity or other.name in self.inside

    def __eq__(self, other: object) -> bool:
        """Equal by identity; a name alone will do, as in ``proof.domain == "integers"``."""
        return self.identity == other.identity if isinstance(other, Domain) else self.name == other

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.phrase

    def __repr__(self) -> str:
        return f"<domain {self.name}>"


class Reals(Domain):
    """All of R^d.

    >>> from mercer.kernels import REALS, Gaussian
    >>> Gaussian().domain == REALS
    True
    """

    by_coordinate = True
    name, phrase, needs, remedy = "reals", "the reals", "real coordinates", "Remove what is not a number."

    def misfits(self, values: Values) -> NDArray[np.bool_]:
        return np.zeros(values.shape, dtype=bool)

    def place(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        return points


class NonNegative(Domain):
    """Points whose coordinates are all at least zero.

    >>> from mercer.kernels import NONNEGATIVE, Min
    >>> Min().domain == NONNEGATIVE
    True
    """

    by_coordinate = True
    name, phrase, needs = "nonnegative", "the non-negative reals", "non-negative coordinates"
    remedy = "Shift the data, or use Gaussian()."
    inside = frozenset({"reals"})

    def misfits(self, values: Values) -> NDArray[np.bool_]:
        return _truth(values < 0)

    def place(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(points - np.minimum(points.min(axis=0, initial=0.0), 0.0))


class Integers(Domain):
    """Points whose coordinates are all integers.

    >>> from mercer.kernels import INTEGERS, REALS
    >>> INTEGERS.within(REALS)
    True
    """

    by_coordinate = True
    name, phrase, needs = "integers", "the integers", "whole coordinates"
    remedy = "Round the data."
    inside = frozenset({"reals"})

    def misfits(self, values: Values) -> NDArray[np.bool_]:
        return _truth(values != np.rint(values if is_held(values) else np.asarray(values, dtype=np.float64)))

    def place(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.rint(points)


class Naturals(Domain):
    """Points whose coordinates are all integers and at least zero.

    >>> from mercer.kernels import INTEGERS, NATURALS
    >>> NATURALS.within(INTEGERS)
    True
    """

    by_coordinate = True
    name, phrase, needs = "naturals", "the non-negative integers", "whole, non-negative coordinates"
    remedy = "Shift and round the data."
    inside = frozenset({"integers", "nonnegative", "reals"})

    def misfits(self, values: Values) -> NDArray[np.bool_]:
        return INTEGERS.misfits(values) | NONNEGATIVE.misfits(values)

    def place(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        return NONNEGATIVE.place(INTEGERS.place(points))


class Sphere(Domain):
    """Points of length one, up to rounding.

    >>> from mercer.kernels import SPHERE
    >>> SPHERE.place(np.array([[3.0, 4.0]]))
    array([[0.6, 0.8]])
    """

    name, phrase, needs = "sphere", "the unit sphere", "rows of length one"
    remedy = "Divide each row by its length."
    inside = frozenset({"reals"})

    def misfits(self, values: Values) -> NDArray[np.bool_]:
        own = values if is_held(values) else np.asarray(values, dtype=np.float64)
        return np.broadcast_to(np.abs(lengths(own) - 1) > 1e-6, values.shape)

    def place(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        size = lengths(points)
        pole = np.eye(1, points.shape[1])
        unit = np.where(size > 0, unit_rows(points), pole)
        # A row that has length one up to rounding stays as it is, so that short decimals remain short.
        return np.where(np.abs(size - 1) < 1e-15, points, unit)


REALS, NONNEGATIVE, INTEGERS, NATURALS, SPHERE = Reals(), NonNegative(), Integers(), Naturals(), Sphere()

DOMAINS = {domain.name: domain for domain in (REALS, NONNEGATIVE, INTEGERS, NATURALS, SPHERE)}
ALIASES: dict[str, Domain] = {
    "r": REALS, "real": REALS, "realnumbers": REALS, "rd": REALS, "r^d": REALS,
    "r+": NONNEGATIVE, "r>=0": NONNEGATIVE, "r\u22650": NONNEGATIVE, "positive": NONNEGATIVE,
    "nonnegativereals": NONNEGATIVE, "positivereals": NONNEGATIVE,
    "z": INTEGERS, "integer": INTEGERS, "zd": INTEGERS, "z^d": INTEGERS,
    "n": NATURALS, "n0": NATURALS, "natural": NATURALS, "naturalnumbers": NATURALS, "nonnegativeintegers": NATURALS,
    "unitsphere": SPHERE,
}  # fmt: skip
"""What else domains are called."""


def _truth(values: Any) -> NDArray[np.bool_]:
    """As truth values; those on a device stay there."""
    found: NDArray[np.bool_] = values if is_held(values) else np.asarray(values, dtype=bool)
    return found


def _first(misfits: NDArray[np.bool_]) -> tuple[int, int] | None:
    if is_held(misfits):
        return misfits.first_true()  # type: ignore[attr-defined,no-any-return]
    if not misfits.any():
        return None
    row, column = np.argwhere(misfits)[0]
    return int(row), int(column)


def domain_named(domain: str | Domain) -> Domain:
    """The domain of a name; a domain is given back as it is.

    >>> domain_named("Z"), domain_named("R+"), domain_named("non-negative")
    (<domain integers>, <domain nonnegative>, <domain nonnegative>)
    """
    if isinstance(domain, Domain):
        return domain
    plain = unicodedata.normalize("NFKC", str(domain))  # letters with double strokes become plain ones
    key = re.sub(r"[-_ {}$\\]|mathbb", "", plain).lower()
    found = DOMAINS.get(key) or ALIASES.get(key)
    if found is None:
        raise KernelError(f"There is no domain {domain!r}; the domains are {', '.join(DOMAINS)}, or R, R+, Z, N.")
    return found


class Both(Domain):
    """The points that belong to two domains."""

    searchable = False

    def __init__(self, first: Domain, second: Domain) -> None:
        self.first, self.second = first, second
        self.by_coordinate = first.by_coordinate and second.by_coordinate
        self.name = f"({first.name} and {second.name})"
        self.phrase = f"{first.phrase} and {second.phrase}"
        self.needs, self.remedy = f"{first.needs} and {second.needs}", f"{first.remedy} {second.remedy}"

    @property
    def identity(self) -> Hashable:
        return self.name, self.first.identity, self.second.identity

    def within(self, other: Domain) -> bool:
        return super().within(other) or self.first.within(other) or self.second.within(other)

    def misfits(self, values: Values) -> NDArray[np.bool_]:
        return self.first.misfits(values) | self.second.misfits(values)

    def place(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.second.place(self.first.place(points))


class Preimage(Domain):
    """The points that a map leads into a domain; `key` says which map it is, equal ones being one map."""

    searchable = False
    inside = frozenset({"reals"})

    def __init__(self, key: Hashable, label: str, apply: Callable[[Values], Values], image: Domain) -> None:
        self.key, self.apply, self.image = key, apply, image
        self.name = f"{label} into {image.name}"
        self.phrase = f"the points x with {label} in {image.phrase}"
        self.needs, self.remedy = f"{image.needs} behind {label}", image.remedy

    @property
    def identity(self) -> Hashable:
        return self.name, self.key, self.image.identity

    def misfits(self, values: Values) -> NDArray[np.bool_]:
        wrong = self.image.misfits(self.apply(values)).any(axis=1, keepdims=True)
        return np.broadcast_to(wrong, values.shape)

    def place(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        return points


def meet(first: Domain, second: Domain) -> Domain:
    """The points of both domains: the smaller one, where one lies inside the other."""
    if first.within(second):
        return first
    return second if second.within(first) else Both(first, second)
