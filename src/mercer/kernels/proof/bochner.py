"""Bochner's test: a radial function with a negative Fourier transform is not a kernel on R^d.

A bounded continuous phi(|x - z|) is positive semi-definite on R^d exactly when its d-dimensional Fourier
transform is a non-negative measure. Many phi decay too slowly for the integral to converge, so the test
looks at phi(r) exp(-r^2 / (2 R^2)): a product of kernels is a kernel, so if phi is a kernel the windowed
transform is non-negative too, for every R. A clearly negative value is therefore a refutation, up to the
quadrature error, which is estimated by halving every panel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import j0, j1

Array = NDArray[np.float64]
Radial = Callable[[Array], Array]

WINDOW_LENGTHS = (1.0, 3.0, 10.0, 30.0)
# How far each window is integrated: exp(-9^2 / 2) is 3e-18.
WINDOW_REACH = 9.0
QUADRATURE_ORDER = 16
# Most kernel values per window: panels that follow the oscillation of the highest frequency, times
# frequencies.
MAX_VALUES_PER_WINDOW = 800_000
# A transform counts as negative below -MIN_RELATIVE_VIOLATION * largest. The rounding of phi itself, about 1e-16 of
# the integral of |phi|, enters the error separately, so this only has to absorb a phi that is computed
# to fewer digits than float64 holds.
MIN_RELATIVE_VIOLATION = 1e-8
# A kernel on R^d is one on every subspace, so a higher dimension is tested in this one.
MAX_DIMENSIONS = 10
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(QUADRATURE_ORDER)


@dataclass(frozen=True)
class SpectrumCheck:
    """The most negative windowed transform found, or the smallest one where none is negative."""

    negative: bool
    frequency: float
    value: float
    largest: float
    window: float


def radial_spectrum_sign(phi: Radial, d: int, scale: float = 1.0) -> SpectrumCheck:
    """Look for a frequency where the d-dimensional transform of phi(r), windowed, is negative.

    `scale` is the length on which phi varies. Values are integrals of phi(r) exp(-r^2 / (2 R^2))
    r^(d-1) Omega(w r) dr with Omega(0) = 1: the transform divided by the area of the unit sphere.
    """
    d = min(d, MAX_DIMENSIONS)
    with np.errstate(all="ignore"):  # functions that grow overflow, and are then not judged
        checks = [_check_window(phi, d, factor * scale, scale) for factor in WINDOW_LENGTHS]
    return min(checks, key=lambda check: (not check.negative, check.value / (check.largest or 1.0)))


def panels(phi: Radial, d: int, window: float, frequency: float) -> Array:
    """The edges of panels on which the windowed transform at a frequency can be integrated, kinks isolated."""
    d = min(d, MAX_DIMENSIONS)
    return _cap(_edges(_windowed(phi, d, window), window), np.pi / frequency)


def _windowed(phi: Radial, d: int, window: float) -> Radial:
    """phi(r) exp(-r^2 / (2 R^2)) r^(d-1)."""

    def integrand(r: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(phi(r) * np.exp(-0.5 * (r / window) ** 2) * r ** (d - 1), dtype=np.float64)

    return integrand


def _edges(integrand: Radial, window: float) -> Array:
    return _resolve(integrand, np.linspace(0.0, WINDOW_REACH * window, 129))


def _check_window(phi: Radial, d: int, window: float, scale: float) -> SpectrumCheck:
    """Run the test with one window."""
    integrand = _windowed(phi, d, window)
    edges = _edges(integrand, window)
    coarse = _rule(integrand, edges)
    if not np.all(np.isfinite(coarse[1])):
        return SpectrumCheck(False, 0.0, 0.0, 0.0, window)
    frequencies = _frequencies(edges[-1], window, scale)
    edges = _cap(edges, np.pi / frequencies[-1])
    spectrum = _transform(_rule(integrand, edges), d, frequencies)
    finer = _transform(_rule(integrand, _halve(edges)), d, frequencies)
    mass = float(np.sum(np.abs(coarse[1])))
    error = 10.0 * np.abs(finer - spectrum) + 1e-13 * mass
    largest = float(np.max(np.abs(finer)))
    at = int(np.argmin(finer + error))
    negative = bool(finer[at] + error[at] < -MIN_RELATIVE_VIOLATION * largest)
    return SpectrumCheck(negative, float(frequencies[at]), float(finer[at]), largest, window)


def _frequencies(reach: float, window: float, scale: float) -> Array:
    """Return frequencies about half a window's resolution apart, as many as the budget allows."""
    step = 0.4 / min(window, reach / 3.0)
    # Panels of half a period up to frequency m * step cost reach * m * step / pi * QUADRATURE_ORDER nodes each.
    most = int(np.sqrt(MAX_VALUES_PER_WINDOW * np.pi / (QUADRATURE_ORDER * reach * step)))
    wanted = int(60.0 / (scale * step))
    count = max(8, min(most, wanted))
    return np.asarray(step * (np.arange(count) + 0.5), dtype=np.float64)


def _resolve(integrand: Radial, edges: Array) -> Array:
    """Bisect panels where the rule has not converged, down to a kink or a jump; cut the zero tail."""
    settled: list[Array] = []
    active = np.column_stack([edges[:-1], edges[1:]])
    mass = float(np.sum(np.abs(_rule(integrand, edges)[1])))
    for _ in range(45):
        middle = active.mean(axis=1)
        left, right = np.column_stack([active[:, 0], middle]), np.column_stack([middle, active[:, 1]])
        whole = _panel_sums(integrand, active)
        halves = _panel_sums(integrand, left) + _panel_sums(integrand, right)
        rough = ~(np.abs(whole - halves) <= 1e-15 * mass)
        settled.append(active[~rough])
        active = np.vstack([left[rough], right[rough]])
        if not len(active) or len(active) > 4000:  # converged, or noise that no bisection resolves
            break
    panels = np.vstack([*settled, active])
    starts = np.sort(panels[:, 0])
    return _without_tail(integrand, np.append(starts, edges[-1]), mass)


def _without_tail(integrand: Radial, edges: Array, mass: float) -> Array:
    """Drop the last panels as long as together they hold a negligible part of the integral of |phi|."""
    share = np.abs(_rule(integrand, edges)[1]).reshape(-1, QUADRATURE_ORDER).sum(axis=1)
    beyond = np.cumsum(share[::-1])[::-1]
    kept = max(1, int(np.count_nonzero(~(beyond <= 1e-16 * mass))))
    return edges[: kept + 1]


def _panel_sums(integrand: Radial, panels: Array) -> Array:
    """Return the integral over each panel (rows: from, to)."""
    half = 0.5 * (panels[:, 1] - panels[:, 0])
    nodes = panels.mean(axis=1)[:, None] + half[:, None] * _NODES
    values = integrand(nodes.ravel()).reshape(nodes.shape)
    return np.asarray(half * (values @ _WEIGHTS), dtype=np.float64)


def _rule(integrand: Radial, edges: Array) -> tuple[Array, Array]:
    """Return the nodes of all panels and the integrand there times the weights."""
    half = 0.5 * np.diff(edges)[:, None]
    nodes = (0.5 * (edges[1:] + edges[:-1])[:, None] + half * _NODES).ravel()
    return nodes, integrand(nodes) * (half * _WEIGHTS).ravel()


def _cap(edges: Array, width: float) -> Array:
    """Split panels into equal parts no wider than `width`."""
    parts = np.maximum(1, np.ceil(np.diff(edges) / width)).astype(int)
    pieces = [np.linspace(a, b, n + 1)[:-1] for a, b, n in zip(edges[:-1], edges[1:], parts, strict=True)]
    return np.append(np.concatenate(pieces), edges[-1])


def _halve(edges: Array) -> Array:
    """Split every panel in two."""
    return np.sort(np.concatenate([edges, 0.5 * (edges[1:] + edges[:-1])]))


def _transform(rule: tuple[Array, Array], d: int, frequencies: Array) -> Array:
    """Integrate the rule against Omega_d(w r) for each frequency w."""
    nodes, weighted = rule
    return np.array([np.dot(_omega(d, w * nodes), weighted) for w in frequencies])


def _omega(d: int, t: Array) -> Array:
    """Return the mean of exp(i t u.e) over the unit sphere of R^d: Gamma(d/2) (2/t)^v J_v(t), v = d/2 - 1.

    Bessel functions of general order cost fifty times as much as J_0 and J_1, so the rest follow by the
    recurrence in d, which is stable once t exceeds the order; below that, by the power series.
    """
    if d == 1:
        return np.cos(t)
    if d == 2:
        return np.asarray(j0(t), dtype=np.float64)
    if d == 3:
        return np.sinc(t / np.pi)
    near = t < 0.5 * d + 1.0
    far = np.where(near, 1.0, t)
    lower, value = (j0(far), 2.0 * j1(far) / far) if d % 2 == 0 else (np.cos(far), np.sinc(far / np.pi))
    for m in range(4 if d % 2 == 0 else 3, d, 2):
        lower, value = value, m * (m - 2) / far**2 * (value - lower)
    value[near] = _omega_series(d, t[near])
    return np.asarray(value, dtype=np.float64)


def _omega_series(d: int, t: Array) -> Array:
    """Return Omega by its power series: sum of (-t^2/4)^k / (k! (d/2)_k)."""
    square = -0.25 * t**2
    term = total = np.ones_like(t)
    for k in range(1, 30):
        term = term * square / (k * (0.5 * d + k - 1.0))
        total = total + term
    return total
