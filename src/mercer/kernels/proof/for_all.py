"""Formulas of functions and kernels that are only named, f(x) k(x, z) f(z): rules, proven for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from mercer.kernels.domain import Domain
from mercer.kernels.formulas import build
from mercer.kernels.formulas.expression import Expression
from mercer.kernels.formulas.premises import assumed_in
from mercer.kernels.formulas.recognise import signed_kernels
from mercer.kernels.formulas.signed import summed
from mercer.kernels.formulas.tree import Add, Call, Dot, Multiply, Negative, Node, Norm, Number, X, Z, number, rebuilt
from mercer.kernels.proof.derivation import Derivation
from mercer.kernels.proof.judgement import Situation
from mercer.kernels.proof.limit import Limit
from mercer.kernels.proof.polynomial import decided, witness_of, words_of
from mercer.kernels.proof.record import Proof
from mercer.kernels.proof.unrecognised import Unrecognised

FIRST = (Fraction(1), Fraction(0), Fraction(2))
"""Of the first kernel that is only named, which multiple of <x, z> it is taken to be; of others the next ones."""


def prove_for_all(expression: Expression, d: int | None, domain: Domain, limit: Limit) -> Proof:
    """Whether the formula is a kernel for every choice of what it only names."""
    names = assumed_in(expression.root)
    steps = [_meaning(names)]
    found = signed_kernels(expression, d)
    if found is not None and all(factor > 0 for factor, _ in found):
        kernel = summed(found)
        derivation = Derivation(list(steps))
        verdict = derivation.conclude(kernel, Situation(domain, d))
        if verdict.proven:
            most = verdict.max_dimension
            return Proof(kernel, "proven", domain, d, most, tuple(derivation.steps), asked=expression)
    for words, instance in _instances(expression, names):
        answer = decided(instance, 1)
        if answer is None or answer[1].direction is None:
            continue
        witness = witness_of(instance, answer[1], 1, domain, limit)
        if witness is not None:
            steps += [f"not for every choice: {words} the formula is {instance}", *words_of(*answer)]
            return Proof(Unrecognised(instance), "refuted", domain, 1, 0, tuple(steps), witness, 1, asked=expression)
    steps.append("no rule makes it a kernel for every choice, and for none that was tried is it refuted")
    return Proof(Unrecognised(expression), "unknown", domain, d, 0, tuple(steps), asked=expression)


def _meaning(names: dict[str, int]) -> str:
    kernels = sorted(name for name, points in names.items() if points == 2)
    functions = sorted(name for name, points in names.items() if points == 1)
    said = [f"{' and '.join(kernels)} stand{'s' * (len(kernels) == 1)} for any kernel{'s' * (len(kernels) > 1)}"]
    said = said if kernels else []
    if functions:
        plural = len(functions) > 1
        verb = "" if kernels else f" stand{'s' * (not plural)} for"
        said.append(f"{' and '.join(functions)}{verb or ' for'} any real function{'s' * plural} of a point")
    return ", ".join(said)


def _instances(expression: Expression, names: dict[str, int]) -> Iterator[tuple[str, Expression]]:
    """The formula with multiples of <x, z> for its kernels, and 1 or -1 for its functions, in a few ways."""
    kernels = sorted(name for name, points in names.items() if points == 2)
    functions = sorted(name for name, points in names.items() if points == 1)
    for start, sign in ((0, 1), (1, 1), (2, -1)):
        chosen = {name: FIRST[(start + i) % len(FIRST)] for i, name in enumerate(kernels)}
        chosen |= {name: Fraction(sign if i == 0 else -sign) for i, name in enumerate(functions)}
        said = [f"{name}(x, z) = {Expression(_inner(X, Z, chosen[name]))}" for name in kernels]
        said += [f"{name}(x) = {chosen[name]}" for name in functions]
        yield f"with {', '.join(said)}", Expression(_with(expression.root, chosen))


def _inner(left: Node, right: Node, factor: Fraction) -> Node:
    """A multiple of the inner product of two points, or of the squared length of one."""
    product = build.power(Norm(left), number(2)) if left == right else Dot(X, Z)
    return build.multiply((Number(factor), product))


def _with(node: Node, chosen: dict[str, Fraction]) -> Node:
    if isinstance(node, Call) and node.name in chosen:
        factor, points = chosen[node.name], node.arguments
        return Number(factor) if len(points) == 1 else _inner(points[0], points[1], factor)
    return _simple(rebuilt(node, tuple(_with(child, chosen) for child in node.children)))


def _simple(node: Node) -> Node:
    """A sum or product of nodes that may be numbers now."""
    if isinstance(node, Add):
        return build.add(node.terms)
    if isinstance(node, Multiply):
        return build.multiply(node.factors)
    return build.negative(node.of) if isinstance(node, Negative) else node
