"""From a record to a model: objects are made one after the other, each from its entry of the table and checked fields.

A record may hold nothing that is not looked for: every kind of value, every entry and every field is known, each object
holds only objects before it, and every object and tensor is used. Nothing here calls itself deeper than JSON nests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import MercerError, ModelFileError
from mercer.kernels import Kernel
from mercer.models import kernel_strings
from mercer.models.encode import MAX_USES, OBJECT
from mercer.models.entry import Entry
from mercer.models.kernel_strings import Classes
from mercer.models.refusing import refuse, shown
from mercer.models.safetensors import DTYPES

MAX_DEPTH = 32
"""How deep objects may hold objects."""
MAX_HELD_OBJECTS = 1 << 16
"""Objects that one holds, and these hold, and so on, each counted as often as it is held: so long takes a walk."""
MAX_TEXTS = 1 << 19
"""Texts, labels and tokens of a file, in all: Python takes some 80 bytes for each, however short."""
UNBUILDABLE = (MercerError, ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError)
"""What our own classes may raise where fields are of the right types and still make no sense."""


class Decoder:
    """Makes the objects of one record.

    entries : by their names in files
    tensors : by their names
    classes : kernel classes that the loading program has given
    """

    def __init__(self, entries: Mapping[str, Entry], tensors: Mapping[str, NDArray[Any]], classes: Classes) -> None:
        self._entries, self._tensors, self._classes = entries, tensors, classes
        self._objects: list[Any] = []
        self._levels: list[int] = []
        self._weights: list[int] = []
        self._used: set[int] = set()
        self._uses = dict.fromkeys(tensors, 0)
        self._things = self._level = self._weight = 0
        self._nan, self._where = False, ""
        self._kernels: dict[str, Kernel] = {}
        self._room = kernel_strings.MAX_KERNELS
        self._readers = self._forms()

    def _forms(self) -> dict[frozenset[str], Callable[[dict[str, Any]], Any]]:
        """The reader of a value of JSON that has these keys."""
        return {
            frozenset({"float"}): self._float,
            frozenset({"number", "value"}): self._number,
            frozenset({"dtype"}): lambda value: (
                np.dtype(object) if value["dtype"] == OBJECT else _dtype(value["dtype"])
            ),
            frozenset({"scalar"}): lambda value: _dtype(value["scalar"]).type,
            frozenset({"slice"}): self._slice,
            frozenset({"array"}): self._array,
            frozenset({"array", "order"}): self._array,
            frozenset({"kernel"}): self._kernel,
            frozenset({"kernel", "classes"}): self._kernel,
            frozenset({"kernel", "words"}): self._kernel,
            frozenset({"kernel", "classes", "words"}): self._kernel,
            frozenset({"object"}): self._object,
            frozenset({"tuple"}): lambda value: tuple(self._list(value["tuple"])),
            frozenset({"list"}): lambda value: self._list(value["list"]),
            frozenset({"dict"}): self._dict,
        }

    def model(self, objects: list[Any]) -> Any:
        """The last of the objects, after all others were made."""
        for given in objects:
            self._add(given)
        left = set(range(len(objects) - 1)) - self._used
        unused = next((name for name, uses in self._uses.items() if not uses), None)
        if left or unused is not None:
            got = f"object {min(left)} is not" if left else f"tensor {shown(unused)} is not"
            refuse("objects and tensors that are used", got)
        return self._objects[-1]

    def _add(self, given: Any) -> None:
        if not isinstance(given, dict) or set(given) != {"entry", "fields"} or not isinstance(given["fields"], dict):
            refuse("an entry and fields of every object", f"got {shown(given)}")
        name = given["entry"]
        if not isinstance(name, str) or name not in self._entries:
            refuse(
                "classes of Mercer's table", f"got {shown(name)}", "Install a newer Mercer, if the file is from one."
            )
        self._objects.append(self._made(self._entries[name], given["fields"]))
        self._levels.append(self._level)
        self._weights.append(self._weight)

    def _made(self, entry: Entry, given: dict[str, Any]) -> Any:
        self._level = self._weight = 1
        fields = {}
        for name, value in given.items():
            self._nan, self._where = name in entry.nan, f"{entry.name}.{name}"
            fields[name] = self.value(value)
        self._limit(entry, fields)
        return _built(entry, fields)

    def _limit(self, entry: Entry, fields: dict[str, Any]) -> None:
        """Refuse what is of another type, too deep, or too much, before it is made."""
        if self._level > MAX_DEPTH:
            refuse(f"at most {MAX_DEPTH} objects inside of each other", f"{entry.name} stands deeper")
        if self._weight > MAX_HELD_OBJECTS:
            refuse(f"at most {MAX_HELD_OBJECTS:,} objects in one", f"{entry.name} holds {self._weight:,}")
        entry.check(fields)
        self._count(entry.many(fields))

    def _count(self, texts: int) -> None:
        self._things += texts
        if self._things > MAX_TEXTS:
            refuse(f"at most {MAX_TEXTS:,} texts", f"there are {self._things:,}")

    # -- values ---------------------------------------------------------------------------------------------------

    def value(self, value: Any) -> Any:
        """The object that a value of JSON stands for."""
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, str):
            return _text(value)
        reader = self._readers.get(frozenset(value)) if isinstance(value, dict) else None
        if reader is None:
            refuse("values of a known kind", f"got {shown(value)}")
        return reader(value)

    def _list(self, values: Any) -> list[Any]:
        if not isinstance(values, list):
            refuse("a list", f"got {shown(values)}")
        return [self.value(value) for value in values]

    def _dict(self, value: dict[str, Any]) -> dict[Any, Any]:
        pairs = value["dict"]
        if not isinstance(pairs, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            refuse("pairs of keys and values", f"got {shown(pairs)}")
        keys = [self.value(key) for key, _ in pairs]
        if not all(key is None or isinstance(key, str | int | float | np.generic) for key in keys):
            refuse("texts and numbers as keys", f"got {shown([key for key, _ in pairs])}")
        found = dict(zip(keys, (self.value(one) for _, one in pairs), strict=True))
        if len(found) < len(pairs):
            refuse("every key once", "one stands twice")
        return found

    def _float(self, value: dict[str, Any]) -> float:
        if value["float"] not in ("nan", "inf", "-inf"):
            refuse("nan, inf or -inf", f"got {shown(value)}")
        return float(value["float"])

    def _number(self, value: dict[str, Any]) -> Any:
        dtype, number = _dtype(value["number"]), self.value(value["value"])
        if type(number) is not {"b": bool, "i": int, "u": int, "f": float}[dtype.kind] or not _holds(dtype, number):
            refuse(f"a number that {dtype} holds", f"got {shown(value['value'])}")
        return dtype.type(number)

    def _slice(self, value: dict[str, Any]) -> slice:
        ends = value["slice"]
        if not isinstance(ends, list) or len(ends) != 3 or not all(end is None or type(end) is int for end in ends):
            refuse("a slice of integers", f"got {shown(ends)}")
        return slice(*ends)

    def _array(self, value: dict[str, Any]) -> NDArray[Any]:
        name = str(value["array"]) if type(value["array"]) is int else ""
        if name not in self._tensors or value.get("order", "F") != "F":
            refuse("arrays that are among its tensors", f"got {shown(value)}")
        self._uses[name] += 1
        array = self._tensors[name]
        if self._uses[name] > MAX_USES:
            refuse(f"a tensor at most {MAX_USES} times", f"{shown(name)} is named more often")
        if not self._nan and array.dtype.kind == "f" and array.size and np.isnan(array.min()):
            refuse(
                "arrays without NaN", f"{shown(self._where)} holds NaN", "Fit again, on data that can be learnt from."
            )
        return array.T if "order" in value else array

    def _kernel(self, value: dict[str, Any]) -> Kernel:
        key = repr(value)
        if key not in self._kernels:
            words = self._list(value.get("words", []))
            self._count(sum(each.counts.size for each in words if isinstance(each, kernel_strings.Words)))
            self._kernels[key], size = kernel_strings.read(value, self._classes, self._room, words)
            self._room -= size
        return self._kernels[key]

    def _object(self, value: dict[str, Any]) -> Any:
        place = value["object"]
        if type(place) is not int or not 0 <= place < len(self._objects):
            refuse("objects that stand before the one that holds them", f"object {shown(place)} is named")
        self._used.add(place)
        self._level = max(self._level, 1 + self._levels[place])
        self._weight += self._weights[place]
        return self._objects[place]


def _built(entry: Entry, fields: dict[str, Any]) -> Any:
    """The object of fields that are of their types, where it makes sense."""
    try:
        thing = entry.make(fields)
        wrong = entry.sound(thing)
    except ModelFileError:
        raise
    except UNBUILDABLE as error:
        refuse(f"fields that make a {entry.name}", f"they do not: {shown(str(error))}")
    if wrong:
        refuse(f"a {entry.name} that makes sense", wrong)
    return thing


def _dtype(code: Any) -> np.dtype[Any]:
    if not isinstance(code, str) or code not in DTYPES:
        refuse("a known dtype", f"got {shown(code)}")
    return DTYPES[code].newbyteorder("=")


def _holds(dtype: np.dtype[Any], number: Any) -> bool:
    """Whether a dtype holds a number. The limits are Python's: NumPy's warn where a larger number is compared."""
    if dtype.kind in "iu":
        about = np.iinfo(dtype)
        return bool(int(about.min) <= number <= int(about.max))
    return dtype.kind == "b" or not math.isfinite(number) or bool(abs(number) <= float(np.finfo(dtype).max))


def _text(value: str) -> str:
    if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
        refuse("whole letters in texts", f"got {shown(value)}")
    return value
