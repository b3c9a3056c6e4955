"""The command in this process and in one of its own, and tables for it."""

import json
import os
import subprocess
import sys

import numpy as np
from typer.testing import CliRunner

from mercer.cli.app import app


def run(*words, data=None):
    """What a command gives: `exit_code`, `stdout`, `stderr`."""
    done = CliRunner().invoke(app, [str(word) for word in words], input=data)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def told(*words):
    """The JSON object of a command that ends well."""
    done = run(*words, "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["schema"] == f"mercer.{words[0]}/1"
    return found


def started(*words, **more):
    """A process of its own."""
    command = [sys.executable, "-m", "mercer", *map(str, words)]
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": {**os.environ}}
    return subprocess.Popen(command, **{**piped, **more})


def write_houses(path, count=80, seed=0):
    """A table whose price depends on its columns, with entries that are missing."""
    rng = np.random.default_rng(seed)
    size, town = rng.uniform(50, 200, count), rng.choice(["north", "south", "west"], count)
    price = 2 * size + 100 * (town == "south") + rng.normal(scale=3, size=count)
    shown = ["" if i % 20 == 7 else f"{value:.2f}" for i, value in enumerate(price)]
    lines = [f"{i},{size[i]:.1f},{town[i]},{shown[i]}" for i in range(count)]
    path.write_text("\n".join(["id,size,town,price", *lines]) + "\n")
    return path


def write_rings(path, count=60, seed=0):
    """Two rings of points, in and out."""
    rng = np.random.default_rng(seed)
    angle, ring = rng.uniform(0, 7, count), np.arange(count) % 2
    lines = [
        f"{(1 + 2 * r) * np.cos(a):.4f},{(1 + 2 * r) * np.sin(a):.4f},{'out' if r else 'in'}"
        for a, r in zip(angle, ring, strict=True)
    ]
    path.write_text("\n".join(["x,z,ring", *lines]) + "\n")
    return path
