"""Numba's decorators for our code: what they compile is kept on disk, and loaded only from bytes that were checked.

Numba's own cache unpickles whatever it finds in its files. Here a compiled function is one file for each signature, and
only what has the right digest is unpickled. Generated code imports `njit` from here, `compiled` takes `compile_loop`.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
from collections.abc import Callable, Set
from functools import cache
from typing import Any

import numba
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from mercer.compute.codegen import cache_folder

LOG = logging.getLogger("mercer.compute")
_REBUILD: Any = CompileResult._rebuild
_PICKLED: Any = dumps


def njit(cache: bool = False, **options: Any) -> Callable[[Any], Any]:
    """numba.njit with other hands for `cache=True`."""

    def compiled(function: Any) -> Any:
        found = numba.njit(**options)(function)
        if cache:
            found._cache = Kept(function.__module__, function.__qualname__)
        return found

    return compiled


def compile_loop(function: Any, digest: str, fastmath: Set[str]) -> Any:
    """numba.njit of a function that depends on no formula; the digest is of all that it does."""
    found: Any = numba.njit(nogil=True, boundscheck=False, error_model="numpy", fastmath=set(fastmath))(function)
    found._cache = Kept(f"{function.__module__}-{digest}", function.__qualname__, f"the loops of {function.__module__}")
    return found


class Kept(_Cache):
    """What Numba made of one function.

    module : its name holds a hash of what the function does; function : its name there; what : in words, for the log
    """

    def __init__(self, module: str, function: str, what: str = "a new formula") -> None:
        self.module, self.function, self.what = module, function, what

    @property
    def cache_path(self) -> str | None:
        """The folder; None where nothing is kept."""
        path = cache_folder.directory()
        return None if path is None else str(path)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function for a signature; None where it has to be compiled."""
        target_context.refresh()
        data = cache_folder.checked(*self._entry(sig, target_context.codegen()))
        if data is None:
            _announce(self.module.partition("-")[0], self.what)
            return None
        return _REBUILD(target_context, *pickle.loads(data))  # noqa: S301  # checked, and our own

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the compiled function for a signature."""
        if not data.library.has_dynamic_globals:  # addresses in memory mean nothing to other processes
            cache_folder.keep(*self._entry(sig, data.codegen), _PICKLED(data._reduce()))

    def _entry(self, sig: Any, codegen: Any) -> tuple[str, str]:
        """The name of a file, and all that its content depends on."""
        purpose = f"{self.module}|{self.function}|{sig}|{codegen.magic_tuple()}"
        return f"{self.module}.{self.function}.{hashlib.sha256(purpose.encode()).hexdigest()[:16]}.nbc", purpose

    def enable(self) -> None:
        """It is always on."""

    def disable(self) -> None:
        """It is always on."""

    def flush(self) -> None:
        """Entries are replaced, never emptied."""


@cache
def _announce(module: str, what: str) -> None:
    """Say once for each formula, and for the loops of each module, that it takes a while."""
    path = cache_folder.directory()
    where = "." if path is None else f", once. The code is kept in {path}."
    LOG.warning("Mercer compiles %s: a few seconds%s", what, where)
