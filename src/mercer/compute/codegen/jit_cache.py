"""Generated text becomes machine code: compiled by Numba, kept on disk for other processes, loaded once per process.

The text itself is compiled from memory; on disk there is only what Numba made of it, see `kept`.
"""

from __future__ import annotations

import hashlib
import linecache
import logging
import sys
import threading
from functools import cache
from types import ModuleType

LOG = logging.getLogger("mercer.compute")
_LOCK = threading.Lock()
_LOADED: dict[str, ModuleType] = {}


def load(text: str) -> ModuleType:
    """The module of a text; its functions are compiled when they are first called, or read from the disk."""
    with _LOCK:
        if text not in _LOADED:
            key = hashlib.sha256(text.encode()).hexdigest()[:32]
            _LOADED[text] = _executed(f"mercer_{key}", text)
        return _LOADED[text]


@cache
def numba_works() -> bool:
    """Whether Numba can be imported here."""
    try:
        import numba  # noqa: F401
    except ImportError:
        LOG.warning("Numba cannot be imported; Mercer evaluates kernels with NumPy, which is slower.")
        return False
    return True


def _executed(name: str, text: str) -> ModuleType:
    module, file = ModuleType(name), f"<{name}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file  # tracebacks show its lines
    sys.modules[name] = module  # Numba finds the module of cached code by its name
    exec(compile(text, file, "exec"), vars(module))  # noqa: S102  # written by `source` and the like, never by a user
    return module
