"""Columns as people write them: units, several forms of dates, codes, blanks and case, numbers that mean "missing"."""

import io
from datetime import datetime

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from mercer.errors import InputError
from mercer.tables.coerce import DAY_FIRST, Texts, read_text_column
from mercer.tables.labels import sentinel_of
from mercer.tables.read import TableOptions, read_table


def read(entries, **texts):
    return read_text_column("c", pyarrow.chunked_array([pyarrow.array(entries, pyarrow.string())]), Texts(**texts))


def csv(*lines, **options):
    return read_table("-", options=TableOptions(**options), stdin=io.BytesIO("\n".join(lines).encode()))


@pytest.mark.parametrize(
    ("entries", "decimal", "unit", "values"),
    [
        (["16.7 kg", "850 g", None, "2kg"], ".", "kg", [16.7, 0.85, None, 2.0]),
        (["1,455 km", "-2 km"], ".", "km", [1455.0, -2.0]),
        (["3,5 m", "80 cm", "1.000 m"], ",", "m", [3.5, 0.8, 1000.0]),
        (["4 stars", "5 stars"], ".", "stars", [4.0, 5.0]),
        (["90 min", "2 h", "30 min"], ".", "min", [90.0, 120.0, 30.0]),
        (["12 EUR", "?", "13.5 EUR"], ".", "EUR", [12.0, None, 13.5]),
    ],
)
def test_units(entries, decimal, unit, values):
    found = read(entries, decimal=decimal)
    assert found.unit == unit
    assert found.column.to_pylist() == pytest.approx(values)
    assert f"numbers in {unit!r}" in found.remark


@pytest.mark.parametrize(
    "entries",
    [
        ["12 EUR", "13 USD"],  # no rate is known
        ["3 kg", "3 m"],
        ["20 C", "70 F"],
        ["5 kg", "7"],  # 7 of what?
        ["kg", "3 kg"],
        ["red", "blue"],
        ["5E", "7B"],
    ],
)
def test_what_is_not_in_one_unit_stays_a_text(entries):
    found = read(entries, decimal=".")
    assert (found.column.to_pylist(), found.unit) == (entries, "")


def test_a_unit_of_a_fit_is_that_of_later_tables():
    found = read(["500 g", "2", "heavy", "1 kg"], decimal=".", units={"c": "kg"}, known=frozenset({"c"}))
    assert found.column.to_pylist() == [0.5, 2.0, None, 1.0]
    assert "1 entries that are no such numbers as missing" in found.remark


@pytest.mark.parametrize(
    ("entries", "values"),
    [
        (["20150426T000000", "20141013T120000"], [(2015, 4, 26), (2014, 10, 13, 12)]),
        (["2015-W01", "2015-W53"], [(2014, 12, 29), (2015, 12, 28)]),
        (["2016W07-3", "2020-W53-7"], [(2016, 2, 17), (2021, 1, 3)]),
        (["2015-Q1", "2015Q4"], [(2015, 1, 1), (2015, 10, 1)]),
        (["2020-05-03", "3 May 2020", "May 4, 2020"], [(2020, 5, 3), (2020, 5, 3), (2020, 5, 4)]),
        (["2020-05-03", "31/05/2020", "1/2/2020"], [(2020, 5, 3), (2020, 5, 31), (2020, 2, 1)]),
    ],
)
def test_dates_in_other_forms_and_in_several(entries, values):
    assert read(entries).column.to_pylist() == [datetime(*value) for value in values]


def test_weeks_are_those_of_python():
    days = [datetime(1999, 12, 1 + i) for i in range(30)] + [datetime(year, 1, 3) for year in range(1990, 2030)]
    texts = ["{}-W{:02}-{}".format(*day.isocalendar()) for day in days]
    assert read(texts).column.to_pylist() == days
    assert read(["2015-W54", "2015-W01"]).remark == ""
    assert read(["2014-W53"]).remark == ""


@pytest.mark.parametrize("entries", [["2020-05-03", "1/2/2020"], ["2020-05-03", "soon"], ["2020-05-03", "31/31/2020"]])
def test_dates_that_do_not_tell_stay_texts(entries):
    assert read(entries).column.to_pylist() == entries
    assert read(["2020-05-03", "1/2/2020"], order=DAY_FIRST).column.to_pylist()[1] == datetime(2020, 2, 1)


def test_whole_numbers_that_are_days_are_dates():
    sheet = csv("day,n", "20150426,20150426", "20141013,7", "20150228,8")
    assert sheet.column("day").to_pylist()[0] == datetime(2015, 4, 26)
    assert sheet.column("n").to_pylist() == [20150426, 7, 8]
    assert "'day': integers such as 20150426 read as dates" in sheet.remarks
    assert csv("day", "20150426", "20150231", "20150228").column("day").to_pylist()[0] == 20150426


def test_numbers_that_begin_with_zeros_are_labels():
    sheet = csv("zip,month,n", "00501,01,1", "10001,12,2", "90210,07,3")
    assert sheet.table.to_pydict() == {"zip": ["00501", "10001", "90210"], "month": [1, 12, 7], "n": [1, 2, 3]}
    assert "'zip': kept as labels, since some numbers begin with zeros" in sheet.remarks
    known = csv("zip", "00501", "10001", known=frozenset({"zip"}))
    assert known.column("zip").to_pylist() == [501, 10001]
    assert csv("zip;a", "00501;?", "?;1").column("zip").to_pylist() == ["00501", "?"]


def test_a_code_at_the_border_of_two_pieces_of_the_file_is_seen():
    lines = ["zip", *["12345"] * 200_000, "00501"]
    assert csv(*lines).column("zip")[-1].as_py() == "00501"


def test_blanks_around_labels_are_removed():
    sheet = csv("mode,y", " air,1", "air  ,2", "sea,3", "  ,4")
    assert sheet.column("mode").to_pylist() == ["air", "air", "sea", None]
    assert "'mode': blanks around 3 entries removed" in sheet.remarks


def test_labels_that_differ_by_case_alone_are_joined(tmp_path):
    cells = ["Café"] * 5 + ["CAFÉ"] * 3 + [" café "] + ["Bar"] * 4
    found = csv("place", *cells)
    assert found.column("place").to_pylist() == ["Café"] * 9 + ["Bar"] * 4
    assert "'place': 2 labels that differ from others by case alone are joined" in found.remarks
    path = tmp_path / "t.parquet"
    parquet.write_table(pyarrow.table({"place": pyarrow.array(cells).dictionary_encode()}), path)
    assert read_table(path).column("place").to_pylist() == found.column("place").to_pylist()
    later = csv("place", "CAFÉ", "BAR", "Kiosk", written=found.written)
    assert later.column("place").to_pylist() == ["Café", "Bar", "Kiosk"]
    raw = csv("place", *cells, as_is=frozenset({"place"})).column("place").to_pylist()
    assert raw == cells


@pytest.mark.parametrize("cells", [["AA", "Aa", "aa"] * 5, ["yes", "YES"] * 5, ["a text of its own", "A text"]])
def test_case_that_may_mean_something_is_kept(cells):
    """Short labels, a column that would become constant, labels that do not repeat."""
    assert csv("c", *cells).column("c").to_pylist() == cells


def test_a_number_far_from_all_others_is_missing():
    sheet = csv("built,y", *(f"{1950 + i},{i}" for i in range(20)), "-999,3", "-999,4")
    assert sheet.column("built").null_count == 2
    assert "'built': 2 entries of -999, far from all others, as missing" in sheet.remarks
    later = csv("built", "-999", "1960", written=sheet.written)
    assert later.column("built").to_pylist() == [None, 1960]
    assert sheet.with_numbers_as_given("built").column("built").null_count == 0


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([*range(100), 9999, 9999], (9999.0, True)),
        ([*range(0, 9000, 10), 99999, 99999], (99999.0, True)),
        ([*range(0, 41310, 10), 99999, 99999], (99999.0, False)),  # perhaps the largest that could be written
        ([*range(100), 9999], None),  # one row may be just that
        ([*range(9000, 9999), 9999, 9999], None),
        ([0, 1, 0, 1, 0, 1, -999, -999], None),  # labels
        ([*range(5), *[-999] * 20], None),  # most rows
    ],
)
def test_numbers_that_stand_for_none(values, found):
    assert sentinel_of(np.array(values, dtype=float)) == found


def test_a_doubtful_number_is_told_and_stays():
    sheet = csv("gain", *map(str, range(0, 41310, 10)), "99999", "99999")
    assert sheet.column("gain").null_count == 0
    assert any("2 entries are 99999, far from the others" in doubt for doubt in sheet.doubts)


def test_names_with_blanks_are_their_own_and_real_copies_are_refused():
    assert csv("a, a ,b ", "1,2,3").names == ("a", " a ", "b")
    with pytest.raises(InputError, match="several are called 'a'"):
        csv("a,b,a", "1,2,3")
