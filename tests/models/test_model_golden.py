"""Files of every version: those that can be read say what they said, and others say who reads them.

`expected.json` holds what the models said before they were saved, and on which machine. There they say the same to the
bit; another machine may round otherwise.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from models.forge import taken_apart
from models.golden_rows import answers, machine, rows_of

from mercer.errors import ModelFileError
from mercer.models import inspect, load, save
from mercer.models.safetensors import OLD, VERSIONS

GOLDEN = Path(__file__).parent / "golden"
EXPECTED = {version: json.loads((GOLDEN / version / "expected.json").read_text()) for version in VERSIONS}
FILES = [(version, name) for version, about in EXPECTED.items() for name in about["models"]]


def test_no_version_and_no_file_is_forgotten():
    assert sorted(folder.name for folder in GOLDEN.iterdir()) == sorted((*OLD, *VERSIONS))
    kept = [path for path in GOLDEN.glob("*/*.mercer") if path.parent.name in VERSIONS]
    assert sorted(FILES) == sorted((path.parent.name, path.stem) for path in kept)


@pytest.mark.parametrize("version", OLD)
@pytest.mark.parametrize("read", [load, inspect])
def test_files_of_old_versions_say_who_reads_them(version, read):
    (path,) = (GOLDEN / version).glob("*.mercer")
    told = f"it is of version '{version}'. {OLD[version]} reads it: predict with that, or fit the model again"
    with pytest.raises(ModelFileError, match=re.escape(told)):
        read(path)


@pytest.mark.parametrize(("version", "name"), FILES)
def test_golden_files_say_what_they_said(version, name):
    path, about = GOLDEN / version / f"{name}.mercer", EXPECTED[version]["models"][name]
    model = load(path)
    assert inspect(path).model == type(model).__name__
    found = answers(model, rows_of(about))
    assert found.keys() == about["answers"].keys()
    for method, value in about["answers"].items():
        _compare(found[method], value, machine() == EXPECTED[version]["machine"])


def _compare(found, expected, here):
    found, expected = np.array(found), np.array(expected)
    if here or found.dtype.kind not in "fc":
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", EXPECTED[VERSIONS[-1]]["models"])
def test_files_of_the_present_version_are_written_as_they_were(name, tmp_path):
    """What is loaded and saved is the same file, but for the version of Mercer; fields may have come since."""
    path, again = GOLDEN / VERSIONS[-1] / f"{name}.mercer", tmp_path / "again.mercer"
    save(load(path), again)
    (old, tensors), (new, others) = (taken_apart(one.read_bytes()) for one in (path, again))
    assert tensors == others
    for before, after in zip(old["objects"], new["objects"], strict=True):
        assert before["entry"] == after["entry"]
        assert before["fields"] == {field: after["fields"].get(field) for field in before["fields"]}
