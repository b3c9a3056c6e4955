"""Penalties, weights of kernels and lengthscales chosen from the data."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mercer.tuning.combination import Combination as Combination
    from mercer.tuning.combination import combine as combine
    from mercer.tuning.folds import kfold_path as kfold_path
    from mercer.tuning.leave_one_out import loo_path as loo_path
    from mercer.tuning.path import Path as Path
    from mercer.tuning.stretching import Stretch as Stretch
    from mercer.tuning.stretching import stretch as stretch
else:
    from mercer.exports import later

    __getattr__, __dir__, __all__ = later(
        __name__,
        {
            "Combination": "combination",
            "Path": "path",
            "Stretch": "stretching",
            "combine": "combination",
            "kfold_path": "folds",
            "loo_path": "leave_one_out",
            "stretch": "stretching",
        },
    )
