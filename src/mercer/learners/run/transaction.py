"""A fit happens wholly, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """A fit that fails leaves the model as it was: not fitted, or fitted as before."""
    before, done = dict(estimator.__dict__), False
    try:
        yield
        done = True
    finally:
        if not done:
            estimator.__dict__.clear()
            estimator.__dict__.update(before)
