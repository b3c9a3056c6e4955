"""How many random Fourier features suffice: bounds that hold before any is drawn, for independent frequencies."""

from __future__ import annotations

import math
import numbers
from typing import Any

from mercer.errors import InputError, KernelError, message, speaks
from mercer.kernels import Kernel, Laplace, Matern, On, ProductLaplace
from mercer.kernels.algebra.mapped import Mapped
from mercer.kernels.law import Doubling, Law
from mercer.lifts.coerce import stated

FORMS = ("pairs", "offset")
ERRORS = ("kernel", "distance")


@speaks
def components_for(
    kernel: Kernel | str, epsilon: float, delta: float, n: int, form: str = "pairs", error: str = "kernel"
) -> int:
    """The number of features with which all pairs of n points are within epsilon, with probability 1 - delta.

    Parameters
    ----------
    kernel : Kernel or str
        A stationary kernel, or its text; lengthscales may be open.
    epsilon : float
        Positive; for error="distance" below one.
    delta : float
        Between zero and one.
    n : int
        How many points, at least one.
    form : {"pairs", "offset"}, default="pairs"
        The form of the features.
    error : {"kernel", "distance"}, default="kernel"
        "kernel" for `|phi(x).phi(z) - k(x, z)| <= epsilon`; "distance" for `|phi(x) - phi(z)|` within 1 - epsilon to 1
        + epsilon times the kernel distance, which is known for the Gaussian kernel and for pairs.

    Returns
    -------
    int

    Examples
    --------
    >>> components_for("gaussian", epsilon=0.1, delta=0.01, n=1_000_000)
    7308
    """
    _check(epsilon, delta, n, form, error)
    known = stated(kernel, subject="RandomFourier")
    law = law_of(_anywhere(known), _width(known))
    if error == "kernel":
        return for_values(law, epsilon, delta, n, form)
    _refuse_distance(known, law, epsilon, form)
    return for_distances(epsilon, delta, n)


def for_values(law: Law, epsilon: float, delta: float, n: int, form: str) -> int:
    """The number of features for errors of kernel values.

    One frequency gives X with the mean k = k(x, z) / mass, and m independent ones their average. Bernstein: it is
    off by t or more with a probability of at most 2 exp(-m t^2 / (2 v + 2 b t / 3)), where X has a variance of at most
    v and |X - k| <= b. With N pairs of points, delta is shared among N such events.

    Pairs: X = cos(w.(x - z)), so that b = 2, and v is what the law knows (1/2 for the Gaussian). Two features a
    frequency. Pairs of equal points have no error: N = n (n - 1) / 2.

    Offset: X = 2 cos(w.x + t) cos(w.z + t) = cos(w.(x - z)) + cos(w.(x + z) + 2 t). For every w the second term has the
    mean 0 and the variance 1/2 over t, so that the variances add: v + 1/2. Since |X| <= 2, b = 3. One feature a
    frequency. A point with itself has an error, too: N = n (n + 1) / 2.
    """
    t = epsilon / law.mass if law.mass > 0 else math.inf
    pairs = form == "pairs"
    variance, reach = (law.doubling.spread, 2.0) if pairs else (law.doubling.spread + 0.5, 3.0)
    events = n * (n - 1) / 2 if pairs else n * (n + 1) / 2
    frequencies = math.log(2 * max(events, 1) / delta) * (2 * variance / t + 2 * reach / 3) / t
    return max(1, math.ceil(frequencies)) * (2 if pairs else 1)


def for_distances(epsilon: float, delta: float, n: int) -> int:
    """The number of features, in pairs, for relative errors of the distances of a Gaussian kernel.

    For a difference of length r (in lengthscales) the halved square |phi(x) - phi(z)|^2 / 2, over the mass, is the
    average of m draws of Y = 1 - cos(r g), g standard normal, with the mean u = 1 - exp(-s), s = r^2 / 2. Claim: for
    every r the average of Y / u has lighter tails than that of g^2, the squared length of a random projection (Johnson
    and Lindenstrauss). So, with h(e) = (1 + e)^2 - 1 - 2 log(1 + e), as for chi-squared laws,

        P(|phi(x) - phi(z)| > (1 + e) true) <= exp(-m h(e) / 2),   P(... < (1 - e) true) <= exp(-m h(-e) / 2),

    and h(-e) >= h(e). Both are at most delta / (2 N) from m = 2 log(2 N / delta) / h(e) on.

    Proof. By Stein's lemma E[g f(g)] = E f'(g), with sin^2 = Y (2 - Y) and cos = 1 - Y,

        d/ds E Y^k = k ((2 k - 1) E Y^(k-1) - k E Y^k),

    and for M_k = E (Y / u)^k, since du/ds = 1 - u,

        dM_k/ds = (k / u) ((2 k - 1) M_(k-1) - (1 + (k - 1) u) M_k).                                            (1)

    Upper tail: M_k <= (2 k - 1)!!, the moments of g^2. This holds for k = 1, where M_1 = 1, and for all k as s -> 0. If
    it holds for k - 1, then by (1) M_k falls wherever it is above (2 k - 1)!!, so it never gets there. Hence
    E exp(a Y / u) <= E exp(a g^2) = (1 - 2 a)^(-1/2) for 0 <= a < 1/2, and Chernoff's bound is that of g^2.

    Lower tail: F(a, s) = E exp(-a Y / u). Summing (1) times (-a)^k / k! gives

        u F_s + a (1 + 2 a) F_a + a F + u a^2 F_aa = 0,   where F_aa >= 0.

    So G = (1 + 2 a)^(1/2) F has u G_s + a (1 + 2 a) G_a <= 0: it does not rise along the curves da/ds = a (1 + 2 a)
    / u, which are a / (1 + 2 a) = const (exp(s) - 1) and start at a = 0, where G = 1. Hence F <= (1 + 2 a)^(-1/2), as
    for g^2.
    """
    events = max(n * (n - 1) / 2, 1)
    exponent = epsilon * (2 + epsilon) - 2 * math.log1p(epsilon)
    return 2 * max(1, math.ceil(2 * math.log(2 * events / delta) / exponent))


# -- the law of a kernel, or why there is none -----------------------------------------------------------------------


def law_of(kernel: Kernel, d: int) -> Law:
    """The law of a kernel on d columns; an error names the part of the kernel that has none."""
    law = kernel.law(d)
    if law is None:
        part = _without_law(kernel, d)
        got = f"{part if part.children else part.name} has none"
        remedy = "Use Nystrom, which takes any kernel."
        raise KernelError(message("a stationary kernel whose spectral law is known", got, remedy))
    return law


def _without_law(kernel: Kernel, d: int) -> Kernel:
    inner = kernel.inner_width(d) if isinstance(kernel, Mapped) else d
    for child in kernel.children:
        if inner and child.law(inner) is None:
            return _without_law(child, inner)
    return kernel


def _anywhere(kernel: Kernel) -> Kernel:
    """The kernel on the first columns: where its columns stand, or how they are called, does not change a bound."""
    children = tuple(_anywhere(child) for child in kernel.children)
    if isinstance(kernel, On):
        return On(children[0], tuple(range(len(kernel.columns))))
    return kernel.with_children(children) if children else kernel


def _width(kernel: Kernel) -> int:
    """A number of columns that fits; which one does not change a bound."""
    own = len(kernel.columns) if isinstance(kernel, On) else kernel.width or 1
    return own if isinstance(kernel, Mapped) else max([own, *map(_width, kernel.children)])


# -- what is asked -------------------------------------------------------------------------------------------------


def check_form(form: str) -> None:
    """Refuse other forms than the two."""
    if form not in FORMS:
        raise InputError(message("form 'pairs' or 'offset'", f"got {form!r}", "Use 'pairs'."))


def check_share(name: str, value: Any, most: float = 1.0) -> None:
    """Refuse what is not a positive number below `most`."""
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not (number and 0 < value < most):
        needs = f"{name} between zero and {most:g}" if most < math.inf else f"a positive {name}"
        raise InputError(message(needs, f"got {value!r}", "Use 0.1 for epsilon, 0.01 for delta."))


def _check(epsilon: Any, delta: Any, n: Any, form: str, error: str) -> None:
    check_form(form)
    if error not in ERRORS:
        remedy = "Use 'kernel' if in doubt."
        raise InputError(message("error 'kernel' or 'distance'", f"got {error!r}", remedy))
    check_share("epsilon", epsilon, 1.0 if error == "distance" else math.inf)
    check_share("delta", delta)
    if isinstance(n, bool) or not isinstance(n, numbers.Integral) or n < 1:
        remedy = "Give the number of points."
        raise InputError(message("an integer n of at least one", f"got {n!r}", remedy))


def _refuse_distance(kernel: Kernel, law: Law, epsilon: float, form: str) -> None:
    needs = "the Gaussian kernel and form 'pairs' to bound relative errors of distances"
    if form != "pairs":
        raise InputError(message(needs, f"got form {form!r}", "Use 'pairs'."))
    if law.doubling == Doubling.GAUSSIAN:
        return
    got = f"for {kernel} no bound is proven"
    if any(_like_laplace(leaf) for leaf in _leaves(kernel)):
        got = (
            f"for {kernel} there is none: for near points the variance of a squared distance is (1 + k) / (2 (1 - k)) "
            "times its square, beyond every bound (Cheng, Jiang, Wei and Wei 2022)"
        )
    raise KernelError(message(needs, got, "Ask for error='kernel', or certify a lift on data."))


def _like_laplace(leaf: Kernel) -> bool:
    return isinstance(leaf, Laplace | ProductLaplace) or (isinstance(leaf, Matern) and leaf.nu == 0.5)


def _leaves(kernel: Kernel) -> list[Kernel]:
    return [kernel] if not kernel.children else [leaf for child in kernel.children for leaf in _leaves(child)]
