"""What files know of the transformers of scikit-learn that stand before a learner, which cannot say it themselves.

Parameters by which one of them would run a function, start processes or keep files are not taken: they are refused, or
left out.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)

from mercer.models.entry import Entry, Hints
from mercer.models.estimators import Attributes, Number, Parameters, estimator

Floats = NDArray[np.float64]
Names = NDArray[np.object_]
Columns = str | int | slice | list[str] | list[int] | list[bool] | NDArray[Any]
Part: Any = BaseEstimator | Literal["drop", "passthrough"]
Step: Any = tuple[str, Part]
Chosen: Any = tuple[str, Part, Columns]
Scalar = type[np.generic]
Plain = Number | Scalar | list[Any] | tuple[Any, ...] | dict[Any, Any] | NDArray[Any]
SEEN: Hints = {"n_features_in_": int}
COUNTED: Hints = {"n_samples_seen_": int | float | NDArray[Any]}


def _entry(kind: Any, fitted: Hints, maybe: Hints, types: Hints | None = None, left: tuple[str, ...] = ()) -> Entry:
    found = Attributes(fitted, {"feature_names_in_": Names, **maybe})
    return estimator(kind, Parameters(Plain, types or {}, left), found)


SCALERS: tuple[Entry, ...] = (
    _entry(Pipeline, {}, {}, {"steps": list[Step]}, left=("memory",)),
    _entry(
        ColumnTransformer,
        {**SEEN, "transformers_": list[Chosen], "_columns": list[Columns], "sparse_output_": bool},
        {
            "_transformer_to_input_indices": dict[str, list[int]],
            "_remainder": Chosen,
            "output_indices_": dict[str, slice],
            "_n_features": int,
            "_transformers_feature_names_out": Names,
        },
        {"transformers": list[Chosen], "remainder": Part, "verbose_feature_names_out": bool | str},
        left=("n_jobs",),
    ),
    _entry(
        StandardScaler,
        {**SEEN, "mean_": Floats | None, "var_": Floats | None, "scale_": Floats | None},
        COUNTED,
    ),
    _entry(
        MinMaxScaler,
        {**SEEN, "min_": Floats, "scale_": Floats, "data_min_": Floats, "data_max_": Floats, "data_range_": Floats},
        COUNTED,
    ),
    _entry(MaxAbsScaler, {**SEEN, "scale_": Floats, "max_abs_": Floats}, COUNTED),
    _entry(RobustScaler, {**SEEN, "center_": Floats | None, "scale_": Floats | None}, {}),
    _entry(
        SimpleImputer,
        {**SEEN, "statistics_": NDArray[Any]},
        {"_fit_dtype": np.dtype[Any], "_fill_dtype": np.dtype[Any], "indicator_": MissingIndicator | None},
    ).with_nan("statistics_"),
    _entry(
        MissingIndicator,
        {**SEEN, "features_": NDArray[np.integer[Any]]},
        {"_precomputed": bool, "_n_features": int},
    ),
    _entry(
        OneHotEncoder,
        {**SEEN, "categories_": list[NDArray[Any]], "_infrequent_enabled": bool, "_n_features_outs": list[int]},
        {
            "drop_idx_": NDArray[Any] | None,
            "_drop_idx_after_grouping": NDArray[Any] | None,
            "_infrequent_indices": list[NDArray[np.integer[Any]] | None],
            "_default_to_infrequent_mappings": list[NDArray[np.integer[Any]] | None],
        },
        {"feature_name_combiner": str},
    ),
    _entry(
        FunctionTransformer,
        {},
        {"n_features_in_": int},
        {"func": None, "inverse_func": None, "kw_args": None, "inv_kw_args": None, "feature_names_out": str | None},
    ),
)
