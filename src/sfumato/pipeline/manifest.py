"""What is said about a release: to everybody, and to the steward alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from importlib.metadata import version
from types import MappingProxyType
from typing import Any

import numpy as np

from sfumato import registry
from sfumato.algorithms.base import Algorithm, Request, Solution
from sfumato.data.schema import Role
from sfumato.data.seeds import Seed
from sfumato.data.table import Table
from sfumato.hierarchies.axis import CodedAxis
from sfumato.io.spreadsheet import formulas
from sfumato.metrics.base import MetricInput
from sfumato.models.base import Model, OutputModel, Target, Verdict
from sfumato.models.common.targets import rows_of
from sfumato.pipeline import column_kinds as kinds
from sfumato.pipeline.column_kinds import Decided
from sfumato.pipeline.loss_by_value import Borne, loss_by
from sfumato.pipeline.private_run import Certificate
from sfumato.pipeline.unique_values import released_giveaways
from sfumato.policy import Policy
from sfumato.publish.base import Draft, Form, Operator
from sfumato.verify import Proof

LIMITS = (
    "A second release about the same people can be compared with this one; "
    "the guarantees hold for each release alone.",
    "Groupings chosen to keep loss low may tell something to an attacker who knows the "
    "algorithm and its input well (minimality attack).",
)
PATHS = frozenset({"population"})
"""Parameters that name files of the steward's machine."""
SEARCHED = ("metric", "nodes", "nodes_checked", "proven", "bound")
"""What an algorithm that can prove its result says of its search."""
FEW_VALUES = 50
"""The private record says who bears the loss for columns of so many values."""
INSECURE = "Made with a guessable seed: not for publication."


@dataclass(frozen=True, eq=False, kw_only=True)
class Findings:
    """Everything that a run found out."""

    policy: Policy
    algorithm: Algorithm
    operator: Operator
    request: Request
    solution: Solution
    draft: Draft
    proof: Proof
    rows_in: int
    seed: Seed
    seconds: Mapping[str, float]
    table: Table
    decided: Mapping[str, Decided]
    """What the cells of columns are."""
    certificate: Certificate | None = None
    """Of a process model, where one is required."""

    @property
    def rows_out(self) -> int:
        return int(self.draft.table.num_rows)

    @property
    def shown(self) -> tuple[CodedAxis, ...]:
        """The columns that are shown as cells."""
        return self.solution.quasi or self.request.quasi

    @property
    def synthetic(self) -> bool:
        """Whether the published records stand for nobody."""
        return self.solution.synthetic is not None

    @property
    def subjects_hidden(self) -> bool:
        """Whether verdicts count what neither the file shows nor the ledger paid for:
        subjects of several rows."""
        if self.certificate is None or self.request.subject is None:
            return False
        algorithm = self.certificate.algorithm
        return algorithm.rows_per_subject > 1 and not algorithm.every_column

    @property
    def compares(self) -> bool:
        """Whether cells may be compared with the source's, value by value."""
        exact = self.operator.form is not Form.CELLS
        return self.certificate is None and not (self.synthetic or exact)

    @property
    def least(self) -> int:
        """Counts of fewer rows are not published: k, or the smallest group."""
        k = _asked_k(self.request.models)
        return k if k > 1 else int(self.proof.groups.sizes.min(initial=1))

    def outcome(self) -> MetricInput:
        """The release in numbers, for the metrics.

        With a certificate, only published rows count: how many were left out is
        nothing that the ledger paid for.
        """
        return MetricInput(
            rows_in=self.rows_in if self.certificate is None else self.rows_out,
            rows_out=self.rows_out,
            group_rows=self.solution.grouping.sizes(),
            ncp=self.draft.ncp,
            loss=self.draft.loss,
            published_sizes=self.proof.groups.rows,
            k=_asked_k(self.request.models),
        )


def manifest(found: Findings) -> dict[str, Any]:
    """The publishable record; the hash of the data file joins it when written."""
    record = {
        "sfumato": version("sfumato"),
        "policy_sha256": found.policy.sha256(),
        **_compared(found),
        "rows_out": found.rows_out,
        "groups": found.proof.groups.count,
        "requirements": _published_verdicts(found) + certified(found.certificate),
        "utility": {} if found.synthetic else utility(found),
        "risk": {}
        if found.synthetic or found.subjects_hidden
        else risk(found.proof, found.operator.form) | _giveaways(found),
        "algorithm": {"name": found.algorithm.name, **_options(found.algorithm)},
        "operator": {"name": found.operator.name, **_options(found.operator)},
        "policy": found.policy.public_dict(),
        "spreadsheet_safe": found.policy.publish.spreadsheet_safe,
        "known_limits": [*LIMITS, *_formulas(found)],
    }
    if found.compares and found.policy.report.loss_by:
        record["loss_by"] = borne(found, found.policy.report.loss_by, found.least)
    if "proven" in found.solution.facts:
        record["search"] = {key: found.solution.facts[key] for key in SEARCHED}
    if found.certificate is None and not found.synthetic:
        record["kinds"] = kinds.names(found.decided)
        record["promise"] = found.operator.form.promise
    if found.certificate is not None:
        figures = {"figures": dict(found.solution.facts)}
        record["privacy"] = found.certificate.record() | figures
    if found.seed.insecure:
        record["not_for_publication"] = INSECURE
    return record


def _formulas(found: Findings) -> list[str]:
    """What is said of cells that leave as they are and that a spreadsheet may run."""
    if found.policy.publish.spreadsheet_safe:
        return []
    tables = (found.draft.table, *found.draft.beside.values())
    count = sum(formulas(table) for table in tables)
    if not count:
        return []
    cells = f"{count} cell begins" if count == 1 else f"{count} cells begin"
    return [
        f"{cells} with =, +, - or @ and may run as a formula where a CSV file is opened "
        "in a spreadsheet; publish.spreadsheet_safe = true marks such cells."
    ]


def _giveaways(found: Findings) -> dict[str, Any]:
    """What columns that leave as they are give away; the ledger paid for no count."""
    if found.certificate is not None:
        return {}
    draft = found.draft
    made = set(draft.table.column_names).difference(found.table.source.column_names)
    if found.operator.form is Form.SWAPPED:
        made |= set(found.table.schema.sensitive)
    return released_giveaways(found.policy, draft.table, quasi=draft.quasi, but=made)


def _published_verdicts(found: Findings) -> list[dict[str, Any]]:
    """Every verdict; what was measured on hidden subjects is left out."""
    told = _with_source(found)
    if not found.subjects_hidden:
        return told
    hidden = ("details", "missing_as")
    kept = [{k: v for k, v in each.items() if k not in hidden} for each in told]
    return [each | {"measured": None} for each in kept]


def _compared(found: Findings) -> dict[str, Any]:
    """What is known of the source only, or of the time it took: not with a ledger."""
    if found.certificate is not None:
        return {}
    return _of_the_source(found)


def _of_the_source(found: Findings) -> dict[str, Any]:
    return {
        "rows_in": found.rows_in,
        "rows_suppressed": found.rows_in - found.rows_out,
        "seconds": dict(found.seconds),
    }


def certified(certificate: Certificate | None) -> list[dict[str, Any]]:
    """The requirement that the ledger answers, with its verdict."""
    if certificate is None:
        return []
    return [requirement(certificate.model, certificate.verdict())]


def requirements(models: tuple[OutputModel, ...], proof: Proof) -> list[dict[str, Any]]:
    """Every requirement with its verdict on the published cells."""
    return [
        requirement(model, verdict, proof.offenders(verdict))
        for model, verdict in zip(models, proof.verdicts, strict=True)
    ]


def _with_source(found: Findings) -> list[dict[str, Any]]:
    """Every requirement; those that count values also with the source's count."""
    records = requirements(found.request.models, found.proof)
    if not (found.compares and any(m.counts_values for m in found.request.models)):
        return records
    for model, record in zip(found.request.models, records, strict=True):
        for target in model.targets():
            record["details"]["source"] = _told(found, target)
    return records


def _told(found: Findings, target: Target) -> int | None:
    """How many rows of the source have a target, unless too few rows or persons do."""
    request = found.request
    columns = {coded.name: coded for coded in request.quasi} | dict(request.sensitive)
    rows = rows_of(target, columns, request.rows)
    having = np.flatnonzero(rows) if request.subject is None else request.subject[rows]
    return int(rows.sum()) if len(np.unique(having)) >= found.least else None


def borne(
    found: Findings, columns: Iterable[str], at_least: int
) -> dict[str, list[Borne]]:
    """Who bears the loss, by the values of some columns."""
    return loss_by(
        columns,
        table=found.table,
        request=found.request,
        solution=found.solution,
        draft=found.draft,
        at_least=at_least,
    )


def requirement(
    model: Model, verdict: Verdict, offenders: Mapping[str, int] = MappingProxyType({})
) -> dict[str, Any]:
    """One requirement with its verdict, and the rows and persons that it fails."""
    record = {
        "model": model.name,
        "parameters": {k: v for k, v in model.parameters().items() if k not in PATHS},
        **_judged(verdict),
        **{f"offending_{unit}": count for unit, count in offenders.items()},
        "sentence": model.sentence,
        "blind_spot": model.blind_spot,
    }
    if verdict.details:
        record["details"] = dict(verdict.details)
    if verdict.readings:
        record["missing_as"] = {n: _reading(v) for n, v in verdict.readings.items()}
    return record


def _judged(verdict: Verdict) -> dict[str, Any]:
    return {
        "holds": verdict.holds,
        "measured": verdict.measured,
        "offending_groups": verdict.offending,
    }


def _reading(verdict: Verdict) -> dict[str, Any]:
    """The verdict for one meaning of a missing cell."""
    details = {"details": dict(verdict.details)} if verdict.details else {}
    return _judged(verdict) | details


def utility(found: Findings) -> dict[str, float]:
    """Every metric of the catalogue, and NCP as seed papers print it (sum / rows)."""
    outcome = found.outcome()
    measures = {
        name: float(registry.load("metrics", name)().measure(outcome))
        for name in registry.names("metrics")
    }
    if found.certificate is not None:
        del measures["suppressed_share"]
    return measures | {"ncp_per_row": measures["ncp"] * len(found.shown)}


def risk(proof: Proof, form: Form) -> dict[str, float]:
    """Prosecutor risk: the chance to pick the right row, or person, of a group.

    Where quasi-identifiers are exact, rows can be found; what counts there is the
    chance to guess the sensitive value of a row, where requirements look at one.
    """
    if form is not Form.CELLS:
        shares = [
            float((histogram.largest(histogram.counts) / histogram.sizes).max())
            for view, histogram in proof.groups.histograms.items()
            if view.level == 0 and not view.others_known
        ]
        return {"value_max": max(shares)} if shares else {}
    sizes = proof.groups.sizes
    return {
        "prosecutor_max": float(1 / sizes.min()),
        "prosecutor_mean": float(len(sizes) / sizes.sum()),
    }


def facts(found: Findings) -> dict[str, Any]:
    """What the report shows beyond the manifest; publishable."""
    outcome = found.outcome()
    sizes, counts = np.unique(found.proof.groups.rows, return_counts=True)
    names = [] if found.synthetic else [coded.name for coded in found.shown]
    return {
        "columns": {
            name: {
                "ncp": outcome.mean_cell(found.draft.ncp[:, [i]]),
                "generalized_loss": outcome.mean_cell(found.draft.loss[:, [i]]),
            }
            for i, name in enumerate(names)
        },
        "group_sizes": [
            {"size": int(s), "groups": int(c)}
            for s, c in zip(sizes, counts, strict=True)
        ],
        "algorithm": dict(found.solution.facts),
    }


def audit(found: Findings) -> dict[str, Any]:
    """The steward's own record: with it the run can be repeated.

    A run with a certificate cannot; its record has what the manifest may not say.
    """
    if found.certificate is not None:
        measured = requirements(found.request.models, found.proof)
        return {
            "seed": None,
            "source": _of_the_source(found),
            "requirements": measured,
        }
    judged = found.proof.groups.histograms
    record: dict[str, Any] = {
        "seed": found.seed.hex(),
        "insecure_seed": found.seed.insecure,
        kinds.VALUES: kinds.values(found.decided, {view.column for view in judged}),
    }
    if not found.compares:
        return record
    names = found.table.schema.names(Role.QUASI, Role.SENSITIVE)
    few = [name for name in names if found.table.columns[name].size <= FEW_VALUES]
    return record | {"loss_by": borne(found, few, 1)}


def _asked_k(models: tuple[OutputModel, ...]) -> int:
    return max((int(getattr(model, "k", 1)) for model in models), default=1)


def _options(thing: Algorithm | Operator) -> dict[str, Any]:
    return {field.name: getattr(thing, field.name) for field in fields(thing)}
