"""The data dictionary: what published cells mean, and how to compute with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.report.bar_cells import BarRow
from sfumato.report.definitions import CELL_FORMS
from sfumato.report.facts import Facts
from sfumato.report.number_text import amount
from sfumato.report.worked_example import worked_example

ALWAYS_CLEAR = frozenset({"value", "synthetic"})
"""Forms that need no explanation of their own."""


def data_dictionary(facts: Facts) -> dict[str, Any]:
    """The rows of its tables, and an example that runs on this release."""
    columns, file = facts["cells"], facts["file"]
    present = {
        form["form"]: form for column in columns.values() for form in column["forms"]
    }
    return {
        "file": file["name"],
        "columns": [_column_row(name, each) for name, each in columns.items()],
        "forms": [
            (_titled(key, present[key]), words.means, words.compute)
            for key, words in CELL_FORMS.items()
            if key in present and not present.keys() <= ALWAYS_CLEAR
        ],
        "example": worked_example(columns, facts["examples"], file) if columns else "",
    }


def _column_row(name: str, column: Mapping[str, Any]) -> BarRow:
    return (
        name,
        column.get("role") or "added",
        column.get("kind") or "–",
        "; ".join(_told(form) for form in column["forms"]),
    )


def _told(form: Mapping[str, Any]) -> str:
    title = CELL_FORMS[form["form"]].title
    text = title if form.get("rows") is None else f"{title} ({_rows(form['rows'])})"
    example = form.get("example")
    return text if example is None or form["form"] == "star" else f"{text}: {example}"


def _rows(count: int) -> str:
    return f"{amount(count)} {'row' if count == 1 else 'rows'}"


def _titled(key: str, form: Mapping[str, Any]) -> str:
    title, example = CELL_FORMS[key].title, form.get("example")
    plain = example is None or key == "star"
    return title if plain else f"{title}, as in {example}"
