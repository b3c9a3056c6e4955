"""Where the command begins: what is missing, what signals do, and how it ends."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

from mercer.cli.exit_codes import Exit
from mercer.errors import message

EXTRA = ("typer", "rich")
"""Libraries of the extra "cli" without which there is no command."""


def main() -> NoReturn:
    """Run the command of this process, and end with its exit code."""
    _check_streams()
    signal.signal(signal.SIGTERM, _terminated)
    try:
        _run()
    except KeyboardInterrupt:  # before a verb begins
        sys.exit(Exit.INTERRUPTED)
    sys.exit(Exit.DONE)


def _run() -> None:
    try:
        from mercer.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in EXTRA:
            raise
        remedy = 'Run: pip install "mercer[cli]"'
        sys.exit(message(str(error.name), "it is not installed", remedy, subject="The command mercer"))
    app()


def _check_streams() -> None:
    """Without standard output there is nobody to answer; a file opened later must not take the place of a stream."""
    while (nowhere := os.open(os.devnull, os.O_RDWR)) <= 2:  # those of the three standard streams
        pass
    os.close(nowhere)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # until the process ends
    if sys.stdout is None:
        sys.exit("mercer: standard output is closed. Send it to a file, or to /dev/null.")  # with code 1


def _terminated(number: int, frame: FrameType | None) -> NoReturn:
    """End as on a signal, but with temporary files removed on the way."""
    sys.exit(Exit.TERMINATED)
