"""Parameters inside the kernel of a learner: a kernel never changes, so that a changed one takes its place."""

from __future__ import annotations

from typing import Any, Self

from mercer.errors import InputError, speaks
from mercer.kernels import Kernel
from mercer.learners.data.validation import AUTO, PRECOMPUTED
from mercer.learners.data.validation import DEFAULT_KERNEL as DEFAULT_KERNEL
from mercer.lifts.coerce import stated

INSIDE = "kernel__"
"""How the names of such parameters begin."""


class KernelParameters:
    """A learner with a parameter `kernel`; stands before `BaseEstimator`, which would drop the change."""

    kernel: Any

    @speaks
    def set_params(self, **params: Any) -> Self:
        """Set parameters; those inside the kernel (`kernel__lengthscale`) give the learner another kernel."""
        inside = {name: value for name, value in params.items() if name.startswith(INSIDE)}
        kernel = params.get("kernel", self.kernel)
        kernel = DEFAULT_KERNEL if isinstance(kernel, str) and kernel == AUTO else kernel
        if inside and isinstance(kernel, Kernel | str) and kernel != PRECOMPUTED:
            changes = {name.removeprefix(INSIDE): value for name, value in inside.items()}
            others = {name: value for name, value in params.items() if name not in inside}
            params = {**others, "kernel": stated(kernel, subject=type(self).__name__).set_params(**changes)}
        known = self.get_params(deep=False)  # type: ignore[attr-defined]  # of scikit-learn
        unknown = {name: value for name, value in params.items() if name.partition("__")[0] not in known}
        if unknown:
            from mercer.guesses.parameters import told  # what is meant is looked for when somebody guesses

            given = {name: value for name, value in params.items() if name in (*known, *unknown)}
            raise InputError(told(type(self).__name__, list(known), given, beside_kernel=True))
        super().set_params(**params)  # type: ignore[misc]  # of scikit-learn
        return self
