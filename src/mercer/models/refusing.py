"""How model files are refused: in one type of error, in the house form."""

from __future__ import annotations

from typing import NoReturn

from mercer.errors import ModelFileError, message

SUBJECT = "A model file"
ASK = "Ask for the file again, or save the model anew."
"""What to do where a file is damaged."""
FOREIGN = "Give a file that mercer.save wrote."
"""What to do where a file is something else."""


def refuse(needs: str, got: str, remedy: str = ASK) -> NoReturn:
    """Refuse a file, or a model: what is needed, what was found, what to do."""
    raise ModelFileError(message(needs, got, remedy, subject=SUBJECT))


def shown(thing: object) -> str:
    """A name or a value from a file, cut short and without odd letters, for a message."""
    text = ascii(thing)
    return text if len(text) <= 60 else f"{text[:57]}..."
