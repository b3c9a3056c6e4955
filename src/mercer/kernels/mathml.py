r"""From LaTeX to MathML, which browsers set without a script: the small part of LaTeX that formulas of kernels use."""

from __future__ import annotations

import re
from collections.abc import Callable

from mercer.html import Markup, escaped

TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
MAX_LETTERS = 4000
"""Letters of a formula that is set."""
FUNCTIONS = ("arccos", "cos", "det", "exp", "ln", "log", "max", "min", "sin", "sinc", "sinh", "tan", "tanh")
GREEK = (
    "alpha beta gamma delta epsilon theta lambda mu nu pi rho sigma tau phi chi psi omega ell Lambda Gamma Sigma Phi"
)
LIKE = "times le ge ne in angle top sum prod langle rangle cap cup lfloor rfloor mid leq geq"
"""Names that HTML has as well."""
SIGNS = {name: f"&{name};" for name in LIKE.split()} | {
    "cdot": "&middot;", "lVert": "&Vert;", "rVert": "&Vert;", "lvert": "|", "rvert": "|", "vert": "|", "|": "&Vert;",
    "infty": "&infin;", "to": "&rarr;", "dots": "&hellip;", "ldots": "&hellip;", "cdots": "&ctdot;", "pm": "&plusmn;",
    "neq": "&ne;", "subseteq": "&sube;", "{": "{", "}": "}", "_": "_", "#": "#", "%": "%", "&": "&amp;", "$": "$",
}  # fmt: skip
MINUS, RIGID = "&minus;", ' stretchy="false"'
FENCES = ("(", ")", "[", "]", "{", "}", "|", "&Vert;", "&langle;", "&rangle;", "&lfloor;", "&rfloor;", "&mid;")
SPACES = {",": "0.17em", ";": "0.28em", ":": "0.22em", "quad": "1em", "qquad": "2em", "!": "0em", " ": "0.25em"}
STYLED = ("mathrm", "mathbf", "mathit", "mathcal", "text", "operatorname", "mathbb", "boldsymbol")


class _UnknownError(Exception):
    """LaTeX beyond the part that is read here."""


def mathml(latex: str) -> Markup | None:
    r"""The formula as a browser sets it; None where it is too long, or uses more of LaTeX than is read here.

    >>> mathml(r"\frac{x}{2}")
    '<math><mfrac><mrow><mi>x</mi></mrow><mrow><mn>2</mn></mrow></mfrac></math>'
    >>> mathml(r"\color{red}") is None
    True
    """
    if len(latex) > MAX_LETTERS:
        return None
    try:
        return Markup(f"<math>{_Reader(latex).all()}</math>")
    except _UnknownError:
        return None


class _Reader:
    """Goes through the tokens once, from left to right."""

    def __init__(self, latex: str) -> None:
        self.tokens: list[str] = TOKEN.findall(latex)
        self.place = 0

    def all(self) -> str:
        found = self.until(lambda word: word in ("}", "\\right"))
        if self.place < len(self.tokens):
            raise _UnknownError
        return found

    def until(self, ends: Callable[[str], bool]) -> str:
        found: list[str] = []
        while self.place < len(self.tokens) and not ends(self.tokens[self.place]):
            if self.tokens[self.place].isspace():
                self.place += 1
            else:
                found.append(self.scripted())
        return "".join(found)

    def next(self) -> str:
        while self.place < len(self.tokens) and self.tokens[self.place].isspace():
            self.place += 1
        if self.place == len(self.tokens):
            raise _UnknownError
        self.place += 1
        return self.tokens[self.place - 1]

    def peek(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def scripted(self) -> str:
        """An atom with what stands below and above it."""
        base, below, above = self.atom(), "", ""
        while self.peek() in ("_", "^"):
            if self.next() == "_":
                below = self.atom()
            else:
                above = self.atom()
        if below and above:
            return f"<msubsup>{base}{below}{above}</msubsup>"
        return f"<msub>{base}{below}</msub>" if below else f"<msup>{base}{above}</msup>" if above else base

    def atom(self) -> str:
        word = self.next()
        if word.startswith("\\"):
            return self.command(word[1:])
        if word == "{":
            return self.group()
        if word in "}_^&#$%~":
            raise _UnknownError
        if word[0].isdigit():
            return f"<mn>{word}</mn>"
        return f"<mi>{escaped(word)}</mi>" if word.isalpha() else _sign(MINUS if word == "-" else escaped(word))

    def group(self) -> str:
        """What stands in braces, of which the first was read."""
        inside = self.until(lambda word: word == "}")
        self.close("}")
        return f"<mrow>{inside}</mrow>"

    def close(self, expected: str) -> None:
        if self.next() != expected:
            raise _UnknownError

    def braces(self) -> str:
        self.close("{")
        return self.group()

    def command(self, name: str) -> str:
        if name == "frac":
            return f"<mfrac>{self.braces()}{self.braces()}</mfrac>"
        if name == "sqrt":
            return f"<msqrt>{self.braces()}</msqrt>"
        if name == "left":
            return self.fenced()
        if name in STYLED:
            return self.named()
        return _symbol(name)

    def fenced(self) -> str:
        opening = self.delimiter()
        inside = self.until(lambda word: word == "\\right")
        self.close("\\right")
        return f"<mrow>{opening}{inside}{self.delimiter()}</mrow>"

    def delimiter(self) -> str:
        word = self.next()
        if word == ".":
            return ""
        return (_symbol(word[1:]) if word.startswith("\\") else _sign(escaped(word))).replace(RIGID, "")

    def named(self) -> str:
        """The name in braces after a command that sets it upright, say."""
        self.close("{")
        found: list[str] = []
        while self.peek() not in ("}", ""):
            word = self.tokens[self.place]
            self.place += 1
            if word == "{" or (word.startswith("\\") and len(word) > 2):
                raise _UnknownError
            found.append(word[-1] if word.startswith("\\") else word)
        self.close("}")
        return f'<mi mathvariant="normal">{escaped("".join(found))}</mi>'


def _sign(sign: str) -> str:
    """A sign; a fence keeps its own size, as in LaTeX, where no pair of commands makes it grow."""
    return f"<mo{RIGID if sign in FENCES else ''}>{sign}</mo>"


def _symbol(name: str) -> str:
    if name in FUNCTIONS:
        return f"<mi>{name}</mi>"
    if name in GREEK.split():
        return f"<mi>&{name};</mi>"
    if name in SIGNS:
        return _sign(SIGNS[name])
    if name in SPACES:
        return f'<mspace width="{SPACES[name]}"></mspace>'
    raise _UnknownError
