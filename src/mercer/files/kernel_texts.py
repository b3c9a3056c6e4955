"""Kernels in files: by their texts, so that no kernel class needs an entry of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mercer.errors import MercerError
from mercer.files.refusing import refuse, shown
from mercer.files.texts import encoded
from mercer.kernels import Kernel
from mercer.kernels.text import MAX_NODES, counted, known_names, parse

LONGEST = 1 << 17
"""Letters of a text."""
MOST_IN_ALL = 1 << 14
"""Kernels of which all kernels of a file are composed, equal texts once: some 30 microseconds each."""
Classes = Mapping[str, type[Kernel]]


def classes_of(given: Iterable[type[Kernel]]) -> dict[str, type[Kernel]]:
    """A program's own kernel classes by their names in texts."""
    found: dict[str, type[Kernel]] = {}
    for cls in given:
        if not (isinstance(cls, type) and issubclass(cls, Kernel)):
            refuse("kernel classes for classes", f"{shown(cls)} came", "Give subclasses of Kernel: classes=[MyKernel].")
        found[cls.name] = cls
    return found


def written(kernel: Kernel) -> dict[str, Any]:
    """A kernel as its text, and the names of classes in it that are not Mercer's."""
    own, text = foreign(kernel), str(kernel)
    _check_length(text)
    size = sum(1 for _ in _nodes(kernel))
    if size > MAX_NODES:
        refuse(f"kernels that are composed of at most {MAX_NODES:,}", f"one is of {size:,}", "Use fewer terms.")
    encoded(text)
    if not _comes_back(kernel, text, own):
        came = f"{shown(text)} does not: it holds a function or a lift, or its class writes itself in another way"
        refuse("kernels whose text gives them back", came, "Save the model without the map, and apply it before fit.")
    return {"kernel": text, **({"classes": sorted(own)} if own else {})}


def foreign(kernel: Kernel) -> dict[str, type[Kernel]]:
    """The classes of a tree that are not Mercer's, by their names in texts."""
    return {type(node).name: type(node) for node in _nodes(kernel) if not _is_ours(type(node))}


def read(value: Mapping[str, Any], classes: Classes, room: int) -> tuple[Kernel, int]:
    """The kernel of a text, and of how many it is composed; names of other classes mean what the loading program says.

    room : of how many it may be composed, before anything larger is built
    """
    text, wanted = value["kernel"], value.get("classes", [])
    if not isinstance(text, str) or not isinstance(wanted, list) or not all(isinstance(one, str) for one in wanted):
        refuse("a text for a kernel", f"{shown(text)} came")
    missing = next((name for name in wanted if name not in classes), None)
    if missing is not None:
        remedy = "Import it, and give it: mercer.load(path, classes=[TheClass])."
        refuse("kernel classes that are Mercer's or given", f"it uses a kernel called {shown(missing)}", remedy)
    _check_length(text)
    if room < 1:
        refuse(f"at most {MOST_IN_ALL:,} kernels in all", "there are more", "Use fewer terms.")
    try:
        return counted(text, {name: classes[name] for name in wanted}, min(room, MAX_NODES))
    except (MercerError, ValueError, TypeError, OverflowError, RecursionError) as error:
        refuse("texts of kernels that can be read", f"{shown(text)} cannot: {shown(str(error).split(chr(10))[0])}")


def _check_length(text: str) -> None:
    if len(text) > LONGEST:
        refuse(f"texts of kernels of at most {LONGEST:,} letters", f"one has {len(text):,}", "Use fewer terms.")


def _comes_back(kernel: Kernel, text: str, own: Classes) -> bool:
    try:
        return parse(text, own) == kernel
    except MercerError:
        return False


def _nodes(kernel: Kernel) -> Iterator[Kernel]:
    """The kernel, and all below it."""
    yield kernel
    for child in kernel.children:
        yield from _nodes(child)


def _is_ours(cls: type[Kernel]) -> bool:
    return cls.__module__.startswith("mercer.kernels.algebra.") or known_names().get(cls.name) is cls
