"""One feature a label: 1 where a row holds it, or less where most rows do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array

from mercer.kernels.categories.items import Label

EQUAL, RARITY = "equal", "rarity"


def one_hot(labels: Sequence[Label], weights: str, seen: dict[Label, float]) -> Any:
    """The feature of each label: 1, or sqrt(1 - share of the label), by which an agreement weighs 1 - share."""
    shares = np.array([seen.get(label, 0.0) if weights == RARITY else 0.0 for label in labels])
    return csr_array(diags_array(np.sqrt(np.maximum(1.0 - shares, 0.0)), shape=(len(labels), len(labels))))


def rarely(weights: str) -> str:
    """What a proof adds to the features of labels."""
    if weights == EQUAL:
        return ""
    return ", times sqrt(1 - share of the label in the data), which is a real number"


def by_means(missing: str) -> str:
    """What a proof says of missing entries."""
    if missing == "refuse":
        return ""
    if missing == "category":
        return "; a missing entry is a label of its own"
    return (
        "; a missing entry has the mean of the features of all labels, by their shares in the data, and inner products "
        "of features are a kernel whatever the features are"
    )
