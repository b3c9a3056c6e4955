"""Sparse tables: the same numbers as for the same table, dense, in both ways of evaluation."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from mercer.errors import DomainError, InputError
from mercer.kernels import (
    ArcCosine,
    ChiSquared,
    Cosine,
    Dot,
    Epanechnikov,
    Exponential,
    ExponentialChiSquared,
    Gaussian,
    Laplace,
    Linear,
    Matern,
    Min,
    Monomials,
    Parabolic,
    Polynomial,
    Powers,
    ProductLaplace,
    RationalQuadratic,
    Sigmoid,
    Sinc,
    Subsets,
    Trigonometric,
    Wendland,
)
from mercer.kernels.domain import DOMAINS
from mercer.kernels.evaluation.evaluate import evaluator, fused_from, ready
from mercer.kernels.evaluation.plain import Plain
from mercer.kernels.points import points_from
from mercer.operators import Gram

rng = np.random.default_rng(5)
d = 40
draft = sp.random_array((70, d), density=0.1, rng=rng, data_sampler=rng.normal).toarray()
draft[3] = draft[4]  # equal rows
draft[6] = 0.0  # an empty row
X = sp.csr_array(draft)
Z = sp.vstack([X[:9], sp.random_array((20, d), density=0.1, rng=rng, data_sampler=rng.normal)], format="csr")
A = rng.normal(size=(3, d))
SCALES = np.linspace(0.5, 2.0, d)

LEAVES = [
    Linear(), Polynomial(3), Exponential(2.0), Sigmoid(0.2, 0.1), Cosine(), ArcCosine(0), ArcCosine(1),
    Gaussian(1.5), Laplace(), Matern(1.5, 2.0), Matern(2.5), Matern(0.7), RationalQuadratic(), Sinc(),
    Wendland(3, 1, 9.0), Epanechnikov(3.0), Parabolic(),
]  # fmt: skip
COMPOSED = [
    Gaussian() + 2 * Linear(), Laplace() * Polynomial(2), Gaussian(2.0) ** 3, Matern(1.5).normalized() + Cosine(),
    Polynomial(2).normalized(), Laplace().on([5, 0, 7]) + Linear().on([-1]), Gaussian().on([2, 2, 1]),
    Gaussian().scaled(SCALES), Laplace().scaled(SCALES) * ArcCosine(), Gaussian().after(A) + Linear(),
    Laplace().after(A) * Gaussian(), Min().after(np.abs(A) * 0.0) + Gaussian(), 3.0 + Gaussian(), (1 + Linear()) ** 2,
]  # fmt: skip
WAYS = {"plain": 1 << 60, "fused": 0}


@pytest.fixture(params=WAYS)
def way(request):
    with fused_from(WAYS[request.param]):
        yield request.param


def close(found, wanted, tolerance=2e-12):
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    assert np.abs(found - wanted).max() <= tolerance * max(1.0, np.abs(wanted).max())


@pytest.mark.slow
@pytest.mark.parametrize("kernel", LEAVES + COMPOSED, ids=str)
def test_the_same_as_dense(kernel, way):
    close(kernel(X), kernel(X.toarray()))
    close(kernel(X, Z), kernel(X.toarray(), Z.toarray()))
    close(kernel(X, Z.toarray()), kernel(X.toarray(), Z.toarray()))
    close(kernel(X.toarray(), Z), kernel(X.toarray(), Z.toarray()))
    close(kernel.diagonal(X), kernel.diagonal(X.toarray()))
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    kernel.distance(X)


@pytest.mark.parametrize("kernel", [Gaussian(), Laplace(), ArcCosine(), Linear() + Gaussian()], ids=str)
def test_products(kernel, way):
    V = rng.normal(size=(X.shape[0], 3))
    for right in (None, Z):
        K = kernel(X.toarray(), None if right is None else right.toarray())
        G = Gram(kernel, X, right)
        close(G @ V[: G.shape[1]], K @ V[: G.shape[1]])
        close(G @ V[: G.shape[1], 0], K @ V[: G.shape[1], 0])
        close(G.T @ V[: G.shape[0]], K.T @ V[: G.shape[0]])
        close(G.diagonal(), np.diagonal(K))
        close(G.block([3, 1], slice(5)), K[[3, 1], :5])
        assert G.peak() > 0


def test_the_fused_pass_is_used(way):
    for kernel in (Gaussian(), Laplace(), Cosine(), Gaussian() + Linear()):
        assert isinstance(evaluator(kernel, *ready(kernel, X, Z)), Plain) == (way == "plain")


def test_the_same_rows_are_found_to_be_the_same():
    left, right = ready(Gaussian(), X, X.copy())
    assert left is right
    assert Gram(Gaussian(), X, X.tocsc()).symmetric
    assert not Gram(Gaussian(), X, X * 2).symmetric
    close(Linear().distance(X, Z), Linear().distance(X.toarray(), Z.toarray()), 1e-7)


@pytest.mark.parametrize("kernel", [Laplace(), Matern(0.5), Matern(1.5), Gaussian(0.1), ArcCosine(0)], ids=str)
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_near_duplicates(kernel, offset, way):
    """Differences of 1e-9 at lengths of 1e3 have cancelled entirely in a product."""
    base = X.copy()
    base.data += offset
    near = base.copy()
    near.data *= 1 + 1e-9 * rng.normal(size=near.nnz)
    both = sp.vstack([base, near], format="csr")
    found, wanted = kernel(both, base), _exact(kernel, both.toarray(), base.toarray())
    assert np.abs(found - wanted).max() <= 1e-12
    equal = kernel(both)[:70, :70][3, 4]
    assert equal == kernel.diagonal(X)[3]


def test_near_duplicates_by_loops_as_written(loops_as_written):
    base = X[:8] + sp.csr_array((X[:8].data * 0 + 1e3, X[:8].indices, X[:8].indptr), X[:8].shape)
    both = sp.vstack([base, base * (1 + 1e-9)], format="csr")
    for kernel in (Linear(), Laplace()):
        with fused_from(0):
            found = kernel(both, base)
        wanted = _exact(kernel, both.toarray(), base.toarray())
        assert np.abs(found - wanted).max() <= 1e-12 * np.abs(wanted).max()


def _exact(kernel, left, right=None):
    with fused_from(1 << 60):
        return kernel(left, right)


def test_float32_is_computed_in_float64_and_given_back_in_float32(way):
    left, right = X.astype(np.float32), Z.astype(np.float32)
    for kernel in (Gaussian(), Laplace(), Linear()):
        found = kernel(left, right)
        wanted = kernel(left.toarray().astype(float), right.toarray().astype(float))
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-12)
    assert Gram(Gaussian(), left).dtype == np.float32
    assert Gaussian()(left, Z).dtype == np.float64


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("build", [sp.csr_matrix, sp.csr_array])
def test_all_formats(form, build, way):
    table = build(X).asformat(form)
    assert points_from(table).values.format == "csr"
    close(Gaussian()(table), Gaussian()(X.toarray()))
    close(Laplace().on([0, 3])(table), Laplace()(X.toarray()[:, [0, 3]]))


def untidy():
    """Duplicates, stored zeros, unsorted columns."""
    data = np.array([1.0, 2.0, 3.0, 0.0, 5.0, -5.0, 4.0])
    return sp.csr_array((data, np.array([3, 1, 3, 0, 2, 2, 0]), np.array([0, 3, 4, 7])), shape=(3, 4))


def test_duplicates_and_stored_zeros(way):
    table = untidy()
    dense = table.toarray()
    before = [part.copy() for part in (table.data, table.indices, table.indptr)]
    for kernel in (Gaussian(), Laplace(), Linear(), Cosine(), Gaussian().on([3, 0]), Gaussian().scaled([1, 2, 3, 4])):
        close(kernel(table), kernel(dense))
        close(kernel(table, dense), kernel(dense))
    for part, old in zip((table.data, table.indices, table.indptr), before, strict=True):
        np.testing.assert_array_equal(part, old)
    assert points_from(table).values.nnz == 3
    small = sp.coo_array((np.array([100, 100], np.int8), ([0, 0], [1, 1])), shape=(1, 2))
    assert Linear()(small)[0, 0] == 200.0**2


def test_the_users_table_is_unchanged(way):
    table = X.copy()
    for kernel in (Gaussian(), Laplace().scaled(SCALES), ArcCosine(), Gaussian("median").resolve(table)):
        kernel(table)
        Gram(kernel, table) @ np.ones(70)
    np.testing.assert_array_equal(table.toarray(), X.toarray())
    assert np.shares_memory(points_from(table).values.data, table.data)  # nor copied


@pytest.mark.slow
def test_one_row_and_rows_of_zeros(way):
    zero = sp.csr_array((3, 5))
    for kernel in (Gaussian(), Laplace(), Linear(), Cosine(), ArcCosine(), Polynomial(2).normalized()):
        close(kernel(zero), kernel(np.zeros((3, 5))))
        close(kernel(X[[0]]), kernel(X[[0]].toarray()))
        close(kernel(X[[0]], Z), kernel(X[[0]].toarray(), Z.toarray()))


def test_large_numbers_do_not_become_nan(way):
    huge = X * 1e200
    for kernel in (Gaussian(), Laplace(), ArcCosine(0), Cosine()):
        close(kernel(huge), _exact(kernel, huge.toarray()))


def test_the_median(way):
    for kernel in (Gaussian("median"), Laplace("median").scaled(SCALES), Gaussian("median").on([0, 1, 2, 3])):
        found, wanted = kernel.resolve(X), kernel.resolve(X.toarray())
        close(found(X), wanted(X.toarray()))
    many = sp.random_array((3000, 30), density=0.1, rng=rng)
    assert Gaussian("median").resolve(many).lengthscale == pytest.approx(
        Gaussian("median").resolve(many.toarray()).lengthscale, rel=1e-12
    )


BAD = {
    "NaN": (sp.csr_array([[0.0, 1.0], [0.0, np.nan]]), r"column 1 holds nan in row 1"),
    "infinity": (sp.coo_matrix([[0.0, 1.0], [-np.inf, 0.0]]), r"column 0 holds -inf in row 1"),
    "no rows": (sp.csr_array((0, 3)), r"empty table of shape \(0, 3\)"),
    "no columns": (sp.csr_array((3, 0)), r"empty table of shape \(3, 0\)"),
    "a 1-D array": (sp.coo_array([1.0, 2.0]), r"1 dimension and shape"),
    "complex numbers": (sp.csr_array([[1.0 + 2j]]), r"complex"),
    "broken": (sp.csr_array(X), r"SciPy says"),
}
BAD["broken"][0].indices = BAD["broken"][0].indices.copy()
BAD["broken"][0].indices[0] = 1000


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    data, message = BAD[case]
    for call in (Gaussian(), Gaussian().diagonal, Gaussian().check, Gaussian("median").resolve):
        with pytest.raises(InputError, match=message) as caught:
            call(data)
        assert str(caught.value).startswith("Gaussian needs ")


def test_columns_at_which_no_kernel_looks_may_hold_anything(way):
    table = sp.csr_array([[np.nan, 1.0], [2.0, 0.0]])
    close(Gaussian().on(1)(table), Gaussian()([[1.0], [0.0]]))
    with pytest.raises(InputError, match="column 0 holds nan in row 0"):
        (Gaussian().on(1) + Linear().on(0))(table)


def test_columns_have_positions_only():
    with pytest.raises(InputError, match=r"a column named 'age'; the data has no column names"):
        Gaussian().on("age")(X)
    with pytest.raises(InputError, match=r"column 40; the data has 40 columns"):
        Gaussian().on(40)(X)
    with pytest.raises(InputError, match="X has 40 and Z has 39"):
        Gaussian()(X, X[:, :39])
    frame = pd.DataFrame(X.toarray()).rename(columns=str)
    close(Gaussian()(frame, Z), Gaussian()(X.toarray(), Z.toarray()))


def function(rows):
    return rows[:, 0]


DENSE = {
    "Min": Min(), "ChiSquared": ChiSquared(), "Subsets": Subsets(), "ProductLaplace": ProductLaplace(),
    "ExponentialChiSquared": 2 * ExponentialChiSquared() + Gaussian(), "weighted": Gaussian().weighted(function),
    "after": Gaussian().after(function), "Powers": Powers(), "Trigonometric": Trigonometric(),
    "Monomials": Monomials(),
}  # fmt: skip


@pytest.mark.parametrize("who", DENSE)
def test_kernels_of_coordinates_and_functions_need_dense_rows(who, way):
    kernel, table = DENSE[who], abs(X)
    message = rf"^{who} needs a dense table; got a sparse csr_array\. Use X\.toarray\(\), or a kernel of inner"
    for call in (kernel, kernel.diagonal, kernel.distance, kernel.check, lambda data: Gram(kernel, data)):
        with pytest.raises(InputError, match=message):
            call(table)


@pytest.mark.parametrize("kernel", [ProductLaplace("median"), 2 * ExponentialChiSquared("median") + 1], ids=str)
def test_their_median_is_that_of_the_dense_table(kernel):
    """Lifts of such kernels take sparse tables."""
    assert kernel.resolve(abs(X)) == kernel.resolve(abs(X).toarray())


@pytest.mark.parametrize("name", ["nonnegative", "integers", "naturals", "sphere", "not zero"])
def test_domains(name):
    class NotZero(type(DOMAINS["reals"])):
        name, needs, remedy = "not zero", "no zeros", "Add one."

        def misfits(self, values):
            return values == 0

    class Mine(Dot):
        def profile(self, t):
            return t

        @property
        def domain(self):
            return DOMAINS.get(name, NotZero())

    with pytest.raises(DomainError) as sparse:
        Mine()(X)
    with pytest.raises(DomainError) as dense:
        Mine()(X.toarray())
    assert str(sparse.value) == str(dense.value)
    good = sp.csr_array(np.eye(3) if name != "not zero" else np.ones((2, 2)))
    Mine().check(good)


@pytest.mark.parametrize("build", [pd.DataFrame, lambda table: pl.DataFrame({k: list(v) for k, v in table.items()})])
def test_frames(build, way):
    plain = np.abs(rng.normal(size=(20, 3)))
    frame = build({name: plain[:, i] for i, name in enumerate(["age", "city", "hours"])})
    for kernel, wanted in (
        (Gaussian(), Gaussian()(plain)),
        (Laplace().on(["hours", "age"]), Laplace()(plain[:, [2, 0]])),
        (Min().on("age") * Linear(), np.minimum(plain[:, :1], plain[:, 0]) * (plain @ plain.T)),
    ):
        close(kernel(frame), wanted)
        close(Gram(kernel, frame) @ np.ones(20), wanted @ np.ones(20))
        close(Gram(kernel, frame, frame[:5]) @ np.ones(5), wanted[:, :5] @ np.ones(5))
