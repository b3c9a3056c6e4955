"""The functions that generated Triton code calls, as source text to paste in front of it.

The polynomials are those of the processor's words (`mercer.compute.codegen.intrinsics`), and so are the errors, but for
float32's exponential, which is the card's own instruction: 2.5e-7 in place of 1e-7, at a tenth of the cost. A word
takes blocks of one type. NaN gives NaN, and infinities are honoured where the formula has a limit there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from functools import cache

from mercer.compute.codegen.intrinsics import POLYNOMIALS

LIBRARY = {
    "arctan": "atan", "arcsin": "asin", "arccos": "acos", "arctan2": "atan2", "tan": "tan", "sinh": "sinh",
    "cosh": "cosh", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "expm1": "expm1", "log1p": "log1p",
    "log10": "log10", "hypot": "hypot", "fmod": "fmod", "erfc": "erfc",
}  # fmt: skip
"""Functions that come from the card's own library of mathematics, by their names there."""
BUILT_IN = {"absolute": "tl.abs", "sqrt": "tl.sqrt", "erf": "tl.erf", "floor": "tl.floor", "ceil": "tl.ceil"}
"""Functions that Triton has itself."""

# MAGIC is 1.5 times the first number whose unit is 1: added to a number, it leaves the nearest integer in the low bits.
_CONSTANTS = {
    "float32": {
        "FLOAT": "tl.float32", "INT": "tl.int32", "UINT": "tl.uint32", "MAGIC": 12582912.0, "BIAS": 127,
        "MANTISSA": 23, "SIGN": 31, "FRACTION": 0x7FFFFF, "ROOT_HALF": 0x3F3504F3, "TO_ONE": 0x3F800000 - 0x3F3504F3,
        "UNIT": 0x4B000000, "UNIT_BIASED": 2.0**23 + 127, "TINY": 2.0**-126, "GROW": 2.0**23, "GROWN": 23.0,
        "CAP": 10.0, "PI_1": 3.140625, "PI_2": 0.0009675025939941406, "PI_3": 1.509958e-07,
    },
    "float64": {
        "FLOAT": "tl.float64", "INT": "tl.int64", "UINT": "tl.uint64", "MAGIC": 6755399441055744.0, "BIAS": 1023,
        "MANTISSA": 52, "SIGN": 63, "FRACTION": 0xFFFFFFFFFFFFF, "ROOT_HALF": 0x3FE6A09E667F3BCD,
        "TO_ONE": 0x3FF0000000000000 - 0x3FE6A09E667F3BCD, "UNIT": 0x4330000000000000, "UNIT_BIASED": 2.0**52 + 1023,
        "TINY": 2.0**-1022, "GROW": 2.0**52, "GROWN": 52.0, "CAP": 20.0, "PI_1": 3.1415926534682512,
        "PI_2": 1.2154201012607932e-10, "PI_3": 4.044532497591901e-21,
    },
}  # fmt: skip
_SHARED = {
    "PI": math.pi, "HALF_PI": math.pi / 2, "QUARTER_PI": math.pi / 4, "INVERSE_PI": 1 / math.pi,
    "TAN_PI_8": math.sqrt(2) - 1, "TWO_LOG2_E": 2 / math.log(2),
}  # fmt: skip

# The card's own quotient of float32 is off by two units: words take the one that is rounded to nearest.
_DIVIDED = {"float32": "tl.div_rn", "float64": "quotient"}
_QUOTIENT = """\
@triton.jit
def quotient(a, b):
    return a / b
"""

# In the texts, [NAME v] stands for the polynomial NAME at v by Horner's rule. A select lets NaN fall through.
_WORDS = {
    "exp2_down": """\
def exp2_down(t):
    t = tl.where(t < -1022.0, -1023.0, t)  # whose exponent bits are all 0: the factor is 0
    b = t + MAGIC
    f = t - (b - MAGIC)
    return ([EXP2 f] * f + 1.0) * ((b.to(INT, bitcast=True) + BIAS) << MANTISSA).to(FLOAT, bitcast=True)
""",
    "exp2": """\
def exp2(t):
    b = t + MAGIC
    f = t - (b - MAGIC)
    p = [EXP2 f] * f + 1.0
    # The shift is added to the bits: 2^n alone would overflow just below the highest t.
    r = (p.to(INT, bitcast=True) + (b.to(INT, bitcast=True) << MANTISSA)).to(FLOAT, bitcast=True)
    r = tl.where(t < 1024.0, r, t + INFINITY)
    return tl.where(t < -1022.0, 0.0, r)
""",
    "exp2_parts": """\
def exp2_parts(t):
    t = tl.where(t < -150.0, -150.0, t)
    b = t + 6755399441055744.0
    f = (t - (b - 6755399441055744.0)).to(tl.float32)
    n = b.to(tl.int64, bitcast=True).to(tl.int32)
    n = tl.where(n < -126, -127, n)  # whose exponent bits are all 0: the factor is 0
    return ([EXP2 f] * f + 1.0) * ((n + 127) << 23).to(tl.float32, bitcast=True)
""",
    "log2": """\
def log2(x):
    small = x < TINY
    bits = (x * tl.where(small, GROW, 1.0).to(FLOAT)).to(UINT, bitcast=True) + TO_ONE
    m = ((bits & FRACTION) + ROOT_HALF).to(FLOAT, bitcast=True)  # in sqrt(1/2) .. sqrt(2)
    e = ((bits >> MANTISSA) | UNIT).to(FLOAT, bitcast=True) - UNIT_BIASED
    s = DIVIDED(m - 1.0, m + 1.0)
    w = s * s
    r = (e - tl.where(small, GROWN, 0.0).to(FLOAT)) + s * [LOG2 w]
    r = tl.where(x < INFINITY, r, x)
    return tl.where(x > 0.0, r, tl.where(x == 0.0, -INFINITY, NAN).to(FLOAT))
""",
    "sin": """\
def sin(u):
    b = u * INVERSE_PI + MAGIC
    n = b - MAGIC
    r = ((u - n * PI_1) - n * PI_2) - n * PI_3
    w = r * r
    p = (r * w) * [SIN w] + r
    return (p.to(INT, bitcast=True) ^ (b.to(INT, bitcast=True) << SIGN)).to(FLOAT, bitcast=True)
""",
    "cos": """\
def cos(u):
    b = u * INVERSE_PI + MAGIC
    n = b - MAGIC
    r = ((u - n * PI_1) - n * PI_2) - n * PI_3
    w = r * r
    p = w * [COS w] + 1.0
    return (p.to(INT, bitcast=True) ^ (b.to(INT, bitcast=True) << SIGN)).to(FLOAT, bitcast=True)
""",
    "sin_pi": """\
def sin_pi(t):
    r = t * PI
    w = r * r
    return (r * w) * [SIN w] + r
""",
    "tanh": """\
def tanh(x):
    a = tl.abs(x)
    t = tl.where(a > CAP, CAP, a) * TWO_LOG2_E
    b = t + MAGIC
    f = t - (b - MAGIC)
    scale = ((b.to(INT, bitcast=True) + BIAS) << MANTISSA).to(FLOAT, bitcast=True)
    e = scale * (f * [EXP2 f]) + (scale - 1.0)  # exp(2 a) - 1, to full relative accuracy near 0
    r = DIVIDED(e, e + 2.0)
    return tl.where(x < 0.0, -r, r)
""",
    "atan2_positive": """\
def atan2_positive(y, x):
    steep = y > x
    low = tl.where(steep, x, y)
    high = tl.where(steep, y, x)
    diagonal = low > high * TAN_PI_8  # then the angle is counted from pi / 4
    top = tl.where(diagonal, low - high, low)
    bottom = tl.where(diagonal, low + high, high)
    z = DIVIDED(top, tl.where(bottom == 0.0, 1.0, bottom))
    w = z * z
    a = (z * w) * [ATAN w] + z
    begin = tl.where(diagonal, QUARTER_PI, tl.where(steep, HALF_PI, tl.zeros_like(y)))
    return begin + tl.where(steep, -a, a)
""",
    "rint": """\
def rint(x):
    a = tl.abs(x)
    n = (a + GROW) - GROW  # from there on all numbers are integers
    return tl.where(a < GROW, tl.where(x < 0.0, -n, n), x)
""",
    "trunc": """\
def trunc(x):
    return tl.where(x < 0.0, tl.ceil(x), tl.floor(x))
""",
    "power": """\
def power(x, p):
    r = exp2(log2(x) * p)
    return tl.where(p == 0.0, 1.0, r)
""",
}
_SINGLE = {
    "root": """\
def root(x):  # of numbers below 1e-38 it is 0, which saves more than half of its time
    return tl.inline_asm_elementwise("sqrt.approx.ftz.f32 $0, $1;", "=f,f", [x], tl.float32, is_pure=True, pack=1)
""",
    "exp2_down": "def exp2_down(t):\n    return tl.exp2(t)\n",
    "exp2": "def exp2(t):\n    return tl.exp2(t)\n",
}
"""Words for which float32 has an instruction."""
_INTERPRETED = {"root": "def root(x):\n    return tl.sqrt(x)\n"}
"""Words that Triton's interpreter says otherwise."""
_NEEDS = {"power": ("exp2", "log2")}
HEAD = """\
import triton
import triton.language as tl
from triton.language.extra import libdevice

INFINITY = tl.constexpr(float("inf"))
NAN = tl.constexpr(float("nan"))
"""


def prelude(dtype: str, words: Collection[str], interpreted: bool = False) -> str:
    """The head of a generated module: imports, and the words that are asked for, of one type."""
    texts = _WORDS | (_SINGLE if dtype == "float32" else {}) | (_INTERPRETED if interpreted else {})
    wanted = {needed for word in words for needed in (*_NEEDS.get(word, ()), word)}
    chosen = [_spelled(texts[word], dtype) for word in texts if word in wanted]
    shared = [_QUOTIENT] if any("quotient(" in text for text in chosen) else []
    return "\n\n".join([HEAD, *shared, *(f"@triton.jit\n{text}" for text in chosen)])


@cache
def _spelled(text: str, dtype: str) -> str:
    """The text with its polynomials and constants written out."""

    def horner(match: re.Match[str]) -> str:
        name, variable = match.groups()
        first, *rest = reversed(POLYNOMIALS[name][dtype])
        return "(" * len(rest) + f"({first!r})" + "".join(f" * {variable} + ({c!r}))" for c in rest)

    known = _CONSTANTS[dtype] | _SHARED | {"DIVIDED": _DIVIDED[dtype]}
    text = re.sub(r"\[([A-Z0-9]+) (\w)\]", horner, text)
    return re.sub(r"\b[A-Z]\w*\b", lambda match: str(known.get(match[0], match[0])), text)
