"""The report of a release as one page, in two editions.

The public edition holds what follows from the published files and the manifest, and
counts of many source rows. The private edition adds what is computed from the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import tomli_w

from sfumato.models.common.judged_columns import NOTHING_JUDGED
from sfumato.report.attack_verdict import HOW_JUDGED, attack_summary, coverage
from sfumato.report.bar_cells import BarRow
from sfumato.report.charts import group_size_chart, size_label
from sfumato.report.column_rows import (
    column_rows,
    correlation_rows,
    loss_rows,
    mixed_rows,
    private_marginals,
    public_marginals,
)
from sfumato.report.data_dictionary import data_dictionary
from sfumato.report.definitions import LIMITS, measure
from sfumato.report.facts import Facts, RequirementFacts, build
from sfumato.report.making_rows import commands, hash_rows, making_rows, signature_block
from sfumato.report.number_text import (
    amount,
    counted,
    listing,
    measured,
    percent,
    setting,
    settings,
)
from sfumato.report.plain_words import key_numbers, verdict_sentence, words
from sfumato.report.risk_rows import (
    attack_table,
    public_attack_rows,
    question_rows,
    size_class_rows,
    threshold_rows,
)
from sfumato.report.templating import compile_templates, fill

PAGE = "page.html.jinja"
NOTHING: Mapping[str, str] = MappingProxyType({})
TEMPLATES = (
    *(PAGE, "base.html.jinja", "style.css", "table.html.jinja", "charts.html.jinja"),
    *("promises.html.jinja", "risk.html.jinja", "columns.html.jinja"),
    *("dictionary.html.jinja", "making.html.jinja"),
)
"""The templates that a page is made of."""


@dataclass(frozen=True, kw_only=True)
class PrivatePart:
    """What the private edition knows beyond the manifest and the facts."""

    note: str
    """The line that says that the page is private."""
    outside: str | None = None
    """What is said of figures that no ledger pays for."""
    audit: Mapping[str, Any] = field(default_factory=dict)
    """The audit record of the run."""
    assessment: Mapping[str, Any] = field(default_factory=dict)
    """What `sfumato assess` measured, where it was asked to."""

    @property
    def figures(self) -> Mapping[str, Any]:
        """What was computed from the source when the release was made."""
        found: Mapping[str, Any] = self.audit.get("report", {})
        return found


def prepare() -> None:
    """Compile what `render` fills in; it takes most of the time of a page."""
    compile_templates(TEMPLATES)


def render(
    manifest: Mapping[str, Any],
    found: Mapping[str, Any],
    *,
    private: PrivatePart | None = None,
    attacks: Sequence[Mapping[str, Any]] = (),
    skipped: Mapping[str, str] = NOTHING,
    signature: Mapping[str, str] | None = None,
) -> str:
    """The report of a release: the public edition, or the private one.

    `found` is what its run found beyond the manifest, `attacks` are the results that
    `sfumato attack` keeps, `skipped` are attacks that could not be run, with reasons,
    `signature` says who approved the release.
    """
    facts = build(manifest, found)
    values = _shared(facts, signature)
    more = (
        _public(facts, attacks, skipped)
        if private is None
        else _private(facts, private, attacks, skipped)
    )
    values |= more
    return fill(PAGE, **values, contents=list(_contents(values)))


def _shared(facts: Facts, signature: Mapping[str, str] | None) -> dict[str, Any]:
    """What both editions say."""
    return {
        "facts": facts,
        "summary": _summary(facts),
        "requirements": [_requirement_row(each) for each in facts["requirements"]],
        "promises": [(each, list(_row_counts(each))) for each in facts["requirements"]],
        "constraints": list(_constraint_rows(facts)),
        "ledger": list(_ledger_rows(facts["privacy"])),
        "columns": column_rows(facts["columns"]),
        "size_chart": group_size_chart(facts["group_sizes"])
        if facts["group_sizes"]
        else None,
        "sizes": _size_rows(facts),
        "giveaways": _giveaway_rows(facts["giveaways"]),
        "limits": list(_limits(facts)),
        "dictionary": data_dictionary(facts),
        "explanation": facts["explanation"],
        "hashes": [name for name, _ in hash_rows(facts["hashes"])],
        "policy": tomli_w.dumps(_without_none(facts["policy"])),
        "signature": signature_block(facts, signature),
    }


def _public(
    facts: Facts, attacks: Sequence[Mapping[str, Any]], skipped: Mapping[str, str]
) -> dict[str, Any]:
    sides = {"after": facts["exposure"]} if facts["exposure"] else {}
    # Under a process model, nothing is compared with the source.
    told = [] if facts["privacy"] else public_attack_rows(attacks)
    return {
        "private": None,
        "risk": _risk(facts, sides),
        "attacks": {
            "rows": told,
            "coverage": coverage(attacks, skipped) if told else "",
        },
        "marginals": public_marginals(facts["marginals"]),
        "correlations": [],
        "mixed": None,
        "loss_by": [(n, loss_rows(lines)) for n, lines in facts["loss_by"].items()],
        "utility": _measure_rows(facts["utility"]),
        "workload": None,
        "learned": None,
        "making": list(making_rows(facts)),
        "commands": commands(facts, None),
    }


def _private(
    facts: Facts,
    private: PrivatePart,
    attacks: Sequence[Mapping[str, Any]],
    skipped: Mapping[str, str],
) -> dict[str, Any]:
    figures, audit = private.figures, private.audit
    sides = {k: v for k, v in figures.get("exposure", {}).items() if v}
    kept: Mapping[str, Any] = private.assessment.get("utility", {})
    numbers = {k: v for k, v in kept.items() if isinstance(v, int | float)}
    return {
        "private": private,
        "limits": [*_limits(facts), *_repeated(audit.get("repeated_identifier"))],
        "risk": _risk(facts, sides),
        "attacks": {
            **attack_table(attacks)._asdict(),
            "summary": attack_summary(attacks),
            "how": HOW_JUDGED,
            "coverage": coverage(attacks, skipped),
        },
        "marginals": private_marginals(figures.get("marginals", {})),
        "correlations": correlation_rows(figures.get("correlations", [])),
        "mixed": mixed_rows(figures.get("mixed")),
        "loss_by": [
            (name, loss_rows(lines)) for name, lines in audit.get("loss_by", {}).items()
        ],
        "utility": _measure_rows(
            facts["utility"] | figures.get("utility", {}) | numbers
        ),
        "workload": _workload(kept.get("workload")),
        "learned": _learned(kept.get("learned")),
        "making": list(making_rows(facts, audit)),
        "commands": commands(facts, audit),
    }


def _contents(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The sections that the page has, by their ids."""
    yield "short", "In short"
    yield "promises", "Promises"
    yield "limits", "Limits"
    optional = {
        "diversity": ("Diversity", values["constraints"]),
        "ledger": ("Ledger", values["facts"]["privacy"]),
        "risk": ("Risk", values["risk"]["present"]),
        "attacks": (
            "Attacks",
            values["attacks"]["rows"] or values["attacks"]["coverage"],
        ),
    }
    yield from ((key, title) for key, (title, there) in optional.items() if there)
    yield "columns", "Columns"
    if values["loss_by"]:
        yield "bearers", "Who bears the loss"
    if values["utility"]:
        yield "utility", "Utility"
    yield "dictionary", "Data dictionary"
    yield "making", "How it was made"
    yield "signature", "Approval"


def _summary(facts: Facts) -> dict[str, Any]:
    kept = all(each["holds"] for each in facts["requirements"])
    return {
        "good": kept and facts["not_for_publication"] is None,
        "verdict": verdict_sentence(facts, kept=kept),
        "unjudged": NOTHING_JUDGED if facts["judged"] == [] else None,
        "words": words(facts),
        "numbers": list(key_numbers(facts)),
    }


def _risk(facts: Facts, sides: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The tables of the section on risk, where there are any."""
    both = len(sides) == 2
    found = {
        "sides": list(sides) if both else ["value"] * len(sides),
        "questions": question_rows(sides) if sides else [],
        "thresholds": threshold_rows(sides) if sides else [],
        "size_classes": size_class_rows(sides) if both else [],
        "measures": [] if sides else _measure_rows(facts["risk"]),
    }
    there = any(found.values()) or facts["group_sizes"] or facts["giveaways"]
    return found | {"present": bool(there)}


def _requirement_row(each: RequirementFacts) -> BarRow:
    verdict = "✓ holds" if each["holds"] else "✗ does not hold"
    return each["model"], settings(each["parameters"]), measured(each), verdict


def _row_counts(each: RequirementFacts) -> Iterator[tuple[str, str]]:
    """What breaks a requirement."""
    if each["holds"]:
        return
    for unit in ("groups", "rows", "persons"):
        broken = each.get(f"offending_{unit}")
        if broken is not None:
            yield f"{unit} that break it", amount(broken)


def _constraint_rows(facts: Facts) -> Iterator[BarRow]:
    """The rows that diversity constraints allow and find."""
    for each in facts["requirements"]:
        details = each.get("details", {})
        if "range" not in details:
            continue
        low, high = details["range"]
        where = each["parameters"].get("where") or each["parameters"]
        count = details.get("source")
        yield (
            settings(where),
            f"{amount(low)} to {amount(high)}",
            amount(each["measured"]),
            "too few to say"
            if "source" in details and count is None
            else amount(count),
            "✓ holds" if each["holds"] else "✗ does not hold",
        )


def _ledger_rows(privacy: Mapping[str, Any]) -> Iterator[BarRow]:
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


def _size_rows(facts: Facts) -> list[BarRow]:
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


def _measure_rows(values: Mapping[str, Any]) -> list[BarRow]:
    rows: list[BarRow] = []
    for key, value in values.items():
        said = measure(key)
        text = percent(value) if said.share else setting(value)
        rows.append((said.title, text, said.definition))
    return rows


def _giveaway_rows(columns: Mapping[str, Mapping[str, Any]]) -> list[BarRow]:
    return [
        (
            name,
            each["role"],
            percent(each["unique"]),
            percent(each["unique_with_quasi"]),
        )
        for name, each in columns.items()
    ]


def uncovered(facts: Facts) -> list[str]:
    """Sensitive columns that are published, and that no requirement is about."""
    asked = [
        each["parameters"]["on"]
        for each in facts["requirements"]
        if "on" in each["parameters"]
    ]
    if facts["privacy"] or None in asked:
        return []
    covered = {name for on in asked for name in ([on] if isinstance(on, str) else on)}
    return [
        column["name"]
        for column in facts["columns"]
        if column["role"] == "sensitive"
        and column["treatment"] != "dropped"
        and column["name"] not in covered
    ]


def _limits(facts: Facts) -> Iterator[str]:
    kept = [c["name"] for c in facts["columns"] if c["treatment"] == "kept"]
    if kept:
        yield f"Published as they were: {listing(kept)}."
    bare = uncovered(facts)
    if bare:
        columns = "column" if len(bare) == 1 else "columns"
        values = "its value" if len(bare) == 1 else "their values"
        yield (
            f"No requirement is about the sensitive {columns} {listing(bare)}: a group "
            f"may give {values} away."
        )
    yield from LIMITS
    yield from facts["known_limits"]


def _repeated(told: Mapping[str, Any] | None) -> Iterator[str]:
    """Say how often an identifier repeats, where rows are counted."""
    if told:
        yield (
            f"By the identifier {told['column']}, one person has up to "
            f"{counted(told['most_rows'], 'row')}: {amount(told['values'])} values in "
            f"{amount(told['known'])} rows. With the role subject, persons are counted."
        )


def _workload(error: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The error of a workload, where it was measured."""
    if error is None:
        return None
    return {
        "caption": f"{amount(error['queries'])} queries, of which "
        f"{amount(error['empty_queries'])} find no row of the source.",
        "rows": [
            (name.replace("_", " "), amount(each["value"]), _interval(each))
            for name, each in error.items()
            if isinstance(each, Mapping)
        ],
    }


def _learned(learned: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What models learn from the release, where it was measured."""
    if learned is None:
        return None
    scores = {**learned["models"], "no features": {"original": learned["baseline"]}}
    return {
        "caption": f"Learning {learned['target']} from {amount(learned['rows'])} rows: "
        f"{learned['measure']}, with its 95% interval.",
        "rows": [
            (name, *(_score(each.get(side)) for side in ("original", "release")))
            for name, each in scores.items()
        ],
    }


def _score(figure: Mapping[str, Any] | None) -> str:
    return "–" if figure is None else f"{amount(figure['value'])} ({_interval(figure)})"


def _interval(figure: Mapping[str, Any]) -> str:
    return f"{amount(figure['low'])} to {amount(figure['high'])}"


def _without_none(value: Any) -> Any:
    """Remove keys without a value: TOML has no null."""
    if isinstance(value, Mapping):
        return {k: _without_none(v) for k, v in value.items() if v is not None}
    if isinstance(value, list | tuple):
        return [_without_none(v) for v in value if v is not None]
    return value
