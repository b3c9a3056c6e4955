"""What a test found: the statistic, its law without a difference, and the p-value."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from mercer.errors import NumericalWarning, caller_level
from mercer.kernels import Kernel

Array = NDArray[np.float64]

RELATIVE_ROUNDING = 1e-13
"""How far rounding may move a statistic, as a part of the mean k(x, x), which bounds it: sums of many values, each
known to 5e-13 at worst, whose errors have both signs."""
DOUBTFUL_ROUNDINGS = 100.0
"""A statistic that by chance is not so many times larger than rounding is told of."""


@dataclass(frozen=True, eq=False)
class Null:
    """The law of a statistic where there is no difference, or no dependence.

    name : "permutation", "spectral" or "normal"
    sample : draws from it; none of a normal law
    spread : its standard deviation
    skewness : of a normal law, by how much it is not quite normal
    """

    name: str
    sample: Array
    spread: float
    skewness: float = 0.0

    @classmethod
    def of_sample(cls, name: str, sample: Array) -> Null:
        """A law of which draws are known."""
        return cls(name, sample, float(sample.std()))

    def p_value(self, statistic: float, rounding: float) -> float:
        """The share of the law at or above a statistic; what differs by rounding is equal.

        With B draws it is (1 + #{draws >= statistic}) / (1 + B): the statistic itself counts as a draw, which makes
        the p-value of a permutation test valid for every B, and never zero. Of a normal law it is the tail with the
        first term of its Edgeworth series, 1 - F(z) + f(z) (z^2 - 1) skewness / 6.
        """
        if len(self.sample):
            return float(1 + np.count_nonzero(self.sample >= statistic - rounding)) / (1 + len(self.sample))
        if self.spread <= rounding and statistic <= rounding:  # nothing differs from anything
            return 1.0
        return self._tail(statistic / self.spread) if self.spread > 0 else 0.0

    def _tail(self, z: float) -> float:
        density = math.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
        return min(max(float(ndtr(-z)) + density * (z**2 - 1) * self.skewness / 6, 0.0), 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The result of `mmd` or `hsic`.

    Parameters
    ----------
    test : {"mmd", "hsic"}
        The test.
    statistic : float
        The unbiased estimate of the squared distance; it may be negative.
    p_value : float
        The probability of so large a statistic, or a larger one, without a difference, or without dependence.
    null : {"permutation", "spectral", "normal"}
        The null distribution.
    method : {"exact", "features", "blocks"}
        How the statistic was computed.
    kernels : tuple of Kernel
        With their numbers; one of `mmd`, two of `hsic`.
    sizes : (int, int)
        The rows of X and Y.
    permutations : int
        How many permutations, or draws of a spectral null; 0 of a normal one.
    null_sample : array of shape (permutations,)
        Statistics of permuted rows, or draws of the spectral null; read-only.
    spread : float
        The standard deviation of the null.
    detail : str
        What was summed over, in words.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import mmd
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> mmd(X[:20], X[20:] + 1.0, "gaussian(1)", random_state=0)
    Comparison('mmd', statistic=0.3057, p_value=0.000999, null='permutation', method='exact')
    """

    test: str
    statistic: float
    p_value: float
    null: str
    method: str
    kernels: tuple[Kernel, ...]
    sizes: tuple[int, int]
    permutations: int
    null_sample: Array
    spread: float
    detail: str

    @property
    def kernel(self) -> Kernel:
        """The kernel of `mmd`; an AttributeError where there are two."""
        if len(self.kernels) > 1:
            raise AttributeError(f"kernel: {self.test} has two, see kernels")
        return self.kernels[0]

    def __repr__(self) -> str:
        found = f"statistic={self.statistic:.4g}, p_value={self.p_value:.3g}"
        return f"Comparison({self.test!r}, {found}, null={self.null!r}, method={self.method!r})"

    def __str__(self) -> str:
        left, right = self.sizes
        rows = f"{left:,} and {right:,} rows" if self.test == "mmd" else f"{left:,} pairs of rows"
        judges = {
            "permutation": f"{self.permutations:,} permutations",
            "spectral": f"spectral null, {self.permutations:,} draws",
            "normal": "normal null",
        }
        found = f"statistic {self.statistic:.4g}, p-value {self.p_value:.3g} ({judges[self.null]})"
        return f"{self.test} of {rows}: {found}\n  {' and '.join(map(str, self.kernels))}: {self.detail}"


@dataclass(frozen=True, eq=False)
class Finding:
    """What was computed of a statistic.

    null : its law where there is nothing to be found
    usual : how large it is by chance, about
    detail : what was summed over
    """

    statistic: float
    null: Null
    usual: float
    detail: str

    def concluded(
        self, test: str, method: str, kernels: tuple[Kernel, ...], sizes: tuple[int, int], scale: float
    ) -> Comparison:
        """The result of a test; a warning where rounding may have decided it.

        scale : what bounds the statistic: the mean k(x, x), or the product of two of them
        """
        rounding = RELATIVE_ROUNDING * scale
        if self.usual < DOUBTFUL_ROUNDINGS * rounding:
            warnings.warn(
                f"{test}: by chance the statistic is about {max(self.usual, 0.0):.1e}, and rounding may move it by "
                f"{rounding:.1e}, since values of the kernel are about {scale:.1e}: the p-value is too large, if "
                "anything. Centre and scale the columns, or use a kernel of distances.",
                NumericalWarning,
                stacklevel=caller_level(),
            )
        null, sample = self.null, self.null.sample.view()
        sample.flags.writeable = False
        p = null.p_value(self.statistic, rounding)
        judged = null.name, method, kernels, sizes, len(sample), sample, null.spread, self.detail
        return Comparison(test, self.statistic, p, *judged)
