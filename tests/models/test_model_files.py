"""Models through files: all that they say comes back to the bit, and so does what they are."""

import copy
import importlib
import inspect as inspect_module
import pkgutil
import subprocess
import sys
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from kernels.objects.letters import Letters
from models import model_zoo as zoo
from safetensors import safe_open
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, QuantileTransformer

import mercer
from mercer import KernelRidge, kernels
from mercer.errors import ModelFileError
from mercer.kernels import Kernel
from mercer.learners.data.plan_copy import CountedLandmarks
from mercer.lifts import Counts
from mercer.models import inspect, load, save
from mercer.models.estimators import BESIDE, DROPPED
from mercer.models.registry import ALL, CLASSES, ENTRIES
from mercer.planner import Plan


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.mercer"


def same(a, b, seen=None):
    """Whether two things are equal to the bit, attribute by attribute: an oracle that knows nothing of files."""
    seen = set() if seen is None else seen
    if id(a) in seen:
        return True
    seen.add(id(a))
    if isinstance(a, np.ndarray | np.generic):
        alike = type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape
        return alike and (a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes())
    if issparse(a):
        return all(same(getattr(a, name), getattr(b, name), seen) for name in ("data", "indices", "indptr"))
    if isinstance(a, tuple | list):
        return type(a) is type(b) and len(a) == len(b) and all(same(x, y, seen) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key], seen) for key in a)
    if isinstance(a, Kernel):
        return a == b
    if isinstance(a, Plan):  # the other methods are worked out when they are asked for
        return a == b and a.reason == b.reason and same(a.others, b.others, seen)
    if is_dataclass(a):
        return type(a) is type(b) and all(
            same(getattr(a, item.name), getattr(b, item.name), seen) for item in fields(a) if item.name != "_known"
        )
    if hasattr(a, "__dict__") and type(a).__module__.startswith(("mercer", "sklearn")):
        return type(a) is type(b) and same(state(a), state(b), seen)
    return type(a) is type(b) and (a == b or (a != a and b != b))


def state(model):
    """The attributes that files promise to keep."""
    left = BESIDE | DROPPED | {"_posteriors", "_audit", "random_state", "square", "n_jobs"}
    return {name: value for name, value in sorted(model.__dict__.items()) if name not in left | cached(model)}


def cached(thing):
    return {name for name in thing.__dict__ if type(getattr(type(thing), name, None)).__name__ == "cached_property"}


@pytest.mark.parametrize("name", zoo.MODELS)
def test_learners_come_back_to_the_bit(name, path):
    model, new = zoo.fitted(name)
    expected = zoo.answers(model, new)
    save(model, path)
    again = load(path)
    found = zoo.answers(again, new)
    assert found.keys() == expected.keys()
    for method, value in expected.items():
        np.testing.assert_array_equal(found[method], value)
        assert found[method].dtype == value.dtype
    before, after = state(model), state(again)
    assert before.keys() == after.keys()
    assert [key for key in before if not same(before[key], after[key])] == []
    assert saved_again(again, path) == path.read_bytes()


def saved_again(model, path):
    """The bytes of a second file of a model that was loaded."""
    save(model, path.with_name("again.mercer"))
    return path.with_name("again.mercer").read_bytes()


@pytest.mark.parametrize("name", zoo.lifts())
def test_lifts_come_back_to_the_bit(name, path):
    lift, new = zoo.fitted_lift(name)
    save(lift, path)
    again = load(path)
    np.testing.assert_array_equal(zoo.answers(again, new)["transform"], zoo.answers(lift, new)["transform"])
    assert again.get_feature_names_out().tolist() == lift.get_feature_names_out().tolist()
    assert again.get_params().keys() == lift.get_params().keys()
    assert saved_again(again, path) == path.read_bytes()


def test_counts_come_back(path):
    lift, new = zoo.counts()
    assert isinstance(lift, Counts)
    save(lift, path)
    np.testing.assert_array_equal(load(path).transform(new).toarray(), lift.transform(new).toarray())


INSPECTED = """
import sys
import mercer
heavy = {"numpy", "scipy", "sklearn", "typer", "rich", "pyarrow", "pandas", "safetensors", "matplotlib", "numba"}
print(*sorted(heavy & set(sys.modules)), sep=",")
print(mercer.inspect(sys.argv[1]).model)
heavy -= {"numpy"}
heavy |= {"mercer.learners", "mercer.lifts", "mercer.kernels", "mercer.solvers", "mercer.models.registry"}
print(*sorted(heavy & set(sys.modules)), sep=",")
"""


def test_inspecting_loads_no_learner(path):
    """`import mercer` loads no numbers at all, and to inspect a file nothing that could be built from it."""
    save(zoo.fitted("svc")[0], path)
    told = subprocess.run([sys.executable, "-c", INSPECTED, path], capture_output=True, text=True, check=True).stdout
    assert told.split("\n") == ["", "KernelSVC", "", ""]


OPTIONAL = {"torch", "triton", "dask", "distributed", "finufft"}
"""Packages of extras: what imports them defines no estimator."""


def estimators():
    """Every estimator of Mercer that has a public name, wherever it stands."""
    found = set()
    for about in pkgutil.walk_packages(mercer.__path__, "mercer."):
        if about.name.split(".")[1] not in ("cli", "__main__"):
            try:
                module = importlib.import_module(about.name)
            except ModuleNotFoundError as error:
                assert error.name in OPTIONAL, error
                continue
            found |= {one for one in vars(module).values() if isinstance(one, type) and issubclass(one, BaseEstimator)}
    ours = {one for one in found if one.__module__.startswith("mercer.")}
    return {one for one in ours if not inspect_module.isabstract(one) and not one.__name__.startswith("_")}


ABSTRACT = {"Lift"}
"""Classes that others are made of, and nobody fits."""
PLANNED = {CountedLandmarks}
"""A lift of plans, which no model holds."""


def test_every_estimator_has_an_entry_and_is_tried():
    """Whoever adds an estimator exports it, and a learner goes to the models of these tests."""
    assert {one.__name__ for one in estimators() - set(CLASSES) - PLANNED} <= ABSTRACT
    public = {getattr(mercer.learners, name) for name in mercer.learners.__all__} | set(zoo.INSTANCES) | {Counts}
    assert public <= estimators()
    tried = {type(zoo.MODELS[name][0]) for name in zoo.MODELS} | set(zoo.INSTANCES) | {Counts}
    assert {one.__name__ for one in estimators() - tried - PLANNED} <= ABSTRACT
    assert tried - estimators() == {Pipeline}


def test_entries_have_names_of_their_own():
    assert len(ALL) == len(ENTRIES) == len(CLASSES)


def test_a_gaussian_process_comes_back(path):
    model, new = zoo.fitted("ridge")
    save(model, path)
    again = load(path)
    for mine, theirs in zip(again.predict(new, return_std=True), model.predict(new, return_std=True), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert again.log_marginal_likelihood() == model.log_marginal_likelihood()
    np.testing.assert_array_equal(again.leverage_, model.leverage_)
    assert str(again.plan_) == str(model.plan_)
    assert str(again.certificate_) == str(model.certificate_)


def test_a_loaded_model_learns_on(path):
    model, _ = zoo.fitted("kernel perceptron")
    save(model, path)
    again, twin = load(path), copy.deepcopy(model)
    for one in (again, twin):
        one.partial_fit(zoo.NEW, zoo.THREE[:20])
    np.testing.assert_array_equal(again.decision_function(zoo.X), twin.decision_function(zoo.X))
    assert again.fit(zoo.X, zoo.THREE).history_.tolist() == model.history_.tolist()


def test_arrays_that_are_one_stay_one(path):
    model, _ = zoo.fitted("ridge")
    save(model, path)
    again = load(path)
    assert again.X_fit_ is again._result.view.points.values
    assert again._result.view is again._result.predictor.view
    assert path.stat().st_size < 3 * model.X_fit_.nbytes + 20_000


def test_memory_order_is_kept(path):
    lift, _ = zoo.fitted_lift("Nystrom()")
    save(lift, path)
    assert load(path).factor_.flags.f_contiguous == lift.factor_.flags.f_contiguous


def test_what_is_not_kept(path):
    model = KernelRidge(
        "gaussian(1)", alpha=1.0, random_state=np.random.RandomState(0), checkpoint=path.with_suffix(".c")
    )
    save(model.fit(zoo.X, zoo.Y), path)
    again = load(path)
    assert again.checkpoint is None
    assert again.random_state is None
    assert str(path.with_suffix(".c")).encode() not in path.read_bytes()


def test_a_gap_that_needs_the_rows_says_so(path):
    model, _ = zoo.fitted("svc, landmarks")
    save(model, path)
    model._gap = None
    with pytest.raises(AttributeError, match="rows were not saved"):
        _ = load(path).duality_gap_


# -- what can be read by others, and without building -----------------------------------------------------------------


@pytest.mark.parametrize("name", ["ridge", "ridge, sparse", "svc, words", "ridge, graphs"])
def test_the_safetensors_library_reads_the_tensors(name, path):
    model, _ = zoo.fitted(name)
    save(model, path)
    with safe_open(path, framework="np") as file:
        assert file.metadata()["format"] == "mercer model"
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118  # that is no dict
    assert sorted(tensors, key=int) == [str(i) for i in range(len(tensors))]
    assert sum(tensor.nbytes for tensor in tensors.values()) > 0
    if name == "ridge":
        assert any(np.array_equal(tensor, model.X_fit_) for tensor in tensors.values())


def test_inspect_tells_and_builds_nothing(path, monkeypatch):
    model, _ = zoo.fitted("ridge, frame")
    save(model, path)
    monkeypatch.setattr("mercer.models.decode.Decoder.__init__", None)
    monkeypatch.setattr("mercer.models.kernel_strings.parse", None)
    about = inspect(path)
    assert about.model == "KernelRidge"
    assert about.kernel == str(model.kernel_)
    assert about.bytes == path.stat().st_size
    assert about.settings["alpha"] == "'auto'"
    assert {"duals", "alphas"} <= set(about.learned)
    assert about.mercer == mercer.__version__
    assert str(about).startswith(f"KernelRidge in {path}\n  kernel: gaussian")
    assert "\n  _" not in str(about)  # what is private is no news
    assert about.record()["sha256"] == about.sha256


# -- kernels of a program's own ---------------------------------------------------------------------------------------


class Bump(kernels.Radial):
    """A kernel that Mercer does not have."""

    argument = "distance"
    formula = "exp(-r^2)"
    lengthscale: float | str = kernels.base.length(default=1.0)

    def profile(self, u):
        return np.exp(-u * u)


def test_own_classes_are_given_or_refused(path):
    model = KernelRidge(2 * Bump(1.5) + kernels.Linear(), alpha=1.0).fit(zoo.X, zoo.Y)
    save(model, path)
    with pytest.raises(ModelFileError, match=r"uses a kernel called 'bump'. Import it, and give it: mercer.load"):
        load(path)
    assert inspect(path).classes == ("bump",)
    np.testing.assert_array_equal(load(path, classes=[Bump]).predict(zoo.NEW), model.predict(zoo.NEW))


def test_own_kernels_of_things(path):
    model = KernelRidge(Letters(), alpha=1.0).fit(zoo.TEXTS, zoo.Y)
    save(model, path)
    np.testing.assert_array_equal(load(path, [Letters]).predict(zoo.TEXTS), model.predict(zoo.TEXTS))


@pytest.mark.parametrize("given", [[int], ["bump"], [kernels.Linear()]])
def test_classes_are_classes_of_kernels(path, given):
    with pytest.raises(ModelFileError, match="kernel classes"):
        load(path, classes=given)


# -- what cannot be saved ---------------------------------------------------------------------------------------------


def weight(rows):
    return rows[:, 0]


def refuses(model, path, words):
    with pytest.raises(ModelFileError, match=words):
        save(model, path)
    assert not list(path.parent.iterdir())


def test_models_that_files_do_not_hold(path):
    class Mine(KernelRidge):
        pass

    refuses(KernelRidge(), path, "a fitted model; KernelRidge is not. Call fit first.")
    refuses(Mine("linear", alpha=1.0).fit(zoo.X, zoo.Y), path, "Mine")
    refuses({"a": 1}, path, "builtins.dict")
    refuses(KernelRidge(kernels.Linear().weighted(weight), alpha=1.0).fit(zoo.X, zoo.Y), path, "holds a function")
    refuses(KernelRidge(kernels.Linear().after(weight_table), alpha=1.0).fit(zoo.X, zoo.Y), path, "holds a function")


def weight_table(rows):
    return rows[:, :1]


def test_pipelines_that_files_do_not_hold(path):
    model = make_pipeline(FunctionTransformer(np.abs), KernelRidge("linear", alpha=1.0)).fit(zoo.X, zoo.Y)
    refuses(model, path, "objects that files can hold; got a numpy.ufunc")
    model = make_pipeline(QuantileTransformer(n_quantiles=9), KernelRidge("linear", alpha=1.0)).fit(zoo.X, zoo.Y)
    refuses(model, path, "QuantileTransformer")


def test_pipelines_keep_no_memory(path, tmp_path_factory):
    cache = str(tmp_path_factory.mktemp("cache"))
    save(make_pipeline(KernelRidge("linear", alpha=1.0), memory=cache).fit(zoo.X, zoo.Y), path)
    assert load(path).memory is None
    assert cache.encode() not in path.read_bytes()


def test_searches_are_saved_by_what_they_found(path):
    search = GridSearchCV(KernelRidge("linear"), {"alpha": [0.1, 1.0]}, cv=2).fit(zoo.X, zoo.Y)
    refuses(search, path, "GridSearchCV. Save its best_estimator_.")
    save(search.best_estimator_, path)
    np.testing.assert_array_equal(load(path).predict(zoo.NEW), search.predict(zoo.NEW))


def test_attributes_that_files_do_not_know(path):
    model = copy.deepcopy(zoo.fitted("ridge")[0])
    model.note = "mine"
    refuses(model, path, "attributes of KernelRidge that files know; got 'note'")


def test_nan_is_refused(path):
    model = copy.deepcopy(zoo.fitted("ridge")[0])
    model._result.fit.duals[:] = np.nan
    refuses(model, path, "arrays without NaN; 'DualFit.duals' holds NaN")


def test_things_that_files_do_not_hold(path):
    model = copy.deepcopy(zoo.fitted("ridge")[0])
    model.alpha = 10**30
    refuses(model, path, "integers of 64 bits")
    model.alpha = np.array([1j])
    refuses(model, path, "got one of complex128")
    model.alpha = "\ud800"
    refuses(model, path, "texts that UTF-8 can hold")
    model.alpha = object()
    refuses(model, path, "got a builtins.object")
