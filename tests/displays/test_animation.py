"""Steps one after another, in a GIF or on a page of its own."""

import base64
import itertools
import re
from io import BytesIO

import numpy as np
import pytest
from planes import blobs

from mercer import KernelRidge, Perceptron
from mercer.displays import DescentDisplay, StepsDisplay
from mercer.displays.animation import chosen_steps
from mercer.errors import InputError
from mercer.solvers import GradientDescent

pytest.importorskip("matplotlib")
Image = pytest.importorskip("PIL.Image")
X, Y = blobs(count=40)
ROUGH = np.random.default_rng(0).permutation(Y)


def steps(**settings):
    """Labels that no line separates, so that there are many mistakes."""
    return StepsDisplay.from_estimator(Perceptron(max_iter=2).fit(X, ROUGH), X, ROUGH, grid=15, **settings)


def descent(pair=None):
    t = np.linspace(0, 5, 12)[:, None]
    model = KernelRidge("gaussian(1)", alpha=0.1, solver=GradientDescent(max_iter=2000)).fit(t, np.sin(t[:, 0]))
    return DescentDisplay.from_estimator(model, pair=pair)


def pictures(file):
    with Image.open(file) as opened:
        found = []
        for place in range(opened.n_frames):
            opened.seek(place)
            found.append(np.asarray(opened.convert("RGB"), dtype=int))
    return found


def test_a_picture_before_the_first_mistake_and_after_each(tmp_path):
    drawn = steps(boundaries=5)
    file = drawn.animate(tmp_path / "steps.gif", frames=10)
    found = pictures(file)
    assert file == tmp_path / "steps.gif"
    assert len(found) == len(drawn.mistakes) + 1 == 6
    assert file.stat().st_size < 3e6
    assert found[0].shape == (540, 960, 3)
    black = [(picture.max(axis=2) < 40).mean() for picture in found]
    assert min(black[1:]) > black[0]  # the boundary
    assert all((one != other).any() for one, other in itertools.pairwise(found))


def test_frames_are_bounded(tmp_path):
    assert len(pictures(steps(boundaries=30).animate(tmp_path / "steps.gif", frames=4))) == 4
    found = pictures(descent().animate(tmp_path / "descent.gif", frames=6))
    assert len(found) == 6


@pytest.mark.parametrize(("count", "most"), [(0, 3), (3, 4), (3, 1), (100, 2), (100, 3), (1000, 40), (41, 40)])
def test_the_steps_that_are_shown(count, most):
    steps = chosen_steps(count, most)
    assert len(steps) <= most
    assert steps[-1] == count
    assert most == 1 or steps[0] == 0
    assert (np.diff(steps) > 0).all()


@pytest.mark.parametrize("pair", [None, (0, 5)])
def test_the_path_grows(pair, tmp_path):
    drawn = descent(pair)
    before = [line.get_xdata().tolist() for line in drawn.path_]
    found = pictures(drawn.animate(tmp_path / "descent.gif", frames=5, style="page"))
    blue = [((picture[..., 2] - picture[..., 0]) > 60).sum() for picture in found]
    assert blue == sorted(blue) or pair is None
    assert (found[0] != found[-1]).any()
    assert [line.get_xdata().tolist() for line in drawn.path_] == before


def test_a_page_needs_no_other_file(tmp_path):
    drawn = steps(boundaries=3)
    file = drawn.animate(tmp_path / "steps.html", seconds=1.5)
    page = file.read_text(encoding="utf-8")
    assert not re.search(r"https?:|src=\"|<link|import", page)
    listed = re.search(r"const pictures = \[(.*?)\];", page)[1]
    found = [base64.b64decode(text.strip('"')) for text in listed.split(",")]
    assert len(found) == 4
    for picture in found:
        with Image.open(BytesIO(picture)) as opened:
            assert (opened.format, opened.size) == ("PNG", (960, 540))
    assert 'max="3"' in page
    assert "setInterval(next, 1500)" in page
    assert sorted(each.name for each in tmp_path.iterdir()) == ["steps.html"]


def test_how_many_boundaries():
    assert len(steps().mistakes) == 12
    few = steps(boundaries=1)
    assert len(few.mistakes) == 1
    assert few.mistakes[-1] == steps().mistakes[-1]
    for wrong in (0, 2.5, True):
        with pytest.raises(InputError, match=r"StepsDisplay needs a positive number of boundaries; got"):
            steps(boundaries=wrong)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("steps.mp4", {}, r"DescentDisplay needs a file that ends with \.gif or \.html; got 'steps\.mp4'"),
        ("a.gif", {"frames": 1}, r"from 2 to 200 frames; got 1\. Use frames=40"),
        ("a.gif", {"frames": 1000}, r"from 2 to 200 frames; got 1000"),
        ("a.gif", {"frames": 3.0}, r"from 2 to 200 frames; got 3\.0"),
        ("a.gif", {"seconds": 0}, r"from 0\.02 to 60 seconds for a frame; got 0"),
        ("a.gif", {"style": "poster"}, r'style "page" or "slide"; got \'poster\''),
    ],
)
def test_what_cannot_be_written(name, settings, message, tmp_path):
    with pytest.raises(InputError, match=message):
        descent().animate(tmp_path / name, **settings)
    assert not list(tmp_path.iterdir())
