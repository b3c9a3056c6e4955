"""The warning of a fit that ended before it converged: Mercer's, and scikit-learn's at once.

It stands here, and not in `mercer.errors`, since that loads no scikit-learn.
"""

from __future__ import annotations

from sklearn import exceptions

from mercer.errors import NumericalWarning


class ConvergenceWarning(NumericalWarning, exceptions.ConvergenceWarning):  # type: ignore[misc]  # scikit-learn has no types
    """A fit that ended before it converged; filters for scikit-learn's warning of this name meet it, too."""
