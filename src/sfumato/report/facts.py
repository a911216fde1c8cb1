"""The facts of a release: everything its report says, in plain JSON-able form.

Facts are publishable: they hold names of columns, settings, counts and measures, and
no cell of the source. The seed, the source's hash and row numbers are never included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from sfumato.report.exact_column_words import RARE

LAYOUT = 1
"""The version of this layout; raised when a key changes its meaning."""
MOST_BARS = 24
"""Bars that a chart of group sizes may have."""
PUBLISHED_AS = {
    "identifier": "dropped",
    "subject": "dropped",
    "sensitive": "kept",
    "insensitive": "kept",
    "weight": "kept",
}
"""What happens to a column of a role, unless the operator or the policy says more."""
BANDS = ("bands", "bottom", "top")
"""Settings of a column whose values are coded before anything is published."""
BY_OPERATOR = {
    "swap": {"quasi": "kept", "sensitive": "swapped"},
    "anatomize": {"quasi": "kept", "sensitive": "apart"},
}
"""Operators that hide the link to sensitive values rather than quasi-identifiers."""


class RequirementFacts(TypedDict):
    """One requirement of the policy and what was found in the published table."""

    model: str
    parameters: dict[str, Any]
    holds: bool
    measured: float | None
    offending_groups: int
    offending_rows: NotRequired[int]
    offending_persons: NotRequired[int]
    broken_limits: NotRequired[dict[str, float | None]]
    sentence: str
    blind_spot: str
    details: NotRequired[dict[str, Any]]
    missing_as: NotRequired[dict[str, Any]]
    """The verdict for each meaning of a missing cell, where there are several."""


class ColumnFacts(TypedDict):
    """What happened to one column of the source."""

    name: str
    role: str
    treatment: str
    """A key of `words.TREATMENTS`, or the name of an operator."""
    hierarchy: NotRequired[str]
    ncp: NotRequired[float]
    generalized_loss: NotRequired[float]


class SizeBin(TypedDict):
    """How many groups have between `low` and `high` rows, and their rows together."""

    low: int
    high: int
    groups: int
    rows: int


class Facts(TypedDict):
    """All that a report needs."""

    layout: int
    sfumato: str
    rows_in: int | None
    rows_out: int
    rows_suppressed: int | None
    groups: int
    unit: str | None
    """What the requirements count, rows or persons; None in old manifests."""
    promise: str | None
    """What this form of release promises, and what it does not."""
    requirements: list[RequirementFacts]
    judged: list[str] | None
    """The sensitive columns that a requirement is about; None where it does not say."""
    columns: list[ColumnFacts]
    group_sizes: list[SizeBin]
    utility: dict[str, Any]
    risk: dict[str, Any]
    rare_values: dict[str, Any]
    """The exact columns with values that few hold; empty where there is none."""
    giveaways: dict[str, dict[str, Any]]
    """For each column that is not a quasi-identifier, the share of rows with a value
    that occurs once: alone, and with the quasi-identifiers."""
    algorithm: dict[str, Any]
    """Its name and its options."""
    operator: dict[str, Any]
    policy: dict[str, Any]
    hashes: dict[str, str]
    versions: dict[str, str]
    seconds: dict[str, float]
    known_limits: list[str]
    lowered: list[dict[str, Any]]
    """What the policy asked before somebody lowered it, and why; mostly empty."""
    privacy: dict[str, Any]
    """The guarantee of a process model, its ledger and its reach; empty without one."""
    loss_by: dict[str, list[dict[str, Any]]]
    """The loss by column and value; empty where the policy names no column."""
    not_for_publication: str | None
    """Why it must not be published, or None."""
    explanation: list[str]
    """What the algorithm and the operator do, a sentence each."""
    kinds: dict[str, dict[str, Any]]
    cells: dict[str, dict[str, Any]]
    """By published column its role, its kind and the forms of its cells."""
    examples: list[dict[str, str]]
    """Columns of the worked example, and the bounds that it prints."""
    file: dict[str, str]
    """The name and the delimiter of the data file."""
    exposure: dict[str, Any]
    """How exposed people are by the published cells; empty where cells do not say."""
    marginals: dict[str, list[dict[str, Any]]]
    """By column a few lines: rows of the source, and of the release."""
    least: int | None
    """The smallest count of source rows in `marginals`."""


def _measures(risk: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in risk.items() if key not in ("columns", RARE)}


def build(manifest: Mapping[str, Any], found: Mapping[str, Any]) -> Facts:
    """Collect the facts from a manifest and from what a run found beyond it.

    `found` has `columns` (measures by column), `group_sizes` (size and number of
    groups), the sentences of `algorithm` and `operator`, and what the report draws
    (`cells`, `examples`, `exposure`, `marginals`, `least`, `file`), each of them optional.
    """
    policy = dict(manifest.get("policy", {}))
    operator = dict(manifest.get("operator", {}))
    return Facts(
        layout=LAYOUT,
        sfumato=str(manifest["sfumato"]),
        rows_in=manifest.get("rows_in"),
        rows_out=manifest["rows_out"],
        rows_suppressed=manifest.get("rows_suppressed"),
        groups=manifest["groups"],
        unit=manifest.get("unit"),
        promise=manifest.get("promise"),
        requirements=[_requirement(each) for each in manifest["requirements"]],
        judged=manifest.get("judged"),
        columns=_columns(
            policy,
            found.get("columns", {}),
            operator,
            synthetic=bool(manifest.get("privacy", {}).get("synthetic")),
        ),
        group_sizes=size_bins(found.get("group_sizes", ())),
        utility=dict(manifest.get("utility", {})),
        risk=_measures(manifest.get("risk", {})),
        rare_values=dict(manifest.get("risk", {}).get(RARE, {})),
        giveaways=dict(manifest.get("risk", {}).get("columns", {})),
        algorithm=dict(manifest.get("algorithm", {})),
        operator=operator,
        policy=policy,
        hashes={k: v for k, v in manifest.items() if k.endswith("_sha256")},
        versions=dict(manifest.get("versions", {})),
        seconds=dict(manifest.get("seconds", {})),
        known_limits=list(manifest.get("known_limits", ())),
        lowered=list(manifest.get("lowered", ())),
        privacy=dict(manifest.get("privacy", {})),
        loss_by=dict(manifest.get("loss_by", {})),
        not_for_publication=manifest.get("not_for_publication"),
        explanation=_explanation(found),
        kinds=dict(manifest.get("kinds", {})),
        cells=dict(found.get("cells", {})),
        examples=list(found.get("examples", ())),
        file={"name": "data.csv", **found.get("file", {})},
        exposure=dict(found.get("exposure", {})),
        marginals=dict(found.get("marginals", {})),
        least=found.get("least"),
    )


def _explanation(found: Mapping[str, Any]) -> list[str]:
    """The sentences of the algorithm and the operator, where they are known."""
    things = [found.get(name, {}) for name in ("algorithm", "operator")]
    return [str(each["sentence"]) for each in things if "sentence" in each]


def _requirement(entry: Mapping[str, Any]) -> RequirementFacts:
    facts = RequirementFacts(
        model=entry["model"],
        parameters=dict(entry["parameters"]),
        holds=bool(entry["holds"]),
        measured=entry.get("measured"),
        offending_groups=int(entry.get("offending_groups", 0)),
        sentence=entry.get("sentence", ""),
        blind_spot=entry.get("blind_spot", ""),
    )
    if "offending_rows" in entry:
        facts["offending_rows"] = int(entry["offending_rows"])
    if "offending_persons" in entry:
        facts["offending_persons"] = int(entry["offending_persons"])
    if entry.get("details"):
        facts["details"] = dict(entry["details"])
    if entry.get("broken_limits"):
        facts["broken_limits"] = dict(entry["broken_limits"])
    if entry.get("missing_as"):
        facts["missing_as"] = dict(entry["missing_as"])
    return facts


def _columns(
    policy: Mapping[str, Any],
    measures: Mapping[str, Mapping[str, float]],
    operator: Mapping[str, Any],
    *,
    synthetic: bool,
) -> list[ColumnFacts]:
    sections: Mapping[str, Mapping[str, Any]] = policy.get("columns", {})
    unnamed = {name: {"role": "quasi"} for name in measures if name not in sections}
    found = [
        _column(name, section, measures.get(name, {}), operator)
        for name, section in {**sections, **unnamed}.items()
    ]
    if synthetic:
        for column in found:
            if column["treatment"] != "dropped":
                column["treatment"] = "synthetic"
    return found


def _column(
    name: str,
    section: Mapping[str, Any],
    measures: Mapping[str, float],
    operator: Mapping[str, Any],
) -> ColumnFacts:
    role = str(section.get("role", "insensitive"))
    treatment = _treatment(role, section, operator)
    if measures and treatment == "kept":
        # A certified release shows every column as a cell, whatever its role.
        treatment = str(operator.get("name", "generalize"))
    column = ColumnFacts(name=name, role=role, treatment=treatment)
    if section.get("hierarchy") is not None:
        column["hierarchy"] = _hierarchy(section["hierarchy"])
    bands = {key: section[key] for key in BANDS if key in section}
    if bands:
        column["hierarchy"] = _hierarchy(bands)
        if treatment == "kept":
            column["treatment"] = "banded"
    if "ncp" in measures:
        column["ncp"] = measures["ncp"]
    if "generalized_loss" in measures:
        column["generalized_loss"] = measures["generalized_loss"]
    return column


def _treatment(
    role: str, section: Mapping[str, Any], operator: Mapping[str, Any]
) -> str:
    if section.get("drop"):
        return "dropped"
    if section.get("pseudonymize"):
        return "pseudonymized"
    name = str(operator.get("name", "generalize"))
    treatments = {**PUBLISHED_AS, **BY_OPERATOR.get(name, {})}
    return treatments.get(role, name)


def _hierarchy(declared: object) -> str:
    """Describe a declared hierarchy in a few words, without file paths."""
    if not isinstance(declared, Mapping):
        return str(declared)
    return ", ".join(f"{key} {_words(value)}" for key, value in declared.items())


def _words(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def size_bins(sizes: Sequence[Mapping[str, int]]) -> list[SizeBin]:
    """Group sizes, each with its number of groups, in at most `MOST_BARS` bins."""
    if not sizes:
        return []
    low = min(each["size"] for each in sizes)
    high = max(each["size"] for each in sizes)
    width = _round_width((high - low + 1) / MOST_BARS)
    bins = [
        SizeBin(low=start, high=start + width - 1, groups=0, rows=0)
        for start in range(low, high + 1, width)
    ]
    for each in sizes:
        home = bins[(each["size"] - low) // width]
        home["groups"] += each["groups"]
        home["rows"] += each["groups"] * each["size"]
    return bins


def _round_width(least: float) -> int:
    """The smallest of 1, 2, 5, 10, 20, 50, … that is at least `least`."""
    scale = 1
    while True:
        for step in (1, 2, 5):
            if step * scale >= least:
                return step * scale
        scale *= 10
