"""How many random Fourier features suffice: bounds that hold before any is drawn, for independent frequencies."""

from __future__ import annotations

import math
import numbers
from typing import Any

from mercer.errors import InputError, KernelError, message, speaks
from mercer.kernels import Kernel, On
from mercer.kernels.algebra.mapped import Mapped
from mercer.kernels.law import Law
from mercer.lifts.coerce import stated
from mercer.lifts.distances import for_distances, refuse_unproven

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
        + epsilon times the kernel distance, which is proven for the Gaussian kernel, in both forms.

    Returns
    -------
    int

    Examples
    --------
    >>> components_for("gaussian", epsilon=0.1, delta=0.01, n=1_000_000)
    7308
    >>> [components_for("gaussian", 0.1, 0.01, n=1000, form=form, error="distance") for form in ("pairs", "offset")]
    [3802, 3353]
    """
    _check(epsilon, delta, n, form, error)
    known = stated(kernel, subject="RandomFourier")
    return enough(known, law_anywhere(known), epsilon, delta, n, form, error)


def enough(kernel: Kernel, law: Law, epsilon: float, delta: float, n: int, form: str, error: str) -> int:
    """The number of features for a kernel with this law; what is asked was checked."""
    if error == "kernel":
        return for_values(law, epsilon, delta, n, form)
    refuse_unproven(kernel, law)
    return for_distances(epsilon, delta, n, form)


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


def law_anywhere(kernel: Kernel) -> Law:
    """The law of a kernel on columns that fit it: which ones does not change a bound."""
    return law_of(_anywhere(kernel), _width(kernel))


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


def check_error(error: str) -> None:
    """Refuse other errors than the two."""
    if error not in ERRORS:
        remedy = "Use 'kernel' if in doubt."
        raise InputError(message("error 'kernel' or 'distance'", f"got {error!r}", remedy))


def check_promise(epsilon: Any, delta: Any, error: str) -> None:
    """Refuse an epsilon and a delta that promise nothing."""
    check_share("epsilon", epsilon, 1.0 if error == "distance" else math.inf)
    check_share("delta", delta)


def _check(epsilon: Any, delta: Any, n: Any, form: str, error: str) -> None:
    check_form(form)
    check_error(error)
    check_promise(epsilon, delta, error)
    if isinstance(n, bool) or not isinstance(n, numbers.Integral) or n < 1:
        remedy = "Give the number of points."
        raise InputError(message("an integer n of at least one", f"got {n!r}", remedy))
