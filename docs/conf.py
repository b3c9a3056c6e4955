"""How the documentation is built: `make docs`. Nothing is fetched while it is, nor when a page is read."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "Mercer"
author = "The Mercer developers"
copyright = author  # noqa: A001  # Sphinx reads it under this name
version = release = (HERE.parent / "src" / "mercer" / "version.py").read_text().split('"')[-2]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "own_members",
    "root_links",
    "tidy_code",
]
exclude_patterns = ["_ext", "_templates", "gallery", "pictures"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
nitpicky = False

# -- Markdown: the pages are read on their own, too, so they use little beyond what every reader of Markdown knows -----

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
pygments_style = "tango"
highlight_language = "text"
default_role = "code"  # of single backquotes in docstrings

# -- the reference -----------------------------------------------------------------------------------------------------

templates_path = ["_templates"]
autosummary_generate = True
autosummary_imported_members = True
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_validation_checks = set()

# -- the gallery -------------------------------------------------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": ["gallery"],
    "gallery_dirs": ["auto_gallery"],
    "filename_pattern": "/plot_",
    "download_all_examples": False,
    "notebook_extensions": set(),
    "min_reported_time": 5,
    "plot_gallery": "True",
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,  # its table is drawn by scripts from elsewhere
    "show_signature": False,
    "within_subsection_order": "FileNameSortKey",
}

# -- the look ----------------------------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "Mercer"
html_static_path = ["_static"]
html_css_files = ["mercer.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "Mercer"},
    "show_prev_next": True,
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
    "navigation_with_keys": False,
}
html_sidebars = {"index": []}
