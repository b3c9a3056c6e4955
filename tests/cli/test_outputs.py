"""Outputs: none replaces an input, another output, or what Mercer did not write; all is found before any work."""

import os
import resource
import stat
import subprocess
import sys
import threading
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import pytest
from command import run, write_houses

import mercer
from mercer.cli.app import app
from mercer.cli.outputs import Reads, Writes, marked
from mercer.sources import replacing

LINEAR = ("--target", "price", "--drop", "id", "--drop", "town", "--kernel", "linear", "--quiet")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a table, a model, a lift and a report."""
    folder = tmp_path_factory.mktemp("made")
    table = write_houses(folder / "t.csv", 40)
    done = run("fit", table, *LINEAR, "--out", folder / "m.mercer", "--report", folder / "r.html")
    assert done.exit_code == 0, done.stderr
    words = ("transform", table, "--drop", "price", "--drop", "town", "--kernel", "linear", "-d", "2")
    assert run(*words, "--save", folder / "l.mercer", "--out", folder / "f.csv").exit_code == 0
    return folder


@pytest.fixture
def here(made, tmp_path, monkeypatch):
    """Copies of these files, as the working folder."""
    for path in made.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "run.toml").write_text("[fit]\nrandom_state = 1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def idle(monkeypatch):
    """No verb gets to its work."""

    def worked(*_, **__):
        raise AssertionError("work began before outputs were checked")

    for name in ("tables.read.read_table", "cli.pipeline.read_table", "cli.models.load_model"):
        monkeypatch.setattr(f"mercer.{name}", worked)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


FIT, TRANSFORM = ("fit", "t.csv", *LINEAR), ("transform", "t.csv", "--kernel", "linear")
ITSELF = [
    (*FIT, "--out", "t.csv"),
    (*FIT, "--out", "./sub/../t.csv"),
    (*FIT, "--report", "t.csv"),
    (*FIT, "--out", "link"),
    (*FIT, "--out", "hard"),
    (*FIT, "--config", "run.toml", "--out", "run.toml"),
    (*FIT, "--out", "same", "--report", "same"),
    (*FIT, "--out", "same", "--report", "sub/../same"),
    (*FIT, "--out", "m.mercer", "--report", "second"),
    ("predict", "m.mercer", "t.csv", "--out", "t.csv"),
    ("predict", "m.mercer", "t.csv", "--out", "hard.csv"),
    ("predict", "m.csv", "t.csv", "--out", "m.csv"),
    (*TRANSFORM, "--out", "t.csv"),
    (*TRANSFORM, "--save", "t.csv"),
    (*TRANSFORM, "--save", "x.csv", "--out", "x.csv"),
    ("transform", "t.csv", "--lift", "l.csv", "--out", "l.csv"),
]


@pytest.mark.parametrize("words", ITSELF, ids=" ".join)
def test_an_output_that_is_an_input_or_another_output_is_refused(words, here, idle):
    (here / "sub").mkdir()
    (here / "link").symlink_to("t.csv")
    (here / "second").symlink_to("m.mercer")
    os.link("t.csv", "hard")
    os.link("t.csv", "hard.csv")
    (here / "m.csv").write_bytes((here / "m.mercer").read_bytes())
    (here / "l.csv").write_bytes((here / "l.mercer").read_bytes())
    before = contents(here)
    for more in ((), ("--force",)):
        done = run(*words, *more)
        assert done.exit_code == 2, done.stderr
        assert "name" in done.stderr
        assert contents(here) == before


def test_a_config_may_not_name_its_table_as_an_output(here, idle):
    (here / "run.toml").write_text('[fit]\ntarget = "price"\nout = "t.csv"\nforce = true\n')
    done = run("fit", "t.csv", "--config", "run.toml")
    assert (done.exit_code, "is the input t.csv" in done.stderr) == (2, True)


FOREIGN = [
    ((*FIT, "--out", "notes.txt"), "as a model"),
    ((*FIT, "--out", "r.html"), "as a model"),
    ((*FIT, "--report", "notes.txt"), "as a report"),
    ((*FIT, "--report", "m.mercer"), "as a report"),
    ((*FIT, "--report", "to_notes"), "as a report"),
    (("predict", "m.mercer", "t.csv", "--out", "f.csv"), "is there already"),
    ((*TRANSFORM, "--save", "notes.txt"), "as a model"),
    (("demo", "--out", "shown"), "as a picture"),
]


@pytest.mark.parametrize(("words", "said"), FOREIGN, ids=lambda value: " ".join(value))
def test_what_mercer_did_not_write_is_replaced_with_force_only(words, said, here, idle):
    (here / "notes.txt").write_text("dear diary")
    (here / "to_notes").symlink_to("notes.txt")
    (here / "shown").mkdir()
    (here / "shown" / "co2.png").write_bytes(b"\x89PNG\r\n of somebody")
    before = contents(here)
    done = run(*words)
    assert (done.exit_code, said in done.stderr, "--force" in done.stderr) == (2, True, True)
    assert contents(here) == before


def test_what_mercer_wrote_is_replaced_and_with_force_all(here):
    (here / "old.html").write_text("of somebody")
    (here / "latest").symlink_to("m.mercer")
    assert run(*FIT, "--out", "latest", "--report", "r.html").exit_code == 0
    assert (here / "latest").is_symlink()
    assert run(*FIT, "--report", "old.html", "--force").exit_code == 0
    assert (here / "old.html").read_bytes().startswith(b"<!DOCTYPE html>")
    assert run("predict", "latest", "t.csv", "--out", "f.csv", "--force").exit_code == 0
    assert (here / "f.csv").read_text().startswith('"price"')
    assert not list(here.glob(f"*{replacing.DRAFT}"))


NO_PLACE = [
    ((*FIT, "--out", "sub"), 2, "is a folder"),
    ((*FIT, "--report", "none/r.html"), 2, "needs a folder that exists"),
    ((*FIT, "--out", "t.csv/m"), 2, "needs a folder that exists"),
    ((*FIT, "--out", "x" * 300), 1, "too long"),
    (("predict", "m.mercer", "t.csv", "--out", "a\0b.csv"), 2, "zero"),
    ((*FIT, "--out", "nowhere"), 2, "leads nowhere"),
    ((*FIT, "--out", "-"), 2, "standard output"),
    ((*FIT, "--report", "/dev/stdout"), 2, "standard output"),
    ((*FIT, "--out", "/dev/full"), 1, "No space left"),
    (("demo", "--out", "t.csv"), 2, "needs a folder"),
    (("demo", "--out", "t.csv/in/it"), 2, "needs a folder"),
]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    NO_PLACE,
    ids=lambda value: " ".join(value)[:60] if isinstance(value, tuple) else str(value),
)
def test_places_that_cannot_be_written_are_found_before_the_work(words, code, said, here, idle):
    (here / "sub").mkdir()
    (here / "nowhere").symlink_to("none/at/all")
    before = contents(here)
    done = run(*words, "--force")
    assert (done.exit_code, said in done.stderr) == (code, True), done.stderr
    assert contents(here) == before


def test_a_right_to_write_is_looked_for_before_the_work(here, idle, monkeypatch):
    monkeypatch.setattr("os.access", lambda place, right: False)  # root may do everything
    done = run(*FIT, "--out", "new.mercer")
    assert (done.exit_code, "may be written to" in done.stderr) == (1, True)


def test_a_folder_without_room_is_found_before_the_work(here, idle):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))  # as a quota does
    try:
        done = run(*FIT, "--out", "new.mercer")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (done.exit_code, "cannot be written" in done.stderr) == (1, True)
    assert not list(here.glob(f".*{replacing.DRAFT}"))


# -- devices and pipes ------------------------------------------------------------------------------------------------


def test_devices_are_written_to_and_stay(here):
    assert run(*FIT, "--out", "/dev/null", "--report", "/dev/null").exit_code == 0
    assert run("predict", "m.mercer", "t.csv", "--out", "/dev/null").exit_code == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.parametrize("ending", ["", ".npy", ".parquet"])
def test_pipes_are_written_to_and_stay(ending, here):
    pipe, heard = here / f"pipe{ending}", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: heard.append(pipe.read_bytes()))
    reader.start()
    try:
        done = run("predict", "m.mercer", "t.csv", "--out", pipe)
        assert done.exit_code == 0, done.stderr
        assert stat.S_ISFIFO(pipe.stat().st_mode)
    finally:
        os.close(os.open(pipe, os.O_RDWR | os.O_NONBLOCK))  # a reader that got nothing ends, too
        reader.join(60)
    assert heard[0].startswith({"": b'"price"\n', ".npy": b"\x93NUMPY", ".parquet": b"PAR1"}[ending])


def test_a_saved_model_does_not_replace_a_pipe(here):
    from mercer import load, save

    os.mkfifo("pipe")
    reader = threading.Thread(target=lambda: Path("copy").write_bytes(Path("pipe").read_bytes()))
    reader.start()
    save(load("m.mercer"), "pipe")
    reader.join(60)
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)
    assert Path("copy").read_bytes() == Path("m.mercer").read_bytes()


def test_standard_output_by_name(here):
    plain = run("predict", "m.mercer", "t.csv")
    assert run("predict", "m.mercer", "t.csv", "--out", "/dev/stdout").stdout == plain.stdout


# -- streams of a process ---------------------------------------------------------------------------------------------


def shell(line):
    here = {**os.environ, "PYTHONPATH": str(Path(mercer.__file__).parent.parent)}
    line = f'"{sys.executable}" -m mercer {line}'
    return subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, env=here, check=False)


STREAMS = [
    ("predict m.mercer - <&-", 3, "it is closed"),
    ("predict m.mercer t.csv >&-", 1, "standard output is closed"),
    ("prove nothing 2>&-", 2, ""),
    ("predict m.mercer t.csv >> t.csv", 2, "is the input"),
]


@pytest.mark.parametrize(("line", "code", "said"), STREAMS)
def test_streams_that_are_closed_or_are_files(line, code, said, here):
    before = contents(here)
    done = shell(line)
    assert (done.returncode, said in done.stderr, "Traceback" in done.stderr) == (code, True, False), done.stderr
    assert contents(here) == before


# -- every verb -------------------------------------------------------------------------------------------------------


def test_every_option_that_is_a_path_says_what_it_names():
    for command in app.registered_commands:
        record = command.callback.__globals__ and next(
            cell.cell_contents for cell in command.callback.__closure__ if isinstance(cell.cell_contents, type)
        )
        names, hints = dict(marked(record)), get_type_hints(record)
        for field in fields(record):
            is_file = "Path" in str(hints[field.name]) or field.name in ("table", "out")
            assert (field.name in names) == is_file, (record, field.name)
        if any(isinstance(mark, Writes) for mark in names.values()):
            assert "force" in {field.name for field in fields(record)}
        assert all(isinstance(mark, Reads | Writes) for mark in names.values())
