"""That old words are noticed where they are prose, and that none is left."""

import pytest
from words import complaints, main, pages


def test_none_is_left(capsys):
    assert main(pages()) == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.md", "The exact way is chosen.", ["'exact way'"]),
        ("a.md", "Prices came.\n\nThings are sought.", ["'came'", "'Things'", "'sought'"]),
        ("a.py", '"""One weight a row."""\nthings = 1  # a whole number\n', ["'weight a row'", "'whole number'"]),
        ("a.py", 'print(f"{things} are integers")\n', []),
        ("a.md", "One value per row; the model is an SVM.", []),
    ],
)
def test_old_words_are_found_in_prose_alone(tmp_path, name, text, found):
    path = tmp_path / name
    path.write_text(text)
    told = list(complaints(path))
    assert [line.split(": ")[1] for line in told] == found
    assert all(line.startswith(f"{path}:") for line in told)
    assert main([path]) == min(len(found), 1)
