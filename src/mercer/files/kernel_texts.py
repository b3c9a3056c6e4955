"""Kernels in files: by their texts, so that no kernel class needs an entry of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mercer.errors import MercerError
from mercer.files.refusing import refuse, shown
from mercer.files.texts import encoded
from mercer.kernels import Kernel
from mercer.kernels.text import known_names, parse

LONGEST = 1 << 17
"""Letters of a text."""
MOST = 1000
"""Sums, products and methods of a text: a kernel of n terms takes n^2 steps to build."""
JOINTS = re.compile(r"(?<![eE])\+|\*|\.[a-z]")
"""What composes kernels in a text."""
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
    _check_size(text)
    encoded(text)
    if not _comes_back(kernel, text, own):
        came = f"{shown(text)} does not: it holds a function or a lift, or its class writes itself in another way"
        refuse("kernels whose text gives them back", came, "Save the model without the map, and apply it before fit.")
    return {"kernel": text, **({"classes": sorted(own)} if own else {})}


def foreign(kernel: Kernel) -> dict[str, type[Kernel]]:
    """The classes of a tree that are not Mercer's, by their names in texts."""
    return {type(node).name: type(node) for node in _nodes(kernel) if not _is_ours(type(node))}


def read(value: Mapping[str, Any], classes: Classes) -> Kernel:
    """The kernel of a text; names of other classes mean what the loading program says."""
    text, wanted = value["kernel"], value.get("classes", [])
    if not isinstance(text, str) or not isinstance(wanted, list) or not all(isinstance(one, str) for one in wanted):
        refuse("a text for a kernel", f"{shown(text)} came")
    missing = next((name for name in wanted if name not in classes), None)
    if missing is not None:
        remedy = "Import it, and give it: mercer.load(path, classes=[TheClass])."
        refuse("kernel classes that are Mercer's or given", f"it uses a kernel called {shown(missing)}", remedy)
    _check_size(text)
    try:
        return parse(text, {name: classes[name] for name in wanted})
    except (MercerError, ValueError, TypeError, OverflowError, RecursionError) as error:
        refuse("texts of kernels that can be read", f"{shown(text)} cannot: {shown(str(error).split(chr(10))[0])}")


def _check_size(text: str) -> None:
    joints = len(JOINTS.findall(text)) if len(text) <= LONGEST else 0
    if len(text) > LONGEST or joints > MOST:
        came = f"one has {len(text):,}, and {joints:,} sums, products and methods"
        refuse(f"texts of kernels of at most {LONGEST:,} letters, and {MOST:,} joints", came, "Use fewer terms.")


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
