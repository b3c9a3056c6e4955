"""`mercer lift`: the exact features of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from mercer.cli.options import Common

if TYPE_CHECKING:
    from mercer.cli.output import Voice


@dataclass(frozen=True, kw_only=True)
class LiftOptions(Common):
    """What `mercer lift` takes."""

    kernel: Annotated[str, typer.Argument(help="A kernel as text, linear + linear**2, or a formula: (1 + x.z)^2.")]
    columns: Annotated[int, typer.Option("--columns", "-d", min=1, help="Number of columns.")] = 2


def lift(options: LiftOptions, voice: Voice) -> None:
    """Name the features of a kernel, whose inner products are its values, where finitely many suffice."""
    from mercer.lifts.exact import lift as lifted

    phi = lifted(options.kernel, options.columns)
    names = phi.get_feature_names_out().tolist()
    record = {"kernel": str(phi.kernel), "columns": options.columns, "features": names}
    voice.data(record, "\n".join(names))
