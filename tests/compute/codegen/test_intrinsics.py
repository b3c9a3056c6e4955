"""The words of generated code against mpmath, inside loops as they are used."""

import importlib.util
import math
import re

import mpmath
import numpy as np
import pytest

from mercer.compute.codegen.intrinsics import SIN_LIMIT, prelude
from mercer.errors import InputError

pytest.importorskip("numba")

UNARY = ("exp2_down", "exp2", "log2", "sin", "cos", "sin_pi", "tanh")
BINARY = ("atan2_positive", "power")
DTYPES = ("float32", "float64")
EXACT = {
    "exp2_down": lambda t: mpmath.mpf(2) ** t,
    "exp2": lambda t: mpmath.mpf(2) ** t,
    "log2": lambda x: mpmath.log(x, 2),
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "sin_pi": mpmath.sinpi,
    "tanh": mpmath.tanh,
    "atan2_positive": mpmath.atan2,
    "power": mpmath.power,
}
# The promises of the module's docstring.
ERROR = {
    "exp2_down": (1e-7, 2e-16),
    "exp2": (1e-7, 2e-16),
    "log2": (2.5e-7, 5e-16),
    "sin": (2e-7, 4e-16),
    "cos": (2e-7, 4e-16),
    "sin_pi": (2e-7, 4e-16),
    "tanh": (3e-7, 6e-16),
    "atan2_positive": (2.5e-7, 5e-16),
    "power": (1e-7, 2e-16),
}
LOOP = """

@njit(fastmath=FLAGS, nogil=True, boundscheck=False, error_model="numpy")
def {word}_loop({rows}, out):
    for j in range(out.shape[0]):
        out[j] = {word}({values})
"""


@pytest.fixture(scope="module", params=DTYPES)
def module(request, tmp_path_factory):
    """A generated module that holds every word and a loop over it."""
    dtype = request.param
    loops = [LOOP.format(word=word, rows="x", values="x[j]") for word in UNARY]
    loops += [LOOP.format(word=word, rows="x, y", values="x[j], y[j]") for word in BINARY]
    path = tmp_path_factory.mktemp("words") / f"words_{dtype}.py"
    path.write_text(prelude(dtype, UNARY + BINARY) + "".join(loops))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    loaded.dtype = dtype
    return loaded


def run(module, word, *rows):
    """The word over rows that are long enough for the vectorised body: 64 copies of each."""
    rows = [np.repeat(np.asarray(row, module.dtype), 64) for row in rows]
    out = np.empty_like(rows[0])
    getattr(module, f"{word}_loop")(*rows, out)
    copies = out.reshape(-1, 64)
    np.testing.assert_array_equal(copies, np.broadcast_to(copies[:, :1], copies.shape))
    return copies[:, 0]


def points(word, dtype):
    """Arguments all over the domain of a word: even, log-spaced, and where it is hard."""
    rng, limit = np.random.default_rng(7), SIN_LIMIT[dtype]
    info = np.finfo(dtype)
    low, high = info.minexp, info.maxexp

    def spread(a, b, count=700):
        return np.exp(rng.uniform(math.log(a), math.log(b), count))

    rows = {
        "exp2_down": [-spread(1e-9, -low), rng.uniform(low, 0, 1500), np.arange(low, 1), np.arange(-30, 0) + 0.5],
        "exp2": [rng.uniform(low, high, 1500), rng.uniform(-2, 2, 700), high - spread(1e-3, 1), low + spread(1e-3, 1)],
        "log2": [
            spread(float(info.tiny), float(info.max) / 2, 1500),
            np.concatenate([1 + spread(float(info.eps), 1), 1 - spread(float(info.eps), 0.5)]),
            spread(float(info.smallest_subnormal) * 100, float(info.tiny), 100),
        ],
        "sin": [rng.uniform(-limit, limit, 1500), spread(1e-9, limit), np.arange(-300, 300) * math.pi / 2],
        "sin_pi": [rng.uniform(-0.5, 0.5, 1500), spread(1e-9, 0.5), [0.5, -0.5]],
        "tanh": [rng.uniform(-25, 25, 700), spread(1e-9, 1), -spread(1e-3, 25)],
    }
    row = np.concatenate(rows["sin" if word == "cos" else word]).astype(dtype)
    return row[np.abs(row) <= limit] if word in ("sin", "cos") else row


def pairs(word, dtype):
    rng = np.random.default_rng(8)
    x, y = (np.exp(rng.uniform(-9, 9, 1500)) for _ in range(2))
    if word == "power":
        return x.astype(dtype), rng.uniform(-6, 6, 1500).astype(dtype)
    return np.concatenate([x, x]).astype(dtype), np.concatenate([y, x * rng.uniform(0.3, 3, 1500)]).astype(dtype)


def errors(word, found, *rows):
    """Distances from the exact values, relative to what the word promises."""
    with mpmath.workprec(200):
        result = []
        for value, *arguments in zip(found.tolist(), *(row.tolist() for row in rows), strict=True):
            exact = EXACT[word](*map(mpmath.mpf, arguments))
            scale = 1 if word in ("sin", "cos") else abs(exact)
            if word == "power":
                scale *= 2 + abs(arguments[1] * math.log2(arguments[0]))
            result.append(float(abs(value - exact) / scale) if scale else abs(value))
    return np.array(result)


@pytest.mark.parametrize("word", UNARY + BINARY)
def test_a_word_is_as_accurate_as_it_says(module, word):
    rows = (points(word, module.dtype),) if word in UNARY else pairs(word, module.dtype)
    found = errors(word, run(module, word, *rows), *rows)
    assert np.all(found <= ERROR[word][DTYPES.index(module.dtype)]), (
        found.max(),
        [row[found.argmax()] for row in rows],
    )


@pytest.mark.parametrize("word", UNARY + BINARY)
def test_a_word_returns_its_dtype_and_vectorises(module, word):
    run(module, word, *([[0.25]] if word in UNARY else [[0.25], [0.5]]))
    assert {str(signature.return_type) for signature in getattr(module, word).nopython_signatures} == {module.dtype}
    loop = getattr(module, f"{word}_loop")
    (code,) = loop.inspect_llvm().values()
    scalar = "float" if module.dtype == "float32" else "double"
    assert re.search(rf"fmul .*<\d+ x {scalar}>", code)
    assert not re.search(r"call \w+ @_?(exp|log|pow|sin|cos|tan|atan)", code)
    assert "fpext" not in code


@pytest.mark.parametrize("word", UNARY + BINARY)
def test_nan_gives_nan(module, word):
    nans = np.array([np.nan, -np.nan, np.nan, np.nan], module.dtype)
    nans.view(f"i{nans.itemsize}")[2:] += np.array([1, 0x1FF], f"i{nans.itemsize}")  # a payload in the low bits
    assert np.isnan(nans).all()
    if word in UNARY:
        assert np.isnan(run(module, word, nans)).all()
    else:
        assert np.isnan(run(module, word, nans, np.full(4, 2.0))).all()
        assert np.isnan(run(module, word, np.full(4, 2.0), nans)).all()


def test_powers_of_two_reach_both_ends(module):
    info = np.finfo(module.dtype)
    low, high = float(info.minexp), float(info.maxexp)
    below = float(np.nextafter(np.array(low, module.dtype), np.array(-np.inf, module.dtype)))
    top = float(np.nextafter(np.array(high, module.dtype), np.array(0, module.dtype)))
    whole = np.arange(low, high)
    np.testing.assert_array_equal(run(module, "exp2", whole), np.ldexp(np.ones(1, module.dtype), whole.astype(int)))
    np.testing.assert_array_equal(
        run(module, "exp2", [below, -1e30, -np.inf, high, 1e30, np.inf]), [0] * 3 + [np.inf] * 3
    )
    assert 0.999 * float(info.max) < run(module, "exp2", [top])[0] < np.inf
    down = np.arange(low, 1)
    np.testing.assert_array_equal(run(module, "exp2_down", down), np.ldexp(np.ones(1, module.dtype), down.astype(int)))
    np.testing.assert_array_equal(run(module, "exp2_down", [below, low - 0.4, -1e30, -np.inf]), 0)
    tiny = -np.array([info.tiny, info.eps / 8], module.dtype)
    np.testing.assert_array_equal(run(module, "exp2_down", tiny), 1)


def test_logarithms_and_powers_have_their_limits(module):
    info = np.finfo(module.dtype)
    whole = np.arange(info.minexp, info.maxexp)
    np.testing.assert_array_equal(run(module, "log2", np.ldexp(1.0, whole)), whole)
    assert run(module, "log2", [info.smallest_subnormal])[0] == np.log2(float(info.smallest_subnormal))
    np.testing.assert_array_equal(run(module, "log2", [0, np.inf, -1, -np.inf]), [-np.inf, np.inf, np.nan, np.nan])
    base, exponent = [0, 0, 0, 1, 7, np.inf, np.inf, 4], [0.3, 0, -2, 5.5, 0, 0.5, 0, 0.5]
    np.testing.assert_array_equal(run(module, "power", base, exponent), [0, 1, np.inf, 1, 1, np.inf, 1, 2])


def test_angles_and_saturation(module):
    np.testing.assert_array_equal(run(module, "cos", [0]), 1)
    np.testing.assert_array_equal(run(module, "sin", [0]), 0)
    np.testing.assert_array_equal(run(module, "tanh", [0, 30, -30, 1e30, np.inf, -np.inf]), [0, 1, -1, 1, 1, -1])
    half = np.array([math.pi / 2, math.pi / 4], module.dtype)
    found = run(module, "atan2_positive", [0, 0, 3, 5, np.inf, 1], [0, 2, 0, 5, 1, np.inf])
    np.testing.assert_array_equal(found, [0, 0, half[0], half[1], half[0], 0])


def test_sine_keeps_its_digits_near_multiples_of_pi(module):
    """The reduction is in three parts: one part of pi would leave an error of the size of the last digit of u."""
    row = (np.arange(1, int(SIN_LIMIT[module.dtype] / math.pi), 97) * math.pi).astype(module.dtype)
    with mpmath.workprec(200):
        exact = np.array([float(mpmath.sin(value)) for value in row.tolist()])
    assert np.all(np.abs(run(module, "sin", row) - exact) <= 1e-3 * np.finfo(module.dtype).eps + 1e-5 * np.abs(exact))


def test_a_prelude_holds_what_was_asked_and_what_that_needs():
    names = re.findall(r"def (\w+)", prelude("float32", {"power", "cos"}))
    assert sorted(names) == ["cos", "exp2", "log2", "power"]
    assert "def " not in prelude("float64", ())
    compile(prelude("float64", ["tanh"]), "words", "exec")


@pytest.mark.parametrize(("dtype", "words"), [("float16", ["sin"]), ("float32", ["sin", "sinh"])])
def test_a_prelude_refuses_what_it_does_not_know(dtype, words):
    with pytest.raises(InputError, match=r"float16|sinh"):
        prelude(dtype, words)
