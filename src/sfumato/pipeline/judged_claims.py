"""Judge the requirements of a policy, and measure k, l, θ and t, on any pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sfumato.data.schema import Role
from sfumato.models.base import OutputModel
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from sfumato.models.t_closeness import TCloseness
from sfumato.models.theta_diversity import ThetaDiversity
from sfumato.pipeline.expand_requirements import (
    CountedColumn,
    common_values,
    expanded,
    smallest_group,
)
from sfumato.pipeline.manifest import requirements
from sfumato.pipeline.pair import PairFiles
from sfumato.pipeline.vague_columns import VagueColumns
from sfumato.pipeline.verification import Claim, Private
from sfumato.publish.base import Form
from sfumato.risk.table_pair import Pair, PublishedForm

FORMS = {
    PublishedForm.GENERALIZED: Form.CELLS,
    PublishedForm.MICROAGGREGATED: Form.CELLS,
    PublishedForm.SWAPPED: Form.SWAPPED,
    PublishedForm.ANATOMIZED: Form.ANATOMIZED,
}


@dataclass(frozen=True)
class JudgedClaims:
    """What the published table shows about its promises, with a note if it cannot."""

    verdicts: list[dict[str, Any]] = field(default_factory=list)
    measured: dict[str, Any] = field(default_factory=dict)
    """k, and for each sensitive column the l, θ and t that hold."""
    notes: tuple[str, ...] = ()


def judge(files: PairFiles, pair: Pair) -> JudgedClaims:
    """Judge a published table by the policy, and measure how anonymous it really is."""
    silent = _unjudged(files, pair)
    if silent is not None:
        return JudgedClaims(notes=(silent,))
    form = FORMS[pair.form]
    cells = form is Form.CELLS
    asked = [m for m in _requirements(files, pair) if cells or not m.needs_cells]
    vague = VagueColumns.of(pair)
    clear = [model for model in asked if not vague.concern(model)]
    measures = _measures(vague.clear, form)
    claim = Claim(
        policy=vague.without(files.policy),
        models=(*clear, *measures),
        base=files.base,
        private=_private(pair, form),
        form=form,
    )
    proof = claim.verify(files.judged(), files.beside)
    records = requirements(claim.models, proof)
    measured = _by_name(measures, records[len(clear) :])
    measured["sensitive"] |= vague.measured()
    left_out = len(files.policy.models()) and not asked
    note = ("No requirement of the policy applies to this form.",) if left_out else ()
    return JudgedClaims(
        verdicts=records[: len(clear)] + vague.verdicts(asked),
        measured=measured,
        notes=(*note, *vague.notes(asked)),
    )


def _unjudged(files: PairFiles, pair: Pair) -> str | None:
    """Explain why nothing can be judged, if so."""
    policy = files.policy
    if pair.form is PublishedForm.SYNTHETIC:
        return "Synthetic rows stand for nobody: no requirement on groups applies."
    if pair.form is PublishedForm.SWAPPED and pair.source_row is None:
        return "A swapped table does not show its groups: give --rows to judge it."
    hidden = [n for n in policy.names(Role.SENSITIVE) if n not in pair.sensitive]
    if hidden:
        return f"Not judged: the published table has no column '{hidden[0]}'."
    person = policy.names(Role.SUBJECT)
    unknown = pair.source_row is None or pair.subject is None
    if person and person[0] not in files.published.column_names and unknown:
        return f"Not judged: persons are counted by '{person[0]}', give --rows."
    return None


def _requirements(files: PairFiles, pair: Pair) -> tuple[OutputModel, ...]:
    models = files.policy.models()

    def counts(name: str) -> dict[str, int]:
        if name not in pair.sensitive:
            return {}
        coded = pair.original[name]
        counted = CountedColumn(coded.codes, coded.axis.labels, coded.axis.missing)
        return common_values(counted, pair.subject, k=smallest_group(models))

    return expanded(models, counts)


def _measures(sensitive: Sequence[str], form: Form) -> list[OutputModel]:
    """Return requirements that always hold, used only for what they measure."""
    found: list[OutputModel] = [KAnonymity(k=1)] if form is Form.CELLS else []
    for name in sensitive:
        found += [
            LDiversity(l=1, on=name),
            ThetaDiversity(theta=1.0, on=name),
            TCloseness(t=1.0, on=name),
        ]
    return found


def _by_name(
    models: list[OutputModel], records: list[dict[str, Any]]
) -> dict[str, Any]:
    """The figure of each measure, under the letter of its parameter."""
    found: dict[str, Any] = {"sensitive": {}}
    for model, record in zip(models, records, strict=True):
        on = getattr(model, "on", None)
        place = found if on is None else found["sensitive"].setdefault(on, {})
        place[_LETTERS[model.name]] = record["measured"]
    return found


_LETTERS = {
    "k-anonymity": "k",
    "l-diversity": "l",
    "theta-diversity": "theta",
    "t-closeness": "t",
}


def _private(pair: Pair, form: Form) -> Private:
    """What the record of a release would say."""
    subject = None
    if pair.subject is not None and pair.source_row is not None:
        subject = pair.subject[pair.source_row]
    return Private(
        subject=subject if form is Form.CELLS else None,
        groups=pair.groups if form is Form.SWAPPED else None,
        source_values=_source_values(pair),
    )


def _source_values(pair: Pair) -> dict[str, dict[str, int]]:
    """How often each value of each sensitive column occurs in the original."""
    found = {}
    for name in pair.sensitive:
        coded = pair.original[name]
        counts = np.bincount(coded.codes, minlength=coded.axis.size).tolist()
        found[name] = dict(zip(coded.axis.labels, counts, strict=True))
    return found
