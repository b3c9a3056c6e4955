"""Checkpoints: what is kept comes back bit for bit; what is damaged, foreign or of another fit is refused."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from mercer.errors import InputError, MercerWarning, speaking
from mercer.learners.run.checkpoint import (
    LATEST_SECONDS,
    MAX_PROMPT_SECONDS,
    MAX_WRITING_SHARE,
    MIN_INTERVAL_SECONDS,
    Store,
)

PARTS = {"version": "1", "settings": "abc", "data": "def"}


@pytest.fixture(autouse=True)
def _learner():
    """The learner that is fitted."""
    with speaking("KernelRidge"):
        yield


class Clock:
    """Seconds that pass when a test says so, and while a store writes."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fit.npz"


def store(path, clock, **parts):
    return Store("KernelRidge", path, lambda: {**PARTS, **parts}, clock)


def kept(path, clock, **states):
    """A file with states, and notes."""
    found = store(path, clock)
    found.recall("seed", lambda: 2**100 + 1)
    found.recall("plan", lambda: {"way": "one pass", "rank": 3, "seconds": 0.1})
    for key, state in states.items():
        found.offer(key, lambda state=state: state, now_or_never=True)
    return found


STATE = {
    "x": np.array([1.0, np.nan, np.inf, -0.0, 5e-324]),
    "k": np.array(7),
    "f": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "single": np.arange(3, dtype=np.float32),
    "empty": np.empty((0, 4)),
}


def test_what_is_kept_comes_back_bit_for_bit(path, clock):
    kept(path, clock, iterations=STATE)
    found = store(path, clock)
    back = found.saved("iterations")
    assert back.keys() == STATE.keys()
    for name, array in STATE.items():
        assert back[name].dtype == array.dtype
        assert back[name].shape == array.shape
        assert back[name].tobytes() == array.tobytes()
    assert found.saved("other") is None
    assert found.recall("seed", lambda: 1) == 2**100 + 1
    assert found.recall("plan", dict) == {"way": "one pass", "rank": 3, "seconds": 0.1}
    assert found.recall("new", lambda: "made") == "made"


def test_states_of_other_keys_stay_and_an_own_one_is_not_given_back(path, clock):
    first = kept(path, clock, search={"a": np.arange(3.0)}, solve={"x": np.zeros(2)}, solve2={"x": np.ones(2)})
    assert first.saved("search") is None  # of this run, not of an earlier one
    second = store(path, clock)
    second.offer("solve", lambda: {"x": np.full(2, 5.0), "y": np.ones(1)}, now_or_never=True)
    assert second.saved("solve") is None
    assert second.saved("search")["a"].tolist() == [0.0, 1.0, 2.0]
    third = store(path, clock)
    assert {name: value.tolist() for name, value in third.saved("solve").items()} == {"x": [5.0, 5.0], "y": [1.0]}
    assert third.saved("solve2")["x"].tolist() == [1.0, 1.0]
    third.offer("solve2/inner", lambda: {"z": np.zeros(1)}, now_or_never=True)
    assert store(path, clock).saved("solve2").keys() == {"x"}
    assert third.saved("search")["a"].tolist() == [0.0, 1.0, 2.0]


def test_numpy_reads_it_without_pickle(path, clock):
    kept(path, clock, solve={"x": np.arange(3.0)})
    with np.load(path, allow_pickle=False) as file:
        assert file["solve/x"].tolist() == [0.0, 1.0, 2.0]
        assert json.loads(file["mercer"].tobytes())["fingerprint"] == PARTS


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"data": "other"}, "other data"),
        ({"settings": "other"}, "other settings"),
        ({"version": "2"}, "another version"),
        ({"data": "other", "settings": "other"}, "other settings and other data"),
    ],
)
def test_another_fit_is_refused_and_the_file_stays(path, clock, changes, words):
    kept(path, clock, solve=STATE)
    before = path.read_bytes()
    with pytest.raises(InputError, match=f"was written for {words}. Remove the file to start anew"):
        store(path, clock, **changes)
    assert path.read_bytes() == before


def test_any_cut_of_a_file_is_refused(path, clock):
    kept(path, clock, solve={"x": np.arange(20.0)})
    whole = path.read_bytes()
    for length in [*range(0, len(whole), 97), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match="KernelRidge needs a checkpoint of Mercer in"):
            store(path, clock)
        assert path.read_bytes() == whole[:length]


def test_a_changed_number_is_refused(path, clock):
    kept(path, clock, solve={"x": np.arange(2000.0)})
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2] ^= 1
    path.write_bytes(whole)
    with pytest.raises(InputError, match="damaged"):
        store(path, clock)


class Trap:
    def __reduce__(self):
        return exec, ("raise AssertionError('it was unpickled')",)


def foreign_text(path):
    path.write_text("my thesis")


def foreign_arrays(path):
    np.savez(path, x=np.arange(3))


def foreign_pickle(path):
    np.savez(path, mercer=np.array([Trap()], dtype=object))


def foreign_header(path):
    np.savez(path, mercer=np.frombuffer(b"[1, 2]", np.uint8))


def foreign_zip(path):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("mercer.npy", "nothing")


@pytest.mark.parametrize("foreign", [foreign_text, foreign_arrays, foreign_pickle, foreign_header, foreign_zip])
def test_foreign_files_are_refused_and_stay(path, clock, foreign):
    foreign(path)
    before = path.read_bytes()
    with pytest.raises(InputError, match="Remove the file, or choose another path"):
        store(path, clock)
    assert path.read_bytes() == before


def test_objects_are_never_written(path, clock):
    with pytest.raises(ValueError, match="Object arrays"):
        kept(path, clock, solve={"x": np.array([Trap()], dtype=object)})
    assert list(path.parent.iterdir()) == []


def test_a_finished_fit_leaves_nothing(path, clock):
    found = kept(path, clock, solve=STATE)
    assert [file.name for file in path.parent.iterdir()] == ["fit.npz"]
    found.finish()
    assert list(path.parent.iterdir()) == []
    store(path, clock).finish()  # nothing was written


def test_the_draft_of_a_killed_process_is_removed(path, clock):
    path.with_name("fit.npz.abc.mercer-draft").write_bytes(b"half")
    path.with_name("other.npz.abc.mercer-draft").write_bytes(b"of another fit")
    path.with_name("fit.npz.folder.mercer-draft").mkdir()
    store(path, clock)
    assert {file.name for file in path.parent.iterdir()} == {
        "other.npz.abc.mercer-draft",
        "fit.npz.folder.mercer-draft",
    }


@pytest.mark.skipif(sys.platform == "win32", reason="links and permissions of POSIX")
def test_a_draft_follows_no_link_and_is_for_its_owner_alone(path, clock, monkeypatch):
    victim = path.with_name("victim")
    victim.write_bytes(b"precious")
    found = store(path, clock)
    path.with_name("fit.npz.mercer-draft").symlink_to(victim)  # a name that can be foreseen
    monkeypatch.setattr("tempfile._get_candidate_names", lambda: iter(["taken", "free"]))
    path.with_name("fit.npz.taken.mercer-draft").symlink_to(victim)  # one that was guessed
    found.offer("solve", lambda: STATE, now_or_never=True)
    assert victim.read_bytes() == b"precious"
    assert path.stat().st_mode & 0o777 == 0o600
    assert store(path, clock).saved("solve")["k"] == 7


def test_a_checkpoint_that_cannot_be_removed_does_not_end_the_fit(path, clock, monkeypatch):
    found = kept(path, clock, solve=STATE)

    def stuck(*_, **__):
        raise PermissionError("read-only")

    monkeypatch.setattr("pathlib.Path.unlink", stuck)
    with pytest.warns(MercerWarning, match="is done, but could not remove .* read-only"):
        found.finish()


FULL = """
import resource, signal, sys, warnings
from pathlib import Path
import numpy as np
from mercer.learners.run.checkpoint import Store

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = Path(sys.argv[1])
store = Store("KernelRidge", path, lambda: {"version": "1", "settings": "abc", "data": "def"})
store.offer("other", lambda: {"x": np.arange(300.0)}, now_or_never=True)
store.offer("solve", lambda: {"x": np.zeros(3)}, now_or_never=True)
before = path.read_bytes()
for limit in range(0, 12_000, 97):  # it ends in headers, arrays, what is copied, the directory
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        store.offer("solve", lambda: {"x": np.ones(1200), "y": np.ones(3)}, now_or_never=True)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert ["could not write" in str(one.message) for one in told] == [True]
    assert path.read_bytes() == before and list(path.parent.iterdir()) == [path]
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_a_disk_that_is_full_at_any_byte_leaves_the_file_before(path):
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_checkpoint_that_was_damaged_meanwhile_does_not_end_the_fit(path, clock):
    found = kept(path, clock, solve=STATE)
    path.write_bytes(b"no archive")
    with pytest.warns(MercerWarning, match="goes on, but could not write"):
        found.offer("other", lambda: STATE, now_or_never=True)
    assert list(path.parent.iterdir()) == [path]


def test_a_failed_write_is_told_and_leaves_the_file_before(path, clock, monkeypatch):
    found = kept(path, clock, solve={"x": np.zeros(3)})
    before = path.read_bytes()

    def full(*_):
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr("mercer.learners.run.checkpoint.os.fsync", full)
        with pytest.warns(MercerWarning, match="goes on, but could not write .* no space left"):
            found.offer("solve", lambda: {"x": np.ones(3)}, now_or_never=True)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["fit.npz"]
    found.offer("solve", lambda: {"x": np.ones(3)}, now_or_never=True)
    assert store(path, clock).saved("solve")["x"].tolist() == [1.0, 1.0, 1.0]


def test_an_interrupted_write_leaves_the_file_before(path, clock, monkeypatch):
    found = kept(path, clock, solve={"x": np.zeros(3)})
    before = path.read_bytes()

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("mercer.learners.run.checkpoint.os.fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        found.offer("solve", lambda: {"x": np.ones(3)}, now_or_never=True)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["fit.npz"]


class Slow(Store):
    """A store whose writes take as long as a test says, on the clock of the test."""

    takes = 0.0

    def _write(self, key, arrays, header):
        self._clock.now += self.takes
        self.writes.append(self._clock.now)


def offered(path, clock, takes, seconds, size):
    """When a state of so many bytes, offered ten times a second, is written."""
    found = Slow("KernelRidge", path, lambda: PARTS, clock)
    found.takes, found.writes = takes, []
    state = {"x": np.broadcast_to(np.uint8(0), size)}
    while clock.now < seconds:
        clock.now += 0.1
        found.offer("solve", lambda: state)
    return found.writes


def test_small_states_are_written_every_interval(path, clock):
    writes = offered(path, clock, takes=0.01, seconds=300, size=1000)
    assert writes[0] == pytest.approx(MIN_INTERVAL_SECONDS, abs=0.2)
    assert np.allclose(np.diff(writes), MIN_INTERVAL_SECONDS, atol=0.2)


def test_larger_states_take_no_more_than_their_share_but_are_never_late(path, clock):
    writes = offered(path, clock, takes=0.3, seconds=1000, size=60_000_000)
    assert max(np.diff([0.0, *writes])) <= LATEST_SECONDS + 0.5
    assert 0.3 * len(writes) <= 1000 * 0.02
    writes = offered(path, clock, takes=0.98 * MAX_PROMPT_SECONDS, seconds=2000, size=100_000_000)
    assert max(np.diff([1000.0, *writes])) <= LATEST_SECONDS + 1.0


def test_huge_states_wait_for_their_share(path, clock):
    writes = offered(path, clock, takes=4.0, seconds=3000, size=2_000_000_000)
    assert writes
    assert all(4.0 * (count + 1) <= MAX_WRITING_SHARE * when * 1.02 for count, when in enumerate(writes))


def test_a_state_that_is_not_due_is_not_asked_for(path, clock):
    def never():
        raise AssertionError

    store(path, clock).offer("solve", never)
    assert not path.exists()


# -- a process that is killed -----------------------------------------------------------------------------------------

STEPS = 40
CHILD = f"""
import secrets, sys
from pathlib import Path
import numpy as np
from mercer.learners.run import checkpoint
from mercer.learners.run.fit_run import Terms, watched

checkpoint.MIN_INTERVAL_SECONDS, checkpoint.MAX_WRITING_SHARE = 0.0, 1e9  # at every offer
folder = Path(sys.argv[1])
with watched("Child", None, Terms.of(None, "raise", False, folder / "fit.npz")) as run:
    run.resume(lambda: {PARTS!r})
    seed = run.recall("seed", lambda: secrets.randbits(100))
    matrix = np.random.default_rng(seed).normal(size=(200, 200)) / 15
    saved = run.saved("steps")
    first, x = (0, np.ones((200, 50))) if saved is None else (int(saved["step"]), saved["x"])
    print("from", first, flush=True)
    for step in range(first, {STEPS}):
        x = np.tanh(matrix @ x) + 1 / (step + 1)
        run.offer("steps", lambda: {{"step": np.array(step + 1), "x": x}})
        print("kept", step + 1, flush=True)
    np.savez(folder / "result.npz", seed=np.array(str(seed)), x=x)
"""


def start(folder):
    return subprocess.Popen([sys.executable, "-c", CHILD, str(folder)], stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_killed_at_any_moment_it_goes_on_to_the_same_bits(tmp_path):
    moments, kept_before = random.Random(1), 0  # noqa: S311
    for _ in range(2):
        with start(tmp_path) as child:
            word, first = child.stdout.readline().split()
            assert word == "from"
            assert int(first) >= kept_before  # what was kept is never lost
            for _ in range(moments.randrange(1, 12)):
                kept_before = int(child.stdout.readline().split()[1])
            child.stdout.read(moments.randrange(3))
            child.kill()
        left = [file.name for file in tmp_path.iterdir() if file.name != "fit.npz"]
        assert len(left) <= 1
        assert all(name.startswith("fit.npz.") and name.endswith(".mercer-draft") for name in left)
    with start(tmp_path) as child:
        assert int(child.stdout.readline().split()[1]) >= kept_before
        child.communicate()
    assert child.returncode == 0
    assert [file.name for file in tmp_path.iterdir()] == ["result.npz"]
    with np.load(tmp_path / "result.npz") as file:
        seed, found = int(str(file["seed"])), file["x"]
    matrix, x = np.random.default_rng(seed).normal(size=(200, 200)) / 15, np.ones((200, 50))
    for step in range(STEPS):
        x = np.tanh(matrix @ x) + 1 / (step + 1)
    assert found.tobytes() == x.tobytes()
