"""`mercer fit TABLE --target target`, no other flag, on every table of a folder: scores, cost, and what the file keeps.

Each table has a process of its own. The model is saved, loaded, and asked again: predictions must be the same bits.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from alone import Failed, Found, alone, measured
from report import machine

FOLDER = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
RESULTS = Path(__file__).resolve().parent / "results" / "tool.json"
NO_TABLES = ("MUTAG", "NCI1", "PTC_MR", "flights_airports")
"""Graphs, and a lookup table without a target."""
ASKED = 5_000
"""Rows that are predicted before and after saving."""
HOUR = 3_600.0


def fitted_alone(path: str) -> Found:
    """Fit, save, load, and ask both models."""
    from mercer.cli.fit import FitOptions
    from mercer.cli.output import Voice
    from mercer.cli.pipeline import fitted
    from mercer.models import load, save

    voice = Voice("fit", quiet=True)
    done, cost = measured(lambda: fitted(FitOptions(table=path, target="target", quiet=True), voice))
    rows = done.sheet.take(np.arange(min(done.sheet.rows, ASKED)))
    before = np.asarray(done.model.predict(rows))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.mercer"
        save(done.model, file)
        start = time.perf_counter()
        after = np.asarray(load(file).predict(rows))
        kept = {"bytes": file.stat().st_size, "load_and_predict": time.perf_counter() - start}
    return {**_told(done), **cost, **kept, "same_bits": before.tobytes() == after.tobytes(), "warned": voice.warnings}


def _told(done: Any) -> Found:
    record = done.record()
    first = done.scores[0][1][-1 if done.target.task == "regression" else 0].metric
    scores = {name: next(s.value for s in scores if s.metric == first) for name, scores in done.scores}
    told = {key: record[key] for key in ("converged", "held_out_rows", "leave_one_out", "learner")}
    return told | {
        "rows": record["table"]["rows"],
        "way": record["plan"]["method"],
        "kernel": record["kernel"]["text"][:200],
        "metric": first,
        "scores": scores,
    }


def shown(name: str, found: Found) -> str:
    """One line of the table."""
    if "failed" in found:
        return f"{name:<22} failed: {found['failed']}"
    scores = "  ".join(f"{who} {value:.4f}" for who, value in found["scores"].items())
    cost = f"{found['seconds']:7.1f} s {found['megabytes']:7.0f} MB  file {found['bytes'] / 1e6:7.2f} MB"
    same = "same bits" if found["same_bits"] else "DIFFERENT"
    return f"{name:<22} {found['rows']:>9,} rows {cost}  {same}  {found['metric']}: {scores}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="Tables; left out, all that the folder has.")
    parser.add_argument("--data", type=Path, default=FOLDER, help="the folder")
    parser.add_argument("--json", type=Path, default=RESULTS, help="where the record goes")
    given = parser.parse_args()
    known = sorted(path.stem for path in given.data.glob("*.parquet") if path.stem not in NO_TABLES)
    results: dict[str, Found] = {}
    for name in given.names or known:
        try:
            results[name] = alone(fitted_alone, str(given.data / f"{name}.parquet"), seconds=HOUR)
        except Failed as error:
            results[name] = {"failed": str(error)}
        print(shown(name, results[name]), flush=True)
    given.json.parent.mkdir(exist_ok=True)
    given.json.write_text(json.dumps({"machine": machine(), "tables": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
