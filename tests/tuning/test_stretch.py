"""Lengthscales by the likelihood: against densities written down again, differences, and columns that are known."""

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.sparse import csr_array
from scipy.stats import multivariate_normal

import mercer
from mercer import KernelRidge
from mercer.errors import InputError
from mercer.kernels import Gaussian, Hamming, Laplace, Linear, Matern, ProductLaplace
from mercer.tuning import stretch
from mercer.tuning.evidence import Evidence
from mercer.tuning.lengths import columned, lengths_of, replaced
from mercer.tuning.reading import read
from mercer.tuning.stretching import _Search


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def problem(rows=300, columns=8, seed=0):
    """Two columns that matter, and others that do not."""
    X = draw(rows, columns, seed=seed)
    return X, np.sin(2 * X[:, 1]) + X[:, 2] ** 2 / 2 + 0.1 * draw(rows, seed=seed + 1)


# -- the likelihood ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [False, True])
def test_the_value_is_a_density(intercept):
    """Of y, or of its contrasts where an intercept has no prior, with the best scale; both less a constant."""
    X, weights, alpha = draw(25, 2), np.random.default_rng(1).uniform(0.5, 2, 25), 0.3
    basis = null_space(np.ones((1, 25))).T if intercept else np.eye(25)

    def density(y, lengthscale):
        cov = basis @ (Gaussian(lengthscale)(X) + alpha * np.diag(1 / weights)) @ basis.T
        seen = basis @ y
        scale = seen @ np.linalg.solve(cov, seen) / len(seen)
        return -multivariate_normal(cov=scale * cov).logpdf(seen) / len(seen)

    Y = draw(25, 2, seed=2)
    found = [Evidence(Y, weights, intercept)(Gaussian(s)(X), alpha).value for s in (0.7, 2.0)]
    wanted = [np.mean([density(y, s) for y in Y.T]) for s in (0.7, 2.0)]
    assert found[0] - found[1] == pytest.approx(wanted[0] - wanted[1], abs=1e-12)


def test_a_matrix_without_a_factor_has_no_value():
    assert Evidence(np.ones((2, 1)), np.ones(2), False)(np.array([[0.0, 1.0], [1.0, 0.0]]), 0.1) is None


TREES = [
    Gaussian(2.0),
    Matern(2.5, 1.5) * Linear() + Laplace(2.0),
    Gaussian(1.0).scaled([1.0, 2.0, 3.0, 4.0]) * Linear() + Laplace(2.0).on([0, 1]),
    ProductLaplace(1.0).scaled([1.0, 2.0, 1.0, 1.0]),
    mercer.exp(Gaussian(1.5).scaled([2.0, 1.0]).on([3, 1])).normalized(),
]


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("kernel", TREES, ids=str)
def test_slopes_are_those_of_the_value(kernel, intercept):
    X = draw(50, 4)
    X[1] = X[0]  # two rows at no distance
    source, weights = read(kernel, X, np.random.default_rng(1).uniform(0.5, 2, 50))
    search = _Search.of(source, Evidence(draw(50, 2, seed=2), weights, intercept))
    logs = 0.3 * draw(len(search.lengths) + 1, seed=3)
    _, slopes = search._slopes(logs)
    steps = 1e-4 * np.eye(len(logs))
    wanted = [(search._slopes(logs + step)[0] - search._slopes(logs - step)[0]) / 2e-4 for step in steps]
    np.testing.assert_allclose(slopes, wanted, atol=2e-6)


# -- the numbers of a tree ---------------------------------------------------------------------------------------------


def test_lengths_are_read_and_replaced_in_the_same_order():
    kernel = Gaussian(9.0).scaled([1.0, 2.0]).on(["a", "b"]) * Hamming(3.0).on(["c", "d"]) + Matern(1.5, 4.0).on("e")
    table = {"a": [1.0, 2.0], "b": [1.0, 3.0], "c": ["x", "y"], "d": ["u", "u"], "e": [1.0, 2.0]}
    pandas = pytest.importorskip("pandas")
    source, _ = read(kernel, pandas.DataFrame(table), None)
    groups = lengths_of(source.kernel, source.points)
    assert [value for group in groups for value in group.values] == [1.0, 2.0, 3.0, 4.0]
    names = [name for group in groups for name in group.names]
    assert names == ["column 'a'", "column 'b'", "Hamming of 2 columns", "column 'e'"]
    assert replaced(kernel, [1.0, 2.0, 3.0, 4.0]) == kernel
    changed = Gaussian(9.0).scaled([5.0, 6.0]).on(["a", "b"]) * Hamming(7.0).on(["c", "d"]) + Matern(1.5, 8.0).on("e")
    assert replaced(kernel, [5.0, 6.0, 7.0, 8.0]) == changed


@pytest.mark.parametrize(
    ("kernel", "wrapped"),
    [
        (Gaussian(2.0) + Linear(), True),
        (Gaussian(2.0).on(0) + Linear(), False),
        (Gaussian(2.0).scaled([1.0, 2.0, 3.0]), False),
        (Linear(), False),
    ],
    ids=str,
)
def test_a_tree_without_columns_of_its_own_gets_them(kernel, wrapped):
    source, _ = read(kernel, draw(5, 3), None)
    assert columned(kernel, source.points) == (kernel.scaled([1.0, 1.0, 1.0]) if wrapped else kernel)


# -- what is found -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["gaussian('median')", "matern(nu=2.5, lengthscale='median')"])
def test_columns_that_do_not_matter_are_stretched_away(kernel):
    X, y = problem()
    new, truth = problem(500, seed=7)
    found = stretch(kernel, X, y)
    order = np.argsort(found.stretches)
    assert sorted(order[:2]) == [1, 2]
    assert found.stretches[order[2]] > 5 * found.stretches[order[1]]
    assert found.converged
    assert found.gain > 0.5
    assert (np.diff(found.history[1:]) <= 1e-9).all()
    errors = [np.mean((KernelRidge(k).fit(X, y).predict(new) - truth) ** 2) for k in (kernel, found.kernel)]
    assert errors[1] < 0.2 * errors[0]
    assert mercer.prove(found.kernel).status == "proven"
    assert mercer.parse(str(found.kernel)) == found.kernel


def test_what_is_found_is_at_least_as_likely_as_what_was_given():
    """From the best lengths nothing likelier is found, and they are given back."""
    X, y = problem(150, 3)
    first = stretch(Gaussian(1.0), X, y)
    again = stretch(first.kernel, X, y)
    assert again.gain >= 0
    assert again.history[-1] <= first.history[-1] + 1e-6
    noise = stretch(Gaussian(1.0), X, draw(150, seed=9))
    assert noise.gain >= 0


def test_the_penalty_is_that_of_the_noise():
    """y is the kernel's own process with the noise 0.04 of its size: alpha is about that."""
    X = np.random.default_rng(0).uniform(0, 60, (700, 1))
    K = Gaussian(0.7)(X)
    y = np.linalg.cholesky(K + 1e-10 * np.eye(700)) @ draw(700, seed=1) + 0.2 * draw(700, seed=2)
    found = stretch(Gaussian(3.0), X, 5 * y + 100)
    assert found.lengthscales == pytest.approx([0.7], rel=0.2)
    assert found.alpha == pytest.approx(0.04, rel=0.4)


def test_a_row_of_weight_zero_is_not_there():
    X, y = problem(120, 3)
    weights = np.r_[np.ones(100), np.zeros(20)]
    some, all_rows = stretch(Gaussian(1.0), X[:100], y[:100]), stretch(Gaussian(1.0), X, y, sample_weight=weights)
    np.testing.assert_array_equal(some.lengthscales, all_rows.lengthscales)
    assert all_rows.rows == 100


def test_scale_and_shift_of_the_targets_do_not_matter():
    X, y = problem(120, 3)
    plain, moved = stretch(Gaussian(1.0), X, y), stretch(Gaussian(1.0), X, 1e6 * y - 1e7)
    np.testing.assert_allclose(moved.lengthscales, plain.lengthscales, rtol=2e-3)


def test_sparse_rows_are_rows():
    X, y = problem(120, 4)
    X[np.abs(X) < 0.3] = 0
    dense, sparse = stretch(Gaussian(1.0), X, y), stretch(Gaussian(1.0), csr_array(X), y)
    np.testing.assert_allclose(sparse.lengthscales, dense.lengthscales, rtol=1e-2)


def test_of_many_rows_some_are_drawn_and_the_same_ones_again():
    X, y = problem(400, 3)
    one, two = (stretch(Gaussian(1.0), X, y, rows=100, max_iter=3, random_state=0) for _ in range(2))
    other = stretch(Gaussian(1.0), X, y, rows=100, max_iter=3, random_state=1)
    assert (one.rows, one.converged) == (100, False)
    assert one.n_iter <= 3
    np.testing.assert_array_equal(one.lengthscales, two.lengthscales)
    assert (one.lengthscales != other.lengthscales).any()


def test_several_outputs_share_their_lengths():
    X, y = problem(200, 4)
    both = np.column_stack(
        [y, 3 * np.sin(X[:, 0]) + 0.3 * draw(200, seed=5), np.ones(200)]
    )  # the last one has nothing to say
    found = stretch(Gaussian(2.0), X, both)
    assert (found.stretches[:3] < 5).all()
    assert found.stretches[3] > 5


def test_the_table_names_columns_and_the_shortest_come_first():
    pandas = pytest.importorskip("pandas")
    X, y = problem(150, 24)
    text = str(stretch("gaussian('median')", pandas.DataFrame(X, columns=[f"c{j}" for j in range(24)]), y, max_iter=20))
    lines = text.splitlines()
    assert {line.split("column ")[1] for line in lines[1:3]} == {"'c1'", "'c2'"}
    assert "and 4 more, which matter less" in text
    assert "alpha" in lines[-1]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda X, y: stretch("linear", X, y), "a kernel with lengthscales"),
        (lambda X, y: stretch("precomputed", X @ X.T, y), "rows that a kernel looks at"),
        (lambda X, y: stretch(Gaussian(), X, np.full(30, 7.0)), "a y that varies"),
        (lambda X, y: stretch(Gaussian(), X, y, sample_weight=np.eye(30)[0]), "at least two rows"),
        (lambda X, y: stretch(Gaussian(), X, y, max_iter=0), "integer of at least 1 for max_iter"),
        (lambda X, y: stretch(Gaussian(), X, y, rows=1), "integer of at least 2 for rows"),
        (lambda X, y: stretch(Gaussian(), X, y, rows=True), "integer of at least 2 for rows"),
        (lambda X, y: stretch("epanechnikov(lengthscale=3.0)", 3 * X, y), "positive semi-definite"),
    ],
)
def test_what_cannot_be_stretched_is_named(call, said):
    with pytest.raises(InputError, match=said):
        call(draw(30, 3), draw(30, seed=1))
