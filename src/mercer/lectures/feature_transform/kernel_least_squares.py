"""Worked examples of the lecture "Feature transform": least squares with kernels."""

from __future__ import annotations

from math import comb, sqrt
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.displays import ComponentsDisplay, CurveDisplay, GramDisplay
from mercer.errors import KernelError
from mercer.kernels import Gaussian, Graph, Polynomial, Spectrum, VertexHistogram, WeisfeilerLehman, median_distance
from mercer.kernels.proof.prove import prove
from mercer.learners import KernelPCA, KernelRidge, KernelSVC
from mercer.lectures.example_record import Example
from mercer.lectures.picture import Picture
from mercer.lectures.prices import prices
from mercer.lectures.verdict import Claim, Found, Verdict, agreement
from mercer.lifts import lift
from mercer.planner.from_shapes import plan
from mercer.planner.machine import ROUGH

LECTURE = "Feature transform"


# -- Woodbury ---------------------------------------------------------------------------------------------------------


def woodbury() -> dict[str, Any]:
    """The weights of least squares with a penalty, by the features and by the rows; 50 rows and 6, 10 features."""
    rng = np.random.default_rng(0)
    X, penalty = rng.normal(size=(50, 2)), 0.1
    y = np.exp(X[:, 0]) - X[:, 1] + 0.1 * rng.normal(size=50)
    Phi = lift(Polynomial(3), 2).transform(X).T  # as in the lecture: a column for each row of the table
    b, n = Phi.shape
    primal = np.linalg.solve(Phi @ Phi.T + penalty * np.eye(b), Phi @ y)
    dual = Phi @ np.linalg.solve(Phi.T @ Phi + penalty * np.eye(n), y)
    model = KernelRidge("polynomial(degree=3)", alpha=penalty, fit_intercept=False)
    models = {n: clone(model).fit(X[:n], y[:n]) for n in (50, 6)}
    return {"X": X, "y": y, "Phi": Phi, "primal": primal, "dual": dual, "models": models}


def _both_sides(found: Found) -> Verdict:
    return agreement(found["primal"], found["dual"], 1e-10, "the weights of both sides")


def _prediction(found: Found) -> Verdict:
    return agreement(
        found["models"][50].predict(found["X"]), found["Phi"].T @ found["dual"], 1e-9, "k (K + lambda I)^-1 y and f"
    )


def _sides(found: Found) -> Verdict:
    sides = {n: model.plan_.details.side for n, model in found["models"].items()}
    return Verdict(sides == {50: "primal", 6: "dual"}, f"10 features; the side by rows: {sides}.", sides)


def _draw_woodbury(picture: Picture, found: Found) -> None:
    first, second = picture.panels(2)
    Phi = found["Phi"]
    for axes, matrix, title in ((first, Phi @ Phi.T, "Phi Phi': 10 x 10"), (second, Phi.T @ Phi, "Phi' Phi: 50 x 50")):
        axes.imshow(np.sign(matrix) * np.log1p(np.abs(matrix)), cmap="RdBu", vmin=-8, vmax=8)
        axes.set(xticks=[], yticks=[])
        picture.finish(axes, title)


# -- induced features -------------------------------------------------------------------------------------------------


def induced() -> dict[str, Any]:
    """The features of the polynomial kernel of degree 2, in two columns and in three."""
    lifts = {d: lift(Polynomial(2), d) for d in (2, 3)}
    return {"lifts": lifts, "names": {d: each.get_feature_names_out().tolist() for d, each in lifts.items()}}


def _homework(found: Found) -> Verdict:
    X = np.random.default_rng(0).normal(size=(40, 3))
    phi = found["lifts"][3].transform(X)
    verdict = agreement(phi @ phi.T, (X @ X.T + 1) ** 2, 1e-11, "phi(x).phi(z) and (x.z + 1)^2")
    return Verdict(verdict.holds, f"[{', '.join(found['names'][2])}] for d = 2; {verdict.why}", found["names"])


def _sizes(found: Found) -> Verdict:
    counts = {d: len(names) for d, names in found["names"].items()}
    return Verdict(all(n == comb(d + 2, 2) for d, n in counts.items()), f"features by columns: {counts}.", counts)


def _infinite(found: Found) -> Verdict:
    try:
        lift(Gaussian(), 1)
    except KernelError as error:
        return Verdict(True, str(error), error)
    return Verdict(False, "a finite lift was given.")


def _draw_induced(picture: Picture, found: Found) -> None:
    across = np.linspace(-2, 2, 101)
    places = np.stack(np.meshgrid(across, across), axis=-1).reshape(-1, 2)
    values = found["lifts"][2].transform(places)
    for name, column, axes in zip(found["names"][2], values.T, picture.panels(6, rows=2), strict=True):
        axes.contourf(
            across, across, column.reshape(101, 101), levels=np.linspace(-6, 6, 25), cmap="RdBu", extend="both"
        )
        axes.set_aspect("equal")
        picture.finish(axes, name)


# -- prices by kernels ------------------------------------------------------------------------------------------------


def aapl() -> dict[str, Any]:
    """The prices of 65 days by the Gaussian kernel: the lecture's two bandwidths, lambda = 0.01, no intercept."""
    days, X, y = prices()
    median = median_distance(X)
    bandwidths = (median / sqrt(2), median / sqrt(8))
    models = {s: KernelRidge(Gaussian(s), alpha=0.01, fit_intercept=False).fit(X, y) for s in bandwidths}
    return {"days": days, "X": X, "y": y, "median": median, "bandwidths": bandwidths, "models": models}


def _digits(found: Found) -> Verdict:
    told = tuple(f"{s:.4f}" for s in found["bandwidths"])
    median = f"median {found['median']:.6f}"
    why = f"{median}; over the root of 2 {told[0]}, and half of that {told[1]}. An inference, no fact."
    return Verdict(told == ("0.2099", "0.1050"), why, found["bandwidths"])


def _solution(found: Found) -> Verdict:
    X, y, gaps = found["X"], found["y"], []
    for s, model in found["models"].items():
        K = np.exp(-((X - X.T) ** 2) / (2 * s**2))
        gaps.append(float(np.abs(model.predict(X) - K @ np.linalg.solve(K + 0.01 * np.eye(len(y)), y)).max()))
    return Verdict(max(gaps) < 1e-8, f"f differs from k (K + lambda I)^-1 y by up to {max(gaps):.1e} dollars.", gaps)


def _follows(found: Found) -> Verdict:
    wide, narrow = (
        float(np.sqrt(np.mean((found["y"] - m.predict(found["X"])) ** 2))) for m in found["models"].values()
    )
    return Verdict(
        narrow < wide, f"{wide:.2f} and {narrow:.2f} dollars, the roots of the mean squares.", (wide, narrow)
    )


def _draw_aapl(picture: Picture, found: Found) -> None:
    grid = np.linspace(0, 1, 400)
    for (s, model), axes in zip(found["models"].items(), picture.panels(2, share=True), strict=True):
        CurveDisplay(grid, model.predict(grid[:, None]), X=found["X"], y=found["y"]).plot(axes, style=picture.style)
        picture.name(axes, f"sigma = {s:.4f}, lambda = 0.01", "1 July to 1 October 2019", "dollars")
    picture.one_legend()


# -- strings and graphs -----------------------------------------------------------------------------------------------

SURNAMES = {
    "Italian": "Bianchi Colombo Esposito Ferrari Fontana Giordano Mancini Marino Moretti Ricci Romano Rossi Santoro",
    "Japanese": "Hayashi Inoue Kimura Kobayashi Matsumoto Nakamura Sasaki Suzuki Takahashi Tanaka Watanabe Yamada "
    "Yoshida",
    "Polish": "Dabrowski Grabowski Kaminski Kowalski Kozlowski Krawczyk Lewandowski Michalski Nowak Nowakowski "
    "Szymanski Wisniewski Zielinski",
}


def strings() -> dict[str, Any]:
    """Surnames of three languages, and the kernel that counts common runs of two letters; ^ and $ mark the ends."""
    X = [f"^{name}$" for names in SURNAMES.values() for name in names.split()]
    y = np.repeat(list(SURNAMES), [len(names.split()) for names in SURNAMES.values()])
    kernel = Spectrum(k=2).normalized()
    return {"X": X, "y": y, "kernel": kernel, "model": KernelSVC(kernel, C=10).fit(X, y)}


def _spectrum(found: Found) -> Verdict:
    words = ["banana", "ananas"]
    runs = [[word[i : i + 2] for i in range(len(word) - 1)] for word in words]
    common = sum(runs[0].count(run) * runs[1].count(run) for run in set(runs[0]))
    value = float(Spectrum(k=2)(words)[0, 1])
    return Verdict(value == common, f"k(banana, ananas) = {value:g}; counted by hand {common}.", value)


def _languages(found: Found) -> Verdict:
    asked = {"Bernardi": "Italian", "Yamashita": "Japanese", "Malinowski": "Polish"}
    answers = found["model"].predict([f"^{name}$" for name in asked]).tolist()
    return Verdict(answers == list(asked.values()), f"{dict(zip(asked, answers, strict=True))}.", answers)


def _edits(_: Found) -> Verdict:
    proof = prove("edit_similarity")
    return Verdict(proof.status == "refuted", proof.claim, proof)


def _draw_strings(picture: Picture, found: Found) -> None:
    (axes,) = picture.panels()
    model = KernelPCA(found["kernel"], n_components=2).fit(found["X"])
    ComponentsDisplay.from_estimator(model, found["X"], found["y"], ax=axes, style=picture.style)
    picture.name(axes, "surnames, by runs of two letters")


def graphs() -> dict[str, Any]:
    """Paths, rings and stars of 5 to 14 nodes, by their nodes alone and by their nodes' neighbours."""
    X, kind = [], []
    for n in range(5, 15):
        path, star = [(i, i + 1) for i in range(n - 1)], [(0, i) for i in range(1, n)]
        X += [Graph(n, path), Graph(n, [*path, (n - 1, 0)]), Graph(n, star)]
        kind += ["path", "ring", "star"]
    y, odd = np.array(kind), np.arange(30) // 3 % 2 == 1
    train, test = [X[i] for i in np.flatnonzero(~odd)], [X[i] for i in np.flatnonzero(odd)]
    kernels = {"nodes": VertexHistogram().normalized(), "neighbours": WeisfeilerLehman(2).normalized()}
    scores = {name: KernelSVC(k, C=10).fit(train, y[~odd]).score(test, y[odd]) for name, k in kernels.items()}
    return {"X": X, "y": y, "kernels": kernels, "scores": scores}


def _neighbours(found: Found) -> Verdict:
    scores = {name: round(float(score), 2) for name, score in found["scores"].items()}
    return Verdict(
        scores["neighbours"] == 1 > scores["nodes"], f"right, of sizes that were not learned: {scores}.", scores
    )


def _is_kernel(_: Found) -> Verdict:
    proof = prove(WeisfeilerLehman(2))
    return Verdict(proof.status == "proven", proof.claim, proof)


def _draw_graphs(picture: Picture, found: Found) -> None:
    (axes,) = picture.panels()
    order = np.argsort(found["y"], kind="stable")
    rows = [found["X"][i] for i in order]
    GramDisplay.from_kernel(found["kernels"]["neighbours"], rows, ax=axes, style=picture.style)
    for set_ticks in (axes.set_xticks, axes.set_yticks):
        set_ticks([4.5, 14.5, 24.5], ["paths", "rings", "stars"])
    picture.name(axes, "ten of each, by neighbours", "30 graphs", "30 graphs")


# -- costs ------------------------------------------------------------------------------------------------------------


def costs() -> dict[str, Any]:
    """The seconds that the matrix and the solution take, as planned for n rows of ten columns on a rough machine."""
    sizes, stages = [1000 * 2**k for k in range(9)], []
    for n in sizes:
        found = plan(n, 10, alpha=0.1, kernel="gaussian(1)", memory_limit="10 TB", machine=ROUGH)
        direct = next(each for each in (found, *found.others) if each.method == "direct")
        stages.append({stage.name: stage.seconds for stage in direct.stages})
    return {"sizes": sizes, "stages": stages}


POWERS = {"kernel matrix": 2, "solve": 3}


def _power(stage: str, power: int) -> Claim:
    def decide(found: Found) -> Verdict:
        last, before = found["stages"][-1][stage], found["stages"][-2][stage]
        factor, n = last / before, found["sizes"][-1]
        why = f"from {n // 2:,} to {n:,} rows the planned seconds grow {factor:.2f} times; 2^{power} is {2**power}."
        return Verdict(0.95 < factor / 2**power < 1.05, why, factor)

    return Claim(f"{stage}: O(n^{power})", decide)


def _draw_costs(picture: Picture, found: Found) -> None:
    (axes,) = picture.panels()
    for stage in found["stages"][0]:
        label = f"{stage}: n^{POWERS[stage]}"
        axes.loglog(found["sizes"], [each[stage] for each in found["stages"]], "o-", label=label)
    axes.axhline(60, color="0.5", linestyle="--", label="a minute")
    picture.finish(axes, "planned for a direct solution", "rows n", "seconds")


EXAMPLES = (
    Example(
        "woodbury",
        LECTURE,
        "Woodbury, both sides",
        "w = (Phi Phi' + lambda I)^-1 Phi y' = Phi (Phi' Phi + lambda I)^-1 y': by a number per feature, or by a "
        "number per row; the second needs inner products alone.",
        woodbury,
        (
            Claim("both formulas give the same w", _both_sides),
            Claim("f(x; w) = k (K + lambda I)^-1 y", _prediction),
            Claim("the side with fewer unknowns is the cheaper one", _sides),
        ),
        _draw_woodbury,
    ),
    Example(
        "induced",
        LECTURE,
        "the features that the polynomial kernel of degree 2 induces",
        "If phi can be derived from k, then k induces phi. For (x.z + 1)^2 that is homework; the Gaussian's phi is "
        "infinite dimensional.",
        induced,
        (
            Claim("phi(x) of (x.z + 1)^2, written down", _homework),
            Claim("there are C(d + 2, 2) of them", _sizes),
            Claim("the Gaussian has no finite one", _infinite),
        ),
        _draw_induced,
    ),
    Example(
        "aapl",
        LECTURE,
        "the price of AAPL by the Gaussian kernel, with two bandwidths",
        "Kernel least squares of the closing prices, July to October 2019, with lambda = 0.01, sigma = 0.2099 and "
        "0.1050. The lecture names no scale; of those that were tried one has both numbers: the 65 trading days from 1 "
        "July to 1 October in equal steps from 0 to 1, and sigma the median distance over the root of 2, and half of "
        "that.",
        aapl,
        (
            Claim("sigma = 0.2099 and 0.1050", _digits),
            Claim("f(x) = k (K + lambda I)^-1 y, without a constant", _solution),
            Claim("the narrower kernel follows the prices more closely", _follows),
        ),
        _draw_aapl,
    ),
    Example(
        "strings",
        LECTURE,
        "a kernel of strings",
        "Kernels can be defined for structured inputs, such as strings; of course one cannot pick k arbitrarily.",
        strings,
        (
            Claim("the kernel counts common runs of two letters", _spectrum),
            Claim("it tells languages apart", _languages),
            Claim("similarity by edits is no kernel", _edits),
        ),
        _draw_strings,
    ),
    Example(
        "graphs",
        LECTURE,
        "a kernel of graphs",
        "Kernels can be defined for structured inputs, such as graphs; domain knowledge matters.",
        graphs,
        (
            Claim("who looks at neighbours tells paths, rings and stars apart", _neighbours),
            Claim("the kernel of Weisfeiler and Lehman is a kernel", _is_kernel),
        ),
        _draw_graphs,
    ),
    Example(
        "costs",
        LECTURE,
        "n squared and n cubed",
        "The matrix K takes O(n^2), the inverse of K + lambda I usually O(n^3): demanding for large n. (With d columns "
        "the matrix takes n^2 d.)",
        costs,
        (_power("kernel matrix", 2), _power("solve", 3)),
        _draw_costs,
    ),
)
