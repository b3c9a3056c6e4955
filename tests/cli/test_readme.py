"""The README shows what the command says."""

import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from command import run

README = Path(__file__).resolve().parents[2] / "README.md"


@pytest.mark.slow
def test_the_readme_shows_the_real_output(tmp_path):
    """Words to the letter; figures within two percent, since other machines round otherwise."""
    shown = README.read_text().partition("$ mercer fit co2_weekly.csv")[2].partition("$ mercer predict")[0]
    table = files("mercer.cli") / "data" / "co2_weekly.csv"
    done = run("fit", table, "--target", "co2", "--out", tmp_path / "co2.mercer")
    said = (done.stderr + done.stdout).splitlines()
    for line in shown.splitlines()[1:]:
        if line.strip() != "...":
            assert any(alike(line, real) for real in said), line


def alike(shown, real):
    shown, real = (re.sub(r"\d+\.\d+ (s|MiB|KiB) ", "", line) for line in (shown, real))  # the plan's machine
    if shown.endswith("..."):
        shown, real = shown[:-3], real[: len(shown) - 3]
    number = r"-?\d[\d.,]*(?:e-?\d+)?"
    if re.sub(number, "#", shown).split() != re.sub(number, "#", real).split():
        return False
    pairs = zip(re.findall(number, shown), re.findall(number, real), strict=True)
    return all(
        np.isclose(float(a.strip(".,").replace(",", "")), float(b.strip(".,").replace(",", "")), rtol=0.02)
        for a, b in pairs
    )
