"""Random Fourier features: a stationary kernel is an average of waves, and some of them are enough."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from mercer.compute.codegen.sparse import canonical, is_sparse
from mercer.compute.consistency import shapes
from mercer.compute.runtime.memory import MAX_UNASKED_BYTES, Budget
from mercer.errors import InputError, message, speaks
from mercer.kernels import Kernel, On
from mercer.kernels.evaluation.evaluate import check_dimension, leaves
from mercer.kernels.law import Law
from mercer.kernels.points import Points
from mercer.lifts.audit import audited
from mercer.lifts.base import Lift
from mercer.lifts.certificate import Certificate
from mercer.lifts.coerce import check_numbers, stated
from mercer.lifts.components import check_error, check_form, check_promise, components_for, enough, law_of
from mercer.lifts.distance_audit import audited_distances
from mercer.lifts.fourier_loops import Waves
from mercer.lifts.randomness import generator
from mercer.lifts.sampling import source

DEFAULT_FEATURES = 100
"""How many features there are where neither their number nor an error is given."""


class RandomFourier(Lift):
    """Random Fourier features: waves cos(w.x), sin(w.x) whose frequencies w are drawn from the kernel's spectral law.

    For a stationary kernel k(x, z) = mass E[cos(w.(x - z))] (Bochner's theorem). With m frequencies,

        pairs (D = 2 m):  phi(x) = sqrt(mass / m) [cos(w_1.x) ... cos(w_m.x), sin(w_1.x) ... sin(w_m.x)],
        offset (D = m):   phi(x) = sqrt(2 mass / m) [cos(w_1.x + t_1) ... cos(w_m.x + t_m)],  t uniform on 0 .. 2 pi.

    Pairs have the smaller variance. Here x is measured from the mean c of the training rows (`center_`): that changes
    no inner product of pairs, and keeps the phases of data far from zero. Sparse data, and any with center=False, is
    measured from zero. Names of features say which: cos(w1.(x - c)) or cos(w1.x). Cost: fit, m d^2 for orthogonal
    frequencies; transform, n m d, and n D numbers.

    Parameters
    ----------
    kernel : Kernel or str, default="gaussian('median')"
        A stationary kernel with a known spectral law, or its text; a lengthscale of "median", or left out of a text, is
        found from the data.
    n_components : int or None, default=None
        D, even for pairs (except 1, which is a wave with an offset); None for 100, or for the number that epsilon
        needs.
    form : {"pairs", "offset"}, default="pairs"
        The form of the features, as above.
    sampling : {"orthogonal", "iid", "qmc"} or None, default=None
        "orthogonal" (Yu et al. 2016: directions orthogonal in blocks of d; laws that are not built from normal numbers
        are drawn independently), "iid", "qmc" (scrambled Sobol); None for "orthogonal", and for "iid" where epsilon is
        given, since the bound is proven for independent draws.
    epsilon : float or None, default=None
        With probability 1 - delta no error on the pairs of training rows is larger.
    delta : float, default=0.01
        Between zero and one.
    error : {"kernel", "distance"}, default="kernel"
        The error that epsilon bounds: "kernel" for `|phi(x).phi(z) - k(x, z)|`; "distance" for the relative error of
        `|phi(x) - phi(z)|` against the kernel distance, with epsilon below one, for the Gaussian kernel.
    center : bool, default=True
        Whether x is measured from the mean of the training rows, or from zero.
    random_state : int, Generator or None, default=None
        The source of the draws.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel, with its open numbers found and its columns by position.
    frequencies_ : array of shape (m, d)
        One frequency per row.
    offsets_ : array of shape (m,) or None
        None for pairs.
    center_ : array of shape (d,)
        The origin c.
    mass_ : float
        k(x, x).
    n_components_ : int
        D.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> lift = RandomFourier("gaussian('median')", n_components=200, random_state=0).fit(X)
    >>> lift.transform(X).shape
    (300, 200)
    >>> lift.certificate(X).kind
    'maximum'
    >>> RandomFourier.components_for("gaussian", epsilon=0.1, delta=0.01, n=1_000_000)
    7308
    >>> near = RandomFourier("gaussian(1)", epsilon=0.3, error="distance", center=False, random_state=0).fit(X)
    >>> near.n_components_, near.certificate(X, error="distance").bound < 0.3
    (388, True)

    References
    ----------
    Rahimi and Recht, Random features for large-scale kernel machines, NIPS 2007; Sutherland and Schneider, On the error
    of random Fourier features, UAI 2015 (why pairs).
    """

    exact: ClassVar[bool] = False
    takes_sparse: ClassVar[bool] = True

    def __init__(
        self,
        kernel: Kernel | str = "gaussian('median')",
        n_components: int | None = None,
        *,
        form: str = "pairs",
        sampling: str | None = None,
        epsilon: float | None = None,
        delta: float = 0.01,
        error: str = "kernel",
        center: bool = True,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.form = form
        self.sampling = sampling
        self.epsilon = epsilon
        self.delta = delta
        self.error = error
        self.center = center
        self.random_state = random_state

    components_for = staticmethod(components_for)

    def _read(self, X: ArrayLike, reset: bool) -> Any:
        if reset:
            check_numbers(self.kernel)
        return super()._read(X, reset)

    def learn(self, X: Any) -> None:
        check_form(self.form)
        check_error(self.error)
        if not isinstance(self.center, bool | np.bool_):
            raise InputError(message("center True or False", f"got {self.center!r}", "Leave it out if in doubt."))
        self.kernel_ = self._resolved(X)
        law = law_of(self.kernel_, X.shape[1])
        self.n_components_ = self._components(law, X.shape[0])
        offset = self.form == "offset" or self.n_components_ == 1
        m = self.n_components_ if offset else self.n_components_ // 2
        _afford(m, X.shape[1])
        draws = source(self._sampling(), m, law.columns + offset, generator(self.random_state))
        self.frequencies_ = _finite(law.draw(draws))
        self.offsets_ = 2 * np.pi * draws.uniforms(1)[:, 0] if offset else None
        self.mass_ = law.mass
        self.center_ = _mean(X) if self.center and not is_sparse(X) else np.zeros(X.shape[1])

    _saved: ClassVar[Mapping[str, Any]] = {
        "kernel_": Kernel,
        "n_components_": int,
        "frequencies_": NDArray[np.float64],
        "offsets_": NDArray[np.float64] | None,
        "mass_": float,
        "center_": NDArray[np.float64],
    }

    def _inconsistency(self) -> str:
        m, d = len(self.frequencies_), self.n_features_in_
        if self.n_components_ != (2 * m if self.offsets_ is None else m):
            return f"got {self.n_components_} components for {m} frequencies"
        offsets = [] if self.offsets_ is None else [(self.offsets_, (m,))]
        return shapes((self.frequencies_, (None, d)), (self.center_, (d,)), *offsets)

    def _resolved(self, X: Any) -> Kernel:
        """The kernel with its numbers found, and its columns by position: frequencies know no names."""
        names = tuple(getattr(self, "feature_names_in_", ())) or None
        kernel = stated(self.kernel)
        if kernel.is_open:
            values = canonical(X) if is_sparse(X) else np.asarray(X, dtype=np.float64)
            kernel = kernel.resolve_points(Points(values, names))
        row = X[:1].toarray() if is_sparse(X) else X[:1]
        first = Points(np.asarray(row, dtype=np.float64), names)
        for leaf, seen in leaves(kernel, first):
            check_dimension(leaf, seen)
        return placed(kernel, first)

    def _components(self, law: Law, n: int) -> int:
        if self.epsilon is not None:
            return self._components_for_error(law, n, self.epsilon)
        count = DEFAULT_FEATURES if self.n_components is None else self.n_components
        if isinstance(count, bool) or not isinstance(count, numbers.Integral) or count < 1:
            needs = "n_components to be a positive integer, or None"
            raise InputError(message(needs, f"got {count!r}", "Use 100 if in doubt."))
        if self.form == "pairs" and count % 2 and count > 1:
            needs, got = "an even n_components for pairs of a cosine and a sine", f"got {count}"
            raise InputError(message(needs, got, f"Use {count + 1}, or form='offset'."))
        return int(count)

    def _components_for_error(self, law: Law, n: int, epsilon: float) -> int:
        check_promise(epsilon, self.delta, self.error)
        if self.n_components is not None:
            got = f"got n_components={self.n_components!r} and epsilon={epsilon!r}"
            raise InputError(message("n_components or epsilon, not both", got, "Leave one out."))
        return enough(self.kernel_, law, epsilon, self.delta, n, self.form, self.error)

    def _sampling(self) -> str:
        if self.epsilon is None:
            return "orthogonal" if self.sampling is None else self.sampling
        if self.sampling not in (None, "iid"):
            needs = "independent draws for epsilon, since its bound is proven for these"
            remedy = "Leave sampling out, or give n_components instead of epsilon."
            raise InputError(message(needs, f"got sampling={self.sampling!r}", remedy))
        return "iid"

    def n_features(self) -> int:
        return self.n_components_

    @property
    def waves(self) -> Waves:
        """The features, as waves of their frequencies."""
        scale = np.sqrt((1 if self.offsets_ is None else 2) * self.mass_ / len(self.frequencies_))
        return Waves(self.frequencies_, self.center_, float(scale), self.offsets_)

    def features(self, X: Any) -> NDArray[Any]:
        return self.waves.of(X)

    def feature_names(self, inputs: list[str]) -> list[str]:
        places, x = range(1, len(self.frequencies_) + 1), "(x - c)" if self.center_.any() else "x"
        if self.offsets_ is not None:
            return [f"cos(w{j}.{x} + t{j})" for j in places]
        return [f"cos(w{j}.{x})" for j in places] + [f"sin(w{j}.{x})" for j in places]

    @speaks
    def certificate(self, X: ArrayLike, delta: float = 0.01, error: str = "kernel") -> Certificate:
        """How far phi(x).phi(z) is from k(x, z), or `|phi(x) - phi(z)|` from the kernel distance, on the rows of X.

        For up to 2,000 rows all pairs are computed. For more a sample bounds the mean error of kernel values, or the
        relative error of distances for all but a few pairs. A value of the kernel is at most the mass, and so is an
        inner product of pairs; of offset waves, twice it.

        Parameters
        ----------
        X : array, sparse array or DataFrame of shape (n, d)
            The rows whose pairs are bounded.
        delta : float, default=0.01
            The probability with which the bound may fail, where it rests on a sample.
        error : {"kernel", "distance"}, default="kernel"
            "distance" for `| |phi(x) - phi(z)| / distance - 1 |` with the kernel distance; the Laplace kernel is
            refused, whose near distances no number of waves keeps.

        Returns
        -------
        Certificate
        """
        check_is_fitted(self)
        check_error(error)
        if error == "distance":
            return audited_distances(self, self.kernel_, X, delta)
        return audited(self, self.kernel_, X, delta, (2 if self.offsets_ is None else 3) * self.mass_)


def placed(kernel: Kernel, points: Points) -> Kernel:
    """The kernel with columns by position instead of by name."""
    if not kernel.children:
        return kernel
    inner = kernel.inner_points(points)
    children = tuple(placed(child, inner) for child in kernel.children)
    if isinstance(kernel, On):
        return On(children[0], tuple(points.position(column, subject="on") for column in kernel.columns))
    return kernel.with_children(children)


def _mean(X: NDArray[Any]) -> NDArray[np.float64]:
    """The mean row, which no sum overflows."""
    return np.asarray((X / X.dtype.type(len(X))).sum(axis=0, dtype=np.float64))


def _afford(m: int, d: int) -> None:
    size = 2 * 8 * m * d  # the frequencies, and a copy of them for products
    if size > MAX_UNASKED_BYTES:
        remedy = "Use fewer components, or a larger epsilon."
        Budget.of(None).require(size, f"{m} frequencies of {d} columns", remedy)


def _finite(frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
    if not np.isfinite(frequencies).all():
        got = "a frequency is beyond float64"
        raise InputError(message("frequencies that a float can hold", got, "Scale the data up."))
    return frequencies
