"""Components, clusters and tests of difference against their peers, one part after the other.

    python benchmarks/unsupervised.py --data FOLDER [--work FOLDER] [--quick]
        [--only components|large|clusters|difference] [--repeats N] [--json PATH]

components : 10 components of 20,000 rows against scikit-learn's KernelPCA, the faster of arpack and randomized; memory,
    and the angle between the subspaces. The goal is for float64; scikit-learn computes in float32 where the data is.
large : 100,000 rows: memory, and the angle to a reference by block subspace iteration in float64, which is not timed.
clusters : kernel k-means of 5,000 and 20,000 rows, 10 clusters, equal restarts, against tslearn's and
    against one in plain NumPy with a stored matrix; the inertia of both is computed from their labels.
    A peer that takes more than four minutes is stopped.
difference : MMD between 12,500 to 100,000 rows a side: seconds, memory, and the exponent of its growth.

The rows are those of covertype: its ten quantitative columns, shuffled and standardised. The kernel is the Gaussian at
their median distance. Each fit runs in a process of its own, after a small one that loads and compiles. Those that are
compared take turns, and the best of several counts, unless one takes minutes. Memory is the peak above what the process
held before, with its data. Compare ratios, not seconds, between machines. The folder --work keeps the table and the
reference between runs.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from report import machine
from scaling import HEAD, Row
from unsupervised_clusters import clusters
from unsupervised_components import components, large
from unsupervised_difference import difference
from unsupervised_rows import prepared

RESULTS = Path(__file__).parent / "results"
PARTS: dict[str, Callable[[Path, bool, int], Iterator[Row]]] = {
    "components": components,
    "large": large,
    "clusters": clusters,
    "difference": difference,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with covertype.parquet")
    parser.add_argument(
        "--work", type=Path, default=Path(tempfile.gettempdir()) / "mercer-unsupervised", help="kept files"
    )
    parser.add_argument("--quick", action="store_true", help="few rows; goals mean little there")
    parser.add_argument("--only", choices=PARTS, help="one part")
    parser.add_argument("--repeats", type=int, help="turns of what is compared, of which the best counts: 2, quickly 1")
    parser.add_argument("--json", type=Path, help="where the record goes")
    options = parser.parse_args()
    path = options.json or RESULTS / f"unsupervised{'-quick' * options.quick}.json"
    path.parent.mkdir(exist_ok=True)
    file = prepared(options.data.resolve(), options.work.resolve())
    for name in [options.only] if options.only else list(PARTS):
        print(f"\n{name}: {PARTS[name].__doc__}", flush=True)
        rows: list[Row] = []
        about = {"date": time.strftime("%Y-%m-%d"), "machine": machine()}
        for row in PARTS[name](file, options.quick, options.repeats or (1 if options.quick else 2)):
            rows.append(row)
            print("  " + " | ".join(row.cells()), flush=True)
            record = json.loads(path.read_text()) if path.exists() else {}
            record[name] = about | {"rows": [each.record() for each in rows]}
            path.write_text(json.dumps(record, indent=1) + "\n")
        print("\n".join(f"| {' | '.join(line)} |" for line in [HEAD, ["---"] * len(HEAD), *(r.cells() for r in rows)]))


if __name__ == "__main__":
    main()
