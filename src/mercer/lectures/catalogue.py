"""What there is: exercises by number, worked examples by name, slips by lecture."""

from __future__ import annotations

import re
from difflib import get_close_matches

from mercer.errors import InputError, message, speaks
from mercer.lectures import feature_transform, kernel_methods, liftings, nonlinear_classifier
from mercer.lectures.example_record import Example
from mercer.lectures.exercise_record import Exercise
from mercer.lectures.slip_record import Slip

LECTURES = ("Liftings", "Nonlinear classifier", "Kernel methods", "Feature transform")
_PARTS = (liftings, nonlinear_classifier, kernel_methods, feature_transform)
EXERCISES: dict[int, Exercise] = {each.number: each for each in nonlinear_classifier.EXERCISES}
EXAMPLES: dict[str, Example] = {each.name: each for part in _PARTS for each in part.EXAMPLES}
SLIPS: tuple[Slip, ...] = tuple(each for part in _PARTS for each in part.SLIPS)


@speaks
def exercise(number: int | str) -> Exercise:
    """An exercise of the lecture "Nonlinear classifier".

    Parameters
    ----------
    number : int or str
        17 to 21; a text such as "17" or "ex17" is read as well.

    Returns
    -------
    Exercise

    Examples
    --------
    >>> from mercer import lectures
    >>> exercise = lectures.exercise(18)
    >>> exercise.choices["D"], exercise.answer
    ('C(d + p, p)', 'E')
    """
    found = re.fullmatch(r"\s*(?:ex|exercise)?[ ._-]*([0-9]+)\s*", str(number), re.IGNORECASE)
    if found is None or int(found[1]) not in EXERCISES:
        known = ", ".join(map(str, EXERCISES))
        raise InputError(message("the number of an exercise", f"got {number!r}", f"There are {known}."))
    return EXERCISES[int(found[1])]


def exercises() -> dict[int, str]:
    """The numbers of the exercises, with what they are about.

    Returns
    -------
    dict of int to str

    Examples
    --------
    >>> from mercer import lectures
    >>> lectures.exercises()[17]
    'which features separate an ellipse'
    """
    return {number: each.title for number, each in EXERCISES.items()}


@speaks
def example(name: str) -> Example:
    """A worked example of a lecture.

    Parameters
    ----------
    name : str
        One of `examples()`.

    Returns
    -------
    Example

    Examples
    --------
    >>> from mercer import lectures
    >>> example = lectures.example("fourier")
    >>> example.title, all(example.verdicts.values())
    ('a Fourier series', True)
    """
    plain = str(name).strip().lower().replace(" ", "_").replace("-", "_")
    if plain not in EXAMPLES:
        near = get_close_matches(plain, EXAMPLES, 1)
        remedy = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(EXAMPLES)}."
        raise InputError(message("the name of a worked example", f"got {name!r}", remedy))
    return EXAMPLES[plain]


def examples() -> dict[str, str]:
    """The names of the worked examples, with what they are about, in the order of the lectures.

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> from mercer import lectures
    >>> list(lectures.examples())[:3]
    ['parabolic', 'conics', 'random_fourier']
    """
    return {name: each.title for name, each in EXAMPLES.items()}


@speaks
def slips(lecture: str | None = None) -> tuple[Slip, ...]:
    """Where the lectures slip: as written, as it should be, and what shows it, computed where it can be.

    Parameters
    ----------
    lecture : str or None, default=None
        "Liftings", "Nonlinear classifier", "Kernel methods" or "Feature transform"; None for all of them.

    Returns
    -------
    tuple of Slip

    Examples
    --------
    >>> from mercer import lectures
    >>> print(lectures.slips("Kernel methods")[0].verdicts[0])
    no: d = 4: 16 features, so that the sum has 16 terms and not 256.
    """
    if lecture is not None and lecture not in LECTURES:
        raise InputError(message("the name of a lecture", f"got {lecture!r}", f"There are {', '.join(LECTURES)}."))
    return tuple(slip for slip in SLIPS if lecture is None or slip.lecture.startswith((lecture, "all")))
