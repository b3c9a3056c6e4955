"""Penalties, weights of kernels and lengthscales chosen from the data."""

from mercer.tuning.combine import Combination, combine
from mercer.tuning.folds import kfold_path
from mercer.tuning.leave_one_out import loo_path
from mercer.tuning.path import Path
from mercer.tuning.stretch import Stretch, stretch

__all__ = ["Combination", "Path", "Stretch", "combine", "kfold_path", "loo_path", "stretch"]
