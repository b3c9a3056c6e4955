"""Problems for the methods that read rows in pieces, and runs that stop or save at a chosen point."""

from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.compute.runtime.run import Run, Stopped
from mercer.kernels.points import Points
from mercer.learners.data.validation import penalty_of
from mercer.learners.data.views import LiftView
from mercer.learners.ridge import falkon, normal_equations
from mercer.learners.ridge.problem import RidgeProblem
from mercer.learners.ridge.sampled_loo import labels_of
from mercer.learners.streaming.basis import LiftBasis, landmark_basis
from mercer.learners.streaming.stream import StoredStream
from mercer.lifts import Nystrom
from mercer.operators import Centering
from mercer.planner import Plan
from mercer.planner.ridge import RidgeDetails
from mercer.solvers import Eigen


def draw(n=400, d=3, outputs=2, seed=0):
    """Rows, and targets that they explain in part."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    Y = np.column_stack([np.sin((t + 1) * X[:, 0]) + X[:, -1] ** 2 + 3 for t in range(outputs)])
    return X, Y + 0.3 * random.normal(size=Y.shape)


def basis_of(lift, X):
    """The basis of a fitted lift."""
    return landmark_basis(lift, Points(X)) if isinstance(lift, Nystrom) else LiftBasis(lift)


@dataclass(frozen=True, eq=False)
class InPieces:
    """A problem, its rows in pieces, and the basis of its model."""

    problem: RidgeProblem
    stream: Any
    basis: Any
    plan: Plan

    @property
    def trusted(self):
        return self.problem.trusted

    def normal_equations(self, run):
        """The fit of one pass; draws are the same every time."""
        random = np.random.default_rng(0)
        return normal_equations.solve(self.problem, self.stream, self.basis, self.plan, run, random)

    def falkon(self, run):
        """The fit of conjugate gradients."""
        return falkon.solve(self.problem, self.stream, self.basis, self.plan, run)


def in_pieces(basis, stream, plan, *, alpha=1.0, intercept=True, coded=False):
    """The problem of a stream, as a learner poses it."""
    penalty = penalty_of(alpha, stream.outputs, not coded)
    view = LiftView(stream.points, basis.lift) if hasattr(basis, "lift") else None
    problem = RidgeProblem(
        views=(view,),
        kept=np.arange(stream.count),
        targets=stream.targets,
        labels=labels_of(stream.targets) if coded else None,
        centering=Centering(stream.weights, intercept, stream.copies),
        penalty=penalty,
        dtype=np.dtype(np.float64),
        is_flat=False,
    )
    return InPieces(problem, stream, basis, plan)


def asked(basis, X, Y, weights=None, copies=None, *, alpha=1.0, intercept=True, coded=False, batch=100):
    """A problem of rows in memory, which are read in batches."""
    weights = np.ones(len(Y)) if weights is None else weights
    points = X if isinstance(X, Points) else Points(X)
    stream = StoredStream(points, Y, weights, weights if copies is None else copies)
    shape = (len(Y), points.values.shape[1], Y.shape[1])
    plan = Plan("one pass", *shape, 0, 0.0, (), RidgeDetails("primal", Eigen(), batch=batch), n_features=basis.width)
    return in_pieces(basis, stream, plan, alpha=alpha, intercept=intercept, coded=coded)


class Cut(Run):
    """A run that is stopped in a stage, when so many steps are done, wherever it may be."""

    def __init__(self, name, after):
        self.name, self.after, self.now, self.allowed = name, after, "", False

    @contextmanager
    def stage(self, name, total=1.0):
        self.now = name
        yield

    @contextmanager
    def stoppable(self):
        self.allowed = True
        yield
        self.allowed = False

    def tell(self, done):
        if self.allowed and self.now == self.name and done >= self.after:
            raise Stopped("the time is over")


class Saving(Run):
    """A run that keeps a copy of every state it is offered, and gives out the one it was made with."""

    def __init__(self, state=None):
        self.states, self.state, self.told = [], state, []

    def offer(self, key, state):
        self.states.append({name: np.array(value, order="K") for name, value in state().items()})

    def saved(self, key):
        return self.state

    def tell(self, done):
        self.told.append(done)
