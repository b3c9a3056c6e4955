"""The entry of an estimator: its parameters, and what fit has found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mercer.kernels import Kernel
from mercer.lifts.base import Lift
from mercer.models import invariants
from mercer.models.entry import Entry, Fields, Hints, stated
from mercer.models.refusing import refuse, shown
from mercer.solvers import Solver

Number = None | bool | int | float | str | np.generic
Setting = Number | Kernel | Lift | Solver | NDArray[Any] | list[Any] | tuple[Any, ...] | dict[Any, Any] | csr_array
"""What a parameter of a learner or a lift may be."""

DROPPED = frozenset({"checkpoint"})
"""Parameters that are never saved: a path in a file that somebody sends is none to write to."""
BESIDE = frozenset({"_skl_callbacks", "_callback_fit_ctx", "_skl_callbacks_to_teardown", "_previous"})
"""Attributes that belong to a program, and not to a model: callbacks, and where to start warm."""
OUTPUT: Hints = {"_sklearn_output_config": dict[Literal["transform"], Literal["default", "pandas", "polars"]]}
"""What `set_output` has asked for; the next step of a pipeline may need the names of columns."""


@dataclass(frozen=True)
class Parameters:
    """What is known of the parameters of an estimator.

    setting : the type of every one
    types : of those that may be less than others
    left : those that are not saved
    """

    setting: Any
    types: Hints = field(default_factory=dict)
    left: tuple[str, ...] = ()


@dataclass(frozen=True)
class Attributes:
    """What fit may have found.

    fitted : the types of attributes that a fitted one has, all or none
    maybe : the types of those that it may have
    anew : those that are not saved, and what stands for them in a loaded model
    """

    fitted: Hints
    maybe: Hints
    anew: Mapping[str, Callable[[], Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Fitted:
    """How an estimator is taken apart and put together.

    kind : its class
    names : parameters that are saved
    found : what fit may have found
    beside : attributes that it has fitted or not
    known : all attributes that it may have
    """

    kind: Any
    names: tuple[str, ...]
    found: Attributes
    beside: Hints
    known: frozenset[str]

    def take(self, thing: Any) -> Fields:
        """The attributes that are saved; an error where there are others."""
        strange = next((name for name in thing.__dict__ if name not in self.known), None)
        if strange is not None:
            needs, remedy = f"attributes of {self.kind.__name__} that files know", "Remove it: del model.attribute."
            refuse(needs, f"got {shown(strange)}", remedy)
        saved = (*self.names, *sorted({*self.found.fitted, *self.found.maybe, *self.beside}))
        return {name: thing.__dict__[name] for name in saved if name in thing.__dict__}

    def make(self, given: Fields) -> Any:
        """The estimator: its constructor stores parameters, and attributes are those of the table."""
        learned = {name: given[name] for name in (*self.found.fitted, *self.found.maybe) if name in given}
        missing = sorted(self.found.fitted.keys() - learned.keys())
        if learned and missing:
            refuse(f"all that a fitted {self.kind.__name__} has", f"{missing[0]} is missing")
        thing = self.kind(**{name: given[name] for name in self.names if name in given})
        thing.__dict__.update(learned, **{name: given[name] for name in self.beside if name in given})
        thing.__dict__.update({name: new() for name, new in self.found.anew.items()} if learned else {})
        return thing


def ours(kind: type) -> Entry:
    """The entry of a learner or a lift, which states its attributes itself."""
    saved = {name: hint for name, hint in stated(kind, "_saved").items() if not _is_computed(kind, name)}
    attributes = Attributes(saved, stated(kind, "_saved_if_set"), stated(kind, "_renewed"))
    entry = estimator(kind, Parameters(Setting), attributes).checked(invariants.estimator)
    return entry.counted(kind._text_weight) if hasattr(kind, "_text_weight") else entry


def _is_computed(kind: type, name: str) -> bool:
    """Whether a class computes an attribute from what it saves, which another sets."""
    return isinstance(getattr(kind, name, None), property)


def estimator(kind: Any, parameters: Parameters, attributes: Attributes) -> Entry:
    """The entry of an estimator; no field is needed, since one that was not fitted has parameters only."""
    lost = DROPPED.union(parameters.left)
    names = tuple(name for name in kind._get_param_names() if name not in lost)
    beside = OUTPUT if hasattr(kind, "set_output") else {}
    settings = {**dict.fromkeys(names, parameters.setting), **parameters.types}
    hints = {**settings, **attributes.fitted, **attributes.maybe, **beside}
    apart = Fitted(kind, names, attributes, beside, lost.union(hints, attributes.anew, BESIDE))
    return Entry(kind.__name__, kind, hints, frozenset(), apart.take, apart.make)
