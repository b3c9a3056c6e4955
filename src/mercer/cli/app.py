"""The command with its verbs, as Typer has it."""

from __future__ import annotations

from typing import Annotated

import typer

from mercer.cli.commands import add_verb
from mercer.cli.demo import DemoOptions, demo
from mercer.cli.doctor import DoctorOptions, doctor
from mercer.cli.fit import FitOptions, fit
from mercer.cli.inspect import InspectOptions, inspect
from mercer.cli.lift import LiftOptions, lift
from mercer.cli.plan import PlanOptions, plan
from mercer.cli.predict import PredictOptions, predict
from mercer.cli.prove import ProveOptions, prove
from mercer.cli.score import ScoreOptions, score
from mercer.cli.show import ShowOptions, show
from mercer.cli.transform import TransformOptions, transform

app = typer.Typer(
    name="mercer",
    help="Kernel methods: from a table to a model and its predictions, with plans, proofs and files safe to load.",
    epilog="Example: mercer fit houses.csv --target price --out houses.mercer",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
add_verb(app, FitOptions, fit, "mercer fit houses.csv --target price --out houses.mercer")
add_verb(app, PredictOptions, predict, "mercer predict houses.mercer new.csv > prices.csv")
add_verb(app, ScoreOptions, score, "mercer score houses.mercer sold.csv")
add_verb(app, TransformOptions, transform, "mercer transform houses.csv --drop price --n-components 50 > features.csv")
add_verb(app, PlanOptions, plan, "mercer plan --rows 1e6 --columns 20 --memory-limit 4GB")
add_verb(app, ProveOptions, prove, "mercer prove min --domain integers")
add_verb(app, LiftOptions, lift, 'mercer lift "(1 + x.z)^2" --columns 2')
add_verb(app, InspectOptions, inspect, "mercer inspect houses.mercer")
add_verb(app, ShowOptions, show, "mercer show ex17 --out ex17.png --style slide")
add_verb(app, DoctorOptions, doctor, "mercer doctor")
add_verb(app, DemoOptions, demo, "mercer demo")


def _version(asked: bool) -> None:
    if asked:
        from mercer import __version__

        typer.echo(f"mercer {__version__}")
        raise typer.Exit


@app.callback()
def _mercer(
    version: Annotated[bool, typer.Option("--version", is_eager=True, callback=_version, help="The version.")] = False,
) -> None:
    pass
