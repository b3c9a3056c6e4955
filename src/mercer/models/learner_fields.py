"""What files know of each learner: its parameters, and what fit has found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels import Kernel
from mercer.learners import (
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
from mercer.learners.certificates.bounds import Distance
from mercer.learners.clustering import model
from mercer.learners.data.views import View
from mercer.learners.pca.preimage import Preimages
from mercer.learners.perceptron.state import PerceptronState
from mercer.learners.ridge.posterior import StreamedPosterior
from mercer.learners.streaming.predictor import Predictor
from mercer.learners.svm.model import Model
from mercer.learners.svm.subproblem import SubproblemResult
from mercer.lifts.base import Lift
from mercer.models import invariants
from mercer.models.entry import Entry, Hints
from mercer.models.estimators import Attributes, Parameters, estimator
from mercer.models.lift_fields import Floats, Names, Setting, Table, Whole
from mercer.operators import Centering
from mercer.planner.clustering import ClusterPlan
from mercer.planner.logistic import LogisticPlan
from mercer.planner.pca import ComponentPlan
from mercer.planner.perceptron import PassPlan
from mercer.planner.plan import Plan
from mercer.planner.svm import MarginPlan
from mercer.solvers.ridge.outcome import Outcome
from mercer.tuning.path import Path

Classes = NDArray[Any]
Anew = Mapping[str, Callable[[], Any]]
SEEN: Hints = {"n_features_in_": int, "kernel_": Kernel | None, "lift_": Lift | None, "converged_": bool}
READ: Hints = {"_precomputed": bool, "_reader": Kernel | None}
"""How new rows are read."""

LEAST_SQUARES: Hints = {
    **SEEN,
    **READ,
    "plan_": Plan,
    "outcome_": Outcome,
    "loo_": Path | None,
    "residual_": float,
    "condition_": float,
    "rounding_": float,
    "intercept_": float | Floats,
    "_rows_kept": tuple[Whole, int],
    "_centering": Centering,
    "_total": float,
    "_dtype": np.dtype[Any],
    "_view": View | None,
    "_flat": bool,
    "_predictor": Predictor,
    "_pieces": StreamedPosterior | None,
    "_weights": Floats | None,
    "_kernel_means": Floats | None,
    "_seed": int | None,
    "_right": Floats,
    "_spread": Floats,
    "_certificate": Distance | None,
    "_duals": Floats | None,
    "_leverage": Floats | None,
    "_log_determinants": Floats | None,
    "_lifted": Floats | None,
    "_alphas": Floats,
    "_variances": Floats,
    "_noises": Floats,
}
MARGINS: Hints = {
    "n_features_in_": int,
    "kernel_": Kernel | None,
    "lift_": Lift | None,
    **READ,
    "plan_": MarginPlan,
    "outcomes_": tuple[SubproblemResult, ...],
    "support_": Whole,
    "_model": Model,
    "_gap": float | None,
}
MISTAKEN: Hints = {
    "n_features_in_": int,
    "lift_": Lift | None,
    "classes_": Classes,
    "plan_": PassPlan,
    "history_": Whole,
    "converged_": bool,
    "n_iter_": int,
    "margin_": float,
    "mistake_bound_": float,
    "_course": PerceptronState,
    "_stopped": str,
}
LOGISTIC: Hints = {
    **SEEN,
    **READ,
    "X_fit_": Table,
    "classes_": Classes,
    "plan_": LogisticPlan,
    "n_iter_": int,
    "objective_": float,
    "duality_gap_": float,
    "intercept_": float | Floats,
    "_predictor": Predictor,
    "_reason": str,
}
COMPONENTS: Hints = {
    **SEEN,
    **READ,
    "eigenvalues_": Floats,
    "residuals_": Floats,
    "explained_variance_": Floats,
    "explained_variance_ratio_": Floats,
    "unexplained_": float,
    "n_components_": int,
    "plan_": ComponentPlan,
    "_predictor": Predictor,
}
MEANS: Hints = {
    **SEEN,
    **READ,
    "X_fit_": Table,
    "labels_": Whole,
    "history_": Floats,
    "inertia_": float,
    "n_iter_": int,
    "plan_": ClusterPlan,
    "_model": model.Model,
    "_n_features_out": int,
}
SPECTRAL: Hints = {
    **SEEN,
    "X_fit_": Table,
    "labels_": Whole,
    "eigenvalues_": Floats,
    "residuals_": Floats,
    "embedding_": NDArray[np.floating[Any]],
    "n_iter_": int,
    "plan_": ClusterPlan,
}


def _learner(kind: Any, fitted: Hints, maybe: Hints | None = None, anew: Anew | None = None) -> Entry:
    found = Attributes(fitted, {"feature_names_in_": Names, **(maybe or {})}, anew or {})
    return estimator(kind, Parameters(Setting), found).checked(invariants.learner)


POSTERIORS: Anew = {"_posteriors": dict}
AUDIT: Anew = {"_audit": lambda: None}
CLASSIFYING: Hints = {"_support_codes": Whole}
BACK: Hints = {"X_fit_": Table, "eigenvectors_": Floats, "_preimages": Preimages, "preimage_error_": float}
LEARNERS = (
    _learner(KernelRidge, LEAST_SQUARES, {"X_fit_": Table}, POSTERIORS),
    _learner(KernelRidgeClassifier, {**LEAST_SQUARES, "classes_": Classes}, {"X_fit_": Table}, POSTERIORS),
    _learner(KernelSVC, {**MARGINS, "classes_": Classes}, CLASSIFYING, AUDIT),
    _learner(KernelSVR, MARGINS, anew=AUDIT),
    _learner(KernelOneClassSVM, MARGINS, anew=AUDIT),
    _learner(KernelLogisticRegression, LOGISTIC, {"landmarks_": Table, "landmark_indices_": Whole}),
    _learner(KernelPerceptron, {**MISTAKEN, **READ, "kernel_": Kernel | None}),
    _learner(Perceptron, {**MISTAKEN, **READ, "kernel_": Kernel | None}),
    _learner(KernelPCA, COMPONENTS, BACK),
    _learner(KernelKMeans, MEANS),
    _learner(SpectralClustering, SPECTRAL, READ),
)
