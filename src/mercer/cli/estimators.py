"""The learner of a name, with settings that suit an unknown table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer.cli.exit_codes import Exit, Failure
from mercer.cli.lengthscales import MAX_STRETCHED_ROWS, has_lengthscales

if TYPE_CHECKING:
    from mercer.models.table_model import AnyLearner

LEARNERS = ("ridge", "svm", "logistic", "perceptron")
EPSILON_IN_DEVIATIONS = 0.1
"""epsilon of support vector regression, in standard deviations of the target."""
C_IN_DEVIATIONS = 10.0
"""C of support vector regression, in the same units."""
MAX_PASSES = 50
"""Of the perceptron over the rows, at most."""


@dataclass(frozen=True)
class Terms:
    """What a fit must keep to.

    memory_limit : a text such as "4GB", or None; time_limit : seconds, or None
    random_state : of random numbers; verbose : whether progress may be shown
    stretch : whether the lengthscales of the kernel may be changed: those of a proposal
    alpha, C : the penalty of ridge and logistic, or that of errors of svm, where one was given
    backend : what computes
    """

    memory_limit: str | None
    time_limit: float | None
    random_state: int
    verbose: bool
    stretch: bool = False
    alpha: float | None = None
    C: float | None = None
    backend: str = "auto"


def learner_of(name: str, task: str, kernel: Any, y: NDArray[Any], terms: Terms) -> AnyLearner:
    """A learner that is not fitted yet."""
    from mercer import learners

    shared: dict[str, Any] = {
        "memory_limit": terms.memory_limit,
        "time_limit": terms.time_limit,
        "backend": terms.backend,
        "verbose": "auto" if terms.verbose else False,
        "random_state": terms.random_state,
    }
    shared |= {} if terms.alpha is None else {"alpha": terms.alpha}
    if name == "ridge":
        found = learners.KernelRidgeClassifier if task == "classification" else learners.KernelRidge
        return found(kernel, lengthscale=_lengthscale(kernel, len(y), terms.stretch), **shared)
    if task == "classification":
        return _classifier(name, kernel, shared, terms.C)
    if name == "svm":
        deviation = float(np.std(y))
        C = C_IN_DEVIATIONS * deviation if terms.C is None else terms.C
        return learners.KernelSVR(kernel, C=C, epsilon=EPSILON_IN_DEVIATIONS * deviation, **shared)
    raise Failure(Exit.USAGE, f"--learner {name} classifies; the target holds numbers. Use ridge or svm.")


def _lengthscale(kernel: Any, rows: int, stretch: bool) -> str:
    """How kernel ridge finds lengthscales: "loo" where that is quick, and there are some."""
    return "loo" if stretch and rows <= MAX_STRETCHED_ROWS and has_lengthscales(kernel) else "median"


def _classifier(name: str, kernel: Any, shared: dict[str, Any], C: float | None) -> AnyLearner:
    from mercer import learners

    if name == "svm":
        return learners.KernelSVC(kernel, **shared | ({} if C is None else {"C": C}))
    if name == "logistic":
        return learners.KernelLogisticRegression(kernel, **shared)
    return learners.KernelPerceptron(kernel, max_iter=MAX_PASSES, shuffle=True, combine="averaged", **shared)


def check_learner(name: str) -> None:
    """Complain of a name that is none."""
    if name not in LEARNERS:
        raise Failure(Exit.USAGE, f"--learner needs one of {', '.join(LEARNERS)}; got {name!r}.")


def check_backend(name: str) -> None:
    """Complain of a backend that is none, or not to be had here."""
    from mercer.backends.choosing import named

    named(name)


def check_penalty(name: str, alpha: float | None, C: float | None) -> None:
    """Complain of a penalty that the learner does not have, or that is no penalty."""
    if alpha is not None and name not in ("ridge", "logistic"):
        raise Failure(Exit.USAGE, f"--alpha is for ridge and logistic; got {name}. Use --C for svm.")
    if C is not None and name != "svm":
        raise Failure(Exit.USAGE, f"--C is for svm; got {name}. Use --alpha for ridge and logistic.")
    for flag, value in (("--alpha", alpha), ("--C", C)):
        if value is not None and not (0 < value < np.inf or (value == np.inf and flag == "--C")):
            hard = ", or inf for a hard margin" * (flag == "--C")
            raise Failure(Exit.USAGE, f"{flag} needs a positive, finite number{hard}; got {value:g}.")
