"""Formulas as on paper, read and never evaluated as Python: `1 + x.x'`, `(1 + <x, z>)^2`, `sqrt(2) x1 x2`.

Formulas of one point are features, those of two are kernels, or what may be one. Both are `Expression`s: frozen, equal
by their trees, printed as texts that read back.

**Features.** `read_features(["x1", "x2", "x1^2 + 2*x2^2"], columns=())` gives a tuple of expressions of one point.
Columns are x1, x2, ... from 1 (x_1 too), or go by the names that `columns` gives, a name that is no word in double
quotes; x alone is the only column of rows of one number, |x|^2 the squared length of a row of any. Of each expression

- `each.values(X)` is the feature of each row, float64 of shape (n,), or numbers of 50 digits for an array of those; an
  error names the formula and the value where one is not finite;
- `each.check_width(d)` refuses a number of columns that does not fit, and `each.least_width` says the least one;
- `str(each)` is its text, `each.text(names)` the text with names for the columns, `each.latex()` the LaTeX;
- `each.polynomial(d)` is the exact polynomial, {monomial: coefficient}, or None. A monomial is a tuple of
  ((point, column), power), with point 0 and columns from 0; a coefficient is a `Surd`, a sum of fractions times roots,
  and `float()` of it is right to the last digit.

So a model saves the texts and the names of the columns, and reads them back.

**Kernels.** `read_kernel(text)` gives an expression of two points; `each.pairs(X, Z)` are its values, and
`each.polynomial(d)` has monomials of both points, 0 and 1. `kernel_of(each, d)` is the same function as a
kernel, a tree of rules and leaves, or None.
"""

from mercer.kernels.formulas.expression import Expression as Expression
from mercer.kernels.formulas.expression import read_feature as read_feature
from mercer.kernels.formulas.expression import read_features as read_features
from mercer.kernels.formulas.expression import read_kernel as read_kernel
from mercer.kernels.formulas.recognise import kernel_of as kernel_of
from mercer.kernels.formulas.surds import Surd as Surd
