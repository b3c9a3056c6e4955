"""Loops that depend on no formula: ordinary functions, which Numba compiles when they are first called.

What Numba makes of them is kept on disk like that of generated code, see `kept`. A loop uses its arguments, other
loops, modules and numbers of its module, and nothing else: so the digest under which it is kept covers all that it
does. Without Numba the function runs as it is written.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Set
from functools import cached_property, update_wrapper
from types import CodeType, FunctionType, ModuleType
from typing import Any, Generic, ParamSpec, TypeVar, cast

import numpy as np

from mercer.compute.codegen import jit_cache

P = ParamSpec("P")
R = TypeVar("R")
_LOCK = threading.RLock()


def compiled(fastmath: Set[str] = frozenset()) -> Callable[[Callable[P, R]], Compiled[P, R]]:
    """Decorate a function of a module that Numba can compile; it runs without the GIL, and checks no bounds.

    Parameters
    ----------
    fastmath : set of str, default=frozenset()
        The liberties that LLVM may take with floats ("reassoc", "contract", ...).

    Returns
    -------
    decorator : callable

    Examples
    --------
    >>> @compiled(fastmath={"reassoc"})
    ... def total(values):
    ...     found = 0.0
    ...     for k in range(len(values)):
    ...         found += values[k]
    ...     return found
    >>> float(total.function(np.array([1.0, 2.0])))  # as it is written
    3.0
    """
    return lambda function: Compiled(function, fastmath)


class Compiled(Generic[P, R]):
    """A function that is compiled when it is first called.

    Parameters
    ----------
    function : function
        What is compiled.
    fastmath : set of str
        See `compiled`.
    """

    def __init__(self, function: Callable[P, R], fastmath: Set[str]) -> None:
        self.function = function
        self.fastmath = fastmath
        self._dispatcher: Callable[P, R] | None = None
        update_wrapper(self, function)

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        run = self.dispatcher if jit_cache.numba_works() else self.function
        return run(*arguments, **named)

    @property
    def is_loaded(self) -> bool:
        """Whether machine code has been asked for in this process: loading the first takes longer than little work."""
        return self._dispatcher is not None

    @property
    def dispatcher(self) -> Callable[P, R]:
        """The function as Numba runs it: compiled, or loaded from the disk, for each new signature."""
        if self._dispatcher is None:
            with _LOCK:  # workers may come at once
                self._dispatcher = self._dispatcher or self._made()
        return self._dispatcher

    def _made(self) -> Callable[P, R]:
        from mercer.compute.codegen.kept import compile_loop  # the first import of Numba

        names: dict[str, Any] = {"__name__": self.function.__module__}
        for name, value in self._names.items():
            names[name] = value.dispatcher if isinstance(value, Compiled) else value
        found: Callable[P, R] = compile_loop(FunctionType(self._code, names), self.digest, self.fastmath)
        return found

    @cached_property
    def digest(self) -> str:
        """A hash of all that the machine code depends on, beside the types of its arguments."""
        code = self._code
        parts = [code.co_code.hex(), code.co_consts, code.co_names, code.co_varnames, sorted(self.fastmath)]
        parts += [(name, _meaning(value)) for name, value in sorted(self._names.items())]
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]

    @property
    def _code(self) -> CodeType:
        return cast(FunctionType, self.function).__code__

    @property
    def _names(self) -> dict[str, Any]:
        """What the function may take from its module, by name: attributes of the same names are among them."""
        own = cast(FunctionType, self.function).__globals__
        return {name: own[name] for name in self._code.co_names if name in own}


def _meaning(value: Any) -> str:
    """What a name of a module stands for, in words that change when it does."""
    if isinstance(value, Compiled):
        return value.digest
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, bool | int | float | np.generic):
        return repr((type(value).__name__, value))
    raise TypeError(f"a compiled loop can use loops, modules and numbers of its module, got {value!r}: pass it instead")
