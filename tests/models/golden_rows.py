"""How golden files are asked: the rows that JSON holds, what a model says of them, and on which machine."""

import io
import platform
from importlib.metadata import version

import numpy as np
import scipy.sparse as sp
from llvmlite import binding
from threadpoolctl import threadpool_info

from mercer.models.table_model import TableModel
from mercer.tables.read import read_table

ASKED = ("predict", "transform", "decision_function", "predict_proba", "score_samples", "inverse_transform")
"""Methods that a model is asked by, where it has them."""


def rows_of(given):
    """The rows of JSON: of numbers, texts, graphs, any things, or a table as text."""
    kind, rows = given["kind"], given["rows"]
    if kind == "table":
        return read_table("-", stdin=io.BytesIO(rows.encode()))
    return np.array(rows, dtype=object) if kind == "objects" else rows


def answers(model, rows):
    """What a model says of rows, by the method that it was asked; the labels of one that cannot be asked."""
    if not any(hasattr(model, name) for name in ASKED):
        return {"labels_": model.labels_.tolist()}
    names = ["predict"] if isinstance(model, TableModel) else [name for name in ASKED[:-1] if hasattr(model, name)]
    found = {name: getattr(model, name)(rows) for name in names}
    if hasattr(model, "_preimages"):
        found["inverse_transform"] = model.inverse_transform(found["transform"])
    return {
        name: (value.toarray() if sp.issparse(value) else np.asarray(value)).tolist() for name, value in found.items()
    }


def machine():
    """What rounding depends on: the processor, what BLAS takes it for, and versions."""
    blas = sorted({str(pool.get("architecture")) for pool in threadpool_info() if pool["user_api"] == "blas"})
    versions = {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")}
    return {"machine": platform.machine(), "processor": binding.get_host_cpu_name(), "blas": blas, **versions}
