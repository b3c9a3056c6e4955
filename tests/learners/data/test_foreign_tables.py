"""Tables of other libraries: converted where that is cheap and safe, else one sentence says what to call."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn

import mercer
from mercer.errors import InputError
from mercer.lifts import Monomials, Nystrom, Polynomial, RandomFourier, Sketch

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
Y = X[:, 0]
LABELS = Y > 0
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
EVERYBODY = {
    type(one).__name__: one
    for one in (
        mercer.KernelRidge("rbf", alpha=1.0),
        mercer.KernelRidgeClassifier("rbf", alpha=1.0),
        mercer.KernelSVC("rbf"),
        mercer.KernelSVR("rbf"),
        mercer.KernelOneClassSVM("rbf"),
        mercer.KernelLogisticRegression("rbf"),
        mercer.KernelPCA("rbf", n_components=2),
        mercer.KernelKMeans(2, kernel="rbf", random_state=0),
        mercer.SpectralClustering(2, kernel="rbf", random_state=0),
        mercer.KernelPerceptron("rbf"),
        mercer.Perceptron(),
        Nystrom("rbf", 5, random_state=0),
        RandomFourier("rbf", 4, random_state=0),
        Sketch("polynomial(2)", 8, random_state=0),
        Polynomial(2),
        Monomials(2),
    )
}


def target_of(model):
    return Y if isinstance(model, mercer.KernelRidge | mercer.KernelSVR) else LABELS


class Tensor:
    """What torch shows to others; NumPy reads it only on the CPU and without a gradient."""

    shape = X.shape
    ndim = 2

    def __init__(self, device="cpu", requires_grad=False):
        self.device, self.requires_grad = device, requires_grad

    def __len__(self):
        return len(X)

    def detach(self):
        return Tensor(self.device)

    def cpu(self):
        return Tensor("cpu", self.requires_grad)

    def __array__(self, dtype=None, copy=None):
        if self.device != "cpu" or self.requires_grad:
            raise RuntimeError("cannot be converted")
        return X if dtype is None else X.astype(dtype)


class Strict:
    """An array of the array API that NumPy reads, but that is none of NumPy's own."""

    shape = X.shape
    ndim = 2
    dtype = "strict.float64"
    device = "CPU_DEVICE"

    def __len__(self):
        return len(X)

    def __array_namespace__(self, api_version=None):
        raise AssertionError("nobody may compute with it")

    def __array__(self, dtype=None, copy=None):
        return X if dtype is None else X.astype(dtype)


class Delayed:
    """A frame of dask, whose sizes of chunks may be unknown."""

    columns = FRAME.columns

    def __init__(self, known=True):
        self.known = known

    def __dask_graph__(self):
        return {}

    def __len__(self):
        if not self.known:
            raise ValueError("Cannot call len() on object with unknown chunk size.")
        return len(FRAME)

    def compute(self):
        return FRAME


class Dataset:
    """A Dataset of xarray."""

    data_vars: tuple = ()

    def __array__(self, dtype=None, copy=None):
        raise TypeError("cannot directly convert an xarray.Dataset into a numpy array")


REFUSED = {
    "lazy": (FRAME_LAZY := pl.DataFrame({"a": Y, "b": Y}).lazy(), r"got a LazyFrame of polars.* Use X\.collect\(\)\."),
    "gradient": (Tensor(requires_grad=True), r"that requires a gradient.* Use X\.detach\(\)\.cpu\(\)\.numpy\(\)\."),
    "device": (Tensor("cuda:0"), r"on the device cuda:0.* Use X\.detach\(\)\.cpu\(\)\.numpy\(\)\."),
    "chunks": (Delayed(known=False), r"dask says: Cannot call len\(\).* Use X\.compute\(\)\."),
    "dataset": (Dataset(), r"got a Dataset of .* Use X\.to_dataframe\(\)"),
}


@pytest.mark.parametrize("kind", REFUSED)
@pytest.mark.parametrize("name", EVERYBODY)
def test_what_cannot_be_read_is_refused_with_the_call_that_helps(name, kind):
    data, message = REFUSED[kind]
    model = EVERYBODY[name]
    with pytest.raises(InputError, match=rf"{name} needs .* X; .*{message}"):
        model.fit(data, target_of(model))


@pytest.mark.parametrize("dispatch", [False, True])
@pytest.mark.parametrize("data", [Tensor(), Strict(), Delayed()], ids=["tensor", "strict", "dask"])
@pytest.mark.parametrize("name", EVERYBODY)
def test_what_can_be_read_is_read(name, data, dispatch, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    model = sklearn.base.clone(EVERYBODY[name])
    wanted = sklearn.base.clone(model).fit(X, target_of(model))
    with sklearn.config_context(array_api_dispatch=dispatch):
        model.fit(data, target_of(model))
        if isinstance(data, Delayed):
            assert model.feature_names_in_.tolist() == ["a", "b", "c"]
        method = next((one for one in ("transform", "predict") if hasattr(model, one)), None)
        if method is not None and not isinstance(data, Delayed):
            np.testing.assert_array_equal(getattr(model, method)(data), getattr(wanted, method)(X))


@pytest.mark.parametrize("dispatch", [False, True])
@pytest.mark.parametrize("name", EVERYBODY)
def test_tensors_of_torch_itself(name, dispatch, monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not among the packages that tests need")
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    model = sklearn.base.clone(EVERYBODY[name])
    wanted = sklearn.base.clone(model).fit(X, target_of(model))
    with sklearn.config_context(array_api_dispatch=dispatch):
        model.fit(torch.as_tensor(X), torch.as_tensor(target_of(model)))
        for method in ("transform", "predict", "decision_function", "predict_proba"):
            if hasattr(model, method):
                found = getattr(model, method)(torch.as_tensor(X))
                right = getattr(wanted, method)(X)
                assert isinstance(found, torch.Tensor if right.dtype.kind in "fiub" else np.ndarray)
                np.testing.assert_array_equal(np.asarray(found), right)
        if hasattr(model, "score"):
            score = model.score(torch.as_tensor(X), torch.as_tensor(target_of(model)))
            assert score == pytest.approx(wanted.score(X, target_of(model)))
        for data, call in [
            (torch.as_tensor(X).bfloat16(), r"X\.float\(\)\.numpy\(\)"),
            (torch.as_tensor(X).to_sparse(), r"X\.to_dense\(\)\.numpy\(\)"),
            (torch.as_tensor(X).requires_grad_(), r"X\.detach\(\)\.cpu\(\)\.numpy\(\)"),
            (torch.as_tensor(X).to("meta"), "on the device meta"),
        ]:
            with pytest.raises(InputError, match=rf"{name} needs .* X; .*{call}"):
                model.fit(data, target_of(model))


def test_a_dtype_that_numpy_has_not_is_told_what_helps():
    class Brain(Tensor):
        def __array__(self, dtype=None, copy=None):
            raise TypeError("Got unsupported ScalarType BFloat16")

    class Thin(Brain):
        layout = "torch.sparse_coo"

    with pytest.raises(InputError, match=r"BFloat16\. Use X\.float\(\)\.numpy\(\)\."):
        mercer.KernelRidge("rbf").fit(Brain(), Y)
    with pytest.raises(InputError, match=r"Use X\.to_dense\(\)\.numpy\(\)\."):
        mercer.KernelRidge("rbf").fit(Thin(), Y)


def test_targets_likewise():
    class Column(Tensor):
        shape, ndim = Y.shape, 1

        def __array__(self, dtype=None, copy=None):
            return LABELS.astype(dtype or float)

    assert mercer.KernelSVC("rbf").fit(X, Column()).classes_.tolist() == [0.0, 1.0]
    with pytest.raises(InputError, match=r"KernelSVC needs an array of numbers in memory for y; .*y\.detach"):
        mercer.KernelSVC("rbf").fit(X, Column(requires_grad=True))
    with pytest.raises(InputError, match=r"KernelRidge needs .* for y; .*y\.collect\(\)"):
        mercer.KernelRidge("rbf").fit(X, FRAME_LAZY)


@pytest.mark.parametrize("lift", [Nystrom("rbf", 5), RandomFourier("rbf", 4), Polynomial(2), Monomials(2)], ids=repr)
def test_lifts_name_the_column(lift):
    who = type(lift).__name__
    categories = FRAME.assign(c=pd.Categorical(list("uvw") * 10))
    with pytest.raises(InputError, match=rf"{who} needs numbers for X; column 'c', row 0 holds 'u'\."):
        lift.fit(categories)
    with pytest.raises(InputError, match=rf"{who} needs numbers for X; column 'b', row 0 holds '2020-01-01"):
        lift.fit(FRAME.assign(b=pd.date_range("2020-01-01", periods=30)))
    with pytest.raises(InputError, match="column 'c', row 0 holds 'u'"):
        lift.fit(FRAME).transform(categories)
