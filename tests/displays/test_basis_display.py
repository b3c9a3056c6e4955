"""Features times their weights, and their sum."""

import numpy as np
import pytest
from planes import offsets
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import KernelRidge
from mercer.displays import BasisDisplay
from mercer.errors import InputError
from mercer.lifts import Powers, RadialBasis, Trigonometric

pytest.importorskip("matplotlib")
RNG = np.random.default_rng(4)
X = RNG.uniform(0, 1, size=(60, 1))
Y = np.sin(2 * np.pi * X[:, 0]) + 0.1 * RNG.normal(size=60)
BUMPS = RadialBasis("random", 7, lengthscale=0.1, random_state=3)


def names(drawn):
    return [text.get_text() for text in drawn.legend_.get_texts()]


@pytest.mark.parametrize("intercept", [True, False])
def test_every_bump_times_its_weight_and_their_sum(intercept):
    model = KernelRidge(BUMPS, alpha=0.03, fit_intercept=intercept).fit(X, Y)
    drawn = BasisDisplay.from_estimator(model, X, Y, grid=50)
    t, weights = drawn.places, np.ravel(model.coef_)
    for line, center, weight in zip(drawn.terms_, model.lift_.centers_[:, 0], weights, strict=True):
        np.testing.assert_allclose(line.get_ydata(), weight * np.exp(-((t - center) ** 2) / 0.02), atol=1e-9)
        assert line.get_color() == ("tab:red" if weight > 0 else "tab:blue")
    np.testing.assert_allclose(drawn.sum_.get_ydata(), model.predict(t[:, None]), atol=1e-9)
    np.testing.assert_array_equal(offsets(drawn.points_), np.column_stack([X[:, 0], Y]))
    up, down = (weights > 0).sum(), (weights < 0).sum()
    assert up
    assert down
    assert {f"lift, w > 0 ({up})", f"push, w < 0 ({down})", "their sum", "rows"} <= set(names(drawn))
    assert drawn.ax_.get_title() == f"KernelRidge: {up} bumps lift, {down} push"
    assert (drawn.intercept_ is not None) == intercept
    if intercept:
        np.testing.assert_allclose(drawn.intercept_.get_ydata(), model.intercept_)


def test_other_bases_have_names():
    model = KernelRidge(Powers(3), alpha=0.01).fit(X, Y)
    drawn = BasisDisplay.from_estimator(model, X)
    weights = np.ravel(model.coef_)
    np.testing.assert_allclose(drawn.terms_[2].get_ydata(), weights[2] * drawn.places**3, rtol=1e-9)
    assert names(drawn)[:3] == [f"{weights[0]:.3g} x1", f"{weights[1]:.3g} x1^2", f"{weights[2]:.3g} x1^3"]
    assert drawn.points_ is None
    waves = BasisDisplay.from_estimator(KernelRidge(Trigonometric(8), alpha=0.1).fit(X, Y), X)
    assert len(waves.terms_) == 16
    assert names(waves) == [f"intercept {waves.intercept:.3g}", "their sum"]


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(BUMPS, Ridge(0.1)),
        make_pipeline(StandardScaler(), Powers(3), Ridge(0.1)),
        make_pipeline(StandardScaler(), KernelRidge(Trigonometric(2), alpha=0.1)),
        KernelRidge("polynomial(degree=3)", alpha=0.1),
    ],
    ids=["lift and Ridge", "scaled", "lift in the last step", "text with features"],
)
def test_the_sum_is_the_prediction(model):
    drawn = BasisDisplay.from_estimator(model.fit(X, Y), X, Y, grid=40)
    np.testing.assert_allclose(drawn.sum_.get_ydata(), model.predict(drawn.places[:, None]), atol=1e-9)


def test_frames():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"day": X[:, 0]})
    model = KernelRidge(BUMPS, alpha=0.1).fit(table, Y)
    drawn = BasisDisplay.from_estimator(model, table, pandas.Series(Y, name="price"))
    assert (drawn.ax_.get_xlabel(), drawn.ax_.get_ylabel()) == ("day", "price")


def test_what_has_no_features():
    with pytest.raises(
        InputError, match=r"BasisDisplay needs a model that is linear in features; KernelRidge has no f"
    ):
        BasisDisplay.from_estimator(KernelRidge("gaussian(1)", alpha=0.1).fit(X, Y), X)
    with pytest.raises(InputError, match=r"linear in features; got the columns themselves\. Fit KernelRidge\(Radial"):
        BasisDisplay.from_estimator(Ridge().fit(X, Y), X)
    both = KernelRidge(Powers(3), alpha=0.1).fit(X, np.column_stack([Y, Y]))
    with pytest.raises(InputError, match=r"one weight per feature, of one output; got 3 features and 6 weights"):
        BasisDisplay.from_estimator(both, X)
    with pytest.raises(InputError, match=r"a term per place and weight; got terms of shape \(3, 2\) for 3 places"):
        BasisDisplay([0, 1, 2], np.ones((3, 2)), [1.0]).plot()
    with pytest.raises(InputError, match=r"finite terms; got NaN or infinity"):
        BasisDisplay([0, 1, 2], np.full((3, 1), np.nan), [1.0]).plot()
    with pytest.raises(InputError, match=r"one name per feature; got 2 for 1"):
        BasisDisplay([0, 1, 2], np.ones((3, 1)), [1.0], names=["a", "b"]).plot()
