"""Generated Triton code on a graphics card, where there is one: `make gpu-test`."""

import cuda_here
import numpy as np
import pytest

cuda_here.card_or_skip()

from cuda_cases import (
    NAMES,
    differences_of_parts,
    errors,
    gap,
    gaps_of_evaluator,
    has_distances,
    kernel_of,
    missing_stays,
    precisions,
    table,
    told_and_stopped,
)
from cuda_words import library, outputs
from test_cuda_interpreted import assert_accurate

from mercer.backends.cuda import launch

CARD = "cuda:0"


@pytest.mark.parametrize("name", NAMES)
def test_every_kernel_gives_what_plain_numpy_gives(name):
    kernel = kernel_of(name)
    kinds = ("product", "differences") if has_distances(kernel, table(kernel, 4, 2, 0)) else ("product",)
    for precision in precisions(name):
        for kind in kinds:
            assert max(errors(name, 65, 1000, precision, kind, device=CARD).values()) <= 1, (precision, kind)
        assert max(errors(name, 700, None, precision, device=CARD).values()) <= 1, precision


@pytest.mark.parametrize("d", [1, 11, 17, 45, 90, 300])
def test_wide_rows(d):
    for form in ("tf32x3", "bf16x6") if d <= launch.MAX_TF32_COLUMNS else ("bf16x6",):
        assert max(errors("gaussian + 0.1*laplace", 300, 500, "float32", d=d, device=CARD, form=form).values()) <= 1
    assert max(errors("gaussian", 300, None, "float32", d=d, device=CARD, rough=True).values()) <= 1
    for precision in ("mixed", "float64"):
        assert max(errors("gaussian + 0.1*laplace", 300, 500, precision, d=d, device=CARD).values()) <= 1


@pytest.mark.parametrize("precision", ["float32", "mixed", "float64"])
def test_what_is_missing_stays_so(precision):
    assert missing_stays(precision, CARD)["NaN"] == 0


def test_parts_pieces_and_watches():
    for case, found, wanted in differences_of_parts(CARD):
        assert gap(case, found, wanted) <= 1, case
    for case, found, wanted in gaps_of_evaluator(CARD):
        assert gap(case, found, wanted) <= 1, case
    told = told_and_stopped(CARD)
    assert told is not None
    assert len(told) == 1
    assert 0 < told[0] < 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_words_are_as_accurate_as_they_promise(dtype):
    assert_accurate(outputs(dtype, CARD), dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_of_the_library(dtype):
    for name, (found, wanted) in library(dtype, CARD).items():
        np.testing.assert_allclose(found, wanted, rtol=8 * np.finfo(dtype).eps, atol=np.finfo(dtype).tiny, err_msg=name)
