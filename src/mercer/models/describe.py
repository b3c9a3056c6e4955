"""What a model file holds, told without building anything of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from os import PathLike, fspath
from typing import Any

from mercer.models.reading import look_through, opened
from mercer.models.record import record_of
from mercer.models.refusing import refuse, shown
from mercer.models.safetensors import VERSIONS

MAX_SHOWN_LETTERS = 120
"""Letters of a value that is shown."""
RESULTS = ("RidgeResult", "DualFit", "PrimalFit", "BasisFit", "Outcome")
"""Records that a learner holds instead of attributes of its own."""
REPORTED = ("converged", "reason", "residual", "condition", "alphas", "intercepts", "duals", "weights")
"""Their fields that are reported beside those of the learner."""


@dataclass(frozen=True)
class Description:
    """What a model file contains.

    Parameters
    ----------
    path : str
        The file.
    model : str
        The name of its class.
    kernel : str
        The text of the kernel with its numbers; "" where there is none.
    settings : dict of str to str
        Plain parameters and attributes by name, as texts.
    learned : tuple of str
        The names of attributes that are arrays or objects.
    classes : tuple of str
        Kernel classes that are not Mercer's, which `load` must be given.
    objects : int
        How many objects it has.
    tensors : int
        How many arrays it has.
    bytes : int
        The size of the file.
    version : int
        Of the format.
    mercer : str
        The version of Mercer that wrote it.
    sha256 : str
        Of the content; it was compared.

    Examples
    --------
    >>> import os, tempfile
    >>> from mercer import KernelRidge, inspect, save
    >>> model = KernelRidge("gaussian(2)", alpha=0.1).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "squares.mercer")
    ...     save(model, path)
    ...     about = inspect(path)
    >>> about.model, about.kernel, about.settings["alpha"]
    ('KernelRidge', 'gaussian(lengthscale=2.0)', '0.1')
    """

    path: str
    model: str
    kernel: str
    settings: dict[str, str]
    learned: tuple[str, ...]
    classes: tuple[str, ...]
    objects: int
    tensors: int
    bytes: int
    version: str
    mercer: str
    sha256: str

    def record(self) -> dict[str, Any]:
        """Plain values, for JSON.

        Returns
        -------
        dict
        """
        return asdict(self)

    def __str__(self) -> str:
        needs = f"\n  needs classes: {', '.join(self.classes)}" if self.classes else ""
        settings = "".join(f"\n  {name}: {value}" for name, value in self.settings.items() if name[:1] != "_")
        learned = ", ".join(name for name in self.learned if name[:1] != "_")
        size = f"{self.objects} objects, {self.tensors} tensors, {self.bytes:,} bytes"
        return (
            f"{self.model} in {self.path}\n  kernel: {self.kernel or 'none'}{needs}{settings}"
            f"\n  also: {learned or 'nothing'}"
            f"\n  {size}; format {self.version}, by Mercer {self.mercer}; SHA-256 {self.sha256[:16]}..."
        )


def inspect(path: str | PathLike[str]) -> Description:
    """Describe a model file without building the model: its digest is compared, and its record is read.

    Cost: one pass over the file; memory for its header alone.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Description

    Examples
    --------
    >>> import os, tempfile
    >>> from mercer import KernelRidge, inspect, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "line.mercer")
    ...     save(KernelRidge("linear").fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]), path)
    ...     inspect(path).model
    'KernelRidge'
    """
    with opened(path) as file:
        look_through(file)
        record = record_of(file.header.record)
    objects = [_fields(one) for one in record.objects]
    name, fields = objects[-1]
    held = {key: about[key] for entry, about in objects if entry in RESULTS for key in REPORTED if key in about}
    found = {key: _word(value) for key, value in (held | fields).items()}
    return Description(
        path=fspath(path),
        model=name,
        kernel=next((text for one in reversed(objects) if (text := _kernel(*one))), ""),
        settings={key: word for key, word in found.items() if word is not None},
        learned=tuple(key for key, word in found.items() if word is None),
        classes=tuple(sorted({one for _, about in objects for value in about.values() for one in _classes(value)})),
        objects=len(objects),
        tensors=len(file.header.tensors),
        bytes=file.size,
        version=VERSIONS[-1],
        mercer=_short(record.mercer),
        sha256=file.header.digest,
    )


def _fields(given: Any) -> tuple[str, dict[str, Any]]:
    about = given if isinstance(given, dict) else {}
    if not isinstance(about.get("entry"), str) or not isinstance(about.get("fields"), dict):
        refuse("an entry and fields of every object", f"got {shown(given)}")
    return _short(about["entry"]), about["fields"]


def _word(value: Any) -> str | None:
    """A plain value, or a kernel, as a text; None for others."""
    if value is None or isinstance(value, bool | int | float):
        return str(value)
    if isinstance(value, dict):
        found = value.get("kernel", value.get("float", value.get("value")))
        return None if isinstance(found, dict | list | None) else _short(str(found))
    return _short(repr(value)) if isinstance(value, str) else None


def _kernel(entry: str, fields: dict[str, Any]) -> str:
    value = fields.get("kernel" if entry in RESULTS else "kernel_")
    text = value.get("kernel") if isinstance(value, dict) else ""
    return _short(text) if isinstance(text, str) else ""


def _classes(value: Any) -> Iterator[str]:
    named = value.get("classes") if isinstance(value, dict) and "kernel" in value else None
    return (_short(one) for one in (named if isinstance(named, list) else []) if isinstance(one, str))


def _short(text: str) -> str:
    """A text from a file on one line, cut, with odd letters written out."""
    plain = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text[:MAX_SHOWN_LETTERS])
    return plain if len(text) <= MAX_SHOWN_LETTERS else f"{plain}..."
