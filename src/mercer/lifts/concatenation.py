"""The features of two lifts side by side: the sum of their kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack, issparse

from mercer.kernels import Kernel
from mercer.lifts.algebra import added
from mercer.lifts.composition import Pair, unique
from mercer.lifts.expansion import Expansion


class Concatenation(Pair):
    """The features of one lift, then those of another, written first + second.

    phi(x) = [phi1(x), phi2(x)], so k = k1 + k2. Cost: that of both, and a copy. Where the features of a part are
    sparse, all are. A name that stands again is numbered: x1, x1 #2.

    Parameters
    ----------
    first, second : Lift
        Clones of them are fitted.

    Attributes
    ----------
    first_, second_ : Lift
        The fitted clones.
    expansion_ : Expansion
        Monomials and coefficients, where both parts have them.

    Examples
    --------
    >>> from mercer.lifts.exact import Exact
    >>> phi = (Exact("linear") + Exact("linear**2")).fit([[2.0, 3.0]])
    >>> phi.get_feature_names_out().tolist()
    ['x1', 'x2', 'x1^2', 'sqrt(2) x1 x2', 'x2^2']
    >>> print(phi.kernel)
    linear + linear**2
    """

    @property
    def kernel(self) -> Kernel:
        """The sum of the kernels of both parts."""
        first, second = self._kernels
        return first + second

    @property
    def expansion_(self) -> Expansion:
        """Monomials and coefficients; AttributeError where a part has none."""
        return added(self.first_.expansion_, self.second_.expansion_)

    def n_features(self) -> int:
        return self.first_.n_features() + self.second_.n_features()

    def features(self, X: Any) -> Any:
        parts = [self.first_.features(X), self.second_.features(X)]
        if any(issparse(part) for part in parts):
            return hstack([csr_array(part) for part in parts], format="csr")
        return np.concatenate(parts, axis=1)

    def feature_names(self, inputs: list[str]) -> list[str]:
        return unique([*self.first_.feature_names(inputs), *self.second_.feature_names(inputs)])

    def _combined(self, bounds: list[float], lengths: list[float]) -> tuple[float, float]:
        """|k1 + k2 - a1 - a2| <= |k1 - a1| + |k2 - a2|."""
        return sum(bounds), sum(lengths)
