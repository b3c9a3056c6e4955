"""From a model to a record: plain values of JSON, and tensors beside them.

The record lists objects, those first that others hold; an object is the name of an entry and its fields. What is held
twice is written once.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.backends.tensors import is_held, on_host
from mercer.kernels import Kernel
from mercer.models import kernel_strings
from mercer.models.entry import Entry
from mercer.models.refusing import refuse, shown
from mercer.models.safetensors import CODES
from mercer.models.texts import TextArray, encoded

Plain = Any
"""A value of JSON."""
OBJECT = "OBJECT"
"""The dtype of objects: there are no tensors of it, but scikit-learn notes that it saw some."""
MAX_USES = 16
"""How often a tensor may be named: so often memory and time for it may be asked."""


class Encoder:
    """Collects the objects and the tensors of one model, and the kernel classes in it that are not Mercer's.

    table : the entry of each class
    """

    def __init__(self, table: Mapping[type, Entry]) -> None:
        self.table = table
        self.objects: list[Plain] = []
        self.arrays: list[NDArray[Any]] = []
        self.foreign: dict[str, type[Kernel]] = {}
        self._places: dict[int, int] = {}
        self._tensors: dict[Any, int] = {}
        self._uses: list[int] = []
        self._rows: dict[int, NDArray[Any]] = {}
        self._known_words: dict[kernel_strings.Frequencies, kernel_strings.Words] = {}
        self._held: list[Any] = []  # what is noted by its address must live as long as the notes

    def value(self, thing: Any) -> Plain:
        """A value of JSON that stands for an object."""
        if thing is None or type(thing) in (bool, int, str):
            return _plain(thing)
        if type(thing) is float:
            return thing if math.isfinite(thing) else {"float": str(thing)}
        if is_held(thing):
            thing = self._brought(thing)
        if isinstance(thing, np.ndarray):
            return self._array(thing)
        if isinstance(thing, Kernel):
            self.foreign |= kernel_strings.foreign(thing)
            return kernel_strings.written(thing, self._words)
        if type(thing) in self.table:
            return {"object": self.object(thing)}
        return self._other(thing)

    def _other(self, thing: Any) -> Plain:
        if type(thing) in (tuple, list):
            return {type(thing).__name__: [self.value(one) for one in thing]}
        if type(thing) is dict:
            return {"dict": [[self.value(key), self.value(one)] for key, one in thing.items()]}
        if isinstance(thing, np.dtype) and (thing in CODES or thing.kind == "O"):
            return {"dtype": CODES.get(thing, OBJECT)}
        if isinstance(thing, type) and issubclass(thing, np.generic) and np.dtype(thing) in CODES:
            return {"scalar": CODES[np.dtype(thing)]}
        if isinstance(thing, slice):
            return {"slice": [self.value(thing.start), self.value(thing.stop), self.value(thing.step)]}
        if isinstance(thing, np.str_):
            return _plain(str(thing))
        if isinstance(thing, np.generic) and thing.dtype in CODES:
            return {"number": CODES[thing.dtype], "value": self.value(thing.item())}
        if not isinstance(thing, np.random.RandomState | np.random.Generator):
            remedy = (
                "Use settings that are numbers, texts, kernels or lifts; docs/files.md lists what pipelines may hold."
            )
            refuse("objects that files can hold", f"got a {type(thing).__module__}.{type(thing).__qualname__}", remedy)
        return None  # where random numbers come from is a matter of the program

    def object(self, thing: Any) -> int:
        """The place of an object in the list, where it is put the first time."""
        if id(thing) not in self._places:
            entry = self.table[type(thing)]
            fields = {name: self.value(one) for name, one in entry.take(thing).items()}
            self._held.append(thing)
            self.objects.append({"entry": entry.name, "fields": fields})
            self._places[id(thing)] = len(self.objects) - 1
        return self._places[id(thing)]

    def _array(self, array: NDArray[Any]) -> Plain:
        if array.dtype.kind in "OU":
            return {"object": self._texts(array)}
        if array.dtype.newbyteorder("<") not in CODES:
            refuse("arrays of numbers or of texts", f"got one of {array.dtype}", "Convert it to float64, say.")
        turned = array.ndim > 1 and abs(array.strides[0]) < abs(array.strides[-1])  # as Fortran has it
        place = self._tensor(array.T if turned else array)
        return {"array": place, "order": "F"} if turned else {"array": place}

    def _brought(self, rows: Any) -> NDArray[Any]:
        """Rows on a device as an array of this process, once."""
        if id(rows) not in self._rows:
            self._held.append(rows)
            self._rows[id(rows)] = on_host(rows)
        return self._rows[id(rows)]

    def _texts(self, array: NDArray[Any]) -> int:
        if id(array) not in self._places:
            self._held.append(array)
            self._places[id(array)] = self.object(TextArray.of(array))
        return self._places[id(array)]

    def _words(self, frequencies: kernel_strings.Frequencies) -> Plain:
        """Words of a kernel, which many parts of a model may hold: equal ones stand once."""
        if frequencies not in self._known_words:
            self._known_words[frequencies] = kernel_strings.Words.of(frequencies)
        return {"object": self.object(self._known_words[frequencies])}

    def _tensor(self, array: NDArray[Any]) -> int:
        """The place of a tensor; the same memory stands once, as long as it is not named too often."""
        key = array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.str
        place = self._tensors.get(key)
        if place is None or self._uses[place] == MAX_USES:
            place = self._tensors[key] = len(self.arrays)
            self.arrays.append(array)
            self._uses.append(0)
        self._uses[place] += 1
        return place

    def text(self, version: str) -> str:
        """The whole record; the last object is the model."""
        return json.dumps({"mercer": version, "objects": self.objects}, separators=(",", ":"), allow_nan=False)


def _plain(thing: Any) -> Plain:
    if type(thing) is int and not -(1 << 63) <= thing < 1 << 64:
        refuse("integers of 64 bits", f"got {shown(thing)}", "Use a smaller setting.")
    if type(thing) is str:
        encoded(thing)
    return thing
