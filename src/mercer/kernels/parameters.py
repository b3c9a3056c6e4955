"""scikit-learn's parameter protocol for immutable kernels: get_params, set_params, clone.

scikit-learn's searches copy an estimator with `clone`, call `set_params(kernel__lengthscale=...)` on the copy,
and there call `kernel.set_params(lengthscale=...)` and ignore what it returns. A kernel is immutable, so its
`set_params` returns a new one. The two meet in the *draft*: a copy fresh from `clone`, which nobody else holds, is
filled in place. A draft settles as soon as anything depends on its value: its hash was taken, or another kernel
was composed from it.
"""

from __future__ import annotations

import copy
import sys
from typing import TYPE_CHECKING, Any

from mercer.errors import KernelError, message

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel

DRAFT = "_draft"


def draft(kernel: Kernel) -> Kernel:
    """A copy that `set_params` may still fill in place."""
    fresh = copy.copy(kernel)
    fresh.__dict__[DRAFT] = True
    return fresh


def settle(*kernels: Kernel) -> None:
    """End the time in which these kernels can be filled in place."""
    for kernel in kernels:
        kernel.__dict__.pop(DRAFT, None)


def settled(kernel: Kernel) -> Kernel:
    """The same kernel, which nobody fills in place any more; of a draft a copy."""
    return kernel.with_parameters({}) if DRAFT in kernel.__dict__ else kernel


def get(kernel: Kernel, deep: bool) -> dict[str, Any]:
    """The parameters of a node and, if deep, of the kernels below it."""
    found = kernel.parameters()
    if deep:
        for name, value in list(found.items()):
            if _is_kernel(value):
                found.update({f"{name}__{key}": below for key, below in value.get_params().items()})
    return found


def _is_kernel(value: Any) -> bool:
    """Whether parameters can stand behind it: others, lifts say, would be changed where they are."""
    from mercer.kernels.base import Kernel  # which needs this module first

    return isinstance(value, Kernel)


def change(kernel: Kernel, changes: dict[str, Any]) -> Kernel:
    """The kernel with some parameters changed; drafts are filled in place."""
    changed = _changed(kernel, changes)
    if DRAFT in kernel.__dict__:
        kernel.__dict__.update(changed.__dict__)
        return kernel
    if changed != kernel and _caller_drops_the_answer():
        raise KernelError(
            "A kernel never changes, and this estimator would go on with the old one. "
            "Set the whole kernel: estimator.set_params(kernel=kernel.set_params(...)), "
            'or search over {"kernel": [...]}.'
        )
    return changed


def _changed(kernel: Kernel, changes: dict[str, Any]) -> Kernel:
    known = kernel.parameters()
    own: dict[str, Any] = {}
    below: dict[str, dict[str, Any]] = {}
    for key, value in changes.items():
        name, nested, rest = key.partition("__")
        if name not in known:
            from mercer.guesses.parameters import told  # what is meant is looked for when somebody guesses

            raise KernelError(told(type(kernel).__name__, list(known), {key: value}))
        if nested:
            below.setdefault(name, {})[rest] = value
        else:
            own[name] = value
    for name, inner in below.items():
        child = own.get(name, known[name])
        if not _is_kernel(child):
            got, remedy = f"{name} is {child!r:.60}", f"Give it whole: set_params({name}=...)."
            raise KernelError(
                message(f"a kernel before __{next(iter(inner))}", got, remedy, subject=type(kernel).__name__)
            )
        own[name] = child.set_params(**inner)
    return kernel.with_parameters(own) if own else kernel


def _caller_drops_the_answer() -> bool:
    """Whether scikit-learn's own BaseEstimator called `Kernel.set_params`: it ignores what comes back."""
    return sys._getframe(3).f_globals.get("__name__") == "sklearn.base"
