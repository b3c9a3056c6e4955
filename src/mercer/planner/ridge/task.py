"""The task of least squares: what is known of it before any work, and which of its methods is preferred."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mercer.planner.limits import INSTANT, UNSAVED, Limits
from mercer.planner.machine import ROUGH
from mercer.planner.plan import Stage
from mercer.planner.ridge import reasons
from mercer.planner.ridge.candidates import candidates
from mercer.planner.ridge.details import GRID, RidgeDetails, RidgePlan, is_good, size_of, to_digits
from mercer.planner.ridge.direct import fewest_operations
from mercer.planner.ridge.no_fit_error import refusal
from mercer.planner.ridge.streaming import JUDGED
from mercer.planner.task import Refusal, Task
from mercer.solvers import Solver

if TYPE_CHECKING:
    from mercer.planner.ridge.fourier_grid import GridSize

COUNTABLE = 10**12
"""Features that a plan may have: those of a kernel of high degree may be more than the range of floats."""
BRIEF = 2.0
"""Seconds that a direct method may take to be preferred to a quicker pass over the rows."""
STARTED, JUDGED_BY, LIFTED = 15_000.0, 25_000.0, 40_000.0
"""Calls of NumPy around any work: in all, to judge a path of penalties, and for a lift that was given."""
GLANCE = 1.0
"""Seconds of the quickest exact method, by rough rates, up to which this machine is not measured."""


@dataclass(frozen=True)
class RidgeTask(Task[RidgeDetails]):
    """Least squares that are to be planned.

    Parameters
    ----------
    rows, columns, outputs : int
        Of the data.
    n_features : int or None
        Of the finite lift; None where there is none.
    alphas : int, default=1
        How many penalties a whole path has; 1 where alpha is given, and so many as differ where several are.
    path : bool, default=False
        Whether alpha is chosen by leave-one-out, which takes a decomposition that serves every alpha.
    lengthscales : int, default=1
        How many are tried.
    approximable : bool, default=False
        Whether landmarks can stand for the kernel: it is known, and rows are points.
    spectral : bool, default=False
        Whether random features can: its spectral law is known.
    n_landmarks : int or None, default=None
        Of the Nystrom lift that was given; None where none was.
    requested : int or None, default=None
        How many landmarks it was to have; it keeps fewer where the kernel has no more.
    lift_given : bool, default=False
        Whether the features are those of a lift that was given, so that no kernel is to be matched.
    products : bool, default=False
        Whether products with the kernel matrix can be had without the matrix.
    unpenalized : bool, default=False
        Whether some alpha is 0, so that features may need an orthogonal factor beside that of Z'Z.
    single : bool, default=False
        Whether the rows are in float32, for which products in float32 do.
    pair : float or None, default=None
        Seconds for a pair of these rows in a product with one vector, where that was measured.
    spectrum : tuple of float or None, default=None
        The largest eigenvalues of the kernel matrix, descending, as a sample of rows estimates them.
    alpha : float or None, default=None
        The penalty, where it is known.
    stored : bool, default=True
        Whether the rows are in memory; False where they come in pieces from a source.
    copied : int, default=0
        Numbers that are held beside every method: rows that were converted, targets, weights, coefficients.
    solver : Solver or None, default=None
        The only one that is considered; None for all.
    side : {"auto", "dual", "primal"}, default="auto"
        What is solved for: whatever is cheaper, one coefficient per row, or one weight per feature.
    method : {"auto", "exact", "landmarks", "fourier_grid"}, default="auto"
        What was requested: any method, those whose model is that of the kernel, those that draw landmarks, or a grid.
    wanted_landmarks : int or None, default=None
        How many landmarks are drawn where a method draws them; None for the most within memory and time.
    components : int, default=0
        Of the states of the kernel, where the rows have one column and it has states; 0 where it has none.
    extra_features : int, default=0
        Features of the kernel that stand beside its states.

    grid : GridSize or None, default=None
        Of the frequencies that stand for the kernel; None where there is no such grid.
    no_grid : str, default=""
        Why there is none.

    Examples
    --------
    >>> from mercer.planner import RidgeTask
    >>> task = RidgeTask(1000, 8, 1, None, 45, True)
    >>> task.rows, task.path
    (1000, True)
    """

    rows: int
    columns: int
    outputs: int
    n_features: int | None
    alphas: int = 1
    path: bool = False
    lengthscales: int = 1
    approximable: bool = False
    spectral: bool = False
    n_landmarks: int | None = None
    requested: int | None = None
    lift_given: bool = False
    products: bool = False
    unpenalized: bool = False
    single: bool = False
    pair: float | None = None
    spectrum: tuple[float, ...] | None = None
    alpha: float | None = None
    stored: bool = True
    copied: int = 0
    solver: Solver | None = None
    side: str = "auto"
    method: str = "auto"
    wanted_landmarks: int | None = None
    components: int = 0
    extra_features: int = 0
    grid: GridSize | None = None
    no_grid: str = ""

    @property
    def countable(self) -> bool:
        """Whether there is a finite lift whose features somebody could hold."""
        return self.n_features is not None and self.n_features <= COUNTABLE

    @property
    def width(self) -> int:
        """How many features there are; 0 without a lift that somebody could hold."""
        return self.n_features if self.n_features is not None and self.n_features <= COUNTABLE else 0

    @property
    def tuned(self) -> bool:
        """Whether alpha or the lengthscale is chosen."""
        return self.path or self.lengthscales > 1

    def approximates(self, plan: RidgePlan) -> bool:
        """Whether a plan gives another model than that of the kernel, or of the lift that was given.

        Parameters
        ----------
        plan : Plan
            A plan of this task.

        Returns
        -------
        bool
        """
        return not plan.exact and self.n_landmarks is None and not to_digits(plan)

    def beside(self, plan: RidgePlan) -> RidgePlan:
        """A plan with the memory that is held beside its method.

        Parameters
        ----------
        plan : Plan
            A plan of this task.

        Returns
        -------
        Plan
        """
        return replace(plan, bytes=plan.bytes + 8 * self.copied) if self.copied else plan

    def within(self, limits: Limits) -> Limits:
        """The limits that are left for the work of a method.

        Parameters
        ----------
        limits : Limits
            Of the whole fit.

        Returns
        -------
        Limits
        """
        return replace(limits, bytes=max(0, limits.bytes - 8 * self.copied)) if self.copied else limits

    def of_rows(self, rows: int) -> RidgeTask:
        """The same task on other rows, of which as much is copied per row.

        Parameters
        ----------
        rows : int
            How many.

        Returns
        -------
        RidgeTask
        """
        return replace(self, rows=rows, copied=-(-self.copied * rows // self.rows))

    # -- the choice -----------------------------------------------------------------------------------------------

    def candidates(self, limits: Limits) -> list[RidgePlan]:
        """A plan for each method that the task, and the solver where one is given, allow."""
        return [self.beside(plan) for plan in candidates(self, self.within(limits))]

    def at_once(self, limits: Limits) -> RidgePlan | None:
        """The direct method of the fewest operations, where it takes negligible time.

        Nothing is preferred to it then: times below `INSTANT` are alike, so that operations decide, and methods that
        are not direct come before direct ones only where these take longer than `BRIEF`.
        """
        found = fewest_operations(self, self.within(limits))
        if found is None or found.seconds > INSTANT or (limits.seconds is not None and found.seconds > limits.direct):
            return None
        plan = self.beside(found)
        return plan if plan.bytes <= limits.bytes else None

    def is_long(self, limits: Limits) -> bool:
        """Whether the quickest exact method takes long by rough rates; never where nothing fits the memory."""
        plans = self.candidates(limits)
        if not any(plan.bytes <= limits.bytes for plan in plans):
            return False
        exact = [plan.seconds for plan in plans if self.quality(plan) < 2]
        return min(exact or [plan.seconds for plan in plans]) >= GLANCE

    def best(self, plans: Iterable[RidgePlan], limits: Limits) -> RidgePlan | None:
        """Direct where that is quick; else exact within the time; else the most landmarks within it; else the quickest.

        Where none fits the memory, the smallest.
        """
        given = list(plans)
        fitting = [plan for plan in given if plan.bytes <= limits.bytes]
        if not fitting:
            return min(given, key=lambda plan: plan.bytes) if given else None
        exact = sorted(
            (plan for plan in fitting if self.quality(plan) < 2),
            key=lambda plan: (self.quality(plan), self.order(plan)),
        )
        at_once = [plan for plan in exact if not _steps(plan) and plan.seconds <= limits.direct]
        if at_once:
            return self._telling(at_once)
        within = [
            plan for plan in exact if plan.seconds <= limits.patience and (_steps(plan) or _unhurried(plan, limits))
        ]
        if within:
            return min(within, key=self.order)
        rough = [plan for plan in fitting if self.quality(plan) == 2 and plan.seconds <= limits.patience]
        if rough:
            return max(rough, key=_worth)
        return min(fitting, key=self.order)

    def quality(self, plan: RidgePlan) -> int:
        """The rank of a plan: 0 for an exact model, 1 where few rows chose its alpha, 2 for an approximation.

        Parameters
        ----------
        plan : Plan
            A plan of this task.

        Returns
        -------
        int
        """
        if self.approximates(plan):
            return 2
        sample = plan.details.sample
        return 1 if sample is not None and sample < min(plan.rows, JUDGED) else 0

    def _telling(self, plans: list[RidgePlan]) -> RidgePlan:
        """The first; a direct one instead of a pass where it is as good and takes no time: it says more."""
        first = plans[0]
        direct = [plan for plan in plans if plan.method == "direct" and self.quality(plan) == self.quality(first)]
        return direct[0] if first.method in ("one pass", GRID) and direct and direct[0].seconds <= BRIEF else first

    def started(self, plan: RidgePlan, limits: Limits) -> RidgePlan:
        """With what each method takes before and after its work."""
        calls = STARTED + JUDGED_BY * self.path + LIFTED * self.lift_given
        rates = limits.machine
        first, seconds = plan.stages[0], calls * (ROUGH.call if rates.turn > 0 else rates.call)  # not those of a card
        stages = (Stage(first.name, first.seconds + seconds), *plan.stages[1:])
        return replace(plan, seconds=plan.seconds + seconds, stages=stages)

    # -- in words -------------------------------------------------------------------------------------------------

    def order(self, plan: RidgePlan) -> tuple[float, ...]:
        """Time, and operations among those that take none that counts."""
        return max(plan.seconds, INSTANT), plan.details.operations

    def why(self, best: RidgePlan, plans: Sequence[RidgePlan], limits: Limits) -> str:
        """What is known of the lift, what comes before this method and could not be taken, and what was given."""
        return reasons.why(self, best, plans, limits)

    def why_not(self, plan: RidgePlan, best: RidgePlan, limits: Limits) -> str:
        """The first of its faults: memory, time, an approximation, what it gives up, or that it takes longer."""
        return reasons.why_not(self, plan, best, limits)

    def refusal(self, plans: Sequence[RidgePlan], limits: Limits) -> Refusal:
        """The smallest method, how many rows it could take, and how many landmarks would fit."""
        return refusal(self, plans, limits)

    def closed(self) -> tuple[str, str, str]:
        """What is needed, what was given and what to do, where no method is open."""
        if self.method == "state_space":
            got = "rows stay in their source" if not self.stored else "it has none that is known here"
            return 'one column in memory and a kernel with states for method="state_space"', got, 'Use "auto".'
        if self.method == "fourier_grid":
            return 'a kernel and rows for method="fourier_grid"', self.no_grid, 'Use "auto".'
        if self.method == "landmarks":
            return 'a kernel for method="landmarks"', "landmarks cannot stand for this one", 'Use "auto".'
        if not self.stored and self.method == "exact":
            got = "they are too many, and stay in their source"
            return 'rows in memory for method="exact"', got, 'Use "auto", or raise memory_limit.'
        if self.side == "primal" and not self.countable:
            many = f"this one has {float(self.n_features or 0):.0e}"
            return 'a lift of which somebody could hold the features, for side="primal"', many, 'Use side="dual".'
        if not self.stored and self.side == "dual":
            got = "they are too many, and stay in their source"
            return 'rows in memory for side="dual"', got, 'Use side="auto", or raise memory_limit.'
        if not self.stored:
            needs_all = "" if self.solver is None else f", and {type(self.solver).__name__} needs them all"
            remedy = 'Use a kernel with its numbers, or a lift, and solver="auto".'
            return "rows in memory, or features to add up", f"they come in pieces{needs_all}", remedy
        remedy = "Use Eigen(), or give numbers: one alpha, one lengthscale."
        return "a solver of whole paths where something is chosen", f"{self.solver} solves for one alpha", remedy


def _steps(plan: RidgePlan) -> bool:
    """Whether a method goes by steps, after each of which it could stop."""
    return plan.method in ("conjugate gradients", "nystrom iterative") or (
        plan.method == GRID and not plan.details.solver.whole_path
    )


def _worth(plan: RidgePlan) -> tuple[bool, bool, int, float]:
    """What an approximation is preferred by: a small proven error, then many features."""
    return is_good(plan), plan.method != "random features", size_of(plan), -plan.seconds


def _unhurried(plan: RidgePlan, limits: Limits) -> bool:
    """Whether a method that cannot be stopped, or saved, may take the time that it takes."""
    return limits.seconds is None and not (limits.resumable and plan.method == "direct" and plan.seconds > UNSAVED)
