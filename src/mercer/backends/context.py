"""The backend at hand: that of the fit or the prediction that is running, else this machine's cores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from mercer.backends.base import Backend
from mercer.backends.cpu import CPU

CORES = CPU()
_CURRENT: ContextVar[Backend] = ContextVar("backend", default=CORES)


def current() -> Backend:
    """The backend at hand.

    Examples
    --------
    >>> from mercer.backends import current
    >>> current().name
    'cpu'
    """
    return _CURRENT.get()


@contextmanager
def use(backend: Backend) -> Iterator[Backend]:
    """Inside, and in threads that are started inside, this backend computes.

    Parameters
    ----------
    backend : Backend
        `CPU()` or `CUDA()`.

    Yields
    ------
    Backend

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import backends
    >>> from mercer.operators import Gram
    >>> with backends.use(backends.CPU()):
    ...     product = Gram("gaussian", np.array([[0.0], [1.0]])) @ np.ones(2)
    >>> product.round(3)
    array([1.607, 1.607])
    """
    with backend.opened() as opened:
        token = _CURRENT.set(opened)
        try:
            yield opened
        finally:
            _CURRENT.reset(token)
