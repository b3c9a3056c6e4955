"""How far a fitted model is from the exact solution: certificates that are computed, or hold with a probability.

The exact model f* minimises J(f) = |b - S f|^2 + alpha |f|^2 over the space H of the kernel k, where b = D (y - mean)
and S f = D (f(x_i) - mean f): with mu the weighted mean of the k(., x_i), S f has the entries sqrt(s_i) <f, k(., x_i) -
mu> (mu = 0 without an intercept). With A = S S', which is the centred and weighted kernel matrix, f* = S'c* for
(A + alpha I) c* = b. A prediction is mean(y) + <f, k(., x) - mu>, so that two models with |f - g| = e differ by at most
e |k(., x) - mu| <= e (sqrt(k(x, x)) + |mu|) anywhere.

**Coefficients that are not the solution.** Let f = S'c for any c, and r = b - (A + alpha I) c. Then f* - f =
S'(A + alpha I)^-1 r, and with the eigenvalues a of A

    |f* - f|   <= |r| max sqrt(a) / (a + alpha) <= |r| / (2 sqrt(alpha)),
    |S f* - S f| <= |r| max a / (a + alpha)     <= |r|.

**Landmarks.** Features of landmarks are f~ in a subspace of H, with weights w and Z w = S f~; let c = (b - Z w) / alpha
(dual coefficients are D c). J is quadratic with its minimum at f*, and its dual bounds it from below for any t c:

    J(f~) - J(f*) = |S f~ - S f*|^2 + alpha |f~ - f*|^2,
    J(f*) >= alpha max_t (2 t b'c - t^2 c'(A + alpha I) c) = alpha (b'c)^2 / c'(A + alpha I) c.

Let Q = c'(A - Z Z')c >= 0, E = |Z'c|^2 + alpha |c|^2, and d = w - Z'c, which is 0 at the solution of the smaller
problem. Then J(f~) = alpha (|w|^2 + alpha |c|^2), b'c = E + d'Z'c, c'(A + alpha I) c = E + Q, and

    J(f~) - J(f*) <= alpha B,    B = ((|w|^2 + alpha |c|^2) Q + |d|^2 E - (d'Z'c)^2) / (E + Q),

for any w, which rises with Q: a larger Q may be put in. For d = 0 it is E Q / (E + Q), less than Q, which t = 1 gives,
and less than E, which f = 0 gives. So |f~ - f*|^2 <= B, and |S f~ - S f*|^2 <= alpha B.

**Any features.** Where k - k~ is no kernel, as for random features, f~ is not in H, and nothing is promised of it at
new rows. But f^ = S'c with the same c is in H, and its residual is r = b - alpha c - A c = Z w - A c. At the rows
Z w - S f* = alpha (c* - c) = alpha (A + alpha I)^-1 r. So

    |f^ - f*| <= |r| / (2 sqrt(alpha)),    |Z w - S f*| <= |r|,

and where f~(x) and f^(x) are both computed, f~(x) is off by at most their difference more. The second holds for
landmarks too, and is used where it is less. And whatever r is, |b - S f*| <= |b|, because J(f*) <= J(0), so that
|Z w - S f*| <= |b - Z w| + |b|.

With `pairs` values of the kernel, where A c takes n^2 / 2 of them and that is more, rows are sampled
(`sampled_bounds.py`); for landmarks r is then known by |(A - Z Z') c|^2 <= Q trace(A - Z Z'). To all bounds is added
what rounding may do: values of kernels are known to 5e-13.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mercer.compute.runtime.run import IDLE, Run
from mercer.errors import InputError, message
from mercer.html import Markup, Shown, badge, element, table
from mercer.learners.certificates import sampled_bounds
from mercer.learners.certificates.approximation import Approximation
from mercer.learners.streaming.basis import LandmarkBasis
from mercer.lifts.pivoting import strips
from mercer.operators import Gram

Array = NDArray[np.float64]
MAX_PAIRS = 1 << 32
"""Values of the kernel that a certificate may take: some ten seconds."""


@dataclass(frozen=True, eq=False)
class Distance(Shown):
    """How far the predictions of a fit are from those of the exact model, at most.

    norm : (outputs,), |f - f*| in the space of the kernel; infinite where f is not in it
    rms : (outputs,), the weighted root mean square of f - f* over the rows of the fit, intercepts included
    probability : how surely this holds: 1 where it is computed
    middle : |mu|, at most: the size of the mean of k(., x_i); 0 without an intercept
    spread : (outputs,), the standard deviation of y, for words
    dual : (outputs,), |f^ - f*| for f^ = sum_i a_i k(., x_i) with the dual coefficients; f itself in the dual
    """

    norm: Array
    rms: Array
    probability: float
    middle: float
    spread: Array
    dual: Array

    def at(self, sizes: Array, apart: Array | None = None) -> Array:
        """(rows, outputs): how far predictions are off at new rows, at most.

        sizes : (rows,), sqrt(k(x, x))
        apart : (rows, outputs), |f(x) - f^(x)|, where the model of the dual coefficients was computed, too
        """
        lengths = np.asarray(sizes, dtype=np.float64)[:, None] + self.middle
        with np.errstate(invalid="ignore"):
            direct = np.where(lengths > 0, lengths * self.norm, 0.0)
        return np.asarray(direct if apart is None else np.minimum(direct, apart + lengths * self.dual))

    @property
    def relative(self) -> Array:
        """(outputs,), rms in units of the spread of y."""
        far = np.full(len(self.rms), np.inf)
        return np.asarray(np.divide(self.rms, self.spread, out=far, where=self.spread > 0))

    @property
    def sentence(self) -> str:
        """The same in words, for the output that is farthest."""
        worst = int(np.argmax(np.where(self.rms > 0, self.relative, 0.0)))
        if np.isinf(self.rms[worst]):
            return "How far predictions are from the exact solution is not known: the fit left no residuals."
        share = f", {self.relative[worst]:.2g} of the spread of y" if self.spread[worst] > 0 else ""
        surely = "" if self.probability == 1.0 else f"With probability {self.probability:g}, "
        rows = f"predictions are off by at most {self.rms[worst]:.2g}{share}, in the mean over the rows of the fit"
        new = "of new rows nothing is known"
        if np.isfinite(self.norm[worst]):
            new = f"at any x by at most {self.norm[worst]:.2g} (sqrt(k(x, x)) + {self.middle:.2g})"
        text = f"{surely}{rows}, and {new}, against the exact solution."
        return text[:1].upper() + text[1:]

    def __str__(self) -> str:
        return self.sentence

    def _html_pieces(self) -> Iterable[Markup]:
        yield element("p", badge("certificate"), " ", self.sentence)
        sizes = zip(self.rms, self.relative, self.norm, strict=True)
        rows = [(f"output {k}", *(f"{value:.3g}" for value in size)) for k, size in enumerate(sizes, start=1)]
        yield table(rows, ("", "rms over the rows", "of the spread of y", "norm"))
        yield element("p", f"probability {self.probability:g}", kind="quiet")


def of_residual(norms: Array, alphas: Array, total: float, middle: float, spread: Array) -> Distance:
    """Of dual coefficients c that leave r = b - (A + alpha I) c of these norms.

    norms : (outputs,), |r|
    alphas : (outputs,)
    total : the sum of the weights of rows
    middle : |mu|, or more; 0 without an intercept
    spread : (outputs,), the standard deviation of y
    """
    norm = _in_space(norms, alphas)
    return Distance(norm, np.asarray(norms / np.sqrt(total)), 1.0, middle, spread, norm)


def of_landmarks(
    given: Approximation, random: np.random.Generator, pairs: int = MAX_PAIRS, run: Run = IDLE
) -> Distance:
    """Of a fit of features of landmarks: at the rows, and at any x.

    Cost: n^2 / 2 values of the kernel where that is at most `pairs`, else about `pairs`; and n p of them.
    """
    _check(given)
    lifted = _lifted(given)
    if _many(given, pairs):
        Q, trace = sampled_bounds.squares(given, lifted, random, pairs, run)
        left = np.sqrt((Q + given.lost) * trace) + _missed(given, lifted, run)
        middle, probability = _middle(given), sampled_bounds.BOUND_PROBABILITY
    else:
        product, middle = _product(given, run)
        Q = np.maximum((given.balanced * product).sum(axis=0) - (lifted**2).sum(axis=0), 0.0)
        left, probability = _left(given, product, run), 1.0
    squares = _gap(given, lifted, Q + given.lost)
    rms = np.minimum(np.sqrt(given.alphas * squares), left) / np.sqrt(given.centering.total)
    return Distance(np.sqrt(squares), rms, probability, middle, given.spread, _in_space(left, given.alphas))


def _missed(given: Approximation, lifted: Array, run: Run) -> Array:
    """|Z (w - Z'c)|: what weights that are not the solution add to Z w - A c = (Z Z' - A) c + Z (w - Z'c)."""
    moved = given.basis.times(given.rows, given.basis.to_raw(given.weights - lifted), run)
    return np.asarray(np.linalg.norm(given.centering.rows(moved), axis=0)) + given.lost_at_rows


def _gap(given: Approximation, lifted: Array, Q: Array) -> Array:
    """B: what is left of the duality gap."""
    w, off = given.weights, given.weights - lifted
    ridge = given.alphas * (given.balanced**2 / given.centering.weights[:, None]).sum(axis=0)
    E, along = (lifted**2).sum(axis=0) + ridge, (off * lifted).sum(axis=0)
    crossed = np.maximum((off**2).sum(axis=0) * E - along**2, 0.0)
    above = ((w**2).sum(axis=0) + ridge) * Q + crossed
    return np.asarray(np.divide(above, E + Q, out=np.zeros_like(above), where=E + Q > 0))


def of_features(given: Approximation, random: np.random.Generator, pairs: int = MAX_PAIRS, run: Run = IDLE) -> Distance:
    """Of a fit of any features: at the rows; at any x for the model of its dual coefficients.

    Cost: n^2 / 2 values of the kernel where that is at most `pairs`, else about `pairs`; and n p features.
    """
    if _many(given, pairs):
        left, middle = sampled_bounds.left(given, random, pairs, run), _middle(given)
        probability = sampled_bounds.BOUND_PROBABILITY
    else:
        product, middle = _product(given, run)
        left, probability = _left(given, product, run), 1.0
    rms = np.minimum(left, _at_most(given, run)) / np.sqrt(given.centering.total)
    far = np.full(len(rms), np.inf)
    return Distance(far, rms, probability, middle, given.spread, _in_space(left, given.alphas))


def _at_most(given: Approximation, run: Run) -> Array:
    """|b - Z w| + |b|."""
    missed = given.alphas * given.balanced / given.centering.roots[:, None]
    b = missed + given.centering.rows(given.predicted(run))
    return np.asarray(np.linalg.norm(missed, axis=0) + np.linalg.norm(b, axis=0))


def _check(given: Approximation) -> None:
    """Refuse features for which k - k~ need not be a kernel."""
    if not isinstance(given.basis, LandmarkBasis):
        got, remedy = f"got {type(given.basis).__name__}", "Use of_features() for others."
        raise InputError(message("a basis of landmarks", got, remedy, subject="of_landmarks"))


def _many(given: Approximation, pairs: int) -> bool:
    """Whether the matrix of the kernel has more different entries than may be computed."""
    return len(given.duals) ** 2 / 2 > pairs


def _in_space(norms: Array, alphas: Array) -> Array:
    """|r| / (2 sqrt(alpha)); infinite for alpha = 0, unless nothing is left."""
    far = np.where(np.asarray(norms) > 0, np.inf, 0.0)
    return np.asarray(np.divide(norms, 2 * np.sqrt(alphas), out=far, where=np.asarray(alphas) > 0))


def _product(given: Approximation, run: Run) -> tuple[Array, float]:
    """K a, and |mu|."""
    shares = given.centering.shares * given.centering.intercept
    found = np.asarray(Gram.of(given.kernel, given.rows, watch=run.watch) @ np.column_stack([given.balanced, shares]))
    return found[:, :-1], float(np.sqrt(max(shares @ found[:, -1], 0.0)))


def _middle(given: Approximation) -> float:
    """|mu|, at most: no mean is longer than the mean of the lengths."""
    return float(given.centering.shares @ np.sqrt(given.diagonal)) * given.centering.intercept


def _left(given: Approximation, product: Array, run: Run) -> Array:
    """|Z w - A c|, with what rounding may do."""
    left = np.linalg.norm(given.centering.rows(given.predicted(run) - product), axis=0)
    return np.asarray(left + given.lost_at_rows)


def _lifted(given: Approximation) -> Array:
    """Z'c = Phi'a."""
    basis, a = given.basis, given.balanced
    raw = np.zeros((basis.width, a.shape[1]))
    for part in strips(len(a), basis.width):
        raw += basis.raw(given.rows.rows(part)).T @ a[part]
    return np.asarray(basis.to_features(np.ascontiguousarray(raw.T)).T)
