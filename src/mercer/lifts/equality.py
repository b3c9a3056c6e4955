"""Whether features have the inner product that a kernel states: the record of an answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from mercer.errors import InputError, message
from mercer.html import Markup, Shown, badge, element

Status = Literal["equal", "different", "unknown"]
Point = tuple[float, ...]


@dataclass(frozen=True)
class Equality(Shown):
    """Whether phi(x).phi(z) = k(x, z) for all x and z, as `mercer.check` answers it.

    Parameters
    ----------
    status : {"equal", "different", "unknown"}
        "equal" is proven for all points, "different" by one pair of points; "unknown" is what agrees wherever it was
        looked at.
    reason : str
        What shows it.
    d : int
        The number of columns.
    x, z : tuple of float or None, default=None
        Two points where they differ.
    values : tuple of float or None, default=None
        phi(x).phi(z) there, and k(x, z).

    Examples
    --------
    >>> import mercer
    >>> answer = mercer.check(phi=["x1", "x2"], kernel="linear**2")
    >>> answer.equal, answer.x, answer.z, answer.values
    (False, (1, 0), (2, 0), (2.0, 4.0))
    """

    status: Status
    reason: str
    d: int
    x: Point | None = None
    z: Point | None = None
    values: tuple[float, float] | None = None

    @property
    def equal(self) -> bool:
        """Whether they are proven to be equal."""
        return self.status == "equal"

    def __bool__(self) -> bool:
        if self.status == "unknown":
            needs, remedy = "an answer for its truth", "Look at .status first."
            raise InputError(message(needs, self.reason, remedy, subject="A comparison"))
        return self.equal

    def __str__(self) -> str:
        return f"{self.status}: {self.reason}"

    def _html_pieces(self) -> Iterable[Markup]:
        yield element("p", badge({"equal": "proven", "different": "refuted"}.get(self.status, self.status)))
        yield element("p", str(self))
