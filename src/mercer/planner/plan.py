"""The plan: the chosen method, what it will cost, and the methods not chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from mercer.planner.html import ShownPlan

Plain = str | int | float | bool | None
APPROXIMATE = ("landmarks", "nystrom", "nystrom iterative", "random features", "fourier grid")
"""The methods whose model is not that of the kernel, nor of the lift that was given."""


@dataclass(frozen=True)
class Stage:
    """A part of the work, with its predicted time.

    Parameters
    ----------
    name : str
        The name of the part.
    seconds : float
        Predicted seconds.

    Examples
    --------
    >>> from mercer.planner import Stage
    >>> Stage("solve", 6.1)
    Stage(name='solve', seconds=6.1)
    """

    name: str
    seconds: float


@dataclass(frozen=True)
class Details:
    """What only the plans of one family of learners hold; a member adds its fields.

    task : what is fitted, in words
    methods : the names that `Plan.method` may have
    unit : what `Plan.outputs` counts
    """

    task: ClassVar[str]
    methods: ClassVar[tuple[str, ...]]
    unit: ClassVar[str] = "output"

    def describe(self, plan: Plan[Any]) -> str:
        """The method of a plan in a few words."""
        count = plan.n_landmarks if plan.method == "landmarks" else plan.n_features
        return f"{plan.method} ({count:,})" if count else plan.method


AnyDetails = TypeVar("AnyDetails", bound=Details)


class Comparison(Protocol):
    """What a plan says of the other methods: why it was chosen, and they with why not."""

    @property
    def reason(self) -> str:
        """Why this method; of one that was not chosen, why not."""
        ...

    @property
    def others(self) -> tuple[Plan[Any], ...]:
        """The plans of the methods not chosen."""
        ...


@dataclass(frozen=True)
class Compared:
    """A comparison that has been made."""

    reason: str = ""
    others: tuple[Plan[Any], ...] = ()


@dataclass(frozen=True)
class Plan(ShownPlan, Generic[AnyDetails]):
    """One method to fit a model, and what it needs; `print` shows it beside the others.

    Parameters
    ----------
    method : str
        How the work is done: "exact", "landmarks", "direct", "conjugate gradients", ...
    rows, columns : int
        Of the data.
    outputs : int
        How many outputs, functions, clusters or components are learned; 0 for all components.
    bytes : int
        Memory at the peak beyond the data, about.
    seconds : float
        Time, about.
    stages : tuple of Stage
        The parts of the work, in order.
    details : Details
        What only this family of learners needs to know.
    n_features : int, default=0
        Of the lift, or random features; 0 where the method has none.
    n_landmarks : int, default=0
        Landmarks, also those that an exact method begins with; 0 where the method has none.
    gives_up : str, default=""
        What the model is not, in words; "" where nothing is given up.
    backend : str, default="cpu"
        What computes.
    lanes : int, default=0
        How many threads have sums of their own, on which last digits depend; 0 for as many as there are.
    threads : int, default=0
        How many threads BLAS has; 0 for as many as it has.
    comparison : Comparison, default=Compared()
        The reason and the other methods; they may be computed when they are read.

    Attributes
    ----------
    task : str
        What is fitted: "least squares", "SVM", "k-means", ...
    exact : bool
        Whether the model is that of the kernel itself, not of an approximation to it.
    reason : str
        Why this method; of one that was not chosen, why not.
    others : tuple of Plan
        The methods not chosen.

    Examples
    --------
    >>> from mercer.planner.ridge import RidgeDetails
    >>> from mercer.solvers import Cholesky, Eigen
    >>> eigen = RidgeDetails("dual", Eigen(), 9e12)
    >>> slow = Plan("direct", 10_000, 8, 1, 2_400_000_000, 250.0, (), eigen, comparison=Compared("slower"))
    >>> stages = Stage("kernel matrix", 0.3), Stage("solve", 6.1)
    >>> cholesky = RidgeDetails("dual", Cholesky(), 3.4e11)
    >>> known = Compared("This kernel has no finite feature map that is known.", (slow,))
    >>> print(Plan("direct", 10_000, 8, 1, 800_000_000, 6.4, stages, cholesky, comparison=known))
    least squares on 10,000 rows x 8 columns, 1 output: direct, kernel matrix, Cholesky
         method                             time     memory  gives up
      -> direct, kernel matrix, Cholesky   6.4 s  762.9 MiB  nothing
         direct, kernel matrix, Eigen    4.2 min    2.2 GiB  nothing
      stages: kernel matrix 0.3 s, solve 6.1 s
      why: This kernel has no finite feature map that is known.
      why not direct, kernel matrix, Eigen: slower
    """

    method: str
    rows: int
    columns: int
    outputs: int
    bytes: int
    seconds: float
    stages: tuple[Stage, ...]
    details: AnyDetails
    n_features: int = 0
    n_landmarks: int = 0
    gives_up: str = ""
    backend: str = "cpu"
    lanes: int = field(default=0, repr=False, compare=False)
    threads: int = field(default=0, repr=False, compare=False)
    comparison: Comparison = field(default=Compared(), repr=False, compare=False)

    @property
    def task(self) -> str:
        """What is fitted, in words."""
        return self.details.task

    @property
    def exact(self) -> bool:
        """Whether the model is that of the kernel itself, or of the lift that was given."""
        return self.method not in APPROXIMATE

    @property
    def reason(self) -> str:
        """Why this method; of one that was not chosen, why not."""
        return self.comparison.reason

    @property
    def others(self) -> tuple[Plan[AnyDetails], ...]:
        """The methods not chosen, the quickest first."""
        return self.comparison.others

    _saved: ClassVar[Mapping[str, Any]] = {"_values": dict[str, Plain], "_other_values": list[dict[str, Plain]]}

    @property
    def _values(self) -> dict[str, Plain]:
        return self.record()

    @property
    def _other_values(self) -> list[dict[str, Plain]]:
        return [other.record() for other in self.others]

    @classmethod
    def _restored(cls, given: Mapping[str, Any]) -> Plan[Any]:
        """The plan of a model file, beside those of the methods that were not chosen."""
        plan, others = cls.restored(given["_values"]), tuple(map(cls.restored, given["_other_values"]))
        return replace(plan, comparison=Compared(plan.reason, others))

    def record(self) -> dict[str, Plain]:
        """Plain values, from which `restored` makes the plan again, without the methods that were not chosen.

        Returns
        -------
        dict
        """
        from mercer.planner.record import recorded

        return recorded(self)

    @classmethod
    def restored(cls, record: Mapping[str, Any]) -> Plan[Any]:
        """The plan of a record; an error where it holds none.

        Parameters
        ----------
        record : dict
            As `record` returns it.

        Returns
        -------
        Plan
        """
        from mercer.planner.record import restored

        return restored(record)

    def __str__(self) -> str:
        from mercer.planner.explain import explain

        return explain(self)
