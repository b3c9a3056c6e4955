"""Sequences of symbols, joined into one array, and how often each run of k symbols occurs in each of them.

Nothing is hashed: a run becomes an integer that says exactly which symbols it has, and such numbers are sorted.
They are in the order of the runs, as words are in a dictionary, so that runs of other sequences change no order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

Whole = NDArray[np.int64]

INT64_LIMIT = 1 << 63
"""Integers of int64 are below it."""
MAX_CODES_PER_VALUE = 4
"""Up to so many possible numbers for each one that occurs, a table of all of them is faster than sorting."""


@dataclass(frozen=True, eq=False)
class Sequences:
    """Sequences of symbols.

    codes : the symbols of all sequences, one after the other, as integers of at least 0
    starts : where each sequence begins in `codes`, and after the last one where it ends
    """

    codes: Whole
    starts: Whole

    @property
    def count(self) -> int:
        """How many sequences there are."""
        return len(self.starts) - 1

    @property
    def lengths(self) -> Whole:
        """How many symbols each of them has."""
        return np.diff(self.starts)

    def beside(self, rows: NDArray[np.intp], filler: int) -> Whole:
        """Some of the sequences as columns of one table, which a filler ends where they end."""
        lengths = self.lengths[rows]
        table = np.full((len(rows), int(lengths.max(initial=0))), filler, dtype=np.int64)
        table[np.arange(table.shape[1]) < lengths[:, None]] = self.codes[spread(self.starts[rows], lengths)]
        return np.ascontiguousarray(table.T)


class Runs(NamedTuple):
    """How often runs occur.

    counts : a csr_array with a row a sequence and a column a run that occurs, in the order of the runs
    places : where in the codes each run can be found
    """

    counts: Any
    places: Whole


def joined(codes: NDArray[Any], lengths: Iterable[int], count: int) -> Sequences:
    """Sequences of such lengths, whose symbols stand one after the other."""
    starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.fromiter(lengths, np.int64, count), out=starts[1:])
    return Sequences(codes.astype(np.int64), starts)


def spread(starts: Whole, lengths: Whole) -> Whole:
    """So many integers from each start on, one after the other."""
    return np.asarray(np.arange(lengths.sum()) + np.repeat(starts - np.cumsum(lengths) + lengths, lengths))


def runs(sequences: Sequences, k: int) -> Runs:
    """How often each run of k symbols occurs in each sequence.

    Cost for N symbols: N (k + log N) time, memory for about eight arrays of N numbers.
    """
    windows = np.maximum(sequences.lengths - (k - 1), 0)
    places = spread(sequences.starts[:-1], windows)
    if not len(places):
        return Runs(csr_array((sequences.count, 0)), places)
    keys, room = _keys(sequences.codes, k)
    owners = np.repeat(np.arange(sequences.count), windows)
    return _tallied(keys[places], room, owners, places, sequences.count)


def placed_runs(sequences: Sequences, k: int) -> Any:
    """Which run of k symbols begins at which place of each sequence: a csr_array with a column per place and run.

    Columns are in the order of places, then of runs. Cost: as for `runs`.
    """
    windows = np.maximum(sequences.lengths - (k - 1), 0)
    places = spread(sequences.starts[:-1], windows)
    if not len(places):
        return csr_array((sequences.count, 0))
    keys, room = _keys(sequences.codes, k)
    keys, longest = keys[places], int(windows.max())
    if room > INT64_LIMIT // longest:
        keys, room = ranked(keys, room)
    keys = (places - np.repeat(sequences.starts[:-1], windows)) * room + keys
    owners = np.repeat(np.arange(sequences.count), windows)
    return _tallied(keys, room * longest, owners, places, sequences.count).counts


def packed(columns: Iterable[Whole], size: int) -> tuple[Whole, int]:
    """An integer for each row of some columns of numbers below `size`, in the order of rows; and their bound."""
    keys, room = np.zeros(1, dtype=np.int64), 1
    for column in columns:
        if room > INT64_LIMIT // size:
            keys, room = ranked(keys, room)
        keys = keys * size + column
        room *= size
    return keys, room


def ranked(keys: Whole, room: int) -> tuple[Whole, int]:
    """For each of some numbers from 0 to below `room`, how many smaller ones occur; and how many occur."""
    if room > MAX_CODES_PER_VALUE * len(keys) + 1024:
        found, ranks = np.unique(keys, return_inverse=True)
        return ranks.astype(np.int64, copy=False).reshape(-1), len(found)
    present = np.zeros(room, dtype=np.int64)
    present[keys] = 1
    np.cumsum(present, out=present)
    return present[keys] - 1, int(present[-1])


def _keys(codes: Whole, k: int) -> tuple[Whole, int]:
    """The number of the run that begins at each place."""
    symbols, size = ranked(codes, int(codes.max()) + 1)
    windows = len(codes) - k + 1
    return packed((symbols[i : i + windows] for i in range(k)), size)


def _tallied(keys: Whole, room: int, owners: Whole, places: Whole, count: int) -> Runs:
    """Runs in order, those of one sequence counted: places ascend with their sequences, also among equal keys."""
    bits = len(keys).bit_length()
    if room > INT64_LIMIT >> bits:
        keys, room = ranked(keys, room)
    mixed = np.sort(keys << bits | np.arange(len(keys)))
    at, keys = mixed & ((1 << bits) - 1), mixed >> bits
    rows = owners[at]
    new_key = _changes(keys)
    first = np.flatnonzero(new_key | _changes(rows))
    counts = np.diff(first, append=len(keys)).astype(np.float64)
    begins = np.append(np.flatnonzero(new_key[first]), len(first))
    index = short(max(len(first), count))
    table = csc_array((counts, rows[first].astype(index), begins.astype(index)), shape=(count, len(begins) - 1))
    return Runs(table.tocsr(), places[at[new_key]])


def short(largest: int) -> type[np.int32 | np.int64]:
    """The dtype of places in sparse tables: 32 bits where they suffice, since others take nothing else."""
    return np.int32 if largest <= np.iinfo(np.int32).max else np.int64


def _changes(values: Whole) -> NDArray[np.bool_]:
    """Where a number differs from the one before."""
    return np.concatenate([[True], values[1:] != values[:-1]])
