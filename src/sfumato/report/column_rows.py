"""Columns before and after, as rows of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.report.bar_cells import BarCell, BarRow, bar, clipped
from sfumato.report.definitions import TREATMENTS
from sfumato.report.facts import ColumnFacts
from sfumato.report.number_text import amount, listing, percent

OTHERS = "other values"


def column_rows(columns: Sequence[ColumnFacts]) -> list[BarRow]:
    """What happened to each column, and what it lost."""
    return [
        (
            column["name"],
            _role(column),
            TREATMENTS.get(column["treatment"], column["treatment"]),
            column.get("hierarchy", "–"),
            bar(percent(column.get("ncp")), column.get("ncp")),
            percent(column.get("generalized_loss")),
        )
        for column in columns
    ]


def _role(column: ColumnFacts) -> str:
    """The role of a column; a column left out has none unless the policy says one."""
    left_out = column["treatment"] == "dropped" and column["role"] == "insensitive"
    return "–" if left_out else column["role"]


def public_marginals(
    marginals: Mapping[str, Sequence[Mapping[str, Any]]],
) -> list[tuple[str, list[BarRow]]]:
    """By column: rows of the source, and rows that the release surely or possibly has."""
    return [
        (name, [_public_row(line, _highest(lines)) for line in lines])
        for name, lines in marginals.items()
        if lines
    ]


def _highest(lines: Sequence[Mapping[str, Any]]) -> float:
    return max(max(line["before"], line.get("possible", 0)) for line in lines) or 1


def _public_row(line: Mapping[str, Any], highest: float) -> BarRow:
    inside, possible = line["inside"], line["possible"]
    text = amount(inside)
    if possible > inside:
        text = f"{amount(inside)} to {amount(possible)}"
    release = (
        (clipped(inside / highest), ""),
        (clipped((possible - inside) / highest), "maybe"),
    )
    return (
        line["label"] or OTHERS,
        bar(amount(line["before"]), line["before"] / highest, "before"),
        BarCell(text, release),
    )


def private_marginals(
    marginals: Mapping[str, Sequence[Mapping[str, Any]]],
) -> list[tuple[str, list[BarRow]]]:
    """By column: rows of the source, and rows as the release seems to have them."""
    found = []
    for name, lines in marginals.items():
        most = max((max(x["before"], x["after"]) for x in lines), default=1) or 1
        rows: list[BarRow] = [
            (
                OTHERS if line["label"] is None else line["label"] or "missing",
                bar(amount(line["before"]), line["before"] / most, "before"),
                bar(amount(round(line["after"])), line["after"] / most),
            )
            for line in lines
        ]
        if rows:
            found.append((name, rows))
    return found


def correlation_rows(correlations: Sequence[Mapping[str, Any]]) -> list[BarRow]:
    """The correlations of columns before and after."""
    return [
        (
            listing(each["columns"]),
            f"{each['before']:.3f}",
            f"{each['after']:.3f}",
            f"{each['after'] - each['before']:+.3f}",
        )
        for each in correlations
        if None not in (each["before"], each["after"])
    ]


def mixed_rows(mixed: Mapping[str, Any] | None) -> dict[str, list[BarRow]] | None:
    """Where sets leave most open: the columns, and the groups; None without sets."""
    if not mixed or not mixed["columns"]:
        return None
    return {
        "columns": [
            (each["column"], f"{each['values']:.1f}", percent(each["open"]))
            for each in mixed["columns"]
        ],
        "groups": [
            (
                each["column"],
                each["set"],
                amount(each["rows"]),
                amount(each["values"]),
                percent(each["open"]),
            )
            for each in mixed["groups"]
        ],
    }


def loss_rows(lines: Sequence[Mapping[str, Any]]) -> list[BarRow]:
    """What the rows with each value of a column lost."""
    return [_loss_row(line) for line in lines]


def _loss_row(line: Mapping[str, Any]) -> BarRow:
    several = (
        f"{line['values']} other values" if line["values"] > 1 else "another value"
    )
    return (
        several if line["value"] is None else line["value"],
        amount(line["rows"]),
        amount(line["suppressed_rows"]),
        f"{amount(line['shown'])} ({percent(line['shown'] / line['rows'])})",
        percent(line["suppressed_cells"]),
        bar(percent(line["ncp"]), line["ncp"]),
    )
