"""Every exception and warning of Mercer, and how they are worded.

A message says who speaks, what is needed, what was given, and what to do::

    Min needs non-negative coordinates; column 3 holds -0.7. Shift the data, or use Gaussian().

Who speaks is the public method or function that was called: it says so once (`speaks`, `speaking`), and whatever it
calls words its messages with `message`. A public call inside of another speaks for itself: a lift or a solver inside of
a learner complains in its own name, since its own parameters are wrong. What is neither, a file or a kernel inside of
another, is named by the `subject` of the message.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from inspect import Parameter, isgeneratorfunction, signature
from types import FunctionType
from typing import Any, TypeVar, cast

__all__ = [
    "BudgetError",
    "DomainError",
    "InputError",
    "KernelError",
    "MercerError",
    "MercerWarning",
    "ModelFileError",
    "NumericalWarning",
    "ParseError",
]

_Public = TypeVar("_Public", bound=Callable[..., Any])
_Class = TypeVar("_Class")
_NAMED = (type, FunctionType)
"""What has a name of its own; otherwise its class is named."""
_END = object()


class MercerError(Exception):
    """The root of all errors that Mercer raises on purpose."""


class KernelError(MercerError, ValueError):
    """A kernel that cannot be built: a rule that keeps kernels kernels would be broken."""


LONGEST = 2000
"""Letters of the message about a text."""


class ParseError(KernelError):
    """A text that is not a kernel; `position` is the index of the offending character."""

    def __init__(self, message: str, text: str, position: int, length: int = 1) -> None:
        self.text = text
        self.position = position
        if len(message) > LONGEST:  # it names the text, which may be a million letters
            message = f"{message[:LONGEST]}..."
        shown, start = _window(text, position)
        pointer = " " * (position - start) + "^" * max(1, min(length, len(shown) - (position - start)))
        super().__init__(f"{message}\n  {shown}\n  {pointer}")


class InputError(MercerError, ValueError):
    """Data that cannot be used: its type, its shape, or a value in it."""


class DomainError(InputError):
    """Data outside the set on which the kernel is a kernel."""


class BudgetError(MercerError, MemoryError):
    """A computation that would need more memory than it may have; nothing was computed."""


class ModelFileError(MercerError, ValueError):
    """A model file that is damaged, unsafe or of another kind, or a model that no file can hold."""


class MercerWarning(UserWarning):
    """The root of all warnings of Mercer."""


class NumericalWarning(MercerWarning):
    """A result that may be inaccurate; the message says how, and what to do."""


_SPEAKER: ContextVar[str] = ContextVar("speaker", default="Mercer")


def message(needs: str, got: str, remedy: str, subject: object = None) -> str:
    """The house form of a message: who needs what, what was given, and what to do.

    Parameters
    ----------
    needs, got, remedy : str
        What is needed, what was given (a clause, in small letters), and what to do (a sentence).
    subject : object, default None
        What needs it where that is not the public method that runs: a file, a kernel inside of another, an operator.

    >>> with speaking("KernelRidge"):
    ...     message("a number of at least 0 for alpha", "got -1", "Use 0.1, say.")
    'KernelRidge needs a number of at least 0 for alpha; got -1. Use 0.1, say.'
    >>> message("text in utf-8", "got other bytes", "Give encoding.", subject="rows.csv")
    'rows.csv needs text in utf-8; got other bytes. Give encoding.'
    """
    return f"{speaker() if subject is None else subject} needs {needs}; {got}. {remedy}"


def number_of(count: int, unit: str, verbs: tuple[str, str] | None = None) -> str:
    """A number and its unit, singular or plural, and a verb that follows it.

    >>> number_of(1, "step"), number_of(1200, "pass", ("is", "are"))
    ('1 step', '1,200 passes are')
    """
    one = count == 1
    plural = "" if one else "es" if unit.endswith("s") else "s"
    return f"{count:,} {unit}{plural}{'' if verbs is None else f' {verbs[not one]}'}"


def speaker() -> str:
    """The name of the public class or function that is running: the innermost that said so.

    >>> with speaking("KernelRidge"):
    ...     speaker()
    'KernelRidge'
    """
    return _SPEAKER.get()


@contextmanager
def speaking(name: str) -> Iterator[None]:
    """Messages inside begin with this name. Not around a `yield`: its consumer would speak in this name.

    >>> with speaking("KernelRidge (centers)"):
    ...     message("finite numbers", "got NaN", "Drop such rows.")
    'KernelRidge (centers) needs finite numbers; got NaN. Drop such rows.'
    """
    token = _SPEAKER.set(name)
    try:
        yield
    finally:
        _SPEAKER.reset(token)


def speaks(public: _Public) -> _Public:
    """A public method, whose messages begin with the name of its class, or a public function, with its own name.

    It is for what users call, generators included, not for what these call. A new thread has no name; those of
    `mercer.compute` get that of their caller.

    >>> class Machine:
    ...     @speaks
    ...     def fit(self):
    ...         return message("two rows", "got one", "Give more.")
    >>> Machine().fit()
    'Machine needs two rows; got one. Give more.'
    """
    of_class = "." in public.__qualname__.rpartition("<locals>.")[2]

    @wraps(public)
    def named(*args: Any, **kwargs: Any) -> Any:
        owner = args[0] if of_class else public
        token = _SPEAKER.set(owner.__name__ if isinstance(owner, _NAMED) else type(owner).__name__)
        try:
            return public(*args, **kwargs)
        finally:
            _SPEAKER.reset(token)

    @wraps(public)
    def step_by_step(*args: Any, **kwargs: Any) -> Iterator[Any]:
        owner = args[0] if of_class else public
        name = owner.__name__ if isinstance(owner, _NAMED) else type(owner).__name__
        steps = public(*args, **kwargs)
        while True:
            with speaking(name):
                step = next(steps, _END)
            if step is _END:
                return
            yield step

    return cast(_Public, step_by_step if isgeneratorfunction(public) else named)


def explains_parameters(init: Callable[..., None], *, beside_kernel: bool = False) -> Callable[..., None]:
    """A constructor whose TypeError about parameters that it does not have says which are meant; else it is the same.

    beside_kernel : whether the kernel is one of the parameters, as in learners and lifts

    >>> class Gaussian:
    ...     @explains_parameters
    ...     def __init__(self, lengthscale=1.0): ...
    >>> Gaussian(gamma=0.5)
    Traceback (most recent call last):
    TypeError: Gaussian has no parameter 'gamma': gamma = 1 / (2 lengthscale^2), so gamma=0.5 is lengthscale=1.0.
    """

    @wraps(init)
    def explained(self: Any, *args: Any, **named: Any) -> None:
        try:
            init(self, *args, **named)
        except TypeError:
            if complaint := _of_parameters(type(self).__name__, init, args, named, beside_kernel):
                raise TypeError(complaint) from None
            raise

    return explained


def explained(cls: type[_Class]) -> type[_Class]:
    """The same class, whose constructor `explains_parameters`: above `dataclass`, which writes the constructor.

    >>> from dataclasses import dataclass
    >>> @explained
    ... @dataclass
    ... class GradientDescent:
    ...     step: float = 1.0
    >>> GradientDescent(learning_rate=0.5)
    Traceback (most recent call last):
    TypeError: GradientDescent has no parameter 'learning_rate': write step=0.5.
    """
    cls.__init__ = explains_parameters(cls.__init__)  # type: ignore[method-assign]
    return cls


def _of_parameters(
    owner: str, init: Callable[..., None], args: tuple[Any, ...], named: dict[str, Any], beside_kernel: bool
) -> str:
    """What is wrong with the names or the number of parameters; "" where nothing is."""
    from mercer.guesses.parameters import told, too_many, twice  # what is meant is looked for when somebody guesses

    known = [*signature(init).parameters.values()][1:]
    if any(each.kind is Parameter.VAR_KEYWORD for each in known):
        return ""
    names = [each.name for each in known]
    if not named.keys() <= set(names):
        given = dict(zip(names, args, strict=False)) | named
        return told(owner, names, given, beside_kernel=beside_kernel)
    placed = [each.name for each in known if each.kind is Parameter.POSITIONAL_OR_KEYWORD]
    if again := [(name, value) for name, value in zip(placed, args, strict=False) if name in named]:
        return twice(owner, *again[0])
    return too_many(owner, placed, len(args), names) if len(args) > len(placed) else ""


def caller_level() -> int:
    """The `stacklevel` with which `warnings.warn`, called beside this, points at the line that called Mercer.

    >>> caller_level()  # in a module of Mercer that was called from outside: one level up
    2
    """
    frame, level, found = sys._getframe(1), 1, 1
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] == "mercer":
            found = level + 1
        frame, level = frame.f_back, level + 1  # type: ignore[assignment]  # the last one has none
    return found


def _window(text: str, position: int, width: int = 100) -> tuple[str, int]:
    """The line around a position, cut to `width` characters, and the index of its first character."""
    start = max(text.rfind("\n", 0, position) + 1, position - width // 2)
    end = text.find("\n", position)
    return text[start : min(len(text) if end < 0 else end, start + width)], start
