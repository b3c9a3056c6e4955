"""Run Triton's interpreter on some cases and print what comes out: a process of its own, as the switch is global.

python interpret.py values NAME ... | edges | parts | words DTYPE FILE
"""

import json
import os
import sys
import warnings

os.environ["TRITON_INTERPRET"] = "1"

import numpy as np
import torch
from cuda_cases import (
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
from cuda_words import outputs

from mercer.backends.cuda.tiles import Tiles

LARGE = {finish: Tiles(64, 256) for finish in ("reduce", "reduce_many", "fill", "both")}
"""Fewer tiles, which the interpreter takes one by one."""
SIZES = (1, 2, 63, 64, 65, 257)
PAIRS = ((1, 1), (1, 257), (2, 63), (63, 2), (64, 64), (65, 1), (64, 65), (257, 64))


def of_values(names):
    """Each kernel in each precision, by products and by differences."""
    for name in names:
        for precision in precisions(name):
            kernel = kernel_of(name)
            by_distance = has_distances(kernel, table(kernel, 4, 2, 0))
            for kind in ("product", "differences") if by_distance else ("product",):
                yield f"{name}, {precision}, {kind}", errors(name, 65, 257, precision, kind, tiles=LARGE)


def of_edges():
    """Ragged ends of either side, and of symmetric matrices, which have squares on their diagonals."""
    for n, m in PAIRS:
        yield f"{n} x {m}", errors("laplace", n, m, "float32", d=3)
    for n in SIZES:
        yield f"{n}, short", errors("gaussian", n, None, "float32", d=3)
        yield f"{n}, long", errors("gaussian + 0.5*laplace", n, None, "float64" if n < 257 else "float32", d=3)
    yield "three squares", errors("gaussian", 600, None, "float32", d=3)
    for precision in ("float32", "float64"):
        for n, m in ((65, 64), (65, None)):
            far = errors("gaussian + 0.05*linear", n, m, precision, d=3, offset=8.0)
            yield f"far from zero, {n}, {m}, {precision}", far
    for precision in ("float32", "mixed", "float64"):
        yield f"missing, {precision}", missing_stays(precision)
    yield "many coordinates", errors("min + 0.1*product_laplace", 65, 64, "float32", d=19)
    for d in (1, 11, 17, 45):  # one chunk, several, loops over coordinates and over chunks
        for form in ("tf32x3", "bf16x6"):
            yield f"{d} columns, {form}", errors("gaussian + 0.1*laplace", 65, 64, "float32", d=d, form=form)
        yield f"{d} columns, rough", errors("gaussian", 65, None, "float32", d=d, rough=True)
        for precision in ("mixed", "float64"):
            yield f"{d} columns, {precision}", errors("gaussian + 0.1*laplace", 65, 64, precision, d=d)
            yield f"{d} differences, {precision}", errors("gaussian", 65, 64, precision, "differences", d=d)


def main(what, *rest):
    """Write a line of JSON."""
    warnings.simplefilter("ignore")  # what overflows in numbers that select drops
    torch.set_num_threads(1)
    if what == "words":
        np.savez(rest[1], **outputs(rest[0], "cpu"))
        found = {}
    elif what == "parts":
        found = {case: {"gap": gap(case, *both)} for case, *both in differences_of_parts("cpu")}
        found |= {f"evaluator, {case}": {"gap": gap(case, *both)} for case, *both in gaps_of_evaluator("cpu")}
        told = told_and_stopped("cpu")
        found["stopped"] = {"once": 0.0 if told and len(told) == 1 and 0 < told[0] < 1 else 2.0}
    else:
        found = dict(of_values(rest) if what == "values" else of_edges())
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
