"""From the record of each part to lines of one form; a part writes what its own table needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from lines import FASTER, LESS, MORE, Line, Spread, ratios

Record = dict[str, Any]
Reader = Callable[[Record], Iterator[Line]]
FAILED = "FAILED: "
COST = "times its cost"
NO_TURNS: Record = {"ours": [], "theirs": []}
NEAR, PLANNED = 0.95, 0.8
"""Goals of defaults.py, as a part of the best score, and of plans.py, as a part of the cases."""


def _timed(row: Record) -> Record:
    """The times of both sides, and the spread of their ratio."""
    turns = row.get("turns") or {who: [row[who]] if row.get(who) else [] for who in ("ours", "theirs")}
    return {"ours": Spread.of(turns["ours"]), "theirs": Spread.of(turns["theirs"]), "spread": ratios(turns)}


def _said(verdict: str) -> bool | None:
    return None if not verdict else verdict == "yes"


# -- products, lifts, ridge ------------------------------------------------------------------------------------------


def gram(record: Record) -> Iterator[Line]:
    for table, rows in record["sections"].items():
        for row in rows:
            more = row["unit"] == FASTER
            timed = _timed(row)
            if not more:  # a cost is ours over theirs, and memory has no turns
                turns = row.get("turns") or NO_TURNS
                timed["spread"] = ratios(turns, inverse=True) if row["unit"] == COST else None
            error = None if row.get("error") is None else ("relative error", row["error"], row.get("their_error"))
            yield Line(
                "gram", table, f"{row['work']}, {row['dtype']}", row["against"], **timed,
                ratio=None if row.get("failed") else row["measure"], unit=row["unit"], better=MORE if more else LESS,
                accuracy=error, memory=row.get("memory"), goal=row["goal"], met=_said(row["verdict"]),
                failed=row.get("failed", ""),
            )  # fmt: skip


def kernels(record: Record) -> Iterator[Line]:
    took = record["import"]
    bare = took["import mercer"]
    yield Line("kernels", "import", "import mercer", ours=Spread.of([bare]), ratio=bare, unit="s", better=LESS,
               goal=0.5, met=bare <= 0.5)  # fmt: skip
    yield Line("kernels", "import", "from mercer import KernelRidge", "NumPy, SciPy, scikit-learn",
               ours=Spread.of([took["from mercer import KernelRidge"]]), theirs=Spread.of([took["the others"]]),
               ratio=took["beyond"], unit="s beyond them", better=LESS)  # fmt: skip
    for row in record["proofs"]:
        work = f"prove {row['kernel']}, d = {row['d'] or 'any'}" + (f", {row['domain']}" if row["domain"] else "")
        yield Line("kernels", "proofs", work, ours=Spread.of([row["seconds"]]), ratio=row["seconds"], unit="s",
                   better=LESS, note=f"{row['status']} {row['witness']}".strip())  # fmt: skip
    for row in record["evaluation"]:
        errors = row["mercer error at offset 1e8"], row["scikit-learn error at offset 1e8"]
        accuracy = None if errors[0] is None else ("largest error at the offset 1e8", *errors)
        times = {"ours": row["mercer seconds"], "theirs": row["scikit-learn seconds"], "turns": row.get("turns")}
        yield Line("kernels", "evaluation", f"{row['kernel']}, 2,000 x 2,000, plain NumPy", "scikit-learn",
                   **_timed(times), ratio=row["ratio"], accuracy=accuracy, memory=row.get("memory"))  # fmt: skip


def lifts(record: Record) -> Iterator[Line]:
    for row in record["rows"]:
        good = (
            row["error"] is None or row["error_goal"] is None or row["error"] <= row["error_goal"] * row["their_error"]
        )
        accuracy = None if row["error"] is None else ("error of the kernel", row["error"], row["their_error"])
        note = "" if row["error_goal"] is None else f"the error is to be at most {row['error_goal']:g} of theirs"
        yield Line(
            "lifts", row["work"].partition(".")[0], row["work"], f"scikit-learn {row['against']}", **_timed(row),
            ratio=row["faster"], accuracy=accuracy, memory=row.get("memory"), goal=row["fast_enough"],
            met=bool(good and row["faster"] >= row["fast_enough"]), note=note,
        )  # fmt: skip


def ridge(record: Record) -> Iterator[Line]:
    for row in record["rows"]:
        if failed := row.get("failed"):
            yield Line("ridge", "ridge", row["work"], row["against"], failed=failed)
            continue
        more = row["more_is_better"]
        met = row["ratio"] >= row["goal"] if more else row["ratio"] <= row["goal"]
        amounts = row["unit"] == "s"
        timed = _timed(row) if amounts else {}
        if amounts and not more:
            timed["spread"] = ratios(row.get("turns") or NO_TURNS, inverse=True)
        unit = FASTER if more else f"of their {'time' if amounts else 'memory'}"
        yield Line(
            "ridge", "ridge", row["work"], row["against"], **timed, ratio=row["ratio"], unit=unit,
            better=MORE if more else LESS, accuracy=row.get("accuracy"), memory=row.get("memory"), goal=row["goal"],
            met=met, note=row["agree"],
        )  # fmt: skip


# -- the parts whose rows are of one kind: scale, margins, structured, unsupervised, processes -----------------------


def shared(part: str, record: Record) -> Iterator[Line]:
    for table, found in record.items():
        for row in found["rows"]:
            yield _shared(part, table, row)


def _shared(part: str, table: str, row: Record) -> Line:
    if row["note"].startswith(FAILED):
        why = row["note"].removeprefix(FAILED)
        ours = not row["against"] or why.startswith("ours")  # a goal is not missed where the other gave out
        return Line(part, table, row["work"], row["against"], failed=why, met=False if row["goal"] and ours else None)
    timed = _timed(row)
    if row["unit"] != FASTER:
        timed["spread"] = None
    memory = row.get("memory") or ((row["measure"], None) if row["unit"] == "MB" else None)
    return Line(
        part, table, row["work"], row["against"], **timed, ratio=row["measure"], unit=row["unit"],
        better=MORE if row["more_is_better"] else LESS, accuracy=row.get("accuracy"), memory=memory, goal=row["goal"],
        met=_said(row["met"]), note=row["note"],
    )  # fmt: skip


# -- promises --------------------------------------------------------------------------------------------------------


def truth(record: Record) -> Iterator[Line]:
    for row in record["rows"]:
        ours = row["library"] == "Mercer"
        note = f"{row['needed']} warnings needed, {row['given']} given, {row['false_alarms']} false alarms"
        yield Line(
            "truth", "silent misses", f"{row['number']} problems, {row['problems']}", "" if ours else row["library"],
            ratio=float(row["silent"]), unit="silently wrong", better=LESS, goal=0.0 if ours else None,
            met=row["silent"] == 0 if ours else None, note=note,
        )  # fmt: skip


def plans(record: Record) -> Iterator[Line]:
    found = record["summary"]
    names = [
        "times within a factor of two",
        "the same of those that take 0.1 s or more",
        "memory within 15 %",
        "the same with what the system keeps in hand",
    ]
    note = f"{found['cases']} cases, {found['failed']} failed"
    for name in names:
        share = found[name]
        met = None if share is None else share >= PLANNED
        yield Line("plans", "promises", name, ratio=share, unit="of the cases", goal=PLANNED, met=met, note=note)
    kept = found["limits kept"]
    yield Line("plans", "promises", "every memory limit kept", ratio=float(kept), unit="(1 is yes)", goal=1.0, met=kept)
    yield from map(_problem, record["rows"])


def _problem(row: Record) -> Line:
    """One plan, and what came of it."""
    found, alpha = row["found"], row["alpha"]
    work = ", ".join(
        [
            f"{found.get('rows', row['rows']):,} x {row['columns']}",
            f"{row['outputs']} output{'s' * (row['outputs'] > 1)}",
            row["kernel"] + (f" by {row['lift']} {row['features']}" if row["lift"] else ""),
            row["dtype"],
            f"alpha {alpha if isinstance(alpha, str) else format(alpha, 'g')}",
            *([f"limit {row['limit']}"] if row["limit"] else []),
        ]
    )
    if "megabytes" not in found:  # refused, which may be right, or failed
        return Line("plans", "problems", work, "the plan", failed=found.get("refused") or found["failed"])
    taken, planned = found["seconds"], found["planned seconds"]
    return Line(
        "plans", "problems", f"{found['way']}: {work}", "the plan", Spread.of([taken]), Spread.of([planned]),
        ratio=taken / planned, unit="of the plan", better=LESS, memory=(found["held MB"], found["planned MB"]),
    )  # fmt: skip


def watching(record: Record) -> Iterator[Line]:
    for row in record["rows"]:
        for name, goal in record["goals"].items():
            work, unit = f"{name.removesuffix(' s')}: {row['case']}, {row['rows']:,} rows", "s"
            unit = unit if name.endswith(" s") else "of the fit"
            yield Line("watching", "watching", work, ours=Spread.of([row["seconds"]]), ratio=row[name], unit=unit,
                       better=LESS, goal=goal, met=row["met"][name])  # fmt: skip


def levels(record: Record) -> Iterator[Line]:
    for row in record.get("levels", {}).get("rows", []):
        for way, share in row["shares"].items():
            error = row["errors"][way]
            high = record["levels"]["level"] + 2 * max(error, (0.05 * 0.95 / row["repeats"]) ** 0.5)
            goal, met = (None, None) if row["different"] else (round(high, 4), share <= high)
            note = f"{row['repeats']} repetitions, standard error {error:.3f}"
            yield Line("levels", "power" if row["different"] else "level", f"{row['test']}, {row['data']}: {way}",
                       ratio=share, unit="rejected", better=MORE if row["different"] else LESS, goal=goal, met=met,
                       note=note)  # fmt: skip
    for row in record.get("growth", {}).get("rows", []):
        ways = ", ".join(str(value) for value in row["settings"].values())
        yield Line("levels", "many rows", f"{row['test']}, {ways}, {row['rows']:,} rows a table",
                   ours=Spread.of([row["seconds"]]), ratio=row["seconds"], unit="s", better=LESS,
                   memory=(row["megabytes"], None), note=row["detail"])  # fmt: skip


def series(record: Record) -> Iterator[Line]:
    for row in record["rows"]:
        ours = None if row["seconds"] is None else Spread.of([row["seconds"]])
        more = row["what"] in ("rows a second", FASTER, "log-likelihood for each row")
        yield Line("series", "one column", f"{row['work']}, {row['rows']:,} rows: {row['what']}", ours=ours,
                   ratio=row["value"], unit=row["what"], better=MORE if more else LESS, goal=row["goal"],
                   met=row["met"])  # fmt: skip


def defaults(record: Record) -> Iterator[Line]:
    for row in record["rows"]:
        note = f"the best of 84 settings: alpha {row['best_alpha']:g}, {row['best_factor']:g} medians"
        yield Line(
            "defaults", "defaults", f"{row['name']}, {row['rows']:,} rows", "scikit-learn, 84 settings",
            ours=Spread.of([row["seconds"]]), theirs=Spread.of([row["search_seconds"]]), ratio=row["part"],
            unit="of its score", accuracy=(row["measure"], row["default"], row["best"]), goal=NEAR, met=row["near"],
            note=note,
        )  # fmt: skip


def curves(record: Record) -> Iterator[Line]:
    for name, found in record.items():
        for point in found["points"]:
            yield Line("curves", name, f"{point['curve']} {point['amount']:g}", ours=Spread.of([point["seconds"]]),
                       ratio=point["seconds"], unit="s", better=LESS,
                       accuracy=("error / deviation", point["error"], None), note=found["model"])  # fmt: skip


def tool(record: Record) -> Iterator[Line]:
    for name, found in record["tables"].items():
        if "failed" in found:
            yield Line("tool", "mercer fit", name, failed=found["failed"])
            continue
        ours, *others = found["scores"].values()
        best = max(others) if others else None
        note = f"{found['kernel']}; the file has {found['bytes'] / 1e6:.2f} MB and gives the same bits"
        if not found["same_bits"]:
            note = "THE FILE GIVES OTHER PREDICTIONS"
        yield Line("tool", "mercer fit", f"{name}, {found['rows']:,} rows", "the simplest rule",
                   ours=Spread.of([found["seconds"]]), ratio=found["seconds"], unit="s", better=LESS,
                   accuracy=(found["metric"], ours, best), memory=(found["megabytes"], None),
                   met=found["same_bits"], note=note)  # fmt: skip


def grid(record: Record) -> Iterator[Line]:
    works = {
        "satellite": "fit and predict a map",
        "million": "fit a million rows and predict",
        "path": "30 penalties by leave-one-out",
        "streamed": "fit a memory map",
        "landmarks": "fit and predict at equal error",
    }
    for part, found in record["results"].items():
        if "failed" in found:
            yield Line("grid", part, works[part], failed=found["failed"])
            continue
        theirs, took = found.get("theirs"), Spread.of([found["seconds"]])
        error = found.get("rmse", found.get("error"))
        accuracy = None if error is None else ("error", error, theirs["error"] if theirs else None)
        measure = (found["times faster"], FASTER, MORE) if theirs else (found["seconds"], "s", LESS)
        if part == "path":
            measure = found["fits"], "fits at one penalty", LESS
        goal = {"path": "fits", "landmarks": "times faster"}.get(part, "seconds")
        yield Line("grid", part, works[part], "Nystroem" if theirs else "", ours=took,
                   theirs=Spread.of([theirs["seconds"]]) if theirs else None, ratio=measure[0], unit=measure[1],
                   better=measure[2], accuracy=accuracy, goal=found["goals"].get(goal), met=found["met"],
                   memory=(found["megabytes"], theirs["megabytes"] if theirs else None))  # fmt: skip


def growth(record: Record) -> Iterator[Line]:
    """The largest size that each reached, and why it ended there."""
    for curve in record["curves"]:
        reached = [point for point in curve["points"] if "failed" not in point]
        most = reached[-1] if reached else None
        took = Spread.of([most["seconds"]]) if most else None
        held = most["megabytes"] if most else None
        ours = curve["who"].startswith("ours")
        yield Line("growth", curve["learner"], f"{curve['learner']}: the most rows", curve["who"],
                   ours=took if ours else None, theirs=None if ours else took,
                   ratio=float(most["rows"]) if most else 0.0, unit=f"rows: {_exponent(reached)}{curve['end']}",
                   memory=(held, None) if ours else (None, held),
                   failed="" if reached else curve["end"])  # fmt: skip


def _exponent(points: list[Record]) -> str:
    """How time grows over the last sizes, where it is long enough to tell."""
    long = [point for point in points if point["seconds"] > 0.05][-4:]
    if len(long) < 3:
        return ""
    n, seconds = ([point[name] for point in long] for name in ("rows", "seconds"))
    return f"time grows like n^{np.polyfit(np.log(n), np.log(seconds), 1)[0]:.2f}; "


SHARED = ("small", "scale", "margins", "unsupervised", "structured", "processes", "relevance")
READERS: dict[str, Reader] = {part: partial(shared, part) for part in SHARED} | {
    "gram": gram, "kernels": kernels, "lifts": lifts, "ridge": ridge, "truth": truth, "plans": plans,
    "watching": watching, "levels": levels, "defaults": defaults, "curves": curves, "tool": tool, "growth": growth,
    "series": series,
    "grid": grid,
}  # fmt: skip
