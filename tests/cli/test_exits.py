"""Every exit code, signals, pipes that close, and what the help costs."""

import json
import logging
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import run, started, write_houses, write_rings
from typer.testing import CliRunner

from mercer.cli.app import app
from mercer.cli.commands import _speaking
from mercer.cli.exit_codes import Exit
from mercer.cli.output import Voice

pytestmark = pytest.mark.slow

VERBS = ("fit", "predict", "score", "transform", "plan", "prove", "lift", "show", "inspect", "doctor", "demo")


@pytest.fixture
def houses(tmp_path):
    return write_houses(tmp_path / "houses.csv")


def test_0_done():
    assert run("prove", "gaussian").exit_code == 0
    assert run("prove", "min", "--domain", "integers").exit_code == 0  # a refutation is an answer


def test_1_what_cannot_be_written(houses, tmp_path):
    done = run("fit", houses, "--target", "price", "--out", "/dev/full")
    assert done.exit_code == 1
    assert "No space left" in done.stderr


USAGE = [
    ((), "Usage|Commands"),
    (("fitt",), "fit"),
    (("fit", "t.csv"), "--target"),
    (("fit", "t.csv", "--target", "a", "--learner", "forest"), "forest"),
    (("fit", "t.csv", "--target", "a", "--time-limit", "soon"), "soon"),
    (("fit", "t.csv", "--target", "a", "--memory-limit", "much"), "much"),
    (("fit", "t.csv", "--target", "a", "--task", "ranking"), "ranking"),
    (("fit", "t.csv", "--target", "a", "--test", "2"), "test"),
    (("fit", "t.csv", "--target", "a", "--out", "/nowhere/model.mercer"), "folder"),
    (("fit", "t.csv", "--target", "a", "--out", "/"), "folder"),
    (("fit", "t.csv", "--target", "a", "--random-state", str(2**32)), "4294967295"),
    (("fit", "t.csv", "--target", "a", "--random-state", str(2**70)), "4294967295"),
    (("fit", "t.csv", "--target", "a", "--random-state", "-1"), "--random-state"),
    (("fit", "HOUSES", "--target", "price", "--kernel", "gausian"), "gausian"),
    (("fit", "HOUSES", "--target", "price", "--learner", "logistic"), "classifies"),
    (("fit", "HOUSES", "--target", "price", "--format", "xlsx"), "xlsx"),
    (("fit", "HOUSES", "--target", "price", "--separator", "::"), "::"),
    (("fit", "HOUSES", "--target", "price", "--encoding", "rot13"), "rot13"),
    (("fit", "HOUSES", "--target", "price", "--encoding", "base64"), "base64"),
    (("fit", "HOUSES", "--target", "price", "--encoding", "punycode"), "punycode"),
    (("fit", "HOUSES", "--target", "price", "--encoding", "zlib"), "zlib"),
    (("fit", "HOUSES", "--target", "price", "--encoding", "utf-16"), "utf-16"),
    (("fit", "HOUSES", "--target", "price", "--encoding", "cp037"), "cp037"),
    (("fit", "HOUSES", "--target", "price", "--encoding", "runes"), "runes"),
    (("fit", "HOUSES", "--target", "price", "--max-bytes", "much"), "much"),
    (("prove", "nothing at all"), "nothing"),
    (("prove", "gaussian", "--domain", "moon"), "moon"),
    (("prove", "gaussian", "--time-limit", "-1"), "time_limit"),
    (("plan", "--rows", "many", "--columns", "3"), "many"),
    (("plan", "--rows", "1.5", "--columns", "3"), "1.5"),
    (("predict", "m.mercer", "t.csv", "--out", "t.xlsx"), "xlsx"),
]


@pytest.mark.parametrize(("words", "said"), USAGE)
def test_2_usage(words, said, houses):
    done = run(*(houses if word == "HOUSES" else word for word in words))
    assert done.exit_code == 2
    assert any(part in done.stderr + done.stdout for part in said.split("|"))


DATA = {
    "no file": ("none.csv", None, "price", "no such file"),
    "no column": ("t.csv", "a,b\n1,2\n", "price", "'price'"),
    "no feature": ("t.csv", "price\n1.5\n2.5\n", "price", "beside the target"),
    "no target": ("t.csv", "a,price\n1,\n2,\n", "price", "missing|no entry"),
    "one value": ("t.csv", "a,price\n1,3\n2,3\n", "price", "different entries"),
    "dates": ("t.csv", "a,price\n1,2020-01-02\n2,2020-01-03\n", "price", "numbers or labels"),
    "labels that do not repeat": ("t.csv", "a,price\n" + "".join(f"{i},w{i}\n" for i in range(30)), "price", "repeat"),
    "infinite": ("t.csv", "a,price\n1,inf\n2,1.5\n3,2.5\n", "price", "infinite"),
    "a constant feature": ("t.csv", "a,price\n" + "".join(f"1,{i / 3}\n" for i in range(30)), "price", "'a'"),
    "numbers too large to square": ("t.csv", "a,price\n1,1.5e300\n2,2e300\n3,2.5e300\n", "price", "squares"),
    "numbers too small to square": ("t.csv", "a,price\n1,1.5e-300\n2,2e-300\n3,2.5e-300\n", "price", "squares"),
    "too many rows": ("t.csv", "a,price\n" + "1,2\n" * 50, "price", "--max-rows"),
}


@pytest.mark.parametrize("case", DATA)
def test_3_bad_data(case, tmp_path):
    name, text, target, said = DATA[case]
    if text is not None:
        (tmp_path / name).write_text(text)
    done = run("fit", tmp_path / name, "--target", target, "--max-rows", 45, "--json")
    assert done.exit_code == 3
    assert any(part in done.stderr for part in said.split("|"))
    error = json.loads(done.stdout)["error"]
    assert error["code"] == 3
    assert error["message"] in done.stderr.replace("\n", " ") or "\n" in error["message"]


def test_4_bad_model_files(houses, tmp_path):
    (tmp_path / "bad.mercer").write_bytes(b"no model at all" * 10)
    for path in (tmp_path / "bad.mercer", tmp_path / "none.mercer"):
        for words in (("predict", path, houses), ("score", path, houses), ("inspect", path)):
            assert run(*words).exit_code == 4
    assert run("transform", houses, "--lift", tmp_path / "bad.mercer").exit_code == 4


def test_4_a_model_that_was_changed(houses, tmp_path):
    path = tmp_path / "model.mercer"
    assert run("fit", houses, "--target", "price", "--out", path).exit_code == 0
    assert run("predict", path, houses).exit_code == 0
    data = bytearray(path.read_bytes())
    data[-9] ^= 1
    path.write_bytes(data)
    assert run("predict", path, houses).exit_code == 4


def test_5_over_the_memory_limit(houses):
    done = run("fit", houses, "--target", "price", "--memory-limit", "1KB")
    assert done.exit_code == 5
    assert "may be used" in done.stderr


def test_6_not_converged_under_strict(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "1,x\n1,y\n2,x\n2,y\n" * 10)
    words = ("fit", tmp_path / "t.csv", "--target", "b", "--learner", "perceptron")
    assert run(*words).exit_code == 0
    assert run(*words, "--strict").exit_code == 6
    assert run("fit", write_rings(tmp_path / "r.csv"), "--target", "ring", "--strict").exit_code == 0


def test_every_code_is_documented_and_no_other():
    page = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text(encoding="utf-8")
    lines = page.split("| exit code | meaning |\n|---|---|\n")[1].split("\n\n")[0].split("\n")
    told = {int(code) for line in lines for code in line.split("|")[1].split(",")}
    assert told == {int(code) for code in Exit}


# -- processes of their own -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals(number, code):
    """The process waits for its standard input, and says so before it is sent the signal."""
    process = started("fit", "-", "--target", "a", stdin=subprocess.PIPE)
    process.stdin.write("a,b\n")
    process.stdin.flush()
    _wait_for_reading(process)
    process.send_signal(number)
    process.stdin.close()
    assert process.wait(60) == code
    said = process.stderr.read()
    assert "Traceback" not in said
    process.stdout.close()
    process.stderr.close()


def _wait_for_reading(process):
    """Until the process sleeps in a read of its standard input."""
    waits = Path(f"/proc/{process.pid}/syscall")
    for _ in range(600):
        if waits.exists() and waits.read_text().startswith("0 0x0 "):
            return
        time.sleep(0.05)
    pytest.skip("this system does not tell what a process waits for")


def test_a_reader_that_has_enough_is_no_failure(houses, tmp_path):
    rows = "size,town\n" + "100,north\n" * 15_000
    (tmp_path / "many.csv").write_text(rows)
    model = tmp_path / "model.mercer"
    assert run("fit", houses, "--target", "price", "--out", model, "--drop", "id", "--kernel", "linear").exit_code == 0
    process = started("predict", model, tmp_path / "many.csv")
    assert process.stdout.readline() == '"price"\n'
    process.stdout.close()
    assert process.wait(60) == 0
    said = process.stderr.read()
    process.stderr.close()
    assert "BrokenPipe" not in said
    assert "Traceback" not in said


# -- help -------------------------------------------------------------------------------------------------------------


def test_help_loads_no_numbers():
    code = (
        "import sys; from typer.testing import CliRunner; from mercer.cli.app import app\n"
        "done = CliRunner().invoke(app, ['--help'])\n"
        "assert done.exit_code == 0 and 'transform' in done.stdout\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "typer" in loaded
    assert loaded.isdisjoint({"numpy", "scipy", "sklearn", "numba", "pyarrow", "matplotlib", "safetensors", "mpmath"})


def test_a_missing_library_is_named():
    code = "import sys; sys.modules['typer'] = None; from mercer.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == 'The command mercer needs typer; it is not installed. Run: pip install "mercer[cli]"\n'


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_an_example(verb):
    done = run(verb, "--help")
    assert done.exit_code == 0
    assert f"mercer {verb}" in done.stdout
    for flag in ("--json", "--quiet", "--verbose", "--random-state", "--config", "--dump-config"):
        assert flag in done.stdout


def test_verbs_are_those_that_are_tested_here():
    assert {command.name for command in app.registered_commands} == set(VERBS)


def test_version():
    import mercer

    assert run("--version").stdout.split() == ["mercer", mercer.__version__]


def test_completion():
    """What a shell asks for is answered with the verbs, and with the options of one."""
    for typed, answer in (("mercer ", "transform"), ("mercer fit --lear", "--learner")):
        words = {"_MERCER_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
        done = CliRunner(env=words).invoke(app, [], prog_name="mercer")
        assert answer in done.stdout.split()


def test_no_color(monkeypatch, tmp_path):
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = run("fit", tmp_path / "none.csv", "--target", "a").stderr
    monkeypatch.delenv("FORCE_COLOR")
    monkeypatch.setenv("NO_COLOR", "1")
    plain = run("fit", tmp_path / "none.csv", "--target", "a").stderr
    assert "\x1b[31m" in coloured
    assert "\x1b" not in plain


def test_remarks_of_the_library_are_said_once(monkeypatch):
    def remarking():
        for _ in range(3):
            logging.getLogger("mercer.compute").warning("it compiles in %s", "a folder")

    loud, quiet = [], []
    for heard, voice in ((loud, Voice("prove")), (quiet, Voice("prove", quiet=True))):
        monkeypatch.setattr("mercer.cli.output._print", lambda text, heard=heard, **_: heard.append(text))
        with _speaking(voice):
            remarking()
    assert (loud, quiet) == (["it compiles in a folder"], [])
    assert not logging.getLogger("mercer").handlers
