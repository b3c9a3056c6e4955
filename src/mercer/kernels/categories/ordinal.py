"""k(x, z) = exp(-(steps between the labels x and z) / lengthscale), for labels in a stated order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InputError, KernelError, message, speaking
from mercer.kernels.categories.averaged import Averaged
from mercer.kernels.categories.items import MISSING, Label, items_of
from mercer.kernels.categories.labelled import one_of, shares
from mercer.kernels.categories.one_hot import by_means
from mercer.kernels.categories.shares import Shares
from mercer.kernels.fields import positive
from mercer.kernels.latex import exponential, over
from mercer.kernels.objects.domains import CATEGORIES
from mercer.kernels.proof.judgement import Fact


def check_order(owner: str, name: str, value: Any) -> tuple[str, ...]:
    """The texts of two labels or more, all different, none missing."""
    if isinstance(value, str | bytes) or not hasattr(value, "__iter__"):
        raise KernelError(
            message(f"a list of labels for {name}", f"got {value!r:.60}", "List them in order.", subject=owner)
        )
    try:
        with speaking(f"{owner} ({name})"):
            labels = items_of(tuple(value))
    except InputError as error:
        raise KernelError(str(error)) from error
    if len(labels) < 2 or len(set(labels)) < len(labels) or MISSING in labels:
        needs = f"two or more different labels for {name}"
        raise KernelError(message(needs, f"got {value!r:.60}", "List each label once, in order.", subject=owner))
    return tuple(str(label) for label in labels)


class Ordinal(Averaged):
    """The kernel of labels that have an order: each step between two labels divides k by the same number.

    `k(x, z) = exp(-|rank(x) - rank(z)| / lengthscale)`, the mean of it over several columns. A label
    outside of the order is refused, in new rows too. Cost: n d time for features, then a product of rows with one
    column a label.

    Parameters
    ----------
    order : tuple of str
        The labels from the first to the last, two or more.
    lengthscale : float, default=1.0
        Positive, in steps.
    missing : {"category", "marginalised", "refuse"}, default="category"
        With "category" a missing entry is like itself, k = 1, and unlike every label, k = 0; "marginalised" takes the
        mean over the labels by their shares in the data; "refuse" raises an error.
    seen : tuple, default=()
        For each column the labels and their shares; found by `resolve`.

    Examples
    --------
    >>> from mercer.kernels import Ordinal
    >>> Ordinal(["low", "middle", "high"])(["low", "high"], ["low", "middle", "high"]).round(4)
    array([[1.    , 0.3679, 0.1353],
           [0.1353, 0.3679, 1.    ]])

    References
    ----------
    Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), section 4.2 (the same on a line).
    """

    formula = "exp(-|rank(x) - rank(z)| / lengthscale)"

    order: tuple[str, ...] = field(metadata={"check": check_order})
    lengthscale: float = positive(default=1.0)
    missing: str = one_of("category", "marginalised", "refuse")
    seen: Shares = shares()

    def lifted(self, labels: Sequence[Label], seen: dict[Label, float], where: str) -> Any:
        ranks = {label: rank for rank, label in enumerate((*self.order, MISSING))}
        strange = next((label for label in labels if label not in ranks), None)
        if strange is not None:
            got, remedy = f"{where} holds {strange!r}", "Add it to the order, or correct it."
            raise InputError(message(f"labels among {text_of(self.order)}", got, remedy, subject="Ordinal"))
        return self._ladder()[[ranks[label] for label in labels]]

    def _ladder(self) -> NDArray[np.float64]:
        """The features of the labels in order, and of a missing entry: the triangular factor of k on the labels."""
        count = len(self.order)
        rank = np.arange(count)
        below = np.tril(np.exp(-np.maximum(rank[:, None] - rank, 0) / self.lengthscale))
        below[:, 1:] *= np.sqrt(-np.expm1(-2 / self.lengthscale))
        whole = np.eye(count + 1)
        whole[:count, :count] = below
        return whole

    def facts(self) -> tuple[Fact, ...]:
        reason = (
            "with r = exp(-1 / lengthscale) rank i has the features r^i, s r^(i-1), ..., s r, s, 0, ..., 0 "
            "with s = sqrt(1 - r^2), whose inner product with those of rank j adds up to r^|i - j| (a geometric series)"
            f"{by_means(self.missing)}"
        )
        return (Fact(CATEGORIES, reason),)

    def latex(self, x: str = "x", z: str = "z") -> str:
        steps = rf"\lvert \mathrm{{rank}}({x}) - \mathrm{{rank}}({z}) \rvert"
        return exponential("-" + over(steps, self.lengthscale))


def text_of(order: tuple[str, ...]) -> str:
    """Some labels of an order, for a message."""
    shown = ", ".join(map(repr, order[:8]))
    return shown if len(order) <= 8 else f"{shown}, ..."
