"""What kernels share that are the mean over columns of an inner product of labels' features."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.categories.features import divided
from mercer.kernels.categories.labelled import Labelled
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Points


class Averaged(Labelled):
    """k(x, z) = the mean over the columns of <phi(x_k), phi(z_k)>, with the features of `lifted`."""

    def evaluate(self, pairs: Pairs) -> Block:
        total = pairs.jointly((type(self), self), self.encoded).dot()
        block: Block = total / float(pairs.left.values.shape[1])
        return block

    def features(self, left: Points, right: Points) -> tuple[Points, Points]:
        """phi of the rows of two tables, for lifts: k(x, z) is the inner product of both."""
        return divided(self.encoded(left, right), math.sqrt(left.values.shape[1]))

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        return np.asarray(self.squares(points) / float(points.values.shape[1]))

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        return pairs.jointly(self.encoded).inner / float(pairs.left.values.shape[1])
