"""The laws of lifts. `check_lift` raises AssertionError with the name of the first law that is broken."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from mercer.errors import NumericalWarning, speaks
from mercer.kernels import Kernel
from mercer.lifts import Certificate, Lift
from mercer.lifts.composition import KINDS, kernel_of, longest, rounding
from mercer.testing import transformer
from mercer.testing.laws import require
from mercer.testing.transformer import Table, as_array, fitted, in_domain, kernels_in, same

ROWS = 24
ROUNDING = 1e-12
"""How far an exact lift may be from its kernel: of sqrt(k(x, x) k(z, z)), and beside what the rounding of x does."""
DELTA = 1e-4
"""The probability with which a certificate may fail here: so small that a right lift is not called wrong."""
MOST = 1 << 22
"""Features of all products, in all rows, above which products of lifts are not tried."""


@speaks
def check_lift(lift: Lift, X: ArrayLike | None = None) -> None:
    """Check a lift against the laws of its kind.

    The laws: shape, the unfitted (refused), value (equal draws give equal features, fit forgets, transform changes
    nothing), data (left unchanged, and never shared), columns (a wrong number is refused), rows (each for itself),
    dtype, names, the kernel (phi(x).phi(z) is k(x, z): to rounding where the lift is exact, at many sizes of x, else
    within its certificate), the certificate, sparse tables, pickle, frames (where pandas is installed), composition
    (lift + lift, 2 * lift, lift * lift). Cost: some 30 fits, and a table of products of all features for a few rows.

    Parameters
    ----------
    lift : Lift
        Fitted or not; clones of it are fitted, with fixed seeds where `random_state` is None.
    X : array, table or None, default=None
        Data to use; None makes 24 rows of 3 columns in the domain of the kernel, among them zeros and twins.

    Raises
    ------
    AssertionError
        with the name of the law and what broke it

    Examples
    --------
    >>> from mercer.lifts.exact import Exact
    >>> from mercer.testing import check_lift
    >>> check_lift(Exact("linear**2 + 1"))
    """
    seeded = _seeded(lift)
    table = _table(seeded) if X is None else np.array(X, dtype=np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericalWarning)  # a lift that says what it cannot do is right
        for name, law in LAWS.items():
            try:
                law(seeded, table.copy())
            except AssertionError as broken:
                raise AssertionError(f"{lift!r} breaks the law of {name}: {broken}") from broken


def _seeded(lift: Lift) -> Lift:
    """A clone whose random draws can be repeated."""
    fresh: Lift = clone(lift)
    states = [name for name in fresh.get_params() if name.split("__")[-1] == "random_state"]
    return fresh.set_params(**{name: 0 for name in states if fresh.get_params()[name] is None})  # type: ignore[no-any-return]


def _table(lift: Lift) -> Table:
    """Rows in the domain of the kernels, one of them zero, two of them equal and two near each other."""
    rows = np.random.default_rng(30).normal(size=(ROWS, 3))
    rows[1] = rows[0]
    rows[2] = rows[3] + 1e-7
    rows[4] = 0.0
    for kernel in kernels_in(lift):
        rows = kernel.domain.place(rows)
    return rows


def law_of_the_kernel(lift: Lift, X: Table) -> None:
    """phi(x).phi(z) is k(x, z): to rounding where the lift is exact, at every size of x; else as certified."""
    phi = fitted(lift, X)
    kernel = kernel_of(phi)
    require(isinstance(kernel, Kernel) and not kernel.is_open, f"the kernel of the fitted lift is {kernel!r}")
    features = as_array(phi.transform(X))
    induced = phi.induced(X)
    scale = max(longest(features), 1e-300)
    gap = float(np.abs(induced - features @ features.T).max())
    require(gap <= ROUNDING * scale, f"induced(X) is off the products of the features by {gap:.3g}")
    lowest = float(np.linalg.eigvalsh(induced)[0])
    require(lowest >= -len(X) * ROUNDING * scale, f"the induced kernel has the eigenvalue {lowest:.3g}")
    if not phi.exact:
        _within(phi, phi.certificate(X, delta=DELTA), X)
        return
    _exactly(phi, kernel, X)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", NumericalWarning)
        rows = np.concatenate([X, 1e-6 * X, 1e3 * X, np.zeros((1, X.shape[1]))])
        rows = rows if in_domain(lift, rows) else X
        phi.transform(rows)
    if not any(issubclass(one.category, NumericalWarning) for one in said):  # else the user is told
        _exactly(phi, kernel, rows)


def _exactly(phi: Lift, kernel: Kernel, X: Table) -> None:
    """The gap is compared with the size of k, and with what the rounding of x itself does to k."""
    features, wanted = as_array(phi.transform(X)), kernel(X)
    sizes = np.sqrt(np.abs(np.diag(wanted)))
    signs = np.sign(np.random.default_rng(2).normal(size=(4, *X.shape)))
    moved = np.max([np.abs(kernel(X, X * (1 + 4 * np.finfo(float).eps * sign)) - wanted) for sign in signs], axis=0)
    allowed = (
        (ROUNDING + phi.n_features() * np.finfo(float).eps) * np.outer(sizes, sizes) + 4 * (moved + moved.T) + 1e-300
    )
    gaps = np.abs(features @ features.T - wanted)
    i, j = np.unravel_index(np.argmax(gaps / allowed), gaps.shape)
    where = f"x = {X[i].tolist()}, z = {X[j].tolist()}"
    require(
        (gaps <= allowed).all(),
        f"phi(x).phi(z) is {features[i] @ features[j]:.17g}, k(x, z) is {wanted[i, j]:.17g} for {where}",
    )


def _within(phi: Lift, known: Certificate, X: Table) -> None:
    """The error on the pairs of X is what the certificate says, or less, but for the rounding of this comparison."""
    features = as_array(phi.transform(X))
    gaps = np.abs(features @ features.T - kernel_of(phi)(X))
    found = float(gaps.mean() if known.kind == "mean" else gaps.max())
    allowed = known.bound + rounding(features.shape[1], np.float64, longest(features))
    require(found <= allowed, f"the {known.kind} error is {found:.3g}, the certificate says {known.bound:.3g}")


def law_of_the_certificate(lift: Lift, X: Table) -> None:
    """A finite bound that holds on new rows, a probability of at least 1 - delta, and a sentence."""
    phi = fitted(lift, X)
    new = X[::2] * 0.75 if in_domain(lift, X[::2] * 0.75) else X[::2]
    _within(phi, phi.certificate(new, delta=DELTA), new)
    bounds = []
    for delta in (0.001, 0.01, 0.1, 0.5):
        known = phi.certificate(X, delta=delta)
        require(isinstance(known, Certificate), f"certificate gives {type(known).__name__}")
        require(np.isfinite(known.bound) and known.bound >= 0, f"the bound is {known.bound}")
        sure = 1 - delta - 1e-12 <= known.probability <= 1
        require(sure, f"the probability is {known.probability} for delta = {delta}")
        require(known.kind in KINDS, f"the kind is {known.kind!r}")
        require(known.kind == "exact" or not phi.exact, f"the lift is exact, but its certificate is {known.kind!r}")
        require(isinstance(known.sentence, str) and known.sentence.endswith("."), f"{known.sentence!r} is no sentence")
        bounds.append(known.bound)
    require(bounds == sorted(bounds, reverse=True), f"the bounds grow with delta: {bounds}")


def law_of_composition(lift: Lift, X: Table) -> None:
    """Features side by side, all their products, and their multiples: sums, products and multiples of the kernel."""
    features, K = as_array(fitted(lift, X).transform(X)), kernel_of(fitted(lift, X))(X)
    few = max(1, min(len(X), MOST // features.shape[1] ** 2))
    products = (features[:few, :, None] * features[:few, None, :]).reshape(few, -1)
    cases: dict[str, tuple[Lift, Table, Table]] = {
        "lift + lift": (lift + lift, np.hstack([features, features]), K + K),
        "2 * lift": (2 * lift, 2 * features, 4 * K),  # type: ignore[dict-item]  # scikit-learn has no types
        "lift * -0.5": (lift * -0.5, -0.5 * features, 0.25 * K),
        "lift * lift": (lift * lift, products, K * K),
    }
    for name, (composed, wanted, kernel) in cases.items():
        if wanted.size > MOST:
            continue
        phi = fitted(composed, X)
        same(phi.transform(X[: len(wanted)]), wanted, f"{name} has other features")
        gap, size = float(np.abs(kernel_of(phi)(X) - kernel).max()), float(np.abs(kernel).max())
        require(gap <= 1e-12 * size, f"{name}: its kernel is off by {gap:.3g} at a size of {size:.3g}")


LAWS: dict[str, Callable[[Lift, Table], None]] = {
    "shape": transformer.law_of_shape,
    "the unfitted": transformer.law_of_the_unfitted,
    "value": transformer.law_of_value,
    "data": transformer.law_of_data,
    "columns": transformer.law_of_columns,
    "rows": transformer.law_of_rows,
    "dtype": transformer.law_of_dtype,
    "names": transformer.law_of_names,
    "the kernel": law_of_the_kernel,
    "the certificate": law_of_the_certificate,
    "sparse tables": transformer.law_of_sparse_tables,
    "pickle": transformer.law_of_pickle,
    "frames": transformer.law_of_frames,
    "composition": law_of_composition,
}
