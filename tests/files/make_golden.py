"""Write the golden files (once for a version)."""

import json, sys, warnings

warnings.simplefilter("ignore")
sys.path.insert(0, "/tmp/cl/tests")
import numpy as np
from pathlib import Path
import mercer
from mercer import *
from mercer import kernels as k
from mercer.lifts import *
from mercer.files import save
from mercer.lifts.sketch import Sketch

out = Path("/tmp/cl/tests/files/golden")
r = np.random.default_rng(7)
X = r.normal(size=(12, 2)).round(3)
N = r.normal(size=(4, 2)).round(3)
y = (X[:, 0] + X[:, 1] ** 2).round(3)
c = np.where(y > 0.5, "high", "low")
c3 = np.digitize(y, [0.0, 1.0])
T = ["anna", "banana", "bandana", "ananas", "nab", "dab", "bad", "cab", "abba", "", "canada", "nada"]
G = [
    k.Graph(3, [(0, 1), (1, 2)], ["C", "C", "O"], ["1", "2"]),
    k.Graph(4, [(0, 1), (1, 2), (2, 3), (0, 3)], ["C", "N", "C", "N"], ["1"] * 4),
    k.Graph(2, [(0, 1)], ["O", "C"], ["2"]),
    k.Graph(3, [], ["C", "C", "C"], []),
] * 3
import scipy.sparse as sp

models = {
    "ridge": (KernelRidge("gaussian('median') + 0.5*linear"), X, N, y),
    "ridge_sparse": (KernelRidge("gaussian(1.5)", alpha=0.5), sp.csr_array(X * (X > 0)), N, y),
    "ridge_nystrom": (KernelRidge(Nystrom("laplace(2)", n_components=5, random_state=0), alpha=0.1), X, N, y),
    "classifier": (KernelRidgeClassifier("polynomial(degree=2)", alpha=0.1), X, N, c3),
    "svc_strings": (KernelSVC(k.Spectrum(2)), T, T[:4], c),
    "svc": (KernelSVC("matern(nu=1.5)", probability=True, random_state=0), X, N, c3),
    "svr_graphs": (KernelSVR(k.WeisfeilerLehman()), G, G[:4], y),
    "logistic": (KernelLogisticRegression("gaussian(1)", rank=6, random_state=0), X, N, c),
    "perceptron": (Perceptron(Polynomial(2)), X, N, c),
    "forgetron": (KernelPerceptron("gaussian(1)", budget=4), X, N, c3),
    "one_class": (OneClass("gaussian(1)", nu=0.3), X, N),
    "components": (KernelPCA("gaussian(1)", 2), X, N),
    "means": (KernelKMeans(2, "gaussian(1)", random_state=0), X, N),
    "spectral": (SpectralClustering(2, "gaussian(1)", random_state=0), X, N),
    "sketch": (Sketch("polynomial(degree=3)", 12, random_state=0), X, N),
    "exact": (Exact("linear.on([1])*cosine + trigonometric"), X, N),
    "fourier": (RandomFourier("gaussian(0.7)", 10, random_state=0) + 2 * Parabolic(), X, N),
}
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, OneHotEncoder
from sklearn.impute import SimpleImputer
from sklearn.compose import ColumnTransformer


def frame(X):
    return [[float(a), "pq"[i % 2]] for i, (a, b) in enumerate(X)]


models["pipeline"] = (
    make_pipeline(
        ColumnTransformer(
            [
                ("n", make_pipeline(SimpleImputer(), StandardScaler()), [0]),
                ("k", OneHotEncoder(sparse_output=False), [1]),
            ]
        ),
        KernelRidge("gaussian(1)", alpha=0.5),
    ),
    frame(X),
    frame(N),
    y,
)
expected = {}
for name, (m, data, new, *t) in models.items():
    data = np.array(data, dtype=object) if name == "pipeline" else data
    new2 = np.array(new, dtype=object) if name == "pipeline" else new
    m.fit(data, *t)
    save(m, out / f"{name}.mercer")
    f = "predict" if hasattr(m, "predict") else "transform" if hasattr(m, "transform") else None
    if f is None:
        expected[name] = {"attribute": "labels_", "values": m.labels_.tolist()}
        continue
    v = getattr(m, f)(new2)
    rows = (
        new.tolist()
        if isinstance(new, np.ndarray)
        else (
            new
            if isinstance(new[0], (str, list))
            else [{"nodes": list(g.labels), "edges": g.edges.tolist(), "edge_labels": list(g.edge_labels)} for g in new]
        )
    )
    expected[name] = {
        "method": f,
        **({"objects": True} if name == "pipeline" else {}),
        "rows": rows,
        "values": np.asarray(v).tolist(),
    }
(out / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
