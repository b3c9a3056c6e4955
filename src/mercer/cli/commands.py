"""From a record of options and a function to a command: help, files of options, errors and exit codes."""

from __future__ import annotations

import inspect
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, TypeVar, get_type_hints

import typer

from mercer.cli.config import dumped
from mercer.cli.exit_codes import EXPECTED, Exit, code_of, message_of
from mercer.cli.options import Common
from mercer.cli.output import Voice
from mercer.cli.outputs import check_files

Options = TypeVar("Options", bound=Common)


def add_verb(app: typer.Typer, record: type[Options], run: Callable[[Options, Voice], None], example: str) -> None:
    """Give the app a verb, named and explained as `run` is, with the fields of a record as its options."""
    verb = run.__name__

    def body(**given: Any) -> None:
        options = record(**given)
        with _speaking(Voice(verb, options.json, options.quiet, options.verbose)) as voice:
            if options.dump_config:
                voice.raw(dumped(verb, options))
            else:
                check_files(options)
                run(options, voice)

    hints = get_type_hints(record, include_extras=True)
    body.__signature__ = _signature(record, hints)  # type: ignore[attr-defined]
    body.__annotations__ = hints
    app.command(verb, help=_unwrapped(run.__doc__ or ""), epilog=f"Example: {example}")(body)


def _unwrapped(text: str) -> str:
    r"""Paragraphs of one line each, for a terminal of any width.

    >>> _unwrapped("One.\n\n    Two\n    three.")
    'One.\n\nTwo three.'
    """
    return "\n\n".join(" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n"))


def _signature(record: type[Common], hints: dict[str, Any]) -> inspect.Signature:
    """A parameter a field; those that a verb adds come first, those of every verb last."""
    known = [field.name for kind in reversed(record.__mro__) if is_dataclass(kind) for field in fields(kind)]
    ordered = sorted(fields(record), key=lambda field: (known.count(field.name), field.default is not MISSING))
    return inspect.Signature(
        [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if field.default is MISSING else field.default,
                annotation=hints[field.name],
            )
            for field in ordered
        ]
    )


@contextmanager
def _speaking(voice: Voice) -> Iterator[Voice]:
    """Errors and warnings become messages and exit codes."""
    try:
        with warnings.catch_warnings(), _heard(voice):
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = lambda message, *_, **__: voice.warn(str(message))
            yield voice
        sys.stdout.flush()
    except BrokenPipeError:
        _let_go()
        raise typer.Exit(int(Exit.DONE)) from None
    except EXPECTED as error:
        code = code_of(error)
        voice.fail(int(code), message_of(error))
        raise typer.Exit(int(code)) from error


@contextmanager
def _heard(voice: Voice) -> Iterator[None]:
    """The library's remarks (that it compiles, say) are the voice's, once each."""
    log, remarks = logging.getLogger("mercer"), _Remarks(voice)
    log.addHandler(remarks)
    try:
        yield
    finally:
        log.removeHandler(remarks)


class _Remarks(logging.Handler):
    """Says what was not said before."""

    def __init__(self, voice: Voice) -> None:
        super().__init__()
        self.voice = voice
        self.said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if text not in self.said:
            self.said.add(text)
            self.voice.say(text)


def _let_go() -> None:
    """Nobody reads standard output any more: what is left goes nowhere, and Python does not complain at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
