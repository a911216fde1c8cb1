"""A release in plain words: the verdict, one paragraph, and a few numbers."""

from __future__ import annotations

from collections.abc import Iterator

from sfumato.report.definitions import groups
from sfumato.report.facts import Facts
from sfumato.report.number_text import amount, counted, listing, percent


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
    return f"✓ {noun} of the policy {verb}, {how}."


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


def key_numbers(facts: Facts) -> Iterator[tuple[str, str]]:
    """The numbers at the top of the page."""
    numbers = [
        ("rows in the source", facts["rows_in"]),
        ("rows published", facts["rows_out"]),
        ("rows suppressed", facts["rows_suppressed"]),
        ("groups", facts["groups"]),
    ]
    yield from ((name, amount(value)) for name, value in numbers if value is not None)
    if "ncp" in facts["utility"]:
        yield "information lost (NCP)", percent(facts["utility"]["ncp"])
    for key in ("prosecutor_max", "value_max"):
        if key in facts["risk"]:
            yield "highest risk", percent(facts["risk"][key])
    if facts["giveaways"]:
        most = max(each["unique"] for each in facts["giveaways"].values())
        yield "rows that one other column gives away", percent(most)
