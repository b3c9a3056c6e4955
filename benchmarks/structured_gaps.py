"""The string subsequence kernel against plain Python: the part `gappy` of structured.py."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from alone import Found, alone, in_turns, measured
from scaling import Row, failure, peaks
from structured_sets import Place, strings
from tables import Array

from mercer.kernels import GappySubsequence

LETTERS, LENGTH, COUNT = "acgt", 60, 500
WORD, DECAY = 3, 0.5
PLAINLY = 100.0
TIMED = 2_000
"""Pairs on which plain Python is timed; all have the same cost, up to the letters that they share."""
CLOSE = 1e-12
"""The largest relative difference from plain sums: each is a sum of thousands of terms, in another order."""
WARM = 50
"""Strings of a first matrix, which loads and compiles."""


def plain(x: str, z: str, length: int, decay: float) -> float:
    """The dynamic programme in plain Python: |x| |z| steps for each letter of a word but the first.

    ends[i][j] is the sum over all words so far whose last letters are x[i] and z[j]; above[j] is the sum of decay^gaps
    ends over all that end before row i, up to column j.
    """
    places: dict[str, list[int]] = defaultdict(list)
    for j, letter in enumerate(z):
        places[letter].append(j)
    square, width = decay * decay, len(z)
    ends = [[square if a == b else 0.0 for b in z] for a in x]
    for _ in range(length - 1):
        above, longer = [0.0] * width, []
        for letter, row in zip(x, ends, strict=True):
            fresh = [0.0] * width
            for j in places[letter]:
                if j:
                    fresh[j] = square * above[j - 1]
            longer.append(fresh)
            run = 0.0
            for j, value in enumerate(row):
                run = decay * run + value
                above[j] = decay * above[j] + run
        ends = longer
    return sum(map(sum, ends))


def enumerated(x: str, z: str, length: int, decay: float) -> float:
    """The definition: all choices of places in both strings that spell the same word."""
    sums: list[dict[tuple[str, ...], float]] = []
    for text in (x, z):
        found: dict[tuple[str, ...], float] = defaultdict(float)
        for places in itertools.combinations(range(len(text)), length):
            found[tuple(text[i] for i in places)] += decay ** (places[-1] - places[0] + 1)
        sums.append(found)
    return sum(value * sums[1].get(word, 0.0) for word, value in sums[0].items())


def words(folder: Path, kind: str, count: int) -> list[str]:
    """Strings of LENGTH: random letters of DNA, or the beginnings of messages."""
    if kind == "messages":
        long = [text for text in strings(folder, "sms_spam")[0] if len(text) >= LENGTH]
        return [text[:LENGTH] for text in long[:count]]
    drawn = np.random.default_rng(0).choice(list(LETTERS), (count, LENGTH))
    return ["".join(row) for row in drawn.tolist()]


def ours(folder: Path, kind: str, count: int) -> Found:
    texts, kernel = words(folder, kind, count), GappySubsequence(WORD, DECAY)
    kernel(texts[:WARM])
    matrix, cost = measured(lambda: kernel(texts))
    i, j = drawn_pairs(count)
    return cost | {"values": matrix[i, j]}


def in_plain_python(folder: Path, kind: str, count: int) -> Found:
    """Some pairs, and the seconds of all, which are twice as few as the matrix has entries."""
    texts, (i, j) = words(folder, kind, count), drawn_pairs(count)
    pairs = [(texts[a], texts[b]) for a, b in zip(i.tolist(), j.tolist(), strict=True)]
    values, cost = measured(lambda: [plain(x, z, WORD, DECAY) for x, z in pairs])
    times = count * (count + 1) / 2 / len(pairs)
    scaled = {"seconds": times * cost["seconds"], "cpu": times * cost["cpu"]}
    return scaled | {"values": np.array(values)}  # without the memory: all pairs would not hold more


def drawn_pairs(count: int) -> tuple[Array, Array]:
    """Pairs of rows, drawn with the seed 1."""
    i, j = np.random.default_rng(1).integers(0, count, (2, TIMED))
    return i, j


def short_difference() -> float:
    """The largest relative difference of ours from the definition, for words of 1 to 5 letters in short strings."""
    rng = np.random.default_rng(2)
    texts = ["".join(rng.choice(list("ab"), size)) for size in range(9)] + ["banana", "ananas", "cat", "car", "été"]
    off = 0.0
    for length, decay in itertools.product(range(1, 6), (0.3, 0.5, 1.0)):
        true = np.array([[enumerated(x, z, length, decay) for z in texts] for x in texts])
        found = GappySubsequence(length, decay)(texts)
        off = max(off, float((np.abs(found - true) / np.where(true > 0, true, 1.0)).max()))
    return off


def gappy(place: Place, quick: bool, repeats: int) -> Iterator[Row]:
    """All pairs of 500 strings of length 60, words of 3 letters; plain Python is timed on some pairs and scaled up."""
    count, short = 100 if quick else COUNT, short_difference()
    for kind in ("random DNA", "messages"):
        jobs = {
            "ours": partial(alone, ours, place.data, kind, count),
            "plain": partial(alone, in_plain_python, place.data, kind, count),
        }
        work = f"{GappySubsequence(WORD, DECAY)}, {count} strings of {LENGTH}: {kind}"
        yield _gappy_row(work, in_turns(jobs, repeats), short)


def _gappy_row(work: str, best: dict[str, Found], short: float) -> Row:
    who = "plain Python"
    if failed := [f"{name}: {found['failed']}" for name, found in best.items() if "failed" in found]:
        return failure(work, who, failed)
    mine, other = best["ours"], best["plain"]
    off = float((np.abs(mine["values"] - other["values"]) / np.maximum(other["values"], 1e-300)).max())
    note = f"scaled from {TIMED:,} pairs, from which ours differs by {off:.0e}; "
    note += f"by {short:.0e} from an enumeration on short strings; CPU {mine['cpu']:.2f} / {other['cpu']:.1f} s"
    ratio, fine = other["seconds"] / mine["seconds"], max(off, short) <= CLOSE
    held, seconds = peaks(mine, other), (mine["seconds"], other["seconds"])
    return Row(work, who, *seconds, ratio, "times faster", PLAINLY, True, fine, note, held)
