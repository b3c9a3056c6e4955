"""Numba's decorator for generated code: what it compiles is kept on disk, and loaded only from bytes that were checked.

Numba's own cache unpickles whatever it finds in its files. Here a compiled function is one file for each signature, and
only what has the right digest is unpickled. Generated code imports `njit` from here.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
from collections.abc import Callable
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


class Kept(_Cache):
    """What Numba made of one function.

    module : named after a hash of its text; function : its name there
    """

    def __init__(self, module: str, function: str) -> None:
        self.module, self.function = module, function

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
            _announce(self.module)
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
def _announce(module: str) -> None:
    """Say once for each formula that it takes a while."""
    path = cache_folder.directory()
    where = "." if path is None else f", once. The code is kept in {path}."
    LOG.warning("Mercer compiles a new formula: a few seconds%s", where)
