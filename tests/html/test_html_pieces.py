"""The pieces of which cards are made: escaped, counted where they are cut, and never in the way."""

import html

import numpy as np
import pytest
from html_reader import SCRIPTED, read, read_piece
from hypothesis import given
from hypothesis import strategies as st

from mercer.html import (
    LINES,
    WHOLE,
    Markup,
    Shown,
    badge,
    brief,
    card,
    code,
    details,
    element,
    escaped,
    items,
    pre,
    table,
    within,
)

anything = st.text(st.characters(codec=None), max_size=300)


@given(anything)
def test_text_comes_back_as_python_would_write_it(text):
    seen = "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)
    assert html.unescape(escaped(text, 10_000)) == seen
    assert read_piece(element("p", text)).text.replace("\r", "") == seen


@given(anything, st.integers(0, 400))
def test_text_is_cut_to_bytes_and_what_is_left_out_is_counted(text, most):
    cut = escaped(text, most)
    kept, told, rest = cut.rpartition(" ... (")
    whole = escaped(text, 10_000)
    if len(whole.encode()) <= most:
        assert cut == whole
        return
    assert told
    assert len(kept.encode()) <= most
    assert whole.startswith(kept)
    left = int(rest.removesuffix(" more characters)").replace(",", ""))
    assert escaped(text[: len(text) - left], 10_000) == kept


def test_markup_is_not_escaped_twice_and_text_always():
    inner = element("b", SCRIPTED)
    assert inner == "<b>&lt;script&gt;alert(1)&lt;/script&gt;</b>"
    assert element("p", inner, "&amp;") == f"<p>{inner}&amp;amp;</p>"
    assert isinstance(inner, Markup)
    assert 'class="a&quot;b"' in element("p", kind='a"b')
    assert element("p", Markup("<i></i>"), title='"') == '<p title="&quot;"><i></i></p>'
    assert table([["<td>", "<td>"]]).count("<td>") == 1
    assert element("br") == "<br>"


def test_what_a_report_shows_is_not_cut():
    long = "x" * 50_000
    assert long in pre(long)
    assert table([(1, 2)] * 500, most=WHOLE).count("<tr>") == items(["a"] * 500, most=WHOLE).count("<li>") == 500
    assert long in details("more", [pre(long)], most=WHOLE)
    assert code(long) == f"<code>{'x' * 77}...</code>"


@pytest.mark.parametrize("count", [0, 1, LINES, LINES + 1, 1234])
def test_tables_and_lists_end_and_count_the_rest(count):
    for made in (table([("a", "b")] * count), items(["a"] * count)):
        page = read_piece(made)
        assert page.tags.count("tr") + page.tags.count("li") == min(count, LINES) + (
            count > LINES and "tr" in page.tags
        )
        assert (f"... and {count - LINES:,} more" in page.text) is (count > LINES)


def test_parts_that_do_not_fit_are_counted():
    page = read_piece(within((element("p", "x" * 80) for _ in range(20)), 500))
    assert page.text.count("x") == 5 * 80  # and 7 bytes each for its tags
    assert "... and 15 more parts" in page.text
    assert read(card(element("p", "\U0001f600" * 500) for _ in range(500)))


def test_long_rows_are_cut_in_each_cell():
    page = read(card([table([("n" * 10_000, "v" * 10_000)] * 30, ("name", "value")), details("s" * 10_000, [])]))
    assert "more characters" in page.text


def test_what_cannot_be_shown_is_said_and_not_raised():
    class Angry(Shown):
        def _html_pieces(self):
            yield element("p", "before")
            raise ValueError(SCRIPTED)

    class FuriousError(ValueError):
        def __str__(self):
            raise TypeError

    def furious():
        raise FuriousError
        yield element("p", "never")

    assert read(Angry()._repr_html_()).text == f"beforethe rest cannot be shown: ValueError: {SCRIPTED}"
    assert read(card(furious())).text == "the rest cannot be shown: FuriousError"


def test_a_keyboard_interrupt_is_not_swallowed():
    def interrupted():
        raise KeyboardInterrupt
        yield element("p", "never")

    with pytest.raises(KeyboardInterrupt):
        card(interrupted())


def test_badges_have_colours_of_their_own_and_others_are_grey():
    assert badge("proven") == '<span class="badge proven">proven</span>'
    assert badge("<odd>") == '<span class="badge">&lt;odd&gt;</span>'


class _Silent:
    def __repr__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.zeros((3000, 2)), "ndarray of float64, 3,000 x 2"),
        (np.array(["a", "b"]), "['a', 'b']"),
        (np.float64(0.5), "0.5"),
        (list(range(10**6)), "[0, 1, 2, 3, 4, 5, ...]"),
        (10**10_000, "a int"),
        (None, "None"),
    ],
    ids=["table", "labels", "number", "list", "large", "none"],
)
def test_values_are_brief(value, text):
    assert brief(value) == text


def test_a_value_that_cannot_be_written_is_named():
    assert brief(_Silent()).startswith("<_Silent instance at")


@given(anything)
def test_long_values_stay_brief(text):
    assert len(brief(text * 50)) <= 130
