"""Goals that the last whole run did not reach, with the reason for each, as far as it is known."""

from __future__ import annotations

from lines import MORE, Line, Run
from page import cut, quality, short

Words = tuple[str, ...]
WHY: dict[Words, str] = {
    (
        "margins",
        "mnist",
    ): "784 columns and 45 functions of 2,000 rows: copies of rows, and many small products",
    ("small", "Nystrom"): "as fast, within the spread of the turns",
    ("small", "alpha found"): "the eigendecomposition of 442 rows takes 12 ms",
    ("scale", "landmarks, float64"): "60 to 70 % of the time is the pass that sums n M^2 products in float64",
    (
        "plans",
        "keeps in hand",
    ): "the C library keeps up to 64 MB of freed arrays, from before the fit or from it; the fits hold what is planned",
    ("plans",): "fits below 0.1 s, busy machines, preconditioners that grow",
    ("lifts", "Nystrom"): "without outliers or clusters every row is as good a landmark as another",
    ("gram", "composite", "float32"): "its Matern part needs mixed precision, and the Gaussian alone does not",
    ("gram", "DampedCauchy", "float32"): "mixed precision, which the Gaussian alone does not need",
    ("gram", "Subsets"): "two products of matrices are hard to beat; most of our time is writing 800 MB",
    ("gram", "dense"): "about half of our time is writing 800 MB: a product with the same matrix takes half of it",
    (
        "defaults",
        "pumadyn32nm",
    ): "kernels that treat all columns alike find nothing here; mercer.tuning.stretch does",
    ("margins", "rank 1,000"): "so few landmarks do not reach the accuracy; 2,000 do",
    ("gpu", "Linear * Matern"): "a pair takes three functions of the units for these, and the Gaussian one",
    ("gpu", "Cauchy"): "measured while float32 was refused to it, which it is not any more",
    (
        "gpu",
        "float32, d = 30",
    ): "measured with tiles of 128 x 128, which leave room for one program; they are smaller now",
    (
        "gpu",
        "roughly, d = 64",
    ): "measured with tiles of 128 x 128, which leave room for one program; they are smaller now",
    ("gpu", "roughly, d = 3"): "within the spread of the turns",
    ("gpu", "float32, d = 3"): "within the spread of the turns; 3.06 in another run",
    ("gpu", "symmetric, d = 3"): "a value meets two sums, and each tile of 64 rows ends one of them",
    ("gpu", "symmetric, d = 10"): "within the spread of the turns; 3.81 in another run",
    (
        "gpu",
        "process",
    ): "GPyTorch stores the matrix; products take about a third of our time at 50,000 rows, the rest is small work",
    ("levels",): "chance, among so many shares: other draws of that line give 5 %, see hypothesis_tests.md",
    (
        "unsupervised",
        "components",
        "float64",
    ): "it depends on the processor: where BLAS uses AVX-512, it was 8.8 times on 2026-11-16",
    ("unsupervised", "float32"): "it ends in float64 on our side, whatever the rows are",
}
"""By the part and words of the work."""
PAGES = {"gpu": "gpu.md"}
"""Parts that have a page of their own."""
UNKNOWN = "not looked into yet"
HEAD = "| part | goal | against | reached | wanted | why |\n| --- | --- | --- | --- | --- | --- |"


def missed(run: Run) -> str:
    """The table."""
    lines = [line for line in run.lines if line.met is False]
    if not lines:
        return "Every goal was reached."
    return "\n".join([HEAD, *map(_row, lines)])


def why(line: Line) -> str:
    """The reason of a line."""
    name = f"{line.table}: {line.work}"
    return next(
        (text for (part, *words), text in WHY.items() if part == line.part and all(w in name for w in words)), UNKNOWN
    )


def _row(line: Line) -> str:
    cells = (
        f"[{line.part}]({PAGES.get(line.part, f'benchmarks.md#{line.part}')})",
        line.work,
        line.peer,
        _reached(line),
        _wanted(line),
        why(line),
    )
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _reached(line: Line) -> str:
    if line.failed or line.ratio is None:
        return f"failed: {cut(line.failed)}"
    further = (quality(line), cut(line.note)) if _as_wanted(line) else ()
    return "; ".join(filter(None, (f"{short(line.ratio)} {line.unit}", *further)))


def _wanted(line: Line) -> str:
    return "" if line.goal is None else f"{'at least' if line.better == MORE else 'at most'} {line.goal:g}"


def _as_wanted(line: Line) -> bool:
    """Whether the measure is as it should be, so that something else was missed: an error, or a score."""
    if line.goal is None or line.ratio is None or line.failed:
        return False
    return line.ratio >= line.goal if line.better == MORE else line.ratio <= line.goal
