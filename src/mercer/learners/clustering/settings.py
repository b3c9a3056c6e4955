"""The settings that learners of clusters share, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mercer.errors import InputError, sentence
from mercer.learners.data.validation import AUTO, shown
from mercer.learners.parameters import non_negative_float, positive_int, positive_int_or_none, refuse_loo

EXACT, LANDMARKS = "exact", "landmarks"
NOTHING_LEFT_OUT = 'got "loo"', "Nothing is predicted here that could be left out."


@dataclass(frozen=True)
class KMeansSettings:
    """What is asked of k-means.

    clusters, runs, steps : how many clusters, starts, and steps of each
    tolerance : the part of the inertia by which a step may let it fall, and be the last
    method : "auto", "exact" or "landmarks"
    n_landmarks : how many landmarks; None for the planner's choice
    """

    clusters: int
    runs: int
    steps: int
    tolerance: float
    method: str
    n_landmarks: int | None

    @classmethod
    def of(cls, estimator: Any) -> KMeansSettings:
        """The parameters of a learner, or one clear error."""
        who = type(estimator).__name__
        refuse_loo(who, estimator.lengthscale, *NOTHING_LEFT_OUT)
        if not (isinstance(estimator.method, str) and estimator.method in (AUTO, EXACT, LANDMARKS)):
            needs, got = 'method that is "auto", "exact" or "landmarks"', f"got {shown(estimator.method)}"
            raise InputError(sentence(who, needs, got, 'Use "auto", the default.'))
        landmarks = positive_int_or_none(who, "n_landmarks", estimator.n_landmarks)
        counts = (("n_clusters", 8), ("n_init", 10), ("max_iter", 300))
        clusters, runs, steps = (
            positive_int(who, name, getattr(estimator, name), f"Use {usual}.") for name, usual in counts
        )
        tolerance = non_negative_float(who, "tol", estimator.tol, "Leave it out if in doubt.")
        return cls(clusters, runs, steps, tolerance, estimator.method, landmarks)


@dataclass(frozen=True)
class SpectralSettings:
    """What is asked of spectral clustering.

    clusters, runs : how many clusters, and starts of k-means
    components : how many eigenvectors; None for as many as clusters
    tolerance : the residual of eigenvectors, relative to the largest eigenvalue, which is one
    products : with the kernel matrix, at most
    """

    clusters: int
    runs: int
    components: int | None
    tolerance: float
    products: int

    @classmethod
    def of(cls, estimator: Any) -> SpectralSettings:
        """The parameters of a learner, or one clear error."""
        who, given = type(estimator).__name__, estimator.n_components
        refuse_loo(who, estimator.lengthscale, *NOTHING_LEFT_OUT)
        components = None if given is None else positive_int(who, "n_components", given, "Use 8.")
        counts = (("n_clusters", 8), ("n_init", 10), ("max_iter", 60))
        clusters, runs, products = (
            positive_int(who, name, getattr(estimator, name), f"Use {usual}.") for name, usual in counts
        )
        tolerance = non_negative_float(who, "tol", estimator.tol, "Leave it out if in doubt.")
        return cls(clusters, runs, components, tolerance, products)


def refuse_few_rows(who: str, rows: int, clusters: int) -> None:
    """Every cluster needs a row."""
    if rows < clusters:
        needs = f"at least as many rows of positive weight as clusters, {clusters}"
        raise InputError(sentence(who, needs, f"n_samples = {rows}", "Use fewer clusters."))
