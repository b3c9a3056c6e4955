"""Lloyd's algorithm for k-means in the space of a kernel: rows go to the nearest mean, and means follow their rows.

Nothing need be known of that space but inner products. With t_ic, the sum of w_j k(x_i, x_j) over the rows j of a
cluster c of the weight s_c,

    |phi(x_i) - mean_c|^2 = k(x_i, x_i) - 2 t_ic / s_c + (the sum of w_j t_jc over the rows of c) / s_c^2.

The sums are kept, and changed after each step by the rows that moved alone. Every step lets the inertia fall, the sum
of w_i times the squared distance of each row from its mean, or is the last.
"""

from __future__ import annotations

from dataclasses import dataclass

from mercer.compute.runtime.run import IDLE, Run, Stopped
from mercer.errors import number_of
from mercer.solvers.kmeans.cluster_sums import Array, Labels, Sums
from mercer.solvers.ridge.base import opening


@dataclass(frozen=True)
class LloydSettings:
    """When to end.

    max_steps : steps, at most
    tolerance : a step that lets the inertia fall by at most this part of it is the last; 0 for those that move no row
    """

    max_steps: int = 300
    tolerance: float = 0.0


DEFAULT_SETTINGS = LloydSettings()


@dataclass(frozen=True, eq=False)
class Clusters:
    """A partition, and how it was reached.

    labels : (n,), the nearest mean of each row; the first of those that are equally near
    members : (n,), the partition whose means they are; the same as the labels where no row moved any more
    squares : (n,), the squared distance of each row from that mean
    history : the inertia after each step
    converged, stopped : whether it converged, or was stopped
    reason : why it ended, in a sentence
    """

    labels: Labels
    members: Labels
    squares: Array
    history: tuple[float, ...]
    converged: bool
    stopped: bool
    reason: str

    @property
    def inertia(self) -> float:
        """The weighted sum of the squared distances."""
        return self.history[-1]


def descend(sums: Sums, labels: Labels, settings: LloydSettings = DEFAULT_SETTINGS, run: Run = IDLE) -> Clusters:
    """Lloyd's algorithm from a partition, until no row moves. Cost: see the sums.

    A run sees the steps, and may stop it once the clusters are summed up: what was learned by then is returned.

    >>> import numpy as np
    >>> from mercer.operators import LowRank
    >>> from mercer.solvers.kmeans.cluster_sums import KernelSums
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> found = descend(KernelSums(LowRank(X), np.ones(4), 2), np.array([0, 1, 0, 1]))
    >>> found.labels.tolist(), found.inertia, found.converged
    ([0, 0, 1, 1], 1.0, True)

    Lloyd, Least squares quantization in PCM, IEEE Trans. Inf. Theory 28 (1982). Dhillon, Guan and Kulis, Kernel
    k-means, spectral clustering and normalized cuts, KDD 2004.
    """
    members = sums.opened(labels)
    sums.settle(members)
    history: list[float] = []
    try:
        while True:
            labels, squares, inertia = sums.assigned(members, run, len(history))
            history.append(inertia)
            following = sums.refilled(labels, squares)
            reason = _end(history, sums.equal(following, members), settings)
            if reason:
                return Clusters(*sums.closed(labels, members, squares), tuple(history), True, False, reason)
            if len(history) >= settings.max_steps:
                reason = f"{number_of(settings.max_steps, 'step', ('was', 'were'))} not enough."
                return Clusters(*sums.closed(labels, members, squares), tuple(history), False, False, reason)
            sums.move(members, following)
            members = following
    except Stopped as stopped:
        labels, squares, inertia = sums.assigned(members)
        history.append(inertia)
        reason = f"{opening(stopped)}, after {number_of(len(history), 'step')}."
        return Clusters(*sums.closed(labels, members, squares), tuple(history), False, True, reason)


def _end(history: list[float], rests: bool, settings: LloydSettings) -> str:
    """Why to end; "" where there is more to do."""
    if rests:
        return f"No row moves after {number_of(len(history), 'step')}."
    if settings.tolerance > 0 and len(history) > 1 and history[-2] - history[-1] <= settings.tolerance * history[-1]:
        return f"The inertia falls by less than {settings.tolerance:.1e} of it after {number_of(len(history), 'step')}."
    return ""
