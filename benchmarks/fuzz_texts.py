"""Random and mutated texts of kernels and formulas: each gives a kernel or a `ParseError`, soon and in little memory.

    python benchmarks/fuzz_texts.py [--count 100000] [--seed 0]

What is read must print and be read again as an equal kernel, with an equal hash, and its LaTeX must be written. Of a
short formula `mercer.prove` must give an answer, printed and in LaTeX, or refuse it in words.
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import resource
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

from mutants import NAMES, kernel_text

from mercer.errors import KernelError, ParseError
from mercer.kernels.formulas.detect import is_formula
from mercer.kernels.proof.prove import prove
from mercer.kernels.text import known_names, parse
from mercer.kernels.text_grammar import METHODS

SLOWEST = 2.0
"""Seconds of the processor that a text may take, to be read, printed and read again."""
ROOM = 64 << 20
"""Bytes by which the process may grow over all texts."""
HANGING = 120
"""Seconds for a hundred texts, after which the process is ended, with a traceback of where it hangs."""
LONGEST = 100_000
"""Letters of the longest texts, but for the rare ones that are beyond the limit of letters."""
PIECES = [
    "(", ")", "[", "]", "+", "-", "*", "**", ",", ".", "=", "'", '"', "\\", "\\x41", " ", "\n", "\t", "\0", "\x1b", "^",
    "1", "0", "-1", "1e", "1e999", "9" * 30, ".5", "1.", "1_0", "0x1", "inf", "nan", "[[1, 0], [0, 1]]", "['a', 'b']",
    "\u00e9", "\u0661", "\u2212", "\ud800", "\u202e", "\U0001f600", "\u017f", "lengthscale", "degree", "'median'", "x",
]  # fmt: skip
LONG = ["+{}", "*{}", "**2", ".normalized()", ".scaled([1])", ".on([0])", ",1", "'a',", "(", "exp(", "[", "{}**", "1"]
"""What is repeated until a text is large."""
ATOMS = [
    "x.z", "x.x'", "<x, z>", "x1", "z1", "x2", "z2", "x_1", "x", "z", "|x - z|", "|x|", "||x-z||^2", "1", "2", "0.5",
    "s", "pi", "min(x, z)", "sum(x_k z_k)", "prod(1 + x_k z_k)", "k(x, z)", "f(x)", "f(z)",
    "x'[[2,1],[1,2]]z", "sqrt(2)",
]  # fmt: skip
SHAPES = [
    "{} + {}", "{} - {}", "{} {}", "{}*{}", "({})({})", "({})^2", "({})^3", "({})^0.5", "({})^-1", "({})/({})",
    "exp({})", "exp(-({}))", "cos({})", "tanh({})", "log({})", "-{}", "sqrt({})", "({})^({})", "max({}, {})",
    "|{}|",
]  # fmt: skip
LONG_FORMULAS = ["+x.z", " x1z1", "-x1 z2", "*(1+x.z)", "^2", "(1+", "exp(", "|", "<x,", "x_1+", "+|x-z|^2", "[", "'"]
PROVEN_LETTERS = 60
"""Letters of formulas that are proven too."""
PROOF_SECONDS = 0.05
"""How long a witness is searched for."""


@dataclass
class Report:
    """What was seen.

    outcomes : how many were refused, by the words in front, and how many read
    bad : what must not happen, with the text
    slowest, slow : seconds, and the text that took them
    grown : bytes by which the process grew
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    bad: list[str] = field(default_factory=list)
    slowest: float = 0.0
    slow: str = ""
    grown: int = 0

    @property
    def clean(self) -> bool:
        """Whether nothing happened that must not."""
        return not self.bad and self.slowest <= SLOWEST and self.grown <= ROOM


def text_of(rng: random.Random) -> str:
    """A text: a formula, one that was changed, tokens one after the other, or something large."""
    kind = rng.random()
    if rng.random() < 0.4:
        text = formula_text(rng)
        return text if kind < 0.6 else changed(text, rng) if kind < 0.95 else large_formula(rng)
    if kind < 0.35:
        return kernel_text(rng)
    if kind < 0.75:
        return changed(kernel_text(rng), rng)
    if kind < 0.98:
        words = [*PIECES, *NAMES, *(f".{method}(" for method in METHODS)]
        return rng.choice(["", " "]).join(rng.choice(words) for _ in range(rng.choice([1, 3, 8, 30])))
    return large(rng)


def formula_text(rng: random.Random, depth: int = 3) -> str:
    """A formula of two points."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(ATOMS)
    shape = rng.choice(SHAPES)
    return shape.format(*(formula_text(rng, depth - 1) for _ in range(shape.count("{}"))))


def large_formula(rng: random.Random) -> str:
    """A formula in which a piece is repeated, up to the limits and beyond."""
    piece, size = rng.choice(LONG_FORMULAS), rng.choice([50, 300, 3000, LONGEST])
    return rng.choice(["", "x.z", "x1 z1"]) + piece * (size // len(piece)) + rng.choice(["", "x.z", ")" * 20])


def changed(text: str, rng: random.Random) -> str:
    """A text with pieces put in, taken out, replaced, doubled or exchanged."""
    for _ in range(rng.choice([1, 1, 2, 5])):
        first, second = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        second = min(second, first + rng.choice([0, 1, 3, 20]))
        middle = rng.choice(["", "", rng.choice(PIECES), rng.choice(NAMES), text[first:second] * 2, kernel_text(rng)])
        text = text[:first] + middle + text[second:]
    return text


def large(rng: random.Random) -> str:
    """A text in which one piece, or one that opens and one that closes, is repeated up to the limits and beyond."""
    size = rng.choice([55, 70, 120, 1000, 4000, 5000, LONGEST])
    name = rng.choice([*NAMES, "1", "gaussian(lengthscale=2)", kernel_text(rng, 4)])
    if rng.random() < 0.3:
        opening, closing = rng.choice(
            [("(", ")"), ("exp(", ")"), ("(1+", ")"), ("(", ")**2"), ("linear.after([", "])")]
        )
        size = min(size, LONGEST // 8)
        return opening * size + name + closing * size
    piece = rng.choice(LONG).format(name)
    start = rng.choice(["", name, "linear.after([[1", "mismatch(alphabet=[", "linear.on([0"])
    end = {"linear.after([[1": "]])", "mismatch(alphabet=[": "])", "linear.on([0": "])"}.get(start, "")
    many = size if rng.random() > 0.02 else 11 * LONGEST
    return start + piece * (many // len(piece) + 1) + end


def trial(text: str) -> str:
    """How a text ended: "read", or the words in front of its refusal; "BAD ..." where a promise was broken."""
    try:
        kernel = parse(text)
    except ParseError as error:
        message = str(error)
        bad = proof_of(text)
        if bad:
            return bad
        return f"BAD message of {len(message)} letters" if len(message) > 3000 else message[:12]
    except Exception as error:  # noqa: BLE001  # this is what is looked for
        return f"BAD {type(error).__name__}: {str(error)[:200]}"
    try:
        again = parse(str(kernel))
        if again != kernel or hash(again) != hash(kernel) or str(again) != str(kernel):
            return "BAD another kernel comes back"
        kernel.latex()
    except Exception as error:  # noqa: BLE001  # what was read must be printed and read
        return f"BAD print: {type(error).__name__}: {str(error)[:200]}"
    return "read"


def proof_of(text: str) -> str:
    """What is wrong with the proof of a short formula; "" where nothing is."""
    if len(text) > PROVEN_LETTERS or not is_formula(text, known_names()):
        return ""
    try:
        proof = prove(text, time_limit=PROOF_SECONDS)
        str(proof), proof.to_latex()
    except (KernelError, ValueError) as error:  # ValueError: numbers of columns that do not fit, which Mercer says
        return (
            ""
            if isinstance(error, KernelError) or type(error).__module__ == "mercer.errors"
            else f"BAD proof {error!r}"
        )
    except Exception as error:  # noqa: BLE001  # this is what is looked for
        return f"BAD proof: {type(error).__name__}: {str(error)[:200]}"
    return ""


def peak() -> int:
    """Bytes that the process had at its peak."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def fuzz(count: int, seed: int = 0) -> Report:
    """Read so many texts. Cost: about a millisecond each."""
    report = Report()
    trial("gaussian + ")
    before, start = peak(), random.Random(seed).randrange(2**40)  # noqa: S311  # nothing is secret
    for i in range(count):
        if i % 100 == 0:
            faulthandler.dump_traceback_later(HANGING, exit=True)
        text = text_of(random.Random(start + i))  # noqa: S311
        began = time.process_time()
        end = trial(text)
        seconds = time.process_time() - began
        report.outcomes[end] += 1
        if end.startswith("BAD"):
            report.bad.append(f"seed {seed}, text {i}: {text!r:.300} {end}")
        if seconds > report.slowest:
            report.slowest, report.slow = seconds, f"seed {seed}, text {i}: {text!r:.60}"
    faulthandler.cancel_dump_traceback_later()
    report.grown = peak() - before
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description="Random texts of kernels.")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    began = time.perf_counter()
    report = fuzz(given.count, given.seed)
    for words, many in report.outcomes.most_common(40):
        print(f"{many:>9,}  {words}")
    for line in report.bad[:40]:
        print(line)
    print(
        f"the slowest took {report.slowest:.3f} s ({report.slow}); the process grew by {report.grown / 2**20:.0f} MiB"
    )
    told = f"{report.outcomes['read']:,} read, {len(report.bad)} bad, {'clean' if report.clean else 'NOT CLEAN'}"
    print(f"{given.count:,} texts in {time.perf_counter() - began:.0f} s, {told}")
    sys.exit(0 if report.clean else 1)


if __name__ == "__main__":
    main()
