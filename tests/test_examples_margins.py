"""What the example about margins concludes, and that it can be drawn."""

import runpy
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow

BOUNDARIES = runpy.run_path(str(Path(__file__).parent.parent / "examples" / "boundaries.py"))
MODELS = BOUNDARIES["models"]()


@pytest.mark.parametrize("name", MODELS)
def test_each_row_is_on_its_side_and_free_support_is_on_the_margin(name):
    X, y, model = MODELS[name]
    assert (model.predict(X) == y).all()
    signs = np.where(y == model.classes_[1], 1, -1)
    margins = signs * model.decision_function(X)
    assert margins.min() > 1 - 1e-6
    np.testing.assert_allclose(margins[model.support_], 1, rtol=1e-6)


def test_few_rows_decide_where_the_boundary_is_simple():
    X, _, model = MODELS["an ellipse: polynomial(degree=2)"]
    assert len(model.support_) <= 6 < len(X)  # a conic has five degrees of freedom, its lift six with the constant


def test_both_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "boundaries.png"
    BOUNDARIES["draw"](path)
    assert path.read_bytes().startswith(b"\x89PNG")
