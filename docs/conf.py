"""How Sphinx builds the site: ``sphinx-build -W docs docs/_build/html`` (extra ``docs``).

The pages are plain Markdown that reads as well where it lies. What is navigation on the site are the lists of
pages in ``index.md`` and, for what was tried and measured, in ``notes/index.md``.
"""

import re
import sys
from pathlib import Path

from numpydoc.xref import DEFAULT_LINKS

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from overlapper.version import __version__  # noqa: E402

project = author = "overlapper"
copyright = "The overlapper authors"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build"]
default_role = "py:obj"

myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_preserve_defaults = True  # as they are written, not <function <lambda>>
autodoc_typehints = "none"  # numpydoc's sections say them
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = {"optional", "of", "shape", "default"}
# numpydoc looks for Python's own types in Python's documentation, which is not at hand.
numpydoc_xref_aliases = {name: link.replace("python:", "") for name, link in DEFAULT_LINKS.items()} | {
    "bool": "bool",
    "boolean": "bool",
    "generator": "collections.abc.Generator",
    "iterable": "collections.abc.Iterable",
    "sequence": "collections.abc.Sequence",
}

html_theme = "furo"
html_title = f"overlapper {__version__}"
html_copy_source = False
html_show_sphinx = False

linkcheck_timeout = 20
linkcheck_retries = 2


def tree_of_index(text):
    """Return the sections of a list of pages, each as a hidden table of contents."""
    trees = []
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        items = "".join(line for line in section.splitlines() if line.startswith("- "))
        pages = re.findall(r"\]\((?!\.\./)([^)#]+)\.md\)", items)
        caption = section.partition("\n")[0]
        trees.append("\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```"]))
    return "\n\n".join(trees)


def add_navigation(app, page, source):
    """Append the tables of contents to a list of pages as it is read."""
    if page in ("index", "notes/index"):
        source[0] += "\n" + tree_of_index(source[0])


def setup(app):
    """Have the navigation added."""
    app.connect("source-read", add_navigation)
    return {"parallel_read_safe": True}
