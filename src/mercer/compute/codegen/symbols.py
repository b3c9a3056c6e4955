"""Formulas as small graphs: what a kernel's own Python code becomes when it runs on symbols instead of arrays.

A `Symbol` stands for one number of every pair. It answers Python's operators and NumPy's functions with new symbols,
so that the code of a kernel, or of a user's profile, writes down its own formula. Floats that it meets become
arguments of the formula, integers become part of it: a formula is compiled once for all values of its floats.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Untraceable(TypeError, AttributeError):  # noqa: N818
    """Code that a symbol cannot follow: it looks at values, at shapes, or calls a function that is not known here."""


class Level(IntEnum):
    """On what a number depends: on nothing, on the row, on the column, or on the pair of both."""

    UNIFORM, ROW, COLUMN, PAIR = range(4)


ARITHMETIC = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
COMPARISONS = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!="}
LOGIC = {"logical_and": "and", "logical_or": "or", "bitwise_and": "and", "bitwise_or": "or"}
WORDS = frozenset({"absolute", "sqrt", "exp2", "log2", "sin", "cos", "tanh", "sin_pi", "atan2_positive"})
LOG2_E, LN_2 = 1 / math.log(2), math.log(2)
LIBRARY = {
    "arctan": "math.atan", "arcsin": "math.asin", "arccos": "math.acos", "arctan2": "math.atan2", "tan": "math.tan",
    "sinh": "math.sinh", "cosh": "math.cosh", "arcsinh": "math.asinh", "arccosh": "math.acosh",
    "arctanh": "math.atanh", "expm1": "math.expm1", "log1p": "math.log1p", "log10": "math.log10",
    "hypot": "math.hypot", "fmod": "np.fmod", "erf": "math.erf", "erfc": "math.erfc",
    "floor": "np.floor", "ceil": "np.ceil", "rint": "np.rint", "trunc": "np.trunc",
}  # fmt: skip
"""Functions that Numba takes from the C library: right, but one number at a time."""


class Symbol:
    """A node of a formula.

    name : what is done ("add", "exp", ...), or what a leaf is ("number", "whole", "row", "column", "square", ...)
    parts : the symbols on which it is done
    value : the number, vector or statistic that a leaf stands for
    level : on what it depends
    sign : 1 where it is known to be at least zero, -1 where at most zero, 0 where unknown
    leaves : what was found of the formula that ends here, see structure.py; None before somebody asks
    """

    __slots__ = ("leaves", "level", "name", "parts", "sign", "value")

    def __init__(
        self, name: str, parts: tuple[Symbol, ...] = (), value: Any = None, level: Level | None = None, sign: int = 0
    ) -> None:
        self.name = name
        self.parts = parts
        self.value = value
        self.level = level if level is not None else _joint_level(parts)
        self.sign = sign
        self.leaves: Any = None

    @property
    def constant(self) -> bool:
        """Whether this is a number."""
        return self.name in ("number", "whole")

    # -- operators ----------------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Symbol:
        return add(self, as_symbol(other))

    def __radd__(self, other: Any) -> Symbol:
        return add(as_symbol(other), self)

    def __sub__(self, other: Any) -> Symbol:
        return subtract(self, as_symbol(other))

    def __rsub__(self, other: Any) -> Symbol:
        return subtract(as_symbol(other), self)

    def __mul__(self, other: Any) -> Symbol:
        return multiply(self, as_symbol(other))

    def __rmul__(self, other: Any) -> Symbol:
        return multiply(as_symbol(other), self)

    def __truediv__(self, other: Any) -> Symbol:
        return divide(self, as_symbol(other))

    def __rtruediv__(self, other: Any) -> Symbol:
        return divide(as_symbol(other), self)

    def __pow__(self, other: Any) -> Symbol:
        return power(self, as_symbol(other))

    def __rpow__(self, other: Any) -> Symbol:
        return power(as_symbol(other), self)

    def __neg__(self) -> Symbol:
        return multiply(as_symbol(-1), self)

    def __pos__(self) -> Symbol:
        return self

    def __abs__(self) -> Symbol:
        return apply("absolute", self)

    def __lt__(self, other: Any) -> Symbol:
        return apply("less", self, as_symbol(other))

    def __le__(self, other: Any) -> Symbol:
        return apply("less_equal", self, as_symbol(other))

    def __gt__(self, other: Any) -> Symbol:
        return apply("greater", self, as_symbol(other))

    def __ge__(self, other: Any) -> Symbol:
        return apply("greater_equal", self, as_symbol(other))

    def __eq__(self, other: object) -> Symbol:  # type: ignore[override]
        return apply("equal", self, as_symbol(other))

    def __ne__(self, other: object) -> Symbol:  # type: ignore[override]
        return apply("not_equal", self, as_symbol(other))

    def __and__(self, other: Any) -> Symbol:
        return apply("logical_and", self, as_symbol(other))

    def __or__(self, other: Any) -> Symbol:
        return apply("logical_or", self, as_symbol(other))

    def __invert__(self) -> Symbol:
        return apply("logical_not", self)

    __hash__ = object.__hash__

    # -- NumPy --------------------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Symbol:
        if method != "__call__" or any(value is not None for value in options.values()):
            raise Untraceable(f"{ufunc.__name__} with {method} or options on a symbol")
        return apply(ufunc.__name__, *map(as_symbol, inputs))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Symbol:
        known = ARRAY_FUNCTIONS.get(function)
        if known is None or set(kwargs) - {"dtype"}:
            raise Untraceable(f"{function.__name__} on a symbol")
        return known(*args)

    # -- what a symbol cannot say -------------------------------------------------------------------------------

    def __bool__(self) -> bool:
        raise Untraceable("the truth of a symbol: its value is not known while a formula is written")

    def __float__(self) -> float:
        raise Untraceable("the value of a symbol: it is not known while a formula is written")

    __int__ = __index__ = __complex__ = __float__

    def __getattr__(self, name: str) -> Any:
        raise Untraceable(f"the attribute {name} of a symbol")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if dtype is not None and np.dtype(dtype).kind != "O":
            raise Untraceable(f"a symbol as an array of {dtype}")
        wrapped = np.empty((), dtype=object)
        wrapped[()] = self
        return wrapped

    def _elements(self, *_: Any) -> Any:
        raise Untraceable("the elements of a symbol")

    __iter__ = __len__ = __getitem__ = __setitem__ = _elements

    def _not_known(self, *_: Any) -> Any:
        raise Untraceable("an operator on a symbol that formulas do not have")

    __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = __divmod__ = __rdivmod__ = _not_known
    __matmul__ = __rmatmul__ = __xor__ = __rxor__ = __round__ = _not_known


def _joint_level(parts: tuple[Symbol, ...]) -> Level:
    levels = {part.level for part in parts} - {Level.UNIFORM}
    return Level.UNIFORM if not levels else levels.pop() if len(levels) == 1 else Level.PAIR


# -- leaves -----------------------------------------------------------------------------------------------------------


def whole(value: int) -> Symbol:
    """An integer, which is part of the formula."""
    return Symbol("whole", value=value, level=Level.UNIFORM, sign=1 if value >= 0 else -1)


def number(value: float) -> Symbol:
    """A number that the formula takes as an argument."""
    if not math.isfinite(value):
        raise Untraceable(f"the number {value} in a formula")
    return Symbol("number", value=value, level=Level.UNIFORM, sign=1 if value >= 0 else -1)


def as_symbol(thing: Any) -> Symbol:
    """A symbol, a number, or one number per row (n, 1) or a column (1, m)."""
    if isinstance(thing, Symbol):
        return thing
    if isinstance(thing, numbers.Integral) and not isinstance(thing, np.ndarray):
        return whole(int(thing))
    if isinstance(thing, numbers.Real):
        return number(float(thing))
    if isinstance(thing, np.ndarray):
        return _from_array(thing)
    raise Untraceable(f"a {type(thing).__name__} in a formula")


def _from_array(array: NDArray[Any]) -> Symbol:
    if array.size == 1:
        return as_symbol(array.item())  # np.asarray(symbol) is such an array, too
    if array.ndim == 2 and 1 in array.shape and array.dtype.kind == "f":
        level = Level.ROW if array.shape[1] == 1 else Level.COLUMN
        return Symbol(level.name.lower(), value=array.ravel(), level=level, sign=1 if (array >= 0).all() else 0)
    raise Untraceable(f"an array of shape {array.shape} in a formula")


# -- arithmetic, with what is uniform brought together ---------------------------------------------------------------


def add(a: Symbol, b: Symbol) -> Symbol:
    """The sum."""
    both = _folded(np.add, a, b)
    return Symbol("add", (a, b), sign=a.sign if a.sign == b.sign else 0) if both is None else both


def subtract(a: Symbol, b: Symbol) -> Symbol:
    """The difference."""
    both = _folded(np.subtract, a, b)
    return Symbol("subtract", (a, b), sign=a.sign if a.sign == -b.sign else 0) if both is None else both


def multiply(a: Symbol, b: Symbol) -> Symbol:
    """The product; factors that are uniform are multiplied once, before the loops."""
    both = _folded(np.multiply, a, b)
    if both is not None:
        return both
    if b.constant:
        a, b = b, a
    if a.constant and b.name == "multiply" and b.parts[0].constant:
        return multiply(multiply(a, b.parts[0]), b.parts[1])
    return Symbol("multiply", (a, b), sign=1 if a is b else a.sign * b.sign)


def divide(a: Symbol, b: Symbol) -> Symbol:
    """The quotient; division by a uniform number is multiplication by its inverse."""
    both = _folded(np.divide, a, b)
    if both is not None:
        return both
    if b.constant:
        return multiply(_inverse(b), a)
    return Symbol("divide", (a, b), sign=a.sign * b.sign)


def power(base: Symbol, exponent: Symbol) -> Symbol:
    """A power: a whole one by multiplication, any other through a logarithm."""
    both = _folded(np.power, base, exponent)
    if both is not None:
        return both
    if exponent.name == "whole":
        return _whole_power(base, int(exponent.value))
    if exponent.name == "number" and float(exponent.value).is_integer() and abs(exponent.value) <= 64:
        return _whole_power(base, int(exponent.value))
    return Symbol("power", (base, exponent), sign=1)


def _whole_power(base: Symbol, exponent: int) -> Symbol:
    if exponent == 0:
        return whole(1)
    if exponent < 0:
        return divide(whole(1), _whole_power(base, -exponent))
    square, rest = base, exponent
    while not rest & 1:
        square, rest = multiply(square, square), rest >> 1
    result = square
    while rest := rest >> 1:
        square = multiply(square, square)
        result = multiply(result, square) if rest & 1 else result
    return result


def _inverse(a: Symbol) -> Symbol:
    if a.value == 0:
        raise Untraceable("division by zero in a formula")
    return _argument(1.0 / float(a.value), bool(a.value))


def _folded(function: Callable[[Any, Any], Any], a: Symbol, b: Symbol) -> Symbol | None:
    """The value of a function of two uniform numbers, else None."""
    if not (a.constant and b.constant):
        return None
    with np.errstate(all="ignore"):
        value = float(function(float(a.value), float(b.value)))
    if a.name == b.name == "whole" and value.is_integer() and abs(value) < 2**53:
        return whole(int(value))
    return _argument(value, bool(a.value) and bool(b.value) and function is np.multiply)


def _argument(value: float, never_zero: bool) -> Symbol:
    """A number computed from others, unless it left the range of floats on the way."""
    if never_zero and abs(value) < np.finfo(np.float64).tiny:
        raise Untraceable("numbers whose product is below the smallest float")
    return number(value)


# -- functions -------------------------------------------------------------------------------------------------------


def apply(name: str, *parts: Symbol) -> Symbol:
    """What NumPy's function of this name makes of symbols."""
    return SPECIAL[name](*parts) if name in SPECIAL else _word(name, *parts)


def _word(name: str, *parts: Symbol) -> Symbol:
    if name not in WORDS and name not in LIBRARY and name not in COMPARISONS and name not in LOGIC:
        raise Untraceable(f"the function {name} on a symbol")
    if all(part.constant for part in parts) and hasattr(np, name):
        with np.errstate(all="ignore"):
            return as_symbol(getattr(np, name)(*(part.value for part in parts)).item())
    return Symbol(LOGIC.get(name, name), parts, sign=1 if name in ("absolute", "sqrt", "exp2") else 0)


def select(condition: Any, chosen: Any, otherwise: Any) -> Symbol:
    """One of two values (np.where)."""
    parts = (as_symbol(condition), as_symbol(chosen), as_symbol(otherwise))
    return Symbol("select", parts, sign=parts[1].sign if parts[1].sign == parts[2].sign else 0)


def smaller(a: Symbol, b: Symbol) -> Symbol:
    """The smaller of two values (np.minimum)."""
    both = _folded(np.minimum, a, b)
    return Symbol("minimum", (a, b), sign=1 if a.sign == b.sign == 1 else 0) if both is None else both


def larger(a: Symbol, b: Symbol) -> Symbol:
    """The larger of two values (np.maximum)."""
    both = _folded(np.maximum, a, b)
    return Symbol("maximum", (a, b), sign=1 if 1 in (a.sign, b.sign) else 0) if both is None else both


def _clip(a: Any, low: Any, high: Any) -> Symbol:
    result = as_symbol(a)
    result = result if low is None else larger(result, as_symbol(low))
    return result if high is None else smaller(result, as_symbol(high))


SPECIAL: dict[str, Callable[..., Symbol]] = {
    "add": add,
    "subtract": subtract,
    "multiply": multiply,
    "divide": divide,
    "true_divide": divide,
    "power": power,
    "float_power": power,
    "negative": lambda a: multiply(whole(-1), a),
    "positive": lambda a: a,
    "square": lambda a: multiply(a, a),
    "reciprocal": lambda a: divide(whole(1), a),
    "minimum": smaller,
    "fmin": smaller,
    "maximum": larger,
    "fmax": larger,
    "logical_not": lambda a: select(a, whole(0), whole(1)) > 0,
    "invert": lambda a: select(a, whole(0), whole(1)) > 0,
    "fabs": lambda a: apply("absolute", a),
    "exp": lambda a: apply("exp2", multiply(number(LOG2_E), a)),
    "log": lambda a: multiply(number(LN_2), apply("log2", a)),
    "cos": lambda a: a.value if a.name == "angle" else _word("cos", a),
}

ARRAY_FUNCTIONS: dict[Any, Callable[..., Symbol]] = {
    np.where: select,
    np.clip: _clip,
    np.ones_like: lambda a: whole(1),
    np.zeros_like: lambda a: whole(0),
    np.full_like: lambda a, value: as_symbol(value),
}
