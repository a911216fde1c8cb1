"""Settings of the documentation site, which `make docs` builds into build/site.

The sources are the repository's own Markdown files where they are, so that every
link works in the repository and on the site.
"""

import re

from pygments.lexers.configs import TOMLLexer
from pygments.lexers.shell import BashSessionLexer

project = "Sfumato"
author = "the Sfumato authors"
copyright = author
html_title = "Sfumato"

root_doc = "docs/index"
include_patterns = [
    "*.md",
    "docs/**.md",
    "benchmarks/README.md",
    "benchmarks/results/**latest.md",
    "tests/plugin/README.md",
]
exclude_patterns = [".*", "build", "src", "tools", "docs/site"]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "sphinx_copybutton",
]
myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline", "attrs_block"]
myst_heading_anchors = 4
suppress_warnings = []
default_role = "literal"  # of single backticks in docstrings
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True

templates_path = ["templates"]
html_additional_pages = {"index": "start.html"}
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#0b5c6b",
        "color-code-background": "#f3f6f7",
    },
    "navigation_with_keys": False,
}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"


FILE = re.compile(r"^<!-- (file|adds to): (\S+) -->\n```([\w-]+)\n", re.MULTILINE)
CAPTIONS = {"file": "", "adds to": "at the end of "}


def name_files(app, name, source):
    """Show above a block which file it is, or where it belongs."""
    source[0] = FILE.sub(_captioned, source[0])


def _captioned(found):
    kind, file, language = found.groups()
    return f"```{{code-block}} {language}\n:caption: {CAPTIONS[kind]}{file}\n\n"


def setup(app):
    """Name files, and highlight workloads as the TOML that they are."""
    app.connect("source-read", name_files)
    app.add_lexer("workload", TOMLLexer)
    app.add_lexer("console", BashSessionLexer)
