"""The steps of gradient descent in the dual: the loss, and the path of the coefficients."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.displays.animation import checked, chosen_steps, written
from mercer.displays.base import Display, check_fitted, last_step
from mercer.displays.colours import SCALE
from mercer.errors import InputError, message, speaks

REMEDY = "Use KernelRidge(solver=GradientDescent(keep=True))."
MAX_LINES = 30
"""Coefficients that are drawn as lines, at most: those that moved the most."""
MAX_LINEAR_STEPS = 50
"""Steps beyond which the axis is one of logarithms."""


@dataclass(eq=False, repr=False)
class DescentDisplay(Display):
    """The loss against the steps, and beside it the coefficients: the path of two of them, or all against the steps.

    Parameters
    ----------
    losses : array of shape (steps + 1,)
        Before the first step and after each.
    coefficients : array of shape (steps + 1, n)
        Likewise.
    pair : (int, int) or None, default=None
        The two whose path is drawn, each from 0 to n - 1; None for all against the steps, the 30 that moved the most.

    Attributes
    ----------
    ax_ : Axes
        The axes of the loss.
    figure_ : Figure
        Their figure.
    path_ax_ : Axes or None
        The axes of the coefficients; None where one axes was given.
    loss_ : Line2D
        The losses.
    path_ : Line2D or list of Line2D
        The path, or the lines of the coefficients.
    ends_ : PathCollection or None
        Where the path starts and ends; None without a path.
    shown_ : array of int
        The positions of the coefficients that are drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> from mercer.displays import DescentDisplay
    >>> from mercer.solvers import GradientDescent
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), np.array([0.0, 1.0, -1.0])
    >>> model = KernelRidge("gaussian(1)", alpha=0.5, solver=GradientDescent()).fit(X, y)
    >>> drawn = DescentDisplay.from_estimator(model, pair=(0, 2))
    >>> bool(np.isclose(drawn.path_[0].get_ydata()[-1], model.dual_coef_[2]))
    True
    """

    losses: ArrayLike
    coefficients: ArrayLike
    _: KW_ONLY
    pair: tuple[int, int] | None = None
    path_ax_: Any = field(init=False, default=None)
    loss_: Any = field(init=False, default=None)
    path_: list[Any] = field(init=False, default_factory=list)
    ends_: Any = field(init=False, default=None)
    shown_: NDArray[np.intp] | None = field(init=False, default=None)

    @classmethod
    @speaks
    def from_estimator(
        cls, model: object, *, pair: tuple[int, int] | None = None, output: int = 0, style: str = "page", ax: Any = None
    ) -> Self:
        """Draw a fitted `KernelRidge(solver=GradientDescent())`, or the like.

        Coefficients are those of rows where the dual was solved, of features in the primal: `plan_.details` says.

        Parameters
        ----------
        model : estimator
            The fitted model. Coefficients are those of rows where the dual was solved, of features where the primal
            was: `plan_.details.side` says which.
        pair : (int, int) or None, default=None
            As in the class.
        output : int, default=0
            Which of its outputs.
        style : {"page", "slide"}, default="page"
            For a page; or sixteen to nine with large letters and thick lines, for a slide.
        ax : Axes or None, default=None
            Where to draw; None for new axes.

        Returns
        -------
        Self
        """
        check_fitted(model)
        history = getattr(getattr(last_step(model), "outcome_", None), "history", None)
        if history is None or not len(history.coefficients):
            got = f"{type(last_step(model)).__name__} has none"
            raise InputError(message("the coefficients of every step", got, REMEDY))
        if not 0 <= output < history.losses.shape[1]:
            needs, got = f"an output from 0 to {history.losses.shape[1] - 1}", f"got {output}"
            raise InputError(message(needs, got, "Use output=0."))
        return cls(history.losses[:, output], history.coefficients[:, :, output], pair=pair).plot(ax, style=style)

    def _plot(self, ax: Any) -> None:
        losses, coefficients = self._checked()
        axes, self.path_ax_ = self._begin_two(ax)
        (self.loss_,) = axes.plot(np.arange(len(losses)), losses, color="tab:blue")
        if losses.min() > 0 and losses.max() > 20 * losses.min():
            axes.set_yscale("log")
        axes.set(xlabel="step", ylabel="loss")
        _stretch(axes, losses)
        self.path_, self.ends_, self.shown_ = [], None, None
        if self.path_ax_ is not None and self.pair is not None:
            self._draw_path(self.path_ax_, coefficients)
        elif self.path_ax_ is not None:
            self._draw_all(self.path_ax_, coefficients)
        count = len(losses) - 1
        self._finish(axes, f"the loss of {count:,} step{'s' * (count != 1)} down")
        if self.path_ax_ is not None:
            self._finish(self.path_ax_, "the path of two coefficients" if self.pair else "the paths of coefficients")

    @speaks
    def animate(self, path: str | Path, *, frames: int = 40, seconds: float = 0.2, style: str = "slide") -> Path:
        """Write the steps one after another: the loss so far, and the path of the coefficients.

        Nothing else is written, and nothing is fetched when the file is shown. Cost: a drawing per frame.

        Parameters
        ----------
        path : str or Path
            A file that ends with .gif; or with .html, for a page with a slider that needs no other file.
        frames : int, default=40
            Pictures, at most 200; of more steps those at the beginning are closer.
        seconds : float, default=0.2
            How long each is shown.
        style : {"page", "slide"}, default="slide"
            As in `plot`.

        Returns
        -------
        Path
        """
        file = checked(path, frames, seconds)
        shown = copy(self).plot(style=style)
        return written(file, shown.figure_, shown._one_by_one(frames), seconds, "gradient descent step by step")

    def _one_by_one(self, frames: int) -> Iterator[None]:
        """Change the picture: the start, then after each step."""
        total, lines = len(np.asarray(self.losses)) - 1, [self.loss_, *self.path_]
        whole = [line.get_data() for line in lines]
        for axes in (self.ax_, self.path_ax_):
            axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim())  # as for all steps
        dot = {"color": "tab:red", "s": 20 * self._look.scale**2, "zorder": 4, "clip_on": False}
        here, there = (axes.scatter([], [], **dot) for axes in (self.ax_, self.path_ax_))
        for artist in (self.ends_, self.path_ax_.get_legend()):
            if artist is not None:
                artist.set_visible(False)
        for step in chosen_steps(total, frames):
            for line, (one, two) in zip(lines, whole, strict=True):
                line.set_data(one[: step + 1], two[: step + 1])
            here.set_offsets([whole[0][0][step], whole[0][1][step]])
            there.set_offsets([[one[step], two[step]] for one, two in whole[1:]])
            self.ax_.title.set_text(f"step {step:,} of {total:,}")
            yield

    def _draw_path(self, axes: Any, coefficients: NDArray[Any]) -> None:
        self.shown_ = np.asarray(self.pair, dtype=np.intp)
        one, two = coefficients[:, self.shown_].T
        self.path_ = axes.plot(one, two, ".-", color="tab:blue", markersize=4, linewidth=0.8)
        self.ends_ = axes.scatter(one[[0, -1]], two[[0, -1]], s=40, color=["tab:green", "tab:red"], zorder=3)
        for name, colour in (("start", "tab:green"), ("end", "tab:red")):
            axes.scatter([], [], s=40, color=colour, label=name)
        axes.set(xlabel=f"coefficient {self.shown_[0]}", ylabel=f"coefficient {self.shown_[1]}")

    def _draw_all(self, axes: Any, coefficients: NDArray[Any]) -> None:
        from matplotlib import colormaps

        moved = np.abs(np.diff(coefficients, axis=0)).sum(axis=0)
        self.shown_ = np.sort(np.argsort(-moved, kind="stable")[:MAX_LINES])
        steps = np.arange(len(coefficients))
        for place, number in zip(np.linspace(0, 1, len(self.shown_)), self.shown_, strict=True):
            self.path_ += axes.plot(steps, coefficients[:, number], color=colormaps[SCALE](place), linewidth=0.8)
        count = coefficients.shape[1]
        told = f"{len(self.shown_)} of {count} coefficients" if len(self.shown_) < count else "coefficients"
        axes.set(xlabel="step", ylabel=told)
        _stretch(axes, steps)

    def _checked(self) -> tuple[NDArray[Any], NDArray[Any]]:
        losses = np.asarray(self.losses, dtype=float)
        coefficients = np.asarray(self.coefficients, dtype=float)
        if losses.ndim != 1 or coefficients.ndim != 2 or len(losses) != len(coefficients) or not coefficients.size:
            got = f"got {losses.shape} and {coefficients.shape}"
            raise InputError(message("a loss and coefficients for each step", got, REMEDY))
        if not (np.isfinite(losses).all() and np.isfinite(coefficients).all()):
            raise InputError(message("finite numbers", "got NaN or infinity", "Use a smaller step."))
        count = coefficients.shape[1]
        if self.pair is not None and not (len(self.pair) == 2 and all(0 <= each < count for each in self.pair)):
            needs, got = f"a pair of coefficients from 0 to {count - 1}", f"got {self.pair}"
            raise InputError(message(needs, got, "Use pair=(0, 1)."))
        return losses, coefficients


def _stretch(axes: Any, steps: NDArray[Any]) -> None:
    """The first steps get room, where there are many: most happens there."""
    if len(steps) > MAX_LINEAR_STEPS:
        axes.set_xscale("symlog", linthresh=1.0)
        axes.set_xlim(0, len(steps) - 1)
