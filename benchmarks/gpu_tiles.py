"""Tiles of generated Triton kernels on a graphics card: which are fastest, for the table in mercer.backends.cuda.tiles.

    python benchmarks/gpu_tiles.py [--rows N] [--columns 3 10 30] [--form tf32x3] [--finish reduce] [--kernel gaussian]
        [--default] [--json PATH]

Each line is a kernel with its tiles: pairs per second (a symmetric matrix counts all of its pairs), and the largest
error of a product, relative to the sum of sizes that it consists of. All kernels are compiled first, by several
processes; then one of them has the card for itself.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

PRECISIONS = {"tf32x3": "float32", "bf16x6": "float32", "bf16x3": "float32", "float64": "float64", "mixed": "mixed"}
SHAPES = {
    "reduce": [(64, 128, 4, 2), (64, 128, 4, 3), (64, 64, 4, 3), (128, 64, 4, 2), (128, 128, 8, 2), (128, 128, 8, 3)],
    "both": [(64, 64, 4, 2), (64, 64, 4, 3), (32, 64, 4, 3), (64, 128, 4, 3), (128, 128, 8, 2)],
    "reduce_many": [(64, 64, 4, 2), (64, 64, 4, 3), (128, 64, 8, 2), (64, 128, 4, 2), (64, 32, 4, 2)],
    "differences": [(64, 64, 4, 2), (64, 128, 4, 2), (32, 128, 4, 2), (64, 128, 8, 2)],
}
"""Rows and columns of a tile, warps, stages."""
LAYOUTS = ("packed", "parts", "wide")
Config = dict[str, Any]


def configs(args: argparse.Namespace) -> list[Config]:
    """All that is asked for."""
    found: list[Config] = []
    for d, form, finish in itertools.product(args.columns, args.form, args.finish):
        base = {"d": d, "form": form, "finish": finish, "kernel": args.kernel, "vectors": args.vectors}
        found.append(base | {"tiles": None, "layout": None})
        layouts: tuple[str | None, ...] = LAYOUTS if finish != "differences" else (None,)
        if not args.default:
            found += [base | {"tiles": t, "layout": h} for t, h in itertools.product(SHAPES[finish], layouts)]
    return found


@cache
def problem(d: int, n: int, text: str, symmetric: bool, kind: str) -> tuple[Any, Any, Any, Any, Any]:
    """A traced kernel without its precision, the rows on the card, and some rows of the matrix."""
    import mercer
    from mercer.backends.cuda.rows import Rows
    from mercer.compute.codegen.formula import asked, groups
    from mercer.compute.codegen.pair_statistics import Measured
    from mercer.compute.codegen.program import Method
    from mercer.kernels.evaluation.trace import TracedPairs, trace
    from mercer.kernels.pairs import Pairs
    from mercer.kernels.points import points_from

    rng = np.random.default_rng(0)
    left = points_from(rng.normal(size=(n, d)).astype(np.float32).astype(np.float64))
    right = left if symmetric else points_from(rng.normal(size=(n, d)).astype(np.float32).astype(np.float64))
    kernel = mercer.parse(text.format(length=float(np.sqrt(d))))
    formula = trace(kernel, TracedPairs(left, right))
    wanted = {group: found for group in groups(formula) if (found := asked(formula, group))}
    measured = {group: Measured(group, movable=found != {"dot"}) for group, found in wanted.items()}
    methods = {
        group: Method("product" if found == {"dot"} else kind, False, kind == "product" and "root" in found)  # type: ignore[arg-type]
        for group, found in wanted.items()
    }
    held: dict[int, Rows] = {}

    def hold(array: Any) -> Rows:
        return held.setdefault(id(array), Rows.of(array, "cuda:0"))

    K = np.asarray(kernel.evaluate(Pairs(left.rows(np.arange(0, n, max(1, n // 64))), right)))
    return formula, methods, measured, hold, K


def product(config: Config, n: int, times: int) -> tuple[float, float]:
    """Seconds of the fastest of so many products, and its error."""
    import torch

    from mercer.backends.base import Traced
    from mercer.backends.cuda.launch import Launched
    from mercer.backends.cuda.tiles import Tiles

    symmetric = config["finish"] == "both"
    kind = "differences" if config["finish"] == "differences" else "product"
    formula, methods, measured, hold, K = problem(config["d"], n, config["kernel"], symmetric, kind)
    precision = PRECISIONS[config["form"]]
    form = "float64" if precision != "float32" else config["form"]
    traced = Traced(formula, (n, n), precision, methods, measured, symmetric)
    finish = "reduce" if kind == "differences" else config["finish"]
    tiles = {} if config["tiles"] is None else {finish: Tiles(*config["tiles"])}
    launched = Launched.of(traced, "cuda:0", hold, form, tiles, config["layout"])
    V = np.random.default_rng(1).normal(size=(n, config["vectors"] if finish == "reduce_many" else 1))
    given = torch.tensor(V, device="cuda:0")
    seconds = []
    for _ in range(times + 1):
        torch.cuda.synchronize()
        begun = time.perf_counter()
        out = launched.times(given)
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begun)
    error = np.abs(out.cpu().numpy()[:: max(1, n // 64)] - K @ V) / (np.abs(K) @ np.abs(V))
    return min(seconds[1:], default=seconds[0]), float(error.max())


def warmed(config: Config) -> str:
    """Compile the kernels of a configuration, by running them on a few rows."""
    try:
        product(config, 512, 0)
    except Exception as error:  # noqa: BLE001  # a shape that the card cannot run is a result
        return f"{type(error).__name__}: {str(error)[:120]}"
    return ""


def main() -> None:
    """Compile, then measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=122_880)
    parser.add_argument("--columns", type=int, nargs="+", default=[3, 10, 30, 64, 90])
    parser.add_argument("--form", nargs="+", default=["tf32x3", "bf16x6", "bf16x3", "float64"], choices=PRECISIONS)
    parser.add_argument("--finish", nargs="+", default=["reduce"], choices=SHAPES)
    parser.add_argument("--kernel", default="gaussian(lengthscale={length})")
    parser.add_argument("--vectors", type=int, default=16)
    parser.add_argument("--default", action="store_true", help="the tiles of the table alone")
    parser.add_argument("--workers", type=int, default=12)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    wanted = configs(args)
    begun = time.perf_counter()
    with ProcessPoolExecutor(args.workers, get_context("spawn")) as pool:
        troubles = list(pool.map(warmed, wanted))
    print(f"{len(wanted)} kernels compiled in {time.perf_counter() - begun:.0f} s", flush=True)
    results = []
    for config, trouble in zip(wanted, troubles, strict=True):
        shown = " ".join(f"{key}={value}" for key, value in config.items() if key != "kernel")
        if trouble:
            print(f"{shown}: {trouble}", flush=True)
            continue
        seconds, error = product(config, args.rows, 3)
        rate = args.rows**2 / seconds / 1e12
        results.append(config | {"seconds": seconds, "rate": rate, "error": error})
        print(f"{shown}: {rate:.3f} Tpairs/s, error {error:.1e}", flush=True)
    for key, group in itertools.groupby(results, lambda r: (r["d"], r["form"], r["finish"])):
        best = max(group, key=lambda r: r["rate"])
        print(f"best of {key}: {best['rate']:.3f} with {best['tiles']}, {best['layout']}, error {best['error']:.1e}")
    if args.json:
        args.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
