"""Exit codes, and which error ends with which."""

from __future__ import annotations

from enum import IntEnum

from mercer.errors import BudgetError, InputError, KernelError, MercerError


class Exit(IntEnum):
    """What the shell sees.

    A reader of the output that has enough (`| head`) is no failure: the code is 0.
    """

    DONE = 0
    FAILURE = 1
    USAGE = 2
    DATA = 3
    MODEL = 4
    MEMORY = 5
    UNCONVERGED = 6
    INTERRUPTED = 130
    TERMINATED = 143


class Failure(Exception):  # noqa: N818  # it is no bug, but an answer
    """An end with a code of its own."""

    def __init__(self, code: Exit, message: str) -> None:
        super().__init__(message)
        self.code = code


EXPECTED = (Failure, MercerError, MemoryError, OSError, ImportError, KeyboardInterrupt)
"""What ends a verb with a message instead of a traceback; anything else is a defect, and shows where."""
CODES: tuple[tuple[type[BaseException], Exit], ...] = (
    (KeyboardInterrupt, Exit.INTERRUPTED),
    (BudgetError, Exit.MEMORY),
    (MemoryError, Exit.MEMORY),
    (KernelError, Exit.USAGE),
    (InputError, Exit.DATA),
)


def code_of(error: BaseException) -> Exit:
    """The exit code of an error.

    >>> int(code_of(InputError("no numbers"))), int(code_of(OSError("disk full")))
    (3, 1)
    """
    if isinstance(error, Failure):
        return error.code
    return next((code for kind, code in CODES if isinstance(error, kind)), Exit.FAILURE)


def message_of(error: BaseException) -> str:
    """What is said of an error."""
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, MemoryError) and not str(error):
        return "the memory is full. Give --memory-limit, so that a plan keeps to it."
    return str(error)
