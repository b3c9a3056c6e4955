"""`mercer.kernel_for`: look at a table, and propose a kernel for it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from mercer.errors import InputError, message, speaking, speaks
from mercer.kernels.objects.table import Table, table_of
from mercer.kernels.tables.choice import LEFT_OUT, Choice
from mercer.kernels.tables.globe import with_places
from mercer.kernels.tables.proposal import Proposal
from mercer.kernels.tables.rules import choice_of
from mercer.kernels.tables.survey import Survey, name_of, survey_of


@speaks
def kernel_for(
    table: Any, target: int | str | Iterable[int | str] | None = None, *, empty_texts: bool = False
) -> Proposal:
    """Propose a kernel for a table, with the reasons.

    The proposal is one Gaussian kernel of everything that has a distance, written as a product: numbers are divided by
    their deviations, each column in which labels differ counts as much as a number that is sqrt(2) deviations away,
    dates are numbers and points on the circles of a day, a week and a year. Two columns that are called latitude and
    longitude are points on the sphere, at their straight distance, in the place of two numbers. Texts are compared by
    words or by letters, and added. Columns that are constant, number the rows or copy another one are left out. The
    scales are those of the table: give the rows that a model will be fitted to. Cost: a look at each entry, no pairs of
    rows.

    Parameters
    ----------
    table : DataFrame, Arrow table or array
        A table of pandas, polars or Arrow, or a 2-D array of objects.
    target : str, int, sequence or None, default=None
        The column, or the columns, to be predicted: no part of the kernel.
    empty_texts : bool, default=False
        Whether missing texts are taken for empty ones, and are given so to the kernel. Else a column of texts that
        misses some is left out.

    Returns
    -------
    Proposal
        The kernel, and the choice for each column with its reason; `print` shows both.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import kernel_for
    >>> rows = np.array([[30, "red"], [40, "blue"], [50, "red"], [80, None]], dtype=object)
    >>> proposal = kernel_for(rows)
    >>> print(proposal)
    a kernel for 4 rows x 2 columns
      column  taken for  part                        why
      0       number     gaussian, divided by 18.71  integers, 4 different
      1       category   hamming                     texts, 2 different, 1 missing; missing is a label of its own
      lengthscale 1.27: the root mean squared distance of a row from the mean, in deviations
      kernel: gaussian(lengthscale=1.27).scaled([18.71]).on([0])*hamming(lengthscale=1.27).on([1])
    >>> proposal.kernel(rows).round(2)
    array([[1.  , 0.49, 0.7 , 0.06],
           [0.49, 1.  , 0.49, 0.13],
           [0.7 , 0.49, 1.  , 0.24],
           [0.06, 0.13, 0.24, 1.  ]])
    """
    seen = table_of(table)
    if seen.count < 2:
        raise InputError(message("two rows or more", f"got {seen.count}", "Give the training rows."))
    targets = () if target is None else (target,) if isinstance(target, int | str) else tuple(target)
    with speaking("kernel_for (target)"):
        aside = {seen.position(column) for column in targets}
    choices, surveys = zip(*_choices(seen, aside, empty_texts), strict=True)
    return Proposal(seen.count, tuple(with_places(choices, surveys)))


def _choices(table: Table, aside: set[int], empty_texts: bool) -> Iterator[tuple[Choice, Survey | None]]:
    """The choice of each column; a column that repeats an earlier one, entry by entry, is left out."""
    first: dict[Hashable, int | str] = {}
    for i in range(table.width):
        if i in aside:
            yield Choice(name_of(table, i), "target", "it is to be predicted"), None
            continue
        survey = survey_of(table, i)
        found = choice_of(survey)
        if empty_texts and survey.missing and (found.taken_for, found.place) == ("text", LEFT_OUT):
            found = choice_of(replace(survey, missing=0, texts=(*survey.texts, *[""] * survey.missing)))
        if found.place != LEFT_OUT:
            original = first.setdefault(survey.content, survey.name)
            if original != survey.name:
                found = Choice(survey.name, "copy", f"it equals column {original!r} in every row")
        yield found, survey
