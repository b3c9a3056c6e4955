"""The words of a text, by one rule that looks at nothing but the text."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from mercer.errors import InputError, message
from mercer.kernels.strings.items import type_of


def documents(kernel: str, items: tuple[Any, ...], case: str) -> tuple[Any, ...]:
    """Each text as its words, each list of tokens as it is; with `case` "fold", words that differ in case only are one.

    A word is a longest run of letters, digits, marks (accents, vowel signs) and underscores, in the sense of Unicode.
    Letters with accents are the same whether they are written as one code point or as two.
    """
    kind = type_of(items, kernel)
    if kind is bytes:
        got, remedy = "got bytes", 'Decode them: x.decode("utf-8").'
        raise InputError(message("str, or lists of tokens", got, remedy, subject=kernel))
    if kind is tuple:
        return tuple(tuple(map(_folded, item)) for item in items) if case == "fold" else items
    texts = [_folded(text) if case == "fold" else _composed(text) for text in items]
    word = _word("".join(texts))
    return tuple(tuple(word.findall(text)) for text in texts)


def _word(texts: str) -> re.Pattern[str]:
    r"""What a word looks like: Python's \w, and the marks, which it lacks."""
    marks = "".join(sorted(letter for letter in set(texts) if unicodedata.category(letter).startswith("M")))
    return re.compile(rf"[\w{marks}]+")


def _folded(word: Any) -> Any:
    """Small letters, as Unicode compares them; tokens that are no str stay as they are."""
    if not isinstance(word, str):
        return word
    if word.isascii():
        return word.lower()
    return _composed(unicodedata.normalize("NFD", word).casefold())


def _composed(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)
