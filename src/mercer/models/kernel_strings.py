"""Kernels in files: by their texts, so that no kernel class needs an entry of its own.

The words that a kernel of texts has learned, which may be a hundred thousand, stand beside the text, in tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mercer.errors import MercerError
from mercer.kernels import BagOfWords, Kernel
from mercer.kernels.text import counted, known_names, parse
from mercer.kernels.text_grammar import MAX_NODES
from mercer.models.refusing import refuse, shown
from mercer.models.structured import Lists
from mercer.models.texts import Texts, encoded

MAX_KERNEL_LETTERS = 1 << 17
"""Letters of a text."""
MAX_KERNELS = 1 << 14
"""Kernels of which all kernels of a file are composed, equal texts once: some 30 microseconds each."""
MAX_INLINE_WORDS = 100
"""Words up to which they stand in the text itself."""
Classes = Mapping[str, type[Kernel]]
Frequencies = tuple[tuple[Any, float], ...]


@dataclass(frozen=True, eq=False)
class Words:
    """The words of a kernel, and of how many texts each is one.

    terms : the words, or runs of tokens
    counts : as float64
    """

    terms: Texts | Lists
    counts: NDArray[np.float64]

    @classmethod
    def of(cls, frequencies: Frequencies) -> Self:
        """Of the pairs that a kernel holds."""
        terms = [term for term, _ in frequencies]
        counts = np.array([count for _, count in frequencies], np.float64)
        return cls(Texts.of(terms) if all(isinstance(term, str) for term in terms) else Lists.of(terms), counts)

    def frequencies(self) -> list[tuple[Any, float]]:
        """The pairs, which the kernel checks."""
        terms = list(self.terms.items())
        plain = isinstance(self.terms, Texts) and self.terms.plain
        if plain or self.counts.shape != (len(terms),):
            refuse("as many numbers as words", f"got {self.counts.shape} for {len(terms)}")
        return list(zip(terms, self.counts.tolist(), strict=True))


def classes_of(given: Iterable[type[Kernel]]) -> dict[str, type[Kernel]]:
    """A program's own kernel classes by their names in texts."""
    found: dict[str, type[Kernel]] = {}
    for cls in given:
        if not (isinstance(cls, type) and issubclass(cls, Kernel)):
            refuse("kernel classes for classes", f"got {shown(cls)}", "Give subclasses of Kernel: classes=[MyKernel].")
        found[cls.name] = cls
    return found


def written(kernel: Kernel, put: Callable[[Frequencies], Any] | None = None) -> dict[str, Any]:
    """A kernel as its text, and the names of classes in it that are not Mercer's.

    put : writes many words elsewhere, and gives what stands for them
    """
    if kernel.nodes > MAX_NODES:
        got = f"this one is composed of {kernel.nodes:,}"
        refuse(f"kernels that are composed of at most {MAX_NODES:,}", got, "Leave out columns, or use fewer terms.")
    words = [node.frequencies for node in _nodes(kernel) if isinstance(node, BagOfWords) and _has_words(node)]
    beside = put is not None and any(len(each) > MAX_INLINE_WORDS for each in words)
    bare = _with_words(kernel, iter([()] * len(words))) if beside else kernel
    own, text = foreign(kernel), str(bare)
    _check_length(text)
    encoded(text)
    if not _comes_back(bare, text, own):
        got = f"{shown(text)} does not: it holds a function or a lift, or its class writes itself in another way"
        refuse("kernels whose text gives them back", got, "Save the model without the map, and apply it before fit.")
    found: dict[str, Any] = {"kernel": text, **({"classes": sorted(own)} if own else {})}
    return found | ({"words": [put(each) for each in words]} if put is not None and beside else {})


def foreign(kernel: Kernel) -> dict[str, type[Kernel]]:
    """The classes of a tree that are not Mercer's, by their names in texts."""
    return {type(node).name: type(node) for node in _nodes(kernel) if not _is_ours(type(node))}


def read(value: Mapping[str, Any], classes: Classes, room: int, words: Sequence[Any] = ()) -> tuple[Kernel, int]:
    """The kernel of a text, and of how many it is composed; names of other classes mean what the loading program says.

    room : of how many it may be composed, before anything larger is built
    words : what stands beside the text, for each kernel that has learned words
    """
    text, wanted = value["kernel"], value.get("classes", [])
    if not isinstance(text, str) or not isinstance(wanted, list) or not all(isinstance(one, str) for one in wanted):
        refuse("a text for a kernel", f"got {shown(text)}")
    missing = next((name for name in wanted if name not in classes), None)
    if missing is not None:
        remedy = "Import it, and give it: mercer.load(path, classes=[TheClass])."
        refuse("kernel classes that are Mercer's or given", f"it uses a kernel called {shown(missing)}", remedy)
    _check_length(text)
    if room < 1:
        refuse(f"at most {MAX_KERNELS:,} kernels in all", "there are more", "Use fewer terms.")
    try:
        found, size = counted(text, {name: classes[name] for name in wanted}, min(room, MAX_NODES))
        if not words:
            return found, size
        if not all(isinstance(each, Words) for each in words) or len(words) != sum(map(_has_words, _nodes(found))):
            refuse("words for each kernel that has learned some", f"got {len(words)}")
        return _with_words(found, (each.frequencies() for each in words)), size
    except (MercerError, ValueError, TypeError, OverflowError, RecursionError) as error:
        refuse("texts of kernels that can be read", f"{shown(text)} cannot: {shown(str(error).split(chr(10))[0])}")


def _check_length(text: str) -> None:
    if len(text) > MAX_KERNEL_LETTERS:
        got = f"this one is written with {len(text):,}"
        remedy = "Leave out columns, or use fewer terms."
        refuse(f"texts of kernels of at most {MAX_KERNEL_LETTERS:,} letters", got, remedy)


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


def _has_words(node: Kernel) -> bool:
    """Whether a kernel has learned words from texts, perhaps none."""
    return isinstance(node, BagOfWords) and node.documents > 0


def _with_words(kernel: Kernel, words: Iterator[Any]) -> Kernel:
    """The same kernel with other words, in the order of `_nodes`."""
    if _has_words(kernel):
        return kernel.with_parameters({"frequencies": next(words)})
    return kernel.with_children(tuple(_with_words(child, words) for child in kernel.children))


def _is_ours(cls: type[Kernel]) -> bool:
    return cls.__module__.startswith("mercer.kernels.algebra.") or known_names().get(cls.name) is cls
