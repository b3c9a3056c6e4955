"""Small pieces of LaTeX that several formulas share."""

from __future__ import annotations

ESCAPES = {letter: "\\" + letter for letter in "#$%&_{}"}
ESCAPES |= {"\\": r"\backslash{}", "^": r"\wedge{}", "~": r"\sim{}", "<": r"\lt{}", ">": r"\gt{}"}


def escaped(name: str) -> str:
    """An untrusted name inside a formula: no letter of it is a command, and none ends the formula."""
    return "".join(ESCAPES.get(letter, letter if letter.isprintable() else " ") for letter in name)


def numeral(value: float | str) -> str:
    """A number as LaTeX, with the digits that give it back; an open number by its name."""
    if isinstance(value, str):
        return rf"\mathrm{{{value}}}"
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    mantissa, _, exponent = repr(value).partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def over(numerator: str, value: float | str, power: int = 1, factor: int = 1) -> str:
    """Numerator / (factor * value^power), without a fraction where the denominator is one."""
    raised = "" if value == 1 else raise_to(numeral(value), power)
    dot = r" \cdot "
    below = dot.join(part for part in (str(factor) if factor > 1 else "", raised) if part)
    return rf"\frac{{{numerator}}}{{{below}}}" if below else numerator


def raise_to(base: str, power: float) -> str:
    """base^power, in parentheses where the base is more than one numeral."""
    return base if power == 1 else raised(base, numeral(power))


def raised(base: str, exponent: str) -> str:
    """The same for an exponent that is written already."""
    plain = base.replace(".", "").isalnum()
    return rf"{base}^{{{exponent}}}" if plain else rf"{parens(base)}^{{{exponent}}}"


def parens(text: str) -> str:
    """The text in parentheses that grow with it."""
    return rf"\left( {text} \right)"


def exponential(exponent: str) -> str:
    """Exp of something."""
    return rf"\exp{parens(exponent)}"


def gap(x: str, z: str) -> str:
    """The distance of two points."""
    return rf"\lVert {x} - {z} \rVert"


def inner(x: str, z: str) -> str:
    """The inner product of two points."""
    return rf"\langle {x}, {z} \rangle"
