"""Fill the templates of the report; every value is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from sfumato.report.definitions import groups
from sfumato.report.number_text import amount, measured, settings

if TYPE_CHECKING:
    from jinja2 import Environment


REPORT = "sfumato.report"


def fill(template: str, /, package: str = REPORT, **values: Any) -> str:
    """The text of a template with these values.

    `package` is one whose templates may use those of the report.
    """
    return _environment(package).get_template(template).render(values)


def compile_templates(names: Iterable[str], package: str = REPORT) -> None:
    """Compile templates ahead, so that filling them takes less time later."""
    for name in names:
        _environment(package).get_template(name)


def text_of_template(name: str, package: str = REPORT) -> str:
    """The text of a template as it is, with nothing filled in."""
    loader = _environment(package).loader
    assert loader is not None
    return loader.get_source(_environment(package), name)[0]


@cache
def _environment(package: str) -> Environment:
    # Imported late: `import sfumato` and `sfumato check` make no page.
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    places = dict.fromkeys((package, REPORT))
    made = Environment(
        loader=ChoiceLoader([PackageLoader(place) for place in places]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        # A page is made once or twice, so that folding constants costs more than it saves.
        optimized=False,
    )
    filters = (amount, groups, measured, settings)
    made.filters.update({each.__name__: each for each in filters})
    return made
