"""Input validation of learners and lifts: tables that NumPy reads, or one error that says what to do.

Tables of other libraries are known by their faces, so that none is imported.
"""

from __future__ import annotations

import datetime
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from mercer.backends.tensors import brought
from mercer.compute.codegen.sparse import is_sparse
from mercer.errors import InputError, message

DTYPES = [np.float64, np.float32]
MAX_SHOWN_CHARACTERS = 80
"""Characters of a value that a message shows; of longer ones it names the type."""
TEXTS = (str, bytes)
TIMES = (datetime.date, datetime.timedelta, np.datetime64, np.timedelta64)


def plain(name: str, data: Any) -> Any:
    """The data as a table that NumPy reads, or an error with the call that makes it one.

    Delayed arrays and frames of dask are computed, all at once, and arrays of other libraries become NumPy's (also
    where scikit-learn's array_api_dispatch is on). Nothing else is touched.
    """
    if data is None or isinstance(data, np.ndarray | list | tuple | str | int | float) or is_sparse(data):
        return data
    if hasattr(data, "__dask_graph__") and hasattr(data, "compute"):
        return _computed(name, data)
    if type(data).__name__ == "LazyFrame" and hasattr(data, "collect"):
        _refuse_foreign(name, data, f"Use {name}.collect().")
    if hasattr(data, "data_vars"):  # a Dataset of xarray
        _refuse_foreign(name, data, f"Use {name}.to_dataframe(), or {name}.to_array().values.T.")
    tensor = hasattr(data, "detach") and hasattr(data, "cpu")
    if not (tensor or hasattr(data, "__array_namespace__")):
        return data
    data = brought(data)  # one on a card, which is thin, or that is read in this process anyway
    if isinstance(data, np.ndarray):
        return data
    remedy = f"Use {name}.detach().cpu().numpy()." if tensor else "Copy it to the CPU as an array of NumPy first."
    device = getattr(data, "device", "cpu")
    if getattr(data, "requires_grad", False) or "cpu" not in str(device).lower():
        _refuse_foreign(name, data, remedy)
    try:
        return np.asarray(data)
    except (TypeError, RuntimeError) as error:
        if tensor:  # of a dtype or a layout that NumPy has not
            strided = str(getattr(data, "layout", "torch.strided")) == "torch.strided"
            remedy = f"Use {name}.{'float' if strided else 'to_dense'}().numpy()."
        got = f"NumPy cannot read it: {str(error).rstrip('.')}"
        raise InputError(message(f"an array for {name}", got, remedy)) from error


def _computed(name: str, data: Any) -> Any:
    try:
        len(data)
    except ValueError as error:  # chunks of unknown sizes
        raise InputError(message(f"so many rows of {name}", f"dask says: {error}", f"Use {name}.compute().")) from error
    return data.compute()


def _refuse_foreign(name: str, data: Any, remedy: str) -> NoReturn:
    told = f"got a {type(data).__name__} of {type(data).__module__.partition('.')[0]}"
    if getattr(data, "requires_grad", False):
        told += " that requires a gradient"
    elif "complex" in str(getattr(data, "dtype", "")):
        told += " of complex numbers"
    elif hasattr(data, "device"):
        told += f" on the device {data.device}"
    raise InputError(message(f"an array of numbers in memory for {name}", told, remedy))


def checked_table(estimator: BaseEstimator, X: Any, reset: bool, sparse: str | bool = False) -> Any:
    """Rows as scikit-learn's `validate_data` gives them, in float64 or float32 and in C order.

    It asks many questions, also of an array that is as it should be; where all answers are known it is not asked.

    reset : whether the columns are noted, as in a fit, or are to be those that were
    sparse : the sparse format that is taken, or False
    """
    if type(X) is np.ndarray and X.ndim == 2 and X.dtype in DTYPES and X.flags.c_contiguous and X.size:
        noted = vars(estimator)
        as_noted = noted.get("n_features_in_") == X.shape[1] and "feature_names_in_" not in noted
        if (as_noted or reset) and finite_sum(X):
            if not as_noted:
                noted.pop("feature_names_in_", None)
                estimator.n_features_in_ = X.shape[1]
            return X
    return validate_data(estimator, X, reset=reset, dtype=DTYPES, accept_sparse=sparse, order="C")


def finite_sum(X: NDArray[Any]) -> bool:
    """Whether the sum is finite, and so all numbers are; large ones may have none."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(X.sum()))


def shown(value: Any) -> str:
    """A value as messages show it: itself where that is short, else its type."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    text = repr(value)
    return (
        text if len(text) <= MAX_SHOWN_CHARACTERS and "\n" not in text else f"something of type {type(value).__name__}"
    )


def refuse_unreadable(name: str, data: Any) -> None:
    """Refuse text, dates, missing entries of masked arrays, rows of unequal lengths, and what is no table at all."""
    if is_sparse(data):
        return
    array = array_of(name, data)
    if array.dtype.kind not in "OUSMm" and (array.ndim or name != "y"):
        return
    if array.ndim == 0:
        remedy = "Give an array, a list of rows, or a DataFrame."
        raise InputError(message(f"an array for {name}", f"got {shown(data)}", remedy))
    found = next((at for at, cell in np.ndenumerate(array) if isinstance(cell, TEXTS + TIMES)), None)
    if found is not None:
        _refuse_cell(name, array[found], found, getattr(data, "columns", None))


def array_of(name: str, data: Any) -> NDArray[Any]:
    """The data as an array of any dtype; not a copy where it is one."""
    if np.ma.is_masked(data):
        got, remedy = "got a masked array with missing entries", "Fill or drop these."
        raise InputError(message(f"all entries of {name}", got, remedy))
    data = plain(name, data)
    try:
        return np.asarray(data)
    except ValueError as error:
        got, remedy = "got lists of unequal lengths", "Give an array, or a list of equally long lists."
        raise InputError(message(f"an array for {name}", got, remedy)) from error


def _refuse_cell(name: str, cell: Any, at: tuple[int, ...], columns: Any) -> NoReturn:
    column = "" if len(at) < 2 else f"column {at[1] if columns is None else repr(columns[at[1]])}, "
    if len(at) < 2:
        remedy = "Convert it to numbers; of strings are the kernels Spectrum, GappySubsequence and BagOfWords."
    else:
        place = at[1] if columns is None else repr(columns[at[1]])
        remedy = (
            f"Convert it to numbers, or read that column by a kernel of its own, Match().on([{place}]) of labels or "
        )
        remedy += (
            f"Spectrum().on([{place}]) of strings, and others by theirs; mercer.kernel_for(X) proposes a sum of such."
        )
    if isinstance(cell, TIMES):
        remedy = "Count the days since a first date, say."
    elif name == "y":
        remedy = "Convert it to numbers; labels are for KernelRidgeClassifier."
    raise InputError(message(f"numbers for {name}", f"{column}row {at[0]} holds {str(cell)!r}", remedy))
