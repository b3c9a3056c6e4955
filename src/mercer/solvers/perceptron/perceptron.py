"""The perceptron in blocks: what it learns is what the sequential one learns, and the work is products of matrices.

    for each row i, in order: if y_i f(x_i) <= 0, then f += y_i k(., x_i)

A block of rows gets its scores from all mistakes before it by one product; inside the block each mistake moves the
scores of the rows after it, by a column of the block's own matrix. With more than two classes a row is a mistake where
the score of its class is not above all others, and f of its class gains k(., x_i), that of the best other one loses it.

Cost of a pass: the values of the kernel between all rows and the mistakes of the pass before, and n `BLOCK_ROWS` more.

References
----------
Rosenblatt, The perceptron, Psychological Review 65 (1958).
Freund and Schapire, Large margin classification using the perceptron algorithm, Machine Learning 37 (1999).
Crammer and Singer, Ultraconservative online algorithms for multiclass problems, JMLR 3 (2003).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mercer.compute.consistency import shapes
from mercer.compute.runtime.run import IDLE, Run
from mercer.operators import Operator

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
BLOCK_ROWS = 1024
"""Rows of a block: enough for products to be fast, and few enough for their own matrix to cost little."""
SEARCH_ROWS = 64
"""Rows of a block at which the next mistake is looked for at once."""


# -- where it learns --------------------------------------------------------------------------------------------------


class Space(ABC):
    """The rows, and the function f that is learned: it knows its scores at rows, and takes up mistakes."""

    count: int

    @abstractmethod
    def scores(self, rows: Rows) -> Array:
        """(rows, outputs): f at some rows, to be overwritten."""

    @abstractmethod
    def follow(self, rows: Rows, right: Rows) -> tuple[Rows, Rows]:
        """Learn some rows, one after the other: which are mistakes, by positions, and which class was taken for theirs.

        right : the class of each
        """


class Dual(Space):
    """f = sum_j V_j k(., x_j): scores of a row are brought up to date by the mistakes since they were last computed.

    K : the kernel matrix of all rows
    """

    def __init__(self, K: Operator, outputs: int) -> None:
        self.K, self.count = K, K.shape[0]
        K.prepare()
        self.learned = [(np.zeros(0, np.intp), np.zeros((0, outputs)))]
        self._scores = np.zeros((self.count, outputs))
        self._known = np.zeros(self.count, np.intp)  # how many entries of `learned` are in the scores

    def scores(self, rows: Rows) -> Array:
        known = self._known[rows]
        for begin in np.unique(known[known < len(self.learned)]):  # one, where blocks are the same in each pass
            self._catch_up(rows[known == begin], int(begin))
        return self._scores[rows]

    def _catch_up(self, rows: Rows, begin: int) -> None:
        every = np.concatenate([positions for positions, _ in self.learned[begin:]])
        values = np.concatenate([values for _, values in self.learned[begin:]])
        new, places = np.unique(every, return_inverse=True)  # a row may be misclassified in several passes
        if len(new):
            V = np.zeros((len(new), values.shape[1]))
            np.add.at(V, places, values)
            self._scores[rows] += self.K.combine(new, V, rows)
        self._known[rows] = len(self.learned)

    def follow(self, rows: Rows, right: Rows) -> tuple[Rows, Rows]:
        part, inner = self.K.part(rows), np.empty((len(rows), len(rows)))
        part.fill(np.arange(len(rows)), inner)
        at, wrong = in_block(self.scores(rows), inner, right)
        self.learn(rows[at], updates_of(right[at], wrong, self._scores.shape[1]))
        return at, wrong

    def learn(self, rows: Rows, V: Array) -> None:
        """f += sum_j V_j k(., x_j) over some rows."""
        if len(rows):
            self.learned.append((rows, V))


# -- what it learns ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Mistakes:
    """Mistakes in the order in which they were made.

    rows : the row of each
    right, wrong : its class, and the one that scored highest instead; for two classes 1 and 0, or 0 and 1
    steps : how many rows were seen before it, in all passes
    """

    rows: Rows
    right: Rows
    wrong: Rows
    steps: Rows

    def _inconsistency(self) -> str:
        size = self.rows.size
        return shapes(*((array, (size,)) for array in (self.rows, self.right, self.wrong, self.steps)))

    @classmethod
    def none(cls) -> Mistakes:
        """Before the first."""
        return cls(*(np.zeros(0, np.intp) for _ in range(4)))

    def __len__(self) -> int:
        return len(self.rows)

    def then(self, *others: Mistakes) -> Mistakes:
        """These, and others after them."""
        every = (self, *others)
        names = ("rows", "right", "wrong", "steps")
        return Mistakes(*(np.concatenate([getattr(each, name) for each in every]) for name in names))

    def updates(self, outputs: int) -> Array:
        """(mistakes, outputs): what each adds to the scores, in units of k(., x_i)."""
        return updates_of(self.right, self.wrong, outputs)


def updates_of(right: Rows, wrong: Rows, outputs: int) -> Array:
    """(mistakes, outputs): 1 for the class of each, and -1 for the one that was taken for it."""
    if outputs == 1:
        return np.where(right == 1, 1.0, -1.0)[:, None]
    found = np.zeros((len(right), outputs))
    every = np.arange(len(right))
    found[every, right], found[every, wrong] = 1.0, -1.0
    return found


@dataclass(eq=False)
class MistakeLog:
    """What passes write down as they go, so that one that is stopped has lost nothing.

    made : mistakes, block by block
    seen : how many rows were seen
    history : how many mistakes each pass made
    """

    made: list[Mistakes] = field(default_factory=lambda: [Mistakes.none()])
    seen: int = 0
    history: list[int] = field(default_factory=list)

    def begin(self) -> None:
        """A pass begins."""
        self.history.append(0)

    def add(self, rows: Rows, right: Rows, at: Rows, wrong: Rows) -> None:
        """A block of rows with their classes, and what was wrong in it, by positions."""
        self.made.append(Mistakes(rows[at], right[at], wrong, self.seen + at))
        self.seen += len(rows)
        self.history[-1] += len(at)

    @property
    def mistakes(self) -> Mistakes:
        """All of them, in order."""
        return self.made[0].then(*self.made[1:])


def one_pass(space: Space, order: Rows, classes: Rows, log: MistakeLog, run: Run = IDLE) -> None:
    """All rows once, in an order.

    space : where f is learned; what it knows already counts
    classes : of each row, integers from 0 on
    """
    log.begin()
    for start in range(0, len(order), BLOCK_ROWS):
        rows = order[start : start + BLOCK_ROWS]
        right = classes[rows]
        log.add(rows, right, *space.follow(rows, right))
        run.tell(log.seen / len(order))


def in_block(scores: Array, K: Array, right: Rows) -> tuple[Rows, Rows]:
    """The mistakes among the rows of a block, one after the other: where, and which classes were taken for theirs.

    scores : (rows, outputs), from all mistakes before the block; overwritten
    K : (rows, rows), the kernel between them
    """
    at: list[int] = []
    wrong: list[int] = []
    begin = 0
    while begin < len(right):
        near = slice(begin, begin + SEARCH_ROWS)
        others = rivals(scores[near], right[near])
        missed = ~(margins(scores[near], right[near], others) > 0)
        first = int(missed.argmax())
        if not missed[first]:
            begin += SEARCH_ROWS
            continue
        i, other = begin + first, int(others[first])
        at.append(i)
        wrong.append(other)
        begin, column = i + 1, K[i + 1 :, i]
        if scores.shape[1] == 1:
            scores[begin:, 0] += column if right[i] == 1 else -column
        else:
            scores[begin:, right[i]] += column
            scores[begin:, other] -= column
    return np.array(at, np.intp), np.array(wrong, np.intp)


def rivals(scores: Array, right: Rows) -> Rows:
    """The class of the highest score but that of the right one, the first of equals."""
    if scores.shape[1] == 1:
        return 1 - right
    others = scores.copy()
    others[np.arange(len(right)), right] = -np.inf
    return np.asarray(others.argmax(axis=1), dtype=np.intp)


def margins(scores: Array, right: Rows, others: Rows) -> Array:
    """By how much the right class scores above the best other one; for two classes y f(x)."""
    if scores.shape[1] == 1:
        return np.where(right == 1, scores[:, 0], -scores[:, 0])
    every = np.arange(len(right))
    return np.asarray(scores[every, right] - scores[every, others])
