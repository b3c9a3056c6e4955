"""Pages that are files of the project's root, shown here as they are: their links are written for the root."""

from __future__ import annotations

import re
from typing import Any

LINK = re.compile(r"\]\((?!https?:|#|\.\./)([^)]+)\)")


def setup(app: Any) -> dict[str, bool]:
    """Whenever a page includes another file."""
    app.connect("include-read", rewrite)
    return {"parallel_read_safe": True}


def rewrite(app: Any, path: Any, page: str, content: list[str]) -> None:
    """Change links of Markdown from the root into those of a page in the folder `project`."""
    if str(path).endswith(".md"):
        content[0] = LINK.sub(lambda found: f"]({moved(found[1])})", content[0])


def moved(link: str) -> str:
    """Where a link of the root leads from here.

    >>> moved("docs/files.md"), moved("CONTRIBUTING.md"), moved("benchmarks/defaults.py")
    ('../files.md', 'contributing.md', '../../benchmarks/defaults.py')
    """
    if link.startswith("docs/"):
        return "../" + link.removeprefix("docs/")
    return link.lower() if link.endswith(".md") and "/" not in link else "../../" + link
