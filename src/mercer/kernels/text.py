"""From a text to a kernel, never by `eval`: a name with its parameters, kernels composed of others, or a formula."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import mercer.kernels as catalog
from mercer.errors import KernelError, ParseError
from mercer.kernels.base import Kernel
from mercer.kernels.text_grammar import MAX_NODES, KernelReader

if TYPE_CHECKING:
    from mercer.kernels.formulas import Expression

MAX_LETTERS = 1 << 20
"""Letters of a text."""
COMMON = {"poly": "Polynomial", "rbf": "Gaussian"}
"""Classes of aliases that many texts hold: those of others are found when all kernels are loaded."""


def parse(text: str, names: Mapping[str, Any] | None = None, *, open: bool = False) -> Kernel:
    """Read a kernel from a text such as ``"0.5*gaussian(lengthscale=2) + linear*polynomial(degree=2)"``, or a formula.

    Parameters
    ----------
    text : str
        The formula: at most 1,048,576 letters and 4,096 kernels, nested at most 60 levels deep; the text `str(kernel)`
        parses back to an equal kernel. Or a formula of two points, such as "(1 + x.z)^2", which is made of kernels that
        are known. Cost: one pass over the letters.
    names : mapping or None, default=None
        Further names that the text may use: kernel classes of your own, functions and lifts for `weighted` and `after`
        beside abs, cos, exp, log1p, sin, sqrt and tanh.
    open : bool, default=False
        Whether a lengthscale that the text does not give is "median", to be found from data, as learners and lifts read
        their texts; otherwise it is 1.0, and always inside `scaled`, which gives lengthscales.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> import mercer
    >>> mercer.parse("0.5*rbf(lengthscale=2) + linear")
    Constant(variance=0.5) * Gaussian(lengthscale=2.0) + Linear()
    >>> mercer.parse("rbf"), mercer.parse("rbf", open=True)
    (Gaussian(lengthscale=1.0), Gaussian(lengthscale='median'))
    >>> mercer.parse("(1 + <x, x'>)^2"), mercer.parse("exp(-|x - z|^2/8)")
    (Polynomial(degree=2, offset=1.0), Gaussian(lengthscale=2.0))
    """
    if not isinstance(text, str):
        raise KernelError(f"parse needs a text; got {text!r:.60}. Give a string such as 'gaussian(lengthscale=2)'.")
    if len(text) > MAX_LETTERS:
        message = f"The text of a kernel has at most {MAX_LETTERS:,} letters, got {len(text):,}. Compose it in Python."
        raise ParseError(message, text, MAX_LETTERS)
    return parse_for(text, None, names, open)


def parse_for(text: str, d: int | None, names: Mapping[str, Any] | None = None, open: bool = False) -> Kernel:
    """The kernel of a text for rows of d columns: some formulas can only be taken apart where d is known."""
    known = Names(names)
    try:
        return KernelReader(text, known, MAX_NODES, open).kernel()
    except ParseError:
        from mercer.kernels.formulas.detect import is_formula  # few texts come here

        if not is_formula(text, known.keys() - numbers_among(names).keys()):
            raise
    return of_formula(text, names, open, d)


def of_formula(text: str, names: Mapping[str, Any] | None = None, open: bool = False, d: int | None = None) -> Kernel:
    """The kernel that a formula of two points is.

    open : whether a letter of scale without a value is refused; otherwise it is 1
    d : the number of columns, where it is known
    """
    from mercer.kernels.formulas import kernel_of, read_kernel  # few texts are formulas

    expression = read_kernel(text, numbers_among(names), scales=not open)
    kernel = kernel_of(expression, d)
    if kernel is None:
        raise ParseError(_why_none(text.strip(), expression, d, bool(names)), text, 0, len(text))
    return kernel


def _why_none(text: str, expression: Expression, d: int | None, named: bool) -> str:
    """That a formula is no kernel, where its coefficients say so; else that it is not made of those that are known."""
    from mercer.kernels.proof.polynomial import refuted  # few texts come here

    asked = f"mercer.prove({text!r:.80}{'' if d is None else f', d={d}'}{', names=...' * named})"
    found = refuted(expression, d)
    if found is None:
        return f"This formula is not made of kernels that are known here; {asked} says whether it is a kernel."
    return f"This formula is no kernel: {found.brief}. {asked} has the proof."


def numbers_among(names: Mapping[str, Any] | None) -> dict[str, Any]:
    """What formulas may use of further names: numbers, vectors and matrices, no kernels and functions."""
    return {name: value for name, value in (names or {}).items() if not callable(value)}


def read_signed(text: str, names: Mapping[str, Any] | None = None) -> Kernel:
    """A kernel by its name, or a difference of some, which only `mercer.prove` takes."""
    return KernelReader(text, Names(names), MAX_NODES, signed=True).kernel()


def counted(text: str, names: Mapping[str, Any] | None = None, most: int = MAX_NODES) -> tuple[Kernel, int]:
    """The kernel of a text, and of how many kernels it is composed, which are at most so many."""
    reader = KernelReader(text, Names(names), most)
    return reader.kernel(), reader.nodes


def known_names() -> dict[str, Any]:
    """Every name that a text may use: the leaf kernels that `mercer.kernels` exports, their aliases, and exp."""
    leaves = [thing for thing in (getattr(catalog, name) for name in dir(catalog)) if _is_leaf(thing)]
    named = {leaf.name: leaf for leaf in leaves}
    aliases = {alias: leaf for leaf in leaves for alias in leaf.aliases}
    return aliases | named | {"exp": catalog.exp, "quadratic": quadratic()}


class Names(Mapping[str, Any]):
    """Every name that a text may use, and the user's, which come first; a leaf is loaded when a text names it."""

    def __init__(self, own: Mapping[str, Any] | None = None) -> None:
        self._own = dict(own or {})

    def __getitem__(self, name: str) -> Any:
        if name in self._own:
            return self._own[name]
        called = COMMON.get(name) or "".join(word.capitalize() for word in name.split("_"))  # as most classes are
        leaf: Any = getattr(catalog, called) if called in dir(catalog) else None
        return leaf if _is_leaf(leaf) and name in (leaf.name, *leaf.aliases) else known_names()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(known_names() | self._own)

    def __len__(self) -> int:
        return len(known_names() | self._own)


@cache
def quadratic() -> Kernel:
    """(1 + <x, z>)^2, which has a name of its own."""
    return catalog.Polynomial(2)


def _is_leaf(thing: Any) -> bool:
    if not (isinstance(thing, type) and issubclass(thing, Kernel)):
        return False
    return not thing.__abstractmethods__ and not thing.__module__.startswith("mercer.kernels.algebra")
