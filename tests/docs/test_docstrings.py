"""That every parameter of the public API is documented in numpydoc form, with a type, and a default that is true."""

import ast
import inspect
import re

import pytest
from test_reference import MODULES, public

ORDER = ["Parameters", "Returns", "Attributes", "Yields", "Raises", "Warns", "References", "Examples"]
HEADING = re.compile(r"^(\w[\w ]*)\n-+$", re.MULTILINE)
FIELD = re.compile(r"^(\*{0,2}\w[\w*, ]*) : (.*)\n((?:    .*\n?|\n)*)", re.MULTILINE)
DEFAULT = re.compile(r"(?:, |^)default=(.+)$")
NAMES = {"np.inf": float("inf")}


def members(module):
    """Public classes and functions of a module, and methods that a class is the first to have."""
    for name, home in public(module).items():
        if not (inspect.isclass(home) or inspect.isroutine(home)):
            continue
        if not (inspect.isclass(home) and issubclass(home, BaseException)):
            yield name, home
        for method, value in vars(home).items() if inspect.isclass(home) else ():
            function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            first = not any(method in vars(base) for base in home.__mro__[1:])
            if inspect.isfunction(function) and first and not method.startswith("_"):
                yield f"{name}.{method}", function


MEMBERS = {f"{module}.{name}": home for module in MODULES for name, home in members(module)}


def sections(home):
    """The sections of a docstring by title."""
    parts = HEADING.split(inspect.cleandoc(home.__doc__ or ""))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def fields(section):
    """(type, prose) of each name of a section; several names may share both."""
    found = {}
    for names, kind, prose in re.findall(
        r"^(\*{0,2}\w[\w*, ]*) : (.*)\n((?:    .*\n?|\n)*)", section + "\n", re.MULTILINE
    ):
        found |= dict.fromkeys([name.strip().lstrip("*") for name in names.split(",")], (kind, prose.strip()))
    return found


def complaints(home):
    """What is missing, or not true, in the docstring of a class or function."""
    documented = fields(sections(home).get("Parameters", ""))
    parameters = {
        name: each for name, each in inspect.signature(home).parameters.items() if name not in ("self", "cls")
    }
    if "args" in parameters:  # of a base of another library
        parameters = {}
    yield from (f"no {name}" for name in parameters if name not in documented)
    yield from (f"{name} is no parameter" for name in documented if name not in parameters)
    for name, each in parameters.items():
        kind, prose = documented.get(name, ("missing", "missing"))
        stated = DEFAULT.search(kind)
        if not DEFAULT.sub("", kind).strip() or not prose:
            yield f"{name} has no type, or no sentence"
        if bool(stated) != (each.default is not each.empty):
            yield f"{name}: a default is stated, or is not"
        if stated and not same(stated[1], each.default):
            yield f"{name}: default={stated[1]}, and not {each.default!r}"


def same(text, value):
    """Whether a stated default is that of the signature."""
    if repr(value) == "<factory>":  # of a dataclass
        return True
    try:
        return ast.literal_eval(text) == value
    except ValueError:
        return NAMES.get(text, object()) == value or text in (
            getattr(value, "__name__", ""),
            f"{type(value).__name__}()",
        )


@pytest.mark.parametrize("name", MEMBERS)
def test_parameters_have_a_type_and_a_true_default(name):
    assert list(complaints(MEMBERS[name])) == []


@pytest.mark.parametrize("name", MEMBERS)
def test_what_is_returned_is_documented(name):
    home = MEMBERS[name]
    if inspect.isclass(home) or inspect.signature(home).return_annotation in (None, "None"):
        return
    assert sections(home).get("Returns", "").strip() or sections(home).get("Yields", "").strip()


def test_nothing_is_written_in_the_old_form():
    """`name : prose` without a heading above it."""
    old = re.compile(r"^\*{0,2}\w[\w, *]* : ", re.MULTILINE)
    bodies = {name: HEADING.split(inspect.cleandoc(home.__doc__))[0] for name, home in MEMBERS.items()}
    assert [name for name, body in bodies.items() if old.search(body.split(">>>")[0])] == []


def test_kernels_state_their_formula():
    kernels = [home for home in MEMBERS.values() if isinstance(getattr(home, "formula", None), str) and home.formula]
    assert len(kernels) > 40
    told = {home.__name__: " ".join(inspect.cleandoc(home.__doc__).split()) for home in kernels}
    assert [name for name, text in told.items() if "k(x, z) =" not in text] == []


def test_a_false_docstring_is_noticed():
    def wrong(a, b=1, c="x", d=None):
        """Wrong.

        Parameters
        ----------
        a : int
            Right.
        b : int, default=2
            Not two.
        c : str
            Has a default.
        e : int
            Does not exist.
        """

    found = ["no d", "e is no parameter", "b: default=2, and not 1", "c: a default is stated, or is not"]
    assert set(found) < set(complaints(wrong))
