"""The perceptron on features: loops and NumPy make the same mistakes, to the last bit of theta."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.solvers.perceptron import primal
from mercer.solvers.perceptron.perceptron import MistakeLog, one_pass
from mercer.solvers.perceptron.primal import Primal


def followed(features, classes, outputs, way, monkeypatch, passes=3):
    monkeypatch.setattr(primal, "loops_pay", lambda: way == "loops")
    space, log = Primal(features, np.zeros((outputs, features.shape[1]))), MistakeLog()
    for _ in range(passes):
        one_pass(space, np.arange(len(features)), classes, log)
    return space.theta, log.mistakes


def sequential(features, classes, outputs, passes=3):
    """One row after the other, as it is written."""
    theta, rows, wrong = np.zeros((outputs, features.shape[1])), [], []
    for _ in range(passes):
        for i, x in enumerate(features):
            scores, right = np.cumsum(theta * x, axis=1)[:, -1], classes[i]
            if outputs == 1:
                sign, other = (1.0 if right == 1 else -1.0), 1 - right
                if not sign * scores[0] > 0:
                    theta[0] += sign * x
                    rows.append(i)
                    wrong.append(other)
                continue
            others = scores.copy()
            others[right] = -np.inf
            other = int(others.argmax())
            if not scores[right] - scores[other] > 0:
                theta[right] += x
                theta[other] -= x
                rows.append(i)
                wrong.append(other)
    return theta, np.array(rows), np.array(wrong)


@pytest.fixture
def patch():
    with pytest.MonkeyPatch.context() as context:
        yield context


def tables(seed, n, p, kind):
    """Rows of any numbers; of few integers, with many ties; and sums that cancel but for rounding."""
    random = np.random.default_rng(seed)
    if kind == "integers":
        return random.integers(-1, 2, size=(n, p)).astype(np.float64)
    X = random.normal(size=(n, p))
    if kind == "sums":
        a, b = random.normal(size=(2, p))
        X = np.array([a, b, -(a + b), a - b, b - a])[random.integers(0, 5, n)]
    return X


@pytest.mark.parametrize("way", ["loops", "NumPy"])
@given(st.integers(0, 10**6), st.integers(1, 300), st.integers(1, 20), st.sampled_from([2, 3, 6]),
       st.sampled_from(["numbers", "integers", "sums"]))  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_either_way_is_one_row_after_the_other_to_the_bit(way, seed, n, p, classes, kind):
    X = tables(seed, n, p, kind)
    y = np.random.default_rng(seed + 1).integers(0, classes, n)
    outputs = 1 if classes == 2 else classes
    with pytest.MonkeyPatch.context() as patch:
        theta, mistakes = followed(X, y, outputs, way, patch)
    wanted, rows, wrong = sequential(X, y, outputs)
    assert mistakes.rows.tolist() == rows.tolist()
    assert mistakes.wrong.tolist() == wrong.tolist()
    assert theta.tobytes() == wanted.tobytes()


def test_without_the_order_of_terms_the_ways_would_differ(patch):
    """Sums that cancel but for rounding are why scores near zero are computed anew."""
    patch.setattr(primal, "ROUNDINGS", 0.0)
    differ = 0
    for seed in range(40):
        X, y = tables(seed, 200, 7, "sums"), np.random.default_rng(seed).integers(0, 2, 200)
        theta, _ = followed(X, y, 1, "NumPy", patch)
        differ += theta.tobytes() != sequential(X, y, 1)[0].tobytes()
    assert differ


def test_loops_are_loaded_when_numpy_took_long(patch):
    patch.delitem(primal.sys.modules, "numba", raising=False)
    patch.setattr(primal._Spent, "seconds", 0.0)
    assert not primal.loops_pay()
    patch.setattr(primal._Spent, "seconds", 2 * primal.LOADING_SECONDS)
    patch.setattr(primal.jit_cache, "numba_works", lambda: True)
    assert primal.loops_pay()
    patch.setattr(primal.jit_cache, "numba_works", lambda: False)
    assert not primal.loops_pay()
