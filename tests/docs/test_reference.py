"""That every public name stands in the reference, once, with an example, and kernels with a formula and a cost."""

import importlib
import inspect
import re
import types
from pathlib import Path

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
MODULES = [
    "mercer",
    "mercer.kernels",
    "mercer.lifts",
    "mercer.learners",
    "mercer.hypothesis_tests",
    "mercer.operators",
    "mercer.solvers",
    "mercer.tuning",
    "mercer.planner",
    "mercer.sources",
    "mercer.displays",
    "mercer.lectures",
    "mercer.geometry",
    "mercer.testing",
    "mercer.models",
    "mercer.errors",
]
RAISED = "an error or a warning is met, not made"
WITHOUT_EXAMPLE = dict.fromkeys(
    [
        "BudgetError",
        "ConvergenceWarning",
        "DomainError",
        "InputError",
        "KernelError",
        "MercerError",
        "MercerWarning",
        "ModelFileError",
        "NumericalWarning",
        "ParseError",
    ],
    RAISED,
)
FAMILIES = {"Kernel", "Radial", "Dot", "Coordinate", "Angular"}


def public(module):
    """The names of a module and what they stand for; modules have pages of their own."""
    home = importlib.import_module(module)
    names = getattr(home, "__all__", None) or [
        name
        for name, thing in vars(home).items()
        if not name.startswith("_") and str(getattr(thing, "__module__", "")).startswith("mercer")
    ]
    things = {name: getattr(home, name) for name in names}
    return {name: thing for name, thing in things.items() if not isinstance(thing, types.ModuleType)}


def listed():
    """(module, name) of every line of an autosummary in the reference."""
    found = []
    for page in sorted(REFERENCE.glob("*.md")):
        module = None
        for line in page.read_text().splitlines():
            start = re.match(r"\.\. currentmodule:: (\S+)", line)
            module = start[1] if start else module
            if module and re.fullmatch(r"   [A-Za-z_]\w*", line):
                found.append((module, line.strip()))
    return found


LISTED = listed()
PUBLIC = [(module, name, thing) for module in MODULES for name, thing in public(module).items()]
KERNELS = {name: thing for name, thing in public("mercer.kernels").items() if hasattr(thing, "formula")}
QUIET = {
    "Centered",
    "Centering",
    "Certificate",
    "Equality",
    "Exact",
    "History",
    "Lift",
    "Outcome",
    "Solver",
    "System",
    "lift",
}
"""Records, bases whose members tell their cost, and lifts that cost what their kernel makes them cost."""


def test_every_public_name_stands_in_the_reference_once():
    places = [getattr(importlib.import_module(module), name) for module, name in LISTED]
    wrong = {f"{module}.{name}" for module, name, thing in PUBLIC if sum(thing is place for place in places) != 1}
    assert wrong == set()


def test_the_reference_lists_public_names_alone():
    assert len(LISTED) > 150
    assert [(module, name) for module, name in LISTED if name not in public(module)] == []


def test_every_public_name_has_a_docstring_with_an_example():
    def told(thing):  # its own docstring, not that of a base
        return (vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__) or ""

    without = {name for _, name, thing in PUBLIC if not re.search(r"^ *>>> ", told(thing), re.MULTILINE)}
    assert without == set(WITHOUT_EXAMPLE)
    assert [name for _, name, thing in PUBLIC if not told(thing)] == []


def test_every_kernel_has_a_formula_and_families_have_none():
    assert {name for name, kernel in KERNELS.items() if not kernel.formula} == FAMILIES


def test_every_kernel_tells_its_cost_or_its_family_does():
    root = KERNELS["Kernel"]
    known = {
        name: any("Cost:" in (each.__doc__ or "") for each in kernel.__mro__ if each is not root)
        for name, kernel in KERNELS.items()
    }
    assert [name for name, told in known.items() if not told] == ["Kernel"]


def test_what_computes_tells_its_cost():
    words = re.compile(r"[Cc]ost|O\(|[Tt]ime|operations|memory|numbers")
    computing = [f"mercer.{part}" for part in ("learners", "lifts", "operators", "solvers")]
    silent = {name for module, name, thing in PUBLIC if module in computing and not words.search(thing.__doc__)}
    assert silent <= QUIET
