"""`mercer doctor`: whether everything that Mercer uses is there, and gives right answers."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from mercer.cli.exit_codes import Exit, Failure
from mercer.cli.options import Common

if TYPE_CHECKING:
    from mercer.cli.output import Voice

NEEDED = ("numpy", "scipy", "scikit-learn", "mpmath", "numba", "threadpoolctl")
FURTHER = {
    "pyarrow": "tables",
    "typer": "this command",
    "rich": "progress bars",
    "matplotlib": "pictures",
    "torch": "graphics card",
    "triton": "generated code for a graphics card",
}
RELATIVE_TOLERANCE = 1e-12
"""How far a checked value may be off, relative to its size."""


@dataclass(frozen=True, kw_only=True)
class DoctorOptions(Common):
    """What `mercer doctor` takes."""


@dataclass(frozen=True)
class Check:
    """One look: `name`, whether it is `fine`, and what was `found`."""

    name: str
    fine: bool
    found: str


def doctor(options: DoctorOptions, voice: Voice) -> None:
    """Look whether libraries, memory and compiled code are as Mercer needs them."""
    checks = [_python(), *map(_library, NEEDED), *(_library(name, use) for name, use in FURTHER.items())]
    checks += [_memory(), _values(), _fused(), _card()]
    lines = [f"{'ok  ' if check.fine else 'FAIL'}  {check.name:<14} {check.found}" for check in checks]
    bad = [check.name for check in checks if not check.fine]
    voice.data({"checks": [vars(check) for check in checks], "healthy": not bad}, "\n".join(lines))
    if bad:
        raise Failure(Exit.FAILURE, f"something is the matter with {', '.join(bad)}.")


def _python() -> Check:
    found = f"{platform.python_version()} on {platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return Check("python", sys.version_info >= (3, 11), found)


def _library(name: str, use: str = "") -> Check:
    """A library by its version; one that is only of use is no matter if it is missing."""
    try:
        return Check(name, True, version(name))
    except PackageNotFoundError:
        return Check(name, bool(use), f"not installed: no {use}" if use else "not installed")


def _memory() -> Check:
    from mercer.compute.runtime.memory import free_memory, text_of

    free = free_memory()
    return Check("memory", free > 2**28, f"{text_of(free)} free")


def _values() -> Check:
    """A Gaussian kernel near 10^8, where a careless distance is all rounding."""
    import math

    from mercer.kernels import Gaussian

    found = float(Gaussian(2.0)([[1e8, 1e8 + 1]], [[1e8 + 3, 1e8]])[0, 0])
    off = abs(found / math.exp(-10 / 8) - 1)
    return Check("values", off < RELATIVE_TOLERANCE, f"a Gaussian kernel is {off:.0e} off")


def _fused() -> Check:
    """The compiled pass beside plain NumPy."""
    import numpy as np

    from mercer.kernels import Gaussian
    from mercer.operators import Gram

    rows = np.random.default_rng(0).normal(size=(1500, 3))
    gram = Gram(Gaussian(1.0), rows)
    product = gram @ np.ones(1500)
    distances = ((rows[:, None, :] - rows[None, :100, :]) ** 2).sum(axis=2)
    off = float(np.abs(product[:100] / np.exp(-distances / 2).sum(axis=0) - 1).max())
    return Check("compiled code", off < 1e-9, f"a product ({type(gram.evaluator).__name__}) is {off:.0e} off")


def _card() -> Check:
    """The graphics card, a product on it, and its rates."""
    import numpy as np

    from mercer.backends.choosing import found_card

    card = found_card()
    if card is None:
        return Check("graphics card", True, "none is found")
    from mercer.backends.context import use
    from mercer.kernels import Gaussian
    from mercer.operators import Gram
    from mercer.planner.machine import Machine

    rows = np.random.default_rng(0).normal(size=(1500, 3))
    with use(card):
        product = Gram(Gaussian(1.0), rows) @ np.ones(1500)
    off = float(np.abs(product / (Gaussian(1.0)(rows) @ np.ones(1500)) - 1).max())
    rates = Machine.of(card)
    speed = (
        f"{rates.products / 1e12:.0f} Tflop/s in float64, {1e-12 / rates.pairs(1, 10, True):.1f} Tpairs/s in float32"
    )
    return Check("graphics card", off < 1e-9, f"{card.signature()}; {speed}; a product is {off:.0e} off")
