"""The matrix of a kernel on rows, and its eigenvalues."""

from __future__ import annotations

import itertools
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mercer.displays.base import Display, before_last, check_fitted, found, last_step, short
from mercer.displays.chosen import chosen_rows, count_of, rows_of
from mercer.displays.colours import SCALE
from mercer.displays.plane import labels_of
from mercer.displays.spectrum import Spectrum
from mercer.errors import InputError, message, speaks

MAX_DRAWN_ROWS = 1000
"""Rows that are drawn, at most: a screen has no more points, and all eigenvalues of more take long."""
MAX_GROUPS = 20
"""Different values of an order up to which lines part them."""


@dataclass(eq=False, repr=False)
class GramDisplay(Display):
    """The kernel matrix as an image, and beside it the sizes of its eigenvalues, negative ones in red.

    A kernel has no negative eigenvalue on any rows; a function that has some, beyond rounding, is not one. Cost: n^3
    operations for the eigenvalues, n at most 1,000 in `from_kernel` and `from_estimator`.

    Parameters
    ----------
    matrix : array of shape (n, n)
        Symmetric.
    order : "eigenvector", array of shape (n,) or None, default=None
        None for the rows as they are; "eigenvector", along the first eigenvector; or one value per row, such as y, by
        which they are sorted: up to 20 different ones are separated by lines.
    name : str, default=""
        Of the kernel, above the image.
    total : int or None, default=None
        How many rows there were, where these are a sample; None where these are all.

    Attributes
    ----------
    ax_ : Axes
        The axes of the image.
    figure_ : Figure
        Their figure.
    spectrum_ax_ : Axes or None
        The axes of the spectrum; None where one axes was given.
    order_ : array of int
        The rows of the matrix, from top to bottom.
    image_ : AxesImage
        The image.
    bar_ : Colorbar
        Its scale of colours.
    lines_ : list
        Between the values of an order.
    eigenvalues_ : array of shape (n,)
        The largest first.
    spectrum_ : dict
        The artists of the spectrum: "positive", "negative" and "rounding", as far as there are some.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.displays import GramDisplay
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> sorted(GramDisplay.from_kernel("linear", X).spectrum_)
    ['positive', 'rounding']
    >>> 'negative' in GramDisplay(np.array([[0.0, 1.0], [1.0, 0.0]])).plot().spectrum_
    True
    """

    matrix: ArrayLike
    _: KW_ONLY
    order: Any = None
    name: str = ""
    total: int | None = None
    spectrum_ax_: Any = field(init=False, default=None)
    order_: Any = field(init=False, default=None)
    image_: Any = field(init=False, default=None)
    bar_: Any = field(init=False, default=None)
    lines_: list[Any] = field(init=False, default_factory=list)
    eigenvalues_: Any = field(init=False, default=None)
    spectrum_: dict[str, Any] = field(init=False, default_factory=dict)

    @classmethod
    @speaks
    def from_kernel(
        cls, kernel: Any, X: Any, *, order: Any = None, random_state: Any = None, style: str = "page", ax: Any = None
    ) -> Self:
        """Draw a kernel on the rows of a table; of more than 1,000, so many are drawn at random.

        Parameters
        ----------
        kernel : Kernel or str
            The kernel, or its text.
        X : array or table
            The rows.
        order : "eigenvector", array of shape (n,) or None, default=None
            As in the class.
        random_state : int, default=None
            The seed of the draw.
        style : {"page", "slide"}, default="page"
            For a page; or sixteen to nine with large letters and thick lines, for a slide.
        ax : Axes or None, default=None
            Where to draw; None for new axes.

        Returns
        -------
        Self
        """
        from mercer.lifts.coerce import stated  # it loads scikit-learn

        known, total = stated(kernel, subject=cls.__name__), count_of(X)
        rows = chosen_rows(total, MAX_DRAWN_ROWS, random_state)
        matrix = known.resolve(X)(rows_of(X, rows))
        ordered = _order_of(order, total, rows)
        return cls(matrix, order=ordered, name=short(known), total=total).plot(ax, style=style)

    @classmethod
    @speaks
    def from_estimator(
        cls, model: object, X: Any, *, order: Any = None, random_state: Any = None, style: str = "page", ax: Any = None
    ) -> Self:
        """Draw the kernel of a fitted model.

        Parameters
        ----------
        model : estimator
            The fitted model.
        X : array or table
            Rows, or, where the kernel is precomputed, their matrix.
        order : "eigenvector", array of shape (n,) or None, default=None
            As in the class.
        random_state : int, default=None
            The seed of the draw.
        style : {"page", "slide"}, default="page"
            For a page; or sixteen to nine with large letters and thick lines, for a slide.
        ax : Axes or None, default=None
            Where to draw; None for new axes.

        Returns
        -------
        Self
        """
        check_fitted(model)
        kernel = getattr(last_step(model), "kernel_", None)
        if kernel is None and getattr(last_step(model), "kernel", None) != "precomputed":
            found(last_step(model), "kernel_", "Use a model with a kernel, or from_kernel.")
        inner = before_last(model, X)
        if kernel is not None:
            return cls.from_kernel(kernel, inner, order=order, random_state=random_state, style=style, ax=ax)
        matrix, total = np.asarray(inner), count_of(inner)
        rows = chosen_rows(total, MAX_DRAWN_ROWS, random_state)
        part = matrix if rows is None else matrix[np.ix_(rows, rows)]
        ordered = _order_of(order, total, rows)
        return cls(part, order=ordered, name="precomputed", total=total).plot(ax, style=style)

    def _plot(self, ax: Any) -> None:
        matrix = self._checked()
        values, vectors = np.linalg.eigh(matrix)
        self.order_, places = self._ordered(vectors[:, -1])
        axes, self.spectrum_ax_ = self._begin_two(ax)
        self._draw(axes, matrix[np.ix_(self.order_, self.order_)], places)
        self.eigenvalues_ = values[::-1]
        self.spectrum_ = {}
        if self.spectrum_ax_ is not None:
            self.spectrum_ = Spectrum.of(self.eigenvalues_).draw(self.spectrum_ax_)
            self._finish(self.spectrum_ax_, _verdict(self.spectrum_))
        self._finish(axes, (self.name if len(self.name) <= 60 else f"{self.name[:57]}...") or "a matrix", self.bar_.ax)

    def _draw(self, axes: Any, matrix: NDArray[Any], places: list[int]) -> None:
        low, high = float(matrix.min()), float(matrix.max())
        self.image_ = axes.imshow(matrix, interpolation="nearest", **_scale(low, high))
        beside = axes.inset_axes((1.04, 0.1, 0.045, 0.8))  # it stays beside the square, whatever room there is
        self.bar_ = axes.figure.colorbar(self.image_, cax=beside)
        style = {"color": "white" if low >= 0 else "black", "linewidth": 0.8}
        self.lines_ = [line(place - 0.5, **style) for place in places for line in (axes.axhline, axes.axvline)]
        seen, total = len(matrix), self.total or len(matrix)
        count = f"{seen} rows" if seen == total else f"{seen} of {total} rows"
        self._label(axes, [0, *places, len(matrix)])
        axes.set(xlabel=count, ylabel=count)

    def _label(self, axes: Any, ends: list[int]) -> None:
        """The values of an order, where lines part them."""
        if len(ends) > 2:
            values = np.asarray(self.order)[self.order_]
            middles = [(low + high - 1) / 2 for low, high in itertools.pairwise(ends)]
            axes.set_yticks(middles, [str(values[low]) for low in ends[:-1]])

    def _ordered(self, first: NDArray[Any]) -> tuple[NDArray[np.intp], list[int]]:
        """The order of the rows, and the places where its values change."""
        if self.order is None:
            return np.arange(len(first)), []
        if isinstance(self.order, str):
            return np.argsort(first * np.sign(first[np.abs(first).argmax()]), kind="stable"), []
        values = np.asarray(self.order)
        order = np.argsort(values, kind="stable")
        changes = np.flatnonzero(values[order][1:] != values[order][:-1]) + 1
        return order, changes.tolist() if len(changes) < MAX_GROUPS else []

    def _checked(self) -> NDArray[np.float64]:
        matrix = np.asarray(self.matrix, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
            got = f"got an array of shape {matrix.shape}"
            raise InputError(message("a square matrix", got, "Use from_kernel for rows."))
        if not np.isfinite(matrix).all():
            raise InputError(message("finite values", "got NaN or infinity", "Scale the columns down."))
        if np.abs(matrix - matrix.T).max() > 1e-6 * np.abs(matrix).max():
            got = "got one that is not"
            raise InputError(message("a symmetric matrix", got, "Draw (K + K.T) / 2, or look for the cause."))
        if isinstance(self.order, str) and self.order != "eigenvector":
            needs, got = 'order "eigenvector", None or one value per row', f"got {self.order!r}"
            raise InputError(message(needs, got, "Use order=y."))
        if self.order is not None and not isinstance(self.order, str):
            labels_of(self.order, len(matrix))
        return (matrix + matrix.T) / 2


def _verdict(spectrum: dict[str, Any]) -> str:
    if "negative" in spectrum:
        return "some eigenvalues are negative: no kernel"
    return "no eigenvalue is negative"


def _scale(low: float, high: float) -> dict[str, Any]:
    """Colours from 0 on; where values have both signs, red above and blue below a white zero."""
    most = max(-low, high)
    return {"cmap": SCALE} if low >= 0 else {"cmap": "RdBu_r", "vmin": -most, "vmax": most}


def _order_of(order: Any, total: int, rows: NDArray[np.intp] | None) -> Any:
    """The order of the rows that are drawn, from that of all."""
    if order is None or isinstance(order, str):
        return order
    values = labels_of(order, total)
    return values if rows is None else values[rows]
