"""That every exercise and example is drawn, for a page and for a slide, and that files are of their format."""

import warnings

import numpy as np
import pytest

from mercer import lectures
from mercer.errors import InputError

pytest.importorskip("matplotlib")

SHOWN = {f"ex{number}": lectures.exercise(number) for number in lectures.exercises()}
SHOWN |= {name: lectures.example(name) for name in lectures.examples()}


@pytest.mark.slow
@pytest.mark.parametrize("style", ["page", "slide"])
@pytest.mark.parametrize("name", SHOWN)
def test_every_picture_is_drawn(name, style):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        picture = SHOWN[name].plot(style=style)
        drawn = picture.written("png")
    assert drawn.startswith(b"\x89PNG")
    figure = picture.figure_
    panels = [axes for axes in figure.axes if axes.get_title()]
    assert panels
    assert all(axes.lines or axes.collections or axes.images or axes.patches for axes in panels)
    if style == "slide":
        assert np.allclose(figure.get_size_inches(), [13.333, 7.5])
        assert min(axes.title.get_fontsize() for axes in panels) >= 24
        for axes in panels:
            box, title = axes.get_window_extent(), axes.title.get_window_extent()
            assert box.width > 100
            assert box.height > 100
            assert title.y1 <= figure.bbox.height + 1
    letters = [box for axes in figure.axes if not hasattr(axes, "zaxis") for box in boxes_of(axes)]
    assert all(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 for box in letters)
    assert all(figure.bbox.y0 - 1 <= box.y0 and box.y1 <= figure.bbox.y1 + 1 for box in letters)
    assert not [(one, two) for place, one in enumerate(letters) for two in letters[:place] if one.overlaps(two)]


def boxes_of(axes):
    """Where the title and the names of axes are, and texts inside."""
    texts = [axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts]
    return [text.get_window_extent() for text in texts if text.get_visible() and text.get_text()]


def test_a_picture_is_saved_by_its_ending(tmp_path):
    picture = lectures.exercise(19).plot()
    for ending, start in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        picture.save(tmp_path / f"ex.{ending}")
        assert (tmp_path / f"ex.{ending}").read_bytes().startswith(start)
    assert picture._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(InputError, match=r"ends with \.png, \.svg, \.pdf; got \.xlsx"):
        picture.save(tmp_path / "ex.xlsx")


def test_the_same_picture_is_the_same_file():
    assert lectures.exercise(18).plot().written("svg") != b""
    assert lectures.exercise(18).plot().written("pdf") == lectures.exercise(18).plot().written("pdf")


def test_a_style_that_is_none():
    with pytest.raises(InputError, match='style "page" or "slide"'):
        lectures.exercise(19).plot(style="poster")


def test_17_rings_the_rows_of_a_point_of_both_hulls():
    exercise = lectures.exercise(17)
    *panels, free = exercise.plot().figure_.axes
    assert [text.get_text() for text in free.get_legend().get_texts()] == ["y = 1", "y = -1", "rows whose hulls meet"]
    assert panels[2].get_xlabel() == "[x1, x2, x1^2 + x2^2]"
    assert [axes.get_title()[-3:].strip(": ") for axes in panels] == ["no", "no", "no", "no", "yes"]
    for letter, axes in zip("ABCD", panels, strict=False):
        rows = {row for weights in exercise.verdicts[letter].evidence.weights.values() for row in weights}
        ringed = axes.lines[2].get_xydata()
        assert {tuple(point) for point in ringed.tolist()} == {tuple(exercise.X[row].tolist()) for row in rows}
