"""A fit in a process of its own, to be killed or interrupted: says when it begins, and what it ends with.

Checkpoints are written as often as they are offered, and each step takes a while longer, so that a kill hits the work.
"""

import hashlib
import os
import time
import warnings
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from mercer import KernelRidge
from mercer.backends import lanes
from mercer.learners.ridge import planning
from mercer.learners.run import checkpoint
from mercer.learners.run.fit_run import Watched
from mercer.lifts import Nystrom
from mercer.planner.placement import place
from mercer.solvers import ConjugateGradient

PAUSE = 0.02
"""Seconds that a step takes longer."""


def data():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1500, 4))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=1500)


def model(way, path, on_interrupt):
    settings = {"checkpoint": path, "on_interrupt": on_interrupt, "random_state": 5, "verbose": False}
    if way == "conjugate gradients":
        solver = ConjugateGradient(tol=1e-5, preconditioner_rank=20)
        return KernelRidge("matern(nu=0.5, lengthscale=1.0)", alpha=1e-3, solver=solver, **settings)
    lift = Nystrom("gaussian(1.5)", 40, random_state=0)
    return KernelRidge(lift, alpha="auto" if way == "one pass" else 0.01, **settings)


def forced(way):
    """The planner, made to take a way, in pieces that are small."""

    def other(task, backend, *settings):
        plan = place(task, backend, *settings)
        found = next(each for each in (plan, *plan.others) if each.method == way)
        return replace(found, details=replace(found.details, batch=50 if way == "one pass" else 500))

    return other


def fit(channel, way, path, on_interrupt="raise", cores=None):
    """Sends "begins", "usable" when what was found could be kept, and at last a digest, and whether it is done.

    cores : as if the process had been started with so many
    """
    if cores is not None:
        os.environ["OMP_NUM_THREADS"] = str(cores)
        threadpool_limits(cores, user_api="blas")
        lanes.MIN_STRIP_ROWS = lanes.MAX_STRIP_ROWS = 16  # so that every lane has some rows of a piece
    checkpoint.MIN_INTERVAL_SECONDS = checkpoint.LATEST_SECONDS = 0.0
    checkpoint.MAX_WRITING_SHARE = 1e9
    planning.place = forced(way)
    told = Watched.tell

    def slow(self, done):
        time.sleep(PAUSE)
        told(self, done)

    Watched.tell = slow
    opened = Watched.stoppable

    @contextmanager
    def announced(self):
        with opened(self):
            channel.send("usable")
            yield

    Watched.stoppable = announced
    channel.send("begins")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = model(way, path, on_interrupt).fit(*data())
    parts = (
        fitted.predict(data()[0]),
        fitted.coef_ if fitted.lift_ else fitted.dual_coef_,
        np.array(fitted.intercept_),
    )
    digest = hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()
    channel.send((digest, fitted.converged_))
