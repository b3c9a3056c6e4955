"""Labels at the door: what is one label, what is missing, and what is refused."""

import datetime
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.errors import InputError
from mercer.kernels.categories.items import MISSING, items_of

labels = st.one_of(
    st.lists(st.text(max_size=4)),
    st.lists(st.integers(-(10**20), 10**20)),
    st.lists(st.floats(allow_nan=False)),
    st.lists(st.booleans()),
)


@given(labels)
def test_property_labels_are_equal_where_the_things_are(things):
    items = items_of(things)
    for a, one in zip(things, items, strict=True):
        for b, other in zip(things, items, strict=True):
            assert (a == b) == (one == other)


@given(labels, st.lists(st.sampled_from([None, math.nan, np.float32("nan")])))
def test_property_what_is_missing_has_no_label(things, missing):
    items = items_of([*missing, *things])
    assert items[: len(missing)] == (MISSING,) * len(missing)
    assert items[len(missing) :] == items_of(things)


def test_pandas_has_two_more_words_for_missing():
    pandas = pytest.importorskip("pandas")
    assert items_of(["a", pandas.NA, pandas.NaT, None]) == ("a", MISSING, MISSING, MISSING)


@pytest.mark.parametrize(
    ("things", "wanted"),
    [
        ([1, 2.0, np.int8(3), np.float32(4), -0.0], ("1", "2", "3", "4", "0")),
        ([0.5, np.float64(1e300)], ("0.5", "1e+300")),
        ([True, np.bool_(False)], ("True", "False")),
        ([np.str_("a"), "a"], ("a", "a")),
        ([], ()),
    ],
)
def test_the_text_of_a_label_does_not_depend_on_its_type(things, wanted):
    assert items_of(things) == wanted
    assert all(type(item) is str for item in items_of(things))


@pytest.mark.parametrize("thing", [b"a", ("a",), datetime.date(2020, 1, 1), 1j, np.datetime64("2020-01-01")])
def test_what_is_no_label_is_refused_by_its_row(thing):
    with pytest.raises(InputError, match=r"^Mercer needs labels; row 2 holds .* of type \w+\. Give texts"):
        items_of(["a", None, thing])


@pytest.mark.parametrize(
    ("things", "words"),
    [
        (["a", None, 7], "there are texts and numbers: row 0 holds 'a', and row 2 holds 7"),
        ([math.nan, 1, True], "there are numbers and booleans: row 1 holds 1, and row 2 holds True"),
        ([False, "no"], "there are booleans and texts: row 0 holds False, and row 1 holds 'no'"),
    ],
)
def test_mixed_columns_are_refused(things, words):
    with pytest.raises(InputError, match=words):
        items_of(things)
