"""A lift or a solver that is exported is in the table of files, with what it states itself: no other line is needed."""

import inspect
from dataclasses import dataclass, is_dataclass
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from mercer import learners, lifts, solvers
from mercer.errors import ModelFileError
from mercer.kernels import Linear
from mercer.lifts import Lift
from mercer.models.decode import Decoder
from mercer.models.encode import Encoder
from mercer.models.entry import entry_of
from mercer.models.estimators import ours
from mercer.models.registry import ENTRIES, HELD, LEARNERS, LIFTS, exported
from mercer.solvers import Cholesky, Solver

X = np.random.default_rng(0).normal(size=(6, 2))


class Centered(Lift):
    """x less the mean of the fit."""

    def __init__(self, times=1.0):
        self.times = times

    kernel = Linear()

    def learn(self, X):
        self.mean_ = X.mean(axis=0)

    _saved: ClassVar = {"mean_": NDArray[np.float64]}

    def _inconsistency(self):
        return "" if self.mean_.shape == (self.n_features_in_,) else f"got a mean of shape {self.mean_.shape}"

    def n_features(self):
        return len(self.mean_)

    def features(self, X):
        return (X - self.mean_) * self.times

    def feature_names(self, inputs):
        return [f"{name} - mean" for name in inputs]


@dataclass(frozen=True)
class Halving(Solver):
    """Cholesky's method in two halves."""

    needs: ClassVar = "matrix"
    first: float = 0.5

    def solve(self, system):
        return Cholesky().solve(system)

    def cost(self, n, outputs):
        return Cholesky().cost(n, outputs)


def package(**exports):
    """A package that exports this, beside what it uses."""
    found = ModuleType("package")
    vars(found).update({"np": np, "Lift": Lift, "Solver": Solver, **exports})
    return found


def there_and_back(thing, *entries):
    """A thing that was written and read with these entries beside the others."""
    encoder = Encoder({entry.kind: entry for entry in (*ENTRIES.values(), *entries)})
    encoder.object(thing)
    tensors = {str(place): array for place, array in enumerate(encoder.arrays)}
    decoder = Decoder({**ENTRIES, **{entry.name: entry for entry in entries}}, tensors, {})
    return encoder.objects, lambda objects=encoder.objects: decoder.model(objects)


def test_a_lift_that_is_exported_is_saved():
    (cls,) = exported(package(Centered=Centered, Other=Linear), Lift)
    lift = cls(times=2.0).fit(X)
    objects, back = there_and_back(lift, ours(cls))
    assert set(objects[-1]["fields"]) == {"times", "n_features_in_", "mean_"}
    np.testing.assert_array_equal(back().transform(X), lift.transform(X))


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [("mean_", {"list": []}, "Centered.mean_ of its type"), ("n_features_in_", 3, "got a mean of shape")],
)
def test_what_it_states_is_checked(field, value, words):
    objects, back = there_and_back(Centered().fit(X), ours(Centered))
    objects[-1]["fields"][field] = value
    with pytest.raises(ModelFileError, match=words):
        back()


def test_what_it_does_not_state_is_refused():
    lift = Centered().fit(X)
    lift.more_ = 1
    with pytest.raises(ModelFileError, match="attributes of Centered that files know"):
        there_and_back(lift, ours(Centered))


def test_a_solver_that_is_exported_is_saved():
    (cls,) = exported(package(Halving=Halving), Solver)
    assert there_and_back(cls(0.25), entry_of(cls))[1]() == Halving(0.25)


def test_everything_that_is_exported_is_in_the_table():
    kinds: Any = (Lift, Solver, learners.estimator.KernelEstimator)
    for home in (lifts, learners, solvers):
        classes = [one for _, one in inspect.getmembers(home, inspect.isclass) if issubclass(one, kinds)]
        concrete = {one for one in classes if not inspect.isabstract(one)}
        assert concrete <= {*LIFTS, *LEARNERS, *HELD}
        assert concrete


def test_what_models_hold_says_itself_what_is_saved():
    assert [kind for kind in HELD if not is_dataclass(kind) and not hasattr(kind, "_saved")] == []


def test_a_class_of_somebody_else_is_not_in_the_table():
    """The table is closed: a subclass that a program defines is none of it, whatever it is called."""
    encoder = Encoder({entry.kind: entry for entry in ENTRIES.values()})
    with pytest.raises(ModelFileError, match="objects that files can hold"):
        encoder.value(type("Cholesky", (Cholesky,), {})())
    objects, back = there_and_back(Centered().fit(X), ours(Centered))
    with pytest.raises(ModelFileError, match="classes of Mercer's table; got 'Centered'"):
        Decoder(ENTRIES, {"0": np.zeros(2)}, {}).model(objects)
    assert back() is not None
