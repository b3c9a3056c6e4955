"""LIBSVM's own support vector machine, dressed as scikit-learn's: the same numbers in, the same names out."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from tables import Array


class SVC:
    """C-support vector classification by LIBSVM's `svm-train`, through the Python door that its authors ship."""

    def __init__(self, kernel: str, gamma: float, C: float, tol: float, cache_size: int) -> None:
        if kernel != "rbf":
            raise ValueError(f"SVC: this door knows the kernel 'rbf' only; got {kernel!r}.")
        self.options = f"-s 0 -t 2 -g {gamma!r} -c {C!r} -e {tol!r} -m {cache_size} -q"
        self.door: Any = import_module("libsvm.svmutil")

    def fit(self, X: Array, y: Array) -> SVC:
        """Rows are turned into LIBSVM's lists here, as everybody has to who calls it."""
        problem = self.door.svm_problem(np.asarray(y, dtype=float), np.asarray(X, dtype=float))
        self.model = self.door.svm_train(problem, self.door.svm_parameter(self.options))
        self.support_ = np.array(self.model.get_sv_indices()) - 1
        self.dual_coef_ = np.array(self.model.get_sv_coef()).T
        return self

    def predict(self, X: Array) -> Array:
        """The labels."""
        labels, *_ = self.door.svm_predict([], np.asarray(X, dtype=float), self.model, "-q")
        return np.asarray(labels)
