"""Texts that are numbers or dates: against Python's own reading of what was written, and what must stay a text."""

import io
from datetime import datetime

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.cli.fit import FitOptions
from mercer.cli.output import Voice
from mercer.cli.pipeline import fitted
from mercer.errors import InputError
from mercer.tables.coerce import DAY_FIRST, MONTH_FIRST, Texts, read_text_column
from mercer.tables.delimited import TextOptions
from mercer.tables.read import TableOptions, read_table


def read(entries, **texts):
    return read_text_column("c", pyarrow.chunked_array([pyarrow.array(entries, pyarrow.string())]), Texts(**texts))


def csv(given_text, **options):
    return read_table("-", options=TableOptions(**options), stdin=io.BytesIO(given_text.encode()))


@pytest.mark.parametrize(
    ("entries", "decimal", "values"),
    [
        (["$1,234.50", "-$3", " 4 %", None], ".", [1234.5, -3.0, 4.0, None]),
        (["€ 1,000,000", "12"], ".", [1e6, 12.0]),
        (["1.234,50", "3,5", "-1 000,2", "12 €"], ",", [1234.5, 3.5, -1000.2, 12.0]),
        (["1e5", "+2", ".5", "5."], ".", [1e5, 2.0, 0.5, 5.0]),
        (["1", "?", "-", "n.a."], ".", [1.0, None, None, None]),
    ],
)
def test_numbers(entries, decimal, values):
    assert read(entries, decimal=decimal).column.to_pylist() == values


@pytest.mark.parametrize(
    "entries",
    [
        ["+", "-"],  # classes of promoters
        ["-", "?"],
        ["1,2,3", "4"],
        ["3,5", "4,5"],  # a comma before decimals, where a point is expected
        ["1", "+"],
        ["12", "1 2"],
        ["red", "?", "12"],
        ["", " "],
        ["1.2.3", "10.0.0.1"],
        ["2020-13", "2020-01"],
        ["2020-02-30", "2020-02-28"],
        ["2019-02-29"],
        ["1/2/20", "3/4/20"],
        ["24:00", "2020-01-01 24:00"],
        ["3 May 2020", "3 Mai 2020"],
        ["3 May 2020", "4/5/2020"],  # the second does not tell its day
        ["31 Jun 2020"],
        ["Golf 2020", "Polo 2019"],
        ["May", "June"],
        ["5-Jan-20"],
    ],
)
def test_what_stays_a_text(entries):
    found = read(entries, decimal=".")
    assert (found.column.to_pylist(), found.remark) == (entries, "")


def test_strings_of_digits_in_a_typed_format_are_meant():
    assert read(["007", "12"]).column.to_pylist() == ["007", "12"]


@given(st.lists(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)), min_size=1), st.data())
def test_property_dates_are_those_of_python(days, data):
    days = [day.replace(fold=0) for day in days]
    assert read([day.isoformat(" ") for day in days]).column.to_pylist() == days
    order = data.draw(st.sampled_from([DAY_FIRST, MONTH_FIRST]))
    midnights = [day.replace(hour=0, minute=0, second=0, microsecond=0) for day in days]
    texts = [_padded(day, order) for day in midnights]
    assert read(texts, order=order).column.to_pylist() == midnights
    found = read(texts)
    if any(day.day > 12 for day in midnights):
        assert (found.order, found.column.to_pylist()) == (order, midnights)
    else:
        assert found.column.to_pylist() == texts
        assert "whether the day or the month" in found.remark


def _padded(day, order):
    """As strftime writes it, but with four digits of the year on every platform."""
    first, second = (day.day, day.month) if order == DAY_FIRST else (day.month, day.day)
    return f"{first:02}/{second:02}/{day.year:04}"


def test_points_mean_that_the_day_comes_first():
    assert read(["1.2.2020"]).column.to_pylist() == [datetime(2020, 2, 1)]


def test_months_and_missing_dates():
    found = read(["1949-01", None, "?"])
    assert found.column.to_pylist() == [datetime(1949, 1, 1), None, None]
    assert found.remark == "'c': texts read as dates, 1 entries such as '?' as missing"


@given(st.lists(st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 31)), min_size=1, max_size=20), st.data())
def test_property_dates_with_names_of_months_are_those_of_python(days, data):
    form = data.draw(
        st.sampled_from(
            ["%d %b %Y", "%d-%B-%Y", "%B %d, %Y", "%b. %d %Y", "%a, %d %b %Y %H:%M:%S", "%b %Y", "%A %B %dth, %Y"]
        )
    )
    case = data.draw(st.sampled_from([str, str.upper, str.lower]))
    texts = [case(day.strftime(form).replace("?", "")) for day in days]
    wanted = [datetime.strptime(day.strftime(form), form) for day in days]
    found = read(texts)
    assert found.column.to_pylist() == wanted
    assert (found.remark, found.order) == ("'c': texts read as dates", "")


def test_names_of_months_may_be_short_and_days_may_be_ordinals():
    found = read(["1st Sept. 2020", "2nd May 2020", None, "?"])
    assert found.column.to_pylist() == [datetime(2020, 9, 1), datetime(2020, 5, 2), None, None]


def test_commas_before_decimals_are_found_by_columns_that_show_them():
    sheet = csv("a;b;c;d\n1,5;1.234;0.75;x\n-2,25;2.000;0.5;y\n")
    assert sheet.table.to_pydict() == {"a": [1.5, -2.25], "b": [1234.0, 2000.0], "c": [0.75, 0.5], "d": ["x", "y"]}
    assert csv("a;b\n1.5;x\n2.25;y\n").table.to_pydict() == {"a": [1.5, 2.25], "b": ["x", "y"]}
    assert csv('a,b\n"3,5",1\n', text=TextOptions(decimal=",")).table.to_pydict() == {"a": [3.5], "b": [1]}


def test_encodings():
    data = "größe,b\n1,ä\n".encode("cp1252")
    with pytest.raises(InputError, match="--encoding cp1252"):
        read_table("-", stdin=io.BytesIO(data))
    options = TableOptions(text=TextOptions(encoding="cp1252"))
    assert read_table("-", options=options, stdin=io.BytesIO(data)).table.to_pydict() == {"größe": [1], "b": ["ä"]}
    with pytest.raises(InputError, match="no encoding"):
        read_table("-", options=TableOptions(text=TextOptions(encoding="runes")), stdin=io.BytesIO(data))


def test_a_model_knows_how_its_dates_were_written(tmp_path):
    """The new table has no day above the 12th: alone, it would not tell."""
    dates = [f"{1 + i % 12}/{1 + i % 28}/{2000 + i % 7}" for i in range(60)]
    path = tmp_path / "days.csv"
    path.write_text("\n".join(["day,y", *(f"{day},{i * i % 17 + 0.5}" for i, day in enumerate(dates))]))
    model = fitted(FitOptions(table=str(path), target="y", quiet=True), Voice("fit", quiet=True)).model
    assert model.kinds == (MONTH_FIRST,)
    new = csv("day\n2/3/2001\n", orders=model.options().orders)
    same = csv("day\n2001-02-03\n")
    assert model.predict(new) == model.predict(same)
    other = csv("day\n2001-03-02\n")
    assert model.predict(other) != model.predict(same)


def test_thousands_are_no_decimals_where_another_column_has_a_point():
    sheet = csv("city\tpeople\tarea\nA\t950\t10.5\nB\t1,234\t11.5\n")
    assert sheet.table.to_pydict() == {"city": ["A", "B"], "people": [950.0, 1234.0], "area": [10.5, 11.5]}
    assert csv("a;b\n1,234;x\n2,5;y\n").table.to_pydict() == {"a": [1.234, 2.5], "b": ["x", "y"]}


def test_points_of_seconds_do_not_tell_the_day_from_the_month():
    found = read(["1/2/2020 10:00:00.000", "3/4/2020 11:00:00.000"])
    assert found.doubt
    assert "--dates" in found.remark
    assert read(["1.2.2020 10:00:00.000"]).column.to_pylist() == [datetime(2020, 2, 1, 10)]


def test_a_name_that_stands_twice_is_told_whatever_the_columns_hold():
    for text in ("a;a\nx;y\n", "a,a\nx,y\n"):
        with pytest.raises(InputError, match="several are called 'a'"):
            csv(text)


def test_a_model_knows_what_stood_before_its_decimals(tmp_path):
    """The new table has no column that shows it: alone, 1.234 would be little more than one."""
    path = tmp_path / "towns.csv"
    rows = [f"{1 + i % 9}.{100 + i};{i * i % 17},5" for i in range(60)]
    path.write_text("\n".join(["people;price", *rows]))
    model = fitted(FitOptions(table=str(path), target="price", quiet=True), Voice("fit", quiet=True)).model
    assert model.decimal == ","
    new = read_table("-", options=model.options(), stdin=io.BytesIO(b"people\n1.234\n"))
    assert new.table.to_pydict() == {"people": [1234.0]}
    told = model.options(text=TextOptions(decimal="."))
    assert read_table("-", options=told, stdin=io.BytesIO(b"people\n1.234\n")).table.to_pydict() == {"people": [1.234]}


def test_a_model_knows_that_a_column_of_question_marks_has_no_numbers(tmp_path):
    path = tmp_path / "people.csv"
    rows = [f"{'?' if i % 7 == 3 else i},{'north' if i % 3 else 'south'},{i}.5" for i in range(60)]
    path.write_text("\n".join(["age,town,y", *rows]))
    model = fitted(FitOptions(table=str(path), target="y", quiet=True), Voice("fit", quiet=True)).model
    new = read_table("-", options=model.options(), stdin=io.BytesIO(b"age,town\n?,north\n"))
    assert any("missing" in remark for remark in new.remarks)
    some = read_table("-", options=model.options(), stdin=io.BytesIO(b"age,town\n?,north\n5,north\n"))
    assert model.predict(new)[0] == pytest.approx(model.predict(some)[0], rel=1e-12)
