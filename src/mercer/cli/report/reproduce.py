"""The Python and the command that give the same model again."""

from __future__ import annotations

import hashlib
import inspect
import shlex
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mercer.cli.report.case import Case
from mercer.cli.report.page import Section, wide_table
from mercer.html import joined, p, pre

if TYPE_CHECKING:
    from mercer.cli.fit import FitOptions
    from mercer.lifts.base import Lift
    from mercer.models.table_model import AnyLearner

ASIDE = ("verbose", "kernel")
"""Settings of a learner that change nothing, or are written apart."""
LINE_CHARACTERS = 100
"""Characters of a line."""
VERSIONS = ("mercer", "numpy", "scipy", "sklearn", "pyarrow")


def reproduce(case: Case) -> Section:
    """Python that runs, the command, and what it ran with."""
    about = "This gives the same split, the same model and the same predictions, on the same table and machine."
    parts = [pre(script(case)), p("Or the command:"), pre(command(case.options)), wide_table(_facts(case))]
    return Section("reproduce", "The Python that reproduces it", about, joined(parts))


# -- as Python --------------------------------------------------------------------------------------------------------


def script(case: Case) -> str:
    """The lines of Python."""
    options, look, learner = case.options, case.done.look, case.done.judged.model.learner
    classes = case.classes
    names = ["read_table", *(["TableOptions"] if _text(options) else [])]
    lines = [
        "import numpy as np",
        "",
        "import mercer",
        "from mercer.cli.metrics import split",
        "from mercer.cli.target import target_of",
        f"from mercer.tables.read import {', '.join(sorted(names))}",
        *(["from mercer.tables.limits import TableLimits"] if _limits(options) else []),
        *(["from mercer.models.table_model import rows_of_table"] if look.columns else []),
        *(["from mercer.tables.delimited import TextOptions"] if _text(options) else []),
        "",
        f"sheet = read_table({_arguments(options)})",
        f"sheet, target = target_of(sheet, {options.target!r}, {case.done.target.task!r})",
        f"train, test = split(target.values, {classes}, {options.test!r}, seed={options.random_state})",
        "",
        f"kernel = mercer.parse({_long(str(look.kernel))})",
        *_rows(look),
        f"model = mercer.{type(learner).__name__}({_settings(learner)})",
        "model.fit(rows(train), target.values[train])",
    ]
    return "\n".join([*lines, *_judging(case)]) + "\n"


def _arguments(options: FitOptions) -> str:
    source = options.table if options.table != "-" else "table.csv"  # standard input cannot be read again
    words = [repr(source)]
    if _limits(options):
        words.append(f"limits={options.limits()!r}")
    if _text(options):
        words.append(f"options={options.table_options()!r}")
    return ", ".join(words)


def _limits(options: FitOptions) -> bool:
    from mercer.tables.limits import TableLimits

    return options.limits() != TableLimits()


def _text(options: FitOptions) -> bool:
    from mercer.tables.read import TableOptions

    return options.table_options() != TableOptions()


def _rows(look: Any) -> list[str]:
    if not look.columns:
        return ["", "def rows(part):", "    return sheet.sparse.rows[part]", ""]
    return [
        *_names("columns", look.columns),
        *_names("filled", look.filled),
        "",
        "def rows(part):",
        "    return rows_of_table(sheet.table.take(part), kernel, columns, filled)",
        "",
    ]


def _long(text: str) -> str:
    """A text in quotes, over several lines where it is long."""
    if len(text) <= LINE_CHARACTERS:
        return repr(text)
    pieces = [text[i : i + LINE_CHARACTERS] for i in range(0, len(text), LINE_CHARACTERS)]
    return "\n".join(["", *(f"    {piece!r}" for piece in pieces), ""])


def _names(variable: str, names: tuple[str, ...]) -> list[str]:
    """A tuple of names, some a line."""
    if len(repr(names)) <= LINE_CHARACTERS:
        return [f"{variable} = {names!r}"]
    lines = [""]
    for name in names:
        if len(lines[-1]) + len(repr(name)) > LINE_CHARACTERS and lines[-1]:
            lines.append("")
        lines[-1] += f"{name!r}, "
    return [f"{variable} = (", *(f"    {line.rstrip()}" for line in lines), ")"]


def _settings(learner: AnyLearner | Lift) -> str:
    """All that differs from what the class takes by itself."""
    known = inspect.signature(type(learner)).parameters
    words = [
        f"{name}={value!r}"
        for name, value in learner.get_params(deep=False).items()
        if name not in ASIDE and value != known[name].default
    ]
    return ", ".join(["kernel", *words])


def _judging(case: Case) -> list[str]:
    if not case.done.held:
        return ["predicted = model.predict(rows(train))"]
    lines = ["predicted = model.predict(rows(test))"]
    if case.classes:
        return [*lines, 'print("accuracy", np.mean(predicted == target.values[test]))']
    return [*lines, 'print("rmse", np.sqrt(np.mean((predicted - target.values[test]) ** 2)))']


# -- as a command -----------------------------------------------------------------------------------------------------


def command(options: FitOptions) -> str:
    """The words of the shell; options that are as they are by themselves are left out."""
    words = ["mercer", "fit", options.table]
    for field in fields(options):
        value = getattr(options, field.name)
        if field.name in ("table", "config", "dump_config") or (
            field.default is not MISSING and value == field.default
        ):
            continue
        words += _words("--" + field.name.replace("_", "-"), value)
    return shlex.join(words)


def _words(flag: str, value: Any) -> list[str]:
    if value is None or value is False:
        return []
    if value is True:
        return [flag]
    return [word for each in (value if isinstance(value, list) else [value]) for word in (flag, str(each))]


# -- what it ran with -------------------------------------------------------------------------------------------------


def _facts(case: Case) -> list[list[object]]:
    from importlib import import_module
    from platform import python_version

    versions = ", ".join(f"{name} {import_module(name).__version__}" for name in VERSIONS)
    facts: list[list[object]] = [
        ["versions", f"Python {python_version()}, {versions}"],
        ["random_state", case.options.random_state],
    ]
    facts.append(["table", f"{case.done.sheet.rows + case.done.target.dropped:,} rows"])
    path = Path(case.options.table)
    if path.is_file():
        with path.open("rb") as stream:
            facts.append(["SHA-256 of the table", hashlib.file_digest(stream, "sha256").hexdigest()])
    return facts
