"""Sentences whose figures are those of the last whole run: they are made here of its record, and stand on their pages.

    python benchmarks/figures.py [RECORD] [--quiet]

Prints what a page should say, and does not; the exit code is 1 then. tests/benchmarks/test_figures.py asks the same.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lines import Line
from page import RECORD, short

ROOT = Path(__file__).resolve().parent.parent


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
    """Two digits, all of those before the point."""
    return f"{value:,.0f}" if abs(value) >= 10 else f"{value:.2g}"


def span(values: Iterable[float], before: str = "") -> str:
    """The least and the largest, or one where both are the same."""
    known = sorted(values)
    ends = list(dict.fromkeys(f"{before}{rounded(value)}" for value in (known[0], known[-1])))
    return " to ".join(ends)


def errors(lines: Iterable[Line]) -> Iterator[float]:
    """Ours as a part of theirs."""
    for line in lines:
        if line.accuracy is None or line.accuracy[1] is None or not line.accuracy[2]:
            raise LookupError(f"{line.key} has no errors")
        yield line.accuracy[1] / line.accuracy[2]


# -- pages -------------------------------------------------------------------------------------------------------------


def readme(run: Run) -> Iterator[str]:
    yield from _lifts(run)
    yield _ridge(run)
    yield _machines(run)
    yield from _without_labels(run)
    yield from _structured(run)
    yield from _products(run)
    far = run.one("kernels", "evaluation", "gaussian")
    if far.accuracy is None:
        raise LookupError("no errors near 10^8")
    ours, theirs = (f"{error:.2g}" for error in far.accuracy[1:])
    yield f"On rows near 10^8, scikit-learn's `rbf_kernel` is off by {theirs} and Mercer by {ours}"
    tables = run.all("tool")
    if not all(line.met for line in tables):
        raise LookupError("a table of the tool failed, or its file gives other predictions")
    yield f"fits {len(tables)} real tables in this way, and asks each model again from its file, to the same bits"


def _lifts(run: Run) -> Iterator[str]:
    waves = run.all("lifts", "RandomFourier")
    yield (
        f"RandomFourier takes {span(map(measure, waves), '1/')} of the time of scikit-learn's RBFSampler, with "
        f"{span(errors(waves))} of its error"
    )
    yield f"Polynomial(3) {span(map(measure, run.all('lifts', 'Polynomial(3)')), '1/')} of PolynomialFeatures' time"
    dense, sparse = (run.all("lifts", "Sketch", kind) for kind in ("dense", "sparse"))
    yield (
        f"Sketch {span(map(measure, dense), '1/')} of PolynomialCountSketch's on dense tables and "
        f"{span(map(measure, sparse), '1/')} on sparse ones, with {span(errors([*dense, *sparse]))} of its error"
    )
    outliers = [*run.all("lifts", "Nystrom", "protein"), *run.all("lifts", "Nystrom", "california")]
    even = [*run.all("lifts", "Nystrom", "kin40k"), *run.all("lifts", "Nystrom", "normal")]
    yield (
        f"Nystrom {span(map(measure, [*outliers, *even]), '1/')} of Nystroem's, with at most "
        f"{rounded(max(errors(outliers)))} of its error on tables with outliers, and {span(errors(even))} of it on "
        "tables without any"
    )


def _ridge(run: Run) -> str:
    time, held = (measure(run.one("ridge", f"one alpha: {what}")) for what in ("time", "peak memory"))
    search = "scikit-learn GridSearchCV"
    alphas, both = (
        run.one("ridge", "30 alphas", peer=search, without="lengthscales"),
        run.one("ridge", "lengthscales", peer=search),
    )
    other = run.one("ridge", "30 alphas", peer="himalaya KernelRidgeCV")
    return (
        f"On 2 cores, a fit and prediction on 10,000 rows takes {time:.2f} of scikit-learn's time and {held:.2f} of "
        f"its memory; 30 alphas by leave-one-out on 3,000 rows take 1/{rounded(measure(alphas))} of the time of "
        f"`GridSearchCV` with five folds and 1/{rounded(measure(other))} of himalaya's, 7 lengthscales with 30 alphas "
        f"each 1/{rounded(measure(both))}"
    )


def _machines(run: Run) -> str:
    exact = sorted(run.all("margins", "exact", peer="scikit-learn"), key=measure)
    others = span(map(measure, run.all("margins", "exact", peer="scikit-learn-intelex")), "1/")
    (least, most), new = (exact[0], exact[-1]), run.one("margins", "predict", peer="scikit-learn")
    return (
        f"With equal settings an exact fit on 2 cores takes 1/{rounded(measure(least))} ({least.work}) to "
        f"1/{rounded(measure(most))} ({most.work}) of the time of scikit-learn's `SVC`, {others} of "
        f"scikit-learn-intelex's, and predictions 1/{rounded(measure(new))}"
    )


def _without_labels(run: Run) -> Iterator[str]:
    few = run.one("unsupervised", "components", "20,000", "float64", without="memory")
    many = run.one("unsupervised", "large", "peak memory")
    yield (
        f"On 2 cores ten components of 20,000 rows take {seconds(few)} and {memory(few)}, where scikit-learn's faster "
        f"solver takes {seconds(few, True)} and {memory(few, True)}; of 100,000 rows {seconds(many)} and {memory(many)}"
    )
    ours, theirs = (run.one("unsupervised", "clusters", "20,000", peer=peer) for peer in ("", "tslearn"))
    yield f"Ten clusters of 20,000 rows take {seconds(ours)} and {memory(ours)}"
    if theirs.failed or "stopped" in theirs.note:
        yield f"tslearn's kernel k-means had not ended after {rounded(theirs.theirs.best) if theirs.theirs else '?'} s"
    else:
        yield f"tslearn's kernel k-means takes {seconds(theirs, True)}"


def _structured(run: Run) -> Iterator[str]:
    rounds, paths = (
        min(run.all("structured", name, "NCI1", peer=None), key=measure)
        for name in ("weisfeiler_lehman: ", "shortest_path: ")
    )
    letters = run.one("structured", "5,000 of sms_spam", peer="scikit-learn, dense")
    yield (
        "On 2 cores the whole Weisfeiler-Lehman matrix of NCI1 (4,110 graphs) takes "
        f"{seconds(rounds)}, GraKeL's {seconds(rounds, True)}; shortest paths {seconds(paths)} and "
        f"{seconds(paths, True)}; runs of five letters of 5,000 messages {seconds(letters)}, with scikit-learn's "
        f"CountVectorizer and a dense product {seconds(letters, True)} and {memory(letters, True)}"
    )


def _products(run: Run) -> Iterator[str]:
    faster = {
        (peer, dtype): span(map(measure, run.all("gram", "products", dtype, peer=peer)))
        for peer in ("scikit-learn", "KeOps")
        for dtype in ("float32", "float64")
    }
    times = [line.ours.best for line in run.all("gram", "products", "float32") if line.ours]
    yield (
        "On 2 cores a Gaussian Gram matrix of 20,000 x 20,000 pairs times a vector takes "
        f"{span(times)} s in float32 (d = 3 to 90): {faster['scikit-learn', 'float32']} times as fast as "
        f"scikit-learn's `rbf_kernel(X, Z) @ v`, and {faster['KeOps', 'float32']} times as fast as KeOps on the CPU; "
        f"in float64 {faster['scikit-learn', 'float64']} times and {faster['KeOps', 'float64']} times"
    )
    large = run.one("gram", "memory", "200,000", "float32")
    yield f"200,000 x 200,000 pairs take {seconds(large)} and {short(measure(large))} MB"


PAGES: dict[str, Callable[[Run], Iterator[str]]] = {"README.md": readme}


def missing(run: Run, root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """Pages, and sentences that they should have and have not."""
    for page, sentences in PAGES.items():
        text = " ".join((root / page).read_text(encoding="utf-8").split())
        for sentence in sentences(run):
            if sentence not in text:
                yield page, sentence


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=Path, nargs="?", default=RECORD)
    parser.add_argument("--quiet", action="store_true", help="say nothing where all stand")
    options = parser.parse_args()
    found = list(missing(Run.read(json.loads(options.record.read_text()))))
    for page, sentence in found:
        print(f"{page} should say: {sentence}")
    if not found and not options.quiet:
        print("all figures are those of the record")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
