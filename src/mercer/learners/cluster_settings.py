"""The settings that learners of clusters share, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.errors import InputError, sentence
from mercer.learners.assembly import LOO
from mercer.learners.reading import AUTO, shown
from mercer.learners.views import MatrixView, View

EXACT, LANDMARKS = "exact", "landmarks"


@dataclass(frozen=True)
class KMeansSettings:
    """What is asked of k-means.

    clusters, runs, steps : how many clusters, starts, and steps of each
    tolerance : the part of the inertia by which a step may let it fall, and be the last
    solver : "auto", "exact" or "landmarks"
    rank : how many landmarks; None for the planner's choice
    """

    clusters: int
    runs: int
    steps: int
    tolerance: float
    solver: str
    rank: int | None

    @classmethod
    def of(cls, estimator: Any) -> KMeansSettings:
        """The parameters of a learner, or one clear error."""
        who = type(estimator).__name__
        refuse_loo(who, estimator.lengthscale)
        if not (isinstance(estimator.solver, str) and estimator.solver in (AUTO, EXACT, LANDMARKS)):
            needs, came = 'solver that is "auto", "exact" or "landmarks"', f"{shown(estimator.solver)} came"
            raise InputError(sentence(who, needs, came, 'Use "auto", the default.'))
        rank = None if estimator.rank is None else whole(who, "rank", estimator.rank, 200)
        counts = (("n_clusters", 8), ("n_init", 10), ("max_iter", 300))
        clusters, runs, steps = (whole(who, name, getattr(estimator, name), usual) for name, usual in counts)
        return cls(clusters, runs, steps, at_least_zero(who, "tol", estimator.tol), estimator.solver, rank)


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
        refuse_loo(who, estimator.lengthscale)
        components = None if given is None else whole(who, "n_components", given, 8)
        counts = (("n_clusters", 8), ("n_init", 10), ("max_iter", 60))
        clusters, runs, products = (whole(who, name, getattr(estimator, name), usual) for name, usual in counts)
        return cls(clusters, runs, components, at_least_zero(who, "tol", estimator.tol), products)


def whole(who: str, name: str, given: Any, usual: int) -> int:
    """A whole number above zero."""
    if isinstance(given, bool | np.bool_) or not isinstance(given, int | np.integer) or given < 1:
        needs, came = f"a whole number above zero for {name}", f"{shown(given)} came"
        raise InputError(sentence(who, needs, came, f"Use {usual}."))
    return int(given)


def at_least_zero(who: str, name: str, given: Any) -> float:
    """A finite number that is not negative."""
    number = isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool)
    if not (number and 0 <= given < np.inf):
        needs, came = f"a finite number of at least 0 for {name}", f"{shown(given)} came"
        raise InputError(sentence(who, needs, came, "Leave it out if in doubt."))
    return float(given)


def refuse_loo(who: str, lengthscale: Any) -> None:
    """There is nothing to leave out where nothing is predicted."""
    if isinstance(lengthscale, str) and lengthscale == LOO:
        needs, came = 'a lengthscale that is "median" or a number', '"loo" came'
        raise InputError(sentence(who, needs, came, "Nothing is predicted here that could be left out."))


def refuse_few_rows(who: str, rows: int, clusters: int) -> None:
    """Every cluster needs a row."""
    if rows < clusters:
        needs = f"at least as many rows of a weight above zero as clusters, {clusters}"
        raise InputError(sentence(who, needs, f"n_samples = {rows}", "Use fewer clusters."))


def refuse_unliftable(who: str, view: View) -> None:
    """Refuse landmarks for what has no points, or is not known to be a kernel."""
    if isinstance(view, MatrixView):
        needs, came = 'a kernel or a lift for solver="landmarks"', "the kernel is precomputed"
        raise InputError(sentence(who, needs, came, 'Use "exact", or give the rows.'))
    if not view.sure:
        needs, came = 'a kernel that is proven for solver="landmarks"', f"{view.kernel} is not"
        raise InputError(sentence(who, needs, came, 'Use "exact", which looks at the matrix.'))
