"""That links of the pages lead to files that exist, and what the build makes of docstrings."""

import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(
    page for page in DOCS.rglob("*.md") if "generated" not in page.parts and "auto_gallery" not in page.parts
)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)(?:#[^)]*)?\)")


@pytest.fixture
def extension(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))

    def load(name):
        sys.modules.pop(name, None)
        return __import__(name)

    return load


def test_every_link_leads_to_a_file():
    links = {(page.relative_to(DOCS), link) for page in PAGES for link in LINK.findall(page.read_text())}
    assert len(links) > 100
    assert sorted(str(here) for here in links if not (DOCS / here[0].parent / here[1]).exists()) == []


def test_every_included_file_exists():
    included = re.compile(r"^```\{(?:literal)?include\} (\S+)", re.MULTILINE)
    found = [page.parent / path for page in PAGES for path in included.findall(page.read_text())]
    assert len(found) >= 7
    assert [path for path in found if not path.exists()] == []


def test_nothing_on_a_page_is_fetched_from_elsewhere():
    fetched = re.compile(r"!\[[^\]]*\]\(https?:|<(?:script|img|link)\b[^>]*https?:", re.IGNORECASE)
    assert [page.name for page in PAGES if fetched.search(page.read_text())] == []


def test_what_examples_print_stands_on_their_pages():
    """Proofs and numbers that are shown below included files: tests/test_examples_own.py runs these."""
    for name in ("own_kernel", "own_lift", "own_solver"):
        page = (DOCS / "how_to" / f"{name}.md").read_text()
        assert f"literalinclude}} ../../examples/{name}.py" in page
        assert "```text\n" in page


def test_operators_show_their_own_signature(extension):
    """SciPy's base has a `__new__` that takes anything, and Sphinx would show that."""
    from mercer.operators import Gram

    signature = extension("own_members").signature
    shown = signature(None, "class", "Gram", Gram, None, "(*args, **kwargs)", None)
    assert shown == ("(kernel, X, Z=None, *, threads=None, watch=None)", "")
    assert signature(None, "class", "Gram", Gram, None, "(kernel)", None) is None


@pytest.mark.parametrize(
    ("link", "wanted"),
    [
        ("docs/files.md", "../files.md"),
        ("CONTRIBUTING.md", "contributing.md"),
        ("benchmarks/defaults.py", "../../benchmarks/defaults.py"),
    ],
)
def test_links_of_the_root_are_moved(extension, link, wanted):
    content = [f"see [this]({link}) and [that](https://example.org/a.md)"]
    extension("root_links").rewrite(None, Path("CHANGELOG.md"), "project/changelog", content)
    assert content == [f"see [this]({wanted}) and [that](https://example.org/a.md)"]
