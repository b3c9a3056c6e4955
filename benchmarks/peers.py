"""Those we are compared with: installed one by one, tried in a process of their own, and reported where they fail.

    python benchmarks/peers.py [--install] [--json PATH]

With --install each package of the extra `bench` of pyproject.toml is asked of pip alone, so that one that cannot be
built takes no other with it. Then each peer does a small piece of work; its version, or the reason, is the record.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from report import ABSENT, version_of

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
RECORD = Path(__file__).resolve().parent / "results" / "peers.json"
SPECIAL = {"torch": ("torch==2.13.0",)}
"""What is asked of pip in place of a range: one release, so that a build for processors that a machine holds, or that
pip is led to by PIP_EXTRA_INDEX_URL, is taken instead of a newer one with gigabytes for graphics cards."""
LONGEST = {"install": 1_200.0, "trial": 120.0}
TOOLS = ("matplotlib", "packaging", "pandas", "pyarrow")
"""In the extra, too, and no peers: nothing runs without them."""
NAME = re.compile(r"[A-Za-z0-9._-]+")
START = "import numpy as np; X = np.random.default_rng(0).normal(size=(60, 3)); y = np.where(X[:, 0] > 0, 1.0, -1.0)\n"
TRIALS = {
    "scikit-learn": "from sklearn.svm import SVC; SVC().fit(X, y)",
    "scikit-learn-intelex": "from sklearnex.svm import SVC; SVC().fit(X, y)",
    "pykeops": (
        "from pykeops.numpy import LazyTensor as L\n"
        "(-(L(X[:, None, :]).sqdist(L(X[None, :, :])))).exp().__matmul__(y[:, None], backend='CPU')"
    ),
    "torch": "import torch; torch.from_numpy(X) @ torch.ones(3, dtype=torch.float64)",
    "gpytorch": "import gpytorch; gpytorch.kernels.RBFKernel()",
    "himalaya": "from himalaya.kernel_ridge import KernelRidge; KernelRidge(kernel='rbf').fit(X, y)",
    "libsvm-official": "from libsvm.svmutil import svm_train; svm_train(y, X, '-q')",
    "thundersvm-cpu": "from thundersvm import SVC; SVC(gamma=0.3).fit(X, y)",
    "grakel": (
        "from grakel import Graph; from grakel.kernels import WeisfeilerLehman as W\n"
        "g = Graph({0: {1: 1.0}, 1: {0: 1.0}}, {0: 0, 1: 1}, graph_format='dictionary'); W().fit_transform([g, g])"
    ),
    "tslearn": "from tslearn.clustering import KernelKMeans as K; K(n_clusters=2, kernel='rbf').fit(X[..., None])",
}
"""The smallest work of each; a peer that cannot do it is left out of comparisons, and named."""


@dataclass(frozen=True)
class Peer:
    """A peer, its version, and what is wrong with it; nothing, where it works."""

    name: str
    version: str
    trouble: str = ""


def asked() -> dict[str, str]:
    """The packages of the extra, each with what pip is asked; those for other machines are left out by pip itself."""
    extra = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]["bench"]
    return {_name(requirement): requirement for requirement in extra}


def _name(requirement: str) -> str:
    found = NAME.match(requirement)
    return found.group() if found else requirement


def install(requirement: str) -> str:
    """Ask pip for one package; the reason where it fails, else nothing."""
    wanted = SPECIAL.get(_name(requirement), (requirement,))
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    return _run([*pip, *wanted], LONGEST["install"])


def tried(name: str) -> str:
    """Let a peer do its smallest work in a process of its own; the reason where it fails, else nothing."""
    return _run([sys.executable, "-W", "ignore", "-c", START + TRIALS[name]], LONGEST["trial"])


def _run(command: list[str], seconds: float) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        return f"not done after {seconds:.0f} s"
    if done.returncode == 0:
        return ""
    said = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    last = next((line for line in reversed(said) if not line.startswith(("[notice]", "╰", "hint:"))), "said nothing")
    return f"crashed with signal {-done.returncode}" if done.returncode < 0 else last[:300]


def examined(troubles: dict[str, str], before: Iterable[Peer] = ()) -> list[Peer]:
    """All peers, two at a time; without those that pip could not bring, or that worked before in this version."""
    worked = {(peer.name, peer.version) for peer in before if not peer.trouble}

    def one(name: str) -> Peer:
        version = version_of(name)
        if version == ABSENT:
            return Peer(name, version, troubles.get(name) or f"{ABSENT} on this machine")
        return Peer(name, version, "" if (name, version) in worked else tried(name))

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(one, TRIALS))


def installed(requirements: Iterable[str]) -> dict[str, str]:
    """Install one by one, with a line for each; what failed, and why."""
    troubles = {}
    for requirement in requirements:
        trouble = install(requirement)
        print(f"{requirement}: {trouble or 'installed'}", flush=True)
        if trouble:
            troubles[_name(requirement)] = trouble
    if lost := [name for name in TOOLS if name in troubles]:
        raise SystemExit(f"peers: nothing runs without {', '.join(lost)}, which pip could not install.")
    return troubles


def known(path: Path = RECORD) -> tuple[dict[str, str], list[Peer]]:
    """What pip could not install when it was asked, and all peers as they were then, from the record of that."""
    if not path.exists():
        return {}, []
    record = json.loads(path.read_text())
    return record["not installed"], [Peer(**peer) for peer in record["peers"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install", action="store_true", help="ask pip for each package first")
    parser.add_argument("--json", type=Path, default=RECORD, help="where the record goes")
    options = parser.parse_args()
    troubles = installed(asked().values()) if options.install else known(options.json)[0]
    peers = examined(troubles)
    for peer in peers:
        print(f"{peer.name} {peer.version}: {peer.trouble or 'works'}", flush=True)
    options.json.parent.mkdir(exist_ok=True)
    record = {"not installed": troubles, "peers": [asdict(peer) for peer in peers]}
    options.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
