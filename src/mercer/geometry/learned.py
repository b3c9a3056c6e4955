"""Mercer's own learners: the features that their weights belong to, as polynomials of the columns that they got."""

from __future__ import annotations

from mercer.errors import InputError, message
from mercer.geometry.express import exact_expansion, expansion_of, names_of
from mercer.geometry.model import OfColumns
from mercer.kernels import Kernel
from mercer.lifts.base import Lift
from mercer.lifts.expansion import Expansion

POLYNOMIAL = 'Use a kernel such as "linear", "parabolic" or "polynomial(degree=2)", or a lift such as Polynomial().'


def features_within(model: OfColumns) -> Expansion | None:
    """The features of `coef_`: those of `lift_`, or of the finite lift of `kernel_`; None for models of columns.

    Scikit-learn's linear models have neither.
    """
    lift, kernel = getattr(model, "lift_", None), getattr(model, "kernel_", None)
    if isinstance(lift, Lift):
        expansion, what = expansion_of(lift), type(lift).__name__
    elif isinstance(kernel, Kernel):
        expansion, what = exact_expansion(kernel, model.n_features_in_, names_of(model)), str(kernel)
    else:
        return None
    if getattr(model, "combine", "") == "voted":
        got = "it predicts by a vote of many functions"
        raise InputError(message("one function", got, 'Use combine="averaged", or "last".'))
    if expansion is None:
        raise InputError(message("features that are polynomials", f"those of {what} are not", POLYNOMIAL))
    return expansion
