"""The names of an estimator's parameters, which copies and searches ask for many times a fit."""

from __future__ import annotations

from typing import Any, ClassVar


class ParameterNames:
    """Reads the signature of a constructor once; stands before `BaseEstimator`, which reads it with each question.

    A search asks some ten times for each fit, and a signature takes longer to read than a few rows to fit.
    """

    _parameter_names: ClassVar[tuple[Any, tuple[str, ...]]] = (None, ())
    """The constructor that was read, and what it takes: a subclass with another one reads its own."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        constructor, names = cls._parameter_names
        if constructor is not cls.__init__:
            names = tuple(super()._get_param_names())  # type: ignore[misc]  # of scikit-learn
            cls._parameter_names = cls.__init__, names
        return list(names)
