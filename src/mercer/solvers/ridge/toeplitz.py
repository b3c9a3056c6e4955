"""Conjugate gradients for waves on a grid of frequencies: products by fast transforms, low frequencies factored.

With f = sum_j sqrt(p_j) u_j exp(i j.t) the normal equations of waves are

    (sqrt(P) T sqrt(P) - N m m* + alpha I) u = sqrt(P) F*D (y - mean),    T_jk = v_(k - j),

whose matrix is Toeplitz in every column of the data: a product takes the function f to a lattice, multiplies it there
by the density of the rows, and comes back. That is two real transforms of some 4^d M points, whatever the number of
rows. The preconditioner is the inverse of the block of those frequencies that have the largest weights, which the data
determine, and of the diagonal for all others, which alpha determines.

References
----------
Greengard, Rachh and Barnett, Equispaced Fourier representations for efficient Gaussian process regression from a
billion data points, SIAM/ASA Journal on Uncertainty Quantification 13 (2025).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import fft
from scipy.linalg import cho_factor, cho_solve

from mercer.compute.runtime.run import Run, Stopped
from mercer.compute.runtime.threads import available

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
TOLERANCE = 1e-5
"""The error of predictions at the rows, in units of the spread of y, that counts as a solution, as it is estimated."""
STEPS = 3000
"""The most steps."""


class Waves(Protocol):
    """Frequencies and weights of features sqrt(p_0), sqrt(2 p_j) cos, ..., sqrt(2 p_j) sin, ..."""

    @property
    def frequencies(self) -> NDArray[np.int64]: ...
    @property
    def orders(self) -> tuple[int, ...]: ...
    @property
    def weights(self) -> Array: ...


@dataclass(frozen=True, eq=False)
class Toeplitz:
    """Z'Z of centred features on a grid, as products, for weights in the order of the features.

    lattice : the points of a period at which functions are multiplied
    density : of the rows on the lattice
    places : where half of the frequencies stand in a transform of the lattice; `mirrored`, where -j stand, of those
        with a last entry of 0, and `mirror` which these are
    roots : (1 + h,), sqrt(p)
    means : (M,), of the features; zero where there is no intercept
    diagonal : (M,), of Z'Z
    """

    lattice: tuple[int, ...]
    density: Array
    places: tuple[NDArray[np.intp], ...]
    signs: Array
    mirror: NDArray[np.intp]
    mirrored: tuple[NDArray[np.intp], ...]
    roots: Array
    means: Array
    total: float
    diagonal: Array

    @classmethod
    def of(cls, waves: Waves, box: Complex, means: Array, total: float) -> Toeplitz:
        """From v in a box of twice the orders."""
        doubled = [2 * order for order in waves.orders]
        lattice = tuple(fft.next_fast_len(2 * twice + 1, real=True) for twice in doubled)
        half = np.zeros((*lattice[:-1], lattice[-1] // 2 + 1), complex)
        rows = [np.arange(-twice, twice + 1) % n for twice, n in zip(doubled[:-1], lattice[:-1], strict=True)]
        half[np.ix_(*rows, np.arange(doubled[-1] + 1))] = box[..., doubled[-1] :].conj()
        density = fft.irfftn(half, lattice, norm="forward", workers=available())
        j = np.vstack([np.zeros((1, len(doubled)), np.int64), waves.frequencies])
        turned = j[:, -1] < 0  # a real transform holds frequencies whose last entry is not negative
        stored = np.where(turned[:, None], -j, j)
        mirror = np.flatnonzero((stored[:, -1] == 0) & (stored != 0).any(axis=1))
        at = tuple((column % n).astype(np.intp) for column, n in zip(stored.T, lattice, strict=True))
        other = tuple((-column % n).astype(np.intp) for column, n in zip(stored[mirror].T, lattice, strict=True))
        roots, middle = np.sqrt(waves.weights), np.array(doubled)
        doubles = box[tuple((2 * waves.frequencies + middle).T)].real
        pairs = waves.weights[1:]
        diagonal = np.concatenate([waves.weights[:1] * total, pairs * (total + doubles), pairs * (total - doubles)])
        signs = np.where(turned, -1.0, 1.0)
        return cls(lattice, density, at, signs, mirror, other, roots, means, total, diagonal - total * means**2)

    @property
    def largest(self) -> float:
        """The largest eigenvalue of Z'Z, at most: that of the weights times the density of the rows."""
        return float(self.roots.max() ** 2 * np.abs(self.density).max())

    def times(self, W: Array) -> Array:
        """Z'Z W, (M, outputs). Cost: two real transforms of the lattice for each output."""
        found = np.empty_like(W)
        for t, w in enumerate(W.T):
            found[:, t] = self._from(self.density * self._function(w))
        return np.asarray(found - self.total * self.means[:, None] * (self.means @ W))

    def _function(self, w: Array) -> Array:
        """phi(x)'w on the lattice."""
        h, half = len(self.roots) - 1, np.zeros((*self.lattice[:-1], self.lattice[-1] // 2 + 1), complex)
        u = np.empty(1 + h, complex)
        u.real[0], u.imag[0] = w[0], 0.0
        u.real[1:], u.imag[1:] = np.sqrt(0.5) * w[1 : 1 + h], -np.sqrt(0.5) * w[1 + h :]
        u.imag *= self.signs
        u *= self.roots
        half[self.places] = u
        half[self.mirrored] = u[self.mirror].conj()
        return np.asarray(fft.irfftn(half, self.lattice, norm="forward", overwrite_x=True, workers=available()))

    def _from(self, values: Array) -> Array:
        """The sums of features that a function on the lattice stands for: the transpose of `_function`."""
        half = fft.rfftn(values, norm="forward", overwrite_x=True, workers=available())
        u = half[self.places] * self.roots
        u.imag *= self.signs
        root = np.sqrt(2.0)
        return np.concatenate([u.real[:1], root * u.real[1:], -root * u.imag[1:]])


@dataclass(frozen=True, eq=False)
class Preconditioner:
    """The inverse of Z'Z + alpha I on some features, and of its diagonal on the others.

    chosen : the features of the block
    """

    chosen: NDArray[np.intp]
    factor: tuple[Array, bool]
    scale: Array

    @classmethod
    def of(cls, block: Array, chosen: NDArray[np.intp], diagonal: Array, alpha: float) -> Preconditioner:
        """Cost: a Cholesky factor of the block, which is used up."""
        block.flat[:: len(block) + 1] += alpha
        return cls(chosen, cho_factor(block, lower=True, overwrite_a=True), 1 / (np.maximum(diagonal, 0.0) + alpha))

    def times(self, r: Array) -> Array:
        """The approximate solution for a right side, (M,)."""
        found = self.scale * r
        found[self.chosen] = cho_solve(self.factor, r[self.chosen], check_finite=False)
        return np.asarray(found)


@dataclass(frozen=True, eq=False)
class Solved:
    """Weights, (M, outputs), and how they were found."""

    weights: Array
    steps: int
    converged: bool
    reason: str


def solved(
    system: Toeplitz,
    block: Array,
    chosen: NDArray[np.intp],
    right: Array,
    alphas: Array,
    spread: Array,
    run: Run,
) -> Solved:
    """(Z'Z + alpha_t I) w_t = right_t, one output after the other.

    The error e of a solution with residual r has |Z e|^2 + alpha |e|^2 = r'(Z'Z + alpha I)^-1 r, which r'H r estimates
    for the preconditioner H: a column is done when that is below the tolerance, per row, in units of the spread of y.

    block : Z'Z of the chosen features
    spread : (outputs,), the standard deviation of y
    """
    weights, most, done = np.zeros_like(right), 0, True
    goals = TOLERANCE * spread * np.sqrt(system.total)
    for t, (alpha, goal) in enumerate(zip(alphas, goals, strict=True)):
        H = Preconditioner.of(block.copy(), chosen, system.diagonal, float(alpha))
        steps, reached = _column(system, H, right[:, t], float(alpha), float(goal), weights[:, t], run)
        most, done = max(most, steps), done and reached
        if run.over((t + 1) / len(alphas)):
            done = done and t + 1 == len(alphas)
            break
    reason = f"Conjugate gradients took {most} steps, with {len(chosen):,} low frequencies as preconditioner."
    if not done:
        reason = f"Conjugate gradients stopped after {most} steps before their goal. Use a larger alpha, or more time."
    return Solved(weights, most, done, reason)


def _column(
    system: Toeplitz, H: Preconditioner, b: Array, alpha: float, goal: float, w: Array, run: Run
) -> tuple[int, bool]:
    """Steps for one output, which end in w."""
    r, p, rho = b.copy(), np.zeros_like(b), 1.0
    for step in range(STEPS):
        z = H.times(r)
        new = float(r @ z)
        if not new > goal**2:
            return step, bool(np.isfinite(new))
        try:
            with run.stoppable():
                run.tell(min(0.99, step / STEPS))
        except Stopped:
            return step, False
        p = z + (new / rho if step else 0.0) * p
        rho = new
        q = system.times(p[:, None])[:, 0] + alpha * p
        length = rho / float(p @ q)
        w += length * p
        r -= length * q
    return STEPS, False
