"""`mercer.prove`: rules and facts first, then Bochner's test, then the search for a witness."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import KernelError, number_of
from mercer.kernels.base import Kernel
from mercer.kernels.domain import REALS, Domain, domain_named
from mercer.kernels.proof.counterexample import refutation
from mercer.kernels.proof.derivation import Derivation
from mercer.kernels.proof.judgement import Situation
from mercer.kernels.proof.limit import DEFAULT_SECONDS, Limit, TimeUp, limit_of
from mercer.kernels.proof.record import Asymmetry, Proof, SpectralWitness, Witness
from mercer.kernels.proof.rounding import NOISE_MARGIN, moved
from mercer.kernels.proof.search import find_witness, shaken
from mercer.kernels.proof.spectral import Suspicion, suspect
from mercer.kernels.proof.subject import FunctionSubject, KernelSubject, Subject
from mercer.kernels.proof.verify import Check

if TYPE_CHECKING:
    from mercer.kernels.formulas.expression import Expression

FUNCTION_COLUMNS = (1, 2, 3)
NOISE = "no witness stands beyond the rounding"


def prove(
    kernel: Kernel | str | Callable[..., Any],
    d: int | None = None,
    domain: str | Domain | None = None,
    *,
    names: Mapping[str, Any] | None = None,
    time_limit: float | None = DEFAULT_SECONDS,
) -> Proof:
    """Prove that a function is a kernel, or find the points that show it is not.

    "proven" only ever comes from rules, known facts and exact arithmetic: polynomials of two points are always decided,
    by their coefficients. Where these do not suffice, a witness is searched for and, if found, verified with 50 digits;
    otherwise the status is "unknown". A witness against a Python function, which gives floats, must also stand beyond
    the rounding inside of it, which is seen where points are moved by an ulp or a little more. Cost: milliseconds for a
    proof, up to `time_limit` for a search.

    Parameters
    ----------
    kernel : Kernel, str or callable
        A kernel; a text; or a Python function of two points (arrays of d numbers), which can be refuted or left
        unknown, never proven. A text has kernels by their names, "gaussian - laplace", or is a formula of two points as
        on paper or in LaTeX: "(1 + x.x')^2", "x1*z1 + x2*z3", "min(x, z)", `"exp(-|x - z|^2/(2 s^2))"`,
        "x'[[2, 1], [1, 2]]z". Letters of scale without a value are 1. Functions of the points may be only named,
        "f(x) k(x, z) f(z)", and so may numbers a, b, c, w, alpha, beta, eta, kappa, lambda1, mu and theta: then it is
        proven for all of them, numbers of at least 0.
    d : int or None, default=None
        The number of columns; None takes as many as possible, or the only one that fits the kernel.
    domain : Domain, {"reals", "nonnegative", "integers", "naturals", "sphere"} or None, default=None
        Or "R", "R+", "Z", "N". None takes the domain on which the kernel is stated, the reals for a function.
    names : mapping or None, default=None
        Numbers, vectors and matrices that a formula uses by name: names={"M": [[2, 1], [1, 2]]} for "x'Mz".
    time_limit : float or None, default=30.0
        Seconds after which a search ends, and the status is "unknown"; None for no limit. A search that ends before
        does not depend on it.

    Returns
    -------
    Proof
        The status, the steps, and the witness of a refutation.

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
    >>> print(mercer.prove("x1*z1 + x2*z2 + x2*z3 + x3*z2 + x3*z3"))
    [proven] x1 z1 + x2 z2 + x2 z3 + x3 z2 + x3 z3 is a kernel on the reals, d = 3.
      1. multiplied out, the formula is m(x)' C m(z) with the monomials m = [x1, x2, x3] and C = [[1, 0,
         0], [0, 1, 1], [0, 1, 1]].
      2. C is positive semidefinite, by exact elimination, and so the formula is an inner product of
         features, phi(x).phi(z) with phi(x) = [x1, x2 + x3].
    """
    if d is not None and (isinstance(d, bool) or not isinstance(d, numbers.Integral) or d < 1):
        raise KernelError(f"prove needs an integer number of columns d of at least 1; got {d!r}. Give d=1, 2, ...")
    limit = limit_of(time_limit)
    place, width = None if domain is None else domain_named(domain), None if d is None else int(d)
    if isinstance(kernel, str):
        from mercer.kernels.proof.questions import answered  # formulas are read by few

        return answered(kernel, width, place, names, limit, prove_kernel)
    if isinstance(kernel, Kernel):
        return prove_kernel(Question(kernel), width, place, limit)
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise KernelError(f"prove needs a kernel; got the class {kernel.__name__}. Give {kernel.__name__}(...).")
    if callable(kernel):
        return _prove_function(kernel, width, REALS if place is None else place, limit)
    raise KernelError(f"prove needs a kernel, a text or a function of two points; got {kernel!r}. Give one of these.")


@dataclass(frozen=True)
class Question:
    """A kernel, and how it was asked about.

    asked : what was read, where that is another object
    said : the first steps of the argument
    """

    kernel: Kernel
    asked: Kernel | Expression | None = None
    said: tuple[str, ...] = ()


def prove_kernel(question: Question, d: int | None, place: Domain | None, limit: Limit) -> Proof:
    """By rules and facts, or refuted by a witness, or unknown."""
    kernel = question.kernel
    found = _prove_kernel(kernel, kernel.width if d is None else d, place or kernel.domain, limit, question.said)
    return found if question.asked is None else replace(found, asked=question.asked)


def _prove_kernel(kernel: Kernel, d: int | None, domain: Domain, limit: Limit, said: tuple[str, ...] = ()) -> Proof:
    derivation = Derivation(list(said))
    verdict = derivation.conclude(kernel, Situation(domain, d))
    if verdict.proven:
        return Proof(kernel, "proven", domain, d, verdict.max_dimension, tuple(derivation.steps))
    if not domain.searchable:
        return _refute_by_things(kernel, d, domain, derivation.steps)
    subject = KernelSubject.of(kernel, limit)
    tried = [columns for columns in subject.columns(d) if subject.fits(columns)]
    trials, heard = 0, derivation.steps
    for columns in tried:
        try:
            suspicion = suspect(subject, columns, domain)
            found = _search(subject, columns, domain, suspicion)
        except TimeUp:
            found, suspicion = Found(time_up=True), Suspicion()
        trials += found.trials
        if found.witness is not None:
            closing = _SPECTRAL if isinstance(found.witness, SpectralWitness) else _WITNESSED
            assumed = ("its open numbers are taken as 1 here",) if kernel.is_open else ()
            steps = (*derivation.steps, *assumed, *suspicion.words, closing)
            return Proof(kernel, "refuted", domain, columns, 0, steps, found.witness, trials)
        heard = [*heard, *suspicion.words, *found.words]
        if found.time_up:
            return Proof(kernel, "unknown", domain, d, 0, (*heard, _time_up(limit, trials)), None, trials)
    if not tried:
        counts = ", ".join(map(str, subject.columns(d)))
        where = f"{counts} column{'s' * (counts != '1')}"
        heard = [*heard, f"it cannot be evaluated on {where}, no witness was searched; give the d that fits"]
    else:
        heard = [*heard, f"no witness was found among {number_of(trials, 'set')} of points, which proves nothing"]
    return Proof(kernel, "unknown", domain, d, 0, tuple(heard), None, trials)


@dataclass(frozen=True, eq=False)
class Found:
    """What a search for a witness has found, with words for the reader of the proof."""

    witness: Witness | SpectralWitness | None = None
    trials: int = 0
    words: tuple[str, ...] = ()
    time_up: bool = False


def _time_up(limit: Limit, trials: int) -> str:
    return (
        f"the time limit of {limit.seconds:g} s was up after {number_of(trials, 'set')} of points, before the search "
        "ended; time_limit= gives it more"
    )


_WITNESSED = "the witness below makes sum_ij c_i c_j k(x_i, x_j) negative, which no kernel allows"
_SPECTRAL = "the Fourier transform is negative at the frequency below, which Bochner's theorem forbids to a kernel"


def _refute_by_things(kernel: Kernel, d: int | None, domain: Domain, steps: list[str]) -> Proof:
    """What can be said where points cannot be moved about: a leaf may know objects that refute it."""
    witness = refutation(kernel)
    if witness is not None:
        return Proof(kernel, "refuted", domain, d, 0, (*steps, _WITNESSED), witness, 1)
    remedy = "name another: prove(kernel, domain=...)" if domain.columns else "sampling would prove nothing"
    heard = (*steps, f"no points are searched on such a domain; {remedy}")
    return Proof(kernel, "unknown", domain, d, 0, heard)


def _search(subject: KernelSubject, d: int, domain: Domain, suspicion: Suspicion) -> Found:
    """Points and weights where a few suffice, else the frequency under suspicion, verified."""
    found = Found()
    if suspicion.worth_points:
        found = _points(subject, d, domain, suspicion.frequency)
        if found.witness is not None or found.time_up:
            return found
    return replace(found, witness=suspicion.verified(subject, d))


def _points(subject: Subject, d: int, domain: Domain, frequency: float | None) -> Found:
    found = find_witness(
        subject.matrix, domain.place, d, scale=subject.scale, frequency=frequency, effort=subject.effort
    )
    if found.points is None or found.weights is None:
        return Found(None, found.trials, time_up=found.time_up)
    check = subject.check(found.points, found.weights, domain.place)
    if check.negative:
        return Found(Witness(found.points, found.weights, check.value, check.digits), found.trials)
    if check.noise == 0.0:  # not negative even before rounding was looked at
        return Found(None, found.trials)
    for each in shaken(subject.matrix, domain.place, found.points, subject.scale):
        again = subject.check(each.points, each.weights, domain.place)
        if again.negative:
            return Found(Witness(each.points, each.weights, again.value, again.digits), found.trials)
    return Found(None, found.trials, (_noisy(check),))


def _noisy(check: Check) -> str:
    return (
        f"{NOISE} of its own evaluation: sum_ij c_i c_j k(x_i, x_j) = {check.value:.3g} at some points, and values "
        f"that move by rounding alone may explain {check.noise:.3g}"
    )


def _prove_function(function: Callable[..., Any], d: int | None, domain: Domain, limit: Limit) -> Proof:
    subject, trials = FunctionSubject(function, limit), 0
    steps = ["a Python function can be refuted or left unknown: no sampling proves that it is a kernel"]
    for columns in FUNCTION_COLUMNS if d is None else (d,):
        asymmetry: Asymmetry | None = None
        try:
            asymmetry = _asymmetry(subject, columns, domain)
            found = Found() if asymmetry else _points(subject, columns, domain, None)
        except TimeUp:
            found = Found(time_up=True)
        except (IndexError, TypeError, ValueError) as error:  # what a wrong number of coordinates leads to
            error.add_note(f"mercer.prove called the function with points of d = {columns}; another d can be given.")
            raise
        trials += found.trials
        if asymmetry is not None:
            words = "an inner product is symmetric, and this function is not"
            return Proof(function, "refuted", domain, columns, 0, (*steps, words), asymmetry, trials)
        if found.witness is not None:
            return Proof(function, "refuted", domain, columns, 0, (*steps, _WITNESSED), found.witness, trials)
        steps += found.words
        if found.time_up:
            return Proof(function, "unknown", domain, d, 0, (*steps, _time_up(limit, trials)), None, trials)
    steps.append(f"no witness was found among {number_of(trials, 'set')} of points")
    return Proof(function, "unknown", domain, d, 0, tuple(steps), None, trials)


def _asymmetry(subject: FunctionSubject, d: int, domain: Domain) -> Asymmetry | None:
    """Two points on which the order of the arguments matters beyond rounding, if some are found."""
    points = domain.place(np.random.default_rng(0).normal(scale=2.0, size=(12, d)))
    for i, x in enumerate(points):
        for z in points[:i]:
            forward, backward = subject.value(x, z), subject.value(z, x)
            gap = abs(forward - backward)
            # Terms may cancel to nothing but rounding: then a value's own size says nothing, and k(x, x) does.
            apart = gap > 1e-9 * max(abs(forward), abs(backward)) and gap > 1e-9 * _own_size(subject, x, z)
            if apart and gap > NOISE_MARGIN * float(moved(subject.raw, np.array([x, z]), domain.place)[0, 1]):
                return Asymmetry(np.array([x, z]), forward, backward)
    return None


def _own_size(subject: FunctionSubject, x: NDArray[np.float64], z: NDArray[np.float64]) -> float:
    """sqrt(|k(x, x) k(z, z)|), which bounds |k(x, z)| of a kernel; 0 where it is not finite."""
    size = math.sqrt(abs(subject.value(x, x))) * math.sqrt(abs(subject.value(z, z)))
    return size if math.isfinite(size) else 0.0
