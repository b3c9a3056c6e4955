"""Which reading of a text of one length suits the target: letters at their places, runs of letters, or both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mercer.cli.lengthscales import SAMPLE_ROWS, Positions, Sample, hurried, sample_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mercer.cli.features import Look
    from mercer.cli.fit import FitOptions


def with_readings(
    options: FitOptions, look: Look, rows_at: Callable[[Positions], Any], y: NDArray[Any]
) -> tuple[Look, list[str]]:
    """The proposal with the readings whose leave-one-out error on a sample is least, and what was tried.

    Cost: for each reading of each such column a decomposition of the sample.
    """
    if look.proposal is None or hurried(options):
        return look, []
    proposal, told = look.proposal, []
    sample = Sample(rows_at, y, sample_of(y, SAMPLE_ROWS, options.random_state))
    for choice in look.proposal.columns:
        if choice.readings:
            tried = {reading: proposal.with_reading(choice.name, reading).kernel for reading, _ in choice.readings}
            errors = {reading: sample.error(kernel) for reading, kernel in tried.items()}
            best = min(errors, key=lambda reading: errors[reading])
            proposal = proposal.with_reading(choice.name, best, "which has the least leave-one-out error")
            listed = ", ".join(f"{reading} {error:.4g}" for reading, error in errors.items())
            rows = len(sample.positions)
            told.append(f"{choice.name!r}: squared leave-one-out error on {rows:,} rows: {listed}. Taken: {best}")
    return replace(look, proposal=proposal, kernel=proposal.kernel), told
