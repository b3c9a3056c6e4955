"""A proof at a glance: what rules, facts and a quick search say, for cards, which must be quick."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import fields

from mercer.html import brief
from mercer.kernels.base import Kernel
from mercer.kernels.proof.derivation import Derivation
from mercer.kernels.proof.judgement import Situation
from mercer.kernels.proof.record import Proof, Status, Witness
from mercer.kernels.proof.search import quick_witness
from mercer.kernels.proof.subject import KernelSubject
from mercer.kernels.tree_size import nodes

MAX_NODES = 8
"""Nodes of a tree for which points are searched."""
SEEN = "the witness below makes sum_ij c_i c_j k(x_i, x_j) negative, which no kernel allows"
MORE = "no witness was seen at a glance; mercer.prove(kernel) seeks one with patience"


def glance(kernel: Kernel) -> Proof:
    """What is soon known of a kernel: proven, refuted with a witness, or unknown. Cost: up to a tenth of a second.

    It is `prove` without patience: rules and facts as there, and few sets of points, for small trees that call no
    function of a user.

    >>> from mercer.kernels import Gaussian, Sigmoid
    >>> glance(Gaussian()).status, glance(Sigmoid(-1.0)).status
    ('proven', 'refuted')
    """
    own = copy.copy(kernel)  # a proof takes hashes, which settle a draft
    derivation, domain, d = Derivation(), own.domain, own.width
    verdict = derivation.conclude(own, Situation(domain, d))
    if verdict.proven:
        return Proof(kernel, "proven", domain, d, verdict.max_dimension, tuple(derivation.steps))
    if not domain.searchable:
        status: Status = "refuted" if own.counterexample() else "unknown"
        return Proof(kernel, status, domain, d, 0, (*derivation.steps, *_known(own)))
    witness, columns = _refuted(own, d)
    if witness is None:
        return Proof(kernel, "unknown", domain, d, 0, (*derivation.steps, MORE))
    return Proof(kernel, "refuted", domain, columns, 0, (*derivation.steps, SEEN), witness)


def _known(kernel: Kernel) -> tuple[str, ...]:
    """The objects by which a leaf refutes itself; their values would take compiled code."""
    things = kernel.counterexample()
    told = ", ".join(brief(thing) for thing in things)
    return (f"{told} are known to show it; mercer.prove(kernel) gives their weights",) if things else (MORE,)


def _refuted(kernel: Kernel, d: int | None) -> tuple[Witness | None, int | None]:
    """Points of the fewest columns that the kernel takes, where few sets of them suffice."""
    if not _quick(kernel):
        return None, d
    subject = KernelSubject.of(kernel)
    columns = next((each for each in subject.columns(d) if subject.fits(each)), None)
    if columns is None:
        return None, d
    found = quick_witness(subject.matrix, kernel.domain.place, columns, subject.scale)
    if found.points is None or found.weights is None:
        return None, d
    check = subject.check(found.points, found.weights)
    return (Witness(found.points, found.weights, check.value, check.digits) if check.negative else None), columns


def _quick(kernel: Kernel) -> bool:
    """Whether the tree is small, and made of formulas alone."""
    count = 0
    for count, node in enumerate(nodes(kernel), start=1):
        if count > MAX_NODES or any(callable(value) or hasattr(value, "transform") for value in _values(node)):
            return False
    return True


def _values(node: Kernel) -> Iterator[object]:
    yield from (getattr(node, item.name) for item in fields(node) if not isinstance(getattr(node, item.name), Kernel))
