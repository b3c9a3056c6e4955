"""Keeps words of the first edition's private English out of prose: `python tests/docs/words.py`, a part of `make lint`.

Docstrings, comments and other texts of the source are read, and the pages; names in code are not. ARCHITECTURE.md and
CONTRIBUTING.md are read too, CHANGELOG.md is not: it tells what was called how.
"""

import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
UNIT = r"(?:row|column|output|class|feature|label|node|edge|pair|step|penalty|function|landmark|model|line)"
WORDS = {
    r"\bcame\b(?! :)": "got, was given",
    rf"\b(?:one|numbers?|operations|weight|coefficient|formula) an? {UNIT}\b(?! that)": "one per row, one per output",
    r"\bmachines? of margins?\b": "SVM",
    r"\bthings?\b(?! despite)": "structured data; objects where it is a store",
    r"\bsought\b": "problem, subproblem, requested",
    r"\b(?:pupils?|mistaken|the course)\b": "updater, misclassified, state",
    r"\b(?:at rest|rested|violation of rest)\b": "optimal (KKT), KKT violation",
    r"\bprice (?:C\b|of (?:an |the )?errors?)|--price\b": "C, penalty",
    r"\bleft-out (?:errors?|rows?|labels?)\b": "leave-one-out errors, held-out rows",
    r"\bequal Gaussian process\b": "equivalent Gaussian process",
    r"\bwhole numbers?\b|\b(?:numbers?|weights?) above zero\b": "integer, positive integer, positive weight",
    r"\btruths\b": "booleans, true values",
    r"\b1/\d[\d.]* (?:to 1/\d[\d.]* )?of the time\b": "2.7 times faster than",
    r"\b(?:public|learners') door\b|\bat the door\b": "input validation",
    r"\bwho (?:predicts|solves|works|computes|learns)\b|\bwhoever\b": "predictor, solver; say what happens",
    r"\b(?:direct|exact|approximate|quickest|chosen|one-pass) ways?\b": "method",
    r"\bstrangers?\b": "untrusted",
    r"\bto speak of\b|\bwithout a word\b": "negligible; silently",
}
"""A pattern for each old word, and what is written instead."""


def main(paths: list[Path]) -> int:
    """Print what is found, and give how much that is."""
    found = [line for path in paths for line in complaints(path)]
    print("\n".join([*found, f"{len(found)} old words in {len(paths)} files"]))  # noqa: T201
    return min(len(found), 1)


def complaints(path: Path) -> Iterator[str]:
    """The old words of a file, each with its place and what to write."""
    for number, line in prose(path):
        for pattern, instead in WORDS.items():
            for match in re.finditer(pattern, line, re.IGNORECASE):
                yield f"{path}:{number}: {match[0]!r}: write {instead}"


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a page; of source the lines of texts and comments."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield from enumerate(text.splitlines(), start=1)
        return
    kinds = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.COMMENT)}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in kinds:  # what stands in braces is code
            lines = [re.sub(r"\{[^{}]*\}", "", line) for line in token.string.splitlines()]
            yield from enumerate(lines, start=token.start[0])


def pages() -> list[Path]:
    """All files that are read: what `make bench` or `make docs` writes is not among them."""
    written = ("benchmarks.md", "auto_gallery", "generated")
    found = [*ROOT.glob("src/**/*.py"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("docs/gallery/**/*.py")]
    named = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md")]
    return sorted(path for path in found if not any(part in written for part in path.parts)) + named


if __name__ == "__main__":
    sys.exit(main(pages()))
