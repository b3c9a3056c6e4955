"""From a shape to a halfspace: the weights on a lift that say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.sparse import csr_array

from mercer.compute.codegen.sparse import is_sparse
from mercer.errors import InputError, KernelError, message
from mercer.geometry.accurate import Vector
from mercer.geometry.model import OfColumns
from mercer.kernels import Kernel
from mercer.kernels.points import Points
from mercer.lifts.exact import exact_lift
from mercer.lifts.expansion import Expansion, monomial_text

if TYPE_CHECKING:
    from mercer.geometry.base import Shape

_RESIDUAL = 1e-12
"""How far a coefficient may be missed, relative to itself and to what was added up."""


class OnLift(NamedTuple):
    """A halfspace of the lifted space: <weights, phi(x)> + intercept >= 0.

    Parameters
    ----------
    weights : array of shape (features,)
        One per feature.
    intercept : float
        Added to <weights, phi(x)>.

    Examples
    --------
    >>> from mercer.geometry import Ball
    >>> from mercer.lifts import Parabolic
    >>> Ball([1.0, 0.0], 2.0).halfspace(Parabolic().fit([[0.0, 0.0]]))
    OnLift(weights=array([ 2.,  0., -1.]), intercept=3.0)
    """

    weights: Vector
    intercept: float


def expansion_of(lift: Any) -> Expansion | None:
    """The polynomials that a fitted lift is made of; of scikit-learn's PolynomialFeatures as well; else None."""
    expansion = getattr(lift, "expansion_", None)
    if isinstance(expansion, Expansion):
        return expansion
    powers = getattr(lift, "powers_", None)
    if powers is not None:
        return _from_powers(np.asarray(powers))
    return _from_landmarks(lift) if hasattr(lift, "landmark_points") else None


def express(shape: Shape, lift: Any) -> OnLift:
    """The weights and the intercept of a shape on a lift. Cost: that of least squares with a row a monomial."""
    expansion = expansion_of(lift)
    if expansion is None:
        got = f"got {type(lift).__name__}"
        raise InputError(
            message(
                "a fitted lift whose features are polynomials",
                got,
                "Fit Polynomial() or Parabolic().",
                subject="halfspace",
            )
        )
    if expansion.width != shape.width:
        got = f"the lift has {expansion.width}"
        raise InputError(
            message(
                f"a lift of {shape.width} columns", got, "Fit it on rows of the shape's columns.", subject="halfspace"
            )
        )
    return _solved(shape, lift, expansion)


def _solved(shape: Shape, lift: Any, expansion: Expansion) -> OnLift:
    terms = shape.terms.expanded()
    wanted = {_key(row): number for row, number in zip(terms.factors, terms.coefficients.tolist(), strict=True)}
    constant = wanted.pop((), 0.0)
    keys = [_key(row) for row in expansion.factors]
    missing = sorted(wanted.keys() - set(keys))
    target = np.array([wanted.get(key, 0.0) for key in keys])
    free = np.array([bool(key) for key in keys])  # the intercept answers for the constant
    weights = _weights(expansion, target, free)
    if missing or not _met(expansion, weights, target, free):
        raise InputError(_refusal(shape, lift, missing))
    return OnLift(weights, constant - float(expansion.combined(weights)[~free].sum()))


def _weights(expansion: Expansion, target: Vector, free: NDArray[np.bool_]) -> Vector:
    """The shortest weights that give the target; refined, since its entries may be of very different sizes."""
    C = expansion.coefficients[:, free]
    gram = C @ C.T
    if gram.nnz == np.count_nonzero(gram.diagonal()):  # no two features share a monomial
        return np.asarray((C @ target[free]) / np.where(gram.diagonal() == 0, 1.0, gram.diagonal()))
    inverse = np.linalg.pinv(C.toarray().T)
    weights = np.zeros(len(expansion))
    for _ in range(3):
        weights = weights + inverse @ (target[free] - C.T @ weights)
    return weights


def _met(expansion: Expansion, weights: Vector, target: Vector, free: NDArray[np.bool_]) -> bool:
    """Whether each coefficient is met, relative to itself and to what was added up."""
    sizes = np.abs(target) + abs(expansion.coefficients).T @ np.abs(weights)
    left = np.abs(expansion.combined(weights) - target)
    return bool((left <= _RESIDUAL * sizes + np.finfo(np.float64).tiny)[free].all())


def _refusal(shape: Shape, lift: Any, missing: list[tuple[int, ...]]) -> str:
    if missing:
        word = monomial_text(np.array(missing[0], dtype=np.intp), list(shape.names))
        got = f"its features hold no {word}"
    else:
        got = "no weights of its features give this polynomial"
    return message(
        f"features that can express this {shape.kind}",
        got,
        "Use Polynomial() of a sufficient degree.",
        subject=type(lift).__name__,
    )


def _key(row: NDArray[np.intp]) -> tuple[int, ...]:
    return tuple(row[row >= 0].tolist())


def _from_powers(powers: NDArray[np.intp]) -> Expansion:
    """Monomials from the power of each column in each of them."""
    degrees = powers.sum(axis=1)
    rows, columns = np.nonzero(powers)
    counts = powers[rows, columns]
    starts = np.cumsum(degrees) - degrees
    owner = np.repeat(rows, counts)
    factors = np.full((len(powers), max(1, int(degrees.max(initial=0)))), -1, dtype=np.intp)
    factors[owner, np.arange(len(owner)) - starts[owner]] = np.repeat(columns, counts)
    return Expansion.weighted(powers.shape[1], factors, np.ones(len(powers)))


def exact_expansion(kernel: Kernel, width: int, names: tuple[str, ...] | None) -> Expansion | None:
    """The polynomials that are the exact features of a kernel; None where it has none, or they are no polynomials."""
    try:
        return expansion_of(exact_lift(kernel, Points(np.ones((1, width)), names)))
    except KernelError:
        return None


def names_of(estimator: OfColumns) -> tuple[str, ...] | None:
    """The names of the columns that an estimator was fitted on."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else tuple(names)


def _from_landmarks(nystrom: Any) -> Expansion | None:
    """R^-T k(L, x) of a Nystrom lift, where the features of its kernel are polynomials: k(L, x) = Phi(L) phi(x)."""
    if nystrom.kernel_ is None or nystrom.kernel_.kinds:
        return None
    exact, values = exact_expansion(nystrom.kernel_, nystrom.n_features_in_, names_of(nystrom)), nystrom.landmarks_
    if exact is None:
        return None
    found = exact.evaluate(values.toarray() if is_sparse(values) else np.asarray(values, dtype=np.float64))
    whitened = solve_triangular(nystrom.triangle(), found, trans=1)
    return Expansion(exact.width, exact.factors, csr_array(whitened @ exact.coefficients))
