"""The settings of k-means and of spectral clustering, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from mercer.errors import InputError, message
from mercer.learners.data.validation import AUTO
from mercer.learners.parameters import method_of, non_negative_float, positive_int, positive_int_or_none, refuse_loo

EXACT, KRYLOV, LANDMARKS = "exact", "krylov", "landmarks"
NOTHING_LEFT_OUT = 'got "loo"', "Nothing is predicted here that could be left out."


class SpectralParameters(Protocol):
    """Spectral clustering, as its settings are read; values are what the user gave."""

    n_clusters: Any
    n_components: Any
    lengthscale: Any
    method: Any
    n_init: Any
    max_iter: Any
    tol: Any


class KMeansParameters(Protocol):
    """K-means, as its settings are read; values are what the user gave."""

    n_clusters: Any
    lengthscale: Any
    n_init: Any
    max_iter: Any
    tol: Any
    method: Any
    n_landmarks: Any


@dataclass(frozen=True)
class KMeansSettings:
    """The settings of k-means.

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
    def of(cls, given: KMeansParameters) -> KMeansSettings:
        """The parameters of k-means, or one clear error."""
        refuse_loo(given.lengthscale, *NOTHING_LEFT_OUT)
        method = method_of(given.method, AUTO, EXACT, LANDMARKS)
        landmarks = positive_int_or_none("n_landmarks", given.n_landmarks)
        clusters = positive_int("n_clusters", given.n_clusters, "Use 8.")
        runs = positive_int("n_init", given.n_init, "Use 10.")
        steps = positive_int("max_iter", given.max_iter, "Use 300.")
        tolerance = non_negative_float("tol", given.tol, "Leave it out if in doubt.")
        return cls(clusters, runs, steps, tolerance, method, landmarks)


@dataclass(frozen=True)
class SpectralSettings:
    """The settings of spectral clustering.

    clusters, runs : how many clusters, and starts of k-means
    components : how many eigenvectors; None for as many as clusters
    method : "auto", "exact" or "krylov"
    tolerance : the residual of eigenvectors, relative to the largest eigenvalue, which is one
    products : with the kernel matrix, at most
    """

    clusters: int
    runs: int
    components: int | None
    method: str
    tolerance: float
    products: int

    @classmethod
    def of(cls, given: SpectralParameters) -> SpectralSettings:
        """The parameters of spectral clustering, or one clear error."""
        refuse_loo(given.lengthscale, *NOTHING_LEFT_OUT)
        method = method_of(given.method, AUTO, EXACT, KRYLOV)
        components = given.n_components
        components = None if components is None else positive_int("n_components", components, "Use 8.")
        clusters = positive_int("n_clusters", given.n_clusters, "Use 8.")
        runs = positive_int("n_init", given.n_init, "Use 10.")
        products = positive_int("max_iter", given.max_iter, "Use 60.")
        tolerance = non_negative_float("tol", given.tol, "Leave it out if in doubt.")
        return cls(clusters, runs, components, method, tolerance, products)


def refuse_few_rows(rows: int, clusters: int) -> None:
    """Every cluster needs a row."""
    if rows < clusters:
        needs = f"at least as many rows of positive weight as clusters, {clusters}"
        raise InputError(message(needs, f"n_samples = {rows}", "Use fewer clusters."))
