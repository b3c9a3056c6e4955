"""The names that a package exports, each loaded with its first use: what a program does not use it does not load."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.machinery import PathFinder
from typing import Any

Exports = tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]


def later(package: str, places: Mapping[str, str]) -> Exports:
    """`__getattr__`, `__dir__` and `__all__` of a package that loads names, and submodules, when they are asked for.

    Parameters
    ----------
    package : str
        Its name.
    places : mapping
        Names, and the modules in the package that define them; "" where the name is a module itself.

    Returns
    -------
    tuple of two functions and a list

    Examples
    --------
    >>> load, _, names = later("mercer.kernels", {"Gaussian": "radial.gaussian"})
    >>> load("Gaussian").__module__, names
    ('mercer.kernels.radial.gaussian', ['Gaussian'])
    """

    def load(name: str) -> Any:
        place = places.get(name)
        if place:
            found = getattr(import_module(f"{package}.{place}"), name)
            setattr(sys.modules[package], name, found)  # nobody asks here again
            return found
        if place is not None or _is_module(package, name):
            return import_module(f"{package}.{name}")
        from mercer.guesses.names import refuse  # what is meant is looked for when somebody guesses

        return refuse(package, name)

    names = sorted(places)
    return load, lambda: names, names


def _is_module(package: str, name: str) -> bool:
    return (
        not name.startswith("_")
        and PathFinder.find_spec(f"{package}.{name}", sys.modules[package].__path__) is not None
    )
