"""SVMs against their peers, one part after the other.

    python benchmarks/margins.py --data FOLDER [--quick] [--only exact|large|predict|perceptron|interrupt] [--repeats N]
        [--json PATH]

exact : KernelSVC with equal kernel, C and tolerance, against scikit-learn, scikit-learn-intelex and ThunderSVM: seconds
    of `fit`, accuracy, how many predictions agree, and the dual objective in float64.
large : half a million rows of covertype on landmarks, against scikit-learn's at the same rank.
predict : decision values with 10,000 support vectors.
perceptron : three passes over 50,000 rows, against the sequential loop in NumPy; coefficients must be the same.
interrupt : seconds from Ctrl-C to the end of a fit.

Each runs in a process of its own, after a small one that loads and compiles. Those that are compared take turns, and
the best of several counts, unless one takes minutes. Compare ratios, not seconds, between machines.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from margin_exact import exact
from margin_interrupts import interrupt
from margin_large import large, predict
from margin_perceptron import perceptron
from report import machine
from scaling import HEAD, Row

RESULTS = Path(__file__).parent / "results"
PARTS: dict[str, Callable[[Path, bool, int], Iterator[Row]]] = {
    "exact": exact,
    "large": large,
    "predict": predict,
    "perceptron": perceptron,
    "interrupt": interrupt,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with covertype.parquet and others")
    parser.add_argument("--quick", action="store_true", help="few rows; goals mean little there")
    parser.add_argument("--only", choices=PARTS, help="one part")
    parser.add_argument("--repeats", type=int, default=2, help="turns of what is compared, of which the best counts")
    parser.add_argument("--json", type=Path, help="where the record goes")
    options = parser.parse_args()
    path = options.json or RESULTS / f"margins{'-quick' * options.quick}.json"
    path.parent.mkdir(exist_ok=True)
    for name in [options.only] if options.only else list(PARTS):
        print(f"\n{name}: {PARTS[name].__doc__}", flush=True)
        rows: list[Row] = []
        for row in PARTS[name](options.data.resolve(), options.quick, options.repeats):
            rows.append(row)
            print("  " + " | ".join(row.cells()), flush=True)
            record = json.loads(path.read_text()) if path.exists() else {}
            found = [each.record() for each in rows]
            record[name] = {"date": time.strftime("%Y-%m-%d"), "machine": machine(), "rows": found}
            path.write_text(json.dumps(record, indent=1) + "\n")
        print("\n".join(f"| {' | '.join(line)} |" for line in [HEAD, ["---"] * len(HEAD), *(r.cells() for r in rows)]))


if __name__ == "__main__":
    main()
