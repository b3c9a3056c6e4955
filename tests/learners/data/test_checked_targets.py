"""Targets and labels that are read without a question to scikit-learn are those that it would have given."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from mercer.learners.data.labels import labels_of
from mercer.learners.data.validation import targets_of

X = np.zeros((8, 2))
Y = np.array([0, 1, 0, 1, 0, 1, 1, 1])
ARRAYS = {
    "integers": Y,
    "floats": Y.astype(float),
    "float32": Y.astype(np.float32),
    "booleans": Y > 0,
    "unsigned": Y.astype(np.uint8),
    "strided": np.repeat(Y, 2)[::2],
    "negative": -Y,
    "as many classes as rows": np.arange(8),
    "numbers": Y + 0.5,
    "large floats": Y * 1e20,
    "integers of large floats": np.where(Y > 0, 2.0**40, 0.0),
    "too large for float64": np.where(Y > 0, np.longdouble(10) ** 400, 0),
    "NaN": np.where(Y > 0, np.nan, 0.0),
    "infinity": np.where(Y > 0, np.inf, 0.0),
    "one column": Y[:, None],
    "two columns": np.stack([Y, Y], axis=1),
    "three dimensions": np.zeros((8, 1, 1)),
    "too few": Y[:5],
    "none": Y[:0],
    "one number": np.array(3.0),
    "text": np.array(["a", "b"])[Y],
}


def outcome(read, rows, y):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = read(rows, y)
            seen = (found.dtype, found.shape, found.tolist(), found.flags.c_contiguous)
        except (ValueError, TypeError) as error:
            seen = (type(error), str(error))
    return seen, [str(each.message) for each in told]


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("read", [labels_of, lambda rows, y: targets_of(BaseEstimator(), rows, y)], ids=["labels", "y"])
def test_beside_an_array_as_beside_a_list(name, read):
    """Beside a list of rows scikit-learn is asked."""
    assert outcome(read, X, ARRAYS[name]) == outcome(read, X.tolist(), ARRAYS[name])
