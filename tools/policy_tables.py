"""Fill the tables of the page about the policy from the code.

A table stands between `<!-- keys of NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sfumato.policy import sections
from sfumato.policy.document import Policy
from tools.setting_meanings import settings_of, table

TABLES: dict[str, type] = {
    "the document": Policy,
    "data": sections.Data,
    "columns": sections.ColumnSection,
    "require": sections.Requirement,
    "algorithm": sections.AlgorithmSection,
    "publish": sections.Publish,
    "report": sections.Report,
    "privacy": sections.Privacy,
    "compare": sections.CompareSection,
}
PLACE = re.compile(r"<!-- keys of ([\w ]+) -->\n.*?<!-- end -->", re.DOTALL)


def filled(page: str) -> str:
    """The page with every table as the code says it."""
    return PLACE.sub(_table, page)


def _table(place: re.Match[str]) -> str:
    name = place[1]
    rows = table(settings_of(TABLES[name]))
    return f"<!-- keys of {name} -->\n{rows}\n<!-- end -->"


def unnamed(page: str) -> Iterator[str]:
    """Tables of the policy that the page has no place for."""
    places = PLACE.findall(page)
    return (name for name in TABLES if name not in places)
