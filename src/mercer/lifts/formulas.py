"""The lift from formulas: phi(x) = [x1, x2, x1^2 + 2 x2^2], as it is typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mercer.errors import InputError, message
from mercer.kernels import Kernel
from mercer.kernels.algebra.feature_map import FeatureMap, is_texts
from mercer.kernels.formulas.closed_form import closed_form
from mercer.lifts.base import Lift
from mercer.lifts.composition import unique
from mercer.lifts.expansion import Expansion
from mercer.lifts.polynomial_features import expansion_of

LETTER_WEIGHT = 32
"""What a letter of a formula counts among the texts of a model file, since it is read by the grammar."""


class Formulas(Lift):
    """One feature per formula: `phi(x) = [phi_1(x), ..., phi_D(x)]`.

    A formula has numbers, the columns x1, x2, ... or their names, the operations + - * / ^, the functions exp, log,
    log1p, sqrt, abs, sin, cos, tan, sinh, cosh, tanh, min and max, and `|x|` for the length of the row. It is read by a
    small grammar and never run as Python. The kernel is sum_i phi_i(x) phi_i(z), in a closed form where one is found.
    Time O(n) for each operation of the formulas.

    Parameters
    ----------
    formulas : list of str, default=("x1", "x1^2")
        The features. A name of a column that is no word stands in double quotes: '"net income"/1000'.

    Attributes
    ----------
    kernel : Kernel
        phi(x).phi(z).
    expansion_ : Expansion
        Monomials and coefficients, where all features are polynomials.

    Examples
    --------
    >>> from mercer.lifts import Formulas
    >>> phi = Formulas(["x1", "x2", "x1^2", "sqrt(2)*x1*x2", "x2^2"]).fit([[1.0, 2.0]])
    >>> phi.transform([[1.0, 2.0]]).round(3)
    array([[1.   , 2.   , 1.   , 2.828, 4.   ]])
    >>> phi.get_feature_names_out(["a", "b"]).tolist()
    ['a', 'b', 'a^2', 'sqrt(2) a b', 'b^2']
    >>> print(phi.kernel)
    linear + linear**2

    References
    ----------
    Shawe-Taylor and Cristianini, Kernel Methods for Pattern Analysis (2004), section 2.3.
    """

    def __init__(self, formulas: Sequence[str] = ("x1", "x1^2")) -> None:
        self.formulas = formulas

    @property
    def kernel(self) -> Kernel:
        """The kernel phi(x).phi(z), once fitted: in a closed form, or the inner product of the formulas."""
        check_is_fitted(self)
        return closed_form(self._map.by_position, self.n_features_in_)

    @property
    def expansion_(self) -> Expansion:
        """Monomials and coefficients; AttributeError where a feature is no polynomial."""
        check_is_fitted(self)
        found = expansion_of(self._map, self.n_features_in_)
        if found is None:
            raise AttributeError("expansion_: not all features are polynomials")
        return found

    def learn(self, X: Any) -> None:
        given = self.formulas
        if not is_texts(given):
            raise InputError(message("a list of formulas", f"got {given!r:.60}", 'Write ["x1", "x1*x2"], say.'))
        texts = (given,) if isinstance(given, str) else tuple(given)
        for formula in _read(texts, self._columns).formulas:
            formula.check_width(X.shape[1])
        self._texts = texts

    _saved: ClassVar[Mapping[str, Any]] = {"_texts": tuple[str, ...]}

    @staticmethod
    def _text_weight(fields: Mapping[str, Any]) -> int:
        """How many plain texts of a file take as long as these formulas, about."""
        given = fields.get("_texts")
        return LETTER_WEIGHT * sum(map(len, given)) if isinstance(given, tuple) else 0

    def _inconsistency(self) -> str:
        return (
            "" if self._map.fits(self.n_features_in_) else f"got formulas of other than {self.n_features_in_} columns"
        )

    @property
    def _columns(self) -> tuple[str, ...]:
        return tuple(getattr(self, "feature_names_in_", ()))

    @property
    def _map(self) -> FeatureMap:
        return _read(self._texts, self._columns)

    def n_features(self) -> int:
        return len(self._map)

    def features(self, X: NDArray[Any]) -> NDArray[Any]:
        with np.errstate(over="ignore"):  # what is too large for the dtype is refused below
            found = self._map.transform(X.astype(np.float64, copy=False)).astype(X.dtype, copy=False)
        if X.dtype != np.float64 and not np.isfinite(found).all():
            raise InputError(message("rows of float64", f"a feature overflows {X.dtype}", "Use X.astype(float)."))
        return found

    def feature_names(self, inputs: list[str]) -> list[str]:
        return unique([each.text(inputs) for each in self._map.formulas])


@lru_cache(maxsize=64)
def _read(texts: tuple[str, ...], columns: tuple[str, ...]) -> FeatureMap:
    """Formulas never change, and every block of rows asks for them."""
    return FeatureMap.read(texts, columns)
