"""A kernel that somebody writes in a script has an exact lift, counted and built, by one method."""

import numpy as np
import pytest

import mercer
from mercer import KernelRidge, KernelSVC, Perceptron
from mercer.errors import KernelError, ModelFileError
from mercer.kernels import Coordinate, Dot, Gaussian, Kernel, Linear
from mercer.kernels.algebra.single import Single
from mercer.lifts.n_features import most_features
from mercer.models import load, save

D = 3
RANDOM = np.random.default_rng(0)
X, Z = RANDOM.uniform(-1, 1, size=(9, D)), RANDOM.uniform(-1, 1, size=(6, D))


class LinearAndCube(Dot):
    """<x, z> + <x, z>^3: of polynomials."""

    formula = "<x, z> + <x, z>^3"

    def profile(self, u):
        return u + u * u * u

    def finite_lift(self, build):
        return build.added([build.linear(), build.polynomial(degree=3, offset=0.0)])


class Steps(Coordinate):
    """Two thresholds a column: features of its own."""

    joined_by = "sum"
    formula = "sum_k [x_k > 0][z_k > 0] + [x_k > 1/2][z_k > 1/2]"

    def term(self, x, z):
        return 1.0 * ((x > 0) & (z > 0)) + 1.0 * ((x > 0.5) & (z > 0.5))

    def finite_lift(self, build):
        return build.functions(self, 2 * build.n_columns)

    def features_of(self, X):
        return (X[:, :, None] > np.array([0.0, 0.5])).reshape(len(X), -1)

    def names_of(self, inputs):
        return [f"[{name} > {edge}]" for name in inputs for edge in ("0", "1/2")]


class Doubled(Single):
    """2 k(x, z): a rule."""

    formula = "2 k(x, z)"

    kernel: Kernel

    def evaluate(self, pairs):
        return 2.0 * self.kernel.evaluate(pairs)

    def evaluate_diagonal(self, points):
        return 2.0 * self.kernel.evaluate_diagonal(points)

    def rule(self):
        return "twice a kernel is a kernel"

    def write(self, python):
        return self.write_postfix(python, "doubled", "")

    def finite_lift(self, build):
        return build.multiplied(build.constant(2.0), build.of(self.kernel))


KERNELS = {
    "polynomials": (LinearAndCube(), D + 10),
    "functions": (Steps(), 2 * D),
    "a rule": (Doubled(LinearAndCube()), D + 10),
    "a rule of functions": (Doubled(Steps()), 2 * D),
    "a sum": (LinearAndCube() + Steps(), D + 10 + 2 * D),
    "a product": (LinearAndCube() * Steps(), (D + 10) * 2 * D),
    "columns": (LinearAndCube().on([0, 2]), 2 + 4),
    "a map": (Steps().after([[1.0, 0.0, 1.0], [0.0, 2.0, 0.0]]), 4),
    "lengths": (LinearAndCube().scaled([1.0, 2.0, 3.0]), D + 10),
    "a power": (Steps() ** 2, (2 * D) ** 2),
    "normalized": (Steps().normalized(), 2 * D),
}


@pytest.mark.parametrize("name", KERNELS)
def test_its_lift_is_exact_and_counted(name):
    kernel, count = KERNELS[name]
    phi = mercer.lift(kernel, D)
    found = phi.transform(X) @ phi.transform(Z).T
    np.testing.assert_allclose(found, kernel(X, Z), rtol=1e-13, atol=1e-13)
    assert phi.n_features() == most_features(kernel, D) == count == len(phi.get_feature_names_out())


def test_its_features_have_the_names_that_it_gives():
    assert mercer.lift(Steps(), 1).get_feature_names_out().tolist() == ["[x1 > 0]", "[x1 > 1/2]"]
    moved = mercer.lift(Steps().after([[1.0, 2.0]]), 2)
    assert moved.get_feature_names_out().tolist() == ["[x1 + 2 x2 > 0]", "[x1 + 2 x2 > 1/2]"]


def test_its_features_have_the_dtype_of_the_rows():
    assert mercer.lift(Steps(), D).transform(X.astype(np.float32)).dtype == np.float32


def test_learners_take_the_features_where_these_are_fewer():
    rows = RANDOM.uniform(-1, 1, size=(400, D))
    y = rows[:, 0] + (rows[:, 1] > 0)
    plan = KernelRidge(Steps(), alpha=0.1).fit(rows, y).plan_
    assert (plan.details.side, plan.n_features) == ("primal", 2 * D)
    assert Perceptron(Steps()).fit(rows, rows[:, 0] > 0.5).predict([[0.9, 0.0, 0.0]])[0]


def test_without_the_method_there_is_none():
    class Bare(Dot):
        formula = "<x, z>"

        def profile(self, u):
            return u

    assert most_features(Bare(), D) is None
    with pytest.raises(KernelError, match=r"^bare has no finite lift that Mercer knows"):
        mercer.lift(Bare() + Linear(), D)
    with pytest.raises(KernelError, match=r"^gaussian\(lengthscale=1.0\) has no finite lift"):
        mercer.lift(Doubled(Gaussian(1.0)), D)


@pytest.mark.parametrize("learner", [KernelRidge, KernelSVC])
def test_it_is_saved_with_its_features(learner, tmp_path):
    path = tmp_path / "steps.mercer"
    model = learner(Steps() + LinearAndCube()).fit(X, X[:, 0] > 0)
    save(model, path)
    with pytest.raises(ModelFileError, match=r"classes=\[TheClass\]"):
        load(path)
    again = load(path, classes=[Steps, LinearAndCube])
    np.testing.assert_array_equal(again.predict(Z), model.predict(Z))


def test_its_lift_is_saved(tmp_path):
    path = tmp_path / "steps.mercer"
    phi = mercer.lift(Steps(), D)
    save(phi, path)
    np.testing.assert_array_equal(load(path, classes=[Steps]).transform(Z), phi.transform(Z))
