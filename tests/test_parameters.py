"""Parameters have the same names, and the same way to be given, in all public classes."""

import inspect
from dataclasses import fields, is_dataclass

import pytest

import mercer
from mercer import displays, learners, lifts, solvers, tuning

OLD = {"steps", "tolerance", "rank", "seed", "price", "multi_class", "lift", "way"}
"""What was called so is max_iter, tol, preconditioner_rank or n_landmarks, random_state, C, kernel, method now."""
DEFAULTS = {"verbose": False, "random_state": None}


def public(module, kind=type):
    found = [getattr(module, name) for name in dir(module) if not name.startswith("_")]
    return [one for one in found if isinstance(one, kind)]


LEARNERS = public(learners)
LIFTS = [one for one in public(lifts) if not inspect.isabstract(one)]
SOLVERS = [one for one in public(solvers) if issubclass(one, solvers.Solver) and not inspect.isabstract(one)]
FUNCTIONS = [mercer.mmd, mercer.hsic, mercer.plan, tuning.stretch, tuning.combine, tuning.loo_path, tuning.kfold_path]


def parameters(one):
    return dict(inspect.signature(one).parameters)


@pytest.mark.parametrize("one", [*LEARNERS, *LIFTS, *SOLVERS, *FUNCTIONS], ids=lambda one: one.__name__)
def test_names_and_defaults_are_those_of_all_others(one):
    found = parameters(one)
    assert not OLD & found.keys() - ({"lift"} if one is lifts.Scaled else set())
    assert {name: found[name].default for name in DEFAULTS if name in found} == {
        name: value for name, value in DEFAULTS.items() if name in found
    }


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: one.__name__)
def test_learners_take_one_parameter_by_its_place(learner):
    _, *others = parameters(learner).values()
    assert {one.kind for one in others} == {inspect.Parameter.KEYWORD_ONLY}
    assert "kernel" in parameters(learner)
    assert {"memory_limit", "time_limit", "on_interrupt", "verbose", "random_state"} <= parameters(learner).keys()


@pytest.mark.parametrize(
    ("learner", "methods"),
    [
        (learners.KernelKMeans, '{"auto", "exact", "landmarks"}'),
        (learners.KernelLogisticRegression, '{"auto", "exact", "landmarks"}'),
        (learners.KernelOneClassSVM, '{"auto", "exact", "landmarks"}'),
        (learners.KernelPCA, '{"auto", "exact", "krylov", "landmarks"}'),
        (learners.KernelRidge, '{"auto", "exact", "landmarks", "state_space", "fourier_grid"}'),
        (learners.KernelRidgeClassifier, '{"auto", "exact", "landmarks", "fourier_grid"}'),
        (learners.KernelSVC, '{"auto", "exact", "landmarks"}'),
        (learners.KernelSVR, '{"auto", "exact", "landmarks"}'),
        (learners.SpectralClustering, '{"auto", "exact", "krylov"}'),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_an_approximation_or_algorithm_is_chosen_by_method(learner, methods):
    assert parameters(learner)["method"].default == "auto"
    assert f'method : {methods}, default="auto"' in inspect.getdoc(learner)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: one.__name__)
def test_landmarks_are_asked_for_by_method(learner):
    assert "n_landmarks" not in parameters(learner) or "method" in parameters(learner)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda one: one.__name__)
def test_solvers_take_their_settings_by_name(solver):
    assert all(one.kw_only for one in fields(solver))


@pytest.mark.parametrize("display", public(displays), ids=lambda one: one.__name__)
def test_displays_take_settings_by_name(display):
    optional = [one for one in parameters(display).values() if one.default is not inspect.Parameter.empty]
    assert is_dataclass(display)
    assert all(one.kind is inspect.Parameter.KEYWORD_ONLY for one in optional)
    made = [getattr(display, name) for name in vars(display) if name.startswith("from_")]
    for way in made:
        assert all(one.kind is inspect.Parameter.KEYWORD_ONLY for name, one in parameters(way).items() if name == "ax")
