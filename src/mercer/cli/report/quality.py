"""How good the model is: metrics, pictures, and how much more rows would help."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.cli.report.calibration import calibration
from mercer.cli.report.case import Case, drawn
from mercer.cli.report.curve import learning_curve
from mercer.cli.report.numbers import number, percent
from mercer.cli.report.page import Section, wide_table
from mercer.cli.report.pictures import MAX_POINTS, confusion, learning_curve_lines, prediction_errors
from mercer.cli.result import none_held_out
from mercer.html import Markup, code, element, items, joined, p, short

MEANING = {
    "rmse": "the root of the mean squared error, in the units of the target; lower is better",
    "mae": "the mean absolute error, in the units of the target; lower is better",
    "r2": "the part of the target's variance that is explained; 1 is perfect, 0 is the mean",
    "accuracy": "the part of rows whose class is right; higher is better",
    "balanced accuracy": "the mean of that over the classes, so that rare ones count as much",
    "log loss": "how surprised the probabilities are by the truth; lower is better",
}


def quality(case: Case) -> Section:
    """Metrics with intervals, pictures of what is wrong where, and the learning curve."""
    if not case.done.held:
        reason = f"{none_held_out(case.options.test).capitalize()}."
        body = joined([p(reason), *_left_out(case)])
        return Section("quality", "How good it is", "", body)
    about = f"All scores are of the {case.done.held:,} rows that were held out, with intervals of 95 %."
    pictures = _confusion(case) if case.classes else _residuals(case)
    parts = [_metrics(case), *_left_out(case), *pictures, *calibration(case), *_curve(case)]
    return Section("quality", "How good it is", about, joined(parts))


def _metrics(case: Case) -> Markup:
    rows = case.done.scores
    metrics = list(dict.fromkeys(score.metric for _, scores in rows for score in scores))
    lines = []
    for name, scores in rows:
        known = {s.metric: f"{number(s.value)} [{number(s.low)}, {number(s.high)}]" for s in scores}
        lines.append([name, *(known.get(metric, "") for metric in metrics)])
    meaning = items(joined([element("b", metric), f": {MEANING[metric]}"]) for metric in metrics)
    whole = wide_table(lines, ["model", *metrics], range(1, len(metrics) + 1))
    return joined([whole, element("div", meaning, kind="soft")])


def _left_out(case: Case) -> list[object]:
    found = case.done.left_out
    if found is None:
        return []
    what = f"Leave-one-out {found[0]} of {case.done.left_out_rows}: {number(found[1])}."
    return [p(f"{what} Each of these rows is predicted from all others of them; the penalty was chosen by it.")]


# -- pictures ---------------------------------------------------------------------------------------------------------


def _residuals(case: Case) -> list[object]:
    y, predicted = case.done.parts.truth, case.done.judged.predicted
    drew = f" {MAX_POINTS:,} of {len(y):,} rows are drawn." if len(y) > MAX_POINTS else ""
    captions = {
        "predicted": f"Each point is a row held out. On the line a prediction is perfect.{drew}",
        "residuals": "What is left of the truth. A bend or a fan tells of something that the model has missed.",
    }
    pictures = [_picture(case, kind, caption) for kind, caption in captions.items()]
    errors = np.abs(np.asarray(y, dtype=float) - predicted)
    half, most = (number(float(np.quantile(errors, q))) for q in (0.5, 0.95))
    told = p(f"Half of the predictions are off by less than {half}, 95 % by less than {most}.")
    return [element("h3", "Predictions and what is left"), element("div", *pictures, kind="pair"), told]


def _picture(case: Case, kind: str, caption: str) -> Markup:
    y, predicted, name = case.done.parts.truth, case.done.judged.predicted, short(case.done.target.name, 30)
    picture = partial(prediction_errors, y, predicted, kind, name, case.options.random_state)
    return drawn(f"r-{kind}", f"{kind} of rows held out", caption, picture)


def _confusion(case: Case) -> list[object]:
    y, predicted = case.done.parts.truth, case.done.judged.predicted
    caption = "A row is a true class, a column what it was taken for. Shades are parts of the true class."
    title = element("h3", "Which class is taken for which")
    picture = drawn("confusion", "confusion of classes", caption, partial(confusion, y, predicted))
    return [title, picture, _recalls(y, predicted)]


def _recalls(y: NDArray[Any], predicted: NDArray[Any]) -> Markup:
    from sklearn.metrics import precision_recall_fscore_support

    labels = np.unique(y)
    precision, recall, _, counts = precision_recall_fscore_support(y, predicted, labels=labels, zero_division=np.nan)
    rows: list[list[object]] = []
    for k, label in enumerate(labels):
        right = "-" if np.isnan(precision[k]) else percent(precision[k])
        rows.append([code(label, 40), f"{counts[k]:,}", percent(recall[k]), right])
    told = p("Recall: of the rows of a class, how many were found. Precision: of those said to be in it, how many are.")
    return joined([wide_table(rows, ["class", "rows", "recall", "precision"], (1, 2, 3)), told])


def _curve(case: Case) -> list[object]:
    curve = learning_curve(case.done, case.options.random_state)
    if curve is None or len(curve.sizes) < 2:
        return []
    metric = "accuracy" if case.classes else "rmse"
    about = f"The same model fitted to fewer rows, judged by {curve.rows:,} rows held out."
    caption = f"{about} Where the curve still falls or rises at its end, more rows would help."
    picture = drawn(
        "curve",
        "learning curve",
        caption.replace("falls or rises", "rises" if case.classes else "falls"),
        partial(learning_curve_lines, curve, metric),
    )
    return [element("h3", "Would more rows help?"), picture]
