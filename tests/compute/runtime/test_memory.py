"""The budget against sizes worked out by hand, and the free memory against made-up systems."""

import ctypes
import math
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.compute.runtime import memory as module
from mercer.compute.runtime.memory import Budget, free_memory, limited, text_of
from mercer.errors import BudgetError, InputError, MercerError

MiB = 1024**2
GiB = 1024**3
NONE_IN_VERSION_1 = 9223372036854771712


# Texts


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1536, "1.5 KiB"),
        (8 * 100_000**2, "74.5 GiB"),  # 8e10 / 2**30 = 74.506
        (MiB - 1, "1.0 MiB"),  # not 1024.0 KiB
        (MiB - 52, "1023.9 KiB"),  # 1023.949
        (MiB - 51, "1.0 MiB"),  # 1023.950
        (GiB, "1.0 GiB"),
        (3 * 2**40, "3.0 TiB"),
        (2**50, "1.0 PiB"),
        (2**60, "1.0 EiB"),
        (5000 * 2**60, "5000.0 EiB"),
    ],
)
def test_sizes_are_written_for_people(size, text):
    assert text_of(size) == text
    assert str(Budget(size)) == text


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4 GB", 4_000_000_000),
        ("512MiB", 536_870_912),
        ("1.5 GiB", 1_610_612_736),
        ("  2   kB ", 2000),
        ("2 kib", 2048),
        ("7B", 7),
        ("4000000000", 4_000_000_000),
        ("0.1 TB", 100_000_000_000),  # exact: 0.1 is not rounded to binary
        ("1.9 B", 1),
        ("3 PiB", 3 * 2**50),
        ("1 EB", 10**18),
    ],
)
def test_texts_are_read(text, size):
    assert Budget.of(text) == Budget(size)


@given(st.integers(1, 2**70))
def test_written_sizes_are_read_back_to_the_written_decimal(size):
    read = Budget.of(text_of(size)).bytes
    if size < 1024:
        assert read == size
    else:  # half of the last decimal; relative, since a written size is at least 1.0
        assert abs(read - size) <= 0.05 * size + 1
        assert text_of(read) == text_of(size)


def test_numbers_and_budgets_are_taken_as_they_are():
    given = Budget(5)
    assert Budget.of(given) is given
    assert Budget.of(12345) == Budget(12345)
    size = Budget.of(np.int64(12345)).bytes
    assert size == 12345
    assert type(size) is int


NOT_SIZES = [0, -1, True, 4e9, float("nan"), np.bool_(True), np.array([4, 5]), [4], b"4 GB"]
NOT_TEXTS = ["", "GB", "-4 GB", "0 GB", "0.5 B", "4 G", "1 iB", "four GB", "4,5 GB", "1_000", "1e9", "4 GB free", "4."]
STRANGE_TEXTS = ["4 \N{KELVIN SIGN}B", "\N{ARABIC-INDIC DIGIT FOUR} GB", "9" * 5000]


@pytest.mark.parametrize("nonsense", [*NOT_SIZES, *NOT_TEXTS, *STRANGE_TEXTS])
def test_nonsense_is_refused(nonsense):
    with pytest.raises(InputError, match=r"^A memory budget needs a positive number of bytes") as caught:
        Budget.of(nonsense)
    assert '"4 GiB"' in str(caught.value)
    assert len(str(caught.value)) < 300


def test_the_refusal_says_what_came():
    with pytest.raises(InputError, match=r"; got '4 G'\. Write 4000000000,"):
        Budget.of("4 G")


# Spending


def test_a_budget_allows_up_to_itself():
    assert Budget(10).allows(10)
    assert not Budget(10).allows(11)
    assert Budget(0).allows(0)


def test_a_computation_that_fits_passes():
    assert Budget(10).require(10, "a row", "Use less.", subject="Gaussian") is None


def test_a_computation_that_does_not_fit_is_told_what_to_do():
    budget = Budget(19_542_101_197)  # 18.2 * 2**30
    with pytest.raises(BudgetError) as caught:
        budget.require(8 * 100_000**2, "a matrix of 100000 x 100000 numbers", "Use gram(X).", subject="Gaussian")
    assert str(caught.value) == (
        "Gaussian needs 74.5 GiB for a matrix of 100000 x 100000 numbers; 18.2 GiB may be used. Use gram(X)."
    )
    assert isinstance(caught.value, MemoryError)
    assert isinstance(caught.value, MercerError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # noqa: S301 - our own


def test_a_near_miss_is_told_in_bytes():
    with pytest.raises(BudgetError, match="needs 1073741825 bytes for a row; 1073741824 bytes may be used"):
        Budget(GiB).require(GiB + 1, "a row", "Use less.", subject="Gaussian")


def test_a_budget_is_frozen():
    with pytest.raises(AttributeError):
        Budget(1).bytes = 2


# A share of the machine


def test_a_share_of_the_machine(monkeypatch):
    monkeypatch.setattr(module, "free_memory", lambda: 1001)
    assert Budget.of_machine() == Budget(800)
    assert Budget.of(None) == Budget(800)
    assert Budget.of_machine(1) == Budget(1001)


@pytest.mark.parametrize("fraction", [0, -0.5, 1.01, float("nan")])
def test_a_share_is_a_share(fraction):
    with pytest.raises(InputError, match=r"needs a fraction over 0 and up to 1; got .*"):
        Budget.of_machine(fraction)


def test_this_machine_has_some_memory_and_not_all_the_memory_of_the_world():
    assert 2**20 < free_memory() < 2**50


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc/meminfo is Linux's")
def test_this_machine_says_no_more_than_it_has():
    assert free_memory() <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def test_what_the_system_said_is_remembered_for_a_moment(monkeypatch):
    asked, now = [], [0.0]
    monkeypatch.setattr(module, "_LATEST", {"until": -math.inf, "bytes": 0})
    monkeypatch.setattr(module, "_least_room", lambda proc, groups: asked.append(proc) or 100 * len(asked))
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    assert [free_memory(), free_memory()] == [100, 100]
    now[0] = 0.9 * module.MOMENT
    assert free_memory() == 100
    now[0] = module.MOMENT
    assert free_memory() == 200
    assert free_memory(Path("proc"), Path("groups")) == 300  # another system is asked anew


# Made-up systems


class System:
    """A tree of /proc and /sys/fs/cgroup in a folder, with 64 GiB free in the machine."""

    def __init__(self, folder: Path, own: str | None) -> None:
        self.proc, self.groups = folder / "proc", folder / "cgroup"
        self.write(self.proc / "meminfo", f"MemTotal: 99999999 kB\nMemFree: 1 kB\nMemAvailable:   {64 * MiB} kB\n")
        if own is not None:
            self.write(self.proc / "self/cgroup", own)

    @staticmethod
    def write(file: Path, text: str) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def version_1(self, group: str, limit: int, usage: int, inactive: int = 0) -> None:
        folder = self.groups / "memory" / group
        self.write(folder / "memory.limit_in_bytes", f"{limit}\n")
        self.write(folder / "memory.usage_in_bytes", f"{usage}\n")
        # The group's own share, without its children, is a decoy.
        self.write(folder / "memory.stat", f"cache 77\ninactive_file 99999999999\ntotal_inactive_file {inactive}\n")

    def version_2(self, group: str, limit: int | str, usage: int, inactive: int = 0) -> None:
        folder = self.groups / group
        self.write(folder / "memory.max", f"{limit}\n")
        self.write(folder / "memory.current", f"{usage}\n")
        self.write(folder / "memory.stat", f"anon 77\nfile 99999999999\ninactive_file {inactive}\nactive_file 5\n")

    def free(self) -> int:
        return free_memory(self.proc, self.groups)


@pytest.fixture
def system(tmp_path, monkeypatch):
    if sys.platform == "win32":
        pytest.skip("reads the files of a Unix")
    limit_address_space(monkeypatch, None)
    return lambda own=None: System(tmp_path, own)


def limit_address_space(monkeypatch, limit):
    import resource

    soft = resource.RLIM_INFINITY if limit is None else limit
    monkeypatch.setattr(resource, "getrlimit", lambda which: {resource.RLIMIT_AS: (soft, 1)}[which])


def test_without_control_groups_the_machine_decides(system):
    assert system().free() == 64 * GiB


def test_version_2(system):
    made = system("0::/job\n")
    made.version_2("job", 8 * GiB, 3 * GiB, inactive=GiB)
    assert made.free() == 6 * GiB  # 8 - (3 - 1)


def test_a_tighter_parent_decides(system):
    made = system("0::/slice/user/job\n")
    made.version_2("slice/user/job", 8 * GiB, 1 * GiB)
    made.version_2("slice/user", "max", 2 * GiB)
    made.version_2("slice", 10 * GiB, 7 * GiB, inactive=GiB)
    made.version_2("other", 1, 0)
    made.version_2("slice/user/job/child", 1, 0)
    assert made.free() == 4 * GiB  # 10 - (7 - 1) in the slice; 7 in the job


def test_a_tighter_child_decides(system):
    made = system("0::/slice/job\n")
    made.version_2("slice/job", 2 * GiB, 1 * GiB)
    made.version_2("slice", 10 * GiB, 1 * GiB)
    assert made.free() == GiB


def test_a_machine_tighter_than_its_groups_decides(system):
    made = system("0::/job\n")
    made.version_2("job", 100 * GiB, 0)
    assert made.free() == 64 * GiB


def test_max_is_no_limit(system):
    made = system("0::/job\n")
    made.version_2("job", "max", 3 * GiB)
    assert made.free() == 64 * GiB


@pytest.mark.parametrize("own", ["0::/\n", "0::/docker/0123abc\n", "0::/../other\n", "nonsense\n", "", None])
def test_in_a_container_the_top_group_decides(system, own):
    made = system(own)
    made.version_2("", 4 * GiB, 1 * GiB)
    made.version_2("../other", 1, 0)
    assert made.free() == 3 * GiB


def test_a_group_may_have_any_name(system):
    made = system("0::/a:b/ü x\x85y\n")
    made.version_2("a:b/ü x\x85y", 2 * GiB, 0)
    assert made.free() == 2 * GiB


def test_a_full_group_leaves_nothing(system):
    made = system("0::/job\n")
    made.version_2("job", GiB, 2 * GiB)
    assert made.free() == 0


def test_reclaimable_memory_is_no_more_than_the_limit(system):
    made = system("0::/job\n")
    made.version_2("job", GiB, 5, inactive=MiB)  # read at different moments
    assert made.free() == GiB


VERSION_1 = "5:cpu,cpuacct:/elsewhere\n4:memory:/docker/abc\n1:name=systemd:/elsewhere\n"


def test_version_1(system):
    made = system(VERSION_1)
    made.version_1("docker/abc", 8 * GiB, 3 * GiB, inactive=GiB)
    made.version_1("docker", 20 * GiB, 15 * GiB)
    made.version_1("elsewhere", 1, 0)
    made.version_1("", NONE_IN_VERSION_1, 15 * GiB)
    assert made.free() == 5 * GiB  # 20 - 15 around it; 8 - (3 - 1) = 6 in itself


def test_version_1_without_limits(system):
    made = system(VERSION_1)
    made.version_1("docker/abc", NONE_IN_VERSION_1, 0)
    assert made.free() == 64 * GiB
    assert module._left_in_groups(made.proc, made.groups) == []


def test_version_1_in_a_container(system):
    made = system(VERSION_1)
    made.version_1("", 2 * GiB, GiB)
    assert made.free() == GiB


def test_version_1_with_memory_beside_another_controller(system):
    made = system("4:cpu,memory:/job\n")
    made.version_1("job", 2 * GiB, 0)
    assert made.free() == 2 * GiB


def test_hybrid_with_memory_in_version_1(system):
    made = system(VERSION_1 + "0::/job\n")
    made.write(made.groups / "unified/job/cgroup.procs", "1\n")
    made.version_1("docker/abc", 2 * GiB, GiB)
    assert made.free() == GiB


def test_hybrid_with_memory_in_version_2(system):
    made = system("1:name=systemd:/elsewhere\n0::/job\n")
    made.version_2("unified/job", 3 * GiB, GiB)
    assert made.free() == 2 * GiB


# Files that cannot be read


def test_a_limit_that_cannot_be_read_is_none(system):
    made = system("0::/job\n")
    made.version_2("job", GiB, 0)
    (made.groups / "job/memory.max").unlink()
    (made.groups / "job/memory.max").mkdir()  # fails for the superuser too
    assert made.free() == 64 * GiB


def test_a_limit_that_may_not_be_read_is_none(system, monkeypatch):
    made = system("0::/job\n")
    made.version_2("job", GiB, 0)
    read = Path.read_text

    def guarded(path, **how):
        if path.name == "memory.max":
            raise PermissionError(13, "Permission denied", str(path))
        return read(path, **how)

    monkeypatch.setattr(Path, "read_text", guarded)
    assert made.free() == 64 * GiB


@pytest.mark.parametrize("text", ["", "lots\n", "-1\n", "1.5\n"])
def test_a_limit_that_is_no_number_is_none(system, text):
    made = system("0::/job\n")
    made.version_2("job", text, 0)
    assert made.free() == 64 * GiB


def test_bytes_that_are_no_text_are_no_number(system):
    made = system("0::/job\n")
    made.version_2("job", GiB, 0)
    (made.groups / "job/memory.max").write_bytes(b"\xff\xfe\n")
    assert made.free() == 64 * GiB


def test_an_unknown_usage_leaves_the_limit(system):
    made = system("0::/job\n")
    made.version_2("job", 2 * GiB, GiB)
    (made.groups / "job/memory.current").unlink()
    assert made.free() == 2 * GiB


@pytest.mark.parametrize("text", [None, "", "inactive_file\n", "inactive_file many\n"])
def test_an_unknown_cache_is_held(system, text):
    made = system("0::/job\n")
    made.version_2("job", 2 * GiB, GiB, inactive=GiB)
    stat = made.groups / "job/memory.stat"
    if text is None:
        stat.unlink()
    else:
        stat.write_text(text)
    assert made.free() == GiB


# The address space


def test_the_address_space_decides(system, monkeypatch):
    made = system()
    made.write(made.proc / "self/status", f"Name:\tpython\nVmPeak:\t 9 kB\nVmSize:\t {MiB} kB\n")
    limit_address_space(monkeypatch, 3 * GiB)
    assert made.free() == 2 * GiB
    limit_address_space(monkeypatch, GiB - 1)
    assert made.free() == 0


def test_an_unknown_use_of_the_address_space_leaves_the_limit(system, monkeypatch):
    made = system()
    limit_address_space(monkeypatch, 3 * GiB)
    assert made.free() == 3 * GiB


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux holds processes to it")
def test_a_real_limit_of_the_address_space_is_seen():
    code = (
        "import resource, sys; sys.path[:0] = {path!r}; sys.modules['mercer'] = type(sys)('mercer');"
        "sys.modules['mercer'].__path__ = [{package!r}]; from mercer.compute.runtime.memory import free_memory;"
        "resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30)); print(free_memory())"
    )
    package = str(Path(module.__file__).parents[2])  # without what the package's door imports, to be quick
    run = [sys.executable, "-c", code.format(path=sys.path, package=package)]
    left = int(subprocess.run(run, capture_output=True, text=True, check=True).stdout)
    assert 2**28 < left < 2**30


def test_windows_has_no_such_limit(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    assert module._left_in_address_space(Path("/nowhere")) == []


# Machines without /proc/meminfo


def sysconf(**known):
    def ask(name):
        if name not in known:
            raise ValueError("unrecognized configuration name")
        if known[name] is None:
            raise OSError(22, "Invalid argument")
        return known[name]

    return ask


@pytest.mark.parametrize(
    ("known", "rooms"),
    [
        ({"SC_PAGE_SIZE": 4096, "SC_AVPHYS_PAGES": 10, "SC_PHYS_PAGES": 100}, [40960]),
        ({"SC_PAGE_SIZE": 16384, "SC_PHYS_PAGES": 101}, [827392]),  # 101 * 16384 / 2
        ({"SC_PAGE_SIZE": 4096, "SC_AVPHYS_PAGES": None, "SC_PHYS_PAGES": 100}, [204800]),
        ({"SC_PAGE_SIZE": 4096, "SC_AVPHYS_PAGES": -1, "SC_PHYS_PAGES": 100}, [204800]),
        ({"SC_PAGE_SIZE": -1, "SC_AVPHYS_PAGES": -1, "SC_PHYS_PAGES": -1}, []),
        ({"SC_PAGE_SIZE": 4096}, []),
        ({}, []),
    ],
)
def test_pages_are_counted(known, rooms):
    assert module._left_in_pages(sysconf(**known)) == rooms


@pytest.mark.parametrize("meminfo", [None, "MemTotal: 100 kB\nMemFree: 50 kB\n", "MemAvailable: lots kB\n"])
def test_without_available_memory_the_pages_decide(system, monkeypatch, meminfo):
    made = system()
    (made.proc / "meminfo").unlink()
    if meminfo is not None:
        made.write(made.proc / "meminfo", meminfo)
    monkeypatch.setattr(os, "sysconf", sysconf(SC_PAGE_SIZE=4096, SC_AVPHYS_PAGES=10))
    assert made.free() == 40960


def test_a_system_that_says_nothing_asks_for_a_budget(system, monkeypatch):
    made = system()
    (made.proc / "meminfo").unlink()
    monkeypatch.setattr(os, "sysconf", sysconf())
    with pytest.raises(BudgetError, match=r'free memory; this system reports none\. Give one, such as "4 GB"'):
        made.free()
    made.version_2("", GiB, 0)
    assert made.free() == GiB


class Windows:
    """kernel32 as far as it is needed."""

    def __init__(self, answers: bool = True) -> None:
        self.answers = answers

    def GlobalMemoryStatusEx(self, reference):  # noqa: N802 - Windows's name
        status = reference._obj
        assert status.dwLength == ctypes.sizeof(status) == 64  # as the Windows API has it
        if self.answers:
            status.ullTotalPhys, status.ullAvailPhys = 16 * GiB, 5 * GiB
            status.ullTotalPageFile, status.ullAvailPageFile = 20 * GiB, 4 * GiB
            status.ullTotalVirtual, status.ullAvailVirtual = 2**47, 2**46
        return int(self.answers)


def test_windows_is_asked(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "windll", type("Libraries", (), {"kernel32": Windows()}), raising=False)
    assert module._left_in_machine(tmp_path) == [5 * GiB, 4 * GiB, 2**46]
    assert free_memory(tmp_path, tmp_path) == 4 * GiB


def test_windows_may_not_answer():
    assert module._left_in_windows(Windows(answers=False)) == []


def test_inside_of_a_limit_nobody_gets_more():
    free = Budget.of(None).bytes
    with limited("1 MB"):
        assert Budget.of(None).bytes == 10**6
        with limited("2 MB"), limited(None):
            assert Budget.of(None).bytes == 10**6
        with limited(1000):
            assert Budget.of(None).bytes == 1000
            assert Budget.of("5 MB").bytes == 5 * 10**6  # who says how much has said it
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(copy_context().run, Budget.of, None).result().bytes == 10**6
    assert Budget.of(None).bytes > free / 2


def test_a_limit_is_no_promise_that_there_is_so_much(monkeypatch):
    monkeypatch.setattr("mercer.compute.runtime.memory.free_memory", lambda: 1000)
    with limited("1 MB"):
        assert Budget.of(None).bytes == 800


def test_a_limit_that_is_no_size_is_refused():
    with pytest.raises(InputError), limited("much"):
        pass
    assert Budget.of(None).bytes > 0
