"""`mercer show`: an exercise or a worked example of the lectures, answered and drawn."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mercer.cli.exit_codes import Exit, Failure
from mercer.cli.options import Writing, one_of, usage
from mercer.cli.outputs import DRAWING, Writes

if TYPE_CHECKING:
    from mercer.cli.output import Voice
    from mercer.lectures import Example, Exercise

STYLES = ("page", "slide")


@dataclass(frozen=True, kw_only=True)
class ShowOptions(Writing):
    """What `mercer show` takes."""

    what: Annotated[str, typer.Argument(help="ex17, 21, aapl, ...; without it, a list.")] = ""
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Picture: .png, .svg, .pdf, or .html with the text."),
        Writes(DRAWING),
    ] = None
    style: Annotated[str, typer.Option("--style", help="page, or slide: 16 to 9, large letters.")] = "page"
    question: Annotated[bool, typer.Option("--question", help="The question alone, without its answer.")] = False
    mark: Annotated[str, typer.Option("--mark", help="Mark an answer to an exercise, such as BE.")] = ""
    list: Annotated[bool, typer.Option("--list", help="What there is.")] = False


def show(options: ShowOptions, voice: Voice) -> None:
    """Show an exercise or a worked example of the lectures: question, answer, what decides it, and a picture."""
    one_of("--style", options.style, STYLES)
    if options.list or not options.what:
        _list(voice)
        return
    shown = usage("WHAT", _named, options.what)
    record = {"name": options.what, "title": shown.title, "lecture": shown.lecture, "text": str(shown)}
    record |= {} if options.question else {"verdicts": {key: str(each) for key, each in shown.verdicts.items()}}
    text = str(shown)
    if (number := getattr(shown, "number", None)) is not None:
        marked = usage("--mark", shown.mark, options.mark) if options.mark else None
        record |= {"number": number}
        if marked is not None:
            record |= {"mark": {"right": marked.right, "remarks": marked.remarks}}
            text = str(marked)
        elif not options.question:
            record |= {"answer": shown.answer, "stated": shown.stated}
            text = f"{text}\n\n{shown.explanation}"
    elif options.mark or options.question:
        raise Failure(Exit.USAGE, f"--mark and --question need an exercise; {options.what} is a worked example.")
    if options.out is not None:
        from mercer.models.writing import write_whole

        write_whole(options.out, [_file(shown, options.out.suffix.lower().removeprefix("."), options.style)])
        record |= {"picture": str(options.out)}
        voice.say(f"the picture is in {options.out}")
    voice.data(record, text)


def _named(what: str) -> Any:
    """An exercise by its number, or an example by its name."""
    from mercer import lectures

    return lectures.exercise(what) if any(each.isdigit() for each in what) else lectures.example(what)


def _list(voice: Voice) -> None:
    from mercer import lectures

    exercises = {f"ex{number}": title for number, title in lectures.exercises().items()}
    found = {**exercises, **lectures.examples()}
    width = max(map(len, found))
    voice.data({"names": found}, "\n".join(f"{name:{width}}  {title}" for name, title in found.items()))


def _file(shown: Exercise | Example, form: str, style: str) -> bytes:
    """A picture, or a page with the card and the picture."""
    picture = shown.plot(style=style)
    if form != "html":
        return picture.written(form)
    from mercer.cli.report.page import Section, page
    from mercer.html import Markup

    data = b64encode(picture.written("png")).decode()
    image = Markup(f'<img alt="the picture" style="max-width: 100%" src="data:image/png;base64,{data}">')
    sections = [
        Section("text", shown.lecture, "", Markup(shown._repr_html_())),
        Section("picture", "Picture", "", image),
    ]
    return page(shown.title, "", sections).encode()
