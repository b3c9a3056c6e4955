r"""A proof as LaTeX: formulas of kernels for their texts, and the mathematics of its sentences between dollar signs.

Sentences are plain text, to be read in a terminal: `exp(-lengthscale^2 |w|^2 / 2)`. What is mathematics in them is told
by its signs, word by word, and typeset; the rest is prose, with what is special to LaTeX escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.base import Kernel

if TYPE_CHECKING:
    from mercer.kernels.proof.record import Asymmetry, ObjectWitness, Proof, SpectralWitness, Witness

FUNCTIONS = ("exp", "sin", "cos", "tanh", "max", "min")
SYMBOLS = {
    "pi": r"\pi",
    "nu": r"\nu",
    "phi": r"\phi",
    "phi_w": r"\phi_w",
    "sum": r"\sum",
    "prod": r"\prod",
    "sqrt": r"\sqrt",
    "in": r"\in",
    "R": r"\mathbb{R}",
    "cx": "c x",
    "<<": r"\langle ",
    ">>": r" \rangle",
    "...": r"\ldots",
} | {name: rf"\{name}" for name in FUNCTIONS}
"""Words in formulas; other words of several letters are set upright."""
SPECIAL = {letter: rf"\{letter}" for letter in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}
PROSE = re.compile(r"[A-Za-z][A-Za-z'-]*")
NUMBER = re.compile(r"-?\d[\d.e+-]*")
CODE = re.compile(r"[A-Z]\w+\(\)")
ALONE = {"pi", "nu", "phi", *FUNCTIONS}
"""Words that are mathematics where they stand alone."""
SIGNS = frozenset("^_<>|=*/+")
OPERATOR = re.compile(r"[-+*/=<>]+")
OPEN, CLOSE = "([{", ")]}"
INNER = re.compile(r"<([^<>=]+?), ([^<>=]+?)>")
PIECES = re.compile(r"'[^']*'|->|<<|>>|\.\.\.|<=|>=|[A-Za-z]+|\d[\d.]*(?:e[+-]?\d+)?|\S|\s+")
MAX_SHOWN_POINTS = 12
"""Points of a witness that are written."""


def written(proof: Proof) -> str:
    """The claim, the numbered steps and the witness."""
    kernel = proof.kernel
    shown = proof.asked or kernel
    name = rf"\texttt{{{escaped(proof.name)}}}" if not hasattr(shown, "latex") else f"$k(x, z) = {shown.latex()}$"
    lines = [rf"\textbf{{Claim}} ({proof.status}). {name} {typeset(proof._said())}", r"\begin{enumerate}"]
    formulas = dict(_formulas(kernel)) if isinstance(kernel, Kernel) else {}
    lines += [rf"\item {_step(step, formulas)}." for step in proof.steps]
    lines += [r"\end{enumerate}"] if proof.steps else []
    lines = lines if proof.steps else lines[:1]
    return "\n".join([*lines, *([] if proof.witness is None else [_witness(proof.witness)])])


def escaped(text: str) -> str:
    r"""Prose, or code, whose special letters LaTeX prints.

    >>> print(escaped("50 % of x_1"))
    50 \% of x\_1
    """
    return "".join(SPECIAL.get(letter, letter) for letter in text)


def typeset(sentence: str) -> str:
    r"""A sentence with its mathematics between dollar signs.

    >>> print(typeset("each 1 + x_k z_k is a kernel with the lift [1, x_k] (product rule)"))
    each $1 + x_{k} z_{k}$ is a kernel with the lift $[1, x_{k}]$ (product rule)
    """
    found: list[str] = []
    run: list[str] = []
    words = INNER.sub(r"<<\1,~\2>>", sentence).split()
    for word, after in zip(words, [*words[1:], ""], strict=True):
        if run and _goes_on(run, word):
            run.append(word)
            continue
        found += [_formula(run)] if run else []
        run = [word] if _is_formula(word) or OPERATOR.fullmatch(after) else []
        found += [] if run else [_prose(word)]
    return " ".join([*found, *([_formula(run)] if run else [])])


def _goes_on(run: list[str], word: str) -> bool:
    """Whether a formula goes on with a word: a bracket is open, an operator waits, or the word is mathematics."""
    if _depth(run) > 0 or OPERATOR.fullmatch(run[-1]):
        return True
    return run[-1][-1] not in ",;:" and (_is_formula(word) or word.rstrip(",;:") == "...")


def _formulas(kernel: Kernel) -> Iterable[tuple[str, str]]:
    """The text of each kernel of a tree, and its formula."""
    yield str(kernel), kernel.latex()
    for child in kernel.children:
        yield from _formulas(child)


def _step(step: str, formulas: dict[str, str]) -> str:
    """A step, in which the kernel of which it speaks is a formula."""
    begun = max(
        (text for text in formulas if re.match(re.escape(text) + r"(:| is | would )", step)), key=len, default=""
    )
    if begun:
        rest = step.removeprefix(begun)
        return f"${formulas[begun]}${':' if rest[0] == ':' else ''} {typeset(rest.lstrip(':'))}"
    last = max((text for text in formulas if step.endswith(f" is {text}")), key=len, default="")
    if last:
        return f"{typeset(step.removesuffix(last).rstrip())} ${formulas[last]}$"
    return typeset(step)


def _is_formula(word: str) -> bool:
    """Whether a word is mathematics: by its signs, or as a number, a single letter or the name of a function."""
    bare = word.strip("()[],;:.")
    if CODE.fullmatch(word.rstrip(",;:.")) or bare == "a":
        return False
    known = len(bare) == 1 or bare in ALONE or bool(NUMBER.fullmatch(bare))
    return known or bool(SIGNS & set(word)) or bool(re.search(r"\w[(\[]", word))


def _prose(word: str) -> str:
    code = CODE.match(word)
    if code:
        return rf"\texttt{{{escaped(code[0])}}}" + escaped(word[code.end() :])
    return escaped(word)


def _depth(words: list[str]) -> int:
    """How many brackets are open."""
    text = " ".join(words)
    return sum(text.count(letter) for letter in OPEN) - sum(text.count(letter) for letter in CLOSE)


def _formula(words: list[str]) -> str:
    """A run of mathematics, without what belongs to the prose around it: commas, and brackets that it does not open."""
    text = " ".join(words)
    tail = ""
    while text and not text.endswith("...") and (text[-1] in ",;:." or (text[-1] in CLOSE and _depth([text]) < 0)):
        text, tail = text[:-1], text[-1] + tail
    head = ""
    while text and text[0] in OPEN and _depth([text]) > 0:
        text, head = text[1:], head + text[0]
    return f"{escaped(head)}${mathematics(text)}${escaped(tail)}" if text else escaped(head + tail)


def mathematics(text: str) -> str:
    r"""A formula of plain text as LaTeX writes it.

    >>> print(mathematics("(2 pi)^(d/2) exp(-lengthscale^2 |w|^2 / 2)"))
    (2 \pi)^{d/2} \exp(-\mathrm{lengthscale}^{2} |w|^{2} / 2)
    """
    pieces = PIECES.findall(text)
    found, at = "", 0
    while at < len(pieces):
        piece = pieces[at]
        at += 1
        if piece in ("^", "_"):
            inside, at = _script(pieces, at)
            found += f"{piece}{{{inside}}}"
        elif piece == "sqrt":
            inside, at = _script(pieces, at)
            found += rf"\sqrt{{{inside}}}"
        else:
            found += _symbol(piece)
    return re.sub(r"  +", " ", found.replace(r"} \mathrm", r"}\ \mathrm").replace("~", " ")).strip()


def _script(pieces: list[str], at: int) -> tuple[str, int]:
    """What an exponent, an index or a root holds: the next number or word, or what stands in the next brackets."""
    sign = ""
    if at < len(pieces) and pieces[at] == "-":
        sign, at = "-", at + 1
    if at >= len(pieces):
        return sign, at
    if pieces[at] not in OPEN:
        inside, at = sign + _symbol(pieces[at], script=True), at + 1
        if at < len(pieces) and pieces[at] == "_":  # an index of the exponent
            index, at = _script(pieces, at + 1)
            inside += f"_{{{index}}}"
        return inside, at
    depth, end = 1, at + 1
    while end < len(pieces) and depth:
        depth += (pieces[end] in OPEN) - (pieces[end] in CLOSE)
        end += 1
    return sign + mathematics("".join(pieces[at + 1 : end - (depth == 0)])), end


def _symbol(piece: str, script: bool = False) -> str:
    """A piece of a formula; an index of several letters, ij, is several indices."""
    if piece.startswith("'"):
        return rf"\mathtt{{{escaped(piece.strip(chr(39)))}}}"
    if piece in ("->", "<=", ">=", "*"):
        return {"->": r"\to ", "<=": r"\leq ", ">=": r"\geq ", "*": r"\cdot "}[piece]
    if piece in SYMBOLS:
        return SYMBOLS[piece] if piece != "in" else r"\in "
    if piece.isalpha() and len(piece) > 1 and not (script and len(piece) == 2):
        return rf"\mathrm{{{piece}}}"
    return {"{": r"\{", "}": r"\}", "%": r"\%", "#": r"\#", "&": r"\&", "$": r"\$"}.get(piece, piece)


# -- witnesses -----------------------------------------------------------------------------------------------------


def _witness(witness: Witness | SpectralWitness | ObjectWitness | Asymmetry) -> str:
    """What refutes a kernel, as an equation that one can check."""
    from mercer.kernels.proof import record

    if isinstance(witness, record.Witness):
        points = [_point(point) for point in witness.points]
        return _form(points, [numeral(weight) for weight in witness.weights], witness.value)
    if isinstance(witness, record.ObjectWitness):
        points = [rf"\mathtt{{{escaped(str(each))}}}" for each in witness.objects]
        return _form(points, [str(weight) for weight in witness.weights], witness.value)
    if isinstance(witness, record.Asymmetry):
        x, z = map(_point, witness.points)
        values = f"k(x, z) = {numeral(witness.forward)} \\neq {numeral(witness.backward)} = k(z, x)"
        return rf"\textbf{{Witness.}} ${values}$ for $x = {x}$ and $z = {z}$."
    window = (
        ""
        if np.isinf(witness.window)
        else rf", windowed by $\exp(-r^{{2}} / (2 \cdot {numeral(witness.window)}^{{2}}))$,"
    )
    value = rf"${numeral(witness.value)} < 0$ times the integral of $|k|$"
    return rf"\textbf{{Witness.}} The Fourier transform{window} at $|w| = {numeral(witness.frequency)}$ is {value}."


def _form(points: list[str], weights: list[str], value: float) -> str:
    """Points, weights and the quadratic form, which is negative."""
    shown = [
        f"$x_{{{i}}} = {x}$, $c_{{{i}}} = {c}$" for i, (x, c) in enumerate(zip(points, weights, strict=True), start=1)
    ]
    more = f"; and {len(shown) - MAX_SHOWN_POINTS} more points" if len(shown) > MAX_SHOWN_POINTS else ""
    form = rf"\sum_{{i, j}} c_{{i}} c_{{j}} k(x_{{i}}, x_{{j}}) = {numeral(value)} < 0"
    return rf"\textbf{{Witness.}} {'; '.join(shown[:MAX_SHOWN_POINTS])}{more}: ${form}$."


def _point(point: NDArray[Any]) -> str:
    return f"({', '.join(map(numeral, point))})"


def numeral(value: float) -> str:
    r"""A number with 12 digits.

    >>> print(numeral(-1.5e-7))
    -1.5 \cdot 10^{-7}
    """
    digits, _, exponent = f"{value:.12g}".partition("e")
    return rf"{digits} \cdot 10^{{{int(exponent)}}}" if exponent else digits
