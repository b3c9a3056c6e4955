"""Generated Triton code through Triton's interpreter, beside plain NumPy: no card is needed."""

import json
import subprocess
import sys
from pathlib import Path

import cuda_here
import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf

cuda_here.triton_or_skip()

from cuda_cases import NAMES
from cuda_words import BINARY, UNARY, arguments

HERE = Path(__file__).parent
PARTS = 4
EXACT = {
    "exp2_down": lambda t: mpf(2) ** t,
    "exp2": lambda t: mpf(2) ** t,
    "log2": lambda x: mpmath.log(x, 2),
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "sin_pi": mpmath.sinpi,
    "tanh": mpmath.tanh,
    "rint": mpmath.nint,
    "trunc": lambda x: mpmath.ceil(x) if x < 0 else mpmath.floor(x),
    "atan2_positive": mpmath.atan2,
    "power": mpmath.power,
}
ERROR = {
    "exp2_down": (2.5e-7, 2e-16),
    "exp2": (2.5e-7, 2e-16),
    "log2": (2.5e-7, 5e-16),
    "sin": (2e-7, 4e-16),
    "cos": (2e-7, 4e-16),
    "sin_pi": (2e-7, 4e-16),
    "tanh": (3e-7, 6e-16),
    "rint": (0.0, 0.0),
    "trunc": (0.0, 0.0),
    "atan2_positive": (2.5e-7, 5e-16),
    "power": (2.5e-7, 2e-16),
}
"""The promises of `mercer.backends.cuda.words` in float32 and float64."""
LIMITS = {
    "exp2_down": (np.nan, None, 0.0, 1.0, 0.5),
    "exp2": (np.nan, np.inf, 0.0, 1.0, 0.5),
    "log2": (np.nan, np.inf, np.nan, -np.inf, np.nan),
    "tanh": (np.nan, 1.0, -1.0, 0.0, None),
}
"""What words give for NaN, infinity, minus infinity, 0 and -1."""


def interpreted(*arguments):
    done = subprocess.run(
        [sys.executable, str(HERE / "interpret.py"), *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def assert_kept(found):
    """Every error is at most the promise."""
    assert found
    broken = {case: errors for case, errors in found.items() if not max(errors.values()) <= 1}
    assert not broken


@pytest.mark.parametrize("part", range(PARTS))
def test_every_kernel_gives_what_plain_numpy_gives(part):
    names = NAMES[part::PARTS]
    found = interpreted("values", *names)
    assert {case.rpartition(", float")[0].rpartition(", mixed")[0] or case for case in found}
    assert_kept(found)
    assert all(any(case.startswith(f"{name}, ") for case in found) for name in names)


def test_ragged_edges_and_wide_rows():
    assert_kept(interpreted("edges"))


def test_parts_pieces_and_watches():
    """Parts are parts of the whole, and where launches end changes no bit; an error of a watch ends the work."""
    assert_kept(interpreted("parts"))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_words_are_as_accurate_as_they_promise(dtype, tmp_path):
    interpreted("words", dtype, str(tmp_path / "words.npz"))
    assert_accurate(np.load(tmp_path / "words.npz"), dtype)


def assert_accurate(found, dtype):
    """Against mpmath, with 40 digits."""
    with mp.workdps(40):
        for word in (*UNARY, *BINARY):
            rows = [column.astype(np.float64) for column in arguments(word, dtype)]
            for *point, got in zip(*rows, found[word].astype(np.float64), strict=True):
                exact = EXACT[word](*map(mpf, map(float, point)))
                if abs(exact) < np.finfo(dtype).tiny:
                    assert abs(got) <= np.finfo(dtype).tiny, (word, point)
                    continue
                promise = ERROR[word][dtype == "float64"]
                if word == "power":
                    promise *= 2 + abs(point[1] * np.log2(point[0]))
                size = 1 if word in ("sin", "cos") else abs(exact)
                assert abs(mpf(float(got)) - exact) <= promise * size, (word, point, got)
        for word, limits in LIMITS.items():
            for got, wanted in zip(found[f"{word} at limits"], limits, strict=True):
                if wanted is not None:
                    np.testing.assert_allclose(got, wanted, rtol=ERROR[word][dtype == "float64"])
