"""A proposed kernel with the reasons, column by column: to be read, changed and used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import add, mul

from mercer.errors import InputError, KernelError, message
from mercer.kernels.base import Kernel
from mercer.kernels.categories.gapped import Gapped
from mercer.kernels.categories.hamming import Hamming
from mercer.kernels.coordinate.periodic import Periodic
from mercer.kernels.radial.gaussian import Gaussian
from mercer.kernels.tables.choice import GAUSSIAN, LEFT_OUT, PLACES, Choice
from mercer.kernels.tables.report import report

Name = int | str


@dataclass(frozen=True)
class Proposal:
    """What `mercer.kernel_for` proposes; `print` shows it as a table.

    rows : how many rows were looked at
    columns : what was decided for each column, and why: `name`, `taken_for`, `why`, `part`
    kernel : the proposed kernel, for any learner
    lengthscale : that of the Gaussian part: the root mean squared distance of a row from the mean of all, in deviations
    """

    rows: int
    columns: tuple[Choice, ...]

    @property
    def lengthscale(self) -> float:
        """The root of the variances of all columns, added up, in three digits."""
        total = sum(choice.spread for choice in self.columns if choice.place in GAUSSIAN)
        return float(f"{max(total, 1e-3) ** 0.5:.3g}")

    @property
    def kernel(self) -> Kernel:
        """The product of all parts that a Gaussian kernel has room for, plus what is added: texts."""
        factors, terms = list(self._factors()), list(self._own("added"))
        if factors:
            terms = [reduce(mul, factors), *terms]
        if not terms:
            raise InputError(message("a column to look at", "all are left out", "Use with_part()."))
        return reduce(add, terms)

    def without(self, *names: Name) -> Proposal:
        """The proposal without some columns."""
        found = self
        for name in names:
            why = "you left it out"
            found = found._changed(
                replace(found._choice(name), taken_for="as given", why=why, place=LEFT_OUT, kernels=())
            )
        return found

    def with_part(self, name: Name, kernel: Kernel) -> Proposal:
        """The proposal with a kernel of your own for a column: multiplied, or added where it was added before."""
        if not isinstance(kernel, Kernel):
            got = f"got {kernel!r:.60}"
            raise KernelError(
                message(f"a kernel for {name!r}", got, "Write Gaussian('median'), say.", subject="with_part")
            )
        choice = self._choice(name)
        place = "added" if choice.place == "added" else "own"
        told = replace(choice, taken_for="as given", why="you chose its part", place=place, kernels=(kernel,))
        return self._changed(told)

    def with_reading(self, name: Name, reading: str, why: str = "as you chose") -> Proposal:
        """The proposal with one of the `readings` of a column, which a text of one length has several of."""
        choice = self._choice(name)
        readings = dict(choice.readings)
        if reading not in readings:
            got = f"got {reading!r}; its readings are {', '.join(map(repr, readings)) or 'none'}"
            raise InputError(
                message(f"a reading of column {name!r}", got, "Choose one of these.", subject="The proposal")
            )
        told = f"{choice.why.split(':')[0]}: read by {reading}, {why}"
        return self._changed(replace(choice, why=told, kernels=readings[reading]))

    def __str__(self) -> str:
        empty = all(choice.place == LEFT_OUT for choice in self.columns)
        return report(self.rows, self.columns, self.lengthscale, None if empty else self.kernel)

    # -- parts ----------------------------------------------------------------------------------------------------

    def _factors(self) -> Iterator[Kernel]:
        length, pairs = self.lengthscale, self._pairs()
        alone = {choice.name for choice in self.columns if choice.place in PLACES} - {
            choice.name for pair in pairs for choice in pair
        }
        numbers = [choice for choice in self.columns if choice.place == "numbers" or choice.name in alone]
        for latitude, longitude in pairs:
            by = 1.0 if latitude.pair is None else latitude.pair[1]
            yield Gaussian(length).scaled([by] * 3).on_sphere().on([latitude.name, longitude.name])
        if numbers:
            deviations = [choice.moments[1] for choice in numbers]
            yield Gaussian(length).scaled(deviations).on([choice.name for choice in numbers])
        for choice in numbers:
            for period in choice.periods:
                yield Periodic(period, length).on(choice.name)
        gapped = self._placed("gapped")
        if gapped:
            yield Gapped(length, tuple(choice.moments for choice in gapped)).on([choice.name for choice in gapped])
        labels = self._placed("categories")
        if labels:
            yield Hamming(length).on([choice.name for choice in labels])
        yield from self._own("own")

    def _pairs(self) -> list[tuple[Choice, Choice]]:
        """Each latitude with its longitude, where both are looked at."""
        longitudes = {choice.name: choice for choice in self._placed("longitude")}
        found = self._placed("latitude")
        return [(one, longitudes[one.pair[0]]) for one in found if one.pair is not None and one.pair[0] in longitudes]

    def _placed(self, place: str) -> list[Choice]:
        return [choice for choice in self.columns if choice.place == place]

    def _own(self, place: str) -> Iterator[Kernel]:
        for choice in self._placed(place):
            yield from (kernel.on(choice.name) for kernel in choice.kernels)

    def _choice(self, name: Name) -> Choice:
        found = next((choice for choice in self.columns if choice.name == name), None)
        if found is None:
            got = f"the columns are {', '.join(repr(choice.name) for choice in self.columns[:10])}"
            raise InputError(message(f"a column {name!r}", got, "Check the spelling.", subject="The proposal"))
        return found

    def _changed(self, choice: Choice) -> Proposal:
        return replace(self, columns=tuple(choice if choice.name == old.name else old for old in self.columns))
