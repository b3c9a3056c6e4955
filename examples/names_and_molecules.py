"""Names to languages, and molecules to what they do: kernels of things that are no rows of numbers.

    python examples/names_and_molecules.py [--data FOLDER] [--picture FILE.png]

A kernel says how alike two things are, and that is all that a learner asks for. So names go into a support vector
machine as strings, and molecules as graphs: nobody has to make numbers of them first. Each kernel is compared with a
poorer one that counts the same letters or atoms, and does not see what stands beside what.

Without --data there are 24 surnames for each of four languages, and molecules that are made here: rings with two
groups, of which one is a nitro group in half of them. An amine and a carboxyl group have the same atoms as a nitro and
a methyl group, so that counting atoms is not enough. With --data names come from surnames.parquet in that folder, the
same four languages, and molecules from MUTAG.parquet: nitro compounds that change genes of bacteria, or do not.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, cross_val_score

import mercer
from mercer import KernelPCA, KernelSVC
from mercer.displays import ComponentsDisplay
from mercer.errors import message
from mercer.kernels import BlendedSpectrum, Graph, Kernel, Spectrum, VertexHistogram, WeisfeilerLehman
from mercer.kernels.graphs import graphs_of

NAMES = {
    "Greek": """Alexopoulos Angelopoulos Antoniou Athanasiou Christodoulou Dimitriou Economou Galanis Georgiou Ioannidis
        Karagiannis Konstantinou Makris Nikolaidis Panagopoulos Papadakis Papadopoulos Papageorgiou Pappas Samaras
        Stavrou Theodorou Vasileiou Vlachos""",
    "Italian": """Barbieri Bianchi Bruno Colombo Conti Costa Esposito Ferrari Fontana Gallo Giordano Greco Lombardi
        Mancini Mariani Marino Moretti Ricci Rinaldi Rizzo Romano Rossi Santoro Villa""",
    "Japanese": """Abe Hashimoto Hayashi Ikeda Inoue Ito Kato Kimura Kobayashi Matsumoto Mori Nakamura Sasaki Sato
        Shimizu Suzuki Takahashi Tanaka Watanabe Yamada Yamaguchi Yamamoto Yamazaki Yoshida""",
    "Polish": """Adamczyk Dabrowski Dudek Grabowski Jankowski Kaminski Kowalczyk Kowalski Kozlowski Krawczyk Kwiatkowski
        Lewandowski Mazur Michalski Nowak Nowakowski Pawlowski Piotrowski Szymanski Wisniewski Wojcik Wozniak Zajac
        Zielinski""",
}
"""Common surnames."""
GROUPS = {"nitro": "NOO", "carboxyl": "COO", "amine": "N", "hydroxyl": "O", "methyl": "C"}
"""The atoms of a group: the first is tied to the ring, and the others to the first."""
MADE = 120
"""How many molecules are made."""
PRICE = 10.0
"""The C of all machines: little is gained by choosing it."""


@dataclass(frozen=True)
class Case:
    """Things with their classes, a kernel, a poorer one, and new things whose class is asked for."""

    things: list[Any]
    y: NDArray[Any]
    kernel: Kernel
    poorer: Kernel
    asked: dict[str, Any]


# -- the things ----------------------------------------------------------------------------------------------------


def names() -> tuple[list[str], NDArray[Any]]:
    """The names above, and their languages."""
    pairs = [(name, language) for language, text in NAMES.items() for name in text.split()]
    return [name for name, _ in pairs], np.array([language for _, language in pairs])


def names_of(folder: Path) -> tuple[list[str], NDArray[Any]]:
    """Those of the file in the same languages."""
    table = _table(folder, "surnames")
    pairs = zip(table["name"].to_pylist(), table["target"].to_pylist(), strict=True)
    kept = [(name, language) for name, language in pairs if language in NAMES]
    return [name for name, _ in kept], np.array([language for _, language in kept])


def molecule(rings: int, groups: Sequence[tuple[str, int]]) -> Graph:
    """Six-membered rings of carbon in a row, and groups, each with the carbon (counted from 0) to which it is tied."""
    labels, edges = ["C"] * (4 * rings + 2), [(0, 1)]
    for i in range(0, 4 * rings, 4):  # each ring shares two atoms with the one before
        path = [i, i + 2, i + 4, i + 5, i + 3, i + 1]
        edges += pairwise(path)
    for group, carbon in groups:
        first = len(labels)
        labels += GROUPS[group]
        edges += [(carbon, first)] + [(first, atom) for atom in range(first + 1, len(labels))]
    return Graph(len(labels), edges, labels)


def free(rings: int) -> list[int]:
    """The carbons to which a group can be tied: those that do not belong to two rings."""
    return [atom for atom in range(4 * rings + 2) if atom % 4 > 1 or atom // 4 in (0, rings)]


def molecules(count: int = MADE) -> tuple[list[Graph], NDArray[Any]]:
    """Molecules with two groups at places by chance; every other one has a nitro group."""
    rng, others = np.random.default_rng(0), [group for group in GROUPS if group != "nitro"]
    y = np.where(np.arange(count) % 2 == 0, "nitro", "none")
    found: list[Graph] = []
    for kind in y.tolist():
        rings, first = int(rng.integers(1, 4)), "nitro" if kind == "nitro" else str(rng.choice(others))
        places = rng.choice(free(rings), 2, replace=False).tolist()
        found.append(molecule(rings, [(first, places[0]), (str(rng.choice(others)), places[1])]))
    return found, y


def molecules_of(folder: Path) -> tuple[list[Graph], NDArray[Any]]:
    """Those of MUTAG."""
    table = _table(folder, "MUTAG")
    return graphs_of(table), np.where(table["target"].to_numpy() == 1, "mutagenic", "not mutagenic")


def _table(folder: Path, name: str) -> Any:
    try:
        from pyarrow.parquet import read_table
    except ModuleNotFoundError as missing:
        remedy = 'Install it with: pip install "mercer[files]".'
        raise SystemExit(message("pyarrow", "it is not installed", remedy, subject="--data")) from missing
    return read_table(folder / f"{name}.parquet")


def cases(folder: Path | None = None) -> dict[str, Case]:
    """What is learnt, by name."""
    texts = names() if folder is None else names_of(folder)
    graphs = molecules() if folder is None else molecules_of(folder)
    new = {name: name for name in ("Takayama", "Bellini", "Papanikolaou", "Wierzbicki")}
    rings = {} if folder is not None else _new_molecules()
    return {
        "names": Case(*texts, BlendedSpectrum(3).normalized(), Spectrum(1).normalized(), new),
        "molecules": Case(*graphs, WeisfeilerLehman(3).normalized(), VertexHistogram().normalized(), rings),
    }


def _new_molecules() -> dict[str, Graph]:
    """Four rings, which no molecule above has; the same atoms."""
    return {
        "four rings with nitro and methyl": molecule(4, [("nitro", 0), ("methyl", 10)]),
        "four rings with amine and carboxyl": molecule(4, [("amine", 0), ("carboxyl", 10)]),
    }


# -- the models ----------------------------------------------------------------------------------------------------


def accuracy(kernel: Kernel, case: Case) -> float:
    """The part of the things that get their class from a machine that did not see them, over ten folds."""
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    return float(cross_val_score(KernelSVC(kernel, C=PRICE, verbose=False), case.things, case.y, cv=folds).mean())


def report(name: str, case: Case) -> None:
    """What a case comes to, in words."""
    print(f"{name}: {len(case.things)} of {', '.join(np.unique(case.y))}")
    for kernel in (case.poorer, case.kernel):
        print(f"  {kernel}: {accuracy(kernel, case):.1%} right, ten folds")
    print(f"  {mercer.prove(case.kernel).claim}")
    model = KernelSVC(case.kernel, C=PRICE, verbose=False).fit(case.things, case.y)
    print(f"  plan: {str(model.plan_).splitlines()[0]}")
    for title, thing in case.asked.items():
        print(f"  {title}: {model.predict([thing])[0]}")


# -- the picture ---------------------------------------------------------------------------------------------------


def draw(file: Path, all_cases: dict[str, Case]) -> None:
    """A panel a case: where the first two components of its kernel see the things."""
    figure = _figure()
    for axes, (name, case) in zip(figure.subplots(1, len(all_cases)), all_cases.items(), strict=True):
        components = KernelPCA(case.kernel, n_components=2, verbose=False).fit(case.things)
        ComponentsDisplay.from_estimator(components, case.things, case.y, ax=axes)
        axes.set_title(f"{name}: kernel PCA")
    figure.savefig(file)


def _figure() -> Any:
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as missing:
        remedy = 'Install it with: pip install "mercer[examples]".'
        raise SystemExit(message("matplotlib", "it is not installed", remedy, subject="--picture")) from missing
    return Figure(figsize=(12, 5), layout="constrained")


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="where surnames.parquet and MUTAG.parquet are")
    parser.add_argument("--picture", type=Path, metavar="FILE.png", help="draw into this file")
    options = parser.parse_args(arguments)
    all_cases = cases(options.data)
    for name, case in all_cases.items():
        report(name, case)
    if options.picture is not None:
        draw(options.picture, all_cases)
        print(f"The picture is in {options.picture}.")


if __name__ == "__main__":
    main(sys.argv[1:])
