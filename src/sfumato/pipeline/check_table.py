"""Check a published table: in memory row by row, or by counts of an engine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.data.schema import Role
from sfumato.data.source import has_row_numbers
from sfumato.engines.base import Engine
from sfumato.errors import RefusedError
from sfumato.models.base import OutputModel
from sfumato.models.common.judged_columns import judged_columns
from sfumato.pipeline.asked_policy import base_of, nothing_to_check, policy_for
from sfumato.pipeline.check_result import CheckResult
from sfumato.pipeline.claimed_columns import (
    added,
    claimed_giveaways,
    counted_exact_cells,
    exact_cells,
    unmentioned,
    withheld,
)
from sfumato.pipeline.claimed_policy import claimed_policy, without_shapes
from sfumato.pipeline.column_kinds import (
    Decided,
    from_manifest,
    missing_marks,
    read_manifest,
)
from sfumato.pipeline.counted_proof import (
    engine_giveaways,
    proof_rows,
    prove_on_engine,
)
from sfumato.pipeline.exact_columns import Holders, persons_of
from sfumato.pipeline.expand_requirements import expanded, from_record
from sfumato.pipeline.manifest import requirements as requirement_records
from sfumato.pipeline.manifest import risk as risk_of
from sfumato.pipeline.missing_cells import empty_marked, with_empty_mark, with_marks
from sfumato.pipeline.operator_refusals import refuse_pairing
from sfumato.pipeline.private_record import read_private
from sfumato.pipeline.private_run import every_column
from sfumato.pipeline.source_types import with_source_types
from sfumato.pipeline.verification import Claim, Private
from sfumato.policy import Policy
from sfumato.policy.consistency import check_bands
from sfumato.publish.base import Form, Operator
from sfumato.verify import Proof


@dataclass(frozen=True, eq=False, kw_only=True)
class AskedCheck:
    """What a check asks, apart from the table."""

    policy: Policy
    requirements: tuple[OutputModel, ...] = ()
    base: Path | None = None
    manifest: Path | None = None
    by_manifest: bool = False
    """Whether the policy is the one that the manifest records."""
    operator: Operator = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "operator", self.policy.operator_instance())

    @property
    def form(self) -> Form:
        return self.operator.form

    @property
    def models(self) -> tuple[OutputModel, ...]:
        """The requirements; refuse a check without any."""
        models = self.policy.models() + self.requirements
        if not models:
            raise nothing_to_check(self.policy, self.manifest)
        check_bands(self.policy.columns, models, self.policy.fault)
        return models

    def claim(self, private: Private) -> Claim:
        """What the table has to prove."""
        models = expanded(self.models, from_record(private.generated_values))
        refuse_pairing(self.form, models)
        return Claim(
            policy=self.policy,
            models=models,
            base=self.base,
            private=private,
            form=self.form,
            every_column=every_column(self.policy),
            decided=self._decided(models),
        )

    def _decided(self, models: Sequence[OutputModel]) -> dict[str, Decided]:
        """The kinds of columns that the manifest names."""
        told = {} if self.manifest is None else from_manifest(self.manifest)
        return without_shapes(told, self.policy, models) if self.by_manifest else told

    def marked(self, policy: Policy) -> AskedCheck:
        """The same with a policy that has the missing marks of the table."""
        if self.manifest is not None:
            policy = with_marks(policy, missing_marks(self.manifest))
        same = copy(self)
        object.__setattr__(same, "policy", policy)
        return same


@dataclass(frozen=True, eq=False, kw_only=True)
class Asking:
    """Who says what a table has to prove: a policy, settings, or its manifest."""

    policy: Policy | None
    """None: the settings say it, and they need the columns of the table."""
    settings: Mapping[str, Any]
    requirements: tuple[OutputModel, ...]
    manifest: Path | None
    base: str | os.PathLike[str] | None
    by_manifest: bool = False

    def or_manifest(self, *, loss: bool) -> Asking:
        """The same by the manifest's policy, where nothing else says it.

        `loss` says that the loss is measured as well.
        """
        if self.policy is not None or self.settings or self.manifest is None:
            return self
        policy = claimed_policy(self.manifest, more=self.requirements, loss=loss)
        return replace(self, policy=policy, by_manifest=True)

    def about(self, table: pa.Table) -> AskedCheck:
        """What is asked about a table with these columns."""
        policy = policy_for(self.policy, self.settings, table)
        return AskedCheck(
            policy=policy,
            requirements=self.requirements,
            base=base_of(self.base, policy),
            manifest=self.manifest,
            by_manifest=self.by_manifest,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class GivenTables:
    """The tables to check, in memory."""

    table: pa.Table
    beside: dict[str, pa.Table] = field(default_factory=dict)
    groups: Path | None = None
    """The private record of the release."""


def check_table(asked: AskedCheck, given: GivenTables) -> CheckResult:
    """Judge a table that is held in memory."""
    manifest = {} if asked.manifest is None else read_manifest(asked.manifest)
    table = with_source_types(given.table, manifest)
    beside = {n: with_source_types(part, manifest) for n, part in given.beside.items()}
    asked = asked.marked(with_empty_mark(asked.policy, table))
    private = Private()
    if asked.models and given.groups is not None:
        swapped = asked.form is Form.SWAPPED
        private = read_private(given.groups, table, swapped=swapped)
    claim = asked.claim(private)
    proof = claim.verify(table, beside)
    names = table.column_names
    made = added(asked.policy, asked.operator, names)
    held = Holders.asked(claim.models, persons_of(proof))
    shares = claimed_giveaways(asked.policy, table, asked.form, made=made, held=held)
    result = _result(asked, claim, proof, names, table.num_rows, shares)
    exact = exact_cells(asked.policy, table)
    for second in given.beside.values():
        exact |= exact_cells(asked.policy, second)
    return replace(result, row_numbers=has_row_numbers(table), exact_cells=exact)


def check_on_engine(asked: AskedCheck, engine: Engine) -> CheckResult:
    """Judge a table by counts, without holding its rows."""
    refuse_row_by_row(asked.form)
    asked = asked.marked(empty_marked(asked.policy, engine))
    names = engine.source.names
    claim = asked.claim(Private())
    proof = prove_on_engine(claim, engine)
    made = added(asked.policy, asked.operator, names)
    quasi = [name for name in names if asked.policy.role(name) is Role.QUASI]
    quasi += [name for name in made if name not in quasi]
    rows = proof_rows(proof)
    shares = engine_giveaways(
        asked.policy, engine, quasi=quasi, rows=rows, models=claim.models
    )
    result = _result(asked, claim, proof, names, rows, shares)
    numbered = has_row_numbers(engine.source.schema.empty_table())
    exact = counted_exact_cells(asked.policy, engine)
    return replace(result, row_numbers=numbered, exact_cells=exact)


def refuse_record(record: Path | None) -> None:
    """Refuse the private record of a release: it tells about each row by its place."""
    if record is not None:
        raise RefusedError(
            "The private record belongs to single rows, which are not looked at out of "
            "memory.",
            hint="Leave out --groups, or take --engine memory.",
        )


def refuse_row_by_row(form: Form) -> None:
    """Refuse releases whose proof needs the private record of every row."""
    if form is not Form.CELLS:
        raise RefusedError(
            f"A table that is published {form} is proven row by row, which takes all of "
            "it in memory.",
            hint="Take --engine memory.",
        )


def _judged(policy: Policy, models: Sequence[OutputModel]) -> tuple[str, ...] | None:
    """The sensitive columns that are judged; None under a process model."""
    if policy.process_models():
        return None
    return judged_columns(models, policy.names(Role.SENSITIVE))


def _result(
    asked: AskedCheck,
    claim: Claim,
    proof: Proof,
    names: Sequence[str],
    rows: int,
    shares: dict[str, Any],
) -> CheckResult:
    policy = asked.policy
    made = added(policy, asked.operator, names)
    return CheckResult(
        verdicts=requirement_records(claim.models, proof),
        rows=rows,
        groups=proof.groups.count,
        risk=risk_of(proof, asked.form) | shares,
        judged=_judged(policy, claim.models),
        withheld=withheld(policy, names, but=made),
        kinds=claim.kinds(proof.sensitive),
        unmentioned=unmentioned(policy, names, but=made),
        unit=claim.unit,
        by_manifest=asked.by_manifest,
    )
