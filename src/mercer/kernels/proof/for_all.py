"""Formulas of functions, kernels and numbers that are only named, f(x) k(x, z) f(z) + c: rules, proven for all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from mercer.kernels.domain import REALS, Domain
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
"""Of the first kernel or number that is only named, what is tried: so many times <x, z>, or so much; of others the next
ones."""
MEANINGS = ((0, "number", " of at least 0"), (2, "kernel", ""), (1, "real function", " of a point"))
"""Of how many points what is named is, and what it stands for."""


def prove_for_all(
    expression: Expression, d: int | None, place: Domain | None, said: tuple[str, ...], limit: Limit
) -> Proof:
    """Whether the formula is a kernel for every choice of what it only names.

    place : where; None for the domain on which its kernels are stated, or the reals
    said : steps that were made before
    """
    names = assumed_in(expression.root)
    steps = [_meaning(names), *said]
    found = signed_kernels(expression, d)
    if found is not None and all(factor > 0 for factor, _ in found):
        kernel = summed(found)
        derivation, domain = Derivation(list(steps)), place or kernel.domain
        verdict = derivation.conclude(kernel, Situation(domain, d))
        if verdict.proven:
            most = verdict.max_dimension
            return Proof(kernel, "proven", domain, d, most, tuple(derivation.steps), asked=expression)
    domain = place or REALS
    for words, instance in _instances(expression, names):
        answer = decided(instance, 1)
        if answer is None or answer[1].direction is None:
            continue
        witness = witness_of(instance, answer[1], 1, domain, limit)
        if witness is not None:
            steps += [f"not for every choice: {words} the formula is {instance}", *words_of(*answer)]
            return Proof(Unrecognised(instance), "refuted", domain, 1, 0, tuple(steps), witness, 1, asked=expression)
    numbers = expression.named_numbers
    advice = f"; with values it may be decided: names={{{numbers[0]!r}: 1.0}}" if numbers else ""
    steps.append(f"no rule makes it a kernel for every choice, and for none that was tried is it refuted{advice}")
    return Proof(Unrecognised(expression), "unknown", domain, d, 0, tuple(steps), asked=expression)


def _meaning(names: dict[str, int]) -> str:
    said: list[str] = []
    for points, any_of, more in MEANINGS:
        chosen = sorted(name for name, count in names.items() if count == points)
        if chosen:
            verb = "" if said else f" stand{'s' * (len(chosen) == 1)}"
            said.append(f"{' and '.join(chosen)}{verb} for any {any_of}{'s' * (len(chosen) > 1)}{more}")
    return ", ".join(said)


def instance_of_numbers(expression: Expression) -> tuple[str, Expression] | None:
    """The formula with 1 for each number that it only names, where it names nothing else; and how that is said."""
    names = assumed_in(expression.root)
    if any(names.values()):
        return None
    chosen = dict.fromkeys(sorted(names), Fraction(1))
    said = f"with {', '.join(f'{name} = 1' for name in chosen)}"
    return said, replace(expression, root=_with(expression.root, chosen))


def _instances(expression: Expression, names: dict[str, int]) -> Iterator[tuple[str, Expression]]:
    """The formula with multiples of <x, z> for its kernels, 0, 1, 2 for its numbers, 1 or -1 for its functions."""
    numbers = sorted(name for name, points in names.items() if points == 0)
    kernels = sorted(name for name, points in names.items() if points == 2)
    functions = sorted(name for name, points in names.items() if points == 1)
    for start, sign in ((0, 1), (1, 1), (2, -1)):
        chosen = {name: FIRST[(start + i) % len(FIRST)] for i, name in enumerate(kernels)}
        chosen |= {name: FIRST[(start + i) % len(FIRST)] for i, name in enumerate(numbers)}
        chosen |= {name: Fraction(sign if i == 0 else -sign) for i, name in enumerate(functions)}
        said = [f"{name}(x, z) = {Expression(_inner(X, Z, chosen[name]))}" for name in kernels]
        said += [f"{name} = {chosen[name]}" for name in numbers]
        said += [f"{name}(x) = {chosen[name]}" for name in functions]
        yield f"with {', '.join(said)}", Expression(_with(expression.root, chosen))


def _inner(left: Node, right: Node, factor: Fraction) -> Node:
    """A multiple of the inner product of two points, or of the squared length of one."""
    product = build.power(Norm(left), number(2)) if left == right else Dot(X, Z)
    return build.multiply((Number(factor), product))


def _with(node: Node, chosen: dict[str, Fraction]) -> Node:
    if isinstance(node, Call) and node.name in chosen:
        factor, points = chosen[node.name], node.arguments
        return Number(factor) if len(points) < 2 else _inner(points[0], points[1], factor)
    return _simple(rebuilt(node, tuple(_with(child, chosen) for child in node.children)))


def _simple(node: Node) -> Node:
    """A sum or product of nodes that may be numbers now."""
    if isinstance(node, Add):
        return build.add(node.terms)
    if isinstance(node, Multiply):
        return build.multiply(node.factors)
    return build.negative(node.of) if isinstance(node, Negative) else node
