"""Output of the command: data on standard output, as text or JSON; everything else on standard error.

Names and cells of untrusted tables are printed: characters that steer a terminal, or turn the direction of
text, leave here escaped.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from mercer.cli.exit_codes import Exit, Failure

VERSION = 1
"""Of the schemas of --json: it grows when a field changes its meaning or goes; new fields may come without."""
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but for tab and newline, marks of direction and of lines, halves of characters."""


@dataclass(frozen=True)
class Voice:
    """What a verb says.

    verb : its name, which is in the schema: "mercer.fit/1"
    as_json : whether data is one JSON object
    quiet : whether standard error is for warnings and errors only
    verbose : whether it also gets all that was looked at and decided
    warnings : what was warned of
    written : objects on standard output, of which there is one at most
    """

    verb: str
    as_json: bool = False
    quiet: bool = False
    verbose: bool = False
    warnings: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        """Print a line on standard error."""
        if not self.quiet:
            _print(text, error=True)

    def tell(self, short: str, long: str) -> None:
        """Print the one or, with --verbose, the other; "" prints nothing."""
        if text := long if self.verbose else short:
            self.say(text)

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
        """Lines for other programs; a terminal gets them escaped."""
        with _letters():
            sys.stdout.write(shown(text) if sys.stdout.isatty() else text)

    def _object(self, record: Mapping[str, Any]) -> None:
        whole = {"schema": f"mercer.{self.verb}/{VERSION}", **record}
        text = json.dumps(plain(whole), ensure_ascii=False, allow_nan=False)
        self.written.append(STEERING.sub(_as_json, text))  # the same strings, written otherwise
        with _letters():
            sys.stdout.write(self.written[-1] + "\n")


def shown(text: str) -> str:
    r"""A text as a terminal may get it.

    >>> print(shown("a\x1b[2Jb\u202e\tc"))
    a\x1b[2Jb\u202e	c
    """
    return STEERING.sub(lambda found: ascii(found[0])[1:-1], text)


def _as_json(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1]


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


@contextmanager
def _letters() -> Iterator[None]:
    """Letters that standard output has none for are told, and not left out."""
    try:
        yield
    except UnicodeEncodeError as error:
        got = f"{error.encoding} has no {error.object[error.start]!a}"
        raise Failure(Exit.FAILURE, f"standard output: {got}. Set PYTHONIOENCODING=utf-8, or give --out.") from error


def _print(text: str, error: bool = False, style: str = "") -> None:
    """With colour where that is a terminal and NO_COLOR is not set; never wrapped."""
    from rich.console import Console

    console = Console(stderr=error, highlight=False, soft_wrap=True, emoji=False)
    with _letters():
        console.print(shown(text), style=style or None, markup=False)
