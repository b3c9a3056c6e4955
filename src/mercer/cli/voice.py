"""Who speaks: data on standard output, as text or JSON; everything else on standard error."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

VERSION = 1
"""Of the schemas of --json: it grows when a field changes its meaning or goes; new fields may come without."""


@dataclass(frozen=True)
class Voice:
    """What a verb says.

    verb : its name, which is in the schema: "mercer.fit/1"
    as_json : whether data is one JSON object
    quiet : whether standard error is for warnings and errors only
    warnings : what was warned of
    written : objects on standard output, of which there is one at most
    """

    verb: str
    as_json: bool = False
    quiet: bool = False
    warnings: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        """Tell the user, who may look away."""
        if not self.quiet:
            _print(text, error=True)

    def warn(self, text: str) -> None:
        """Tell what may be wrong; a verb that is quiet tells that, too."""
        if text not in self.warnings:
            self.warnings.append(text)
            _print(f"warning: {text}", error=True, style="yellow")

    def fail(self, code: int, message: str) -> None:
        """Tell why it ends; programs that have their object already see it by the exit code."""
        _print(f"mercer {self.verb}: {message}", error=True, style="red")
        if self.as_json and not self.written:
            self._object({"error": {"code": code, "message": message}})

    def data(self, record: Mapping[str, Any], text: str) -> None:
        """The result: a record for programs, or a text for people."""
        if self.as_json:
            self._object({**record, "warnings": self.warnings})
        else:
            _print(text)

    def raw(self, text: str) -> None:
        """Lines for other programs."""
        sys.stdout.write(text)

    def _object(self, record: Mapping[str, Any]) -> None:
        whole = {"schema": f"mercer.{self.verb}/{VERSION}", **record}
        self.written.append(json.dumps(plain(whole), ensure_ascii=False, allow_nan=False))
        sys.stdout.write(self.written[-1] + "\n")


def plain(value: Any) -> Any:
    """Values as JSON has them: numbers that are not finite become null.

    >>> plain({"a": (1, float("nan"))})
    {'a': [1, None]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if hasattr(value, "tolist"):  # of NumPy
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _print(text: str, error: bool = False, style: str = "") -> None:
    """With colour where that is a terminal and NO_COLOR is not set; never wrapped."""
    from rich.console import Console

    console = Console(stderr=error, highlight=False, soft_wrap=True, emoji=False)
    console.print(text, style=style or None, markup=False)
