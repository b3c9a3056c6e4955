"""`mercer.prove`: rules and facts first, then Bochner's test, then the search for a witness."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import KernelError
from mercer.kernels.base import Kernel
from mercer.kernels.domain import REALS, Domain, domain_named
from mercer.kernels.proof.counterexample import refutation
from mercer.kernels.proof.derivation import Derivation
from mercer.kernels.proof.judgement import Situation
from mercer.kernels.proof.record import Asymmetry, Proof, SpectralWitness, Witness
from mercer.kernels.proof.search import find_witness
from mercer.kernels.proof.spectral import Suspicion, suspect
from mercer.kernels.proof.subject import FunctionSubject, KernelSubject, Subject
from mercer.kernels.text import parse

FUNCTION_COLUMNS = (1, 2, 3)


def prove(kernel: Kernel | str | Callable[..., Any], d: int | None = None, domain: str | Domain | None = None) -> Proof:
    """Prove that a function is a kernel, or find the points that show it is not.

    "proven" only ever comes from rules and known facts. Where they do not suffice, a witness is sought and, if
    found, verified with 50 digits; otherwise the status is "unknown". Cost: milliseconds for a proof, up to some
    seconds for a search.

    Parameters
    ----------
    kernel : a kernel, its text, or a Python function of two points (arrays of d numbers); a function can be refuted
        or left unknown, never proven
    d : the number of columns; None asks for as many as possible, or for the only one that fits the kernel
    domain : "reals", "nonnegative", "integers", "naturals" or "sphere"; None takes the one on which the kernel is
        stated, the reals for a function

    Examples
    --------
    >>> import mercer
    >>> print(mercer.prove("min", domain="integers"))
    [refuted] min is not a kernel on the integers, d = 1.
      1. min: no known fact makes it a kernel on the integers (it is one on the non-negative reals, for
         every d): with a negative number x, k(x, x) = x is negative, and k(x, x) = |phi(x)|^2 may not
         be.
      2. the witness below makes sum_ij c_i c_j k(x_i, x_j) negative, which no kernel allows.
    Witness: 1 point
        x1 = (-1)   weight 1
        k(x1, x1) = -1 < 0   (verified with 50 digits)
    """
    if d is not None and (isinstance(d, bool) or not isinstance(d, numbers.Integral) or d < 1):
        raise KernelError(f"prove needs a whole number of columns d of at least 1; {d!r} came. Give d=1, 2, ...")
    asked = parse(kernel) if isinstance(kernel, str) else kernel
    if isinstance(asked, Kernel):
        place = asked.domain if domain is None else domain_named(domain)
        return _prove_kernel(asked, asked.width if d is None else int(d), place)
    if callable(asked):
        return _prove_function(asked, d, REALS if domain is None else domain_named(domain))
    raise KernelError(f"prove needs a kernel, a text or a function of two points; {asked!r} came. Give one of these.")


def _prove_kernel(kernel: Kernel, d: int | None, domain: Domain) -> Proof:
    derivation = Derivation()
    verdict = derivation.conclude(kernel, Situation(domain, d))
    if verdict.proven:
        return Proof(kernel, "proven", domain, d, verdict.max_dimension, tuple(derivation.steps))
    if not domain.searchable:
        return _refute_by_things(kernel, d, domain, derivation.steps)
    subject = KernelSubject.of(kernel)
    tried = [columns for columns in subject.columns(d) if subject.fits(columns)]
    trials, heard = 0, derivation.steps
    for columns in tried:
        suspicion = suspect(subject, columns, domain)
        witness, examined = _search(subject, columns, domain, suspicion)
        trials += examined
        if witness is not None:
            closing = _SPECTRAL if isinstance(witness, SpectralWitness) else _WITNESSED
            assumed = ("its open numbers are taken as 1 here",) if kernel.is_open else ()
            steps = (*derivation.steps, *assumed, *suspicion.words, closing)
            return Proof(kernel, "refuted", domain, columns, 0, steps, witness, trials)
        heard = [*heard, *suspicion.words]
    if not tried:
        counts = ", ".join(map(str, subject.columns(d)))
        heard = [*heard, f"it cannot be evaluated on {counts} columns, so no witness was sought; give the d that fits"]
    else:
        heard = [*heard, f"no witness was found among {trials} sets of points, which proves nothing"]
    return Proof(kernel, "unknown", domain, d, 0, tuple(heard), None, trials)


_WITNESSED = "the witness below makes sum_ij c_i c_j k(x_i, x_j) negative, which no kernel allows"
_SPECTRAL = "the Fourier transform is negative at the frequency below, which Bochner's theorem forbids to a kernel"


def _refute_by_things(kernel: Kernel, d: int | None, domain: Domain, steps: list[str]) -> Proof:
    """What can be said where points cannot be moved about: a leaf may know things that refute it."""
    witness = refutation(kernel)
    if witness is not None:
        return Proof(kernel, "refuted", domain, d, 0, (*steps, _WITNESSED), witness, 1)
    remedy = "name another: prove(kernel, domain=...)" if domain.columns else "sampling would prove nothing"
    heard = (*steps, f"no points are sought on such a domain; {remedy}")
    return Proof(kernel, "unknown", domain, d, 0, heard)


def _search(
    subject: KernelSubject, d: int, domain: Domain, suspicion: Suspicion
) -> tuple[Witness | SpectralWitness | None, int]:
    """Points and weights where a few suffice, else the frequency under suspicion, verified."""
    trials = 0
    if suspicion.worth_points:
        witness, trials = _points(subject, d, domain, suspicion.frequency)
        if witness is not None:
            return witness, trials
    return suspicion.verified(subject, d), trials


def _points(subject: Subject, d: int, domain: Domain, frequency: float | None) -> tuple[Witness | None, int]:
    found = find_witness(
        subject.matrix, domain.place, d, scale=subject.scale, frequency=frequency, effort=subject.effort
    )
    if found.points is None or found.weights is None:
        return None, found.trials
    check = subject.check(found.points, found.weights)
    if not check.negative:
        return None, found.trials
    return Witness(found.points, found.weights, check.value, check.digits), found.trials


def _prove_function(function: Callable[..., Any], d: int | None, domain: Domain) -> Proof:
    subject, trials = FunctionSubject(function), 0
    steps = ["a Python function can be refuted or left unknown: no sampling proves that it is a kernel"]
    for columns in FUNCTION_COLUMNS if d is None else (d,):
        try:
            asymmetry = _asymmetry(subject, columns, domain)
            witness, examined = (None, 0) if asymmetry else _points(subject, columns, domain, None)
        except (IndexError, TypeError, ValueError) as error:  # what a wrong number of coordinates leads to
            error.add_note(f"mercer.prove called the function with points of d = {columns}; another d can be given.")
            raise
        trials += examined
        if asymmetry is not None:
            found = "an inner product is symmetric, and this function is not"
            return Proof(function, "refuted", domain, columns, 0, (*steps, found), asymmetry, trials)
        if witness is not None:
            return Proof(function, "refuted", domain, columns, 0, (*steps, _WITNESSED), witness, trials)
    steps.append(f"no witness was found among {trials} sets of points")
    return Proof(function, "unknown", domain, d, 0, tuple(steps), None, trials)


def _asymmetry(subject: FunctionSubject, d: int, domain: Domain) -> Asymmetry | None:
    """Two points on which the order of the arguments matters, if some are found."""
    points = domain.place(np.random.default_rng(0).normal(scale=2.0, size=(12, d)))
    for i, x in enumerate(points):
        for z in points[:i]:
            forward, backward = subject.value(x, z), subject.value(z, x)
            gap = abs(forward - backward)
            # Terms may cancel to nothing but rounding: then a value's own size says nothing, and k(x, x) does.
            if gap > 1e-9 * max(abs(forward), abs(backward)) and gap > 1e-9 * _own_size(subject, x, z):
                return Asymmetry(np.array([x, z]), forward, backward)
    return None


def _own_size(subject: FunctionSubject, x: NDArray[np.float64], z: NDArray[np.float64]) -> float:
    """sqrt(|k(x, x) k(z, z)|), which bounds |k(x, z)| of a kernel; 0 where it is not finite."""
    size = math.sqrt(abs(subject.value(x, x))) * math.sqrt(abs(subject.value(z, z)))
    return size if math.isfinite(size) else 0.0
