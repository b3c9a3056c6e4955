"""Formulas as kernels under examination: one that no rule takes apart, and one of each column, joined over columns."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.algebra import Product, Sum
from mercer.kernels.base import ATOM, Kernel
from mercer.kernels.domain import Domain
from mercer.kernels.formulas.evaluation import Evaluator
from mercer.kernels.formulas.expression import Expression
from mercer.kernels.formulas.tree import GAP, Column, Node, Norm
from mercer.kernels.latex import parens
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Points
from mercer.kernels.proof.judgement import Judgement, Premise, Situation


def check_as_it_is(owner: str, name: str, value: Any) -> Any:
    """Made by proofs alone."""
    return value


class Unrecognised(Kernel):
    """A formula of two points, evaluated as it stands.

    Parameters
    ----------
    expression : Expression
        The formula.
    """

    formula = "a formula"

    expression: Expression = field(metadata={"check": check_as_it_is})

    def evaluate(self, pairs: Pairs) -> Block:
        sides, width = pairs.coordinates(), pairs.left.values.shape[1]
        self.expression.check_width(width)
        found = Evaluator(
            lambda point, column: sides[column][point],
            width,
            exactly=pairs.left.values.dtype == object,
            dot=pairs.dot,
            squared_distance=pairs.squared_distance,
        ).value(self.expression.root)
        return np.broadcast_to(np.asarray(found), (len(pairs.left.values), len(pairs.right.values))).copy()

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        return np.array(
            [self.evaluate(Pairs(row, row))[0, 0] for row in map(points.rows, np.arange(len(points.values))[:, None])]
        )

    @property
    def width(self) -> int | None:
        return self.expression.width

    @property
    def radial(self) -> bool:
        return _of_distance(self.expression.root)

    def objection(self) -> str:
        return "it is no sum, product, power, exponential or weight of kernels that are known here"

    def write(self, python: bool) -> tuple[str, int]:
        return str(self.expression), ATOM

    def latex(self, x: str = "x", z: str = "z") -> str:
        return self.expression.latex(x, z)


def _of_distance(node: Node) -> bool:
    """Whether a formula depends on |x - z| alone."""
    if isinstance(node, Norm) and node.of == GAP:
        return True
    return not isinstance(node, Column) and all(map(_of_distance, node.children))


class OverColumns(Kernel):
    """The sum or the product of a kernel of one number, over all columns.

    Parameters
    ----------
    kernel : Kernel
        Of rows of one number.
    join : {"sum", "prod"}
        How the columns are joined.
    """

    formula = "sum_k k(x_k, z_k), or their product"

    kernel: Kernel
    join: str = field(metadata={"check": check_as_it_is})

    def evaluate(self, pairs: Pairs) -> Block:
        columns = tuple(self.kernel.on(k) for k in range(pairs.left.values.shape[1]))
        if len(columns) == 1:
            return columns[0].evaluate(pairs)
        return (Sum(columns) if self.join == "sum" else Product(columns)).evaluate(pairs)

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        values = [self.kernel.on(k).evaluate_diagonal(points) for k in range(points.values.shape[1])]
        return np.asarray(np.sum(values, axis=0) if self.join == "sum" else np.prod(values, axis=0))

    @property
    def children(self) -> tuple[Kernel, ...]:
        return (self.kernel,)

    def with_children(self, children: tuple[Kernel, ...]) -> Kernel:
        return OverColumns(children[0], self.join)

    @property
    def domain(self) -> Domain:
        return self.kernel.domain

    def judge(self, situation: Situation) -> Judgement:
        if not situation.domain.by_coordinate:
            return Judgement(f"{self}: the columns do not fill {situation.domain} one by one", proven=False)
        rule = "sum rule" if self.join == "sum" else "product rule; Schur's theorem"
        reason = f"each column gives a kernel, and so does their {'sum' if self.join == 'sum' else 'product'} ({rule})"
        inside = Premise(self.kernel, Situation(situation.domain, 1), inherits=False)
        return Judgement(reason, (inside,), rule_for=str(self))

    def write(self, python: bool) -> tuple[str, int]:
        return f"{'sum' if self.join == 'sum' else 'product'} over columns of ({self.kernel.write(python)[0]})", ATOM

    def latex(self, x: str = "x", z: str = "z") -> str:
        return rf"\{self.join}_k {parens(self.kernel.latex(f'{x}_k', f'{z}_k'))}"
