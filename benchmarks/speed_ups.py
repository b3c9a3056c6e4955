"""The table of the first page: tasks, whom they are compared with, and how many times faster Mercer is."""

from __future__ import annotations

from collections.abc import Iterable

from lines import Line, Run, stopped

PARTS = ("gram", "ridge", "scale", "margins", "lifts", "structured")
"""Parts of the record that the table reads."""
HEAD = "| task | compared with | times faster |\n|---|---|---|"


def speed_ups(run: Run) -> str:
    """The table: the least and the largest ratio of the lines of each task."""
    search, exact = "scikit-learn GridSearchCV", run.all("scale", "exact", peer="SciPy cg on KeOps")
    products = {peer: run.all("gram", "products", "float32", peer=peer) for peer in ("scikit-learn", "KeOps")}
    alphas = [run.one("ridge", "30 alphas", peer=search, without="lengthscales")]
    graphs = run.all("structured", "weisfeiler_lehman: ", "NCI1")
    rows = (
        ("Gaussian kernel matrix, 20,000 x 20,000, times a vector", "scikit-learn", products["scikit-learn"]),
        ("the same", "KeOps on the CPU", products["KeOps"]),
        ("ridge, 30 alphas", "`GridSearchCV`, five folds", alphas),
        ("exact ridge, 40,000 rows and more", "SciPy's conjugate gradients on KeOps", exact),
        ("SVM, exact, equal settings", "`SVC`", run.all("margins", "exact", peer="scikit-learn")),
        ("SVM, predictions", "`SVC`", [run.one("margins", "predict", peer="scikit-learn")]),
        ("random Fourier features", "`RBFSampler`", run.all("lifts", "RandomFourier")),
        ("Weisfeiler-Lehman matrix of 4,110 graphs", "GraKeL", graphs),
    )
    told = (
        f"| {task} | {peer} | {'at least ' * any(map(stopped, lines))}{span(map(measure, lines))} |"
        for task, peer, lines in rows
    )
    return "\n".join([HEAD, *told])


def measure(line: Line) -> float:
    """The ratio of a line, which must have one."""
    if line.ratio is None or line.failed:
        raise LookupError(f"{line.key} has no measure: {line.failed}")
    return line.ratio


def span(values: Iterable[float]) -> str:
    """The least and the largest, or one where both are the same: two digits, and all of those before the point."""
    known = sorted(values)
    return " to ".join(dict.fromkeys(_rounded(value) for value in (known[0], known[-1])))


def _rounded(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 10 else f"{value:.2g}"
