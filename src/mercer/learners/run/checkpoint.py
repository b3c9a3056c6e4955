"""A checkpoint: one file from which a fit that was cut off goes on, to the same bits.

The file is one of NumPy's .npz: arrays, and a header of JSON in an array of bytes; nothing in it is ever unpickled. It
is written under another name beside it, which nobody can foresee, flushed to the disk, and moved into place, so that at
any moment there is a whole file, or none, and no link that somebody put there is followed.
"""

from __future__ import annotations

import glob
import json
import os
import struct
import tempfile
import time
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import copyfileobj
from typing import Any, NoReturn

import numpy as np
from numpy.lib.format import read_array, write_array
from numpy.typing import NDArray

from mercer.compute.runtime.run import State
from mercer.errors import InputError, MercerWarning, caller_level, message
from mercer.learners.run.fingerprint import FORMAT_VERSION, Parts
from mercer.sources.durable import flush_folder

MIN_INTERVAL_SECONDS = 10.0
"""Seconds between two writes, at least."""
LATEST_SECONDS = 25.0
"""Seconds after which a state is written although that takes more than its share, if it is not too long."""
MAX_WRITING_SHARE = 0.015
"""The part of the time that writing may take."""
MAX_PROMPT_SECONDS = 0.5
"""Seconds that a write may take to be done every `LATEST_SECONDS`: 2 % of these. Longer ones wait for their share."""
BYTES_PER_SECOND = 5e8
"""Bytes per second, before a write was measured."""
HEADER = "mercer.npy"
DRAFT = ".mercer-draft"
"""How the names of files end that are not whole yet."""
UNREADABLE = (zipfile.BadZipFile, zlib.error, struct.error, ValueError, TypeError, KeyError, EOFError, RuntimeError)
"""What a file that is damaged, or something else, may raise when it is read."""
OTHERS = {"version": "another version", "settings": "other settings", "data": "other data"}
"""How a message says what differs."""


class Store:
    """The file of one fit.

    name : of the estimator, in messages
    path : of the file, which need not exist; its folder must
    fingerprint : what must agree with the file; asked for where there is a file, or when one is first written
    """

    def __init__(
        self, name: str, path: Path, fingerprint: Callable[[], Parts], clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self.name, self.path = name, path
        self._fingerprint, self._clock = fingerprint, clock
        self._notes: dict[str, Any] = {}
        self._start = self._last = clock()
        self._due, self._spent, self._speed = self._start + MIN_INTERVAL_SECONDS, 0.0, BYTES_PER_SECOND
        self.cost = 0.0
        self._remove_drafts()
        self._ours = path.exists()
        self._left: set[str] = set()  # keys of an earlier run, of which this one has written nothing yet
        if self._ours:
            self._open()

    # -- what was kept ------------------------------------------------------------------------------------------------

    def recall(self, name: str, make: Callable[[], Any]) -> Any:
        """What the fit that was cut off noted under this name; else what is made now, which is noted.

        Notes are values of JSON: the plan that is followed, the seed that was drawn.
        """
        if name not in self._notes:
            self._notes[name] = make()
        return self._notes[name]

    def saved(self, key: str) -> State | None:
        """The arrays that an earlier run kept last under a key."""
        if key not in self._left:
            return None
        with self._readable() as file:
            members = [name for name in file.namelist() if _key(name) == key]
            return {name[len(key) + 1 : -len(".npy")]: _array(file, name) for name in members}

    def _open(self) -> None:
        """Read the notes of a file that is whole, and of this fit."""
        with self._readable() as file:
            if HEADER not in file.namelist():
                self._refuse("that file holds something else")
            bad = file.testzip()
            if bad is not None:
                self._refuse(f"that file is damaged in {bad}")
            header = json.loads(_array(file, HEADER).tobytes())
            there, self._notes = dict(header["fingerprint"]), dict(header["notes"])
            self._left = {_key(name) for name in file.namelist() if name != HEADER}
        self._compare(there)

    @contextmanager
    def _readable(self) -> Iterator[zipfile.ZipFile]:
        """The file; one that cannot be read is refused."""
        try:
            with zipfile.ZipFile(self.path) as file:
                yield file
        except InputError:
            raise
        except UNREADABLE as error:
            self._refuse(f"that file is damaged, or something else ({error})")

    def _compare(self, there: Parts) -> None:
        here = self._fingerprint()
        differs = [OTHERS[name] for name in OTHERS if here[name] != there.get(name)]
        if differs:
            needs = "the data, the settings and the version of a checkpoint to go on from it"
            got = f"{self.path} was written for {' and '.join(differs)}"
            raise InputError(message(needs, got, "Remove the file to start anew, or choose another path."))

    def _refuse(self, got: str) -> NoReturn:
        needs = f"a checkpoint of Mercer in {self.path}, or no file"
        raise InputError(message(needs, got, "Remove the file, or choose another path."))

    # -- keeping ------------------------------------------------------------------------------------------------------

    def offer(self, key: str, state: Callable[[], State], now_or_never: bool = False) -> None:
        """Write the state where that is due: see `MIN_INTERVAL_SECONDS` and the constants behind it."""
        now = self._clock()
        if now < self._due and not now_or_never:
            return
        arrays = state()
        cost = sum(array.nbytes for array in arrays.values()) / self._speed
        self._due = self._earliest(cost)
        if now >= self._due or now_or_never:
            self._keep(key, arrays)

    def _earliest(self, cost: float) -> float:
        """When a write of so many seconds is due."""
        fair = max(self._last + MIN_INTERVAL_SECONDS, self._start + (self._spent + cost) / MAX_WRITING_SHARE)
        return min(fair, self._last + LATEST_SECONDS) if cost <= MAX_PROMPT_SECONDS else fair

    def _keep(self, key: str, arrays: State) -> None:
        before = self._clock()
        header = {"format": FORMAT_VERSION, "fingerprint": dict(self._fingerprint()), "notes": self._notes}
        begun = self._clock()
        try:
            self._write(key, arrays, header)
        except (OSError, zipfile.BadZipFile) as error:  # the disk is full; what was there is damaged by now
            self._warn("goes on, but could not write", error)
        else:
            self._ours = True
            self._left.discard(key)
            self.cost = self._clock() - begun
            self._speed = max(1, sum(array.nbytes for array in arrays.values())) / max(self.cost, 1e-6)
        self._last = self._clock()
        self._spent += self._last - before
        self._due = self._last + MIN_INTERVAL_SECONDS

    def _write(self, key: str, arrays: State, header: Mapping[str, Any]) -> None:
        """A whole new file: this state, and those of other keys as they were."""
        descriptor, name = tempfile.mkstemp(
            DRAFT, f"{self.path.name}.", self.path.parent
        )  # new, and for the user alone
        try:
            with os.fdopen(descriptor, "wb") as draft:
                with zipfile.ZipFile(draft, "w", zipfile.ZIP_STORED) as file:
                    _put(file, HEADER, np.frombuffer(json.dumps(header).encode(), np.uint8))
                    for name_of_array, array in arrays.items():
                        _put(file, f"{key}/{name_of_array}.npy", array)
                    if self._ours:
                        _copy_others(self.path, file, key)
                draft.flush()
                os.fsync(draft.fileno())
            os.replace(name, self.path)
            flush_folder(self.path.parent)
        finally:
            with suppress(OSError):
                os.unlink(name)

    def finish(self) -> None:
        """The fit is done: nothing is kept."""
        try:
            if self._ours:
                self.path.unlink(missing_ok=True)
        except OSError as error:
            self._warn("is done, but could not remove", error)

    def _remove_drafts(self) -> None:
        """Remove what processes left that were killed while they wrote; what is not ours stays."""
        for draft in self.path.parent.glob(f"{glob.escape(self.path.name)}.*{DRAFT}"):
            with suppress(OSError):
                draft.unlink()

    def _warn(self, what: str, error: Exception) -> None:
        warnings.warn(
            f"{self.name} {what} the checkpoint {self.path}: {error}", MercerWarning, stacklevel=caller_level()
        )


def _key(member: str) -> str:
    return member.rpartition("/")[0]


def _array(file: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with file.open(name) as member:
        return np.asarray(read_array(member, allow_pickle=False))


def _put(file: zipfile.ZipFile, name: str, array: NDArray[Any]) -> None:
    with file.open(name, "w", force_zip64=True) as member:
        write_array(member, np.asanyarray(array), allow_pickle=False)


def _copy_others(path: Path, file: zipfile.ZipFile, key: str) -> None:
    """The states of other keys, as an earlier file has them."""
    with zipfile.ZipFile(path) as earlier:
        for name in earlier.namelist():
            if name != HEADER and _key(name) != key:
                with earlier.open(name) as old, file.open(name, "w", force_zip64=True) as new:
                    copyfileobj(old, new, 1 << 20)
