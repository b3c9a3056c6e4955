"""Plans as plain values, so that a fit that was cut off takes the same way again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_args

from mercer import solvers
from mercer.errors import InputError, message
from mercer.planner.plan import Plan, Side, Stage, Way
from mercer.solvers import Solver

Plain = str | int | float | None
COUNTS = ("rows", "columns", "outputs", "features", "bytes", "rank", "batch", "drawn", "sample")
AMOUNTS = ("operations", "seconds")
WORDS = ("way", "side", "gives_up", "reason")
STAGE, SETTING = "stage.", "solver."
"""How the keys of stages and of the settings of the solver begin."""


def recorded(plan: Plan) -> dict[str, Plain]:
    """What a plan holds, but for the ways not chosen; the keys of stages are in their order."""
    record: dict[str, Plain] = {name: getattr(plan, name) for name in (*WORDS, *COUNTS, *AMOUNTS)}
    record["solver"] = type(plan.solver).__name__
    record |= {SETTING + name: value for name, value in _settings(plan.solver).items()}
    return record | {STAGE + stage.name: stage.seconds for stage in plan.stages}


def restored(record: Mapping[str, Any], who: str) -> Plan:
    """The plan that a record holds."""
    try:
        if record["way"] not in get_args(Way) or record["side"] not in get_args(Side):
            raise ValueError(f"there is no way {record['way']!r} on the side {record['side']!r}")
        words = {name: str(record[name]) for name in WORDS}
        counts = {name: None if record[name] is None else int(record[name]) for name in COUNTS}
        amounts = {name: float(record[name]) for name in AMOUNTS}
        solver, stages = _solver(record), tuple(Stage(k, float(v)) for k, v in _under(STAGE, record).items())
        return Plan(**words, **counts, **amounts, solver=solver, stages=stages)  # type: ignore[arg-type]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        got = f"got {type(error).__name__}: {error}"
        raise InputError(message("the record of a plan", got, "Start anew, without it.")) from error


def _settings(solver: Solver) -> dict[str, Plain]:
    """The fields of a solver: plain values all."""
    return {each.name: getattr(solver, each.name) for each in fields(solver)}  # type: ignore[arg-type]


def _solver(record: Mapping[str, Any]) -> Solver:
    kind = getattr(solvers, str(record["solver"]), None) if record["solver"] in solvers.__all__ else None
    if not (isinstance(kind, type) and issubclass(kind, Solver)):
        raise ValueError(f"there is no solver {record['solver']!r}")
    return kind(**_under(SETTING, record))


def _under(prefix: str, record: Mapping[str, Any]) -> dict[str, Any]:
    return {key[len(prefix) :]: value for key, value in record.items() if key.startswith(prefix)}
