"""Penalties and weights of kernels chosen from the data, by closed-form leave-one-out and k-fold."""

from mercer.tuning.combine import Combination, combine
from mercer.tuning.folds import kfold_path
from mercer.tuning.leave_one_out import loo_path
from mercer.tuning.path import Path

__all__ = ["Combination", "Path", "combine", "kfold_path", "loo_path"]
