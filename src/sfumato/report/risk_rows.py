"""Risk before and after, as rows of tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sfumato.report.attack_verdict import MARKS, JudgedAttack
from sfumato.report.bar_cells import BarRow, bar
from sfumato.report.number_text import amount, percent
from sfumato.risk.attacks.judgment import Size
from sfumato.risk.figures.thresholds import THRESHOLDS

QUESTIONS = {
    "unique": (
        "Singling out: rows that nobody else's looks like",
        "share of rows whose quasi-identifiers occur once",
    ),
    "highest": (
        "Linkability: highest chance to find a person's row",
        "one divided by the smallest group",
    ),
    "mean": (
        "Linkability: average chance to find a person's row",
        "groups divided by rows",
    ),
}
GUESSES = {
    "highest": "highest chance to guess it, in the worst group",
    "mean": "average chance to guess it from the person's group",
    "baseline": "the same from the whole table alone",
    "sure": "people whose group has one value only",
}
SIZE_CLASSES = (1, 2, 3, 5, 10, 20, 50, 100)
"""Where each class of group sizes begins."""

Sides = Mapping[str, Mapping[str, Any]]
"""What is told about the source (`before`) and about the release (`after`)."""


def question_rows(sides: Sides) -> list[BarRow]:
    """Singling out, linkability and inference."""
    rows: list[BarRow] = [
        (title, *(percent(each[key]) for each in sides.values()), definition)
        for key, (title, definition) in QUESTIONS.items()
    ]
    last = list(sides.values())[-1]
    for name in last["values"]:
        for key, definition in GUESSES.items():
            found = [each["values"].get(name, {}).get(key) for each in sides.values()]
            rows.append((f"Inference: {name}", *map(percent, found), definition))
    return rows


def threshold_rows(sides: Sides) -> list[BarRow]:
    """The share of people above each named threshold."""
    return [
        (
            each.name,
            *(percent(side["above"].get(each.name)) for side in sides.values()),
            each.source,
        )
        for each in THRESHOLDS
    ]


def size_class_rows(sides: Sides) -> list[BarRow]:
    """The share of rows in groups of each class of sizes, before and after."""
    shares = [_by_class(side["sizes"]) for side in sides.values()]
    styles = ("before", "")
    return [
        (
            label,
            *(
                bar(percent(s[at]), s[at], k)
                for s, k in zip(shares, styles, strict=True)
            ),
        )
        for at, label in enumerate(_class_labels())
        if any(each[at] for each in shares)
    ]


def _class_labels() -> Iterator[str]:
    ends = [*(each - 1 for each in SIZE_CLASSES[1:]), None]
    for start, end in zip(SIZE_CLASSES, ends, strict=True):
        if end is None:
            yield f"{start} or more"
        else:
            yield str(start) if start == end else f"{start}–{end}"


def _by_class(sizes: Sequence[Mapping[str, int]]) -> list[float]:
    rows = [0] * len(SIZE_CLASSES)
    for each in sizes:
        at = sum(each["size"] >= start for start in SIZE_CLASSES) - 1
        rows[at] += each["size"] * each["groups"]
    total = max(sum(rows), 1)
    return [count / total for count in rows]


ATTACK_HEAD = (
    *("attack", "column", "people", "success", "95% interval", "baseline", "control"),
    *("gain over guessing", "worst person", "promised bound"),
)
"""What is told of an attack; the last three columns judge it."""


class AttackTable(NamedTuple):
    """The names of the columns, and a row for every result; private."""

    head: list[str]
    rows: list[BarRow]


def attack_table(attacks: Sequence[Mapping[str, Any]]) -> AttackTable:
    """Every attack with its figures; without controls where no result has one."""
    controlled = any(each.get("control") is not None for each in attacks)
    shown = [
        place
        for place, name in enumerate(ATTACK_HEAD)
        if controlled or name != "control"
    ]
    rows = [_attack_row(each, JudgedAttack.of(each)) for each in attacks]
    return AttackTable(
        head=[ATTACK_HEAD[place] for place in shown],
        rows=[tuple(row[place] for place in shown) for row in rows],
    )


def _attack_row(attack: Mapping[str, Any], judged: JudgedAttack) -> BarRow:
    return (
        _attack_name(attack),
        attack.get("column") or "–",
        amount(attack["n"]),
        percent(attack["success"]),
        f"{percent(attack['low'])} to {percent(attack['high'])}",
        percent(attack["baseline"]),
        percent(attack.get("control")),
        sized(percent(judged.gain), judged.gain_size),
        sized(percent(attack.get("worst")), judged.worst_size),
        _bound(attack),
    )


def sized(text: str, size: Size | None) -> str:
    """A figure with how large it is, as a symbol and a word."""
    return text if size is None else f"{MARKS[size]} {text} {size}"


def public_attack_rows(attacks: Sequence[Mapping[str, Any]]) -> list[BarRow]:
    """The attacks that a promise bounds, and on which side of the bound they ended."""
    return [
        (
            each["name"],
            each.get("column") or "–",
            "✗ above the promised bound"
            if each["exceeded"]
            else "✓ within the promised bound",
        )
        for each in attacks
        if each.get("bound") is not None
    ]


def _attack_name(each: Mapping[str, Any]) -> str:
    model = each.get("options", {}).get("model")
    return f"{each['name']} ({model})" if model else str(each["name"])


def _bound(each: Mapping[str, Any]) -> str:
    if each.get("bound") is None:
        return "none"
    side = "✗ above" if each["exceeded"] else "✓ within"
    return f"{side} {percent(each['bound'])}"
