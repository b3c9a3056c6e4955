"""The lift from formulas: what it computes, how it names, and that it works wherever lifts do."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

import mercer
from mercer.errors import DomainError, InputError, KernelError, ParseError
from mercer.geometry import Ball
from mercer.lifts import Formulas, Parabolic
from mercer.models import load, save

ELLIPSE = ["x1", "x2", "x1^2 + 2*x2^2"]
RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, size=(60, 2))


def test_a_lift_from_a_list():
    phi = mercer.lift(ELLIPSE, d=2)
    assert isinstance(phi, Formulas)
    assert phi.n_features_out_ == 3
    assert phi.get_feature_names_out().tolist() == ["x1", "x2", "x1^2 + 2 x2^2"]
    assert phi.get_feature_names_out(["a", "b"]).tolist() == ["a", "b", "a^2 + 2 b^2"]
    np.testing.assert_array_equal(phi.transform(X), np.column_stack([X, X[:, 0] ** 2 + 2 * X[:, 1] ** 2]))
    np.testing.assert_array_equal(phi.expansion_.coefficients.toarray(), [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 2]])
    for other in (mercer.lift(tuple(ELLIPSE), 2), mercer.lift("[x1, x2, x1^2 + 2 x2^2]", 2), clone(phi).fit(X)):
        np.testing.assert_array_equal(other.transform(X), phi.transform(X))


def test_columns_go_by_their_names():
    frame = pd.DataFrame({"income": [1.0, 3.0], "age": [4.0, 5.0], "net worth": [7.0, 8.0], "x1": [0.0, 2.0]})
    phi = mercer.lift(["age^2", "log1p(income)", '"net worth"/2', "x1", "x2"], frame)
    wanted = np.column_stack([frame.age**2, np.log1p(frame.income), frame["net worth"] / 2, frame.x1, frame.age])
    np.testing.assert_allclose(phi.transform(frame), wanted, rtol=1e-15)
    assert phi.get_feature_names_out().tolist() == ["age^2", "log1p(income)", '0.5 "net worth"', "x1", "age"]
    np.testing.assert_allclose(phi.kernel(frame.to_numpy()), wanted @ wanted.T, rtol=1e-14)  # x1 is the fourth column
    assert mercer.parse(str(phi.kernel)) == phi.kernel


@pytest.mark.parametrize(
    ("formulas", "error", "words"),
    [
        (["age^2"], ParseError, "There is no 'age'.*Columns go by names where a table has some"),
        (["x3"], InputError, "at least 3 columns for x3; the data has 2"),
        (["exp(x)"], InputError, r"1 column for exp\(x\)"),
        ([], InputError, "Formulas needs a list of formulas"),
        ([1], InputError, "Formulas needs a list of formulas"),
        (["x1", "__import__('os')"], ParseError, "There is no"),
        (["x1"] * 40_000, KernelError, "letters"),
    ],
)
def test_what_cannot_be_a_lift_is_refused(formulas, error, words):
    with pytest.raises(error, match=words):
        mercer.lift(formulas, 2)


def test_rows_on_which_a_formula_is_not_defined():
    phi = mercer.lift(["log(x1)"], 1)
    with pytest.raises(DomainError, match=r"log\(x1\)"):
        phi.transform([[1.0], [0.0]])
    with pytest.raises(InputError, match="float64"):
        mercer.lift(["x1^20"], 1).transform(np.array([[1e3]], dtype=np.float32))
    with pytest.raises(InputError, match="finite"):
        mercer.lift(["10^150*10^160*x1"], 1).transform([[1.0]])


def test_parameters_that_change_do_not_change_what_was_fitted():
    phi = Formulas(["x1", "x2"]).fit(X)
    phi.set_params(formulas=["x1"])
    assert phi.n_features_out_ == 2
    assert phi.fit(X).n_features_out_ == 1
    assert not hasattr(Formulas(["x1"]), "n_features_out_")


@pytest.mark.parametrize(
    ("lift", "count"),
    [
        ("(1 + linear)**3", 286),
        (mercer.lifts.Polynomial(2), 66),
        (mercer.lifts.Trigonometric(3), 60),
        (mercer.lifts.Nystrom(n_components=5), 5),
        (Parabolic() + 2 * Parabolic(), 22),
    ],
    ids=str,
)
def test_lifts_say_how_many_features_they_give(lift, count):
    rows = np.random.default_rng(0).normal(size=(20, 10))
    phi = mercer.lift(lift, 10) if isinstance(lift, str) else lift.fit(rows)
    assert phi.n_features_out_ == count == phi.transform(rows).shape[1]


def test_learners_take_it():
    y = 1 + X[:, 0] - X[:, 1] ** 2
    formulas = Formulas(["x1", "x2", "x2^2"])
    model = mercer.KernelRidge(formulas, alpha=0.0).fit(X, y)
    wanted = LinearRegression().fit(np.column_stack([X, X[:, 1] ** 2]), y)
    np.testing.assert_allclose(model.predict(X), wanted.predict(np.column_stack([X, X[:, 1] ** 2])), atol=1e-10)
    inside = (X**2 @ [1, 2] < 1.5).astype(int)
    plane = mercer.Perceptron(Formulas(ELLIPSE), max_iter=500).fit(X, inside)
    assert plane.score(X, inside) == 1.0
    same = mercer.KernelSVC(Formulas(["x1", "x2", "|x|^2"]), C=10.0).fit(X, inside)
    np.testing.assert_allclose(
        same.decision_function(X), mercer.KernelSVC("parabolic", C=10.0).fit(X, inside).decision_function(X), atol=1e-2
    )


def test_regions_are_read_from_it():
    ball = Ball([0.5, -0.25], 1.0)
    circles = mercer.lift(["x1", "x2", "x1^2 + x2^2"], 2)
    weights, intercept = ball.halfspace(circles)
    np.testing.assert_allclose(weights, [1.0, -0.5, -1.0])
    assert intercept == pytest.approx(1 - 0.3125)
    steps = make_pipeline(Formulas(ELLIPSE), LinearRegression()).fit(X, 1 - X**2 @ [1, 2])
    found = mercer.region(steps)
    np.testing.assert_allclose(sorted(found.axes), [np.sqrt(0.5), 1.0], rtol=1e-9)


def test_learners_with_it_are_saved(tmp_path):
    y = (X**2 @ [1, 2] < 1.5).astype(int)
    for model in (mercer.KernelSVC(Formulas(ELLIPSE)), mercer.KernelRidge(Formulas(["log1p(|x|)", "sin(x1)"]))):
        save(model.fit(X, y), tmp_path / "model.mercer")
        np.testing.assert_array_equal(load(tmp_path / "model.mercer").predict(X), model.predict(X))


def test_the_kernel_is_proven():
    proof = mercer.prove(mercer.lift(ELLIPSE, 2).kernel, d=2)
    assert proof.status == "proven"
    assert "linear.after(['x1', 'x2', 'x1^2 + 2 x2^2'])" in str(proof)


def test_pictures_take_lists():
    pytest.importorskip("matplotlib").use("agg")
    from mercer.displays import SeparationDisplay

    y = (X**2 @ [1, 2] < 1.5).astype(int)
    drawn = SeparationDisplay.from_lifts({"lines": ["x1", "x2"], "ellipses": ELLIPSE}, X, y, grid=20)
    assert [axes.get_title() for axes in drawn.axes_] == ["lines: does not separate", "ellipses: separates"]


def test_exercise_17_in_one_call_each():
    square = np.random.default_rng(17).uniform(-3, 3, size=(150, 2))
    turned = (square - [0.4, -0.3]) @ [[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]]
    y = (turned**2 @ [0.25, 1.0] < 1).astype(int)
    lists = {
        "A": ["x1", "x2"],
        "B": ["x1", "x2", "x1 x2"],
        "C": ["x1", "x2", "x1^2 + x2^2"],
        "D": ["x1", "x2", "x1^2 + 2 x2^2"],
        "E": "[x1, x2, x1 x2, x1^2, x2^2]",
    }
    answers = {letter: mercer.separable(formulas, square, y) for letter, formulas in lists.items()}
    assert [letter for letter, answer in answers.items() if answer] == ["E"]
    assert answers["D"].names == ("x1", "x2", "x1^2 + 2 x2^2")
    with pytest.raises(KernelError):
        mercer.separable(["x1", "bogus"], square, y)


def test_files_hold_it(tmp_path):
    frame = pd.DataFrame(X, columns=["age", "x 1"])
    phi = Formulas(["age^2", 'exp("x 1")', "x2"]).fit(frame)
    save(phi, tmp_path / "phi.mercer")
    back = load(tmp_path / "phi.mercer")
    np.testing.assert_array_equal(back.transform(frame), phi.transform(frame))
    assert back.get_feature_names_out().tolist() == phi.get_feature_names_out().tolist()
    model = mercer.KernelRidge("gaussian(1).after(['x1', 'x1 x2'])").fit(X, X[:, 0])
    save(model, tmp_path / "ridge.mercer")
    np.testing.assert_array_equal(load(tmp_path / "ridge.mercer").predict(X), model.predict(X))
