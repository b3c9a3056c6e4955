"""How a test is to be done: what was asked, checked, and what "auto" stands for."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.compute.runtime.memory import Budget
from mercer.compute.runtime.threads import one_thread_blas
from mercer.errors import InputError, message
from mercer.hypothesis_tests.result import Finding, Null

AUTO, EXACT, FEATURES, BLOCKS = "auto", "exact", "features", "blocks"
PERMUTATION, SPECTRAL, NORMAL = "permutation", "spectral", "normal"
DRAWN = (PERMUTATION, SPECTRAL)

PERMUTATIONS_PER_EVALUATION = 50
"""Permutations that take as long as evaluating the kernel."""

MIN_THREADED_ROWS = 1_000
"""Below so many rows BLAS has one thread: dealing the work out would take longer than doing it."""

Nulls = Mapping[str, tuple[str, ...]]
"""The nulls of each method, the usual one first."""


@dataclass(frozen=True)
class Settings:
    """What was asked of a test.

    method, null : by their names, or "auto"
    draws : permutations, or draws of a spectral null
    n_landmarks : how many features; None for the usual number
    budget : the memory that may be held
    """

    method: str
    null: str
    draws: int
    n_landmarks: int | None
    budget: Budget

    @classmethod
    def of(cls, nulls: Nulls, method: Any, null: Any, draws: Any, n_landmarks: Any, memory: Any) -> Settings:
        """The settings, or one clear error."""
        method = _one_of("method", method, (AUTO, *nulls))
        null = _one_of("null", null, (AUTO, *dict.fromkeys(name for each in nulls.values() for name in each)))
        if method == AUTO and null == NORMAL:
            method = BLOCKS
        if method != AUTO and null not in (AUTO, *nulls[method]):
            needs = f"null={' or '.join(map(repr, nulls[method]))} for method={method!r}"
            raise InputError(message(needs, f"got {null!r}", 'Leave it out, or use method="auto".'))
        null = nulls[EXACT if method == AUTO else method][0] if null == AUTO else null
        count = whole_of("permutations", draws, "Use 1000, say.")
        features = None if n_landmarks is None else whole_of("n_landmarks", n_landmarks, "Leave it out if in doubt.")
        return cls(method, null, count, features, Budget.of(memory))

    @property
    def permutations(self) -> int:
        """How many permuted statistics are computed."""
        return self.draws if self.null == PERMUTATION else 0

    def nothing(self, detail: str) -> Finding:
        """A statistic that is zero whatever is permuted."""
        law = Null(self.null, np.zeros(0 if self.null == NORMAL else self.draws), 0.0)
        return Finding(0.0, law, math.inf, detail)

    def chosen(self, rows: int, work: float, stored: int) -> Settings:
        """The same with a method: "auto" takes all pairs as long as these are few enough.

        work : how many values of pairs may be looked at, over all permutations; to evaluate one counts
            `PERMUTATIONS_PER_EVALUATION`
        stored : bytes that all pairs need, at least
        """
        if self.method != AUTO:
            return self
        few = float(rows) ** 2 * (self.permutations + PERMUTATIONS_PER_EVALUATION) <= work
        return replace(self, method=EXACT if few and self.budget.allows(stored) else FEATURES)


def calm(rows: int) -> AbstractContextManager[None]:
    """Inside, BLAS has as many threads as so many rows are worth."""
    return one_thread_blas() if rows < MIN_THREADED_ROWS else nullcontext()


def whole_of(name: str, given: Any, remedy: str) -> int:
    """A positive integer."""
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < 1:
        got = f"got {reprlib.repr(given)}"
        raise InputError(message(f"a positive integer for {name}", got, remedy))
    return int(given)


def positive_of(name: str, given: Any, remedy: str) -> float:
    """A positive finite number."""
    number = isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool)
    if not (number and 0 < given < math.inf):
        got = f"got {reprlib.repr(given)}"
        raise InputError(message(f"a positive number for {name}", got, remedy))
    return float(given)


def _one_of(name: str, given: Any, known: tuple[str, ...]) -> str:
    if not (isinstance(given, str) and given in known):
        needs = f"{name} that is one of {', '.join(map(repr, known))}"
        raise InputError(message(needs, f"got {reprlib.repr(given)}", 'Use "auto" if in doubt.'))
    return given
