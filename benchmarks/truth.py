"""Who is silently wrong: the ill-conditioned problems of the tests, solved by Mercer and by scikit-learn.

    python benchmarks/truth.py [--quick] [--json PATH]

A problem is missed where predictions are off by more than 1e-6 of their size (1e-3 for float32), at the rows or at new
ones, against mpmath with as many digits as it takes. It is missed silently where `fit` gave no warning. A warning was
needed where a problem was missed, and is a false alarm where the error is below a hundredth of what would have been
allowed. Of Mercer only warnings that name the condition number count; of scikit-learn every warning and error does.

scikit-learn's `KernelRidge` has no intercept and fewer kernels: it is given the problems whose kernel it has, without
their intercept, and so is Mercer, in turns.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from report import machine
from sklearn.kernel_ridge import KernelRidge as Theirs

from mercer import kernels as k

RESULTS = Path(__file__).parent / "results"
EVERY = 12
"""A quick run takes one of so many problems."""
TESTS = Path(__file__).parent.parent / "tests" / "learners"
sys.path.insert(0, str(TESTS))
ill_conditioned: Any = importlib.import_module("ill_conditioned")

NAMES: dict[type[k.Kernel], tuple[str, Callable[[Any], dict[str, float]]]] = {
    k.Gaussian: ("rbf", lambda kernel: {"gamma": 1 / (2 * kernel.lengthscale**2)}),
    k.ProductLaplace: ("laplacian", lambda kernel: {"gamma": 1 / kernel.lengthscale}),
    k.ExponentialChiSquared: ("chi2", lambda kernel: {"gamma": 1 / kernel.lengthscale}),
    k.Polynomial: ("polynomial", lambda kernel: {"gamma": 1.0, "degree": kernel.degree, "coef0": kernel.offset}),
    k.Linear: ("linear", lambda kernel: {}),
    k.Cosine: ("cosine", lambda kernel: {}),
}
"""What scikit-learn calls a kernel, and its numbers."""


@dataclass(frozen=True)
class Case:
    """What became of one problem in one library."""

    problem: str
    library: str
    error: float
    limit: float
    warned: bool

    @property
    def missed(self) -> bool:
        """Whether the predictions are wrong."""
        return not self.error <= self.limit

    @property
    def false_alarm(self) -> bool:
        """Whether a warning was given for nothing."""
        return self.warned and self.error <= self.limit / 100


@dataclass(frozen=True)
class Row:
    """All problems of a set in one library."""

    problems: str
    library: str
    number: int
    silent: int
    given: int
    needed: int
    false_alarms: int
    worst_silent: float

    @classmethod
    def of(cls, problems: str, library: str, cases: list[Case]) -> Row:
        """Count."""
        silent = [case.error for case in cases if case.missed and not case.warned]
        return cls(
            problems, library, len(cases), len(silent), sum(case.warned for case in cases),
            sum(case.missed for case in cases), sum(case.false_alarm for case in cases), max(silent, default=0.0),
        )  # fmt: skip

    def cells(self) -> list[str]:
        """For the table, under HEAD."""
        numbers = (self.number, self.silent, self.given, self.needed, self.false_alarms)
        return [self.problems, self.library, *map(str, numbers), f"{self.worst_silent:.0e}" if self.silent else ""]


HEAD = ["problems", "library", "number", "silent misses", "warnings given", "warnings needed", "false alarms",
        "largest silent error"]  # fmt: skip


def ours(problem: Any) -> Case:
    found = ill_conditioned.examine(problem)
    return Case(problem.name, "Mercer", found.error, problem.limit, bool(found.told))


def theirs(problem: Any) -> Case:
    kernel = problem.kernel.resolve(problem.X.astype(float), problem.weights)
    name, numbers = NAMES[type(kernel)]
    model = Theirs(kernel=name, alpha=problem.alpha, **numbers(kernel))
    fit = partial(model.fit, problem.X, problem.y, sample_weight=problem.weights)
    try:
        warned = ill_conditioned.warnings_of(fit, Warning)
    except ValueError:  # float32 overflows
        return Case(problem.name, "scikit-learn", np.inf, problem.limit, warned=True)
    found = model.predict(np.concatenate([problem.X, problem.new]))
    error = ill_conditioned.error_of(problem, found, ill_conditioned.truth_of(problem, kernel, problem.alpha))
    return Case(problem.name, "scikit-learn", error, problem.limit, bool(warned))


def shared() -> Iterator[Any]:
    """The problems that scikit-learn can be given."""
    for problem in ill_conditioned.suite():
        if type(problem.kernel) in NAMES and not isinstance(problem.alpha, str) and not problem.fused:
            yield replace(problem, intercept=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="some of the problems")
    parser.add_argument("--json", type=Path, default=RESULTS / "truth.json", help="where the record goes")
    options = parser.parse_args()
    step = EVERY if options.quick else 1
    about, every = machine(), [ours(problem) for problem in islice(ill_conditioned.suite(), 0, None, step)]
    both = [(ours(problem), theirs(problem)) for problem in islice(shared(), 0, None, step)]
    mine, others = [pair[0] for pair in both], [pair[1] for pair in both]
    part = "those that scikit-learn can express"
    rows = [Row.of("all", "Mercer", every), Row.of(part, "Mercer", mine), Row.of(part, "scikit-learn", others)]
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    for row in rows:
        print(f"| {' | '.join(row.cells())} |")
    _write(options.json, about, rows, every + mine + others)


def _write(path: Path, about: dict[str, Any], rows: list[Row], cases: list[Case]) -> None:
    path.parent.mkdir(exist_ok=True)
    missed = [asdict(case) for case in cases if case.missed and not case.warned]
    record = {"machine": about, "rows": [asdict(row) for row in rows], "silent misses": missed}
    path.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
