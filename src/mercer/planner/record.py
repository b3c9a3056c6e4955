"""Plans as plain values, so that a fit that was cut off follows the same plan again, and files hold nothing else."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import fields
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from mercer import solvers
from mercer.errors import InputError, message
from mercer.planner.clustering import KMeansDetails, SpectralDetails
from mercer.planner.logistic import LogisticDetails
from mercer.planner.pca import PCADetails
from mercer.planner.perceptron import PerceptronDetails
from mercer.planner.plan import Compared, Details, Plain, Plan, Stage
from mercer.planner.ridge import RidgeDetails
from mercer.planner.svm import SVMDetails
from mercer.solvers import Solver

FAMILIES: tuple[type[Details], ...] = (
    RidgeDetails, SVMDetails, LogisticDetails, PCADetails, KMeansDetails, SpectralDetails, PerceptronDetails
)  # fmt: skip
DETAILS: dict[str, type[Details]] = {family.task: family for family in FAMILIES}
"""By what is fitted."""
SOLVERS: dict[str, type[Solver]] = {
    name: kind
    for name in dir(solvers)
    if isinstance(kind := getattr(solvers, name), type) and issubclass(kind, Solver) and kind is not Solver
}
"""By their names in records."""
HINTS: dict[type, dict[str, Any]] = {kind: get_type_hints(kind) for kind in (*FAMILIES, *SOLVERS.values())}
"""The types of their fields: nothing is evaluated while a record is read, which may be untrusted."""
VALUES: dict[str, Any] = {
    "method": str, "rows": int, "columns": int, "outputs": int, "bytes": int, "seconds": float,
    "n_features": int, "n_landmarks": int, "gives_up": str, "backend": str, "lanes": int, "threads": int,
}  # fmt: skip
"""What all plans hold beside stages and details."""
NEVER = object()
"""What no field is."""
STAGE, SETTING = "stage.", "solver."
"""How the keys of stages and of the settings of a solver begin."""
LATER = {
    "partial": False, "backend": "cpu", "lanes": 0, "threads": 0,
    "step": 0.0, "column": 0.0, "pivot": 0.0, "square": 0.0, "epsilon": 0.0,
}  # fmt: skip
"""Fields that records of older versions lack, and their defaults: they are written where they differ."""


def recorded(plan: Plan[Any]) -> dict[str, Plain]:
    """What a plan holds, but for the methods not chosen; the keys of stages are in their order."""
    record: dict[str, Plain] = {"task": plan.task, "reason": plan.reason}
    record |= {name: value for name in VALUES if (value := getattr(plan, name)) != LATER.get(name, NEVER)}
    for item in fields(plan.details):
        value = getattr(plan.details, item.name)
        if value == LATER.get(item.name, NEVER):
            continue
        if isinstance(value, Solver):
            record |= {item.name: type(value).__name__, **{SETTING + k: v for k, v in _settings(value).items()}}
        else:
            record[item.name] = value
    return record | {STAGE + stage.name: stage.seconds for stage in plan.stages}


def restored(record: Mapping[str, Any]) -> Plan[Any]:
    """The plan that a record holds."""
    try:
        kind = DETAILS[record["task"]]
        if record["method"] not in kind.methods:
            raise ValueError(f"there is no method {record['method']!r} for {kind.task}")
        there = {name: hint for name, hint in VALUES.items() if name in record or name not in LATER}
        values = {name: _value(record[name], hint) for name, hint in there.items()}
        names = [item.name for item in fields(kind) if item.name in record or item.name not in LATER]
        own = {name: HINTS[kind][name] for name in names}
        details = {k: _solver(record) if hint is Solver else _value(record[k], hint) for k, hint in own.items()}
        stages = tuple(Stage(name, float(seconds)) for name, seconds in _under(STAGE, record).items())
        told = Compared(str(record["reason"]))
        return Plan(**values, stages=stages, details=kind(**details), comparison=told)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        got = f"got {type(error).__name__}: {error}"
        raise InputError(message("the record of a plan", got, "Start anew, without it.")) from error


def _value(given: Any, hint: Any) -> Any:
    """A plain value, of the type that a field has."""
    for choice in get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,):
        whole = isinstance(given, numbers.Integral) and not isinstance(given, bool)
        if get_origin(choice) is Literal and given in get_args(choice):
            return given
        if choice is int and whole:
            return int(given)
        if choice is float and (whole or isinstance(given, float)):
            return float(given)
        if choice in (str, bool, NoneType) and isinstance(given, choice):
            return given
    raise TypeError(f"got {given!r} for {hint}")


def _settings(solver: Solver) -> dict[str, Plain]:
    """The fields of a solver: plain values all."""
    return {each.name: getattr(solver, each.name) for each in fields(solver)}  # type: ignore[arg-type]


def _solver(record: Mapping[str, Any]) -> Solver:
    kind = SOLVERS.get(str(record["solver"]))
    if kind is None:
        raise ValueError(f"there is no solver {record['solver']!r}")
    return kind(**{name: _value(value, HINTS[kind][name]) for name, value in _under(SETTING, record).items()})


def _under(prefix: str, record: Mapping[str, Any]) -> dict[str, Any]:
    return {key[len(prefix) :]: value for key, value in record.items() if key.startswith(prefix)}
