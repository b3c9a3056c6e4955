"""How many random Fourier features keep the distances of a Gaussian kernel, relatively, and for which kernels none do.

For a difference of length r (in lengthscales), s = r^2 / 2 and g standard normal, Y = 1 - cos(r g) has the mean
u = 1 - exp(-s), which is half of the squared kernel distance over the mass. Of the features of m frequencies the same,
|phi(x) - phi(z)|^2 / (2 mass), is the average of m independent draws of

    pairs:   Y,                  since (cos a - cos b)^2 + (sin a - sin b)^2 = 2 (1 - cos(a - b)),
    offset:  Y W, W = 2 sin^2 v, since (cos a - cos b)^2 = 4 sin^2((a - b) / 2) sin^2((a + b) / 2),

where v = w.(x + z) / 2 + t is uniform on a turn for every w, as t is, so that W does not depend on Y. Its mean is 1.

**Claim.** For every r > 0, however small, Y / u has no larger exponential moments than g^2:

    E exp(b Y / u) <= (1 - 2 b)^(-1/2) for all b < 1/2, negative ones too.                                         (*)

So pairs keep a distance as a random projection does (Johnson and Lindenstrauss), whose law g^2 is at r = 0.

Proof. By Stein's lemma E[g f(g)] = E f'(g), with sin^2 = Y (2 - Y) and cos = 1 - Y,

    d/ds E Y^k = k ((2 k - 1) E Y^(k-1) - k E Y^k),

and for M_k = E (Y / u)^k, since du/ds = 1 - u,

    dM_k/ds = (k / u) ((2 k - 1) M_(k-1) - (1 + (k - 1) u) M_k).                                                   (1)

b > 0: M_k <= (2 k - 1)!!, the moments of g^2. This holds for k = 1, where M_1 = 1, and for all k as s -> 0. If it holds
for k - 1, then by (1) M_k falls wherever it is above (2 k - 1)!!, so it never gets there. Sum over k.

b = -a < 0: let F(a, s) = E exp(-a Y / u). Summing (1) times (-a)^k / k! gives

    u F_s + a (1 + 2 a) F_a + a F + u a^2 F_aa = 0,   where F_aa >= 0.

So G = (1 + 2 a)^(1/2) F has u G_s + a (1 + 2 a) G_a <= 0: it does not rise along the curves da/ds = a (1 + 2 a) / u,
which are a / (1 + 2 a) = const (exp(s) - 1) and start at a = 0, where G = 1. Hence F <= (1 + 2 a)^(-1/2).

**Offset.** For each W <= 2 put b W for b into (*), and take the mean over v, by Gauss's arithmetic-geometric mean:

    E exp(b Y W / u) <= E (1 - 4 b sin^2 v)^(-1/2) = (2 / pi) K(4 b) = 1 / agm(1, (1 - 4 b)^(1/2)) for all b < 1/4,

K the complete elliptic integral of the parameter 4 b. At r = 0 the law is that of g^2 W, of the variance 7/2.

**Tails.** Let x = 1 + e for the upper one, x = 1 - e for the lower one. |phi(x) - phi(z)| is beyond x times the kernel
distance when the average of Y / u, or of Y W / u, is beyond x^2, and by Chernoff this has a probability of at most
exp(-m I(x)). With q^2 = 1 - 2 b for pairs, 1 - 4 b for the offset form, where q > 0 is free,

    pairs:   I(x) = (1 - q^2) x^2 / 2 + log q,           best at q = 1 / x,
    offset:  I(x) = (1 - q^2) x^2 / 4 + log agm(1, q),   for x > 1 within 0.01 % of its best at q = x^(-8/7).

All N = n (n - 1) / 2 pairs of different rows are within e with probability 1 - delta, if m I >= log(2 N / delta) for
the smaller I of the two tails. Equal points have no error in either form. To first order I is e^2 for pairs, which have
two features a frequency, and 4 e^2 / 7 for the offset form, which has one: per feature the latter is a little better,
since of two near points the cosine and the sine of one frequency say the same. Of far points it is the other way round.
"""

from __future__ import annotations

import math

from scipy.special import agm

from mercer.errors import KernelError, message
from mercer.kernels import Kernel, Laplace, Matern, ProductLaplace
from mercer.kernels.law import Doubling, Law

SMALL_EPSILON = 1e-4
"""Below it the exponents are taken from their series, since differences of numbers near 1 have few digits."""
REMEDY = "Ask for error='kernel'; LiftErrorDisplay.from_lift(lift, X, error='distance') shows how far they are off."


def for_distances(epsilon: float, delta: float, n: int, form: str) -> int:
    """The number of features for relative errors of the distances of a Gaussian kernel."""
    events = max(n * (n - 1) / 2, 1)
    frequencies = max(1, math.ceil(math.log(2 * events / delta) / exponent(epsilon, form)))
    return frequencies * (2 if form == "pairs" else 1)


def exponent(epsilon: float, form: str) -> float:
    """The smaller I of both tails: a frequency divides the probability of each by exp(I) at least.

    >>> round(exponent(0.1, "pairs"), 5), round(exponent(0.1, "offset"), 5)
    (0.00969, 0.00549)
    """
    pairs = form == "pairs"
    if epsilon < SMALL_EPSILON:  # e^2 (1 - e/3 + ...), and 4/7 e^2 (1 - 0.42 e + ...)
        return (1.0 if pairs else 4 / 7) * epsilon**2 * (1 - epsilon)
    rate = _rate_of_pairs if pairs else _rate_of_offsets
    return min(rate(1 + epsilon), rate(1 - epsilon))


def _rate_of_pairs(x: float) -> float:
    return (x * x - 1) / 2 - math.log(x)


def _rate_of_offsets(x: float) -> float:
    # The best q is below sqrt(2) / x: there q^2 x^2 / 2 is q times the derivative of log agm(1, q), which is below 1.
    q = min(math.pow(x, -8 / 7), math.sqrt(2) / x)
    return (1 - q * q) * x * x / 4 + math.log(agm(1.0, q))


# -- for which kernels ---------------------------------------------------------------------------------------------


def keeps_distances(law: Law) -> bool:
    """Whether w.(x - z) is normal for all x and z, for which the bound is proven.

    >>> from mercer.kernels import Gaussian, Matern
    >>> keeps_distances((2 * Gaussian(3.0)).law(2)), keeps_distances(Matern(1.5).law(2))
    (True, False)
    """
    return law.doubling == Doubling.GAUSSIAN


def refuse_unproven(kernel: Kernel, law: Law) -> None:
    """Refuse kernels for whose distances no number of features is known to suffice."""
    refuse_rough(kernel)
    if not keeps_distances(law):
        needs = "the Gaussian kernel to bound relative errors of distances"
        remedy = "Ask for error='kernel'; of a fitted lift certificate(X, error='distance') measures it."
        raise KernelError(message(needs, f"for {kernel} no bound is proven", remedy))


def refuse_rough(kernel: Kernel) -> None:
    """Refuse kernels with a kink at x = z, whose distances no number of waves keeps."""
    if any(_like_laplace(leaf) for leaf in _leaves(kernel)):
        needs = "a smooth kernel, such as the Gaussian, to bound relative errors of distances"
        got = (
            f"for {kernel} there is none: for near points the variance of a squared distance is (1 + k) / (2 (1 - k)) "
            "times its square, beyond every bound (Cheng, Jiang, Wei and Wei 2022)"
        )
        raise KernelError(message(needs, got, REMEDY))


def _like_laplace(leaf: Kernel) -> bool:
    return isinstance(leaf, Laplace | ProductLaplace) or (isinstance(leaf, Matern) and leaf.nu == 0.5)


def _leaves(kernel: Kernel) -> list[Kernel]:
    return [kernel] if not kernel.children else [leaf for child in kernel.children for leaf in _leaves(child)]
