"""What exact kernel least squares would take of memory and time, and what is planned instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.displays.base import Display
from mercer.errors import InputError, message, speaks

if TYPE_CHECKING:
    from mercer.planner.machine import Machine

ROWS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
"""Numbers of rows, where none are given."""
METHODS = {
    "direct": "exact, direct",
    "conjugate gradients": "exact, iterative",
    "landmarks": "landmarks",
    "random features": "random features",
}
"""How methods are called in the legend; the others are not drawn."""
COLOURS = dict(zip(METHODS, ("tab:red", "tab:orange", "tab:blue", "tab:green"), strict=True))
SLOPE_RANGE = 10.0
"""A slope is that over the last so many times the number of rows."""
SECONDS_PER_MINUTE = 60.0
GIGABYTE = 1e9


@dataclass(eq=False, repr=False)
class CostDisplay(Display):
    """Planned memory and time of kernel least squares against the number of rows, a line per method.

    Exact solves store n^2 numbers and take n^3 operations. Both axes are logarithmic, so that a power of n is a line:
    its slope, over the last tenfold of n, stands at the lines of the exact solve. Nothing is measured or fitted: these
    are the numbers of plans.

    Parameters
    ----------
    rows : array of int
        Numbers of rows, increasing.
    memory : dict of str to array
        For each method the bytes at these numbers; NaN where it has no plan.
    seconds : dict of str to array
        Likewise the time.
    chosen : sequence of str, default=()
        The method that is taken at each number of rows; ringed.
    limit : float or None, default=None
        Bytes of memory that may be used; None for no line there.
    name : str, default=""
        What is fitted, in the title.

    Attributes
    ----------
    ax_ : Axes
        The axes of the memory.
    figure_ : Figure
        Their figure.
    time_ax_ : Axes or None
        The axes of the time; None where one axes was given.
    memory_, seconds_ : dict of str to Line2D
        The lines of the methods; none for time where one axes was given.
    chosen_ : list of PathCollection
        The rings, for each axes.
    slopes_ : dict of str to float
        The slopes of the exact solve: "memory" and "time".
    legend_ : Legend
        Names the methods.

    Examples
    --------
    >>> from mercer.displays import CostDisplay
    >>> from mercer.planner.machine import ROUGH
    >>> drawn = CostDisplay.from_plans(10, memory_limit="16 GB", machine=ROUGH)
    >>> [f"{name}: n^{slope:.1f}" for name, slope in drawn.slopes_.items()]
    ['memory: n^2.0', 'time: n^3.0']
    >>> drawn.chosen[0], drawn.chosen[-1]
    ('direct', 'landmarks')
    """

    rows: ArrayLike
    memory: Mapping[str, ArrayLike]
    seconds: Mapping[str, ArrayLike]
    _: KW_ONLY
    chosen: Sequence[str] = ()
    limit: float | None = None
    name: str = ""
    time_ax_: Any = field(init=False, default=None)
    memory_: dict[str, Any] = field(init=False, default_factory=dict)
    seconds_: dict[str, Any] = field(init=False, default_factory=dict)
    chosen_: list[Any] = field(init=False, default_factory=list)
    slopes_: dict[str, float] = field(init=False, default_factory=dict)
    legend_: Any = field(init=False, default=None)

    @classmethod
    @speaks
    def from_plans(
        cls,
        columns: int = 10,
        *,
        rows: Sequence[int] = ROWS,
        kernel: Any = None,
        alpha: float | str = 0.1,
        memory_limit: Any = None,
        machine: Machine | None = None,
        style: str = "page",
        ax: Any = None,
    ) -> Self:
        """Ask `mercer.plan` at each number of rows, and draw what the methods would take.

        Cost: nothing, but for a second or two where this machine is measured first.

        Parameters
        ----------
        columns : int, default=10
            Of the table.
        rows : sequence of int, default=(1000, 3000, 10000, 30000, 100000, 300000, 1000000)
            Numbers of rows, increasing.
        kernel : Kernel, str or None, default=None
            A kernel or its text; None for Matern 5/2.
        alpha : float or "auto", default=0.1
            The penalty.
        memory_limit : int, str, Budget or None, default=None
            Bytes, or a text such as "4 GB"; None for most of the free memory.
        machine : Machine or None, default=None
            Its rates are used; None for this machine. `mercer.planner.machine.ROUGH` draws the same anywhere.
        style : {"page", "slide"}, default="page"
            For a page; or sixteen to nine with large letters and thick lines, for a slide.
        ax : array of two Axes, Axes or None, default=None
            Where to draw; None for new axes.

        Returns
        -------
        Self
        """
        from mercer.compute.runtime.memory import Budget
        from mercer.planner.from_shapes import plan  # it loads scikit-learn

        counts = _counts(rows)
        budget = Budget.of(memory_limit)
        plans = [
            plan(count, columns, kernel=kernel, alpha=alpha, memory_limit=budget, machine=machine) for count in counts
        ]
        best = [_by_method(each) for each in plans]
        missing = (np.nan, np.nan)
        memory = {method: np.array([each.get(method, missing)[0] for each in best]) for method in METHODS}
        seconds = {method: np.array([each.get(method, missing)[1] for each in best]) for method in METHODS}
        name = f"kernel least squares, {columns:,} column{'s' * (columns != 1)}"
        chosen = [_method(each.method) for each in plans]
        return cls(counts, memory, seconds, chosen=chosen, limit=budget.bytes, name=name).plot(ax, style=style)

    def _plot(self, ax: Any) -> None:
        rows, memory, seconds = self._checked()
        first, self.time_ax_ = self._begin_two(ax)
        self.chosen_, self.seconds_ = [], {}
        self.slopes_ = {
            name: _slope(rows, values["direct"])
            for name, values in (("memory", memory), ("time", seconds))
            if "direct" in values
        }
        gigabytes = {method: values / GIGABYTE for method, values in memory.items()}
        limit = None if self.limit is None else self.limit / GIGABYTE
        self.memory_ = self._lines(first, rows, gigabytes, limit, "the limit")
        first.set(xlabel="rows n", ylabel="GB, planned")
        panels = [(first, "memory")]
        if self.time_ax_ is not None:
            self.seconds_ = self._lines(self.time_ax_, rows, seconds, SECONDS_PER_MINUTE, "a minute")
            self.time_ax_.set(xlabel="rows n", ylabel="seconds, planned")
            panels.append((self.time_ax_, "time"))
        for axes, what in panels:
            slope = f": direct ~ n^{self.slopes_[what]:.1f}" if what in self.slopes_ else ""
            self._finish(axes, f"planned {what}{slope}", legend=False)
        self.legend_ = self._shared_legend([axes for axes, _ in panels])

    def _lines(
        self, axes: Any, rows: NDArray[Any], values: Mapping[str, NDArray[Any]], limit: float | None, name: str
    ) -> dict[str, Any]:
        drawn = {}
        for method, each in values.items():
            style = {"color": COLOURS.get(method), "label": METHODS.get(method, method), "markersize": 4}
            (drawn[method],) = axes.plot(rows, each, "o-", **style)
        if self.chosen:
            missing = np.full(len(rows), np.nan)
            taken = [values.get(method, missing)[k] for k, method in enumerate(self.chosen)]
            rings = {"facecolors": "none", "edgecolors": "black", "linewidths": 1.0, "label": "taken"}
            self.chosen_.append(axes.scatter(rows, taken, s=60, zorder=3, **rings))
        if limit is not None:
            axes.axhline(limit, color="0.4", linestyle=":", linewidth=1.0)
            axes.annotate(name, (0.01, limit), xycoords=("axes fraction", "data"), va="bottom", fontsize="small")
        axes.set(xscale="log", yscale="log")
        return drawn

    def _checked(self) -> tuple[NDArray[np.float64], dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
        rows = np.asarray(_counts(self.rows), dtype=float)
        memory = {name: np.asarray(each, dtype=float) for name, each in self.memory.items()}
        seconds = {name: np.asarray(each, dtype=float) for name, each in self.seconds.items()}
        shapes = {each.shape for given in (memory, seconds) for each in given.values()}
        if shapes != {rows.shape} or memory.keys() != seconds.keys():
            got = f"got {len(memory)} and {len(seconds)} methods at {len(rows)} numbers of rows"
            raise InputError(message("memory and time of each method at each number of rows", got, "Use from_plans."))
        if self.chosen and len(self.chosen) != len(rows):
            got = f"got {len(self.chosen)} for {len(rows)}"
            raise InputError(message("one chosen method per number of rows", got, "Use from_plans."))
        return rows, memory, seconds


def _counts(rows: Any) -> list[int]:
    counts = list(rows) if np.iterable(rows) else []
    whole = all(isinstance(each, int | np.integer) and each > 0 for each in counts)
    if len(counts) < 2 or not whole or sorted(set(counts)) != counts:
        needs, got = "two numbers of rows or more, which grow", f"got {rows!r}"
        raise InputError(message(needs, got, "Use rows=(1_000, 10_000, 100_000)."))
    return [int(each) for each in counts]


def _method(name: str) -> str:
    return "landmarks" if name.startswith("nystrom") else name


def _by_method(plan: Any) -> dict[str, tuple[float, float]]:
    """Bytes and seconds of the quickest plan of each method."""
    found: dict[str, tuple[float, float]] = {}
    for each in sorted((plan, *plan.others), key=lambda one: one.seconds):
        found.setdefault(_method(each.method), (float(each.bytes), float(each.seconds)))
    return found


def _slope(rows: NDArray[np.float64], values: NDArray[Any]) -> float:
    """Of the logarithms, at the end."""
    kept = np.isfinite(values) & (rows >= rows[-1] / SLOPE_RANGE)
    if kept.sum() < 2:
        kept = np.isfinite(values)
    return float(np.polyfit(np.log(rows[kept]), np.log(values[kept]), 1)[0]) if kept.sum() > 1 else float("nan")
