"""Tensors as rows: held where they are, with results in kind. PyTorch on the cores stands for a card where none is."""

import pickle
import warnings

import numpy as np
import pytest
import sklearn.base

import mercer
from mercer import backends
from mercer.backends.tensors import BROUGHT, held, is_tensor
from mercer.errors import InputError
from mercer.kernels import Gaussian, median_distance
from mercer.kernels.evaluation.evaluate import MAX_BROUGHT_ROWS, fused_from
from mercer.operators import Gram
from mercer.solvers import ConjugateGradient

torch = pytest.importorskip("torch")

RANDOM = np.random.default_rng(0)
N = 1500
X = RANDOM.normal(size=(N, 4))
Y = np.sin(X).sum(axis=1) + 0.1 * RANDOM.normal(size=N)
NEW = RANDOM.normal(size=(300, 4))
WEIGHTS = RANDOM.uniform(0.5, 2.0, N)
PROBES = 2000 + 3000
"""Rows of a fit that may be looked at in this process: the sample of the median, and probes of some dozens."""


@pytest.fixture(scope="module")
def device():
    return "cuda:0" if torch.cuda.is_available() else "cpu"


@pytest.fixture
def there(device):
    """A function that gives an array as a tensor on the device."""
    return lambda array: torch.from_numpy(np.array(array)).to(device)


@pytest.fixture
def card(device):
    return backends.CUDA(device)


def near(found, wanted, close=1e-8):
    np.testing.assert_allclose(found.cpu().numpy() if is_tensor(found) else found, wanted, rtol=0, atol=close)


def rows_brought(call):
    """What a call gives, and how many rows of four numbers it brought to this process."""
    before = BROUGHT.bytes
    found = call()
    return found, (BROUGHT.bytes - before) / X[0].nbytes


K = Gaussian(2.0)
LEARNERS = {
    "ridge": (lambda b: mercer.KernelRidge(K, backend=b), Y, {"predict": 1e-8}),
    "median": (lambda b: mercer.KernelRidge("gaussian", alpha=0.1, backend=b), Y, {"predict": 1e-8}),
    "gradients": (
        lambda b: mercer.KernelRidge(K, alpha=0.1, solver=ConjugateGradient(tol=1e-10), backend=b),
        Y,
        {"predict": 1e-7},
    ),
    "landmarks": (
        lambda b: mercer.KernelRidge(K, method="landmarks", n_landmarks=50, random_state=0, backend=b),
        Y,
        {"predict": 1e-7},
    ),
    "composite": (
        lambda b: mercer.KernelRidge(
            "gaussian(2) + 0.5 * linear * matern(nu=2.5, lengthscale=2)", alpha=1.0, backend=b
        ),
        Y,
        {"predict": 1e-7},
    ),
    "ridge classifier": (
        lambda b: mercer.KernelRidgeClassifier(K, backend=b),
        Y > 0,
        {"predict": 0, "decision_function": 1e-8},
    ),
    "svc": (lambda b: mercer.KernelSVC(K, tol=1e-5, backend=b), Y > 0, {"predict": 0, "decision_function": 1e-3}),
    "svr": (lambda b: mercer.KernelSVR(K, tol=1e-5, backend=b), Y, {"predict": 1e-3}),
    "one-class": (
        lambda b: mercer.KernelOneClassSVM(K, tol=1e-5, nu=0.1, backend=b),
        None,
        {"decision_function": 1e-3, "score_samples": 1e-3},
    ),
    "logistic": (
        lambda b: mercer.KernelLogisticRegression(K, backend=b),
        Y > 0,
        {"predict": 0, "decision_function": 1e-4, "predict_proba": 1e-4, "predict_log_proba": 1e-4},
    ),
    "pca": (lambda b: mercer.KernelPCA(K, n_components=3, backend=b), None, {"transform": 1e-7}),
    "k-means": (
        lambda b: mercer.KernelKMeans(3, kernel=K, random_state=0, backend=b),
        None,
        {"predict": 0, "transform": 1e-7},
    ),
    "spectral": (lambda b: mercer.SpectralClustering(3, kernel=K, random_state=0, backend=b), None, {}),
    "perceptron": (
        lambda b: mercer.KernelPerceptron(K, max_iter=2, backend=b),
        Y > 0,
        {"predict": 0, "decision_function": 1e-6},
    ),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_fits_and_answers_in_kind(name, there, card):
    make, y, answers = LEARNERS[name]
    arrays = make(card).fit(X, y)
    tensors, count = rows_brought(lambda: make(card).fit(there(X), None if y is None else there(y)))
    assert count < PROBES
    for method, close in answers.items():
        wanted = getattr(arrays, method)(NEW)
        found, count = rows_brought(lambda method=method: getattr(tensors, method)(there(NEW)))
        assert isinstance(found, torch.Tensor)
        assert str(found.device) == card.device
        assert count < len(NEW) + MAX_BROUGHT_ROWS
        near(found, wanted, close)
        here = getattr(tensors, method)(NEW)
        assert isinstance(here, np.ndarray)
        near(here, wanted, close)
        near(getattr(arrays, method)(there(NEW)), wanted, close)
    for attribute, value in vars(tensors).items():
        assert not isinstance(value, torch.Tensor), attribute
    if hasattr(arrays, "X_fit_"):
        assert isinstance(tensors.X_fit_, np.ndarray)
        np.testing.assert_array_equal(tensors.X_fit_, arrays.X_fit_)


def test_rows_of_a_tensor_are_never_sent(there, card):
    """The table is far larger than what probes look at, and none of it crosses, either way."""
    rows = there(RANDOM.normal(size=(20_000, 16)))
    with backends.use(card) as opened, fused_from(0):
        product = Gram(K, rows) @ np.ones((len(rows), 2))
        traffic = opened.traffic()
    assert product.shape == (20_000, 2)
    assert traffic.sent == 0
    assert traffic.brought <= 64 * 16 * 8 * 2


def test_deviations_samples_and_weights(there, card):
    arrays = mercer.KernelRidge(K, alpha=0.1, backend=card).fit(X, Y, WEIGHTS)
    tensors = mercer.KernelRidge(K, alpha=0.1, backend=card).fit(there(X), there(Y), sample_weight=there(WEIGHTS))
    for found, wanted in zip(
        tensors.predict(there(NEW), return_std=True), arrays.predict(NEW, return_std=True), strict=True
    ):
        assert isinstance(found, torch.Tensor)
        near(found, wanted, 1e-7)
    assert tensors.sample_y(there(NEW[:20]), random_state=0).shape == (20, 1)
    assert tensors.score(there(X), there(Y)) == pytest.approx(arrays.score(X, Y))
    assert tensors.score(X=there(X), y=Y) == pytest.approx(arrays.score(X, Y))


def test_fit_and_answer_at_once(there, card):
    labels = mercer.KernelKMeans(3, kernel=K, random_state=0, backend=card).fit_predict(there(X))
    assert isinstance(labels, torch.Tensor)
    scores = mercer.KernelPCA(K, n_components=2, backend=card)
    found = scores.fit_transform(there(X))
    assert isinstance(found, torch.Tensor)
    near(found, scores.transform(X), 1e-7)


def test_methods_that_are_not_always_there(there, card):
    clusters = mercer.KernelKMeans(3, kernel=K, random_state=0, backend=card).fit(there(X))
    assert clusters.score(there(NEW), sample_weight=there(np.ones(len(NEW)))) == pytest.approx(clusters.score(NEW))
    model = mercer.KernelPerceptron(K, backend=card)
    model.partial_fit(there(X[:200]), there(Y[:200] > 0), classes=[False, True])
    assert isinstance(model.predict(there(NEW)), torch.Tensor)


def test_texts_as_labels_are_answered_as_they_are(there, card):
    names = np.where(Y > 0, "above", "below")
    model = mercer.KernelSVC(K, backend=card).fit(there(X), names)
    assert set(model.predict(there(NEW))) == {"above", "below"}


def test_float32_rows_are_those_of_arrays(there, card):
    rows, new = X.astype(np.float32), NEW.astype(np.float32)
    arrays = mercer.KernelRidge(K, alpha=0.1, solver=ConjugateGradient(tol=1e-8), backend=card).fit(rows, Y)
    tensors = sklearn.base.clone(arrays).fit(there(rows), there(Y))
    found = tensors.predict(there(new))
    assert found.dtype == torch.float32
    near(found, arrays.predict(new), 1e-4)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.uint8, torch.bool])
def test_other_types_are_read_as_float64(kind, device, card):
    rows = torch.from_numpy(np.round(np.abs(3 * X))).to(device, kind)
    model = mercer.KernelRidge(K, alpha=0.1, backend=card).fit(rows, Y)
    wanted = mercer.KernelRidge(K, alpha=0.1, backend=card).fit(rows.cpu().double().numpy(), Y)
    near(model.predict(rows[:50]), wanted.predict(rows[:50].cpu().double().numpy()), 1e-8)


def test_a_model_goes_elsewhere(there, card, tmp_path):
    model = mercer.KernelSVC(K, backend=card).fit(there(X), there(Y > 0))
    wanted = model.decision_function(NEW)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301  # our own bytes
    near(again.decision_function(NEW), wanted)
    mercer.save(model.set_params(backend="cpu"), tmp_path / "model.mercer")
    near(mercer.load(tmp_path / "model.mercer").decision_function(NEW), wanted)
    pca = mercer.KernelPCA(K, n_components=2, backend=card).fit(there(X))
    mercer.save(pca.set_params(backend="cpu"), tmp_path / "pca.mercer")
    np.testing.assert_array_equal(mercer.load(tmp_path / "pca.mercer").X_fit_, X)


def messages(call):
    with pytest.raises((ValueError, TypeError)) as caught:  # their texts are compared
        call()
    return type(caught.value), str(caught.value)


@pytest.mark.parametrize("change", ["nan", "inf", "flat", "deep", "empty", "complex", "narrow"])
def test_what_is_wrong_is_said_as_of_arrays(change, there, card):
    rows = X[:200].copy()
    if change in ("nan", "inf"):
        rows[3, 2] = float(change)
    rows = {
        "flat": rows[:, 0],
        "deep": rows[:, :, None],
        "empty": rows[:0],
        "complex": rows + 1j,
    }.get(change, rows)
    model = mercer.KernelRidge(K, alpha=0.1, backend=card)
    if change == "narrow":
        model.fit(X[:200], Y[:200])
        assert messages(lambda: model.predict(there(rows[:, :2]))) == messages(lambda: model.predict(rows[:, :2]))
        return
    y = Y[: len(rows)]
    wanted, found = messages(lambda: model.fit(rows, y)), messages(lambda: model.fit(there(rows), y))
    if change == "complex":
        assert "omplex" in found[1]
    else:
        assert found == wanted
    if change in ("nan", "inf"):
        assert messages(lambda: K(held(there(rows), card.device) and there(rows))) == messages(lambda: K(rows))


def test_a_domain_is_looked_at_where_rows_are(there, card):
    counts = np.abs(X)
    model = mercer.KernelRidge("min", alpha=0.1, backend=card)
    _, count = rows_brought(lambda: model.fit(there(counts), Y))
    assert count < PROBES
    counts[7, 1] = -1.0
    assert messages(lambda: model.fit(there(counts), Y)) == messages(lambda: model.fit(counts, Y))


@pytest.mark.parametrize("columns", [(), (3,)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("symmetric", [True, False])
def test_products_with_tensors_stay_there(columns, dtype, symmetric, there, card):
    rows, v = X.astype(dtype), RANDOM.normal(size=(N, *columns)).astype(dtype)
    left = rows if symmetric else NEW.astype(dtype)
    with backends.use(card) as opened, fused_from(0):
        K1 = Gram(K, there(left)) if symmetric else Gram(K, there(left), there(rows))
        K2 = Gram(K, left) if symmetric else Gram(K, left, rows)
        K1 @ there(v)
        thin = opened.resident.traffic.thin
        found = K1 @ there(v)
        assert opened.resident.traffic.thin == thin
        assert found.dtype == there(v).dtype
        assert found.shape == (len(left), *columns)
        near(found, K2 @ v, 1e-4 if dtype == np.float32 else 1e-9)
        near(K1.rough() @ there(v), K2 @ v, 1e-2 if dtype == np.float32 else 1e-9)
        near(K1 @ v, K2 @ v, 1e-4 if dtype == np.float32 else 1e-9)
        near(K2 @ there(v), K2 @ v, 1e-4 if dtype == np.float32 else 1e-9)
        wide = K1 @ there(v.astype(np.float64) * 1e60)
        near(wide / 1e60, K2 @ v.astype(np.float64), 1e-4)


def test_a_product_of_another_length_is_refused(there, card):
    with backends.use(card), fused_from(0), pytest.raises(InputError, match=r"1500 numbers"):
        Gram(K, there(X)) @ there(np.ones(3))


def test_any_operator_answers_a_tensor_in_kind(device):
    A = mercer.operators.Dense(np.eye(3)) + mercer.operators.Diagonal(np.ones(3))
    found = A @ torch.ones(3, dtype=torch.float64, device=device)
    assert isinstance(found, torch.Tensor)
    assert str(found.device) == device
    near(found, 2 * np.ones(3))


def test_matrices_in_kind(there):
    """Few rows or many, the matrix is a tensor where X is."""
    for count in (50, MAX_BROUGHT_ROWS + 200):
        rows = X[:count]
        found = K(there(rows))
        assert isinstance(found, torch.Tensor)
        assert (found == found.T).all()
        near(found, K(rows), 1e-9)
        near(K(there(rows), NEW), K(rows, NEW), 1e-9)
        near(K(there(rows), there(NEW)), K(rows, NEW), 1e-9)
        near(K.diagonal(there(rows)), K.diagonal(rows))
    near(K.distance(there(X[:50])), K.distance(X[:50]))


def test_the_median_is_that_of_arrays(there, device):
    twice = np.vstack([X, X[:100], -0.0 * X[:10]])
    kernel = mercer.kernels.Gaussian("median")
    with backends.use(backends.CUDA(device)):
        rows = mercer.kernels.points.Points(held(there(twice), device))
    assert kernel.resolve_points(rows).lengthscale == median_distance(twice)
    order, starts = rows.values.sorted_rows()
    wanted = mercer.kernels.median.groups(mercer.kernels.median.keys_of(twice))
    np.testing.assert_array_equal(order, wanted[0])
    np.testing.assert_array_equal(starts, wanted[1])


def test_lifts_answer_in_kind(there, device):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows that are read here
        for lift in (
            mercer.lifts.Nystrom(K, n_components=20, random_state=0),
            mercer.lifts.RandomFourier(K, 20, random_state=0),
        ):
            wanted = lift.fit_transform(X)
            found = sklearn.base.clone(lift).fit(there(X)).transform(there(X))
            assert str(found.device) == device
            near(found, wanted, 1e-9)


def test_tensors_in_memory_are_arrays_with_results_in_kind():
    model = mercer.KernelRidge(K, alpha=0.1).fit(torch.from_numpy(X), torch.from_numpy(Y))
    found = model.predict(torch.from_numpy(NEW))
    assert isinstance(found, torch.Tensor)
    np.testing.assert_array_equal(found.numpy(), mercer.KernelRidge(K, alpha=0.1).fit(X, Y).predict(NEW))
    assert isinstance(model.predict(NEW), np.ndarray)


def test_a_gradient_is_refused_by_name(there, card):
    rows = there(X).requires_grad_()
    with pytest.raises(InputError, match=r"requires a gradient\. Use X\.detach\(\)"):
        mercer.KernelRidge(K, backend=card).fit(rows, Y)


# -- what only a card has ---------------------------------------------------------------------------------------------


@pytest.fixture
def only_card(device):
    if device == "cpu":
        pytest.skip("there is no graphics card here")


@pytest.mark.usefixtures("only_card")
def test_auto_takes_the_card_where_rows_are(there):
    model = mercer.KernelRidge(K, alpha=0.1).fit(there(X), there(Y))
    assert model.plan_.backend == "cuda:0"
    near(model.predict(NEW), mercer.KernelRidge(K, alpha=0.1, backend="cpu").fit(X, Y).predict(NEW), 1e-7)
    found = Gram(K, there(X)) @ there(Y)
    assert isinstance(found, torch.Tensor)
    near(found, Gram(K, X) @ Y, 1e-8)


@pytest.mark.usefixtures("only_card")
def test_the_cores_take_rows_of_a_card_where_they_are_named(there):
    model = mercer.KernelRidge(K, alpha=0.1, backend="cpu").fit(there(X), there(Y))
    assert model.plan_.backend == "cpu"
    assert model.predict(there(NEW)).is_cuda


@pytest.mark.usefixtures("only_card")
def test_a_lift_says_that_it_reads_rows_here(there):
    with pytest.warns(sklearn.exceptions.DataConversionWarning, match=r"copied from cuda:0"):
        mercer.KernelRidge(mercer.lifts.RandomFourier(K, 20), alpha=0.1).fit(there(X), there(Y))
