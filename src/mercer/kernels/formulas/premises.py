"""Functions, kernels and numbers that a formula only names: f(x) k(x, z) f(z) + c, for any f, kernel k and c >= 0."""

from __future__ import annotations

from dataclasses import field
from typing import Any, NoReturn

from numpy.typing import NDArray

from mercer.errors import KernelError, message
from mercer.kernels.base import ATOM, Kernel
from mercer.kernels.domain import REALS
from mercer.kernels.formulas.evaluation import FUNCTIONS
from mercer.kernels.formulas.tree import Call, Node
from mercer.kernels.formulas.writing import assumed_name
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Points
from mercer.kernels.proof.judgement import Fact


def assumed_in(node: Node) -> dict[str, int]:
    """The names of such functions, and of how many points each is: 1, 2, or 0 for a number."""
    found = {node.name: len(node.arguments)} if isinstance(node, Call) and node.name not in FUNCTIONS else {}
    for child in node.children:
        found |= assumed_in(child)
    return found


def check_text(owner: str, name: str, value: Any) -> str:
    """A text."""
    return str(value)


class Assumed(Kernel):
    """A kernel of which nothing is known but that it is one: the k of a rule, or its number c. It has no values.

    Parameters
    ----------
    text : str
        How it is written: "k(x, z)", or "c".
    """

    formula = "k(x, z)"

    text: str = field(metadata={"check": check_text})

    def evaluate(self, pairs: Pairs) -> Block:
        self._refuse()

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise KernelError(message("a formula", f"{self.text} has no values", "It stands for any.", subject="A kernel"))

    def facts(self) -> tuple[Fact, ...]:
        if "(" in self.text:
            return (Fact(REALS, "it stands for any kernel"),)
        reason = f"it stands for any number of at least 0, and its lift is the single feature sqrt({self.text})"
        return (Fact(REALS, reason),)

    def write(self, python: bool) -> tuple[str, int]:
        return self.text, ATOM

    def latex(self, x: str = "x", z: str = "z") -> str:
        name, of_points, _ = self.text.partition("(")
        return f"{assumed_name(name)}({x}, {z})" if of_points else assumed_name(name)
