"""What the example about tables concludes, with made orders and with the real loans."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
TABLE = runpy.run_path(str(ROOT / "examples" / "table.py"))
DATA = ROOT / ".." / "shared" / "data"


@pytest.fixture(scope="module")
def orders():
    pytest.importorskip("pandas")
    return TABLE["table"]()


def test_the_kernel_of_the_orders_looks_at_what_matters(orders):
    model = TABLE["fitted"](orders[:300])
    text = str(model.kernel_)
    assert "order_id" not in text
    assert "target" not in text
    assert all(f"'{name}'" in text for name in ("day", "carrier", "distance", "gift"))
    assert "periodic(period=7.0" in text  # the weekends
    assert TABLE["accuracy"](model, orders[300:]) > (orders["target"][300:] == "in time").mean() + 0.05


def test_the_target_is_not_looked_at(orders):
    model = TABLE["fitted"](orders[:300])
    blind = orders[300:].assign(target="unknown")
    np.testing.assert_array_equal(model.predict(blind), model.predict(orders[300:]))


def test_by_hand_is_what_scikit_learn_prepares(orders):
    whole = orders.dropna().drop(columns=["order_id", "day"])
    model = TABLE["by_hand"](whole)
    X = model[0].transform(whole.drop(columns="target"))
    assert X.shape[1] == 1 + 3 + 2  # the distance, carriers, and whether it is a gift
    np.testing.assert_allclose(X[:, 0], (whole["distance"] - whole["distance"].mean()) / whole["distance"].std(ddof=0))
    assert set(np.unique(X[:, 1:])) == {0.0, 1.0}


def test_the_report(capsys, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.setitem(TABLE["main"].__globals__, "folds", lambda rows: (0.5, 0.25, 0.125))
    TABLE["main"](["--folds"])
    shown = capsys.readouterr().out
    assert shown.startswith("a kernel for 300 rows x 6 columns\n  column    taken for")
    assert "accuracy on 100 rows that it did not see: 0." in shown
    assert shown.endswith("10 folds, 5 times: 0.500 with kernel_for, 0.250 by hand (difference +- 0.125)\n")


def test_the_loans_need_no_preparation():
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    if not (DATA / "german_credit.parquet").exists():
        pytest.skip("the folder of real data is not here")
    loans = TABLE["table"](DATA)
    assert loans.shape == (1000, 21)
    train, test = loans[:500], loans[500:]
    ours, theirs = (TABLE["right"](TABLE[name](train), test).astype(float) for name in ("fitted", "by_hand"))
    assert ours.mean() > test["target"].value_counts(normalize=True).max()
    error = (ours - theirs).std() / len(test) ** 0.5
    assert (ours - theirs).mean() > -2 * error


def test_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(SystemExit, match=r"The example needs pandas; it is not installed\. Run: pip install"):
        TABLE["table"]()
