"""What kernels of structured data share: one column, of one kind."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from mercer.errors import InputError, message
from mercer.kernels.base import Kernel
from mercer.kernels.domain import Domain
from mercer.kernels.objects.store import Column
from mercer.kernels.points import Points


class ObjectKernel(Kernel):
    """A leaf that looks at one column of objects; `domain` says of which kind."""

    of_numbers = False

    @property
    @abstractmethod
    def domain(self) -> Domain:
        """STRINGS, GRAPHS or CATEGORIES of `mercer.kernels.objects.domains`."""

    @property
    def kinds(self) -> dict[Any, str]:
        return {None: self.domain.name}

    def column(self, points: Points) -> Column:
        """The objects in the only column of the points."""
        kind = self.domain.name
        if points.values.shape[1] != 1:
            got = f"got {points.values.shape[1]} columns"
            raise InputError(
                message(f"one column of {kind}", got, "Choose one with on().", subject=type(self).__name__)
            )
        return points.things(0, kind, subject=type(self).__name__)
