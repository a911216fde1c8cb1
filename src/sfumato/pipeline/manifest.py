"""Build the records of a release: manifest and facts to publish, audit to keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from importlib.metadata import version
from types import MappingProxyType
from typing import Any

import numpy as np

from sfumato import registry
from sfumato.algorithms.base import Algorithm
from sfumato.data.schema import Role
from sfumato.data.source import has_row_numbers
from sfumato.io.spreadsheet import formulas
from sfumato.metrics.base import Metric
from sfumato.models.base import Model, OutputModel, Target, Verdict
from sfumato.models.common.targets import rows_of
from sfumato.pipeline import column_kinds as kinds
from sfumato.pipeline.counted_proof import engine_giveaways
from sfumato.pipeline.exact_columns import Holders, persons_of
from sfumato.pipeline.findings import Findings
from sfumato.pipeline.loss_by_value import ValueLoss, loss_by
from sfumato.pipeline.private_run import Certificate, outside_counts
from sfumato.pipeline.unique_values import released_giveaways
from sfumato.publish.base import Form, Operator
from sfumato.publish.generalize import Generalize
from sfumato.verify import Proof

ALONE = (
    "A second release about the same people can be compared with this one; "
    "the guarantees hold for each release alone."
)
TOGETHER = (
    "The guarantees hold for this release together with those named under 'after'; a "
    "further release about the same people can be compared with all of them."
)
LIMITS = (
    "Groupings chosen to keep loss low may tell something to an attacker who knows the "
    "algorithm and its input well (minimality attack).",
)
REPEATS = (
    "The requirements count rows, not persons, and an identifier of the source repeats: "
    "the rows of a group may be about fewer persons."
)
TIMED = (
    "The search was limited in seconds: the same policy and seed may give another "
    "release, because it depends on the machine's speed."
)
PATHS = frozenset({"population"})
"""Parameters that name files on the data steward's machine."""
SEARCHED = ("metric", "nodes", "nodes_checked", "proven", "bound")
"""Facts about its search from an algorithm that can prove its result optimal."""
FEW_VALUES = 50
"""The audit record breaks the loss down for columns with at most this many values."""
INSECURE = "Made with a guessable seed: not for publication."


def manifest(found: Findings) -> dict[str, Any]:
    """The publishable record; writing adds the hash of the data file."""
    record = {
        "sfumato": version("sfumato"),
        "policy_sha256": found.run.policy.sha256(),
        **(_of_the_source(found) if found.certificate is None else {}),
        "rows_out": found.rows_out,
        "groups": found.proof.groups.count,
        "unit": found.claim.unit,
        "requirements": _published_verdicts(found) + certified(found.certificate),
        "utility": {} if found.synthetic else utility(found),
        "risk": {}
        if found.synthetic or found.subjects_hidden
        else risk(found.proof, found.run.operator.form) | _giveaways(found),
        "algorithm": {
            "name": found.run.algorithm.name,
            **_options(found.run.algorithm),
        },
        "operator": {"name": found.run.operator.name, **_options(found.run.operator)},
        "policy": found.run.policy.public_dict(),
        "spreadsheet_safe": found.run.policy.publish.spreadsheet_safe,
        "known_limits": [
            ALONE if found.together is None else TOGETHER,
            *LIMITS,
            *([REPEATS] if found.repeated is not None else []),
            *([TIMED] if found.run.algorithm.seconds is not None else []),
            *_formulas(found),
        ],
    }
    if found.together is not None:
        record["after"] = found.together.record()
    if found.compares and found.run.policy.report.loss_by:
        record["loss_by"] = borne(found, found.run.policy.report.loss_by, found.least)
    if "proven" in found.solution.facts:
        record["search"] = _search(found)
    if found.certificate is None and not found.synthetic:
        record["kinds"] = kinds.names(found.claim.decided)
        record["promise"] = found.run.operator.form.promise
        record["judged"] = list(found.run.policy.judged)
    if found.certificate is not None:
        figures = {"figures": dict(found.solution.facts)}
        record["privacy"] = found.certificate.record() | figures
    if has_row_numbers(found.run.source):
        record["row_numbers"] = "left out"
    if found.run.seed.insecure:
        record["not_for_publication"] = INSECURE
    return record


def _search(found: Findings) -> dict[str, Any]:
    """What was searched and, where generalized cells show it, what was chosen."""
    facts = found.solution.facts
    record = {key: facts[key] for key in SEARCHED}
    if isinstance(found.run.operator, Generalize):
        # Other operators do not show the levels, which tell of groups.
        record["levels"] = facts["node"]
    return record


def _formulas(found: Findings) -> list[str]:
    """Warn of published cells that a spreadsheet may run as formulas."""
    if found.run.policy.publish.spreadsheet_safe:
        return []
    count = _formula_cells(found)
    if not count:
        return []
    cells = f"{count} cell begins" if count == 1 else f"{count} cells begin"
    return [
        f"{cells} with =, +, - or @ and may run as a formula where a CSV file is opened "
        "in a spreadsheet; publish.spreadsheet_safe = true marks such cells."
    ]


def _formula_cells(found: Findings) -> int:
    """Count the published cells that could be formulas, wherever they are."""
    tables = [found.draft.table, *found.draft.beside.values()]
    held = found.run.out_of_core
    if held is None or held.spark is None:
        return sum(map(formulas, tables))
    carried = list(held.spark.carried)
    own, names = tables[0].drop_columns(carried), found.draft.table.select(carried)
    there = held.spark.formulas(found.published_rows)
    return formulas(own) + formulas(names.slice(0, 0)) + there


def _giveaways(found: Findings) -> dict[str, Any]:
    """Count rows that unchanged columns single out; none under a ledger."""
    if found.certificate is not None:
        return {}
    draft, made = found.draft, found.made
    if found.run.operator.form is Form.SWAPPED:
        made |= set(found.table.schema.sensitive)
    policy, held = found.run.policy, found.run.out_of_core
    if held is None:
        return released_giveaways(
            policy,
            draft.table,
            quasi=draft.quasi,
            held=Holders.asked(found.request.models, persons_of(found.proof)),
            but=made,
            known=found.shown_tuples,
        )
    with held.engine(draft.table, found.published_rows) as engine:
        return engine_giveaways(
            policy,
            engine,
            quasi=draft.quasi,
            rows=found.rows_out,
            models=found.request.models,
            but=made,
        )


def _published_verdicts(found: Findings) -> list[dict[str, Any]]:
    """Every verdict, without what was measured on hidden subjects."""
    told = _with_source(found)
    if not found.subjects_hidden:
        return told
    hidden = ("details", "missing_as")
    kept = [{k: v for k, v in each.items() if k not in hidden} for each in told]
    return [each | {"measured": None} for each in kept]


def _of_the_source(found: Findings) -> dict[str, Any]:
    """Return what only the source shows, and the time that it took."""
    return {
        "rows_in": found.rows_in,
        "rows_suppressed": found.rows_in - found.rows_out,
        "seconds": dict(found.run.seconds),
    }


def certified(certificate: Certificate | None) -> list[dict[str, Any]]:
    """The requirement that the ledger certifies, with its verdict."""
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
    """Every requirement; those that count values, with the source's count too."""
    records = requirements(found.request.models, found.proof)
    if not (found.compares and any(m.counts_values for m in found.request.models)):
        return records
    for model, record in zip(found.request.models, records, strict=True):
        for target in model.targets():
            record["details"]["source"] = _summary(found, target)
    return records


def _summary(found: Findings, target: Target) -> int | None:
    """Count the source rows that have a target; None if too few rows or persons do."""
    request = found.request
    columns = {coded.name: coded for coded in request.quasi} | dict(request.sensitive)
    rows = rows_of(target, columns, request.rows)
    having = np.flatnonzero(rows) if request.subject is None else request.subject[rows]
    return int(rows.sum()) if len(np.unique(having)) >= found.least else None


def borne(
    found: Findings, columns: Iterable[str], at_least: int
) -> dict[str, list[ValueLoss]]:
    """Break the loss down by the values of some columns."""
    return loss_by(
        columns,
        table=found.table,
        request=found.request,
        solution=found.solution,
        draft=found.draft,
        extents=found.extents,
        at_least=at_least,
    )


def requirement(
    model: Model, verdict: Verdict, offenders: Mapping[str, int] = MappingProxyType({})
) -> dict[str, Any]:
    """One requirement with its verdict, and how many rows and persons violate it."""
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
    if verdict.broken_limits:
        record["broken_limits"] = dict(verdict.broken_limits)
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
    """The verdict under one reading of missing cells."""
    details = {"details": dict(verdict.details)} if verdict.details else {}
    return _judged(verdict) | details


def utility(found: Findings) -> dict[str, float]:
    """Every metric that needs no original, and NCP per row as the first papers print it."""
    outcome = found.measured
    metrics = {
        name: registry.load("metrics", name) for name in registry.names("metrics")
    }
    measures = {
        name: float(metric().measure(outcome))
        for name, metric in metrics.items()
        if issubclass(metric, Metric)
    }
    if found.certificate is not None:
        del measures["suppressed_share"]
    return measures | {"ncp_per_row": measures["ncp"] * len(found.shown)}


def risk(proof: Proof, form: Form) -> dict[str, float]:
    """Prosecutor risk: the chance of picking the right row, or person, in a group.

    Where quasi-identifiers are exact, rows can be found. The risk is then the chance
    of guessing a row's sensitive value, if a requirement looks at one.
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
    outcome = found.measured
    sizes, counts = np.unique(found.proof.groups.rows, return_counts=True)
    names = [] if found.synthetic else [coded.name for coded in found.shown]
    return {
        "columns": {
            name: {
                "ncp": outcome.mean_cell(outcome.ncp[:, [i]]),
                "generalized_loss": outcome.mean_cell(outcome.loss[:, [i]]),
            }
            for i, name in enumerate(names)
        },
        "group_sizes": [
            {"size": int(s), "groups": int(c)}
            for s, c in zip(sizes, counts, strict=True)
        ],
        "algorithm": {"sentence": found.run.algorithm.sentence},
        "operator": {"sentence": found.run.operator.sentence},
    }


def audit(found: Findings) -> dict[str, Any]:
    """The data steward's private record, which lets the run be repeated.

    A run with a certificate cannot be repeated; its record has what the manifest must
    not publish.
    """
    if found.certificate is not None:
        measured = requirements(found.request.models, found.proof)
        return {
            "seed": None,
            "source": _of_the_source(found),
            "outside_domain": outside_counts(found.run),
            "requirements": measured,
        }
    judged = found.proof.groups.histograms
    record: dict[str, Any] = {
        "seed": found.run.seed.hex(),
        "insecure_seed": found.run.seed.insecure,
        kinds.VALUES: kinds.values(
            found.claim.decided, {view.column for view in judged}
        ),
    }
    if found.repeated is not None:
        record["repeated_identifier"] = found.repeated.record()
    if found.together is not None:
        record["left_out_rows"] = _left_out(found)
    if not found.compares:
        return record
    names = found.table.schema.names(Role.QUASI, Role.SENSITIVE)
    few = [name for name in names if found.table.columns[name].size <= FEW_VALUES]
    return record | {"loss_by": borne(found, few, 1)}


def _left_out(found: Findings) -> list[int]:
    """The source rows that are not published, counted from 0."""
    gone = np.ones(found.rows_in, dtype=np.bool_)
    gone[found.source_rows[found.solution.grouping.kept]] = False
    rows: list[int] = np.flatnonzero(gone).tolist()
    return rows


def _options(thing: Algorithm | Operator) -> dict[str, Any]:
    return {field.name: getattr(thing, field.name) for field in fields(thing)}
