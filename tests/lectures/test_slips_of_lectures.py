"""That the slips are the table of the documentation, and that what can be computed shows them."""

import re
from pathlib import Path

import pytest

from mercer import lectures
from mercer.errors import InputError

PAGE = (Path(__file__).parents[2] / "docs" / "conventions.md").read_text(encoding="utf-8")
SLIPS = lectures.slips()
WORDS = {
    "D = C(d + p, d) = C(d + p, d)",
    "circles in (x1, y1)",
    'a kernel lives on a "compact, finite dimensional vector space"',
}
WORDS |= {"a stock price is a periodic signal; its symbol is APPL"}
"""Slips that no number shows."""


def test_they_are_the_table_of_the_page():
    lines = PAGE.split("## Where the lectures slip")[1].split("\n## ")[0].splitlines()
    rows = [re.split(r"(?<!\\)\|", line.strip("|")) for line in lines if line.startswith("|")][2:]
    table = [tuple(cell.strip().replace("\\|", "|") for cell in row) for row in rows]
    assert table == [(slip.lecture, slip.written, slip.instead, slip.why) for slip in SLIPS]


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: slip.written)
def test_what_is_written_fails_and_what_should_be_holds(slip):
    if slip.written in WORDS:
        assert slip.verdicts is None
        return
    written, instead = slip.verdicts
    assert (written.holds, instead.holds) == (False, True)
    assert str(written) in str(slip)
    assert "no</span>" in slip._repr_html_()


def test_of_one_lecture():
    assert {slip.lecture for slip in lectures.slips("Kernel methods")} == {"Kernel methods", "all"}
    assert len(lectures.slips("Nonlinear classifier")) == sum(
        "Nonlinear" in s.lecture or s.lecture == "all" for s in SLIPS
    )
    with pytest.raises(InputError, match="There are Liftings"):
        lectures.slips("liftings of weights")
