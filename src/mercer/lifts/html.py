"""An estimator as a card for notebooks: its kernel, its parameters, and what a fit has found.

scikit-learn draws estimators as well, and goes on doing so for pipelines and searches, with ours inside. Alone ours
show themselves: the diagram of a single estimator is its parameters in a frame, with a script and no word of kernel and
plan.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from dataclasses import is_dataclass
from types import SimpleNamespace
from typing import Any, Protocol, cast

from sklearn.base import BaseEstimator

from mercer.html import TROUBLE, Markup, badge, brief, card, details, element, escaped, shown, table
from mercer.kernels import Kernel

APART = ("kernel_", "lift_", "plan_")
"""What is shown by itself, and not in the table of what a fit has found."""
KERNEL, LIFT, PLAN = "kernel", "lift", "plan"
READ = ("alpha_", "converged_", "kernel_", "lift_", "outcome_", "plan_")
"""Attributes that are shown where they are properties, too: they only read what a fit has stored."""


class Parametrised(Protocol):
    """What a card asks of an estimator; all else is looked for among what a fit has stored."""

    def get_params(self, deep: bool = ...) -> dict[str, Any]:
        """The parameters by name."""
        ...


class ShownEstimator:
    """What notebooks show of lifts and learners; stands before `BaseEstimator`, whose diagram it replaces.

    Nothing is computed: what a fit has stored is shown, and of properties those that only read that.
    """

    def _html_pieces(self) -> Iterable[Markup]:
        found = _stored(self)
        yield element("p", element("b", type(self).__name__), " ", *_states(found))
        yield from _kernels(self, found)
        yield from _parameters(cast("Parametrised", self))
        yield from _found(self, found)
        if PLAN + "_" in found:
            yield details(PLAN, shown(found[PLAN + "_"]))

    def _repr_html_inner(self) -> str:  # scikit-learn's `_repr_html_` gives this where display="diagram"
        return card(self._html_pieces())

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle = {"text/plain": repr(self)}
        return bundle | {"text/html": self._repr_html_inner()} if hasattr(self, "_repr_html_") else bundle

    def _get_fitted_attr_html(self, doc_link: str = "") -> Any:
        """What diagrams of scikit-learn 1.9 show of a fit; it would ask each property, and some take minutes."""
        return BaseEstimator._get_fitted_attr_html(SimpleNamespace(**_stored(self)), doc_link)


def _stored(estimator: object) -> dict[str, Any]:
    """What a fit has stored, by name."""
    named = {name: value for name, value in vars(estimator).items() if name.endswith("_") and name[0] != "_"}
    if named:
        named |= {name: getattr(estimator, name) for name in READ if hasattr(estimator, name)}
    return dict(sorted(named.items()))


def _states(found: dict[str, Any]) -> Iterator[Markup]:
    yield badge("fitted" if found else "not fitted")
    if not found.get("converged_", True):
        yield Markup(" ")
        yield element("span", "not converged", kind="badge unknown")
    if "n_features_in_" in found:
        yield escaped(f" {found['n_features_in_']:,} columns")


# -- the kernel -------------------------------------------------------------------------------------------------------


def _kernels(estimator: object, found: dict[str, Any]) -> Iterator[Markup]:
    """The kernel with its numbers once they are found, and the lift, where there is one."""
    given = found.get("kernel_", _given(estimator))
    if isinstance(given, BaseEstimator):
        yield details(f"{LIFT} {type(given).__name__}", shown(given))
    elif given is not None:
        yield details(KERNEL, shown(_parsed(given)), shown=True)
    if found.get("lift_") is not None and found["lift_"] is not given:
        yield details(f"{LIFT} {type(found['lift_']).__name__}", shown(found["lift_"]))


def _given(estimator: object) -> Any:
    """The kernel that was given, or that a lift is of; None where it is not known before a fit."""
    try:
        return getattr(estimator, KERNEL)
    except TROUBLE:
        return None


def _parsed(given: Any) -> Any:
    """A kernel from its text; the text itself where it is none."""
    from mercer.kernels.text import parse  # cards are shown to few

    try:
        return parse(given) if isinstance(given, str) else given
    except TROUBLE:
        return given


# -- tables -----------------------------------------------------------------------------------------------------------


def _parameters(estimator: Parametrised) -> Iterator[Markup]:
    """Parameters that were set, and those that were left as they were."""
    values = {name: getattr(estimator, name) for name in _signature(estimator)}
    same = {name: _same(values[name], default) for name, default in _signature(estimator).items()}
    changed = [(name, _told(values[name])) for name in values if not same[name] and name != KERNEL]
    left = [(name, _told(values[name])) for name in values if same[name]]
    if changed:
        yield table(changed)
    if left:
        yield details(f"{len(left):,} parameters as they are by default", (table(left),))


def _signature(estimator: Parametrised) -> dict[str, Any]:
    """The parameters of the constructor, with their defaults."""
    known = inspect.signature(type(estimator)).parameters
    return {name: known[name].default for name in estimator.get_params(deep=False)}


def _same(value: Any, default: Any) -> bool:
    """Whether a parameter is what it is by default; a table or a kernel never is equal by accident."""
    return value is default or (
        type(value) is type(default) and isinstance(value, str | int | float) and value == default
    )


def _found(estimator: object, found: dict[str, Any]) -> Iterator[Markup]:
    rows = [(name, _told(value)) for name, value in found.items() if name not in APART]
    known = vars(estimator).get("_certificate")
    if known is not None:  # only where it was computed already
        rows.append(("certificate_", str(known)))
    if rows:
        yield details(f"{len(rows):,} attributes that the fit has set", (table(rows),))


def _told(value: Any) -> str:
    """A parameter or what was found, in a few letters."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Kernel | str):
        return brief(value)
    reason = getattr(value, "reason", None)
    if isinstance(reason, str) and reason:
        return reason
    return type(value).__name__ if is_dataclass(value) else brief(value)
