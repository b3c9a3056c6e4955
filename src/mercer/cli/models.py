"""Reading model files in the command: a bad file has an exit code of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mercer.cli.exit_codes import Exit, Failure
from mercer.errors import BudgetError, MercerError, ModelFileError
from mercer.models.table_model import TableModel


def load_model(path: Path) -> TableModel:
    """A model that was fitted to a table."""
    from mercer.models import load

    found = _opened(load, path)
    if not isinstance(found, TableModel):
        got = f"{path.name} holds a {type(found).__name__}, which was not fitted to a table by this command"
        raise Failure(Exit.MODEL, f"{got}. Use mercer.load in Python.")
    return found


def describe_model(path: Path) -> Any:
    """What a file says of itself; nothing is built."""
    from mercer.models import inspect

    return _opened(inspect, path)


def check_saved(kernel: Any) -> None:
    """Complain of a kernel that no file can hold, before it is fitted."""
    from mercer.models import kernel_strings

    try:
        kernel_strings.written(kernel)
    except ModelFileError as error:
        raise Failure(Exit.DATA, str(error)) from error


def save_model(model: TableModel, path: Path) -> None:
    """Write a model file."""
    from mercer.models import save

    save(model, path)


def _opened(reader: Any, path: Path) -> Any:
    if not path.is_file():
        raise Failure(Exit.MODEL, f"there is no model file at {path}. Check the path.")
    try:
        return reader(path)
    except BudgetError:
        raise
    except MercerError as error:
        raise Failure(Exit.MODEL, str(error)) from error
