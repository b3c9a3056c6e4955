"""Kernels of strings, graphs and tables against their peers, and how good models with them are, part by part.

    python benchmarks/structured.py --data FOLDER [--work FOLDER] [--quick]
        [--only weisfeiler_lehman|shortest_path|spectrum|gappy|accuracy|tables] [--repeats N] [--json PATH]

weisfeiler_lehman, shortest_path : the whole matrix of NCI1 against GraKeL's, the faster of its settings. Both get
    graphs that are made before, and the time of that is noted. Values are whole numbers, and have to be equal.
spectrum : runs of 5 letters, all pairs of 5,000 strings, against CountVectorizer and a dense product, which is the
    goal; float32, and a product of sparse matrices, stand beside it for information.
gappy : the string subsequence kernel against the same dynamic programme in plain Python, timed on some pairs and scaled
    to all; and against an enumeration from the definition on short strings.
accuracy : graphs, promoters, messages and names with a support vector machine.
tables : german_credit and adult as they are with `mercer.kernel_for`, against one-hot columns and a Gaussian kernel.

Each job runs in a process of its own, after a small one that loads and compiles. Those that are compared take turns,
and the best of several counts. Compare ratios, not seconds, between machines. Whatever is chosen for a model (C, the
length of runs, the scales of a table) is chosen on its training rows alone; folds and draws have the seeds 0, 1, ...
Values are compared through files in the folder --work, which takes a gigabyte.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from report import machine
from scaling import HEAD, Row
from structured_accuracy import accuracy
from structured_gaps import gappy
from structured_graphs import shortest_path, weisfeiler_lehman
from structured_sets import Place
from structured_strings import spectrum
from structured_tables import tables

RESULTS = Path(__file__).parent / "results"
PARTS: dict[str, Callable[[Place, bool, int], Iterator[Row]]] = {
    "weisfeiler_lehman": weisfeiler_lehman,
    "shortest_path": shortest_path,
    "spectrum": spectrum,
    "gappy": gappy,
    "accuracy": accuracy,
    "tables": tables,
}


def about() -> dict[str, Any]:
    """When and where, and with which GraKeL."""
    try:
        grakel = version("grakel")
    except PackageNotFoundError:
        grakel = "not installed"
    return {"date": time.strftime("%Y-%m-%d"), "machine": machine() | {"grakel": grakel}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with NCI1.parquet and others")
    parser.add_argument(
        "--work", type=Path, default=Path(tempfile.gettempdir()) / "mercer-structured", help="matrices to compare"
    )
    parser.add_argument("--quick", action="store_true", help="few rows; goals mean little there")
    parser.add_argument("--only", choices=PARTS, help="one part")
    parser.add_argument("--repeats", type=int, help="turns of what is compared, of which the best counts: 3, quickly 1")
    parser.add_argument("--json", type=Path, help="where the record goes")
    options = parser.parse_args()
    path = options.json or RESULTS / f"structured{'-quick' * options.quick}.json"
    path.parent.mkdir(exist_ok=True)
    place = Place(options.data.resolve(), options.work.resolve())
    for name in [options.only] if options.only else list(PARTS):
        print(f"\n{name}: {PARTS[name].__doc__}", flush=True)
        rows: list[Row] = []
        where = about()
        for row in PARTS[name](place, options.quick, options.repeats or (1 if options.quick else 3)):
            rows.append(row)
            print("  " + " | ".join(row.cells()), flush=True)
            record = json.loads(path.read_text()) if path.exists() else {}
            record[name] = where | {"rows": [each.record() for each in rows]}
            path.write_text(json.dumps(record, indent=1) + "\n")
        print("\n".join(f"| {' | '.join(line)} |" for line in [HEAD, ["---"] * len(HEAD), *(r.cells() for r in rows)]))


if __name__ == "__main__":
    main()
