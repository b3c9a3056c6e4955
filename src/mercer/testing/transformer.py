"""What every lift must obey as a transformer: what comes in and out, whatever its kernel is."""

from __future__ import annotations

import importlib
import importlib.util
import pickle
import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, csr_matrix, issparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from mercer.kernels import Kernel
from mercer.kernels.text import parse
from mercer.lifts import Lift
from mercer.lifts.composition import longest
from mercer.testing.laws import require

Table = NDArray[Any]
AGREEMENT = {"float32": 1e-4, "float64": 1e-8}
"""How far two ways to the same features may differ, relative to the longest row: solves with a kernel matrix amplify
the rounding of its entries."""


def kernels_in(lift: Lift) -> list[Kernel]:
    """The kernels among the parameters of a lift and its parts."""
    found = [value for name, value in lift.get_params().items() if name.split("__")[-1] == "kernel"]
    return [parse(value) if isinstance(value, str) else value for value in found]


def in_domain(lift: Lift, rows: Table) -> bool:
    """Whether rows lie in the domain of all kernels."""
    return not any(kernel.domain.misfits(rows).any() for kernel in kernels_in(lift))


def fitted(lift: Lift, X: Any) -> Lift:
    """A clone, fitted."""
    return clone(lift).fit(X)  # type: ignore[no-any-return]


def as_array(features: Any) -> Table:
    """Features as an array, sparse or in a frame as they may be."""
    return np.asarray(features.toarray() if issparse(features) else features)


def close(found: Any, wanted: Any, what: str) -> None:
    """Fail unless two tables of features agree to rounding, in the narrower dtype of the two."""
    found, wanted = as_array(found), as_array(wanted)
    require(found.shape == wanted.shape, f"{what}: the shape is {found.shape} instead of {wanted.shape}")
    gap = float(np.abs(found.astype(np.float64) - wanted).max(initial=0.0))
    narrow = "float32" if np.float32 in (found.dtype, wanted.dtype) else "float64"
    allowed = AGREEMENT[narrow] * max(float(np.sqrt(longest(wanted))), 1e-300)
    require(gap <= allowed, f"{what}: the difference is {gap:.3g}, at most {allowed:.3g} is allowed")


def same(found: Any, wanted: Any, what: str) -> None:
    """Fail unless two tables of features are equal to the last bit."""
    require(np.array_equal(as_array(found), as_array(wanted)), what)


def refuses(action: Callable[[], Any], error: type[Exception], what: str) -> None:
    """Fail unless something raises an error."""
    try:
        action()
    except error:
        return
    except (AttributeError, LookupError, TypeError, ValueError) as other:
        raise AssertionError(f"{what} gives {type(other).__name__}: {other}") from other
    raise AssertionError(f"{what} was accepted")


def law_of_shape(lift: Lift, X: Table) -> None:
    """One row per row, one column per feature, all of them finite; a row alone is a table, too."""
    phi = fitted(lift, X)
    features = phi.transform(X)
    count = len(phi.get_feature_names_out())
    require(features.ndim == 2, f"the features have {features.ndim} dimensions")
    require(features.shape == (len(X), count), f"{len(X)} rows and {count} names give the shape {features.shape}")
    require(phi._n_features_out == count, f"{phi._n_features_out} features are stated, {count} are named")
    require(phi.transform(X[:1]).shape == (1, count), f"one row gives the shape {phi.transform(X[:1]).shape}")
    require(np.isfinite(as_array(features)).all(), "a feature is not finite")


def law_of_the_unfitted(lift: Lift, X: Table) -> None:
    """Before fit every question is refused by NotFittedError."""
    questions: dict[str, Callable[[Lift], Any]] = {
        "transform": lambda phi: phi.transform(X),
        "get_feature_names_out": lambda phi: phi.get_feature_names_out(),
        "certificate": lambda phi: phi.certificate(X),
        "induced": lambda phi: phi.induced,
    }
    for name, question in questions.items():
        refuses(lambda: question(clone(lift)), NotFittedError, f"{name} before fit")  # noqa: B023  # called at once


def law_of_value(lift: Lift, X: Table) -> None:
    """Equal parameters and data give equal bits; fit forgets what was before; transform changes nothing."""
    phi = fitted(lift, X.copy())
    held = set(vars(phi))
    features = as_array(phi.transform(X.copy()))  # copies, since what happens to the data is another law
    phi.transform(X[:3].copy())
    same(phi.transform(X.copy()), features, "the same rows have other features the second time")
    require(set(vars(phi)) == held, f"transform has left {set(vars(phi)) ^ held} behind")
    twin = fitted(lift, X.copy())
    same(twin.transform(X.copy()), features, "a clone that is fitted to the same rows has other features")
    close(clone(lift).fit_transform(X.copy()), features, "fit_transform against transform")
    with suppress(ValueError):  # a lift may need this number of columns, or so many rows
        twin.fit(np.column_stack([X, X[:, 0]])[: len(X) // 2 + 1])
    same(twin.fit(X.copy()).transform(X.copy()), features, "another fit before changes the features")


def law_of_data(lift: Lift, X: Table) -> None:
    """What comes in stays as it is, what comes out can be changed freely, and nothing is shared."""
    before, given = X.copy(), X.copy()
    phi = fitted(lift, given)
    features = phi.transform(X)
    phi.certificate(X)
    require(np.array_equal(X, before) and np.array_equal(given, before), "the data was changed")
    values = features.data if issparse(features) else features
    kept = as_array(features).copy()
    require(values.flags.writeable, "the features are read-only")
    require(not np.shares_memory(values, X), "the features share the memory of the data")
    values += 1
    given[:] = 0.5
    same(phi.transform(X), kept, "the features are others after the first answer, or the data of fit, was changed")
    names = phi.get_feature_names_out()
    wanted = list(names)
    names[:] = "changed"
    require(list(phi.get_feature_names_out()) == wanted, "the names are others after the first answer was changed")


def law_of_columns(lift: Lift, X: Table) -> None:
    """Another number of columns, or of names, is refused, and so is a single list of numbers."""
    phi = fitted(lift, X)
    names = [f"c{j}" for j in range(X.shape[1] + 1)]
    for misfit in (X[:, 1:], np.column_stack([X, X[:, 0]]), X[0]):
        refuses(lambda: phi.transform(misfit), ValueError, f"data of shape {misfit.shape}")  # noqa: B023
    for wrong in (names, names[2:]):
        refuses(lambda: phi.get_feature_names_out(wrong), ValueError, f"{len(wrong)} names of columns")  # noqa: B023


def law_of_rows(lift: Lift, X: Table) -> None:
    """The features of a row do not depend on the other rows, nor on how the table lies in memory."""
    phi = fitted(lift, X)
    features = as_array(phi.transform(X))
    order = np.random.default_rng(1).permutation(len(X))
    close(phi.transform(X[order]), features[order], "rows in another order")
    close(phi.transform(X[::3]), features[::3], "some of the rows")
    for row in range(0, len(X), 4):
        close(phi.transform(X[row : row + 1]), features[row : row + 1], f"row {row} alone")
    close(phi.transform(np.asfortranarray(X)), features, "columns side by side in memory")


def law_of_dtype(lift: Lift, X: Table) -> None:
    """float32 gives float32 and float64 gives float64, with the same values; integers count as float64."""
    phi, narrow, whole = fitted(lift, X), X.astype(np.float32), np.rint(3 * X).astype(np.int64)
    require(phi.transform(X).dtype == np.float64, f"float64 gives {phi.transform(X).dtype}")
    if in_domain(lift, narrow.astype(np.float64)):
        found = phi.transform(narrow)
        require(found.dtype == np.float32, f"float32 gives {found.dtype}")
        close(found, phi.transform(narrow.astype(np.float64)), "float32 against float64")
        require(fitted(lift, narrow).transform(narrow).dtype == np.float32, "fitted to float32, float32 is lost")
    if in_domain(lift, whole.astype(np.float64)):
        found = phi.transform(whole)
        require(found.dtype == np.float64, f"integers give {found.dtype}")
        same(found, phi.transform(whole.astype(np.float64)), "integers have other features than the same floats")


def law_of_names(lift: Lift, X: Table) -> None:
    """As many names as features, no two of them equal; where they speak of columns, by the names that these have."""
    phi = fitted(lift, X)
    names = list(phi.get_feature_names_out())
    require(all(isinstance(name, str) and name for name in names), "a name is no text, or empty")
    twins = [name for name, times in Counter(names).items() if times > 1]
    require(not twins, f"names stand twice: {twins[:3]}")
    given = [f"c{j}" for j in range(1, X.shape[1] + 1)]
    wanted = [re.sub(r"(?<![A-Za-z_])x(?=\d)", "c", name) for name in names]
    found = list(phi.get_feature_names_out(given))
    wrong = next((pair for pair in zip(found, wanted, strict=False) if pair[0] != pair[1]), None)
    require(found == wanted, f"for columns c1, c2, ... the names are {wrong and wrong[0]!r} for {wrong and wrong[1]!r}")


def law_of_sparse_tables(lift: Lift, X: Table) -> None:
    """Sparse tables, where they are taken, have the features of the dense ones; else they are refused."""
    dense = np.where(np.abs(X) < 0.6, 0.0, X)
    if not lift.takes_sparse:
        refuses(lambda: clone(lift).fit(csr_array(dense)), TypeError, "a sparse table")
        return
    if not in_domain(lift, dense):
        return
    for form in (np.array, csr_array, csr_matrix, csc_array):
        phi = fitted(lift, form(dense))
        wanted = phi.transform(dense)
        require(not issparse(wanted), "a dense table gives sparse features")
        for other in (csr_array, csr_matrix, csc_array):
            table = other(dense)
            what = f"fitted to a {form.__name__}, a {other.__name__} against the dense table"
            close(phi.transform(table), wanted, what)
            require((table.toarray() == dense).all(), "the sparse data was changed")
    narrow = phi.transform(csr_array(dense.astype(np.float32)))
    require(narrow.dtype == np.float32, f"a sparse table of float32 gives {narrow.dtype}")


def law_of_pickle(lift: Lift, X: Table) -> None:
    """A lift that was stored and read again gives the same features and names."""
    phi = fitted(lift, X)
    try:
        again = pickle.loads(pickle.dumps(phi))  # noqa: S301  # written in the same breath
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise AssertionError(f"it cannot be stored: {error}") from error
    same(again.transform(X), phi.transform(X), "the features are others after storing")
    require(list(again.get_feature_names_out()) == list(phi.get_feature_names_out()), "the names are others")


def law_of_frames(lift: Lift, X: Table) -> None:
    """The names of a frame's columns arrive in the names; frames come out where they are asked for."""
    if importlib.util.find_spec("pandas") is None:
        return
    given = [f"c{j}" for j in range(1, X.shape[1] + 1)]
    frame = importlib.import_module("pandas").DataFrame(X, columns=given, index=np.arange(len(X))[::-1])
    phi, plain = fitted(lift, frame), fitted(lift, X)
    names = list(plain.get_feature_names_out(given))
    require(list(phi.get_feature_names_out()) == names, "the names of the frame's columns do not arrive")
    same(phi.transform(frame), plain.transform(X), "a frame has other features than its numbers")
    phi.set_output(transform="pandas")
    found = phi.transform(frame)
    require(list(found.columns) == names, f"the columns of the frame are {list(found.columns)[:3]}...")
    require((found.index == frame.index).all(), "the rows of the frame lose their index")
    same(found, plain.transform(X), "the frame holds other features")
    require(phi.certificate(frame) == plain.certificate(X), "the certificate is another for frames")
