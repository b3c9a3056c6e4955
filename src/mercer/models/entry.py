"""An entry of the table of classes: what a file may say of a class, and how that becomes an object.

A class of Mercer states this itself: `_saved` (names and types), or the fields of a dataclass without those in
`_unsaved`; `_nan` (fields whose arrays may hold NaN); `_restored` (how it is made, where its constructor takes other
objects); `_inconsistency` (what is wrong with one, beyond types).

A file names entries, never classes or modules. An entry lists the fields with their types, and makes the object from
fields that were checked; nothing else of a file reaches a class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any, get_type_hints

from mercer.models.refusing import refuse, shown
from mercer.models.types import fits

Fields = dict[str, Any]
Hints = Mapping[str, Any]


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
    nan: frozenset[str] = frozenset()

    def called(self, name: str) -> Entry:
        """The same under another name."""
        return replace(self, name=name)

    def checked(self, sound: Callable[[Any], str]) -> Entry:
        """The same, whose objects are looked at once they are made."""
        return replace(self, sound=sound)

    def counted(self, many: Callable[[Fields], int]) -> Entry:
        """The same, whose texts are counted before they are made."""
        return replace(self, many=many)

    def with_nan(self, *names: str) -> Entry:
        """The same, of which some fields may hold NaN."""
        return replace(self, nan=frozenset(names))

    def check(self, given: Fields) -> None:
        """Refuse fields that are unknown, missing, or of another type."""
        unknown = next((name for name in given if name not in self.hints), None)
        if unknown is not None:
            refuse(f"known fields of {self.name}", f"got {shown(unknown)}")
        missing = sorted(self.needed - given.keys())
        if missing:
            refuse(f"all fields of {self.name}", f"{missing[0]} is missing")
        for name, value in given.items():
            if not fits(value, self.hints[name]):
                refuse(f"{self.name}.{name} of its type", f"got {_told(value)}")


def stated(kind: type, name: str) -> dict[str, Any]:
    """What a class and those that it inherits from state under a name, in all."""
    return {key: value for cls in reversed(kind.__mro__) for key, value in vars(cls).get(name, {}).items()}


def entry_of(kind: type) -> Entry:
    """The entry of a class that says itself what is saved: as `_saved`, or as the fields of a dataclass."""
    if not hasattr(kind, "_saved"):
        return record(kind)
    hints = stated(kind, "_saved")
    restored = getattr(kind, "_restored", None)

    def take(thing: Any) -> Fields:
        return {name: getattr(thing, name) for name in hints}

    def make(given: Fields) -> Any:
        return kind(**given) if restored is None else restored(given)

    return made(kind, hints, take, make).checked(getattr(kind, "_inconsistency", _sound))


def record(kind: Any, types: Hints | None = None) -> Entry:
    """The entry of a frozen dataclass: its fields are those that it declares, but for those in `_unsaved`.

    types : of fields that are declared too widely
    """
    own = [item for item in fields(kind) if item.init and item.name not in getattr(kind, "_unsaved", ())]
    declared = get_type_hints(kind)  # now: annotations are texts, and nothing is evaluated while a file is read
    hints = {item.name: declared[item.name] for item in own} | dict(types or {})
    needed = frozenset(item.name for item in own if item.default is MISSING and item.default_factory is MISSING)

    def take(thing: Any) -> Fields:
        return {item.name: getattr(thing, item.name) for item in own}

    sound, nan = getattr(kind, "_inconsistency", _sound), frozenset(getattr(kind, "_nan", ()))
    return Entry(kind.__name__, kind, hints, needed, take, lambda given: kind(**given), sound, nan=nan)


def made(kind: type, hints: Hints, take: Callable[[Any], Fields], make: Callable[[Fields], Any]) -> Entry:
    """The entry of a class that is taken apart and put together by functions; all fields are needed."""
    return Entry(kind.__name__, kind, hints, frozenset(hints), take, make)


def _told(value: Any) -> str:
    """A value in few words, for a message."""
    shape = getattr(value, "shape", None)
    about = f" of {getattr(value, 'dtype', '')} and shape {shape}" if isinstance(shape, tuple) else ""
    return f"{type(value).__name__}{about}" if about or not isinstance(value, str | int | float) else shown(value)
