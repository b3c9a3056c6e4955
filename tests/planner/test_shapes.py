"""Plans from shapes alone."""

import re

import numpy as np
import pytest
from machines import names

from mercer.compute.runtime.memory import Budget
from mercer.errors import BudgetError, InputError, ParseError
from mercer.kernels import Gaussian, Min
from mercer.planner.from_shapes import plan
from mercer.planner.machine import ROUGH

HERE = {"machine": ROUGH, "memory_limit": "16 GB"}


def test_the_default_is_the_learners_kernel_with_every_way():
    found = plan(100_000, 18, **HERE)
    assert names(found) == {"direct", "conjugate gradients", "nystrom", "nystrom iterative", "random features"}
    assert (found.rows, found.columns, found.outputs) == (100_000, 18, 1)


def test_a_kernel_with_a_finite_lift_has_one_pass():
    found = plan(10**6, 20, kernel="polynomial(degree=2)", **HERE)
    assert (found.details.side, found.n_features) == ("primal", 231)
    assert "one pass" in names(found)
    assert "random features" not in names(found)


def test_kernels_without_a_law_have_no_random_features():
    assert "random features" not in names(plan(100_000, 1, kernel=Min(), **HERE))
    assert "random features" in names(plan(100_000, 1, kernel=Gaussian(1.0), **HERE))


def test_features_of_a_lift():
    found = plan(10**6, 20, features=500, **HERE)
    assert names(found) == {"direct", "one pass"}
    assert {way.n_features for way in (found, *found.others) if way.details.side == "primal"} == {500}


def test_alpha_that_is_given_takes_a_factor():
    assert type(plan(1000, 3, alpha=1.0, **HERE).details.solver).__name__ == "Cholesky"
    assert type(plan(1000, 3, alpha=np.float32(1), **HERE).details.solver).__name__ == "Cholesky"
    assert type(plan(1000, 3, **HERE).details.solver).__name__ == "Eigen"


def test_limits_are_kept_to():
    assert plan(10**6, 20, time_limit=5, **HERE).seconds <= 5
    assert plan(10**6, 20, machine=ROUGH, memory_limit="300 MB").bytes <= 300_000_000
    assert plan(10**6, 20, machine=ROUGH, memory_limit=Budget(10**9)).bytes <= 10**9
    with pytest.raises(BudgetError, match=r"^plan needs"):
        plan(10**6, 20, machine=ROUGH, memory_limit="1 MB")


def test_float32_rows_are_quicker():
    wide, narrow = (plan(50_000, 20, dtype=dtype, alpha=1.0, **HERE) for dtype in ("float64", "float32"))
    assert narrow.seconds < wide.seconds


@pytest.mark.parametrize(
    ("settings", "needs"),
    [
        ({"rows": 0}, "a positive integer for rows"),
        ({"rows": 1e6}, "a positive integer for rows"),
        (
            {"rows": np.ones((3, 2))},
            "a positive integer for rows; got an array of shape (3, 2). KernelRidge().plan(X, y) plans for data.",
        ),
        ({"columns": True}, "a positive integer for columns"),
        ({"outputs": -1}, "a positive integer for outputs"),
        ({"features": 0}, "a positive integer for features"),
        ({"alpha": "best"}, 'a number of at least 0 for alpha, or "auto"'),
        ({"alpha": -1.0}, 'a number of at least 0 for alpha, or "auto"'),
        ({"alpha": float("nan")}, 'a number of at least 0 for alpha, or "auto"'),
        ({"time_limit": 0}, "a positive number of seconds for time_limit"),
        ({"time_limit": "1 min"}, "a positive number of seconds for time_limit"),
        ({"dtype": "int8"}, '"float32" or "float64" for dtype'),
        ({"kernel": 3}, "a kernel or its text"),
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused(settings, needs):
    with pytest.raises(InputError, match=re.escape(f"plan needs {needs}")):
        plan(**{"rows": 1000, "columns": 3, **HERE, **settings})


def test_a_text_that_is_no_kernel_is_refused():
    with pytest.raises(ParseError):
        plan(1000, 3, kernel="gaussian(", **HERE)
