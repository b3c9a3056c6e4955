"""What is read without a question to scikit-learn is what scikit-learn would have answered."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import validate_data

from mercer.lifts.inputs import DTYPES, checked_table

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(6, 3))
TABLES = {
    "float64": X,
    "float32": X.astype(np.float32),
    "Fortran": np.asfortranarray(X),
    "every second row": X[::2],
    "integers": np.arange(6).reshape(2, 3),
    "booleans": X > 0,
    "big-endian": X.astype(">f8"),
    "float16": X.astype(np.float16),
    "NaN": np.where(X > 1, np.nan, X),
    "infinities of both signs": np.where(np.abs(X) > 1, np.inf * X, X),
    "a sum that overflows": np.full((3, 3), 1e308),
    "one dimension": X[0],
    "three dimensions": X[None],
    "no rows": X[:0],
    "no columns": X[:, :0],
    "other columns": X[:, :2],
    "a frame": pd.DataFrame(X, columns=["a", "b", "c"]),
    "a frame of other names": pd.DataFrame(X, columns=["a", "b", "d"]),
    "a list": X.tolist(),
    "complex": X.astype(complex),
    "text": np.array([["a", "b", "c"]]),
    "a matrix": np.ma.masked_array(X),
}


class Plain(TransformerMixin, BaseEstimator):
    """An estimator that notes its columns, and nothing else."""


def theirs(estimator, table, reset):
    return validate_data(estimator, table, reset=reset, dtype=DTYPES, order="C")


def outcome(read, fitted_to, table, reset):
    """What comes back, or is raised or warned, and what is noted."""
    estimator = Plain()
    if fitted_to is not None:
        theirs(estimator, fitted_to, True)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = read(estimator, table, reset)
            seen = (found.dtype, found.flags.c_contiguous, found.tolist(), found is table)
        except (ValueError, TypeError) as error:
            seen = (type(error), str(error))
    noted = {name: np.asarray(value).tolist() for name, value in vars(estimator).items()}
    return seen, noted, [str(each.message) for each in told]


@pytest.mark.parametrize("reset", [True, False])
@pytest.mark.parametrize("fitted_to", [None, X, X[:, :2], TABLES["a frame"]], ids=["nothing", "X", "two", "a frame"])
@pytest.mark.parametrize("name", TABLES)
def test_as_scikit_learn(name, fitted_to, reset):
    assert outcome(checked_table, fitted_to, TABLES[name], reset) == outcome(theirs, fitted_to, TABLES[name], reset)
