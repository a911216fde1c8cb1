"""The facts of a release as one page that needs no network and no script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tomli_w

from sfumato.report.charts import group_size_chart, loss_chart, size_label
from sfumato.report.definitions import LIMITS, TREATMENTS, groups, measure
from sfumato.report.facts import Facts, RequirementFacts, build
from sfumato.report.markup import Child, Html, tag
from sfumato.report.number_text import (
    amount,
    listing,
    measured,
    percent,
    setting,
    settings,
)
from sfumato.report.style import STYLE

TITLE = "What this release promises"
POLICY_DIRECTIVE = "default-src 'none'; style-src 'unsafe-inline'"
"""The page forbids its own network: nothing in it can load anything."""


def render(manifest: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """The report of a release, from its manifest and what its run found beyond it."""
    return page(build(manifest, found))


def page(facts: Facts) -> str:
    """The report as HTML text."""
    body = tag(
        "main",
        _heading(facts),
        _summary(facts),
        _promises(facts),
        _privacy(facts["privacy"]),
        _columns(facts),
        _borne(facts["loss_by"]),
        _groups(facts),
        _measures("What it is worth: utility", facts["utility"]),
        _measures("What remains: risk", facts["risk"]),
        _giveaways(facts["giveaways"]),
        _limits(facts),
        _making(facts),
        _policy(facts["policy"]),
    )
    document = tag("html", _head(), tag("body", body), lang="en")
    return f"<!DOCTYPE html>\n{document}\n"


def _head() -> Html:
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY_DIRECTIVE),
        tag("title", TITLE),
        tag("style", Html(STYLE)),
    )


def _heading(facts: Facts) -> Html:
    made = f"Made and verified by Sfumato {facts['sfumato']}"
    return tag("header", tag("h1", TITLE), tag("p", made))


def _summary(facts: Facts) -> Html:
    kept = all(each["holds"] for each in facts["requirements"])
    good = kept and facts["not_for_publication"] is None
    return tag(
        "section",
        tag("h2", "In short"),
        tag("strong", _verdict_sentence(facts, kept)),
        tag("p", _what_was_published(facts)),
        _key_numbers(facts),
        class_="banner" if good else "banner bad",
    )


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


def _key_numbers(facts: Facts) -> Html:
    counted = [
        ("rows in the source", facts["rows_in"]),
        ("rows published", facts["rows_out"]),
        ("rows suppressed", facts["rows_suppressed"]),
        ("groups", facts["groups"]),
    ]
    numbers = [(name, amount(value)) for name, value in counted if value is not None]
    if "ncp" in facts["utility"]:
        numbers.append(("information lost (NCP)", percent(facts["utility"]["ncp"])))
    for key in ("prosecutor_max", "value_max"):
        if key in facts["risk"]:
            numbers.append(("highest risk", percent(facts["risk"][key])))
    if facts["giveaways"]:
        most = max(each["unique"] for each in facts["giveaways"].values())
        numbers.append(("rows that one other column gives away", percent(most)))
    pairs = [tag("div", tag("dt", name), tag("dd", text)) for name, text in numbers]
    return tag("dl", pairs, class_="numbers")


def _promises(facts: Facts) -> Html:
    return tag(
        "section",
        tag("h2", "What is promised"),
        tag("p", facts["promise"]) if facts["promise"] else None,
        [_promise(each) for each in facts["requirements"]],
    )


def _promise(each: RequirementFacts) -> Html:
    verdict = "✓ holds" if each["holds"] else "✗ does not hold"
    style = "verdict" if each["holds"] else "verdict bad"
    return tag(
        "article",
        tag("header", tag("h3", each["model"]), tag("span", verdict, class_=style)),
        tag("p", each["sentence"]),
        tag(
            "dl",
            tag("div", tag("dt", "required"), tag("dd", settings(each["parameters"]))),
            tag("div", tag("dt", "measured"), tag("dd", measured(each))),
            _counted(each.get("details", {})),
            *_offending(each),
            class_="pair",
        ),
        tag("p", "Does not protect from this: ", each["blind_spot"], class_="quiet"),
        class_="promise",
    )


def _counted(details: Mapping[str, Any]) -> list[Html]:
    """The range of a requirement that counts rows, and the count in the source."""
    if "range" not in details:
        return []
    low, high = details["range"]
    pairs = [("rows allowed", f"{amount(low)} to {amount(high)}")]
    if "source" in details:
        count = details["source"]
        pairs.append(
            ("rows in the source", "too few to say" if count is None else amount(count))
        )
    return [tag("div", tag("dt", name), tag("dd", text)) for name, text in pairs]


def _offending(each: RequirementFacts) -> list[Html]:
    if each["holds"]:
        return []
    units = ("groups", "rows", "persons")
    counts = {unit: each.get(f"offending_{unit}") for unit in units}
    return [
        tag("div", tag("dt", f"{unit} that break it"), tag("dd", amount(count)))
        for unit, count in counts.items()
        if count is not None
    ]


def _privacy(privacy: Mapping[str, Any]) -> Html | None:
    """The guarantee of a certified release, its reach and its ledger."""
    if not privacy:
        return None
    ledger = privacy["ledger"]
    return tag(
        "section",
        tag("h2", "What the ledger certifies"),
        tag("p", tag("strong", privacy["guarantee"])),
        tag("p", f"It covers {privacy['covers']}. {privacy['does_not_cover']}"),
        tag("p", privacy["across_releases"]),
        _table(
            "Every use of the data, and what it cost.",
            ["use", "rows", "ε", "δ"],
            list(_ledger_rows(ledger["entries"])),
            numbers=(2, 3),
        ),
        tag(
            "p",
            f"In all: ε = {amount(ledger['epsilon'])}, δ = {amount(ledger['delta'])}.",
        ),
    )


def _ledger_rows(
    entries: Sequence[Mapping[str, Any]], depth: int = 0
) -> Iterator[list[Child]]:
    for entry in entries:
        yield [
            tag("th", "– " * depth + entry["what"], scope="row"),
            entry["rows"],
            _number(amount(entry["epsilon"])),
            _number(amount(entry["delta"])),
        ]
        yield from _ledger_rows(entry.get("parts", ()), depth + 1)


def _columns(facts: Facts) -> Html:
    lossy = [column for column in facts["columns"] if "ncp" in column]
    rows = [
        [
            tag("th", column["name"], scope="row"),
            column["role"],
            TREATMENTS.get(column["treatment"], column["treatment"]),
            column.get("hierarchy", "–"),
            _number(percent(column.get("ncp"))),
            _number(percent(column.get("generalized_loss"))),
        ]
        for column in facts["columns"]
    ]
    head = ["column", "role", "published", "hierarchy", "NCP", "generalized loss"]
    return tag(
        "section",
        tag("h2", "What happened to each column"),
        loss_chart(lossy) if lossy else None,
        _table(
            "NCP is 0% for exact values and 100% for none.",
            head,
            rows,
            numbers=(4, 5),
        ),
    )


def _borne(lines: Mapping[str, Sequence[Mapping[str, Any]]]) -> Html | None:
    """Who bears the loss: one table for each column that the policy names."""
    if not lines:
        return None
    head = [
        *("value", "rows", "left out", "show the value"),
        *("cells that show nothing", "NCP"),
    ]
    return tag(
        "section",
        tag("h2", "Who bears the loss"),
        tag(
            "p",
            "Rows of the source by their value, and what their cells lost. Values that "
            "few rows have are counted together.",
        ),
        [
            _table(
                f"By {name}.",
                head,
                [_borne_row(line) for line in found],
                numbers=range(1, 6),
            )
            for name, found in lines.items()
        ],
    )


def _borne_row(line: Mapping[str, Any]) -> list[Html]:
    several = (
        f"{line['values']} other values" if line["values"] > 1 else "another value"
    )
    title = several if line["value"] is None else line["value"]
    return [
        tag("th", title, scope="row"),
        _number(amount(line["rows"])),
        _number(amount(line["suppressed_rows"])),
        _number(f"{amount(line['shown'])} ({percent(line['shown'] / line['rows'])})"),
        _number(percent(line["suppressed_cells"])),
        _number(percent(line["ncp"])),
    ]


def _groups(facts: Facts) -> Html | None:
    bins = facts["group_sizes"]
    if not bins:
        return None
    total = sum(each["rows"] for each in bins)
    rows = [
        [
            tag("th", size_label(each), scope="row"),
            _number(amount(each["groups"])),
            _number(amount(each["rows"])),
            _number(percent(each["rows"] / total)),
        ]
        for each in bins
    ]
    table = _table(
        "Every bar in numbers.",
        ["rows in a group", "groups", "rows", "share of rows"],
        rows,
        numbers=(1, 2, 3),
    )
    return tag(
        "section",
        tag("h2", "How large the groups are"),
        tag(
            "p",
            f"{amount(facts['groups'])} {groups(facts['operator'].get('name', ''))}.",
        ),
        group_size_chart(bins),
        tag("details", tag("summary", "The numbers behind the chart"), table),
    )


def _measures(title: str, values: Mapping[str, Any]) -> Html | None:
    if not values:
        return None
    rows = [_measure_row(key, value) for key, value in values.items()]
    head = ["measure", "value", "definition"]
    return tag("section", tag("h2", title), _table(None, head, rows, numbers=(1,)))


def _giveaways(columns: Mapping[str, Mapping[str, Any]]) -> Html | None:
    """What columns that are no quasi-identifiers give away to who knows them."""
    if not columns:
        return None
    rows = [
        [
            tag("th", name, scope="row"),
            each["role"],
            _number(percent(each["unique"])),
            _number(percent(each["unique_with_quasi"])),
        ]
        for name, each in columns.items()
    ]
    head = ["column", "role", "alone", "with the quasi-identifiers"]
    return tag(
        "section",
        tag("h2", "What the other columns give away"),
        tag(
            "p",
            "The risk above is that of quasi-identifiers. Whoever knows a person's value "
            "in another column finds the person's row where that value occurs once.",
        ),
        _table("Rows with a value that occurs once.", head, rows, numbers=(2, 3)),
    )


def _measure_row(key: str, value: object) -> list[Html]:
    words = measure(key)
    text = percent(value) if words.share else setting(value)
    return [
        tag("th", words.title, scope="row"),
        _number(text),
        tag("td", words.definition),
    ]


def _limits(facts: Facts) -> Html:
    kept = [c["name"] for c in facts["columns"] if c["treatment"] == "kept"]
    named = [f"Published as they were: {listing(kept)}."] if kept else []
    return tag(
        "section",
        tag("h2", "Known limits"),
        tag(
            "ul",
            [tag("li", item) for item in (*named, *LIMITS, *facts["known_limits"])],
        ),
    )


def _making(facts: Facts) -> Html:
    rows = [
        *_thing_rows("algorithm", facts["algorithm"]),
        *_thing_rows("operator", facts["operator"]),
        *(_hash_row(key, value) for key, value in facts["hashes"].items()),
        _making_row("Sfumato", facts["sfumato"]),
        *(_making_row(key, value) for key, value in facts["versions"].items()),
        *(
            _making_row(f"seconds to {key}", amount(value))
            for key, value in facts["seconds"].items()
        ),
    ]
    table = _table(None, ["what", "value"], rows)
    return tag("section", tag("h2", "How it was made"), table)


def _thing_rows(title: str, thing: Mapping[str, Any]) -> list[list[Html]]:
    """An algorithm or operator, and its options under its name."""
    name = str(thing.get("name", "–"))
    options = {key: value for key, value in thing.items() if key != "name"}
    return [
        _making_row(title, name),
        *(
            _making_row(f"{name}: {key.replace('_', ' ')}", setting(value))
            for key, value in options.items()
        ),
    ]


def _making_row(name: str, value: str) -> list[Html]:
    return [tag("th", name, scope="row"), tag("td", value)]


def _hash_row(key: str, value: str) -> list[Html]:
    name = key.removesuffix("_sha256").replace("_", " ")
    return [
        tag("th", f"SHA-256 of {name}", scope="row"),
        tag("td", value, class_="hash"),
    ]


def _policy(policy: Mapping[str, Any]) -> Html | None:
    if not policy:
        return None
    text = tomli_w.dumps(_without_none(policy))
    return tag(
        "section",
        tag("h2", "The policy"),
        tag("p", "What was asked for, without the paths of files."),
        tag("pre", tag("code", text), tabindex=0),
    )


def _without_none(value: Any) -> Any:
    """TOML has no null: a key without a value is left out."""
    if isinstance(value, Mapping):
        return {k: _without_none(v) for k, v in value.items() if v is not None}
    if isinstance(value, list | tuple):
        return [_without_none(v) for v in value if v is not None]
    return value


def _table(
    caption: str | None,
    head: Sequence[str],
    rows: Sequence[Sequence[Child]],
    *,
    numbers: Sequence[int] = (),
) -> Html:
    """A table; the columns at `numbers` are set to the right."""
    titles = [
        tag("th", name, scope="col", class_="number" if i in numbers else None)
        for i, name in enumerate(head)
    ]
    table = tag(
        "table",
        tag("caption", caption) if caption else None,
        tag("thead", tag("tr", titles)),
        tag("tbody", [tag("tr", map(_cell, row)) for row in rows]),
    )
    # Focusable, so that the keyboard can scroll a table wider than the screen.
    label = caption or f"Table of {head[0]} and {head[1]}"
    return tag(
        "div", table, class_="scroll", tabindex=0, role="group", aria_label=label
    )


def _cell(child: Child) -> Html:
    return child if isinstance(child, Html) else tag("td", child)


def _number(text: str) -> Html:
    return tag("td", text, class_="number")
