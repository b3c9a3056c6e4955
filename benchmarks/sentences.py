"""What pages say of the last whole run: each text is made of the record, by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from lines import Line, stopped


@dataclass(frozen=True)
class Run:
    """The lines of one record, found by words."""

    lines: tuple[Line, ...]

    @classmethod
    def read(cls, record: dict[str, Any]) -> Run:
        """From JSON."""
        return cls(tuple(Line.read(row) for row in record["rows"]))

    def all(self, part: str, *words: str, peer: str | None = None, without: str = "") -> list[Line]:
        """Lines with these words in table or work, and this peer where one is named; at least one."""
        found = [
            line
            for line in self.lines
            if line.part == part
            and all(word in f"{line.table}: {line.work}" for word in words)
            and (peer is None or line.peer == peer)
            and not (without and without in line.work)
        ]
        if not found:
            raise LookupError(f"no line of {part} has {words} and the peer {peer}")
        return found

    def one(self, part: str, *words: str, peer: str | None = None, without: str = "") -> Line:
        """The only line like this."""
        found = self.all(part, *words, peer=peer, without=without)
        if len(found) > 1:
            raise LookupError(f"{len(found)} lines of {part} have {words} and the peer {peer}")
        return found[0]


# -- how figures are written -------------------------------------------------------------------------------------------


def measure(line: Line) -> float:
    """The ratio of a line, which must have one."""
    if line.ratio is None or line.failed:
        raise LookupError(f"{line.key} has no measure: {line.failed}")
    return line.ratio


def seconds(line: Line, theirs: bool = False) -> str:
    """The best time of ours, or of the other."""
    spread = line.theirs if theirs else line.ours
    if spread is None:
        raise LookupError(f"{line.key} has no such time")
    return f"{rounded(spread.best)} s"


def memory(line: Line, theirs: bool = False) -> str:
    """The peak of ours, or of the other, in MB or GB."""
    megabytes = None if line.memory is None else line.memory[theirs]
    if megabytes is None:
        raise LookupError(f"{line.key} has no such memory")
    return f"{megabytes:.0f} MB" if megabytes < 1_000 else f"{megabytes / 1_000:.1f} GB"


def rounded(value: float) -> str:
    """Two digits, and all of those before the point."""
    return f"{value:,.0f}" if abs(value) >= 10 else f"{value:.2g}"


def span(values: Iterable[float]) -> str:
    """The least and the largest, or one where both are the same."""
    known = sorted(values)
    return " to ".join(dict.fromkeys(rounded(value) for value in (known[0], known[-1])))


def errors(lines: Iterable[Line]) -> Iterator[float]:
    """Ours as a part of theirs."""
    for line in lines:
        if line.accuracy is None or line.accuracy[1] is None or not line.accuracy[2]:
            raise LookupError(f"{line.key} has no errors")
        yield line.accuracy[1] / line.accuracy[2]


# -- products, lifts, least squares ------------------------------------------------------------------------------------


def products(run: Run) -> str:
    faster = {
        (peer, dtype): span(map(measure, run.all("gram", "products", dtype, peer=peer)))
        for peer in ("scikit-learn", "KeOps")
        for dtype in ("float32", "float64")
    }
    times = [line.ours.best for line in run.all("gram", "products", "float32") if line.ours]
    large = run.one("gram", "memory", "200,000", "float32")
    return (
        f"On 2 cores a Gaussian Gram matrix of 20,000 x 20,000 pairs times a vector takes {span(times)} s in float32 "
        f"(d = 3 to 90): {faster['scikit-learn', 'float32']} times as fast as scikit-learn's `rbf_kernel(X, Z) @ v`, "
        f"and {faster['KeOps', 'float32']} times as fast as KeOps on the CPU; in float64 "
        f"{faster['scikit-learn', 'float64']} times and {faster['KeOps', 'float64']} times. 200,000 x 200,000 pairs "
        f"take {seconds(large)} and {rounded(measure(large))} MB."
    )


def lifts(run: Run) -> str:
    waves, cubes = run.all("lifts", "RandomFourier"), run.all("lifts", "Polynomial(3)")
    dense, sparse = (run.all("lifts", "Sketch", kind) for kind in ("dense", "sparse"))
    outliers = [*run.all("lifts", "Nystrom", "protein"), *run.all("lifts", "Nystrom", "california")]
    even = [*run.all("lifts", "Nystrom", "kin40k"), *run.all("lifts", "Nystrom", "normal")]
    return (
        "At the same number of features and on the same machine, RandomFourier is "
        f"{span(map(measure, waves))} times as fast as scikit-learn's RBFSampler, with {span(errors(waves))} of "
        f"its error; Polynomial(3) {span(map(measure, cubes))} times as fast as PolynomialFeatures; Sketch "
        f"{span(map(measure, dense))} times as fast as PolynomialCountSketch on dense tables and "
        f"{span(map(measure, sparse))} times on sparse ones, with {span(errors([*dense, *sparse]))} of its error; "
        f"Nystrom {span(map(measure, [*outliers, *even]))} times as fast as Nystroem, with at most "
        f"{rounded(max(errors(outliers)))} of its error on real tables with outliers, and {span(errors(even))} of it "
        "where there are none."
    )


def ridge(run: Run) -> str:
    time, held = (measure(run.one("ridge", f"one alpha: {what}")) for what in ("time", "peak memory"))
    search = "scikit-learn GridSearchCV"
    alphas = run.one("ridge", "30 alphas", peer=search, without="lengthscales")
    both = run.one("ridge", "lengthscales", peer=search)
    other = run.one("ridge", "30 alphas", peer="himalaya KernelRidgeCV")
    return (
        f"On 2 cores, a fit and prediction on 10,000 rows takes {time:.2f} of scikit-learn's time and {held:.2f} of "
        f"its memory; 30 alphas by leave-one-out on 3,000 rows are {rounded(measure(alphas))} times as fast as "
        f"`GridSearchCV` with five folds and {rounded(measure(other))} times as fast as himalaya, 7 lengthscales with "
        f"30 alphas each {rounded(measure(both))} times as fast as `GridSearchCV`."
    )


def relevance(run: Run) -> str:
    lines = run.all("relevance", "all: ", peer="one lengthscale")
    best = max(lines, key=lambda line: _gain(line))
    better = sum(_gain(line) > 0.005 for line in lines)
    worse = sum(_gain(line) < -0.005 for line in lines)
    against = run.all("relevance", "process: ")
    assert best.accuracy is not None  # noqa: S101
    return (
        f"Against one lengthscale for all columns, R^2 of new rows is better on {better} of {len(lines)} real tables "
        f"and worse on {worse} (by more than 0.005); the most on {best.work.partition(',')[0]}, from "
        f"{best.accuracy[2]:.2f} to {best.accuracy[1]:.2f}. On 1,000 rows it is "
        f"{span(map(measure, against))} times as fast as scikit-learn's `GaussianProcessRegressor` with one "
        "lengthscale per column."
    )


def _gain(line: Line) -> float:
    if line.accuracy is None or line.accuracy[1] is None or line.accuracy[2] is None:
        raise LookupError(f"{line.key} has no scores")
    return line.accuracy[1] - line.accuracy[2]


def far(run: Run) -> str:
    line = run.one("kernels", "evaluation", "gaussian")
    if line.accuracy is None or line.accuracy[1] is None or line.accuracy[2] is None:
        raise LookupError("no errors near 10^8")
    ours, theirs = (rounded(error) for error in line.accuracy[1:] if error is not None)
    return f"On rows near 10^8, scikit-learn's `rbf_kernel` is off by {theirs} and Mercer by {ours}."


# -- many rows ---------------------------------------------------------------------------------------------------------


def many_rows(run: Run) -> str:
    exact = run.all("scale", "exact", peer="SciPy cg on KeOps")
    least = "at least " if any(map(stopped, exact)) else ""
    cover, flights = (
        run.all("scale", "nystrom", name, "float64", peer="scikit-learn") for name in ("covertype", "flights")
    )
    files = run.one("scale", "all flights from Parquet, 1,000")
    return (
        f"On 2 cores, exact kernel ridge on 40,000 rows of kin40k and 45,730 of protein takes {_between(exact)}, "
        f"{least}{span(map(measure, exact))} times as fast as SciPy's conjugate gradients on KeOps. With 1,000 and "
        f"2,000 landmarks it is {span(map(measure, cover))} times as fast as scikit-learn's Nystroem and ridge "
        f"regression on half a million rows of covertype, and {span(map(measure, flights))} times on flights. All 2.4 "
        f"million flights from a Parquet file, 1,000 landmarks: {seconds(files)} and {rounded(measure(files))} MB."
    )


def _between(lines: list[Line]) -> str:
    return f"{span(line.ours.best for line in lines if line.ours)} s"


# -- margins -----------------------------------------------------------------------------------------------------------


def machines(run: Run) -> str:
    exact = sorted(run.all("margins", "exact", peer="scikit-learn"), key=measure)
    others = span(map(measure, run.all("margins", "exact", peer="scikit-learn-intelex")))
    least, most, new = exact[0], exact[-1], run.one("margins", "predict", peer="scikit-learn")
    return (
        f"With equal settings an exact fit on 2 cores is {rounded(measure(least))} ({least.work}) to "
        f"{rounded(measure(most))} ({most.work}) times as fast as scikit-learn's `SVC` and {others} times as fast as "
        f"scikit-learn-intelex's; predictions are {rounded(measure(new))} times as fast as scikit-learn's."
    )


def low_rank(run: Run) -> str:
    ours = [run.one("margins", "large", f"rank {rank}", peer="") for rank in ("1,000", "2,000")]
    theirs = run.one("margins", "large", "rank 1,000", peer="Nystroem + LinearSVC")
    if theirs.accuracy is None:
        raise LookupError("no accuracies of low rank")
    return (
        f"Half a million rows of covertype, two classes: with 1,000 landmarks {seconds(ours[0])}, {memory(ours[0])} "
        f"and an accuracy of {theirs.accuracy[1]:.4f}, scikit-learn's `Nystroem` and `LinearSVC` "
        f"{seconds(theirs, True)}, {memory(theirs, True)} and {theirs.accuracy[2]:.4f}; with 2,000 landmarks "
        f"{seconds(ours[1])} and {memory(ours[1])} ({ours[1].note.partition(';')[0]})."
    )


def perceptron(run: Run) -> str:
    careful = run.one("margins", "perceptron", peer="a loop over mistakes")
    plain = run.one("margins", "perceptron", peer="the lectures' loop")
    ended = f"was stopped after {seconds(plain, True)}" if stopped(plain) else f"takes {seconds(plain, True)}"
    return (
        f"Three passes over 50,000 rows of covertype, two classes, with a Gaussian kernel take {seconds(careful)} on "
        "2 cores. A careful sequential loop in NumPy, which has the kernel of each row with the mistakes alone, "
        f"makes the same mistakes in {seconds(careful, True)}; the lectures' loop, over all rows, {ended}."
    )


# -- without labels, and beyond vectors --------------------------------------------------------------------------------


def components(run: Run) -> str:
    few = run.one("unsupervised", "components", "20,000", "float64", without="memory")
    many = run.one("unsupervised", "large", "peak memory")
    return (
        f"On 2 cores ten components of 20,000 rows take {seconds(few)} and {memory(few)}, where scikit-learn's faster "
        f"solver takes {seconds(few, True)} and {memory(few, True)}; of 100,000 rows {seconds(many)} and "
        f"{memory(many)}."
    )


def clusters(run: Run) -> str:
    ours, theirs = (run.one("unsupervised", "clusters", "20,000", peer=peer) for peer in ("", "tslearn"))
    ended = f"had not ended after {seconds(theirs, True)}" if stopped(theirs) else f"takes {seconds(theirs, True)}"
    return f"Ten clusters of 20,000 rows take {seconds(ours)} and {memory(ours)}; tslearn's kernel k-means {ended}."


def graphs(run: Run) -> str:
    rounds, paths = (
        min(run.all("structured", name, "NCI1"), key=measure) for name in ("weisfeiler_lehman: ", "shortest_path: ")
    )
    return (
        f"On 2 cores the whole Weisfeiler-Lehman matrix of NCI1 (4,110 graphs) takes {seconds(rounds)}, GraKeL's "
        f"{seconds(rounds, True)}; shortest paths {seconds(paths)} and {seconds(paths, True)}."
    )


def strings(run: Run) -> str:
    dense, sparse = (
        run.one("structured", "5,000 of sms_spam", peer=f"scikit-learn, {how}") for how in ("dense", "sparse")
    )
    return (
        f"Runs of five letters of 5,000 messages, all pairs: {seconds(dense)}, with scikit-learn's CountVectorizer "
        f"and a dense product {seconds(dense, True)} and {memory(dense, True)}, with a sparse one "
        f"{seconds(sparse, True)}. All values are equal."
    )


def graph_scores(run: Run) -> str:
    found = ", ".join(f"{measure(line):.3f} on {_told(line)}" for line in run.all("structured", "Weisfeiler-Lehman"))
    return (
        "With `KernelSVC` on the normalised Weisfeiler-Lehman kernel of 5 rounds, C chosen on training folds alone, "
        f"the accuracy is {found}."
    )


def _told(line: Line) -> str:
    """The set, and how it was divided."""
    return f"{line.work.partition(',')[0]} ({line.note.partition(';')[0]})"


def string_scores(run: Run) -> str:
    near, placed = (run.one("structured", "promoters", kind) for kind in ("spectrum", "places"))
    mail, names = (run.one("structured", "accuracy", name, without="new ones") for name in ("SMS", "surnames"))
    fresh = run.one("structured", "accuracy", "SMS", "new ones")
    return (
        f"With `KernelSVC`, k and C chosen on training rows alone: promoters, left out one by one, {measure(near):.0f} "
        f"{near.unit} ({measure(placed):.0f} with the letters at their places, which is the fairer figure, since some "
        f"pieces overlap); SMS spam {measure(mail):.3f} ({measure(fresh):.3f} on texts that no training text equals); "
        f"surnames of 18 languages {measure(names):.3f} of a held-out tenth."
    )


def truth(run: Run) -> str:
    line = run.one("truth", peer="scikit-learn")
    return (
        f"Of the {line.work.partition(' ')[0]} that scikit-learn's `KernelRidge` can express, it is silently wrong on "
        f"{measure(line):.0f}; they were not chosen for or against it."
    )


def tables(run: Run) -> str:
    lines = run.all("tool")
    if not all(line.met for line in lines):
        raise LookupError("a table of the tool failed, or its file gives other predictions")
    return (
        f"{len(lines)} real tables were fitted in this way, and each model was asked again from its file, to the same "
        "bits."
    )


def speed_ups(run: Run) -> str:
    """A table for the first page: each row a task, whom it is compared with, and how many times as fast it is."""
    search, exact = "scikit-learn GridSearchCV", run.all("scale", "exact", peer="SciPy cg on KeOps")
    products = {peer: run.all("gram", "products", "float32", peer=peer) for peer in ("scikit-learn", "KeOps")}
    rows = (
        ("Gaussian kernel matrix, 20,000 x 20,000, times a vector", "scikit-learn", products["scikit-learn"]),
        ("the same", "KeOps on the CPU", products["KeOps"]),
        (
            "ridge, 30 alphas",
            "`GridSearchCV`, five folds",
            [run.one("ridge", "30 alphas", peer=search, without="lengthscales")],
        ),
        ("exact ridge, 40,000 rows and more", "SciPy's conjugate gradients on KeOps", exact),
        ("SVM, exact, equal settings", "`SVC`", run.all("margins", "exact", peer="scikit-learn")),
        ("SVM, predictions", "`SVC`", [run.one("margins", "predict", peer="scikit-learn")]),
        ("random Fourier features", "`RBFSampler`", run.all("lifts", "RandomFourier")),
        ("Weisfeiler-Lehman matrix of 4,110 graphs", "GraKeL", run.all("structured", "weisfeiler_lehman: ", "NCI1")),
    )
    told = (
        f"| {task} | {peer} | {'at least ' * any(map(stopped, lines))}{span(map(measure, lines))} |"
        for task, peer, lines in rows
    )
    return "\n".join(["| task | compared with | times as fast |", "|---|---|---|", *told])


TEXTS: dict[str, Callable[[Run], str]] = {
    "products": products, "lifts": lifts, "ridge": ridge, "relevance": relevance, "far": far, "many rows": many_rows,
    "machines": machines, "low rank": low_rank, "perceptron": perceptron, "components": components,
    "clusters": clusters, "graphs": graphs, "strings": strings, "tables": tables, "graph scores": graph_scores,
    "string scores": string_scores, "truth": truth, "speed ups": speed_ups,
}  # fmt: skip
SCRIPTS = {
    "products": "gram", "lifts": "lifts", "ridge": "ridge", "relevance": "relevance", "far": "kernels",
    "many rows": "scale", "machines": "margins", "low rank": "margins", "perceptron": "margins",
    "components": "unsupervised", "clusters": "unsupervised", "graphs": "structured", "strings": "structured",
    "tables": "tool", "graph scores": "structured", "string scores": "structured", "truth": "truth",
    "speed ups": "gram",
}  # fmt: skip
"""Who measured what a text says."""
