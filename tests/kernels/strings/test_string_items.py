"""Strings at the door: what is taken, and how the rest is refused."""

import enum

import numpy as np
import pytest

from mercer.errors import InputError
from mercer.kernels.strings.items import items_of
from mercer.kernels.strings.symbols import encoded


class Colour(str, enum.Enum):  # noqa: UP042 - the kind whose str() is not its text
    RED = "red"


@pytest.mark.parametrize(
    ("things", "wanted"),
    [
        (["a", "", "\U0001f600"], ("a", "", "\U0001f600")),
        ([b"a", b""], (b"a", b"")),
        ([np.str_("a"), "b"], ("a", "b")),
        ([Colour.RED, "b"], ("red", "b")),
        ([np.bytes_(b"a"), bytearray(b"b")], (b"a", b"b")),
        ([["the", "cat"], (), np.array(["a", "b"])], (("the", "cat"), (), ("a", "b"))),
        ([[1, ("a", 2)], [None]], ((1, ("a", 2)), (None,))),
        (np.array(["ab", "c"]), ("ab", "c")),
    ],
)
def test_what_is_taken(things, wanted):
    found = items_of(things)
    assert found == wanted
    assert {type(item) for item in found} == {type(wanted[0])}


@pytest.mark.parametrize(
    ("things", "message"),
    [
        (["a", "b", None], r"Mercer needs strings .*; row 2 holds None. Replace missing strings by ''"),
        (["a", float("nan")], "row 1 holds nan. Replace missing strings"),
        ([3.5, "a"], r"row 0 holds 3.5. Convert the column, with str\(\) say"),
        (["a", "b", b"c"], "strings of one type; row 0 holds str and row 2 holds bytes. Convert"),
        (["a", ["b"]], "row 0 holds str and row 1 holds a list of tokens"),
        ([[b"c"], b"c"], "row 0 holds a list of tokens and row 1 holds bytes"),
        ([["a"], ["b", {}]], "tokens that can be compared and hashed; row 1 holds the token {}"),
        ([["a"], ["b"], [1.0, float("nan")]], "row 2 holds the token nan"),
        ([np.zeros((2, 2))], "row 0 holds array"),
    ],
)
def test_what_is_refused(things, message):
    with pytest.raises(InputError, match=message):
        items_of(things)


def test_two_columns_of_different_types_do_not_meet():
    """X of str and Z of bytes: each is fine alone."""
    with pytest.raises(InputError, match="Spectrum needs strings of one type; row 0 holds str and row 1 holds bytes"):
        encoded("Spectrum", ("a", b"a"))


@pytest.mark.parametrize(
    "items", [("ab\U0001f600", "", "\ud800b"), (b"ab\xff", b""), (("the", 7), (), (7, "the", ("a",)))]
)
def test_symbols_come_back(items):
    texts = encoded("Spectrum", items)
    codes, starts = texts.sequences.codes.tolist(), texts.sequences.starts.tolist()
    for item, start, end in zip(items, starts[:-1], starts[1:], strict=True):
        assert [texts.symbol(code) for code in codes[start:end]] == list(item)


def test_codes_of_tokens_do_not_depend_on_later_strings():
    first = (("b", "a"), ("c", "a"))
    alone, beside = (encoded("Spectrum", items).sequences.codes for items in (first, (*first, ("z", "a"))))
    assert beside[: len(alone)].tolist() == alone.tolist()
