"""The facts of a release as one page that needs no network and no script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tomli_w

from sfumato.report.charts import group_size_chart, loss_chart, size_label
from sfumato.report.definitions import LIMITS, TREATMENTS, groups, measure
from sfumato.report.facts import Facts, RequirementFacts, build
from sfumato.report.number_text import amount, listing, percent, setting
from sfumato.report.templating import fill

TableRow = Sequence[str]


def render(manifest: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """The report of a release, from its manifest and what its run found beyond it."""
    return page(build(manifest, found))


def page(facts: Facts) -> str:
    """The report as HTML text: the template `page.html.jinja`, filled."""
    lossy = [column for column in facts["columns"] if "ncp" in column]
    return fill(
        "page.html.jinja",
        facts=facts,
        summary=_summary(facts),
        promises=[(each, list(_row_counts(each))) for each in facts["requirements"]],
        ledger=list(_ledger_rows(facts["privacy"])),
        loss_chart=loss_chart(lossy) if lossy else None,
        columns=_column_rows(facts),
        loss_by=[
            (name, [_loss_row(line) for line in found])
            for name, found in facts["loss_by"].items()
        ],
        size_chart=group_size_chart(facts["group_sizes"])
        if facts["group_sizes"]
        else None,
        sizes=_size_rows(facts),
        measures=list(_measures(facts)),
        giveaways=_giveaway_rows(facts["giveaways"]),
        limits=list(_limits(facts)),
        making=list(_making_rows(facts)),
        hashes=[name for name, _ in _hash_rows(facts)],
        policy=tomli_w.dumps(_without_none(facts["policy"])),
    )


def _summary(facts: Facts) -> dict[str, Any]:
    kept = all(each["holds"] for each in facts["requirements"])
    return {
        "good": kept and facts["not_for_publication"] is None,
        "verdict": _verdict_sentence(facts, kept),
        "published": _what_was_published(facts),
        "numbers": list(_key_numbers(facts)),
    }


def _verdict_sentence(facts: Facts, kept: bool) -> str:
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


def _what_was_published(facts: Facts) -> str:
    dropped = [c["name"] for c in facts["columns"] if c["treatment"] == "dropped"]
    text = (
        f"{amount(facts['rows_out'])} rows were published, in "
        f"{amount(facts['groups'])} {groups(facts['operator'].get('name', ''))}."
    )
    return f"{text} Left out altogether: {listing(dropped)}." if dropped else text


def _key_numbers(facts: Facts) -> Iterator[TableRow]:
    counted = [
        ("rows in the source", facts["rows_in"]),
        ("rows published", facts["rows_out"]),
        ("rows suppressed", facts["rows_suppressed"]),
        ("groups", facts["groups"]),
    ]
    yield from ((name, amount(value)) for name, value in counted if value is not None)
    if "ncp" in facts["utility"]:
        yield "information lost (NCP)", percent(facts["utility"]["ncp"])
    for key in ("prosecutor_max", "value_max"):
        if key in facts["risk"]:
            yield "highest risk", percent(facts["risk"][key])
    if facts["giveaways"]:
        most = max(each["unique"] for each in facts["giveaways"].values())
        yield "rows that one other column gives away", percent(most)


def _row_counts(each: RequirementFacts) -> Iterator[TableRow]:
    """The rows that a requirement allows and finds, and what breaks it."""
    details = each.get("details", {})
    if "range" in details:
        low, high = details["range"]
        yield "rows allowed", f"{amount(low)} to {amount(high)}"
    if "range" in details and "source" in details:
        count = details["source"]
        yield "rows in the source", "too few to say" if count is None else amount(count)
    if each["holds"]:
        return
    for unit in ("groups", "rows", "persons"):
        broken = each.get(f"offending_{unit}")
        if broken is not None:
            yield f"{unit} that break it", amount(broken)


def _ledger_rows(privacy: Mapping[str, Any]) -> Iterator[TableRow]:
    """Every use of the data, those inside another one below it."""
    waiting = [(entry, 0) for entry in privacy["ledger"]["entries"]] if privacy else []
    while waiting:
        entry, depth = waiting.pop(0)
        yield (
            "– " * depth + entry["what"],
            entry["rows"],
            amount(entry["epsilon"]),
            amount(entry["delta"]),
        )
        waiting[:0] = [(part, depth + 1) for part in entry.get("parts", ())]


def _column_rows(facts: Facts) -> list[TableRow]:
    return [
        (
            column["name"],
            column["role"],
            TREATMENTS.get(column["treatment"], column["treatment"]),
            column.get("hierarchy", "–"),
            percent(column.get("ncp")),
            percent(column.get("generalized_loss")),
        )
        for column in facts["columns"]
    ]


def _loss_row(line: Mapping[str, Any]) -> TableRow:
    several = (
        f"{line['values']} other values" if line["values"] > 1 else "another value"
    )
    return (
        several if line["value"] is None else line["value"],
        amount(line["rows"]),
        amount(line["suppressed_rows"]),
        f"{amount(line['shown'])} ({percent(line['shown'] / line['rows'])})",
        percent(line["suppressed_cells"]),
        percent(line["ncp"]),
    )


def _size_rows(facts: Facts) -> list[TableRow]:
    total = sum(each["rows"] for each in facts["group_sizes"])
    return [
        (
            size_label(each),
            amount(each["groups"]),
            amount(each["rows"]),
            percent(each["rows"] / total),
        )
        for each in facts["group_sizes"]
    ]


def _measures(facts: Facts) -> Iterator[tuple[str, list[TableRow]]]:
    titles = {
        "Utility: what the release is still worth": facts["utility"],
        "Remaining risk": facts["risk"],
    }
    for title, values in titles.items():
        if values:
            yield title, [_measure_row(key, value) for key, value in values.items()]


def _measure_row(key: str, value: object) -> TableRow:
    words = measure(key)
    text = percent(value) if words.share else setting(value)
    return words.title, text, words.definition


def _giveaway_rows(columns: Mapping[str, Mapping[str, Any]]) -> list[TableRow]:
    return [
        (
            name,
            each["role"],
            percent(each["unique"]),
            percent(each["unique_with_quasi"]),
        )
        for name, each in columns.items()
    ]


def _limits(facts: Facts) -> Iterator[str]:
    kept = [c["name"] for c in facts["columns"] if c["treatment"] == "kept"]
    if kept:
        yield f"Published as they were: {listing(kept)}."
    yield from LIMITS
    yield from facts["known_limits"]


def _making_rows(facts: Facts) -> Iterator[TableRow]:
    yield from _thing_rows("algorithm", facts["algorithm"])
    yield from _thing_rows("operator", facts["operator"])
    yield from _hash_rows(facts)
    yield "Sfumato", facts["sfumato"]
    yield from facts["versions"].items()
    for key, seconds in facts["seconds"].items():
        yield f"seconds to {key}", amount(seconds)


def _hash_rows(facts: Facts) -> Iterator[TableRow]:
    for key, value in facts["hashes"].items():
        name = key.removesuffix("_sha256").replace("_", " ")
        yield f"SHA-256 of {name}", value


def _thing_rows(title: str, thing: Mapping[str, Any]) -> Iterator[TableRow]:
    """List an algorithm or operator, with its options below its name."""
    name = str(thing.get("name", "–"))
    yield title, name
    for key, value in thing.items():
        if key != "name":
            yield f"{name}: {key.replace('_', ' ')}", setting(value)


def _without_none(value: Any) -> Any:
    """Remove keys without a value: TOML has no null."""
    if isinstance(value, Mapping):
        return {k: _without_none(v) for k, v in value.items() if v is not None}
    if isinstance(value, list | tuple):
        return [_without_none(v) for v in value if v is not None]
    return value
