"""Answers in kind: tensors for a tensor, on the same device; arrays for other tables."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning

from mercer.backends.tensors import brought, cuda_device, inside, is_tensor, like
from mercer.errors import caller_level, speaking

PUBLIC = (
    "fit",
    "partial_fit",
    "plan",
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "score_samples",
    "sample_y",
    "transform",
    "inverse_transform",
    "fit_transform",
    "fit_predict",
    "score",
)
"""The methods whose first argument is a table of rows."""


class AnswersInKind:
    """An estimator whose public methods take tensors; stands before scikit-learn's classes."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in PUBLIC:
            found = inspect.getattr_static(cls, name, None)
            if isinstance(found, FunctionType) and not hasattr(found, "answers_in_kind"):
                setattr(cls, name, in_kind(found))

    def _holds_tensors(self) -> bool:
        """Whether rows on a device stay there; else they are brought to this process."""
        return False

    def _asks_for_cores(self) -> bool:
        """Whether it was said that this process computes, so that nobody is surprised."""
        return False


def in_kind(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that takes tensors, and answers with tensors where X is one; else it is the same.

    Targets and weights become arrays of this process; so does X where rows are not held on its device.
    """

    @wraps(method)
    def answered(self: Any, *args: Any, **kwargs: Any) -> Any:
        for each in (*args, *kwargs.values()):  # arrays are the rule, and pass without a call
            if each is not None and type(each) is not np.ndarray and is_tensor(each):
                break
        else:
            return method(self, *args, **kwargs)
        X = args[0] if args else kwargs.get("X")
        thin = [brought(each) if is_tensor(each) else each for each in args[1:]]
        named = {name: brought(each) if name != "X" and is_tensor(each) else each for name, each in kwargs.items()}
        if not is_tensor(X):
            return method(self, *args[:1], *thin, **named)
        with inside(X) as outermost:
            rows = _taken(self, X)
            found = method(self, rows, *thin, **named) if args else method(self, *thin, **{**named, "X": rows})
        return like(found, X) if outermost else found

    answered.answers_in_kind = True  # type: ignore[attr-defined]
    return answered


def _taken(estimator: AnswersInKind, X: Any) -> Any:
    """The rows as an estimator takes them: where they are, or in this process."""
    device = cuda_device(X)
    if device is None:
        return X
    with speaking(type(estimator).__name__):
        if estimator._holds_tensors():
            return X
        rows = brought(X)
        if isinstance(rows, np.ndarray) and not estimator._asks_for_cores():
            told = f"{type(estimator).__name__} reads these rows in this process: they were copied from {device}."
            remedy = "Give X.cpu() to say so yourself; docs/gpu.md tells what computes on a card."
            warnings.warn(f"{told} {remedy}", DataConversionWarning, stacklevel=caller_level())
    return rows
