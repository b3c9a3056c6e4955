"""Bochner's theorem at work: where a Fourier transform looks negative, and whether it truly is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.domain import REALS, Domain
from mercer.kernels.precision.mpmath_arrays import DIGITS, context, precisely
from mercer.kernels.proof.bochner import MAX_DIMENSIONS, panels, radial_spectrum_sign
from mercer.kernels.proof.record import SpectralWitness
from mercer.kernels.proof.subject import KernelSubject
from mercer.kernels.radial.base import Radial

MIN_VIOLATION_FOR_POINTS = 1e-3
"""A violation below this part of the spectrum takes more points than anyone would read: its frequency shows it."""
QUADRATURE_ORDER = 16


@dataclass(frozen=True)
class Suspicion:
    """What the Fourier transform says before points are searched.

    words : for the reader of the proof
    frequency : where the transform looks negative; None where it does not
    window : the width of the Gaussian window, infinity where a closed form needs none
    worth_points : whether a few points may show it
    """

    words: tuple[str, ...] = ()
    frequency: float | None = None
    window: float = math.inf
    worth_points: bool = True

    def verified(self, subject: KernelSubject, d: int) -> SpectralWitness | None:
        """The same frequency as a witness, if 50 digits confirm that the transform is negative there."""
        if self.frequency is None:
            return None
        if math.isinf(self.window):
            value = _closed_form(subject, self.frequency, d)
        else:
            value = _quadrature(subject, self.frequency, self.window, d)
        if value is None or value >= 0:
            return None
        return SpectralWitness(self.frequency, value, self.window, DIGITS)


def suspect(subject: KernelSubject, d: int, domain: Domain) -> Suspicion:
    """Look at the Fourier transform of a radial function on R^d: in closed form, or else by quadrature."""
    kernel = subject.kernel
    if not kernel.radial or domain is not REALS:
        return Suspicion()
    for known in kernel.suspect_frequencies(d) if isinstance(kernel, Radial) else ():
        frequency = known / subject.scale
        part = _closed_form(subject, frequency, d)
        if part is not None and part < 0:
            return Suspicion((), frequency, worth_points=part < -MIN_VIOLATION_FOR_POINTS)
    check = radial_spectrum_sign(subject.profile, d, scale=subject.scale)
    tested = min(d, MAX_DIMENSIONS)
    if not check.negative:
        words = f"a numerical Bochner test on R^{tested} found no negative frequency, which proves nothing"
        return Suspicion((words,))
    words = f"by quadrature the Fourier transform on R^{tested} is negative near frequency {check.frequency:.4g}"
    if tested < d:
        words += f", and a kernel on R^{d} would be one on R^{tested}"
    return Suspicion((words,), check.frequency, check.window)


def _closed_form(subject: KernelSubject, frequency: float, d: int) -> float | None:
    kernel = subject.kernel
    value = kernel.spectrum(context(), frequency * kernel.scale, d) if isinstance(kernel, Radial) else None
    return None if value is None else float(value)


def _quadrature(subject: KernelSubject, frequency: float, window: float, d: int) -> float | None:
    """The windowed transform with 50 digits, as a part of the integral of |k|; None where two rules disagree."""
    d = min(d, MAX_DIMENSIONS)
    edges = panels(subject.profile, d, window, frequency)
    halves = np.sort(np.concatenate([edges, (edges[1:] + edges[:-1]) / 2]))
    first = _integral(subject, edges, frequency, window, d)
    second = _integral(subject, halves, frequency, window, d)
    if first is None or second is None or abs(second - first) > 1e-3 * abs(second):
        return None
    return second


def _integral(
    subject: KernelSubject, edges: NDArray[np.float64], frequency: float, window: float, d: int
) -> float | None:
    """Gauss-Legendre on the panels: the integral of phi(r) exp(-r^2 / (2 R^2)) r^(d-1) Omega_d(w r) dr."""
    nodes, weights = np.polynomial.legendre.leggauss(QUADRATURE_ORDER)
    half = np.diff(edges)[:, None] / 2
    r = ((edges[1:] + edges[:-1])[:, None] / 2 + half * nodes).ravel()
    values = subject.precise_profile(precisely(r))
    if values is None:
        return None
    mp = context()
    waved, plain = mp.mpf(0), mp.mpf(0)
    for radius, weight, value in zip(r.tolist(), (half * weights).ravel().tolist(), values, strict=True):
        part = weight * value.value * mp.exp(-((mp.mpf(radius) / window) ** 2) / 2) * mp.mpf(radius) ** (d - 1)
        waved += part * _omega(mp, d, frequency * mp.mpf(radius))
        plain += abs(part)
    return float(waved / plain)


def _omega(mp: Any, d: int, t: Any) -> Any:
    """The mean of a plane wave over the unit sphere of R^d."""
    return mp.hyp0f1(mp.mpf(d) / 2, -t * t / 4)
