"""An entry of the table of classes: what a file may say of a class, and how that becomes an object.

A file names entries, never classes or modules. An entry lists the fields with their types, and makes the object from
fields that were checked; nothing else of a file reaches a class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Literal, get_type_hints

from mercer.files.refusing import refuse, shown
from mercer.files.typed import fits

Fields = dict[str, Any]
Hints = Mapping[str, Any]
DROPPED = frozenset({"checkpoint"})
"""Parameters that are never saved: a path in a file that somebody sends is none to write to."""
BESIDE = frozenset({"_skl_callbacks", "_callback_fit_ctx", "_skl_callbacks_to_teardown", "_before"})
"""Attributes that belong to a program, and not to a model: callbacks, and where to start warm."""
OUTPUT: Hints = {"_sklearn_output_config": dict[Literal["transform"], Literal["default", "pandas", "polars"]]}
"""What `set_output` has asked for; whoever comes next in a pipeline may need the names of columns."""


def _sound(thing: Any) -> str:
    return ""


def _nothing(fields: Fields) -> int:
    return 0


@dataclass(frozen=True)
class Entry:
    """What is known of one class.

    name : in files
    kind : the class
    hints : the type of each field
    needed : the fields that must be there
    take : the fields of an object
    make : the object of fields that are of their types
    sound : says what is wrong with an object, "" where nothing is
    many : how many texts an object will take the memory of, about
    nan : the fields whose arrays may hold NaN
    """

    name: str
    kind: type
    hints: Hints
    needed: frozenset[str]
    take: Callable[[Any], Fields]
    make: Callable[[Fields], Any]
    sound: Callable[[Any], str] = _sound
    many: Callable[[Fields], int] = _nothing
    nan: frozenset[str] = field(default=frozenset())

    def check(self, given: Fields) -> None:
        """Refuse fields that are unknown, missing, or of another type."""
        unknown = next((name for name in given if name not in self.hints), None)
        if unknown is not None:
            refuse(f"known fields of {self.name}", f"{shown(unknown)} came")
        missing = sorted(self.needed - given.keys())
        if missing:
            refuse(f"all fields of {self.name}", f"{missing[0]} is missing")
        for name, value in given.items():
            if not fits(value, self.hints[name]):
                refuse(f"{self.name}.{name} of its type", f"{_told(value)} came")


def record(kind: type, name: str = "", without: tuple[str, ...] = (), types: Hints | None = None, **more: Any) -> Entry:
    """The entry of a frozen dataclass: its fields are those that it declares.

    without : fields that are not saved, and have a default
    types : of fields that are declared too widely
    """
    own = [item for item in fields(kind) if item.init and item.name not in without]
    declared = get_type_hints(kind)  # now: annotations are texts, and nothing is evaluated while a file is read
    hints = {item.name: declared[item.name] for item in own} | dict(types or {})
    needed = frozenset(item.name for item in own if item.default is MISSING and item.default_factory is MISSING)

    def take(thing: Any) -> Fields:
        return {item.name: getattr(thing, item.name) for item in own}

    return Entry(name or kind.__name__, kind, hints, needed, take, lambda given: kind(**given), **more)


def made(kind: type, hints: Hints, take: Callable[[Any], Fields], make: Callable[[Fields], Any], **more: Any) -> Entry:
    """The entry of a class that is taken apart and put together by functions; all fields are needed."""
    name = more.pop("name", kind.__name__)
    return Entry(name, kind, hints, frozenset(hints), take, make, **more)


@dataclass(frozen=True)
class Fitted:
    """How an estimator is taken apart and put together.

    kind : its class
    names : parameters that are saved
    fitted : attributes that a fitted one has, all or none
    learned : these, and those that it may have
    beside : those that it has fitted or not
    fresh : those that are not saved, and what stands for them in a loaded model
    known : all attributes that it may have
    """

    kind: Any
    names: tuple[str, ...]
    fitted: frozenset[str]
    learned: frozenset[str]
    beside: frozenset[str]
    fresh: Mapping[str, Callable[[], Any]]
    known: frozenset[str]

    def take(self, thing: Any) -> Fields:
        """The attributes that are saved; an error where there are others."""
        strange = next((name for name in thing.__dict__ if name not in self.known), None)
        if strange is not None:
            needs, remedy = f"attributes of {self.kind.__name__} that files know", "Remove it: del model.attribute."
            refuse(needs, f"{shown(strange)} came", remedy)
        saved = (*self.names, *sorted(self.learned | self.beside))
        return {name: thing.__dict__[name] for name in saved if name in thing.__dict__}

    def make(self, given: Fields) -> Any:
        """The estimator: its constructor stores parameters, and attributes are those of the table."""
        found = {name: value for name, value in given.items() if name in self.learned}
        missing = sorted(self.fitted - found.keys())
        if found and missing:
            refuse(f"all that a fitted {self.kind.__name__} has", f"{missing[0]} is missing")
        thing = self.kind(**{name: given[name] for name in self.names if name in given})
        thing.__dict__.update(found, **{name: given[name] for name in self.beside if name in given})
        thing.__dict__.update({name: new() for name, new in self.fresh.items()} if found else {})
        return thing


def estimator(
    kind: Any,
    setting: Any,
    fitted: Hints,
    maybe: Hints,
    anew: Mapping[str, Callable[[], Any]] | None = None,
    types: Hints | None = None,
    left: tuple[str, ...] = (),
    **more: Any,
) -> Entry:
    """The entry of an estimator: its parameters, and what fit has found.

    setting : the type of every parameter
    fitted, maybe : the types of attributes that a fitted one has, and may have
    anew : attributes that are not saved, and what stands for them in a loaded model
    types : of parameters that may be less than others
    left : parameters that are not saved
    """
    lost = DROPPED.union(left)
    names = tuple(name for name in kind._get_param_names() if name not in lost)
    beside = OUTPUT if hasattr(kind, "set_output") else {}
    hints = {**dict.fromkeys(names, setting), **(types or {}), **fitted, **maybe, **beside}
    known = lost.union(hints, anew or {}, BESIDE)
    learned = frozenset(fitted) | frozenset(maybe)
    apart = Fitted(kind, names, frozenset(fitted), learned, frozenset(beside), anew or {}, known)
    return Entry(kind.__name__, kind, hints, frozenset(), apart.take, apart.make, **more)


def _told(value: Any) -> str:
    """A value in few words, for a message."""
    shape = getattr(value, "shape", None)
    about = f" of {getattr(value, 'dtype', '')} and shape {shape}" if isinstance(shape, tuple) else ""
    return f"{type(value).__name__}{about}" if about or not isinstance(value, str | int | float) else shown(value)
