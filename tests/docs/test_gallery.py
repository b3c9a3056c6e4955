"""That every page of the gallery runs, draws, and says the truth: what it computes is computed here another way."""

import runpy
import sys
from itertools import combinations
from math import comb, factorial
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from scipy.spatial.distance import pdist
from scipy.spatial.transform import Rotation
from sklearn.cluster import KMeans
from sklearn.linear_model import Ridge
from sklearn.svm import SVC

pytest.importorskip("matplotlib")
import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive"),
]  # plt.show() has no window here
GALLERY = Path(__file__).parent.parent.parent / "docs" / "gallery"
PAGES = {path.stem[8:]: path for path in sorted(GALLERY.glob("*/plot_*.py"))}


@pytest.fixture
def page(request, monkeypatch):
    """The names of the page that the test is called after, once it has run in its folder, as Sphinx runs it."""
    path = PAGES[request.node.name.removeprefix("test_")]
    monkeypatch.chdir(path.parent)
    plt.close("all")
    names = runpy.run_path(str(path), run_name="__main__")
    assert plt.get_fignums(), "a page draws"
    yield names
    plt.close("all")


# -- liftings --------------------------------------------------------------------------------------------------------


def test_halfspace_to_ball(page):
    X, inside = page["X"], page["y"] == "within"
    size = ((X - [0.3, 0.2]) ** 2).sum(axis=1)
    assert np.array_equal(inside, size <= 1.44)
    far = np.linalg.norm(X - page["found"].center, axis=1)
    assert far[inside].max() < page["found"].radius < far[~inside].min()
    assert page["wrong"]["as derived"] == 0
    # as first stated: |x|^2 - 2 c.x > |c|^2 - r^2, which is the outside of another circle
    stated = size > 2 * 0.13 - 1.44
    assert page["wrong"]["as first stated"] == (stated != inside).sum() > 100
    assert str(page["nowhere"]) == "no (x1, x2)"
    assert np.array_equal(page["halfplane"].contains(X), X @ [1, 2] >= 0.5)


def test_polynomial_lift(page):
    assert page["names"] == ["1", "x1", "x2", "x1^2", "x1 x2", "x2^2"]
    assert page["counts"] == {(2, 2): comb(4, 2), (10, 4): comb(14, 4)}
    assert page["errors"][3] == 0 < min(page["errors"][1], page["errors"][2])
    assert np.isclose(page["value"], (1 + page["x"] @ page["z"]) ** 4)


def test_kernels_and_distances(page):
    r = page["r"][:, 0]
    assert np.allclose(page["values"]["sinc"], np.sinc(r / np.pi))
    assert np.allclose(page["distances"]["Gaussian"] ** 2, 2 - 2 * np.exp(-(r**2) / 2))
    assert np.allclose(page["distances"]["Laplace"] ** 2, 2 - 2 * np.exp(-r))
    assert [page[name].status for name in ("minus", "three", "four", "product")] == [
        "refuted",
        "proven",
        "refuted",
        "proven",
    ]
    X, c = page["points"], page["weights"]
    gaps = np.linalg.norm(X[:, None] - X, axis=2)
    assert X.shape[1] == 4
    assert c @ np.sinc(gaps / np.pi) @ c < -1e-3
    assert page["ranks"] == {"Gaussian": 12, "quadratic": 6}


def test_components_and_clusters(page):
    X, ring = page["X"], page["ring"]
    first = page["components"]["gaussian(1)"][:, 0]
    assert first[ring == 0].min() > first[ring == 1].max() or first[ring == 0].max() < first[ring == 1].min()
    linear = page["components"]["linear"]
    assert np.allclose(pdist(linear), pdist(X))  # turned, and nothing else
    assert page["agreement"]["k-means, parabolic"] == page["agreement"]["spectral, gaussian(0.3)"] == 1
    assert page["agreement"]["k-means, linear"] < 0.6
    plain = KMeans(2, n_init=10, random_state=0).fit(X)
    assert np.isclose(page["models"]["k-means, linear"].inertia_, plain.inertia_, rtol=1e-3)


def test_random_waves(page):
    for drawn in page["drawn"].values():
        worst, bounds = np.asarray(drawn.worst), np.asarray(drawn.bounds)
        assert (worst.max(axis=1) < bounds).all()
        assert (bounds < 5 * np.median(worst, axis=1)).all()
        slope = np.polyfit(np.log(page["components"]), np.log(np.median(worst, axis=1)), 1)[0]
        assert -0.6 < slope < -0.4
    k = np.exp(-(page["r"] ** 2) / 2)
    assert np.allclose(page["scatter"]["pairs"], (1 - k**2) / 10, atol=0.004)  # cos has the variance (1 - k^2)^2 / 2
    assert np.allclose(page["scatter"]["offset"], np.sqrt(1 + k**4 / 2 - k**2) / 10, atol=0.004)
    lecture, pairs, offset, ours = page["estimates"].values()
    assert abs(pairs - ours) < 0.01 < abs(pairs - lecture)
    assert abs(2 * offset - ours) < 0.02
    assert "laplace" in page["refusal"]
    m = 2 * np.log(200 * 199 / 0.01) / (1.1**2 - 1 - 2 * np.log(1.1))  # Johnson and Lindenstrauss, by chi-squared laws
    assert page["relative"]["pairs"] == 2 * np.ceil(m)
    assert 0.87 * 2 * m < page["relative"]["offset"] < 0.89 * 2 * m  # 7/8 to first order
    gaussian, laplace = page["distances"].values()
    assert (np.asarray(gaussian.worst).max(axis=1) < gaussian.bounds).all()
    assert np.median(laplace.worst, axis=1).min() > 0.5  # near points are off, whatever the number of waves
    assert laplace.bounds is None


# -- nonlinear classifiers -------------------------------------------------------------------------------------------


def test_ellipse(page):
    assert list(page["answers"].values()) == [["E"], ["C", "E"], ["D", "E"]]
    turned, X = page["shapes"]["a turned ellipse"], page["X"]
    turn = Rotation.from_euler("z", -np.pi / 6).as_matrix()[:2, :2]
    within = (((X - [0.4, -0.3]) @ turn.T / [2, 1]) ** 2).sum(axis=1) <= 1
    assert np.array_equal(within, page["y"] == "within")
    assert np.array_equal(page["found"].contains(X), within)
    assert np.allclose(page["found"].axes, turned.axes, rtol=0.05)
    assert np.isclose(page["found"].angle, np.pi / 6, atol=0.05)


def test_lifts_and_kernels(page):
    assert page["names_19"] == ["x1", "x2", "x1^2", "sqrt(2) x1 x2", "x2^2"]
    values = {letter: float(kernel(page["x"], page["z"])[0, 0]) for letter, kernel in page["candidates"].items()}
    assert values == {"A": 11, "B": 11 + 121, "C": 121, "D": 242}
    assert page["by_lift"] == 132
    assert page["names_20"] == ["x1", "x2 + x3"]
    wrong = [each for letter, each in page["differences"].items() if letter != "C"]
    assert page["differences"]["C"] < 1e-13 < 1 < min(wrong)
    assert page["left"].get_feature_names_out().tolist() == ["x1", "x1^2", "x1^3"]
    assert page["right"].get_feature_names_out().tolist() == ["1", "sqrt(3) x1", "sqrt(3) x1^2", "x1^3"]
    assert page["rank"] == 5


def test_perceptron(page):
    for model, X, y in (("linear", "X", "y"), ("kernel", "X_ellipse", "y_ellipse")):
        fitted = page[model]
        assert fitted.converged_
        assert fitted.score(page[X], page[y]) == 1
        assert fitted.history_.sum() <= fitted.mistake_bound_
    assert page["same"]
    assert np.array_equal(page["kernel"].alpha_, page["alpha"])
    assert page["alpha"].sum() == page["kernel"].history_.sum()


def test_composition_rules(page):
    assert page["proof"].status == "proven"
    assert list(page["names"].values()) == [["1", "x1"], ["1", "x2"], ["1", "x1", "x2", "x1 x2"]]
    assert min(page["smallest"].values()) > -1e-12
    t = page["t"][:, 0]
    gaps = t[:, None] - t
    product = np.exp(-(gaps**2) / 8 - 2 * np.sin(np.pi * gaps) ** 2)
    assert np.allclose(page["kernels"]["their product"](page["t"]), product)
    X, c = page["sigmoid"].witness.points, page["sigmoid"].witness.weights
    assert c @ np.tanh(X @ X.T) @ c < -0.1
    assert page["difference"].status == page["sigmoid"].status == "refuted"


def test_which_are_kernels(page):
    statuses = [proof.status for proof in page["proofs"].values()]
    assert statuses == ["proven"] * 5 + ["refuted", "proven"]
    witness = page["proofs"]["F. min(x, z) on the integers"].witness
    X, c = witness.points[:, 0], witness.weights
    assert c @ np.minimum.outer(X, X) @ c < 0
    assert np.array_equal(X, X.round())
    assert page["eigenvalues"][0] < -1
    assert (np.linalg.eigvalsh(np.minimum.outer(np.arange(1.0, 7), np.arange(1.0, 7))) > 0).all()


def test_radial_basis_kernel(page):
    X, y, held = page["X"], page["y"], page["held"]
    oracle = SVC(kernel="rbf", gamma=0.5, C=1e3, tol=1e-6).fit(X[~held], y[~held])
    assert page["scores"][1.0] == (oracle.score(X[~held], y[~held]), oracle.score(X[held], y[held]))
    assert page["scores"][1.0][1] > 0.85
    assert page["scores"][0.05][0] == 1
    assert page["scores"][0.05][1] < 0.6
    assert page["scores"][4.0][0] < 0.8
    assert np.isclose(
        page["by_hand"], SVC(gamma=0.5, C=1e3, tol=1e-8).fit(X, y).decision_function(page["place"])[0], atol=0.02
    )


# -- kernel methods --------------------------------------------------------------------------------------------------


def test_margins(page):
    for name, X, y in (("hard", "blobs", "names"), ("hard, one row strays", "X", "y")):
        assert np.isclose(page["margins"][name], hull_distance(page[X], page[y]) / 2, rtol=1e-3)
    soft = SVC(kernel="linear", C=0.1, tol=1e-8).fit(page["X"], page["y"])
    assert np.isclose(page["margins"]["soft, C = 0.1"], 1 / np.linalg.norm(soft.coef_), rtol=0.01)
    assert page["margins"]["hard, one row strays"] < page["margins"]["hard"] < page["margins"]["soft, C = 0.1"]
    assert "separates" in page["refusal"]
    sign = np.where(page["kind"] == "outer", 1.0, -1.0)
    rows = -sign[:, None] * np.column_stack([page["around"], np.ones(len(sign))])
    assert linprog(np.zeros(3), A_ub=rows, b_ub=-np.ones(len(rows)), bounds=(None, None)).status == 2  # no line does
    assert page["right"] == 1


def hull_distance(X, y):
    """The distance of the hulls of two classes: least |a A - b B| over weights a, b of at least 0 that sum to one."""
    A, B = (X[y == label] for label in np.unique(y))
    signed, first = np.vstack([A, -B]), np.arange(len(X)) < len(A)
    found = minimize(
        lambda w: ((w @ signed) ** 2).sum(),
        np.where(first, 1 / len(A), 1 / len(B)),
        jac=lambda w: 2 * signed @ (w @ signed),
        bounds=[(0, 1)] * len(X),
        constraints={"type": "eq", "fun": lambda w: [w[first].sum() - 1, w[~first].sum() - 1]},
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return float(np.sqrt(found.fun))


def test_all_subsets(page):
    subsets = [s for size in range(4) for s in combinations(range(3), size)]
    by_hand = sum(np.prod(page["x"][0, list(s)]) * np.prod(page["z"][0, list(s)]) for s in subsets)
    assert len(subsets) == len(page["names"]) == 2**3
    assert np.allclose([page["by_features"], page["by_product"], page["by_kernel"]], by_hand)
    assert page["scores"]["linear"] < 0.1 < 0.98 < page["scores"]["subsets"]
    assert page["largest"] == ["x1 x2", "x3 x4 x5"]
    assert np.array_equal(page["on_signs"], 8 * np.eye(8))
    assert np.count_nonzero(page["small"]) == 64


def test_descent_in_alpha(page):
    assert max(page["gaps"]) < 1e-12
    assert np.allclose(np.ravel(page["primal"].coef_), page["w"])
    K = np.exp(-(pdist_matrix(page["X"]) ** 2) / (2 * 0.3**2))
    step, alpha = page["kernel"].outcome_.history.step, np.zeros(30)
    for _ in range(500):
        alpha = alpha + 2 * step * (page["y"] - K @ alpha - 0.01 * alpha)
    assert np.allclose(np.ravel(page["kernel"].dual_coef_), alpha)
    assert np.allclose(np.ravel(page["stored"].dual_coef_), alpha)
    residuals = [np.abs(page["y"] - model.predict(page["X"])).mean() for model in page["curves"].values()]
    assert residuals == sorted(residuals, reverse=True)
    for start, end in page["ends"].items():
        nearest = np.array(start) + (2 - np.dot(start, [1, 2])) / 5 * np.array([1, 2])
        assert np.allclose(end, nearest, atol=1e-6)


def pdist_matrix(X):
    return np.abs(X - X.T)


# -- feature transform -----------------------------------------------------------------------------------------------


def test_polynomial_order(page):
    x, y, grid = page["X"][:, 0], page["y"], page["grid"]
    for b, model in page["models"].items():
        assert np.allclose(model.predict(grid[:, None]), np.polyval(np.polyfit(x, y, b), grid), atol=1e-4)
    again = [np.polyval(np.polyfit(np.delete(x, i), np.delete(y, i), 3), x[i]) - y[i] for i in range(len(x))]
    assert np.isclose(page["left_out"][2], np.sqrt(np.mean(np.square(again))))
    assert page["seen"] == sorted(page["seen"], reverse=True)
    assert page["left_out"][-1] > 1.5 * min(page["left_out"])
    assert 1 < page["best"] < 7
    assert page["worst"]["Taylor"] > 5 * page["worst"]["least squares"]


def test_fourier_and_prices(page):
    assert np.allclose(page["series"].coef_, 1)
    assert np.isclose(page["series"].intercept_, 0)
    assert (page["y"][0], len(page["y"])) == (201.55, 65)
    start, end = page["ends"]["b = 2, period 1"]
    assert np.isclose(start, end)
    angle = np.pi * page["X"][:, 0]  # a period of 2
    features = np.column_stack([np.ones(65)] + [f(j * angle) for j in range(1, 5) for f in (np.sin, np.cos)])
    weights = np.linalg.lstsq(features, page["y"])[0]
    assert np.allclose(page["model"].predict(page["X"]), features @ weights, atol=1e-6)
    one, two, four = page["errors"].values()
    assert one > 1.3 * two
    assert two < four < 1.1 * two
    sums = [np.linalg.lstsq(features[:, :columns], page["y"])[1][0] for columns in (5, 9)]
    assert sums[1] < sums[0]  # on the days themselves


def test_bumps(page):
    centers, X = page["model"].lift_.centers_, page["X"]
    features = np.exp(-((X - centers.T) ** 2) / (2 * 0.1**2))
    oracle = Ridge(0.03, fit_intercept=False).fit(features, page["y"])
    assert np.allclose(page["model"].predict(X), oracle.predict(features), atol=1e-6)
    assert np.isin(centers, X).all()
    assert page["weights"].min() < -1 < 1 < page["weights"].max()
    assert np.median(page["errors"]["kmeans"]) < np.median(page["errors"]["random"])
    assert page["ranks"]["basis"] == 7
    assert page["ranks"]["kernel"] > 20
    assert page["ranks"]["kernel, narrow"] == 100
    assert page["left"].round(2).tolist() == [0.14, 0.01]


def test_curse_of_dimension(page):
    for d, count, low, high in zip(page["dimensions"], page["counts"], page["lower"], page["upper"], strict=True):
        assert low <= count <= high, d
    assert np.allclose(page["lower"][:3], [1 / 0.5, 1 / (np.pi / 16), 1 / (4 / 3 * np.pi / 64)])
    steps = np.divide(page["counts"][1:], page["counts"][:-1])
    assert np.allclose(page["factors"], np.sqrt((np.arange(1, 5) + 1.5) / (2 * np.pi)) / 0.25, rtol=0.02)
    assert (steps > 3).all()
    bumps, kernel, additive = page["scores"].values()
    assert min(additive) > 0.99
    assert bumps[-1] < kernel[-1] < 0.9 < bumps[0]


def test_woodbury(page):
    assert (page["b"], page["n"]) == (comb(5, 3), 50)
    assert np.allclose(page["primal"], page["dual"])
    oracle = Ridge(0.1, fit_intercept=False, solver="svd").fit(page["Phi"].T, page["y"])
    assert np.allclose(page["primal"], oracle.coef_)
    assert page["difference"] < 1e-9
    assert (page["model"].plan_.details.side, page["few"].plan_.details.side) == ("primal", "dual")
    assert page["shift"]["Mercer"] < 1e-9 < 1 < page["shift"]["the lecture"]


def test_two_bandwidths(page):
    X, y = page["X"], page["y"]
    assert np.array_equal(X[:, 0], np.arange(65) / 64)
    assert np.isclose(page["median"], np.median(pdist(X)))
    told = [19 / 64 / np.sqrt(2), 19 / 128 / np.sqrt(2)]
    assert [f"{page[name]:.4f}" for name in ("wide", "narrow")] == [f"{s:.4f}" for s in told] == ["0.2099", "0.1050"]
    for s, model, error in zip(told, page["models"].values(), page["errors"], strict=False):
        K = np.exp(-(pdist_matrix(X) ** 2) / (2 * s**2))
        inverse = np.linalg.inv(K + 0.01 * np.eye(65))
        assert np.allclose(model.predict(X), K @ inverse @ y, atol=1e-6)
        assert np.isclose(error, np.sqrt(np.mean((inverse @ y / np.diag(inverse)) ** 2)))
    assert page["errors"] == sorted(page["errors"], reverse=True)
    assert page["tuned"].kernel_.lengthscale < 0.105
    assert np.isclose(page["first"], page["last"])


def test_induced_features(page):
    assert page["names"][2] == ["1", "sqrt(2) x1", "sqrt(2) x2", "x1^2", "sqrt(2) x1 x2", "x2^2"]
    assert len(page["names"][3]) == comb(5, 2)
    assert "no finite lift" in page["refusal"]
    for reach, errors in page["errors"].items():
        # what is left of exp(xz) after m terms, at x = z = reach, where it is largest
        left = [np.exp(-(reach**2)) * reach ** (2 * m) / factorial(m) for m in range(1, 15)]
        assert (np.array(errors[:14]) > 0.9 * np.array(left)).all()
    assert page["errors"][1][20] < 1e-13
    assert page["errors"][4][10] > 0.5
    assert list(page["many"].values()) == sorted(page["many"].values())
    assert page["many"][1e-12] < 40


def test_strings_and_graphs(page):
    assert page["answers"] == ["Italian", "Japanese", "Polish"]
    one, two = ({name[i : i + 2] for i in range(len(name) - 1)} for name in ("^Nowak$", "^Nowakowski$"))
    # 6 runs of two letters, and 11, of which "ow" stands twice
    assert np.isclose(page["alike"][0, 1], (len(one & two) + 1) / np.sqrt(6 * 13), atol=0.006)
    assert page["scores"]["neighbours seen"] == 1
    assert page["scores"]["nodes counted"] < 0.5
    assert page["refuted"].status == "refuted"
    assert page["proven"].status == "proven"


def test_squares_and_cubes(page):
    assert page["plan"].method == "nystrom"
    assert page["plan"].gives_up.startswith("exactness")
    drawn = page["drawn"]
    assert drawn.chosen[0] == "direct"
    assert drawn.chosen == sorted(drawn.chosen, key=["direct", "conjugate gradients", "landmarks"].index)
    slopes = [
        np.polyfit(np.log(drawn.rows[6:]), np.log(costs["direct"][6:]), 1)[0] for costs in (drawn.memory, drawn.seconds)
    ]
    assert np.allclose(slopes, [2, 3], atol=0.25)
    K = np.exp(-(np.linalg.norm(page["X"][:, None] - page["X"], axis=2) ** 2) / 2)
    cross = np.exp(-(np.linalg.norm(page["new"][:, None] - page["X"], axis=2) ** 2) / 2)
    system = np.block([[K + 0.1 * np.eye(1500), np.ones((1500, 1))], [np.ones((1, 1500)), np.zeros((1, 1))]])
    solved = np.linalg.solve(system, np.append(page["y"], 0))
    assert np.allclose(page["exact"].predict(page["new"]), cross @ solved[:-1] + solved[-1], atol=1e-6)
    assert page["same"] < 1e-4
    assert page["apart"][-1] < 0.01 < 0.5 < page["apart"][0]


# -- all of them -----------------------------------------------------------------------------------------------------


def test_every_page_has_its_test():
    tests = {name.removeprefix("test_") for name in dir(sys.modules[__name__]) if name.startswith("test_")}
    assert set(PAGES) == tests - {"every_page_has_its_test", "titles"}
    assert len(PAGES) == 23


def test_titles():
    for path in PAGES.values():
        title, line = path.read_text(encoding="utf-8").split("\n")[1:3]
        assert line == "=" * len(title), path.stem
    for folder in {path.parent for path in PAGES.values()}:
        assert (folder / "GALLERY_HEADER.rst").exists()
