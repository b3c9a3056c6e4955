"""Models into files, and out of them."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from mercer.kernels import Kernel
from mercer.models.decode import Decoder
from mercer.models.encode import Encoder
from mercer.models.kernel_strings import classes_of
from mercer.models.reading import opened, tensors_of
from mercer.models.record import record_of
from mercer.models.refusing import refuse
from mercer.models.registry import CLASSES, ENTRIES, MODELS
from mercer.models.table_model import TableModel
from mercer.models.writing import write
from mercer.version import __version__


def save(model: object, path: str | PathLike[str]) -> None:
    """Write a fitted model into a file that is safe to load: numbers and a record, never code.

    The file is written under another name beside it, flushed to the disk and moved into place, so that at any moment
    there is the old file or the new one, complete. Cost: two passes over the numbers of the model; no copy of them.

    Parameters
    ----------
    model : estimator
        A learner or a lift of Mercer, or a pipeline of scikit-learn's scalers and encoders with one.
    path : str or Path
        The file; by convention its name ends with .mercer.

    Examples
    --------
    >>> import tempfile, os
    >>> from mercer import KernelRidge
    >>> model = KernelRidge().fit([[0.0], [1.0], [2.0], [4.0]], [0.0, 1.0, 4.0, 16.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "squares.mercer")
    ...     save(model, path)
    ...     again = load(path)
    >>> bool(again.predict([[3.0]]) == model.predict([[3.0]]))
    True
    """
    _check_model(model)
    encoder = Encoder(CLASSES)
    encoder.object(model)
    text = encoder.text(__version__)
    tensors = {str(place): array for place, array in enumerate(encoder.arrays)}
    Decoder(ENTRIES, tensors, encoder.foreign).model(record_of(text).objects)  # what is written can be read
    write(path, text, encoder.arrays)


def load(path: str | PathLike[str], classes: Iterable[type[Kernel]] = ()) -> Any:
    """Load a model that `save` wrote; for anything else a `ModelFileError` says what is wrong.

    No file can make Mercer import, call or write anything: a record names entries of a fixed table, and fields with
    types. Cost: one pass over the file, and its size in memory, beside some 60 MB for a file that is all texts.

    Parameters
    ----------
    path : str or Path
        The file.
    classes : sequence of type, default=()
        Kernel classes of your own that the model uses; their constructors get numbers and texts from the file.

    Returns
    -------
    object
        A learner, a lift, a pipeline or a `TableModel`.

    Examples
    --------
    >>> import os, tempfile
    >>> from mercer import KernelRidge, load, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "line.mercer")
    ...     save(KernelRidge("linear", alpha=1e-6).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]), path)
    ...     load(path).predict([[3.0]]).round(3)
    array([3.])
    """
    own = classes_of(classes)
    with opened(path) as file:
        tensors = tensors_of(file)
        record = record_of(file.header.record)
        model = Decoder(ENTRIES, tensors, own).model(record.objects)
    if type(model) not in MODELS:
        refuse("a model", f"got a {type(model).__name__}")
    return model


def _check_model(model: object) -> None:
    if type(model) not in MODELS:
        got = f"got a {type(model).__module__}.{type(model).__qualname__}"
        best = hasattr(model, "best_estimator_")
        remedy = "Save its best_estimator_." if best else "Save a learner or a lift of Mercer, or a pipeline with one."
        refuse("a model of a class that it knows", got, remedy)
    try:
        check_is_fitted(model.learner if isinstance(model, TableModel) else model)
    except NotFittedError:
        refuse("a fitted model", f"{type(model).__name__} is not", "Call fit first.")
