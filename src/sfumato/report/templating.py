"""Fill the templates of the report; every value is escaped."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from sfumato.report.definitions import groups
from sfumato.report.number_text import amount, measured, settings

if TYPE_CHECKING:
    from jinja2 import Environment


def fill(template: str, /, **values: Any) -> str:
    """The text of a template with these values."""
    return _environment().get_template(template).render(values)


def text_of_template(name: str) -> str:
    """The text of a template as it is, with nothing filled in."""
    loader = _environment().loader
    assert loader is not None
    return loader.get_source(_environment(), name)[0]


@cache
def _environment() -> Environment:
    # Imported late: `import sfumato` and `sfumato check` make no page.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("sfumato.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    filters = (amount, groups, measured, settings)
    made.filters.update({each.__name__: each for each in filters})
    return made
