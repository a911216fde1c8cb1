"""The bounds that the report's worked example prints, computed as it computes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypedDict

from sfumato.errors import SfumatoError
from sfumato.pipeline.column_kinds import names
from sfumato.pipeline.findings import Findings
from sfumato.pipeline.published_bounds import column_bounds
from sfumato.pipeline.published_table import PublishedTable, recorded_policy
from sfumato.publish.base import Form
from sfumato.publish.generalize import BOUNDS

COARSE = frozenset({"interval", "half-open", "star", "set", "label", "typical", "low"})
"""Forms of cells for which a mean needs care."""
MANY = 12
"""A column with so many values is as good an example as any."""
GROUPS = (("integer", "decimal"), ("date", "datetime"))
"""One example is a column of numbers, another one of dates."""


class ExampleBounds(TypedDict):
    """A column of the example, and what the program prints about it."""

    column: str
    text: str


def example_bounds(
    findings: Findings, forms: Mapping[str, Mapping[str, Any]]
) -> list[ExampleBounds]:
    """Bounds for the example; `forms` are those of the published cells."""
    if findings.certificate is not None or findings.run.operator.form is not Form.CELLS:
        return []
    table = _as_a_reader_has_it(findings)
    bounded = (_first_bounded(findings, table, forms, kinds) for kinds in GROUPS)
    return [example for example in bounded if example is not None]


def _as_a_reader_has_it(findings: Findings) -> PublishedTable:
    """The draft beside what its manifest will say; of equal rows, one."""
    policy = findings.run.policy.public_dict()
    manifest = {"policy": policy, "kinds": names(findings.claim.decided)}
    rows, times = findings.shown_rows or (None, None)
    quasi = findings.draft.table.select(list(findings.draft.quasi))
    return PublishedTable(
        policy=recorded_policy(manifest),
        table=quasi if rows is None else quasi.take(rows),
        times=times,
        manifest=manifest,
    )


def _first_bounded(
    findings: Findings,
    table: PublishedTable,
    forms: Mapping[str, Mapping[str, Any]],
    kinds: tuple[str, ...],
) -> ExampleBounds | None:
    """The column with most values for which bounds follow."""
    sizes = {coded.name: coded.axis.size for coded in findings.shown}
    for name in sorted(
        _coarse(forms, kinds), key=lambda n: -min(sizes.get(n, 0), MANY)
    ):
        try:
            text = column_bounds(table.column(name)).text()
        except SfumatoError:
            # Nothing follows: its hierarchy is a file, or no cell has two ends.
            continue
        return ExampleBounds(column=name, text=text)
    return None


def _coarse(
    forms: Mapping[str, Mapping[str, Any]], kinds: tuple[str, ...]
) -> Iterator[str]:
    """The quasi-identifiers of some kinds that are shown coarser than they were."""
    for name, column in forms.items():
        shown = {str(form["form"]) for form in column["forms"]}
        if column["kind"] in kinds and shown & COARSE:
            yield name.removesuffix(BOUNDS[0]) if "low" in shown else name
