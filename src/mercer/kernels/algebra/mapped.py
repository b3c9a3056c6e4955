"""What the rules that move points share: k(g(x), g(z))."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from typing import Any

from numpy.typing import NDArray
from scipy.sparse import csr_array

from mercer.errors import KernelError, message
from mercer.kernels.algebra.single import Single
from mercer.kernels.base import Kernel
from mercer.kernels.domain import Domain, Preimage, meet
from mercer.kernels.feature_gap import FeatureGap
from mercer.kernels.lift_builder import Features, LiftBuilder
from mercer.kernels.near_pairs import NearPairs
from mercer.kernels.pairs import Block, Pairs
from mercer.kernels.points import Column, Points
from mercer.kernels.proof.judgement import Situation


class Mapped(Single):
    """A node that shows its kernel other points: `inner_points` says which."""

    kernel: Kernel

    @property
    @abstractmethod
    def map_key(self) -> Hashable:
        """What the map is, so that equal maps in one tree are applied once."""

    @property
    def kinds(self) -> dict[Column | None, str]:
        if self.kernel.kinds:
            got = f"{self.kernel} reads {', '.join(sorted(set(self.kernel.kinds.values())))}"
            raise KernelError(message("a kernel of numbers", got, "Put it inside.", subject=type(self).__name__))
        return {}

    def evaluate(self, pairs: Pairs) -> Block:
        return self.kernel.evaluate(pairs.after(self.map_key, self.inner_points))

    def evaluate_diagonal(self, points: Points) -> NDArray[Any]:
        return self.kernel.evaluate_diagonal(self.inner_points(points))

    def evaluate_gap(self, pairs: NearPairs) -> FeatureGap | None:
        moved = pairs.after_linear if self.is_linear else pairs.after
        return self.kernel.evaluate_gap(moved(self.inner_points))

    @property
    @abstractmethod
    def map_label(self) -> str:
        """How a sentence calls the moved point x."""

    @abstractmethod
    def image(self, domain: Domain) -> Domain:
        """A domain that surely holds g(x) for every x of the given one."""

    @abstractmethod
    def inner_width(self, d: int | None) -> int | None:
        """How many columns the inner kernel sees; None where that is not known, 0 where d columns do not fit."""

    @property
    def linear_map(self) -> csr_array | None:
        """(m, d), where g(x) is a matrix times x; None for other maps."""
        return None

    @property
    def is_linear(self) -> bool:
        """Whether differences of points are mapped as points are."""
        return self.linear_map is not None

    def finite_lift(self, build: LiftBuilder[Features]) -> Features:
        return build.mapped(self)

    @property
    def domain(self) -> Domain:
        inner = self.kernel.domain
        if self.image(inner).within(inner):
            return inner
        return Preimage(self.map_key, self.map_label, lambda X: self.inner_points(Points(X)).values, inner)

    def inner_situation(self, situation: Situation) -> Situation | None:
        image = self.image(situation.domain)
        if situation.domain.within(self.domain):  # then g(x) lies in the inner kernel's own domain, too
            image = meet(image, self.kernel.domain)
        width = self.inner_width(situation.d)
        return None if width == 0 else Situation(image, d=width, every=width is None)

    @property
    def needed(self) -> frozenset[Column] | None:
        return None

    @property
    def width(self) -> int | None:
        return None

    @property
    def radial(self) -> bool:
        return False
