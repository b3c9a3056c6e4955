"""`mercer prove`: whether a text is a kernel, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from mercer.cli.options import Common

if TYPE_CHECKING:
    from mercer.cli.output import Voice


@dataclass(frozen=True, kw_only=True)
class ProveOptions(Common):
    """What `mercer prove` takes."""

    kernel: Annotated[
        str, typer.Argument(help="A kernel as text, min or gaussian - laplace, or a formula: (1 + x.z)^2.")
    ]
    columns: Annotated[
        int | None, typer.Option("--columns", "-d", min=1, help="Number of columns (default: as many as possible).")
    ] = None
    domain: Annotated[
        str | None, typer.Option("--domain", help="reals (R), nonnegative (R+), integers (Z), naturals (N) or sphere.")
    ] = None
    seconds: Annotated[
        float, typer.Option("--time-limit", help="Seconds after which a search for a counterexample ends.")
    ] = 30.0


def prove(options: ProveOptions, voice: Voice) -> None:
    """Prove that a function is a kernel, or show points at which it is none."""
    from mercer.kernels.proof.prove import prove as proven

    found = proven(options.kernel, options.columns, options.domain, time_limit=options.seconds)
    record = {
        "kernel": found.name,
        "status": found.status,
        "claim": found.claim,
        "domain": found.domain.name,
        "dimension": found.dimension,
        "max_dimension": found.max_dimension,
        "steps": list(found.steps),
        "witness": None if found.witness is None else str(found.witness),
    }
    voice.data(record, str(found))
