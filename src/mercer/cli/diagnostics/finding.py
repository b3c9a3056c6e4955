"""A possible problem."""

from __future__ import annotations

from dataclasses import dataclass

SERIOUS, LOOK, NOTE = SEVERITIES = ("serious", "look", "note")
"""Scores are not to be believed; worth a look; good to know."""


@dataclass(frozen=True)
class Finding:
    """What was found, how bad it is, and what to do.

    kind : in a word or two, for programs
    severity : "serious", "look" or "note"
    text : what was found
    remedy : what to do
    """

    kind: str
    severity: str
    text: str
    remedy: str
