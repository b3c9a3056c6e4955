"""Rows of two columns, and models of them, that several tests draw."""

import numpy as np

RING = np.column_stack([np.cos(np.linspace(0, 6, 30)), np.sin(np.linspace(0, 6, 30))])
CIRCLES, SIDES = np.vstack([RING, 3 * RING]), np.repeat(["inner", "outer"], 30)


def blobs(seed=0, count=60):
    """Two groups with a gap between them, left and right."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 2))
    X[:, 0] += np.where(np.arange(count) % 2, 3.0, -3.0)
    return X, np.array(["left", "right"])[np.arange(count) % 2]


def offsets(points):
    return np.asarray(points.get_offsets())


def corners(contours, level):
    """The points of a level of a set of contours."""
    return np.vstack(contours.allsegs[list(contours.levels).index(level)])


class Slope:
    """A classifier whose decision function is 2 x1 - x2 + 0.5."""

    n_features_in_ = 2

    def decision_function(self, X):
        values = np.asarray(X)
        return 2 * values[:, 0] - values[:, 1] + 0.5

    def predict(self, X):
        return np.where(self.decision_function(X) > 0, "up", "down")
