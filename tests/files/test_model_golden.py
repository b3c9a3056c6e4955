"""Files of every version that ever was, which are loaded for ever.

`expected.json` holds what the models said when they were saved; another machine may round otherwise.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from mercer.files import inspect, load

GOLDEN = Path(__file__).parent / "golden"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text())


def test_none_is_forgotten():
    assert sorted(EXPECTED) == sorted(path.stem for path in GOLDEN.glob("*.mercer"))


@pytest.mark.parametrize("name", EXPECTED)
def test_golden_files(name):
    path, about = GOLDEN / f"{name}.mercer", EXPECTED[name]
    model = load(path)
    assert inspect(path).model == type(model).__name__
    if "attribute" in about:
        assert getattr(model, about["attribute"]).tolist() == about["values"]
        return
    rows = np.array(about["rows"], dtype=object) if "objects" in about else about["rows"]
    found = getattr(model, about["method"])(rows)
    if found.dtype.kind in "fc":
        np.testing.assert_allclose(found, about["values"], rtol=1e-7, atol=1e-9)
    else:
        assert found.tolist() == about["values"]
