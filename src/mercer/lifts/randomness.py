"""Where random numbers come from: `random_state`, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state


def generator(random_state: Any) -> np.random.Generator:
    """The generator that scikit-learn's `random_state` asks for: an integer, a generator of NumPy, or None."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    drawn = check_random_state(random_state).randint(0, 2**32, size=4, dtype=np.uint64)
    return np.random.default_rng(drawn)
