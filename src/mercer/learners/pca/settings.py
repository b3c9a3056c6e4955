"""What is asked of principal components, checked: the settings alone, and against the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from mercer.errors import InputError, sentence
from mercer.learners.data.validation import AUTO, shown
from mercer.learners.data.views import KernelView, LiftView, MatrixView, View
from mercer.learners.parameters import boolean, positive_float, positive_int, positive_int_or_none, refuse_loo

DENSE, KRYLOV, LANDMARKS = "dense", "krylov", "landmarks"
WAYS = (AUTO, DENSE, KRYLOV, LANDMARKS)


@dataclass(frozen=True)
class Asked:
    """The parameters, checked.

    components : how many; None for all
    solver : one of `WAYS`
    rank : how many landmarks; None for the planner's choice
    tolerance, products : when products with the kernel matrix end
    preimages : whether the way back is learnt
    """

    who: str
    components: int | None
    solver: str
    rank: int | None
    tolerance: float
    products: int
    preimages: bool

    @classmethod
    def of(cls, estimator: Any) -> Asked:
        """The parameters of a learner, or one clear error."""
        who, solver, way_back = type(estimator).__name__, estimator.solver, estimator.fit_inverse_transform
        if not (isinstance(solver, str) and solver in WAYS):
            needs = f"solver that is one of {', '.join(map(repr, WAYS))}"
            raise InputError(sentence(who, needs, f"got {shown(solver)}", "Use 'auto', the default."))
        inverse = boolean(who, "fit_inverse_transform", way_back, "Use False, the default.")
        refuse_loo(who, estimator.lengthscale, 'got "loo", which is for least squares', 'Use "median".')
        products = positive_int(who, "max_iter", estimator.max_iter, "Use 60.")
        components = positive_int_or_none(who, "n_components", estimator.n_components)
        rank = positive_int_or_none(who, "rank", estimator.rank)
        tolerance = positive_float(who, "tol", estimator.tol, "Use 1e-6.")
        return cls(who, components, solver, rank, tolerance, products, inverse)

    def check(self, view: View, stored: bool) -> None:
        """Refuse what cannot be done with these rows."""
        self._check_solver(view, stored)
        self._check_rank(view)
        if self.preimages and (isinstance(view, MatrixView) or not stored):
            got = "the rows stay in their source" if not stored else "the kernel is precomputed"
            self._refuse("rows in memory for fit_inverse_transform=True", got, "Use False.")

    def _check_solver(self, view: View, stored: bool) -> None:
        asked = f"solver={self.solver!r}"
        if self.solver == KRYLOV and self.components is None:
            got, remedy = "n_components is None", "Give a number, or use solver='dense' for all."
            self._refuse(f"a number of components for {asked}", got, remedy)
        if self.solver != AUTO and isinstance(view, LiftView):
            got = f"{type(view.lift).__name__} is a lift, whose features are used"
            self._refuse(f"a kernel for {asked}", got, "Use 'auto'.")
        if self.solver in (DENSE, KRYLOV) and not stored:
            got, remedy = "the rows are too many, and stay in their source", "Use 'auto', or raise memory_limit."
            self._refuse(f"rows in memory for {asked}", got, remedy)
        if self.solver == LANDMARKS and isinstance(view, MatrixView):
            self._refuse(f"a kernel for {asked}", "the kernel is precomputed", "Use 'auto', or give the rows.")
        if self.solver == LANDMARKS and not view.sure:
            got, remedy = f"{view.kernel} is not", "Use 'dense', which looks at the matrix."
            self._refuse(f"a kernel that is proven for {asked}", got, remedy)

    def _check_rank(self, view: View) -> None:
        if self.rank is None:
            return
        if self.solver in (DENSE, KRYLOV):
            got, remedy = f"solver={self.solver!r} has none", "Leave rank out, or use 'landmarks'."
            self._refuse(f"landmarks for rank={self.rank}", got, remedy)
        if not isinstance(view, KernelView):
            got = "the kernel is precomputed" if isinstance(view, MatrixView) else "a lift was given"
            self._refuse(f"a kernel for rank={self.rank}", got, "Leave rank out.")
        if self.components is not None and self.rank < self.components:
            needs = f"a rank of at least n_components, {self.components}"
            self._refuse(needs, f"got rank={self.rank}", "Use more landmarks.")

    def _refuse(self, needs: str, got: str, remedy: str) -> NoReturn:
        raise InputError(sentence(self.who, needs, got, remedy))
