"""Every way gives the model of the direct one, or says how far it is; limits are kept."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from mercer import KernelRidge, KernelRidgeClassifier
from mercer.errors import BudgetError, InputError, NumericalWarning
from mercer.kernels import Gaussian
from mercer.learners.ridge import planning
from mercer.lifts import Nystrom, RandomFourier
from mercer.planner.placement import place
from mercer.solvers import ConjugateGradient
from mercer.sources import Batches

N = 260
random = np.random.default_rng(8)
X = random.normal(size=(N, 3))
Y = np.column_stack([np.sin(X[:, 0]) + X[:, 1], X[:, 2] ** 2]) + 0.1 * random.normal(size=(N, 2))
WEIGHTS = random.integers(0, 4, N).astype(float)
LABELS = np.array(["low", "middle", "high"])[np.digitize(Y[:, 0], [-0.5, 0.5])]
NEW = random.normal(size=(70, 3))
KERNEL = "gaussian(lengthscale=2.0)"
LANDMARKS = Nystrom(KERNEL, 40, random_state=0)


@pytest.fixture
def forced(monkeypatch):
    """Make the planner take a way, in small batches."""

    def force(way):
        def other(task, backend, *settings):
            plan = place(task, backend, *settings)
            found = next(each for each in (plan, *plan.others) if each.method == way)
            return replace(found, details=replace(found.details, batch=50))

        monkeypatch.setattr(planning, "place", other)

    return force


CASES = {
    "plain": {},
    "weighted": {"sample_weight": WEIGHTS},
    "no intercept": {"fit_intercept": False},
    "one alpha an output": {"alpha": [0.02, 2.0]},
}


def fitted(kernel, **case):
    weight = case.pop("sample_weight", None)
    return KernelRidge(kernel, **{"alpha": 0.05, "random_state": 0, **case}).fit(X, Y, weight)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_conjugate_gradients_give_the_direct_model(case, forced):
    direct = fitted(KERNEL, **case)
    forced("conjugate gradients")
    found = fitted(KERNEL, **case)
    assert (found.plan_.method, found.converged_) == ("conjugate gradients", True)
    assert found.residual_ <= 1e-6
    assert_allclose(found.predict(NEW), direct.predict(NEW), rtol=0, atol=2e-5)
    assert_allclose(found.intercept_, direct.intercept_, atol=2e-5)
    assert_allclose(found.leverage_, direct.leverage_, atol=1e-8)
    assert_allclose(found.log_marginal_likelihood(), direct.log_marginal_likelihood(), rtol=1e-5, atol=1e-3)
    deviations = [model.predict(NEW, return_std=True)[1] for model in (found, direct)]
    assert_allclose(*deviations, rtol=1e-4)


@pytest.mark.parametrize("way", ["one pass", "nystrom iterative"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_pieces_give_the_direct_model(case, way, forced):
    forced("direct")
    direct = fitted(LANDMARKS, **case)
    forced(way)
    found = fitted(LANDMARKS, **case)
    assert (found.plan_.method, found.converged_) == (way, True)
    assert_allclose(found.predict(NEW), direct.predict(NEW), rtol=0, atol=1e-5)
    assert_allclose(found.coef_, direct.coef_, atol=1e-3)
    assert_allclose(found.dual_coef_, direct.dual_coef_, atol=1e-3)
    assert_allclose(found.leverage_, direct.leverage_, atol=1e-7)
    assert_allclose(found.degrees_of_freedom_, direct.degrees_of_freedom_, rtol=1e-7)
    assert_allclose(found.log_marginal_likelihood(), direct.log_marginal_likelihood(), rtol=1e-5, atol=1e-3)
    deviations = [model.predict(NEW, return_std=True)[1] for model in (found, direct)]
    assert_allclose(*deviations, rtol=1e-4)
    covariances = [model.predict(NEW, return_cov=True)[1] for model in (found, direct)]
    assert_allclose(*covariances, rtol=1e-4, atol=1e-4 * np.abs(covariances[1]).max())


@pytest.mark.parametrize("kernel", [KERNEL, RandomFourier(KERNEL, 60, random_state=1), "polynomial(degree=2)"], ids=str)
def test_a_path_in_one_pass_is_judged_by_all_rows_where_they_are_few(kernel, forced):
    given = LANDMARKS if kernel == KERNEL else kernel
    forced("direct")
    direct = KernelRidge(given).fit(X, Y)
    forced("one pass")
    found = KernelRidge(given).fit(X, Y)
    assert_allclose(found.alpha_, direct.alpha_)
    assert_allclose(found.loo_.errors, direct.loo_.errors, rtol=1e-6)


@pytest.mark.parametrize("way", ["conjugate gradients", "nystrom", "nystrom iterative", "random features"])
def test_every_way_classifies(way, forced):
    direct = KernelRidgeClassifier(KERNEL).fit(X, LABELS)
    forced(way)
    found = KernelRidgeClassifier(KERNEL, random_state=0).fit(X, LABELS)
    assert found.plan_.method == way
    assert (found.predict(NEW) == direct.predict(NEW)).mean() > 0.85
    assert found.score(X, LABELS) > direct.score(X, LABELS) - 0.1


@pytest.mark.parametrize("way", ["conjugate gradients", "nystrom", "nystrom iterative", "random features"])
def test_the_certificate_holds(way, forced):
    direct = KernelRidge(KERNEL, alpha=0.1).fit(X, Y)
    forced(way)
    found = KernelRidge(KERNEL, alpha=0.1, random_state=0).fit(X, Y)
    far = np.sqrt(np.mean((found.predict(X) - direct.predict(X)) ** 2, axis=0))
    assert (far <= found.certificate_.rms).all()
    at_new = np.abs(found.predict(NEW) - direct.predict(NEW))
    assert (at_new <= found.certificate_.at(np.ones(len(NEW)))).all()


@pytest.mark.filterwarnings("ignore::mercer.errors.NumericalWarning")
@pytest.mark.parametrize(
    "solver", ["auto", ConjugateGradient(tol=0.05, preconditioner_rank=0)], ids=["exactly", "roughly"]
)
@pytest.mark.parametrize("lift", [RandomFourier(KERNEL, 500, random_state=0), LANDMARKS], ids=["waves", "landmarks"])
def test_the_certificate_holds_for_a_lift_in_the_dual(lift, solver, monkeypatch):
    rows, Z, s = X[:60], Y[:60], WEIGHTS[:60] + 1.0
    direct = KernelRidge(KERNEL, alpha=0.1).fit(rows, Z, s)

    def fitted_on(side, solver):
        def other(task, backend, *settings):
            plan = place(task, backend, *settings)
            return next(each for each in (plan, *plan.others) if each.details.side == side)

        monkeypatch.setattr(planning, "place", other)
        return KernelRidge(clone(lift), alpha=0.1, solver=solver).fit(rows, Z, s)

    found = fitted_on("dual", solver)
    assert found._result.weights is None
    far = np.sqrt(np.average((found.predict(rows) - direct.predict(rows)) ** 2, axis=0, weights=s))
    assert (far <= found.certificate_.rms).all()
    assert (np.abs(found.predict(NEW) - direct.predict(NEW)) <= found.certificate_.at(np.ones(len(NEW)))).all()
    if solver == "auto":
        assert_allclose(found.certificate_.rms, fitted_on("primal", "auto").certificate_.rms, rtol=1e-6)


@pytest.mark.parametrize("way", ["nystrom", "random features", "conjugate gradients"])
def test_a_seed_decides_every_draw(way, forced):
    forced(way)
    first, same, other = (KernelRidge(KERNEL, random_state=seed).fit(X, Y).predict(NEW) for seed in (1, 1, 2))
    assert (first == same).all()
    assert way == "conjugate gradients" or (first != other).any()


def test_the_lengthscale_is_searched_before_pieces_are_read(forced):
    forced("nystrom")
    found = KernelRidge("gaussian('median')", lengthscale="loo", random_state=0).fit(X, Y[:, 0])
    forced("direct")
    direct = KernelRidge("gaussian('median')", lengthscale="loo").fit(X, Y[:, 0])
    assert str(found.kernel_) == str(direct.kernel_)


def test_sparse_rows_stream(forced):
    from scipy.sparse import csr_array

    table = np.where(np.abs(X) > 0.5, X, 0.0)
    forced("nystrom")
    dense, sparse = (KernelRidge(KERNEL, alpha=0.1, random_state=0).fit(rows, Y) for rows in (table, csr_array(table)))
    assert_allclose(sparse.predict(csr_array(NEW)), dense.predict(NEW), atol=1e-6)


def test_named_columns_stream(forced):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    forced("nystrom")
    model = KernelRidge("gaussian(2.0).on(['a', 'b'])", alpha=0.1, random_state=0).fit(frame, Y)
    assert_allclose(model.predict(frame.assign(c=5.0)), model.predict(frame))


# -- sources ----------------------------------------------------------------------------------------------------------


def test_rows_that_stay_in_their_source(monkeypatch):
    monkeypatch.setattr("mercer.learners.streaming.source_stream.MEMORY_SHARE", 0.0)
    source = Batches([(X[i : i + 30], Y[i : i + 30]) for i in range(0, N, 30)])
    model = KernelRidge(LANDMARKS, alpha=0.05).fit(source)
    assert (model.plan_.method, model.plan_.rows) == ("one pass", N)
    whole = KernelRidge(clone(model.lift_), alpha=0.05).fit(X, Y)
    assert_allclose(model.predict(NEW), whole.predict(NEW), atol=1e-6)
    assert_allclose(model.degrees_of_freedom_, whole.degrees_of_freedom_, rtol=1e-6)
    assert_allclose(np.concatenate(list(model.predict_batches(NEW, 16))), model.predict(NEW))
    for name in ("dual_coef_", "X_fit_", "certificate_", "leverage_"):
        with pytest.raises(AttributeError):
            getattr(model, name)


def test_landmarks_without_a_decomposition_have_no_leverage(monkeypatch, forced):
    monkeypatch.setattr("mercer.learners.streaming.source_stream.MEMORY_SHARE", 0.0)
    forced("nystrom iterative")
    model = KernelRidge(LANDMARKS, alpha=0.05).fit(Batches([(X, Y)]))
    assert model.plan_.method == "nystrom iterative"
    assert not hasattr(model, "leverage_")
    assert not hasattr(model, "degrees_of_freedom_")
    with pytest.raises(InputError, match="needs a decomposition; the rows stayed in their source"):
        model.predict(NEW, return_std=True)


def test_labels_of_a_source(monkeypatch):
    monkeypatch.setattr("mercer.learners.streaming.source_stream.MEMORY_SHARE", 0.0)
    source = Batches([(X[:100], LABELS[:100]), (X[100:], LABELS[100:])])
    model = KernelRidgeClassifier(LANDMARKS, alpha=0.05).fit(source)
    assert model.classes_.tolist() == ["high", "low", "middle"]
    assert model.score(X, LABELS) > 0.8


def test_a_domain_is_checked_in_every_batch(monkeypatch):
    monkeypatch.setattr("mercer.learners.streaming.source_stream.MEMORY_SHARE", 0.0)
    monkeypatch.setattr("mercer.learners.streaming.source_stream.SAMPLE_ROWS", 20)
    rows = np.abs(X)
    rows[77, 1] = -0.5
    with pytest.raises(InputError, match="non-negative"):
        KernelRidge(Nystrom("min", 5, random_state=0), alpha=0.1).fit(Batches([(rows, Y)]))


def test_a_matrix_of_similarities_is_no_source():
    with pytest.raises(InputError, match="a kernel or a lift for rows from a source"):
        KernelRidge("precomputed").fit(Batches([(X, Y)]))


@pytest.mark.parametrize("learner", [KernelRidge, KernelRidgeClassifier])
def test_a_memory_map_of_similarities_is_a_matrix(learner, tmp_path):
    """joblib makes such maps of what it sends to other processes."""
    np.save(tmp_path / "K.npy", Gaussian(1.0)(X))
    K, y = np.load(tmp_path / "K.npy", mmap_mode="r"), (Y[:, 0] > 0).astype(int)
    found, wanted = (learner("precomputed", alpha=0.1).fit(each, y) for each in (K, np.array(K)))
    np.testing.assert_array_equal(found.dual_coef_, wanted.dual_coef_)
    np.testing.assert_allclose(found.predict(K), wanted.predict(np.array(K)), rtol=1e-12)


# -- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["conjugate gradients", "nystrom", "nystrom iterative"])
def test_a_time_limit_that_has_passed_leaves_a_usable_model(way, forced):
    forced(way)
    solver = (
        ConjugateGradient(preconditioner_rank=5, tol=1e-12, random_state=0) if way == "conjugate gradients" else "auto"
    )
    model = KernelRidge(KERNEL, alpha=1e-4, time_limit=1e-9, solver=solver, random_state=0)
    with pytest.warns(NumericalWarning, match="(?i)the time limit of 1e-09 s was reached"):
        model.fit(X, Y[:, 0])
    assert not model.converged_
    assert np.isfinite(model.predict(NEW)).all()
    assert model.score(X, Y[:, 0]) > 0


def test_why_there_are_no_dual_coefficients(monkeypatch, forced):
    stayed = Batches([(X, Y)])
    forced("one pass")
    with pytest.warns(NumericalWarning, match="(?i)the time limit"):
        stopped = KernelRidge(LANDMARKS, alpha=0.05, time_limit=1e-9).fit(X, Y)
    free = KernelRidge(LANDMARKS, alpha=0.0).fit(X, Y)
    monkeypatch.setattr("mercer.learners.streaming.source_stream.MEMORY_SHARE", 0.0)
    away = KernelRidge(LANDMARKS, alpha=0.05).fit(stayed)
    reasons = ((stopped, "stopped before the residuals"), (free, "with alpha = 0"), (away, "stayed in their source"))
    for model, why in reasons:
        with pytest.raises(AttributeError, match=f"dual_coef_: .*{why}"):
            _ = model.dual_coef_
    for model in (stopped, free):  # a certificate that knows nothing says so
        assert np.isinf(model.certificate_.rms).all()
        assert "not known" in str(model.certificate_)


@pytest.mark.cores("memory_limit is that of this process: a card has its own")
def test_a_memory_limit_leads_to_a_way_that_fits():
    roomy = KernelRidge(KERNEL, alpha=0.1).plan(X, Y)
    tight = KernelRidge(KERNEL, alpha=0.1, memory_limit=roomy.bytes - 1).plan(X, Y)
    assert roomy.method == "direct"
    assert tight.method != "direct"
    assert tight.bytes < roomy.bytes


@pytest.mark.cores("memory_limit is that of this process: a card has its own")
def test_what_cannot_fit_is_refused_with_what_would():
    model = KernelRidge(KERNEL, alpha=0.1, memory_limit="10 kB")
    with pytest.raises(
        BudgetError, match=r"KernelRidge needs .* KiB for .* landmarks on 260 rows; 9\.8 KiB may be used"
    ):
        model.fit(X, Y)


MEMORY = """
import resource, sys
import numpy as np
from mercer import KernelRidge
rng = np.random.default_rng(0)
X = rng.normal(size=(12_000, 5))
y = np.sin(X[:, 0]) + X[:, 1]
settings = dict(alpha=0.1, random_state=0, memory_limit=sys.argv[1])
KernelRidge("gaussian(2.0)", alpha=0.1, memory_limit="1 GB").fit(X[:1500], y[:1500])
KernelRidge("gaussian(2.0)", **settings).plan(X, y)
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model = KernelRidge("gaussian(2.0)", **settings).fit(X, y)
sys.stdout.write(f"{model.plan_.method},{(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base) * 1024}")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux alone")
@pytest.mark.parametrize("limit", [120_000_000, 400_000_000])
def test_a_memory_limit_is_kept(limit):
    found = subprocess.run([sys.executable, "-c", MEMORY, str(limit)], capture_output=True, text=True, check=True)
    way, peak = found.stdout.split(",")
    assert way != "direct"
    assert int(peak) <= 1.05 * limit + (64 << 20)
