"""Write golden files of the present version of the format: PYTHONPATH=tests python -m models.make_golden FOLDER

This is done once for a version; the files of a version stay as they are from then on.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from models.golden_rows import answers, machine, rows_of
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mercer import (
    KernelKMeans,
    KernelLogisticRegression,
    KernelOneClassSVM,
    KernelPCA,
    KernelPerceptron,
    KernelRidge,
    KernelRidgeClassifier,
    KernelSVC,
    KernelSVR,
    Perceptron,
    SpectralClustering,
)
from mercer import kernels as k
from mercer.lifts import Exact, Nystrom, Parabolic, Polynomial, RandomFourier, Sketch
from mercer.models import save
from mercer.models.table_model import TableModel, rows_of_table

RANDOM = np.random.default_rng(7)
X = RANDOM.normal(size=(12, 2)).round(3)
NEW = RANDOM.normal(size=(4, 2)).round(3)
Y = (X[:, 0] + X[:, 1] ** 2).round(3)
TWO = np.where(Y > 0.5, "high", "low")
THREE = np.digitize(Y, [0.0, 1.0])
TEXTS = "anna banana bandana ananas nab dab bad cab abba - canada nada".replace("-", "").split(" ")
GRAPHS = [
    ("CCO", [(0, 1), (1, 2)], "12"),
    ("CNCN", [(0, 1), (1, 2), (2, 3), (0, 3)], "1111"),
    ("OC", [(0, 1)], "2"),
    ("CCC", [], ""),
]
NUMBERS, STRINGS = ("numbers", NEW.tolist()), ("texts", TEXTS[:4])
PAIRS = [[[float(row[0]), "pq"[i % 2]] for i, row in enumerate(rows)] for rows in (X, NEW)]
COLUMNS = ColumnTransformer(
    [("n", make_pipeline(SimpleImputer(), StandardScaler()), [0]), ("k", OneHotEncoder(sparse_output=False), [1])]
)
TABLE = "size,colour\n" + "".join(f"{a},{'red' if b > 0 else 'blue'}\n" for a, b in X)
MORE = "colour,size\nred,0.5\nblue,-1\ngreen,2\n"


def graphs():
    """Graphs as the learner takes them."""
    return [k.Graph(len(nodes), edges, list(nodes), list(kinds)) for nodes, edges, kinds in GRAPHS]


def plain_graphs():
    """The same graphs as JSON has them."""
    found = zip(GRAPHS, graphs(), strict=True)
    return [
        {"nodes": list(nodes), "edges": one.edges.tolist(), "edge_labels": list(one.edge_labels or ())}
        for (nodes, _, _), one in found
    ]


def table_model():
    """A model of a table, as the command writes it."""
    kernel = k.Gaussian(1.0).on(["size"]) + k.Match().on("colour")
    sheet = rows_of({"kind": "table", "rows": TABLE})
    rows = rows_of_table(sheet.table, kernel, ("size", "colour"))
    learner = KernelRidge(kernel, alpha=0.5).fit(rows, Y)
    return TableModel(learner, "regression", "price", ("size", "colour"), ("number", "label"))


def models():
    """Every model by name, fitted, with the rows that it is asked about."""
    waves = RandomFourier("gaussian(0.7)", 10, random_state=0) + 2 * Parabolic()
    nystrom = Nystrom("laplace(2)", n_components=5, random_state=0)
    piped = make_pipeline(COLUMNS, KernelRidge("gaussian(1)", alpha=0.5))
    return {
        "ridge": (KernelRidge("gaussian('median') + 0.5*linear").fit(X, Y), NUMBERS),
        "ridge_sparse": (KernelRidge("gaussian(1.5)", alpha=0.5).fit(sp.csr_array(X * (X > 0)), Y), NUMBERS),
        "ridge_nystrom": (KernelRidge(nystrom, alpha=0.1).fit(X, Y), NUMBERS),
        "classifier": (KernelRidgeClassifier("polynomial(degree=2)", alpha=0.1).fit(X, THREE), NUMBERS),
        "svc_strings": (KernelSVC(k.Spectrum(2)).fit(TEXTS, TWO), STRINGS),
        "svc": (KernelSVC("matern(nu=1.5)", random_state=0).fit(X, THREE), NUMBERS),
        "svr_graphs": (KernelSVR(k.WeisfeilerLehman()).fit(graphs() * 3, Y), ("graphs", plain_graphs())),
        "logistic": (KernelLogisticRegression("gaussian(1)", n_landmarks=6, random_state=0).fit(X, TWO), NUMBERS),
        "perceptron": (Perceptron(Polynomial(2)).fit(X, TWO), NUMBERS),
        "forgetron": (KernelPerceptron("gaussian(1)", budget=4).fit(X, THREE), NUMBERS),
        "one_class": (KernelOneClassSVM("gaussian(1)", nu=0.3).fit(X), NUMBERS),
        "components": (KernelPCA("gaussian(1)", n_components=2).fit(X), NUMBERS),
        "components_back": (KernelPCA("gaussian(1)", n_components=2, fit_inverse_transform=True).fit(X), NUMBERS),
        "means": (KernelKMeans(2, kernel="gaussian(1)", random_state=0).fit(X), NUMBERS),
        "spectral": (SpectralClustering(2, kernel="gaussian(1)", random_state=0).fit(X), NUMBERS),
        "sketch": (Sketch("polynomial(degree=3)", 12, random_state=0).fit(X), NUMBERS),
        "exact": (Exact("linear.on([1])*cosine + trigonometric").fit(X), NUMBERS),
        "fourier": (waves.fit(X), NUMBERS),
        "pipeline": (piped.fit(np.array(PAIRS[0], dtype=object), Y), ("objects", PAIRS[1])),
        "table": (table_model(), ("table", MORE)),
    }


def main(folder):
    """Write the files, and what the models say before they are saved."""
    folder, expected = Path(folder), {}
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")  # small data: what it warns of is tested elsewhere
    for name, (model, (kind, rows)) in models().items():
        save(model, folder / f"{name}.mercer")
        about = {"kind": kind, "rows": rows}
        expected[name] = {**about, "answers": answers(model, rows_of(about))}
    text = json.dumps({"machine": machine(), "models": expected}, indent=1)
    (folder / "expected.json").write_text(text + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
