"""A plan from shapes alone, before there is any data."""

from __future__ import annotations

import math
import numbers
from dataclasses import replace
from typing import Any

from mercer.compute.runtime.memory import Budget
from mercer.errors import InputError, message, speaks
from mercer.kernels import Kernel
from mercer.kernels.base import PythonFunction
from mercer.kernels.function import kernel_from
from mercer.kernels.text import parse
from mercer.lifts.n_features import most_features
from mercer.planner.choose import choose
from mercer.planner.machine import Machine
from mercer.planner.ridge import RidgePlan, RidgeTask

DEFAULT = "matern(nu=2.5, lengthscale='median')"
"""The kernel of the learners where none is given."""
ALPHAS = 45
"""Penalties of a path, where alpha is "auto"."""
DTYPES = ("float32", "float64")


@speaks
def plan(
    rows: int,
    columns: int,
    outputs: int = 1,
    *,
    kernel: Kernel | PythonFunction | str | None = None,
    features: int | None = None,
    alpha: float | str = "auto",
    dtype: str = "float32",
    memory_limit: int | str | Budget | None = None,
    time_limit: float | None = None,
    machine: Machine | None = None,
) -> RidgePlan:
    """Plan least squares on a table of this shape: the method, its cost, and the other methods.

    Cost: nothing, but for a second or two where this machine is measured first. With data, `model.plan(X, y)` knows
    more: how fast the kernel's eigenvalues fall, which says how many iterations there will be.

    Parameters
    ----------
    rows, columns : int
        Positive sizes of the data.
    outputs : int, default=1
        Positive number of targets.
    kernel : Kernel, str, callable or None, default=None
        A kernel or its text; None for Matern 5/2.
    features : int or None, default=None
        How many features a lift has that is given instead of a kernel; None for a kernel.
    alpha : float or "auto", default="auto"
        A number, or "auto" where it is chosen by leave-one-out.
    dtype : {"float32", "float64"}, default="float32"
        Of the rows.
    memory_limit : int, str, Budget or None, default=None
        Bytes, or a text such as "4 GB"; None for most of the free memory.
    time_limit : float or None, default=None
        A positive number of seconds; None for a minute, as an aim.
    machine : Machine or None, default=None
        Its rates are used; None for this machine.

    Returns
    -------
    Plan

    Examples
    --------
    >>> from mercer.planner.machine import ROUGH
    >>> print(plan(581_012, 54, 7, memory_limit="16 GB", machine=ROUGH))  # doctest: +ELLIPSIS
    least squares on 581,012 rows x 54 columns, 7 outputs: nystrom, one pass, 1,000 landmarks
         method                                         time     memory  gives up
      -> nystrom, one pass, 1,000 landmarks             27 s...MiB  exactness (certified), alpha chosen on 16,384 rows
         nystrom, iterative, 250 landmarks              39 s...MiB  exactness (certified), alpha chosen on 3,000 rows
         random features, one pass, 1,000 features      42 s...MiB  exactness (certified), alpha chosen on 16,384 rows
         conjugate gradients, rank 2,000               3.5 h    9.4 GiB  alpha chosen on 3,000 rows
         direct, kernel matrix, Eigen               378 days    7.4 TiB  nothing
      stages: landmarks 1.2 s, pass 18 s, solve 2.0 s, check 5.8 s
      why: This kernel has no finite feature map that is known. The quickest exact method within memory takes 3.5 h.
      why not nystrom, iterative, 250 landmarks: slower
      why not random features, one pass, 1,000 features: landmarks follow the data, random features do not
      why not conjugate gradients, rank 2,000: too slow, for an aim of 60 s
      why not direct, kernel matrix, Eigen: does not fit the memory, 14.9 GiB
    """
    for name, count in (("rows", rows), ("columns", columns), ("outputs", outputs), ("features", features)):
        _check_count(name, count)
    limit = _seconds(time_limit)
    if dtype not in DTYPES:
        raise InputError(message('"float32" or "float64" for dtype', f"got {dtype!r}", 'Use "float32".'))
    path = _is_auto(alpha)
    task = _task(rows, columns, outputs, kernel, features, path, dtype == "float32")
    task = replace(task, unpenalized=not path and float(alpha) == 0.0)
    return choose(task, budget=Budget.of(memory_limit), seconds=limit, machine=machine)


def _task(
    rows: int,
    columns: int,
    outputs: int,
    kernel: Kernel | PythonFunction | str | None,
    features: int | None,
    path: bool,
    single: bool,
) -> RidgeTask:
    alphas = ALPHAS if path else 1
    if features is not None:
        return RidgeTask(rows, columns, outputs, features, alphas, path, lift_given=True, single=single)
    read = _kernel(kernel)
    return RidgeTask(
        rows,
        columns,
        outputs,
        most_features(read, columns),
        alphas,
        path,
        approximable=True,
        spectral=read.law(columns) is not None,
        products=True,
        single=single,
    )


def _kernel(kernel: Kernel | PythonFunction | str | None) -> Kernel:
    if kernel is None or isinstance(kernel, str):
        return parse(DEFAULT if kernel is None else kernel, open=True)
    kernel = kernel_from(kernel)
    if not isinstance(kernel, Kernel):
        raise InputError(message("a kernel or its text", f"got {kernel!r}", 'Use "gaussian", say.'))
    return kernel


def _check_count(name: str, count: Any) -> None:
    optional = name == "features" and count is None
    if not optional and (isinstance(count, bool) or not isinstance(count, numbers.Integral) or count < 1):
        got, remedy = f"got {count!r:.60}", "Use 1000, say."
        if hasattr(count, "shape"):
            got, remedy = f"got an array of shape {count.shape}", "KernelRidge().plan(X, y) plans for data."
        raise InputError(message(f"a positive integer for {name}", got, remedy))


def _is_auto(alpha: Any) -> bool:
    if isinstance(alpha, str) and alpha == "auto":
        return True
    if isinstance(alpha, bool) or not isinstance(alpha, numbers.Real) or not 0 <= float(alpha) < math.inf:
        raise InputError(message('a number of at least 0 for alpha, or "auto"', f"got {alpha!r}", "Use 1.0."))
    return False


def _seconds(limit: Any) -> float | None:
    if limit is None:
        return None
    if isinstance(limit, bool) or not isinstance(limit, numbers.Real) or not 0 < float(limit) < math.inf:
        raise InputError(message("a positive number of seconds for time_limit", f"got {limit!r}", "Use 60, say."))
    return float(limit)
