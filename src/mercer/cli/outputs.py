"""Which files a verb reads and which it writes, looked at before any work: no output takes the place of an input.

A field of a record of options says what it names: `Annotated[Path, typer.Option(...), Writes(MODEL)]`. An output that
is an input or another output, by path, link or inode, is refused, with or without --force. A link is followed; one that
leads nowhere is refused. Devices and pipes are written to. A regular file is replaced if Mercer wrote one of this kind,
or with --force. What cannot be written (a folder, no folder, no right, no space) is found here, and not after a fit.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_type_hints

from mercer.cli.exit_codes import Exit, Failure

STANDARD = "-"
STDOUT = (STANDARD, "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
"""Names of standard output."""
HEAD_BYTES = 4096
"""Bytes of a file by which it is known."""
_MODEL = re.compile(rb'.{8}\{"__metadata__":\{"sha256":"[0-9a-f]{64}","format":"mercer model"', re.DOTALL)
_REPORT = re.compile(rb'<!DOCTYPE html>\s*<html lang="en"><head>.*<meta name="generator" content="mercer">', re.DOTALL)
_PICTURE = re.compile(rb"\x89PNG\r\n.*Software\x00mercer", re.DOTALL)

_DRAWING = re.compile(_PICTURE.pattern + rb"|.*<svg.*<dc:title>mercer</dc:title>|" + _REPORT.pattern, re.DOTALL)


@dataclass(frozen=True)
class Kind:
    """What an output holds.

    name : for messages
    known : how a file of this kind begins that Mercer wrote; None where that cannot be seen
    endings : that its name may have; () for any
    streams : whether it may be standard output
    """

    name: str
    known: re.Pattern[bytes] | None = None
    endings: tuple[str, ...] = ()
    streams: bool = False


MODEL = Kind("a model", _MODEL)
REPORT = Kind("a report", _REPORT)
PICTURE = Kind("a picture", _PICTURE)
DRAWING = Kind("a picture", _DRAWING, (".png", ".svg", ".pdf", ".html"))
TABLE = Kind("a table", endings=(".csv", ".parquet", ".arrow", ".feather", ".npy"), streams=True)


@dataclass(frozen=True)
class Reads:
    """An option that names an input: a path, or - for standard input."""


@dataclass(frozen=True)
class Writes:
    """An option that names an output of a kind; with `inside`, a folder for files of these names and kinds."""

    kind: Kind | None = None
    inside: tuple[tuple[str, Kind], ...] = ()


@dataclass(frozen=True)
class _Named:
    """A path that was given, and the option that gave it."""

    option: str
    path: Path

    def ids(self) -> set[object]:
        """What tells that two paths are one file: the path without links, and the inode where there is one."""
        found: set[object] = {os.path.normcase(os.path.realpath(self.path))}
        about = _stat(self.path)
        return found if about is None else found | {(about.st_dev, about.st_ino)}


def check_files(options: Any) -> None:
    """Refuse, before any work, outputs of a verb that would destroy something or cannot be written."""
    outputs = list(_outputs(options))
    taken = [(f"the input {named.path}", named.ids()) for named in _inputs(options)]
    for number, name in ((1, "standard output"), (2, "standard error")):
        ids = _redirected(number)
        for use, others in taken:
            if ids & others and number == 1:
                raise Failure(Exit.USAGE, f"{name} is {use}. Write to another file.")
        taken.append((name, ids))
    for named, kind in outputs:
        _check_name(named, kind)
        ids = named.ids()
        if not _is_stream(named.path):
            for use, others in taken:
                if ids & others:
                    raise Failure(Exit.USAGE, f"{named.option} {named.path} is {use}. Give another name.")
        taken.append((f"also {named.option}", ids))
    for named, kind in outputs:
        _check_replaced(named, kind, bool(options.force))
        _check_writable(named)


def is_stdout(out: str | Path) -> bool:
    """Whether a name means standard output."""
    return str(out) in STDOUT


# -- what was given ---------------------------------------------------------------------------------------------------


def marked(record: type[Any]) -> Iterator[tuple[str, Reads | Writes]]:
    """The fields of a record that name files, and what they are."""
    hints = get_type_hints(record, include_extras=True)
    for field in fields(record):
        for mark in getattr(hints[field.name], "__metadata__", ()):
            if isinstance(mark, Reads | Writes):
                yield field.name, mark


def _inputs(options: Any) -> Iterator[_Named]:
    for name, mark in marked(type(options)):
        given = getattr(options, name)
        if isinstance(mark, Reads) and given is not None:
            yield _Named(name, Path("/dev/stdin" if str(given) == STANDARD else given))


def _outputs(options: Any) -> Iterator[tuple[_Named, Kind]]:
    for name, mark in marked(type(options)):
        given = getattr(options, name)
        if given is None or not isinstance(mark, Writes):
            continue
        flag = "--" + name.replace("_", "-")
        if mark.kind is None:
            _check_folder(_Named(flag, Path(given)))
            if Path(given).is_dir():  # one that is made later has nothing in it
                yield from ((_Named(flag, Path(given) / inner), kind) for inner, kind in mark.inside)
        elif not is_stdout(given):
            yield _Named(flag, Path(given)), mark.kind
        elif not mark.kind.streams:
            remedy = f"Give the name of a file; ./{STANDARD} is one called {STANDARD}."
            raise Failure(Exit.USAGE, f"{flag}: {mark.kind.name} needs a file; standard output has the text. {remedy}")


def _redirected(number: int) -> set[object]:
    """The file that a descriptor of this process writes to, if it is a regular one."""
    try:
        about = os.fstat(number)
    except OSError:
        return set()
    return {(about.st_dev, about.st_ino)} if stat.S_ISREG(about.st_mode) else set()


# -- what stands there ------------------------------------------------------------------------------------------------


def _stat(path: Path) -> os.stat_result | None:
    """Of a file or where its link leads; None where nothing is, or where the path is none."""
    try:
        return os.stat(path)
    except (OSError, ValueError):  # a ValueError: a zero in a name
        return None


def _is_stream(path: Path) -> bool:
    about = _stat(path)
    return about is not None and not stat.S_ISREG(about.st_mode) and not stat.S_ISDIR(about.st_mode)


def _check_name(named: _Named, kind: Kind) -> None:
    path = named.path
    if "\0" in str(path):
        raise Failure(Exit.USAGE, f"{named.option} needs the name of a file; {str(path)!r} has a zero in it.")
    if kind.endings and path.suffix.lower() not in kind.endings and not _is_stream(path):
        raise Failure(
            Exit.USAGE, f"{named.option} needs a name that ends with {', '.join(kind.endings)}; got {path.name!r}."
        )
    if path.is_dir():
        raise Failure(Exit.USAGE, f"{named.option} needs the name of a file; {path} is a folder.")
    if path.is_symlink() and not path.exists():
        raise Failure(
            Exit.USAGE, f"{named.option} {path} is a link that leads nowhere. Remove it, or give another name."
        )
    if not _is_stream(path) and not Path(os.path.realpath(path)).parent.is_dir():
        raise Failure(Exit.USAGE, f"{named.option} needs a folder that exists; {path.parent} does not.")


def _check_folder(named: _Named) -> None:
    """A folder that is there, or that can be made."""
    above = next(path for path in (named.path, *named.path.absolute().parents) if os.path.lexists(path))
    if not above.is_dir():
        raise Failure(Exit.USAGE, f"{named.option} needs a folder; {above} is none.")
    if not os.access(above, os.W_OK):
        raise Failure(Exit.FAILURE, f"{named.option}: {above} may not be written to. Give another folder.")


def _check_replaced(named: _Named, kind: Kind, force: bool) -> None:
    """Keep what Mercer did not write, or wrote as something else."""
    about = _stat(named.path)
    if about is None or force or not stat.S_ISREG(about.st_mode) or _known(named.path, kind):
        return
    why = f"is no file that Mercer wrote as {kind.name}" if kind.known else "is there already"
    raise Failure(Exit.USAGE, f"{named.option} {named.path} {why}. Give --force to replace it, or another name.")


def _known(path: Path, kind: Kind) -> bool:
    if kind.known is None:
        return False
    try:
        with path.open("rb") as stream:
            return kind.known.match(stream.read(HEAD_BYTES)) is not None
    except OSError:  # what cannot be read is not known
        return False


def _check_writable(named: _Named) -> None:
    """Try it, beside the file."""
    from mercer.sources.replacing import probe_place

    try:
        probe_place(named.path)
    except OSError as error:
        raise Failure(Exit.FAILURE, f"{named.option} {named.path} cannot be written: {error.strerror}.") from error
