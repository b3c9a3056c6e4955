# ruff: noqa: RUF001 (letters that look like others are what this file is about)
"""From what is on paper to tokens: letters of other alphabets and LaTeX are put into plain signs first."""

from __future__ import annotations

import re

from mercer.errors import ParseError
from mercer.kernels.lexer import Token

MAX_LETTERS = 1 << 16
"""Letters of a formula."""
SIGNS = {
    "·": ".", "⋅": ".", "∙": ".", "•": ".", "′": "'", "’": "'", "´": "'", "″": "''", "−": "-", "–": "-", "—": "-",
    "×": "*", "∗": "*", "÷": "/", "⟨": "<", "⟩": ">", "〈": "<", "〉": ">", "‖": "||", "∥": "||", "∣": "|",
    "√": " sqrt ", "∑": " sum ", "∏": " prod ", "ᵀ": "^T", "⊤": "T", "{": "(", "}": ")", "\u00a0": " ",
    "\u2009": " ", "\u2062": " ",
    "α": " alpha ", "β": " beta ", "γ": " gamma ", "θ": " theta ", "λ": " lambda ", "π": " pi ", "σ": " sigma ",
    "τ": " tau ", "ℓ": " ell ", "φ": "phi", "ϕ": "phi",
}  # fmt: skip
"""Letters that keyboards do not have, and what stands for them here."""
BELOW, ABOVE = "₀₁₂₃₄₅₆₇₈₉", "⁰¹²³⁴⁵⁶⁷⁸⁹"
COMMANDS = {
    "cdot": " . ", "times": " * ", "langle": " < ", "rangle": " > ", "lvert": " | ", "rvert": " | ", "mid": " | ",
    "vert": " | ", "lVert": " || ", "rVert": " || ", "Vert": " || ", "left": "", "right": "", "big": "", "Big": "",
    "bigl": "", "bigr": "", "Bigl": "", "Bigr": "", "mathbf": "", "boldsymbol": "", "bm": "", "mathrm": "",
    "mathsf": "", "vec": "", "displaystyle": "", "top": "T", "intercal": "T", "quad": " ", "ell": " ell ",
    "limits": "", "varphi": "phi", "coloneqq": ":=", "operatorname": "", "tfrac": " frac ", "dfrac": " frac ",
}  # fmt: skip
"""What commands of LaTeX stand for; of others the backslash goes."""
TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<number>[0-9]+\.(?=\s*(?:[-+*/^),\]]|$))|(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
  | (?P<name>[^\W\d]\w*)
  | (?P<string>"[^"\\]*")
  | (?P<symbol>\*\*|[-+*/().,=\[\]<>|^@'])
    """,
    re.VERBOSE,
)
HEAD = re.compile(r"^\s*(?:(?:[kK]|[pP]hi)\s*(?:\([^()=]*\))?\s*(?:\^\s*T)?\s*[.*]?\s*){1,2}:?=")
"""What a formula may begin with: k(x, z) =."""


def plain(text: str) -> str:
    r"""A formula in plain signs.

    >>> plain(r"\langle x, x^\prime \rangle + x₁² z_{2}")
    " <  x, x'  >  + x_1^2 z_2 "
    """
    if len(text) > MAX_LETTERS:
        message = f"A formula has at most {MAX_LETTERS:,} letters, got {len(text):,}."
        raise ParseError(message, text, MAX_LETTERS)
    found = text.strip()
    while len(found) > 1 and found[0] == found[-1] == "$":
        found = found[1:-1]
    found = found.replace("\\|", " || ").replace("\\{", "(").replace("\\}", ")").replace("~", " ")
    found = re.sub(r"\\(?:mathrm|mathsf|text|operatorname)\s*\{\s*(\w+)\s*\}", r" \1 ", found)
    found = re.sub(r"\^\s*(?:\{\s*\\prime\s*\}|\\prime)", "'", found)
    found = re.sub(r"\^\s*\{\s*(?:\\top|\\intercal|T|\s)+\s*\}", "^T ", found)
    found = re.sub(r"\\([A-Za-z]+)", lambda m: COMMANDS.get(m.group(1), f" {m.group(1)} "), found)
    found = re.sub(r"\\[,;:! ]", " ", found).replace("\\\\", " ")
    found = re.sub(f"[{BELOW}]+", lambda m: "_" + "".join(str(BELOW.index(c)) for c in m.group()), found)
    found = re.sub(f"[{ABOVE}]+", lambda m: "^" + "".join(str(ABOVE.index(c)) for c in m.group()), found)
    found = re.sub(r"\b(sum|prod)\s*_?\s*\{?\s*([a-z])\s*=\s*1\s*\}?\s*\^\s*(?:\{\s*\w+\s*\}|\w)", r"\1_\2 ", found)
    found = re.sub(r"\{\s*([A-Za-z](?:_?\w)?'?)\s*\}(?=\s*[_'])", r" \1 ", found)
    found = re.sub(r"\s*_\s*\{\s*(\w+)\s*\}", r"_\1 ", found)
    found = re.sub(r"([A-Za-z])\s+_(?=\w)", r"\1_", found)
    found = "".join(SIGNS.get(letter, letter) for letter in found)
    while (head := HEAD.match(found)) is not None:
        found = found[head.end() :]
    return found


def tokens_of(text: str) -> list[Token]:
    """The tokens of a formula in plain signs, with one of kind "end" behind the last."""
    found: list[Token] = []
    position = 0
    while position < len(text):
        match = TOKEN.match(text, position)
        if match is None:
            raise ParseError(
                f"{text[position]!r} has no meaning in a formula (at position {position}).", text, position
            )
        kind = str(match.lastgroup)
        if kind != "space":
            found.append(Token(kind, match.group(), position))
        position = match.end()
    return [*found, Token("end", "", len(text))]
