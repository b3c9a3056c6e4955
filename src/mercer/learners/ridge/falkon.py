"""Many landmarks, many rows: conjugate gradients with products alone, and the landmarks as a preconditioner.

Least squares in the features phi(x) = R^-T k(L, x) of M landmarks solves (Z'Z + alpha I) w = Z'b, where
Z = D (Phi - 1 m') holds the centred features of all rows, and b = D (y - mean). Z'Z is never formed: a product with it
is a pass over the rows (`sweeps.py`), and the rows at their nearest landmarks are the preconditioner
(`landmark_preconditioner.py`).

Cost: N M values of the kernel and 4 N M operations per output, each step; 2/3 M^3 operations for the preconditioner
with one alpha, 10 M^3 with several. Memory: 2 M^2 numbers (4 M^2 with several alphas), a piece, and 8 M per output.
At a card these M^2 numbers are there, values are computed twice a step and never stored, and vectors go to and fro
(`whitening.py`). All is in float64: with alpha / N near the rounding of float32 the steps would solve another problem.

References
----------
Rudi, Carratino, Rosasco, FALKON: an optimal large scale kernel method, NIPS 2017.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh_tridiagonal

from mercer.backends.squares import Triangle
from mercer.compute.runtime.run import Run, State, Stopped
from mercer.learners.data.views import EPS
from mercer.learners.ridge.falkon_passes import KEY, SUMMARY, Residuals, Sweeps
from mercer.learners.ridge.problem import RidgeProblem
from mercer.learners.ridge.result import BasisFit, relative
from mercer.learners.ridge.whitening import Here, There, Whitening
from mercer.learners.streaming.basis import Basis, LandmarkBasis
from mercer.learners.streaming.stream import Stream
from mercer.planner.ridge import RidgePlan
from mercer.solvers import Outcome
from mercer.solvers.ridge.perturbation import ERROR_FACTOR

Array = NDArray[np.float64]
TOLERANCE = 1e-6
"""The relative residual |Z'b - (Z'Z + alpha I) w| / |Z'b| that counts as a solution."""
STEPS = 200
"""The most steps."""
EXPECTED = 30
"""Steps by which progress is measured until there is a rate."""
SAFETY = 2.0
"""What estimates of errors are multiplied by: the least eigenvalue that was seen is a little too large."""


def solve(
    problem: RidgeProblem, rows: Stream, basis: Basis, plan: RidgePlan, run: Run, triangle: Triangle | None = None
) -> BasisFit:
    """The model at given alphas; the basis is one of landmarks, whose triangle may be at a backend.

    A column goes on, after its residual is below `TOLERANCE`, until its predictions are as exact as is trusted, as long
    as that can be had. The residual is then computed anew from the rows. A run may stop it from the first step on; the
    residual is then that of the recurrence, and there are no dual coefficients.
    """
    return _Falkon(problem, rows, cast(LandmarkBasis, basis), plan, run, triangle).solve()


@dataclass(eq=False)
class _Iterate:
    """Where conjugate gradients are: all that another run needs to go on.

    w, r, p : (M, outputs), the weights, their residuals, the directions
    rho : (outputs,), r'H^-1 r
    open : (outputs,), which columns are on their way
    lengths, ratios : (STEPS, outputs), rho / p'(Z'Z + alpha I) p of each step, and what rho was multiplied by
    first, ends : (outputs,), the steps at which the recurrence began, and at which it was left
    least : (outputs,), the least eigenvalue of H^-1 (Z'Z + alpha I) that earlier recurrences saw
    true : (outputs,), the size of the residual when it was last computed anew
    count : of steps
    """

    w: Array
    r: Array
    p: Array
    rho: Array
    open: NDArray[np.bool_]
    lengths: Array
    ratios: Array
    first: NDArray[np.intp]
    ends: NDArray[np.intp]
    least: Array
    true: Array
    count: NDArray[np.intp]

    @classmethod
    def start(cls, right: Array) -> _Iterate:
        """At zero."""
        outputs = right.shape[1]
        columns, steps, none = [np.zeros(right.shape) for _ in range(2)], np.zeros((STEPS, outputs)), np.zeros(outputs)
        begin, far = none.astype(np.intp), np.full(outputs, np.inf)
        state = (none.astype(bool), steps, steps.copy(), begin, begin.copy(), far, far.copy(), np.zeros((), np.intp))
        return cls(columns[0], right.copy(), columns[1], none, *state)

    def eigenvalues(self) -> Array:
        """The least eigenvalue of H^-1 (Z'Z + alpha I) that was seen: that of the tridiagonal matrix of Lanczos."""
        return np.array([self._eigenvalue(t) for t in range(len(self.rho))])

    def _eigenvalue(self, t: int) -> float:
        steps = slice(int(self.first[t]), int(self.ends[t]))
        lengths, ratios = self.lengths[steps, t], self.ratios[steps, t]
        if len(lengths) == 0 or not (lengths > 0).all():
            return float(self.least[t])
        diagonal = 1 / lengths
        diagonal[1:] += ratios[:-1] / lengths[:-1]
        seen = eigvalsh_tridiagonal(diagonal, np.sqrt(ratios[:-1]) / lengths[:-1])[0]
        return float(min(self.least[t], max(seen, EPS)))


class _Falkon:
    """One fit."""

    def __init__(
        self,
        problem: RidgeProblem,
        rows: Stream,
        basis: LandmarkBasis,
        plan: RidgePlan,
        run: Run,
        triangle: Triangle | None,
    ) -> None:
        self.run, self.basis, self.alphas, self.trusted = run, basis, problem.penalty.given, problem.trusted
        self.intercept = problem.centering.intercept
        self.whitening: Whitening = Here(basis) if triangle is None else There(triangle)
        self.corner = self.whitening.corner
        self.sweeps = Sweeps(rows, basis, self.whitening, self.intercept, plan.details.batch, run)
        self.sweeps.expected = EXPECTED + 2.0

    def solve(self) -> BasisFit:
        with self.run.stage(KEY):
            self.summary = self.sweeps.first()
            self.solver = self.whitening.preconditioner(self.summary.near, self.intercept, self.alphas)
            self.size = np.linalg.norm(self.summary.right, axis=0)
            self.state = self._begin()
            self.sweeps.others = self._known
            found, told = None, ""
            try:
                self._step() if self.state.count == 0 and self.state.open.any() else None
                with self.run.stoppable():
                    found = self._iterate()
            except Stopped as stopped:
                told = str(stopped)
        return self._fit(found, told)

    # -- conjugate gradients --------------------------------------------------------------------------------------

    def _begin(self) -> _Iterate:
        """The start, or where an earlier run was cut off."""
        if self.sweeps.resumed:
            state = _Iterate(*(np.array(self.sweeps.saved[field.name], order="C") for field in fields(_Iterate)))
            self.sweeps.passes = 1.0 + float(state.count)
            return state
        return self._restarted(_Iterate.start(self.summary.right), self.size > 0)

    def _known(self) -> State:
        own = {field.name: getattr(self.state, field.name) for field in fields(_Iterate)}
        return {**own, **{name: np.asarray(getattr(self.summary, name)) for name in SUMMARY}}

    def _restarted(self, state: _Iterate, columns: NDArray[np.bool_]) -> _Iterate:
        """A new recurrence from the residuals at hand, for some columns."""
        state.least = state.eigenvalues()
        state.open = columns
        state.first, state.ends = (np.full(len(columns), int(state.count)) for _ in range(2))
        state.p = np.ascontiguousarray(self.solver.solve(state.r, self.alphas))  # as a state that was saved has it
        state.rho = np.einsum("ij,ij->j", state.r, state.p)
        return state

    def _iterate(self) -> Residuals:
        """Steps until all columns are good by residuals that are computed anew, or that helps no more."""
        state = self.state
        while True:
            while state.open.any() and state.count < STEPS:
                self._step()
            found = self.sweeps.residuals(self.summary, state.w, self.alphas)
            state.r = found.gradient
            size = np.linalg.norm(state.r, axis=0)
            again = (size <= state.true / 2) & ~self._good(found.sizes)
            state.true = size
            if state.count >= STEPS or not again.any():
                return found
            self._restarted(state, again)

    def _step(self) -> None:
        """One step of all open columns, in lockstep."""
        state, count, at = self.state, int(self.state.count), np.flatnonzero(self.state.open)
        p, alphas, before = np.ascontiguousarray(state.p[:, at]), self.alphas[at], state.rho[at]
        q = self.sweeps.product(self.summary, p) + alphas * p
        bent = np.einsum("ij,ij->j", p, q)
        length = np.divide(before, bent, out=np.zeros(len(at)), where=bent > 0)
        state.w[:, at] += length * p
        state.r[:, at] -= length * q
        z = self.solver.solve(state.r[:, at], alphas)
        rho = np.einsum("ij,ij->j", state.r[:, at], z)
        ratio = np.divide(rho, before, out=np.zeros(len(at)), where=before > 0)
        state.p[:, at], state.rho[at] = z + ratio * p, rho
        state.lengths[count, at], state.ratios[count, at] = length, ratio
        state.count, state.ends = np.array(count + 1), np.where(state.open, count + 1, state.ends)
        state.open = state.open & (state.rho > 0) & (state.lengths[count] > 0)
        state.open &= ~self._good(self._sizes())
        self._measure()

    def _measure(self) -> None:
        """How many passes there may be in all, by the digits that were gained so far."""
        left, count = max(self._residuals().max(), TOLERANCE), float(self.state.count)
        share = np.log(min(left, 1.0)) / np.log(TOLERANCE)
        self.sweeps.expected = 2.0 + min(max(count, count / max(share, count / STEPS)), STEPS)

    # -- how good it is -------------------------------------------------------------------------------------------

    def _residuals(self) -> Array:
        return relative(np.linalg.norm(self.state.r, axis=0), self.size)

    @property
    def _small(self) -> NDArray[np.bool_]:
        return self._residuals() <= TOLERANCE

    def _good(self, sizes: Array) -> NDArray[np.bool_]:
        """Whether the residual is below the tolerance, and predictions of these sizes are as exact as is trusted."""
        small = self._small
        return small & (relative(self._errors(), sizes) <= self.trusted) if small.any() else small

    def _errors(self) -> Array:
        """How far predictions may be off at the rows, in the mean, because of the residual r of the weights.

        |Z d|^2 <= r'(Z'Z + alpha I)^-1 r for the error d of the weights. This is at most r'H^-1 r over the least
        eigenvalue of H^-1 (Z'Z + alpha I), which conjugate gradients know nearly where they have converged; and surely
        |Z d| <= |r| / (2 sqrt(alpha)).
        """
        state = self.state
        energy = np.einsum("ij,ij->j", state.r, self.solver.solve(state.r, self.alphas))
        least, far = state.eigenvalues(), np.full(len(energy), np.inf)
        seen = np.where(np.isfinite(least) & self._small, SAFETY * np.sqrt(np.maximum(energy, 0.0) / least), far)
        sure = np.divide(np.linalg.norm(state.r, axis=0), 2 * np.sqrt(self.alphas), out=far, where=self.alphas > 0)
        return np.asarray(np.minimum(seen, sure) / np.sqrt(self.summary.total))

    def _sizes(self) -> Array:
        """The root of the mean square of predictions, by |Z w|^2 = w'(Z'b - r - alpha w)."""
        state, known = self.state, self.summary
        squares = np.einsum("ij,ij->j", state.w, known.right - state.r - self.alphas * state.w)
        return np.asarray(np.sqrt(known.level**2 + np.maximum(squares, 0.0) / known.total))

    def _roundings(self, raw: Array, sizes: Array) -> Array:
        """The estimated relative errors of predictions: of weights that are not the solution, and of sums k(x, L) v."""
        lengths = np.sqrt(self.corner.mean()) * np.linalg.norm(np.sqrt(self.corner)[:, None] * raw, axis=0)
        return relative(self._errors() + ERROR_FACTOR * EPS * (lengths + self.summary.scale), sizes)

    # -- what is told ---------------------------------------------------------------------------------------------

    def _outcome(self, told: str) -> Outcome:
        residual, steps = float(self._residuals().max()), int(self.state.count)
        converged = residual <= TOLERANCE and not told
        taken = f"{steps} step{'s' * (steps != 1)} of conjugate gradients left a residual of {residual:.1e}"
        reason = f"{taken}."
        if told:
            reason = f"{told[:1].upper()}{told[1:].rstrip('. ')}: {taken}."
        elif not converged:
            reason = f"{taken}, above the tolerance of {TOLERANCE:.0e}: use a larger alpha, or fewer landmarks."
        return Outcome(self.state.w, converged, reason, steps, residual, self.solver.condition)

    def _fit(self, found: Residuals | None, told: str) -> BasisFit:
        known, w, alphas = self.summary, self.state.w, self.alphas
        raw = self.whitening.to_raw(w)
        products = known.squares - (known.right * w).sum(axis=0) if found is None else found.products
        noise = np.maximum(products, 0.0) / max(float(known.total) - self.intercept, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = noise / alphas
        level = known.level if found is None else known.level + found.rest
        offset = level - known.means @ raw
        means = self.whitening.to_features(known.means[:, None])[:, 0]
        sizes = self._sizes() if found is None else found.sizes
        return BasisFit(
            outcome=self._outcome(told),
            alphas=alphas,
            duals=self._duals(found),
            weights=w,
            intercepts=offset,
            levels=level,
            means=means,
            noise=noise,
            variance=variance,
            log_determinants=None,
            roundings=self._roundings(raw, sizes),
            raw=raw,
            basis=self.basis,
            spectrum=None,
        )

    def _duals(self, found: Residuals | None) -> Array | None:
        """D (b - Z w) / alpha, which sum to zero with an intercept; None where they are not known."""
        if found is None or found.rows is None or not (self.alphas > 0).all():
            return None
        return found.rows / self.alphas
