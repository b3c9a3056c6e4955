"""Files that people take for tables, and tables with something before, behind or between."""

import zipfile

import pytest

from mercer.errors import InputError
from mercer.tables.read import read_table

ROWS = "a,price\n" + "".join(f"{i},{i / 2}\n" for i in range(60))


def written(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("old.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512), "an old Excel workbook"),
        ("page.csv", "<!DOCTYPE html>\n<html></html>", "a web page"),
        ("rows.json", '[{"a": 1}]', "JSON"),
        ("report.pdf", b"%PDF-1.7\n", "a PDF"),
    ],
)
def test_other_files_are_called_by_their_names(tmp_path, name, text, kind):
    with pytest.raises(InputError, match=f"it is {kind}"):
        read_table(written(tmp_path / name, text))


def test_a_workbook_is_no_archive_of_arrays(tmp_path):
    with zipfile.ZipFile(tmp_path / "book.xlsx", "w") as book:
        book.writestr("[Content_Types].xml", "<Types/>")
    with pytest.raises(InputError, match="an Excel workbook"):
        read_table(tmp_path / "book.xlsx")


def test_a_line_that_names_the_separator_is_followed(tmp_path):
    sheet = read_table(written(tmp_path / "t.csv", "sep=;\n" + ROWS.replace(",", ";")))
    assert (sheet.names, sheet.rows) == (("a", "price"), 60)


@pytest.mark.parametrize("before", ["My export\n", "# made today\n# by hand\n"])
def test_lines_before_the_names_are_named(tmp_path, before):
    with pytest.raises(InputError, match="remove what stands before the names"):
        read_table(written(tmp_path / "t.csv", before + ROWS))


def test_one_odd_cell_among_numbers_is_told(tmp_path):
    sheet = read_table(written(tmp_path / "t.csv", ROWS + "Total,900\n"))
    assert len(sheet.doubts) == 1
    assert "'a': read as texts, though 60 of 61 entries are numbers, but 'Total' in row 61 is not" in sheet.doubts[0]
    assert not read_table(written(tmp_path / "t.csv", ROWS.replace("a,", "n,"))).doubts
    labels = "a,b\n" + "".join(f"{'x' if i % 2 else i},1\n" for i in range(40))
    assert not read_table(written(tmp_path / "t.csv", labels)).doubts


def test_a_target_with_a_space_behind_it_is_found(tmp_path):
    sheet = read_table(written(tmp_path / "t.csv", ROWS.replace("price", "price ")))
    assert sheet.column("price ").type == sheet.column("price").type
