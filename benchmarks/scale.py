"""Large data against the usual ways: exact by products, landmarks, and how the time grows with the rows.

    python benchmarks/scale.py --data FOLDER [--work FOLDER] [--quick] [--only exact|nystrom|growth] [--repeats N]
        [--json PATH]

exact : kernel ridge of all rows of two sets by conjugate gradients, against SciPy's on KeOps' products (CPU, float32).
    Both true residuals are recomputed in float64, from the definition.
nystrom : 1,000 and 2,000 landmarks on covertype and on flights, against scikit-learn's Nystroem and ridge regression
    with the same kernel and penalty, on the same rows; and all flights from a Parquet file within 2 GB.
growth : seconds for 500 landmarks on 10,000 to 3,000,000 flights, and the exponent of their growth.

Every fit runs in a process of its own, after a small one that loads and compiles. Those that are compared take turns,
and the best of several times counts, unless one takes minutes: compare ratios, not seconds, between machines. Memory is
the peak above what the process held before `fit`, with its data. Each part is written when it is done; with --only
the others stay in the file as they are. The folder --work keeps the table of flights between runs.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from report import machine
from scale_exact import exact
from scale_landmarks import growth, nystrom
from scaling import HEAD, QUICK, Place, Row, Sizes

RESULTS = Path(__file__).parent / "results"
PARTS: dict[str, Callable[[Sizes, Place], Iterator[Row]]] = {"exact": exact, "nystrom": nystrom, "growth": growth}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with kin40k.parquet and others")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "mercer-scale", help="kept files")
    parser.add_argument("--quick", action="store_true", help="small tables; goals mean little there")
    parser.add_argument("--only", choices=PARTS, help="one part")
    parser.add_argument("--repeats", type=int, default=3, help="turns of what is compared, of which the best counts")
    parser.add_argument("--json", type=Path, help="where the record goes")
    options = parser.parse_args()
    path = options.json or RESULTS / f"scale{'-quick' * options.quick}.json"
    sizes = replace(QUICK if options.quick else Sizes(), repeats=options.repeats)
    place = Place(options.data.resolve(), options.work.resolve())
    for name in [options.only] if options.only else list(PARTS):
        _part(name, sizes, place, path)


def _part(name: str, sizes: Sizes, place: Place, path: Path) -> None:
    """Measure a part, printing each row when it is there, and put it into the record after each row."""
    print(f"\n{name}: {PARTS[name].__doc__}", flush=True)
    record = json.loads(path.read_text()) if path.exists() else {}
    about: dict[str, Any] = {"date": time.strftime("%Y-%m-%d"), "machine": machine(), "sizes": asdict(sizes)}
    rows: list[Row] = []
    path.parent.mkdir(exist_ok=True)
    for row in PARTS[name](sizes, place):
        rows.append(row)
        print("  " + " | ".join(row.cells()), flush=True)
        record[name] = about | {"rows": [row.record() for row in rows]}
        path.write_text(json.dumps(record, indent=1) + "\n")
    print("\n".join(f"| {' | '.join(line)} |" for line in [HEAD, ["---"] * len(HEAD), *(row.cells() for row in rows)]))


if __name__ == "__main__":
    main()
