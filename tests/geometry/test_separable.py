"""`mercer.separable`: exercise 17 against a linear programme, and what students type."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler

import mercer
from mercer.errors import InputError
from mercer.geometry import Ball, Ellipse, HullsMeet, Separated, Unresolved
from mercer.lifts import Monomials, Parabolic, Subsets

SHAPES = {
    "turned": Ellipse([0.4, -0.3], [2.0, 1.0], np.pi / 6),
    "circle": Ball([0.4, -0.3], 1.5),
    "flat": Ellipse([0.4, -0.3], [1.5 * np.sqrt(2), 1.5], 0.0),
}
CANDIDATES = {
    "A": "linear",
    "B": Subsets(),
    "C": Parabolic(),
    "D": lambda X: np.column_stack([X, X[:, 0] ** 2 + 2 * X[:, 1] ** 2]),
    "E": Monomials(2, include_bias=False),
}
SQUARE = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
XOR = np.array(["even", "even", "odd", "odd"])


def labelled(shape):
    X = np.random.default_rng(17).uniform(-3, 3, size=(300, 2))
    X = X[np.abs(shape.value(X)) > 0.03]
    return X, np.where(shape.contains(X), "within", "outside")


def programme(x1, x2, letter, sign):
    """An independent answer: the features written once more."""
    squares = {"A": [], "B": [x1 * x2], "C": [x1**2 + x2**2], "D": [x1**2 + 2 * x2**2], "E": [x1 * x2, x1**2, x2**2]}
    rows = -sign[:, None] * np.column_stack([x1, x2, *squares[letter], np.ones(len(x1))])
    return linprog(np.zeros(rows.shape[1]), A_ub=rows, b_ub=-np.ones(len(x1)), bounds=(None, None)).status == 0


@pytest.mark.parametrize("name", SHAPES)
def test_exercise_17_in_one_call(name):
    X, y = labelled(SHAPES[name])
    answers = {letter: mercer.separable(features, X, y) for letter, features in CANDIDATES.items()}
    sign = np.where(y == "within", 1.0, -1.0)
    assert {k: bool(a) for k, a in answers.items()} == {k: programme(*X.T, k, sign) for k in CANDIDATES}
    assert "".join(k for k, a in answers.items() if a) == {"turned": "E", "circle": "CE", "flat": "DE"}[name]


def test_the_plane_is_a_region_of_the_plane_below():
    X, y = labelled(SHAPES["turned"])
    lift = Monomials(2, include_bias=False).fit(X)
    found = mercer.separable(lift, X, y)
    shape = mercer.geometry.preimage(lift, found.coef, found.intercept)
    assert isinstance(shape, Ellipse)
    np.testing.assert_array_equal(shape.contains(X), y == "within")
    assert np.linalg.norm(found.coef) == pytest.approx(1.0)
    assert found.counts == ((y == "outside").sum(), (y == "within").sum())


def test_the_margin_is_that_of_the_support_vector_machine():
    X = np.random.default_rng(0).normal(size=(100, 2))
    y = X @ [1.0, 2.0] > 0.3
    found = mercer.separable(Parabolic(), X, y)
    model = mercer.KernelSVC(Parabolic(), C=np.inf).fit(X, y)
    np.testing.assert_allclose(found.coef / found.margin, model.coef_[0], rtol=1e-6)
    assert found.intercept / found.margin == pytest.approx(model.intercept_, rel=1e-6)


def test_a_point_of_both_hulls_is_told_with_its_rows():
    found = mercer.separable("linear", SQUARE, XOR)
    assert isinstance(found, HullsMeet)
    assert found.weights == {
        "even": {0: Fraction(1, 2), 1: Fraction(1, 2)},
        "odd": {2: Fraction(1, 2), 3: Fraction(1, 2)},
    }
    assert found.point.tolist() == [0.5, 0.5]
    assert found.answer == "no"
    assert "1/2 row 2 + 1/2 row 3" in str(found)
    assert "<td>1/2</td>" in found._repr_html_()


def test_equal_rows_of_both_classes_are_named():
    for features in ("linear", "gaussian(1)", "laplace", PolynomialFeatures(3), lambda X: X):
        found = mercer.separable(features, [[5.0, 1.0], [2.0, 2.0], [5.0, 1.0]], [0, 1, 1])
        assert str(found).startswith("not separable: row 0 of 0 and row 2 of 1 have equal features")


@pytest.mark.parametrize(
    "features",
    [
        Monomials(2),
        PolynomialFeatures(2),
        make_pipeline(StandardScaler(), PolynomialFeatures(2)),
        FunctionTransformer(lambda X: X[:, [0]] * X[:, [1]] - X.sum(axis=1, keepdims=True) / 2),
        lambda X: (X[:, 0] - X[:, 1]) ** 2,
        "linear + linear**2",
        mercer.parse("polynomial(degree=2)"),
        mercer.lift("polynomial(degree=2)", 2),
        make_pipeline(PolynomialFeatures(2), PCA(2, whiten=True)).fit(SQUARE),
    ],
    ids=lambda features: type(features).__name__,
)
def test_whatever_makes_features(features):
    wanted = not isinstance(features, type(make_pipeline(PCA()))) or "pca" not in features.named_steps
    assert bool(mercer.separable(features, SQUARE, XOR)) == wanted


def test_names_of_features_come_from_the_columns():
    table = pd.DataFrame({"height": [1.0, 2.0, 3.0], "width": [1.0, 4.0, 9.0]})
    found = mercer.separable("linear", table, ["low", "low", "high"])
    assert found.names == ("height", "width")
    assert str(found).startswith("separable: -0.196116 height - 0.980581 width + 6.86406 > 0 at all 2 rows of 'low'")
    assert mercer.separable(lambda D: D[["width"]] ** 2, table, [0, 0, 1]).names == ("width",)
    assert mercer.separable(lambda X: X, table.to_numpy(), [0, 0, 1]).names == ("phi1", "phi2")


@pytest.mark.parametrize("labels", [[0, 0, 1], [True, True, False], ["a", "a", "b"], np.array([2.0, 2.0, 7.0])])
def test_any_two_labels(labels):
    found = mercer.separable("linear", [[0.0], [1.0], [2.0]], labels)
    assert found.classes == tuple(np.unique(labels).tolist())
    sign = found.coef[0] * 2.0 + found.intercept
    assert (sign > 0) == (labels[2] == found.classes[1])


def test_constant_columns_and_float32_rows_and_sparse_ones():
    rows = np.array([[0.1, 5.0], [0.3, 5.0], [0.2, 5.0]], dtype=np.float32)
    found = mercer.separable("linear + linear**2", rows, [0, 0, 1])
    assert found
    assert mercer.separable("linear + linear**2", csr_array(rows.astype(float)), [0, 0, 1])
    assert mercer.separable(Monomials(2), csr_array(rows.astype(float)), [0, 0, 1])
    assert not mercer.separable("linear", np.full((4, 2), 3.0), [0, 1, 0, 1])


def test_a_kernel_without_finite_lift_is_asked_for_weights_of_its_values():
    X, y = labelled(SHAPES["turned"])
    found = mercer.separable("gaussian(1)", X, y)
    assert isinstance(found, Separated)
    f = mercer.parse("gaussian(1)")(X) @ found.coef + found.intercept
    np.testing.assert_array_equal(f > 0, y == "within")
    noise = np.random.default_rng(0).integers(2, size=len(X))
    hard = mercer.separable("gaussian(3)", X, noise)
    assert isinstance(hard, Unresolved)
    assert hard.answer == "not resolved"
    with pytest.raises(InputError, match=r"an answer for its truth; gaussian.* no finite lift"):
        bool(hard)
    with pytest.raises(InputError, match="Nystrom"):
        mercer.separable("gaussian(1)", np.arange(3001.0)[:, None], np.arange(3001) % 2)


def test_strings_have_features_too():
    found = mercer.separable("spectrum(2)", ["aab", "abb", "bba"], ["p", "q", "q"])
    assert found
    assert not mercer.separable("spectrum(1)", ["ab", "ba"], ["p", "q"])


@pytest.mark.parametrize(
    ("features", "X", "y", "match"),
    [
        (
            "linear",
            SQUARE,
            [0, 0, 1, 2],
            r"separable needs two classes; there are 3\. Ask for one against the rest: y == 0",
        ),
        ("linear", SQUARE, [1, 1, 1, 1], "two classes or more; there is one class, 1"),
        ("linear", [[0.0], [np.nan]], [0, 1], "row 1, column 0 holds nan"),
        ("linear", np.empty((0, 2)), [], "rows of two classes; there are none"),
        (lambda x: [x[0], x[1]], SQUARE, XOR, r"a row of features for each of 4 rows; <lambda> returned .* \(2, 2\)"),
        (lambda X: X - np.inf, SQUARE, XOR, "finite features; feature 0 of row 0 is -inf"),
        (lambda X: X.astype(str) + "a", SQUARE, XOR, "numbers as features of <lambda>"),
        (Parabolic, SQUARE, XOR, r"got the class Parabolic. Give Parabolic\(\)"),
        (3, SQUARE, XOR, "a function of rows as features; got 3"),
        (mercer.KernelSVC(), SQUARE, XOR, "as features; got KernelSVC"),
        ("bogus", SQUARE, XOR, "no kernel 'bogus'"),
        ("linear", SQUARE, [0, 1], "inconsistent numbers of samples"),
    ],
)
def test_what_is_refused(features, X, y, match):
    with pytest.raises(ValueError, match=match):
        mercer.separable(features, X, y)
