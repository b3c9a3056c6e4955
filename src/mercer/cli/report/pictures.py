"""Pictures of predictions: scikit-learn's displays, with names that are never read as formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.cli.report.curve import Curve
from mercer.cli.report.numbers import number
from mercer.displays.base import FIGURE_INCHES, new_figure
from mercer.displays.colours import colours
from mercer.html import short

SMALL = (4.6, 3.8)
"""Inches of one of two pictures side by side."""
MAX_POINTS, MAX_VECTOR_POINTS = 3_000, 1_000
"""Rows that a picture shows; up to so many points are circles, and more are dots of a bitmap in the picture."""
MAX_WRITTEN_CLASSES, LABEL_LENGTH = 15, 20
"""Classes whose counts are written into cells, and letters of a label."""
KINDS = {"predicted": "actual_vs_predicted", "residuals": "residual_vs_predicted"}
"""Truth over prediction, and what is left of the truth over prediction, as scikit-learn calls them."""
BLUE = "#3f87d9"
"""Seen on white and on black."""


def prediction_errors(y: NDArray[Any], predicted: NDArray[Any], kind: str, name: str, seed: int) -> Any:
    """A figure of the rows held out, or of some of them; `name` is that of the target."""
    from sklearn.metrics import PredictionErrorDisplay

    many = len(y) > MAX_VECTOR_POINTS
    figure = new_figure(SMALL, subject="The report")
    style = {"s": 5 if many else 12, "alpha": 0.6, "color": BLUE, "linewidth": 0, "rasterized": many}
    axes = figure.add_subplot()
    PredictionErrorDisplay.from_predictions(
        y, predicted, kind=KINDS[kind], subsample=MAX_POINTS, random_state=seed, ax=axes, scatter_kwargs=style
    )
    axes.set_xlabel(f"predicted {name}", parse_math=False)
    axes.set_ylabel(f"true {name}" if kind == "predicted" else "true - predicted", parse_math=False)
    if kind == "predicted":
        ticks = axes.get_xticks()
        axes.set_xticks(ticks, [number(float(tick)) for tick in ticks])
        axes.set_yticks(ticks, [number(float(tick)) for tick in ticks])
    return figure


def confusion(y: NDArray[Any], predicted: NDArray[Any]) -> Any:
    """A figure of the counts of true (rows) and predicted classes (columns); shades are parts of the true class."""
    from sklearn.metrics import ConfusionMatrixDisplay, confusion_matrix

    labels = np.union1d(y, predicted)
    counts = confusion_matrix(y, predicted, labels=labels)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    written = len(labels) <= MAX_WRITTEN_CLASSES
    side = min(2.5 + 0.5 * len(labels), FIGURE_INCHES[0] if written else 2 * FIGURE_INCHES[0])
    figure = new_figure((side, side - 0.5), subject="The report")
    axes = figure.add_subplot()
    names = [short(str(label), LABEL_LENGTH) for label in labels]
    drawn = ConfusionMatrixDisplay(shares, display_labels=names).plot(
        ax=axes,
        include_values=written,
        cmap="Blues",
        colorbar=False,
        xticks_rotation="horizontal" if len(names) < 5 else "vertical",
        im_kw={"vmin": 0, "vmax": 1},
    )
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set(parse_math=False, fontsize=10 if written else 6)
    for place in np.ndindex(counts.shape) if written else ():  # dark on all shades but the darkest
        drawn.text_[place].set(text=f"{counts[place]:,}", color="#ffffff" if shares[place] > 0.6 else "#101010")
    axes.set(xlabel="predicted", ylabel="true")
    return figure


def learning_curve_lines(curve: Curve, metric: str) -> Any:
    """A figure of a line per model over the rows that were fitted, with the interval of the model as a band."""
    figure = new_figure(subject="The report")
    axes = figure.add_subplot()
    for (name, scores), colour in zip(curve.scores.items(), colours(len(curve.scores)), strict=True):
        values = [np.nan if score is None else score.value for score in scores]
        axes.plot(curve.sizes, values, "o-", color=colour, markersize=4, label=name)
        if name == "mercer":
            low, high = zip(*((np.nan, np.nan) if s is None else (s.low, s.high) for s in scores), strict=True)
            axes.fill_between(curve.sizes, low, high, color=colour, alpha=0.18, linewidth=0)
    axes.set_xscale("log")
    axes.set_xticks(curve.sizes, [f"{size:,}" for size in curve.sizes], rotation=30)
    axes.minorticks_off()
    axes.set(xlabel="rows fitted", ylabel=metric)
    axes.legend(frameon=False)
    return figure
