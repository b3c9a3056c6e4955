"""k(x, z) = the share of the columns in which x and z hold the same label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mercer.kernels.categories.averaged import Averaged
from mercer.kernels.categories.items import Label
from mercer.kernels.categories.labelled import one_of, shares
from mercer.kernels.categories.one_hot import EQUAL, RARITY, by_means, one_hot, rarely
from mercer.kernels.categories.shares import Shares
from mercer.kernels.objects.domains import CATEGORIES
from mercer.kernels.proof.judgement import Fact


class Match(Averaged):
    """The overlap kernel: the share of the columns, one or several, in which two rows hold the same label.

    k(x, z) = sum_k w(x_k) [x_k = z_k] / d over the d columns, with w = 1, or w(v) = 1 - (share of the rows of the data
    that hold v): an agreement on what all rows hold says nothing, one on a rare label much. A label that the data did
    not have weighs 1. exp(c * Match()) is a Gaussian kernel of one column of zeros and ones a label; `Hamming` is that
    with a lengthscale. Labels are texts, integers or booleans, compared by their text. Cost: n d time for features,
    then a product of dense or sparse rows with one column per label.

    Parameters
    ----------
    weights : {"equal", "rarity"}, default="equal"
        With "rarity" shares are counted by `resolve`; learners call it.
    missing : {"category", "marginalised", "refuse"}, default="category"
        How None and NaN are read: "category", as a label of its own; "marginalised", as the mean over the labels by
        their shares in the data, so that k(missing, z) is the expected k(v, z); "refuse", as an error.
    seen : tuple, default=()
        For each column the labels and their shares, a share alone for missing entries; found by `resolve`.

    Examples
    --------
    >>> from mercer.kernels import Match
    >>> rows = [["red", "S"], ["red", "M"], ["blue", None]]
    >>> Match()(rows)
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0. ],
           [0. , 0. , 1. ]])
    >>> print(Match(weights="rarity").resolve(["red", "red", "blue", "red"]))
    match(weights='rarity', seen=[[['blue', 0.25], ['red', 0.75]]])

    References
    ----------
    Belanche and Villegas, Kernel functions for categorical variables (2013), section 3.
    """

    aliases = ("overlap",)
    formula = "sum_k w(x_k) [x_k = z_k] / d"

    weights: str = one_of(EQUAL, RARITY)
    missing: str = one_of("category", "marginalised", "refuse")
    seen: Shares = shares()

    @property
    def needs_shares(self) -> bool:
        return super().needs_shares or self.weights == RARITY

    def lifted(self, labels: Sequence[Label], seen: dict[Label, float], where: str) -> Any:
        return one_hot(labels, self.weights, seen)

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            "it is the inner product of features, one per label of each column: 1 / sqrt(d) where the row holds the "
            f"label, else 0{rarely(self.weights)}{by_means(self.missing)}"
        )
        return (Fact(CATEGORIES, reason),)

    def latex(self, x: str = "x", z: str = "z") -> str:
        weight = "" if self.weights == EQUAL else rf"w({{{x}}}_k) \, "
        return rf"\frac{{1}}{{d}} \sum_k {weight}[{{{x}}}_k = {{{z}}}_k]"
