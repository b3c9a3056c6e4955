"""Kills during saves: python killing.py FOLDER COUNT SEED tells how many were cut off, and how many files are bad.

A child process saves over a model and is killed: in every other round at a line of the code that writes, spread
over all of them, else at a random moment of many saves. Then the file must be the old or the new one,
whole.
"""

import os
import random
import signal
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np

from mercer import KernelRidge
from mercer.errors import ModelFileError
from mercer.models import load, save, writing


def models():
    warnings.simplefilter("ignore")
    X = np.random.default_rng(0).normal(size=(5000, 40))
    return [KernelRidge("linear", alpha=alpha).fit(X, X[:, 0]) for alpha in (1.0, 2.0)]


def traced(model, path, line):
    """Save, and be killed at the line of that number; how many lines there were, where there are fewer."""
    seen = 0

    def local(frame, event, argument):
        nonlocal seen
        seen += event == "line"
        if seen == line:
            os.kill(os.getpid(), signal.SIGKILL)
        return local

    sys.settrace(lambda frame, event, argument: local if frame.f_code.co_filename == writing.__file__ else None)
    save(model, path)
    sys.settrace(None)
    return seen


def forked(task):
    """A child process that does something until it is done, or killed."""
    child = os.fork()
    if child == 0:
        try:
            task()
        finally:
            os._exit(0)
    return child


def saving(path, both):
    """Save until somebody ends it."""
    while True:
        for model in both:
            save(model, path)


def spread(lines):
    """All numbers from 1 on, in an order whose first few lie far apart."""
    return sorted(range(1, lines + 1), key=lambda line: line * 0.6180339887 % 1)


def main(folder, count, seed):
    path, both, rng = Path(folder) / "model.mercer", models(), random.Random(seed)  # noqa: S311
    lines = traced(both[0], path, 0)
    bad, kept, order = 0, set(), spread(lines)
    for i in range(count):
        line = order[i // 2 % lines]
        if i % 2:
            child = forked(lambda: saving(path, both))
            time.sleep(rng.uniform(0.0, 0.06))
            os.kill(child, signal.SIGKILL)
        else:
            child = forked(partial(traced, both[i // 2 % 2], path, line))
        os.waitpid(child, 0)
        try:
            kept.add(load(path).alpha_)
        except ModelFileError as error:
            print(error)  # noqa: T201
            bad += 1
    drafts = len(list(path.parent.glob("*.mercer-draft")))
    told = f"{count} kills at {lines} lines and by time, {drafts} left a draft, {bad} bad files, models {sorted(kept)}"
    print(told)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
