"""Penalties and weights of kernels chosen from the data, by closed-form leave-one-out and k-fold."""

from mercer.tuning.folds import kfold_path
from mercer.tuning.leave_one_out import loo_path
from mercer.tuning.path import Path

__all__ = ["Path", "kfold_path", "loo_path"]
