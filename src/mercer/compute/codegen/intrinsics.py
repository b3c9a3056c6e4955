"""The scalar functions that generated Numba code calls, as source text to paste in front of it.

Scalar calls of the mathematics library keep a loop from vectorising, so each word is a polynomial on a reduced
argument, with the exponent moved by its bits: no branch, only selects, so a loop runs on 4 or 8 lanes of AVX2.
A word takes and returns scalars of one dtype. NaN gives NaN, and infinities are honoured where the formula has a
limit there.

==================== ======================================= ================= =================
word                 arguments                               error in float32  error in float64
==================== ======================================= ================= =================
exp2_down(t)         t <= 0                                  1e-7              2e-16
exp2(t)              any                                     1e-7              2e-16
log2(x)              x >= 0; x < 0 gives NaN                 2.5e-7            5e-16
sin(u), cos(u)       -SIN_LIMIT <= u <= SIN_LIMIT            2e-7, absolute    4e-16, absolute
sin_pi(t)            -1/2 <= t <= 1/2                        2e-7              4e-16
tanh(x)              any                                     3e-7              6e-16
atan2_positive(y, x) y, x >= 0 and y + x finite              2.5e-7            5e-16
power(x, p)          x >= 0                                  L 1e-7            L 2e-16
==================== ======================================= ================= =================

Errors are relative unless said otherwise; L is 2 + abs(p log2(x)), since the exponent is rounded.
A result of an exponential below the smallest normal number is 0.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache

from mercer.errors import InputError, message

# Beyond these the reduction of an angle loses digits: the product of a multiple and a part of pi is no longer exact.
SIN_LIMIT = {"float32": 1e4, "float64": 1e6}

# Coefficients from the constant up. Remez's exchange with 60 digits, for the least relative error of the factor named;
# that error, after rounding the coefficients, stands beside it in float32 and float64.
POLYNOMIALS = {
    # (2^f - 1) / f, f^2 <= 1/4: 2.1e-8, 5.4e-17. One plus f times it is exactly 1 at f = 0.
    "EXP2": {
        "float32": (0.6931472, 0.24022649, 0.055503573, 0.009618238, 0.0013390735, 0.00015403517),
        "float64": (
            0.6931471805599453, 0.24022650695910097, 0.055504108664821236, 0.009618129107607065,
            0.0013333558146531755, 0.00015403530441481287, 1.5252733701087677e-05, 1.3215442723534978e-06,
            1.0178121353043858e-07, 7.072561872491852e-09, 4.4455291882710216e-10,
        ),
    },
    # log2((1 + s) / (1 - s)) / s in w = s^2, abs(s) <= 3 - 2 sqrt(2): 1.3e-8, 1.4e-17.
    "LOG2": {
        "float32": (2.88539, 0.96179885, 0.57671434, 0.4317379),
        "float64": (
            2.8853900817779268, 0.9617966939259899, 0.5770780163454643, 0.41219858585246444,
            0.3205985337770434, 0.26233440986463025, 0.22091164958661377, 0.21367305007447,
        ),
    },
    # (sin(r) / r - 1) / w in w = r^2, abs(r) <= pi / 2; error of sin: 1.6e-8, 2.5e-17.
    "SIN": {
        "float32": (-0.16666657, 0.0083330255, -0.00019807412, 2.6018877e-06),
        "float64": (
            -0.16666666666666666, 0.008333333333333165, -0.00019841269841201797, 2.7557319210145654e-06,
            -2.5052106797629978e-08, 1.605893645792559e-10, -7.642916956705115e-13, 2.7204700545752972e-15,
        ),
    },
    # (cos(r) - 1) / w in w = r^2, abs(r) <= pi / 2: 8.3e-9, 2.8e-17.
    "COS": {
        "float32": (-0.5, 0.04166666, -0.0013888642, 2.4773972e-05, -2.6285255e-07),
        "float64": (
            -0.5, 0.04166666666666631, -0.0013888888888858983, 2.4801587292028992e-05,
            -2.7557317719235473e-07, 2.087662801956403e-09, -1.146460618376548e-11, 4.6267089356501605e-14,
        ),
    },
    # (atan(z) / z - 1) / w in w = z^2, abs(z) <= tan(pi / 8); error of atan: 1.5e-9, 4.5e-18.
    "ATAN": {
        "float32": (-0.33333308, 0.19998217, -0.1424007, 0.105733834, -0.060345396),
        "float64": (
            -0.3333333333333313, 0.19999999999942686, -0.1428571427941211, 0.11111110752419884,
            -0.09090897011924069, 0.07692048752863212, -0.0666298889541392, 0.058471364897770134,
            -0.050362189561774094, 0.03799254590682221, -0.017834202282008927,
        ),
    },
}  # fmt: skip

# The other constants of a word, as text of the generated module. MAGIC is 1.5 times the first number whose unit is 1:
# added to an integer, it leaves that number in the low bits. AVX2 has no other way from float64 to int64.
_CONSTANTS = {
    "float32": {
        "FLOAT": "np.float32", "INT": "np.int32", "UINT": "np.uint32",
        "MAGIC": "FLOAT(12582912)", "BIASED": "FLOAT(12582912 + 127)",
        "MANTISSA": "INT(23)", "SIGN": "INT(31)", "FRACTION": "UINT(0x7FFFFF)",
        "ROOT_HALF": "UINT(0x3F3504F3)", "TO_ONE": "UINT(0x3F800000 - 0x3F3504F3)",
        "UNIT": "UINT(0x4B000000)", "UNIT_BIASED": "FLOAT(2**23 + 127)",
        "LOWEST": "FLOAT(-126)", "BELOW": "FLOAT(-127)", "HIGHEST": "FLOAT(128)",
        "TINY": "FLOAT(2.0**-126)", "GROW": "FLOAT(2**23)", "GROWN": "FLOAT(23)", "CAP": "FLOAT(10)",
        "PI_1": "FLOAT(3.140625)", "PI_2": "FLOAT(0.0009675025939941406)", "PI_3": "FLOAT(1.509958e-07)",
    },
    "float64": {
        "FLOAT": "np.float64", "INT": "np.int64", "UINT": "np.uint64",
        "MAGIC": "FLOAT(6755399441055744)", "BIASED": "FLOAT(6755399441055744 + 1023)",
        "MANTISSA": "INT(52)", "SIGN": "INT(63)", "FRACTION": "UINT(0xFFFFFFFFFFFFF)",
        "ROOT_HALF": "UINT(0x3FE6A09E667F3BCD)", "TO_ONE": "UINT(0x3FF0000000000000 - 0x3FE6A09E667F3BCD)",
        "UNIT": "UINT(0x4330000000000000)", "UNIT_BIASED": "FLOAT(2**52 + 1023)",
        "LOWEST": "FLOAT(-1022)", "BELOW": "FLOAT(-1023)", "HIGHEST": "FLOAT(1024)",
        "TINY": "FLOAT(2.0**-1022)", "GROW": "FLOAT(2**52)", "GROWN": "FLOAT(52)", "CAP": "FLOAT(20)",
        "PI_1": "FLOAT(3.1415926534682512)", "PI_2": "FLOAT(1.2154201012607932e-10)",
        "PI_3": "FLOAT(4.044532497591901e-21)",
    },
}  # fmt: skip
_SHARED = {
    "ZERO": "FLOAT(0)", "ONE": "FLOAT(1)", "TWO": "FLOAT(2)", "INFINITY": "FLOAT(math.inf)", "NAN": "FLOAT(math.nan)",
    "PI": "FLOAT(math.pi)", "HALF_PI": "FLOAT(math.pi / 2)", "QUARTER_PI": "FLOAT(math.pi / 4)",
    "INVERSE_PI": "FLOAT(1 / math.pi)", "TAN_PI_8": "FLOAT(math.sqrt(2) - 1)", "TWO_LOG2_E": "FLOAT(2 / math.log(2))",
}  # fmt: skip

# FLAGS is for the loops, which must reorder their sums to use all lanes. The words take no `reassoc`: it would merge
# the three parts of pi. No one takes `arcp`: with it 1 / sqrt(x) of float32 is NaN at 0 and at infinity.
# The inlining is LLVM's, since Numba's own (inline="always") would put the flags of the caller on the word.
_HEAD = """\
import math

import numpy as np
from mercer.compute.codegen.kept import njit

FLAGS = {"contract", "reassoc", "nsz"}
WORD = {"fastmath": {"contract", "nsz"}, "error_model": "numpy", "forceinline": True}
"""

# In the texts, [NAME v] stands for the polynomial NAME at v by Horner's rule. A select is written so that NaN falls
# through it to the result.
_WORDS = {
    "exp2_down": """\
def exp2_down(t):
    t = BELOW if t < LOWEST else t  # whose exponent bits are all 0: the factor is 0
    n = np.rint(t)
    f = t - n
    return ([EXP2 f] * f + ONE) * INT(FLOAT(n + BIASED).view(INT) << MANTISSA).view(FLOAT)
""",
    "exp2_parts": """\
def exp2_parts(n, f):
    n = BELOW if n < LOWEST + ONE else n  # whose exponent bits are all 0: the factor is 0
    return ([EXP2 f] * f + ONE) * INT(FLOAT(n + BIASED).view(INT) << MANTISSA).view(FLOAT)
""",
    "exp2": """\
def exp2(t):
    n = np.rint(t)
    f = t - n
    p = FLOAT([EXP2 f] * f + ONE)
    # The shift is added to the bits: 2^n alone would overflow just below the highest t.
    r = INT(p.view(INT) + INT(FLOAT(n + MAGIC).view(INT) << MANTISSA)).view(FLOAT)
    r = r if t < HIGHEST else t + INFINITY
    return ZERO if t < LOWEST else r
""",
    "log2": """\
def log2(x):
    small = x < TINY
    bits = UINT(FLOAT(x * (GROW if small else ONE)).view(UINT) + TO_ONE)
    m = UINT(UINT(bits & FRACTION) + ROOT_HALF).view(FLOAT)  # in sqrt(1/2) .. sqrt(2)
    e = UINT(UINT(bits >> UINT(MANTISSA)) | UNIT).view(FLOAT) - UNIT_BIASED
    s = (m - ONE) / (m + ONE)
    w = s * s
    r = (e - (GROWN if small else ZERO)) + s * [LOG2 w]
    r = r if x < INFINITY else x
    return r if x > ZERO else (-INFINITY if x == ZERO else NAN)
""",
    "sin": """\
def sin(u):
    n = np.rint(u * INVERSE_PI)
    r = ((u - n * PI_1) - n * PI_2) - n * PI_3
    w = r * r
    p = FLOAT((r * w) * [SIN w] + r)
    return INT(p.view(INT) ^ INT(FLOAT(n + MAGIC).view(INT) << SIGN)).view(FLOAT)
""",
    "cos": """\
def cos(u):
    n = np.rint(u * INVERSE_PI)
    r = ((u - n * PI_1) - n * PI_2) - n * PI_3
    w = r * r
    p = FLOAT(w * [COS w] + ONE)
    return INT(p.view(INT) ^ INT(FLOAT(n + MAGIC).view(INT) << SIGN)).view(FLOAT)
""",
    "sin_pi": """\
def sin_pi(t):
    r = t * PI
    w = r * r
    return (r * w) * [SIN w] + r
""",
    "tanh": """\
def tanh(x):
    a = -x if x < ZERO else x
    t = (CAP if a > CAP else a) * TWO_LOG2_E
    n = np.rint(t)
    f = t - n
    scale = INT(FLOAT(n + BIASED).view(INT) << MANTISSA).view(FLOAT)
    e = scale * (f * [EXP2 f]) + (scale - ONE)  # exp(2 a) - 1, to full relative accuracy near 0
    r = e / (e + TWO)
    return -r if x < ZERO else r
""",
    "atan2_positive": """\
def atan2_positive(y, x):
    steep = y > x
    low = x if steep else y
    high = y if steep else x
    diagonal = low > TAN_PI_8 * high  # then the angle is counted from pi / 4
    top = (low - high) if diagonal else low
    bottom = (low + high) if diagonal else high
    z = top / (ONE if bottom == ZERO else bottom)
    w = z * z
    a = (z * w) * [ATAN w] + z
    return (QUARTER_PI if diagonal else (HALF_PI if steep else ZERO)) + (-a if steep else a)
""",
    "power": """\
def power(x, p):
    r = exp2(p * log2(x))
    return ONE if p == ZERO else r
""",
}
_NEEDS = {"power": ("exp2", "log2")}


def prelude(dtype: str, words: Collection[str]) -> str:
    """The head of a generated module: imports, the FLAGS of its loops, and the asked words for one dtype."""
    if dtype not in _CONSTANTS:
        raise InputError(message("float32 or float64", f"the dtype is {dtype}", "Convert the data.", subject="prelude"))
    if unknown := sorted(set(words) - set(_WORDS)):
        remedy = f"Choose from {', '.join(_WORDS)}."
        raise InputError(message("words that it knows", f"it got {', '.join(unknown)}", remedy, subject="prelude"))
    return _prelude(dtype, frozenset(words))


@cache
def _prelude(dtype: str, words: frozenset[str]) -> str:
    wanted = {needed for word in words for needed in (word, *_NEEDS.get(word, ()))}
    texts = [_spelled(text, dtype) for word, text in _WORDS.items() if word in wanted]
    return "\n\n".join([_HEAD + _constants(dtype, texts), *(f"@njit(**WORD)\n{text}" for text in texts)])


def _spelled(text: str, dtype: str) -> str:
    """The text with its polynomials written out, for instance [P v] as ((P_2 * v + P_1) * v + P_0)."""

    def horner(match: re.Match[str]) -> str:
        name, variable = match.groups()
        last = len(POLYNOMIALS[name][dtype]) - 1
        tail = "".join(f" * {variable} + {name}_{k})" for k in reversed(range(last)))
        return "(" * last + f"{name}_{last}" + tail

    return re.sub(r"\[([A-Z0-9]+) (\w)\]", horner, text)


def _constants(dtype: str, texts: Collection[str]) -> str:
    """Assignments of the constants that the texts name."""
    coefficients = {
        f"{name}_{k}": f"FLOAT({value!r})"
        for name, values in POLYNOMIALS.items()
        for k, value in enumerate(values[dtype])
    }
    named = set(re.findall(r"\b[A-Z]\w*", " ".join(texts))) | {"FLOAT", "INT", "UINT"}
    known = _CONSTANTS[dtype] | _SHARED | coefficients
    return "".join(f"{name} = {value}\n" for name, value in known.items() if name in named)
