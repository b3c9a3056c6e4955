"""Sums of waves at points anywhere: with FINUFFT where it is installed, and without."""

import numpy as np
import pytest

from mercer.compute import nonuniform

RANDOM = np.random.default_rng(0)
WAYS = [pytest.param(False, id="NumPy")]
if nonuniform.is_fast():
    WAYS.append(pytest.param(True, id="FINUFFT"))


@pytest.mark.parametrize("fast", WAYS)
@pytest.mark.parametrize("shape", [(21,), (1,), (7, 11), (3, 1), (5, 3, 7)])
def test_they_are_the_sums_that_their_names_say(shape, fast, monkeypatch):
    monkeypatch.setattr(nonuniform, "is_fast", lambda: fast)
    monkeypatch.setattr(nonuniform, "WAVE_NUMBERS", 500)  # several blocks
    angles = RANDOM.uniform(-3, 3, (90, len(shape)))
    strengths = RANDOM.standard_normal((2, 90)) + 1j * RANDOM.standard_normal((2, 90))
    places = np.stack(np.meshgrid(*[np.arange(-(n // 2), n // 2 + 1) for n in shape], indexing="ij"), axis=-1)
    waves = np.exp(1j * places.reshape(-1, len(shape)) @ angles.T)
    found = nonuniform.sums(angles, strengths, shape)
    np.testing.assert_allclose(found.reshape(2, -1), strengths @ waves.T, rtol=0, atol=1e-10)
    back = nonuniform.values(angles, found)
    np.testing.assert_allclose(back, found.reshape(2, -1) @ waves, rtol=0, atol=1e-8 * abs(back).max())


def test_the_same_bits_twice():
    angles, strengths = RANDOM.uniform(-3, 3, (5000, 2)), RANDOM.standard_normal((1, 5000)) + 0j
    first, second = (nonuniform.sums(angles, strengths, (31, 31)) for _ in range(2))
    assert first.tobytes() == second.tobytes()
