"""A release in plain words: the verdict, one paragraph, and a few numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sfumato.report.attack_verdict import MARKS
from sfumato.report.definitions import groups
from sfumato.report.exact_column_words import (
    RARE,
    UNIQUE,
    rare_sentence,
    unique_sentence,
)
from sfumato.report.facts import Facts
from sfumato.report.number_text import amount, counted, listing, percent
from sfumato.risk.attacks.judgment import GAIN_LIMITS, Light, Size, size_of


def verdict_sentence(facts: Facts, *, kept: bool) -> str:
    """Whether every promise holds, in one sentence."""
    count = len(facts["requirements"])
    if not kept:
        return "✗ This table does not keep every promise. Do not publish it."
    if facts["not_for_publication"] is not None:
        return f"✗ {facts['not_for_publication']}"
    noun = {1: "The promise", 2: "Both promises"}.get(count, f"All {count} promises")
    verb = "holds" if count == 1 else "hold"
    how = "measured on the published table"
    if facts["privacy"]:
        how = "certified by the ledger of its making"
        how += ", or measured on the published table" if count > 1 else ""
    unit = f" Requirements count {facts['unit']}." if facts["unit"] else ""
    return f"✓ {noun} of the policy {verb}, {how}.{unit}"


def words(facts: Facts) -> str:
    """One paragraph for a reader who knows nothing of the field."""
    return " ".join(_sentences(facts))


def _sentences(facts: Facts) -> Iterator[str]:
    yield _published(facts)
    treated: dict[str, list[str]] = {}
    for column in facts["columns"]:
        treated.setdefault(column["treatment"], []).append(column["name"])
    for treatment, sentence in TREATED.items():
        names = treated.get(treatment)
        if names:
            yield sentence.format(listing(names), "were" if len(names) > 1 else "was")
    if "prosecutor_max" in facts["risk"]:
        risk = percent(facts["risk"]["prosecutor_max"])
        yield (
            "Whoever knows all quasi-identifiers of a person who is in the table picks "
            f"the person's row with a chance of at most {risk}."
        )
    elif "value_max" in facts["risk"]:
        risk = percent(facts["risk"]["value_max"])
        yield (
            "Whoever finds a person's row guesses the person's sensitive value with a "
            f"chance of at most {risk}."
        )
    told = {**facts["risk"], "columns": facts["giveaways"], RARE: facts["rare_values"]}
    yield from filter(None, (unique_sentence(told), rare_sentence(told)))
    if "ncp" in facts["utility"]:
        yield (
            f"The quasi-identifiers lost {percent(facts['utility']['ncp'])} of their "
            "detail: 0% would be exact values, 100% none."
        )


TREATED = {
    "dropped": "Left out altogether: {0}.",
    "pseudonymized": "Replaced by pseudonyms: {0}.",
    "generalize": (
        "Made coarser, so that a group of rows shares every combination that is "
        "published: {0}."
    ),
    "suppress": "{0} {1} hidden where the rows of a group differ.",
    "microaggregate": "{0} {1} replaced by a typical value of the row's group.",
    "swapped": "{0} {1} exchanged at random between the rows of a group.",
    "apart": "{0} {1} moved to a table of their own.",
    "synthetic": "{0} {1} drawn anew from noisy counts.",
    "banded": "Published in intervals that the policy fixes: {0}.",
    "kept": "Published as they were: {0}.",
}
"""What happened to columns; {0} lists them, {1} is "was" or "were"."""


def _published(facts: Facts) -> str:
    rows, inside = facts["rows_out"], facts["rows_in"]
    of_source = "" if inside is None else f" of the {amount(inside)} in the source"
    verb = "was" if rows == 1 else "were"
    return (
        f"{counted(rows, 'row')}{of_source} {verb} published, in "
        f"{amount(facts['groups'])} {groups(facts['operator'].get('name', ''))}."
    )


class KeyNumber(NamedTuple):
    """A number at the top of the page; some are judged by a color and a symbol."""

    name: str
    text: str
    light: Light | None = None


def key_numbers(facts: Facts) -> Iterator[KeyNumber]:
    """The numbers at the top of the page."""
    numbers = [
        ("rows in the source", facts["rows_in"]),
        ("rows published", facts["rows_out"]),
        ("rows suppressed", facts["rows_suppressed"]),
        ("groups", facts["groups"]),
    ]
    for name, value in numbers:
        if value is not None:
            yield KeyNumber(name, amount(value))
    if "ncp" in facts["utility"]:
        yield KeyNumber("information lost (NCP)", percent(facts["utility"]["ncp"]))
    for key in ("prosecutor_max", "value_max"):
        if key in facts["risk"]:
            yield KeyNumber("highest risk", percent(facts["risk"][key]))
    if UNIQUE in facts["risk"]:
        share = float(facts["risk"][UNIQUE])
        yield _marked_share("rows unique with exact columns", share)
    if facts["giveaways"]:
        most = max(each["unique"] for each in facts["giveaways"].values())
        yield _marked_share("rows that one other column gives away", most)


def _marked_share(name: str, share: float) -> KeyNumber:
    """A share of rows that are given away: none is good, and many are bad."""
    light = Light.GREEN if share == 0 else Light.AMBER
    if size_of(share, GAIN_LIMITS) is Size.LARGE:
        light = Light.RED
    return KeyNumber(name, f"{MARKS[light]} {percent(share)}", light)
