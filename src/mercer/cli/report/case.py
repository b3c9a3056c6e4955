"""What the sections of a report are made from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from mercer.cli.target import CLASSIFICATION
from mercer.html import Markup, element, figure

if TYPE_CHECKING:
    from mercer.cli.diagnostics.finding import Finding
    from mercer.cli.fit import FitOptions
    from mercer.cli.result import Fitted


@dataclass(frozen=True, eq=False)
class Case:
    """A fit, with what was asked and found.

    done, options : the fit, and what it was told
    findings : what may be wrong; warnings : what was said while it ran
    """

    done: Fitted
    options: FitOptions
    findings: list[Finding]
    warnings: list[str]

    @property
    def classes(self) -> bool:
        """Whether labels are predicted."""
        return self.done.target.task == CLASSIFICATION


def drawn(name: str, title: str, caption: object, draw: Callable[[], Any]) -> Markup:
    """The figure of matplotlib that is drawn; a sentence where there is nothing to draw with."""
    if find_spec("matplotlib") is None:
        return element("p", f"No picture of {title}: matplotlib is not installed.", kind="soft")
    from mercer.displays.vector import inline_svg

    return figure(Markup(inline_svg(draw(), name, title)), caption)
