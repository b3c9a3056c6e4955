"""Runs as TOML files: --config reads one, --dump-config writes it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import typer

from mercer.cli.exit_codes import Exit, Failure
from mercer.cli.output import STEERING

SURROGATE = re.compile("[\ud800-\udfff]")
"""What stands for a byte that is not UTF-8, in a name of a file, say."""
ASIDE = ("config", "dump_config")
"""Options that are about the file, and not in it."""


def use_config(context: typer.Context, path: Path | None) -> Path | None:
    """Take the values of a section as defaults: what stands on the command line counts more."""
    if path is None:
        return None
    section = _section(path, str(context.info_name))
    known = {parameter.name for parameter in context.command.params} - set(ASIDE)
    strange = [key for key in section if key.replace("-", "_") not in known]
    if strange:
        names = ", ".join(sorted(str(name) for name in known))
        raise typer.BadParameter(f"{path.name} sets {strange[0]!r}; the options are {names}.")
    context.default_map = {key.replace("-", "_"): value for key, value in section.items()}
    return path


def _section(path: Path, verb: str) -> dict[str, Any]:
    try:
        with path.open("rb") as stream:
            read = tomllib.load(stream)
    except OSError as error:
        raise typer.BadParameter(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:  # of TOML, of UTF-8, of integers with thousands of digits, of depth
        raise typer.BadParameter(f"{path.name} is no TOML: {error}.") from error
    section = read.get(verb)
    if not isinstance(section, dict):
        raise typer.BadParameter(f"{path.name} needs a section [{verb}]; it has {', '.join(read) or 'none'}.")
    return section


def dumped(verb: str, record: Any) -> str:
    """All options of a run in TOML; what is not set is left out."""
    values = {field.name: getattr(record, field.name) for field in fields(record) if field.name not in ASIDE}
    return f"[{verb}]\n{written(values)}\n"


def written(values: Mapping[str, Any]) -> str:
    """Lines of TOML for plain values.

    >>> print(written({"target": "price", "drop": ["a"], "out": None}))
    target = "price"
    drop = ["a"]
    >>> print(written({"C": float("inf")}))
    C = inf
    """
    return "\n".join(f"{key} = {_value(value)}" for key, value in values.items() if value is not None)


def _value(value: Any) -> str:
    if isinstance(value, bool | int | float):
        return json.dumps(value).replace("Infinity", "inf")  # as TOML writes it, and JSON does not
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if SURROGATE.search(str(value)):
        raise Failure(Exit.USAGE, f"TOML is in UTF-8, and {value!a} is not: it cannot be written.")
    # A text of TOML escapes as JSON does; what steers a terminal is escaped as well.
    return STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(str(value), ensure_ascii=False))
