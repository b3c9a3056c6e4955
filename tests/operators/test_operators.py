"""Operators against dense NumPy, and in the hands of SciPy."""

import pickle
import tracemalloc
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import linalg

from mercer.errors import BudgetError, InputError, NumericalWarning
from mercer.operators import Dense, Diagonal, DiagonalPlusLowRank, LowRank, Sum


def draw(*shape, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


N, M, RANK = 40, 25, 4
SQUARE, TALL, L, R = draw(N, N), draw(N, M), draw(N, RANK), draw(M, RANK, seed=1)
SYMMETRIC = SQUARE @ SQUARE.T
VALUES = draw(N, seed=2) ** 2 + 0.1

CASES = {
    "dense": (Dense(TALL), TALL),
    "symmetric": (Dense(SYMMETRIC), SYMMETRIC),
    "low rank": (LowRank(L, R), L @ R.T),
    "L L'": (LowRank(L), L @ L.T),
    "diagonal": (Diagonal(VALUES), np.diag(VALUES)),
    "diagonal plus low rank": (LowRank(L) + Diagonal(VALUES), L @ L.T + np.diag(VALUES)),
    "sum": (2 * Dense(TALL) - LowRank(L, R), 2 * TALL - L @ R.T),
}


@pytest.mark.parametrize("name", CASES)
def test_products_and_parts(name):
    A, wanted = CASES[name]
    V = draw(A.shape[1], 3, seed=3)
    np.testing.assert_allclose(A @ V, wanted @ V, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(A @ V[:, 0].tolist(), wanted @ V[:, 0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(A.to_dense(), wanted, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(A.diagonal(), np.diagonal(wanted), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(A.T.to_dense(), wanted.T, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(A.rows([-1, 0, 0]), wanted[[-1, 0, 0]], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(draw(2, A.shape[0]) @ A, draw(2, A.shape[0]) @ wanted, rtol=1e-12, atol=1e-12)


def test_transposes_stay_in_the_family():
    assert isinstance(LowRank(L, R).T, LowRank)
    assert isinstance(Dense(TALL).T, Dense)
    assert isinstance((Dense(TALL) + LowRank(L, R)).T, Sum)
    assert isinstance(LowRank(L, draw(N, RANK)).ridge(1.0).T, DiagonalPlusLowRank)
    for A in (LowRank(L), Diagonal(VALUES), Dense(SYMMETRIC), LowRank(L).ridge(0.1), Dense(SYMMETRIC) - LowRank(L)):
        assert A.symmetric
        assert A.T is A
        assert A.H is A
    assert np.shares_memory(LowRank(L, R).T.left, R)


def test_symmetry_is_found_exactly_or_taken_as_told():
    assert Dense(SYMMETRIC).symmetric
    nearly = SYMMETRIC.copy()
    nearly[3, 30] = np.nextafter(nearly[3, 30], np.inf)
    assert not Dense(nearly).symmetric
    assert Dense(nearly, symmetric=True).symmetric
    assert not Dense(SYMMETRIC, symmetric=False).symmetric
    large = np.ones((700, 700), dtype=np.float32)  # more than one tile
    assert Dense(large).symmetric
    large[699, 2] = 2
    assert not Dense(large).symmetric
    with pytest.raises(InputError, match="as many rows as columns to be symmetric; there are 40 rows and 25 columns"):
        Dense(TALL, symmetric=True)


def test_low_rank_is_exactly_symmetric():
    K = LowRank(draw(300, 7)).to_dense()
    assert np.array_equal(K, K.T)
    assert Dense(K).symmetric


# -- dtypes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda A: Dense(A), lambda A: LowRank(A[:, :2], A[:, 2:4]), lambda A: Diagonal(A[0])])
def test_dtypes_are_as_in_numpy(make):
    narrow, wide = make(draw(5, 5, dtype=np.float32)), make(draw(5, 5))
    assert narrow.dtype == np.float32
    assert wide.dtype == np.float64
    for kind in (np.float16, np.float32, np.float64, np.int8, np.int64, bool):
        V = np.ones((5, 2), dtype=kind)
        assert (narrow @ V).dtype == (narrow.to_dense() @ V).dtype
        assert (wide @ V).dtype == np.float64
    assert (narrow @ np.ones(5, dtype=np.longdouble)).dtype == np.float64
    assert narrow.ridge(0.1).dtype == np.float32
    assert (2 * narrow).dtype == np.float32
    assert make(np.arange(25).reshape(5, 5)).dtype == np.float64


@pytest.mark.parametrize("shape", [(900, 400), (400, 900)])
def test_narrow_factors_are_widened_tile_by_tile(shape):
    A, V = draw(*shape, dtype=np.float32), draw(shape[1], 2)
    operator = Dense(A)
    np.testing.assert_allclose(operator @ V, A.astype(np.float64) @ V, rtol=1e-11, atol=1e-11)
    assert held_at_peak(lambda: operator @ V) < 2 * A.nbytes


def test_missing_values_are_passed_through():
    V = np.ones((N, 2))
    V[3, 0] = np.nan
    for A in (Dense(SQUARE), LowRank(L), LowRank(L).ridge(0.1), Dense(SQUARE).ridge(0.1)):
        assert np.isnan((A @ V)[:, 0]).all()
        assert np.isfinite((A @ V)[:, 1]).all()
    assert np.isnan(Diagonal(VALUES) @ V).sum() == 1


# -- indices ----------------------------------------------------------------------------------------------------------


def choices(length):
    positions = st.lists(st.integers(-length, length - 1), max_size=8)
    slices = st.slices(length)
    masks = st.lists(st.booleans(), min_size=length, max_size=length)
    return st.one_of(positions, positions.map(lambda p: np.array(p, dtype=np.int32)), slices, masks)


@given(st.sampled_from(sorted(CASES)), st.data())
def test_blocks_are_those_of_numpy(name, data):
    A, wanted = CASES[name]
    i, j = data.draw(choices(A.shape[0])), data.draw(choices(A.shape[1]))
    empty = np.empty(0, dtype=int)
    rows = wanted[i if isinstance(i, slice) or len(i) else empty]
    np.testing.assert_allclose(A.rows(i), rows, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        A.block(i, j), rows[:, j if isinstance(j, slice) or len(j) else empty], rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize(
    ("indices", "words"),
    [
        ([40], "needs rows from -40 to 39; got row 40"),
        ([0, -41], "got row -41"),
        (np.ones(39, dtype=bool), "a mask of 40"),
        ([1.0], "dtype float64"),
        (3, r"Write \[3\]"),
        ([[1]], r"shape \(1, 1\)"),
        (np.array([2**63], dtype=np.uint64), "got row 9223372036854775808"),
    ],
)
def test_rows_that_are_not_there_are_refused(indices, words):
    with pytest.raises(InputError, match=words):
        Dense(SQUARE).rows(indices)


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (lambda A: A @ np.ones(26), r"Dense\(40 x 25, float64\) needs a vector of 25 numbers.* shape \(26,\)"),
        (lambda A: A @ np.ones((40, 25)), r"got shape \(40, 25\)"),
        (lambda A: A @ 2.0, r"got shape \(\)"),
        (lambda A: np.ones(25) @ A, r"a vector of 40 numbers.* shape \(25,\)"),
        (lambda A: A @ (1j * np.ones(25)), "real numbers; got an array of complex128"),
        (lambda A: A @ ["x"] * 25, "real numbers"),
        (lambda A: A @ [[1.0], [1.0, 2.0]], "rows of equal length"),
        (lambda A: A @ sparse.csr_array(np.eye(25)), "dense array; got a sparse csr_array"),
        (lambda A: A @ A.T, r"A @ \(B @ v\)"),
        (lambda A: A + 1.0, r"got float.*A\.ridge\(alpha\)"),
        (lambda A: A + np.ones((40, 25)), r"got ndarray. Wrap an array as Dense\(array\)"),
        (lambda A: np.ones((40, 25)) + A, r"got ndarray. Wrap an array as Dense\(array\)"),
        (lambda A: A - 1.0, "got float"),
        (lambda A: A + A.T, r"of its own shape to add; got Dense\(25 x 40, float64\)"),
        (lambda A: A * np.ones(25), "a finite number.*ndarray.*A @ V"),
        (lambda A: np.nan * A, "got nan"),
        (lambda A: True * A, "got True"),
        (lambda A: 1j * A, "got 1j"),
        (lambda A: A.ridge(0.1), "as many rows as columns for a ridge"),
        (lambda A: Dense(SQUARE).ridge(-0.1), "finite and not negative; got -0.1"),
        (lambda A: Dense(SQUARE).ridge(np.nan), "got nan"),
        (lambda A: Dense(SQUARE).ridge(np.inf), "got inf"),
        (lambda A: Dense(SQUARE).ridge(np.ones(39)), r"of one number or of 40; got an array of shape \(39,\)"),
        (lambda A: Dense(np.ones(3)), r"2 dimensions that is not empty; got one of shape \(3,\)"),
        (lambda A: Dense(np.ones((0, 3))), "not empty"),
        (lambda A: Diagonal(np.ones((3, 3))), "1 dimension that"),
        (lambda A: LowRank(L, R[:, :2]), "L has 4 and R has 2"),
        (lambda A: Sum([]), "terms of one shape; got none"),
        (lambda A: Sum([A], [1.0, 2.0]), "got 1 terms and 2 weights"),
        (lambda A: DiagonalPlusLowRank(Diagonal(VALUES), LowRank(R)), "two parts of one shape"),
    ],
)
def test_what_does_not_fit_is_refused(action, words):
    with pytest.raises(InputError, match=words):
        action(Dense(TALL))


def test_powers_and_comparisons_are_not_those_of_scipy():
    with pytest.raises(TypeError):
        Dense(SQUARE) ** 2
    assert Dense(SQUARE) != Dense(SQUARE)
    assert len({Dense(SQUARE), Diagonal(VALUES)}) == 2


def test_a_dense_matrix_that_does_not_fit_is_refused_before_it_is_made():
    A = LowRank(np.broadcast_to(np.ones(1), (3_000_000, 1)))
    with pytest.raises(BudgetError, match=r"LowRank\(3000000 x 3000000, rank 1, float64\) needs 65\.5 TiB"):
        A.to_dense()
    assert A.rows([5]).shape == (1, 3_000_000)


def test_operators_are_frozen():
    A = Dense(SQUARE)
    with pytest.raises(FrozenInstanceError, match="Dense is frozen; matrix is set already"):
        A.matrix = SQUARE
    with pytest.raises(FrozenInstanceError):
        A.shape = (1, 1)
    for array in (A.matrix, LowRank(L).left, LowRank(L, R).right, Diagonal(VALUES).values):
        assert not array.flags.writeable
    assert SQUARE.flags.writeable
    assert np.shares_memory(A.matrix, SQUARE)


def test_pickling():
    A = pickle.loads(pickle.dumps(LowRank(L).ridge(0.1)))  # noqa: S301  # its own
    assert np.array_equal(A.to_dense(), LowRank(L).ridge(0.1).to_dense())


def test_repr():
    assert repr(LowRank(np.ones((20, 3)))) == "LowRank(20 x 20, rank 3, float64)"
    assert repr(Dense(np.ones((2, 3), dtype=np.float32))) == "Dense(2 x 3, float32)"
    assert repr(Diagonal([1, 2])) == "Diagonal(2 x 2, float64)"
    assert repr(-Dense(SQUARE) / 2 + Dense(SQUARE)) == "Sum(40 x 40, -0.5 Dense + Dense, float64)"


# -- arithmetic -------------------------------------------------------------------------------------------------------


def test_sums_are_flat():
    A, B, C = Dense(SQUARE), Dense(SYMMETRIC), LowRank(L)
    S = 2 * (A + (B - C)) + A
    assert isinstance(S, Sum)
    assert S.terms == (A, B, C, A)
    assert S.weights == (2.0, 2.0, -2.0, 1.0)
    assert sum([A, B]).terms == (A, B)
    np.testing.assert_allclose(S.to_dense(), 3 * SQUARE + 2 * SYMMETRIC - 2 * L @ L.T, atol=1e-12)


def test_sums_do_not_change_their_terms():
    A = Dense(SQUARE)
    before = SQUARE.copy()
    S = 2 * A + A.ridge(1.0)
    S.to_dense()
    S.diagonal()
    _ = S @ np.ones(N)
    assert np.array_equal(before, SQUARE)


@pytest.mark.parametrize(
    "A",
    [
        LowRank(L) + Diagonal(VALUES),
        Diagonal(VALUES) + LowRank(L),
        LowRank(L).ridge(VALUES),
        LowRank(L).ridge(0.5 * VALUES).ridge(0.5 * VALUES),
        2 * (LowRank(L) + Diagonal(VALUES)) / 2,
        4 * LowRank(L / 2) + Diagonal(VALUES),
        Diagonal(VALUES / 2) + (LowRank(L) + Diagonal(VALUES) / 2),
    ],
    ids=repr,
)
def test_a_diagonal_and_a_low_rank_matrix_find_each_other(A):
    assert isinstance(A, DiagonalPlusLowRank)
    np.testing.assert_allclose(A.to_dense(), L @ L.T + np.diag(VALUES), rtol=1e-12, atol=1e-12)


def test_what_has_no_better_form_stays_a_sum():
    assert isinstance(Diagonal(VALUES) - LowRank(L), Sum)
    assert isinstance(LowRank(L) + LowRank(L), Sum)
    assert isinstance(-(LowRank(L).ridge(0.1)), Sum)
    assert (-(LowRank(L).ridge(0.1))).symmetric
    ridged = Dense(SQUARE).ridge(0.5).ridge(0.25)
    assert len(ridged.terms) == 2
    assert np.array_equal(ridged.terms[1].values, np.full(N, 0.75))


def test_a_ridge_takes_a_number_or_one_a_row():
    np.testing.assert_allclose(Dense(SQUARE).ridge(0.3).to_dense(), SQUARE + 0.3 * np.eye(N))
    np.testing.assert_allclose(Dense(SQUARE).ridge(VALUES).to_dense(), SQUARE + np.diag(VALUES))
    assert np.array_equal(Dense(SQUARE).ridge(0).to_dense(), SQUARE)


# -- solving with a diagonal plus low rank ---------------------------------------------------------------------------


@given(n=st.integers(1, 12), rank=st.integers(1, 14), columns=st.integers(0, 3), seed=st.integers(0, 10**6))
def test_woodbury(n, rank, columns, seed):
    left, right, values = draw(n, rank, seed=seed), draw(n, rank, seed=seed + 1), draw(n, seed=seed + 2)
    b = draw(n, columns, seed=seed + 3) if columns else draw(n, seed=seed + 3)
    positive = np.abs(values) + 0.5
    for A in (LowRank(left) + Diagonal(positive), LowRank(left, 0.1 * right / rank) + Diagonal(3 + positive)):
        K = A.to_dense()
        np.testing.assert_allclose(A.solve(b), np.linalg.solve(K, b), rtol=1e-9, atol=1e-10)
        assert A.logdet() == pytest.approx(np.linalg.slogdet(K)[1], abs=1e-9)


def test_woodbury_with_a_diagonal_of_both_signs():
    A = LowRank(L) + Diagonal(np.where(np.arange(N) % 2, VALUES, -VALUES))
    K = A.to_dense()
    np.testing.assert_allclose(A.solve(np.ones(N)), np.linalg.solve(K, np.ones(N)), rtol=1e-8, atol=1e-10)
    assert A.logdet() == pytest.approx(np.linalg.slogdet(K)[1], abs=1e-9)


@pytest.mark.parametrize("alpha", [1e-3, 1e-6, 1e-9])
def test_woodbury_leaves_a_small_residual_where_the_matrix_is_badly_conditioned(alpha):
    A = LowRank(draw(2000, 30)).ridge(alpha)
    inside = A.low_rank_part.left @ np.ones(30)  # where the terms of the identity cancel
    B = np.column_stack([inside, np.full(2000, np.nan), np.ones(2000)])
    X = A.solve(B)
    size = np.linalg.norm(A.low_rank_part.left, 2) ** 2 * np.linalg.norm(X, axis=0) + np.linalg.norm(B, axis=0)
    assert (np.linalg.norm(A @ X - B, axis=0) <= 1e-14 * size)[[0, 2]].all()
    assert np.isnan(X[:, 1]).all()


def test_woodbury_in_single_precision_works_in_double():
    left = draw(3000, 20, dtype=np.float32)
    A, b = LowRank(left).ridge(0.01), draw(3000, dtype=np.float32)
    wide = LowRank(left.astype(np.float64)) + Diagonal(np.full(3000, np.float64(np.float32(0.01))))
    assert A.solve(b).dtype == np.float32
    np.testing.assert_allclose(A.solve(b), wide.solve(b).astype(np.float32), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(A.solve(b.astype(np.float64)), wide.solve(b), rtol=1e-10, atol=1e-10)
    assert A.logdet() == pytest.approx(wide.logdet(), rel=1e-13)


def test_a_singular_capacitance_matrix_is_told_and_not_repaired():
    exactly = LowRank([[1.0], [0.0]], [[-1.0], [0.0]]) + Diagonal([1.0, 1.0])
    with pytest.warns(NumericalWarning, match=r"condition number is about inf.*A\.ridge\(alpha\)"):
        assert not np.isfinite(exactly.solve([1.0, 0.0])).all()
    with pytest.warns(NumericalWarning, match="condition number"):
        assert exactly.logdet() == -np.inf
    with pytest.warns(NumericalWarning, match=r"is about \de\+1[6-9], so that no digit of the result may be right"):
        LowRank(draw(50, 3) * [1e6, 1.0, 1e-3]).ridge(1e-6).solve(np.ones(50))
    with pytest.warns(NumericalWarning, match="about inf"):
        LowRank(draw(5, 1)).ridge(5e-324).solve(np.ones(5))


def test_a_zero_on_the_diagonal_cannot_be_solved_with():
    A = LowRank(L) + Diagonal(np.where(np.arange(N) == 3, 0.0, VALUES))
    for action in (A.logdet, lambda: A.solve(np.ones(N))):
        with pytest.raises(InputError, match=r"a diagonal without zeros; entry 3 is 0. Add a ridge"):
            action()


def test_missing_values_do_not_crash_a_solve():
    b = np.ones((N, 2))
    b[0, 0] = np.nan
    x = (LowRank(L) + Diagonal(VALUES)).solve(b)
    assert np.isnan(x[:, 0]).all()
    assert np.isfinite(x[:, 1]).all()
    with pytest.raises(InputError, match="a vector of 40 numbers"):
        LowRank(L).ridge(1.0).solve(np.ones(39))


# -- SciPy ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("A", [Dense(SYMMETRIC), LowRank(L), Dense(SYMMETRIC) + LowRank(L)], ids=repr)
def test_scipy_solves_with_a_ridge(A):
    b, ridged = draw(N, seed=5), A.ridge(0.1)
    exact = np.linalg.solve(A.to_dense() + 0.1 * np.eye(N), b)
    for method in (linalg.cg, linalg.gmres):
        x, info = method(ridged, b, maxiter=5000)
        assert info == 0
        assert np.linalg.norm(ridged @ x - b) <= 2e-5 * np.linalg.norm(b)  # twice what SciPy asks for
    x, info = linalg.cg(ridged, b, x0=exact + 1e-3, M=Diagonal(1 / ridged.diagonal()), maxiter=5000)
    assert info == 0
    np.testing.assert_allclose(x, exact, atol=1e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scipy_finds_eigenvalues(dtype):
    A = Dense((SYMMETRIC.astype(dtype) + SYMMETRIC.T.astype(dtype)) / 2).ridge(0.1)
    wanted = np.linalg.eigvalsh(A.to_dense().astype(np.float64))[-2:]
    v0 = draw(N, dtype=dtype)
    np.testing.assert_allclose(linalg.eigsh(A, k=2, v0=v0)[0], wanted, rtol=1e-5)
    found, _ = linalg.lobpcg(A, draw(N, 2, dtype=dtype, seed=6), tol=1e-4, maxiter=300)
    np.testing.assert_allclose(np.sort(found), wanted, rtol=1e-4)


def test_scipy_finds_singular_values_and_least_squares():
    A = 2 * Dense(TALL) - LowRank(L, R)
    wanted = np.linalg.svd(A.to_dense(), compute_uv=False)[:3]
    for solver in ("arpack", "lobpcg"):
        found = linalg.svds(A, k=3, solver=solver, return_singular_vectors=False)
        np.testing.assert_allclose(np.sort(found)[::-1], wanted, rtol=1e-6)
    b = draw(N, seed=7)
    x = np.linalg.lstsq(A.to_dense(), b, rcond=None)[0]
    np.testing.assert_allclose(linalg.lsqr(A, b, atol=1e-13, btol=1e-13)[0], x, atol=1e-8)
    np.testing.assert_allclose(linalg.lsmr(A, b, atol=1e-13, btol=1e-13, maxiter=1000)[0], x, atol=1e-8)


def test_operators_of_scipy_can_hold_ours():
    A = Dense(SYMMETRIC)
    foreign = linalg.aslinearoperator(sparse.csr_array(np.eye(N)))
    np.testing.assert_allclose((foreign + A) @ np.ones(N), SYMMETRIC @ np.ones(N) + 1)
    np.testing.assert_allclose((foreign @ A) @ np.ones(N), SYMMETRIC @ np.ones(N))
    assert linalg.aslinearoperator(A) is A


# -- memory -----------------------------------------------------------------------------------------------------------


def held_at_peak(action):
    action()
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("columns", [1, 30])
def test_the_predicted_peak_is_what_a_product_holds(columns, dtype):
    n = 60_000 if columns == 1 else 6000
    left, right, V = draw(n, 50, dtype=dtype), draw(n, 50, dtype=dtype, seed=1), draw(n, columns, dtype=dtype)
    for A in (
        LowRank(left, right),
        Diagonal(left[:, 0]),
        LowRank(left).ridge(0.1),
        LowRank(left) - 2 * Diagonal(left[:, 0]) + LowRank(left, right),
        Dense(left) + 3 * LowRank(left, draw(50, 50, dtype=dtype)),
    ):
        operand = V[: A.shape[1]]
        predicted, held = A.peak(columns), held_at_peak(lambda A=A, operand=operand: A @ operand)
        assert 0.8 * predicted <= held <= predicted + 100_000  # NumPy's own buffers


def test_the_predicted_peak_of_a_dense_matrix():
    left = draw(700, 5)
    for A in (LowRank(left), Diagonal(left[:, 0]), LowRank(left).ridge(0.1), LowRank(left) - Diagonal(left[:, 0])):
        held = held_at_peak(A.to_dense)
        assert 0.5 * A._peak_dense() <= held <= A._peak_dense() + 50_000
