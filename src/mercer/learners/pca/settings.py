"""The settings of principal components, checked: alone, and against the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

from mercer.errors import InputError, message
from mercer.learners.data.validation import AUTO, shown
from mercer.learners.data.views import KernelView, LiftView, MatrixView, View
from mercer.learners.parameters import boolean, positive_float, positive_int, positive_int_or_none, refuse_loo

EXACT, KRYLOV, LANDMARKS = "exact", "krylov", "landmarks"
METHODS = (AUTO, EXACT, KRYLOV, LANDMARKS)


class PCAParameters(Protocol):
    """Kernel PCA, as its settings are read; values are what the user gave."""

    n_components: Any
    lengthscale: Any
    method: Any
    n_landmarks: Any
    tol: Any
    max_iter: Any
    fit_inverse_transform: Any


@dataclass(frozen=True)
class PCASettings:
    """The parameters, checked.

    components : how many; None for all
    method : one of `METHODS`
    n_landmarks : how many landmarks; None for the planner's choice
    tolerance, products : when products with the kernel matrix end
    preimages : whether the inverse transform is learned
    """

    components: int | None
    method: str
    n_landmarks: int | None
    tolerance: float
    products: int
    preimages: bool

    @classmethod
    def of(cls, given: PCAParameters) -> PCASettings:
        """The parameters of a learner, or one clear error."""
        if not (isinstance(given.method, str) and given.method in METHODS):
            needs = f"method that is one of {', '.join(map(repr, METHODS))}"
            raise InputError(message(needs, f"got {shown(given.method)}", "Use 'auto', the default."))
        preimages = boolean("fit_inverse_transform", given.fit_inverse_transform, "Use False, the default.")
        refuse_loo(given.lengthscale, 'got "loo", which is for least squares', 'Use "median".')
        products = positive_int("max_iter", given.max_iter, "Use 60.")
        components = positive_int_or_none("n_components", given.n_components)
        landmarks = positive_int_or_none("n_landmarks", given.n_landmarks)
        tolerance = positive_float("tol", given.tol, "Use 1e-6.")
        return cls(components, given.method, landmarks, tolerance, products, preimages)

    def check(self, view: View, stored: bool) -> None:
        """Refuse what cannot be done with these rows."""
        self._check_method(view, stored)
        self._check_landmarks(view)
        if self.preimages and (isinstance(view, MatrixView) or not stored):
            got = "the rows stay in their source" if not stored else "the kernel is precomputed"
            self._refuse("rows in memory for fit_inverse_transform=True", got, "Use False.")

    def _check_method(self, view: View, stored: bool) -> None:
        method = f"method={self.method!r}"
        if self.method == KRYLOV and self.components is None:
            got, remedy = "n_components is None", "Give a number, or use method='exact' for all."
            self._refuse(f"a number of components for {method}", got, remedy)
        if self.method != AUTO and isinstance(view, LiftView):
            got = f"{type(view.lift).__name__} is a lift, whose features are used"
            self._refuse(f"a kernel for {method}", got, "Use 'auto'.")
        if self.method in (EXACT, KRYLOV) and not stored:
            got, remedy = "the rows are too many, and stay in their source", "Use 'auto', or raise memory_limit."
            self._refuse(f"rows in memory for {method}", got, remedy)
        if self.method == LANDMARKS and isinstance(view, MatrixView):
            self._refuse(f"a kernel for {method}", "the kernel is precomputed", "Use 'auto', or give the rows.")
        if self.method == LANDMARKS and not view.sure:
            got, remedy = f"{view.kernel} is not", "Use 'exact', which looks at the matrix."
            self._refuse(f"a kernel that is proven for {method}", got, remedy)

    def _check_landmarks(self, view: View) -> None:
        if self.n_landmarks is None:
            return
        if self.method in (EXACT, KRYLOV):
            got, remedy = f"method={self.method!r} has none", "Leave n_landmarks out, or use 'landmarks'."
            self._refuse(f"landmarks for n_landmarks={self.n_landmarks}", got, remedy)
        if not isinstance(view, KernelView):
            got = "the kernel is precomputed" if isinstance(view, MatrixView) else "a lift was given"
            self._refuse(f"a kernel for n_landmarks={self.n_landmarks}", got, "Leave n_landmarks out.")
        if self.components is not None and self.n_landmarks < self.components:
            needs = f"at least n_components landmarks, {self.components}"
            self._refuse(needs, f"got n_landmarks={self.n_landmarks}", "Use more landmarks.")

    def _refuse(self, needs: str, got: str, remedy: str) -> NoReturn:
        raise InputError(message(needs, got, remedy))
