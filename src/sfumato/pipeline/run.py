"""The straight line in one readable function.

source ─ read → solve → publish → verify ─ measure → Proven
                                    └─ fails → GuaranteeError, nothing is written
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato import registry
from sfumato.algorithms.base import Algorithm, Progress, Request, Solution, silent
from sfumato.data.coding import infer_kind
from sfumato.data.release import Proven
from sfumato.data.safe_repr import Quiet
from sfumato.data.schema import Role
from sfumato.data.seeds import Seed
from sfumato.data.table import Table
from sfumato.errors import DataError, GuaranteeError
from sfumato.hierarchies.axis import CodedAxis
from sfumato.io.strip_hidden import bare, refuse_opaque
from sfumato.models.base import OutputModel
from sfumato.pipeline import manifest
from sfumato.pipeline.code_table import (
    coded_table,
    quasi_axes,
    rows_without_missing,
    sensitive_axes,
    take,
)
from sfumato.pipeline.column_kinds import decide
from sfumato.pipeline.expand_requirements import (
    expanded,
    generated_columns,
    smallest_group,
    value_counts,
)
from sfumato.pipeline.loss_limit import refuse_loss
from sfumato.pipeline.missing_cells import refuse_open_cells, with_empty_mark
from sfumato.pipeline.population import population_path, read_population, shared_axes
from sfumato.pipeline.private_run import (
    Certificate,
    declared_axes,
    every_column,
    open_certificate,
    synthetic_draft,
)
from sfumato.pipeline.refusals import refuse_unkept
from sfumato.pipeline.unique_values import refuse_giveaways
from sfumato.pipeline.verification import Private, Question
from sfumato.policy import Policy
from sfumato.publish.base import (
    Draft,
    Form,
    Material,
    Operator,
    refuse_name_clash,
)
from sfumato.verify import Proof


@dataclass(eq=False, repr=False, kw_only=True)
class Run(Quiet):
    """One anonymization: what is asked, and the clock of its steps."""

    policy: Policy
    source: pa.Table
    base: Path | None = None
    """Where the policy's relative paths start."""
    seed: Seed = field(default_factory=Seed.fresh)
    threads: int = field(default_factory=lambda: os.cpu_count() or 1)
    progress: Progress = silent
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str, share: float) -> Iterator[None]:
        """Announce a step and take its time."""
        self.progress(name, share)
        started = perf_counter()
        yield
        self.seconds[name] = round(perf_counter() - started, 4)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Outcome(Quiet):
    """A proven release and the question that its written file must answer again."""

    proven: Proven
    question: Question

    def _told(self) -> str:
        return self.proven._told()


def anonymize(run: Run) -> Outcome:
    """Make a release that meets the policy, or raise and leave nothing behind."""
    run = replace(run, policy=with_empty_mark(run.policy, run.source))
    algorithm, operator = _algorithm(run.policy), _operator(run.policy)
    refuse_unkept(operator, run.policy)
    refuse_name_clash(operator, _published_roles(run), lambda name: _is_line(run, name))
    certificate = certify(run, algorithm, operator)
    with run.step("code", 0.0):
        table, kept = _loaded(run)
        if certificate is None:
            refuse_giveaways(run.policy, table.source)
        request = _request(run, table, certificate)
    with run.step("solve", 0.1):
        solution = algorithm.solve(request)
    with run.step("publish", 0.7):
        material = _material(run, table, request, solution)
        draft = _draft(run, operator, request, solution, material)
    with run.step("verify", 0.8):
        question = _question(run, request, material, operator)
        proof = question.ask(draft.table, draft.beside)
        _insist(proof, request.models)
        if certificate is not None:
            certificate.insist(solution, proof.groups.rows)
        else:
            made = set(draft.table.column_names).difference(table.source.column_names)
            refuse_giveaways(run.policy, draft.table, but=made)
    found = manifest.Findings(
        policy=run.policy,
        algorithm=algorithm,
        operator=operator,
        request=request,
        solution=solution,
        draft=draft,
        proof=proof,
        decided=question.decided,
        table=table,
        rows_in=run.source.num_rows,
        seed=run.seed,
        seconds=run.seconds,
        certificate=certificate,
    )
    refuse_loss(found)
    return Outcome(proven=_proven(found, kept, material, request), question=question)


def certify(run: Run, algorithm: Algorithm, operator: Operator) -> Certificate | None:
    """Open the ledger of a run whose policy has a process model, before its data."""
    return open_certificate(
        run.policy,
        algorithm,
        operator,
        seed=run.seed,
        columns=run.source.column_names,
        base=run.base,
    )


def _loaded(run: Run) -> tuple[Table, npt.NDArray[np.int64]]:
    """The coded table, and the source row of each of its rows."""
    if run.source.num_rows == 0:
        raise DataError("The table has no rows.", hint="There is nothing to publish.")
    table = coded_table(run.policy, run.source)
    refuse_opaque(table.source)
    if run.policy.data.missing_as != "drop":
        return table, np.arange(table.rows)
    rows = rows_without_missing(table)
    if len(rows) == 0:
        raise DataError(
            f"Every one of the {table.rows} rows has a missing value.",
            hint='Set data.missing_as to "value", or drop the column that is missing.',
        )
    return take(table, rows), rows


def _request(run: Run, table: Table, certificate: Certificate | None) -> Request:
    columns = [table.columns[name] for name in table.schema.sensitive]
    subject = table.schema.subject
    share = run.policy.publish.max_suppressed
    weights = _weights(table)
    models = expanded(
        [
            model.settled(rows=table.rows, weights=weights)
            for model in run.policy.models()
        ],
        lambda name: _common_values(run.policy, table, name),
    )
    opened = run.policy.data.missing_as == "any"
    if opened and run.policy.operator_instance().form is Form.CELLS:
        refuse_open_cells(table, models)
    quasi, population = _quasi(run, table, models, certificate)
    everything = certificate is not None and certificate.algorithm.every_column
    return Request(
        quasi=quasi,
        population=population,
        models=models,
        beside=declared_axes(run.policy, table, run.base, beside=True)
        if everything
        else (),
        process=() if certificate is None else (certificate.model,),
        ledger=None if certificate is None else certificate.ledger,
        sensitive={} if everything else sensitive_axes(run.policy, columns, run.base),
        subject=None if subject is None else table.columns[subject].codes,
        removable=int(np.floor(share * table.rows + 1e-9)),
        missing_any=opened,
        seed=run.seed.child("solve"),
        threads=run.threads,
        progress=lambda step, share: run.progress(step, 0.1 + 0.6 * share),
        resolve=registry.algorithm,
    )


def _weights(table: Table) -> float | None:
    """The sum of the sampling weights, where the table has them."""
    name = table.schema.weight
    if name is None:
        return None
    column = table.columns[name]
    if column.numbers is None:
        raise DataError(
            f"The weights in '{name}' are not numbers.",
            hint="Give the column another role, or clean it.",
        )
    return float(np.nansum(column.numbers[column.codes]))


def _quasi(
    run: Run,
    table: Table,
    models: Sequence[OutputModel],
    certificate: Certificate | None,
) -> tuple[tuple[CodedAxis, ...], tuple[npt.NDArray[np.int32], ...] | None]:
    """The quasi-identifiers on axes; with a population, axes that hold both tables."""
    if certificate is not None:
        return declared_axes(run.policy, table, run.base, beside=False), None
    path = population_path(models)
    if path is None:
        return quasi_axes(run.policy, table, run.base), None
    other = read_population(run.policy, path, run.base)
    return shared_axes(run.policy, table.source, other, run.base)


def _algorithm(policy: Policy) -> Algorithm:
    made: Algorithm = policy.algorithm_instance()
    return made


def _operator(policy: Policy) -> Operator:
    made: Operator = policy.operator_instance()
    return made


def _material(run: Run, table: Table, request: Request, solution: Solution) -> Material:
    rows = np.flatnonzero(solution.grouping.kept)
    if run.policy.publish.order == "random":
        rows = rows[run.seed.child("order").permutation(len(rows))]
    return Material(
        table=table,
        quasi=solution.quasi or request.quasi,
        grouping=solution.grouping,
        rows=rows,
        seed=run.seed.child("publish"),
        pseudonymized=run.policy.pseudonymized(),
        declared=request.ledger is not None,
    )


def _draft(
    run: Run,
    operator: Operator,
    request: Request,
    solution: Solution,
    material: Material,
) -> Draft:
    if solution.synthetic is not None:
        return synthetic_draft(solution, request, run.seed.child("order"))
    return operator.publish(material)


def _published_roles(run: Run) -> dict[str, Role]:
    """The columns of the source that leave under their names, with their roles."""
    hashed = run.policy.pseudonymized()
    roles = {name: run.policy.role(name) for name in run.source.column_names}
    return {
        name: role
        for name, role in roles.items()
        if role is not None
        and (name in hashed or role not in (Role.IDENTIFIER, Role.SUBJECT))
    }


def _is_line(run: Run, name: str) -> bool:
    """Whether a column is one of numbers or dates.

    Where nothing is declared its cells decide; under a process model they may not.
    """
    kind = run.policy.column(name).kind
    if kind is None and not run.policy.process_models():
        kind, _ = infer_kind(run.source.column(name), missing=run.policy.data.missing)
    return kind is None or kind.numeric


def _question(
    run: Run, request: Request, material: Material, operator: Operator
) -> Question:
    rows, private = (
        material.rows,
        Private(source_values=_source_values(run.policy, request, material.table)),
    )
    whole = every_column(run.policy)
    if request.subject is not None and len(rows) and not whole:
        private = replace(private, subject=request.subject[rows])
    if operator.form is Form.SWAPPED:
        private = replace(private, groups=material.grouping.group_of[rows])
    return Question(
        run.policy,
        request.models,
        run.base,
        private,
        operator.form,
        every_column=whole,
        decided=decide(material.table, request.sensitive, request.quasi),
    )


def _source_values(
    policy: Policy, request: Request, table: Table
) -> dict[str, dict[str, int]]:
    """Counts of the source, for requirements that compare with the source."""
    names = tuple(request.sensitive)
    views = [view for model in request.models for view in model.views(names)]
    wanted = {view.column for view in views if view.reference == "source"}
    generated = generated_columns(policy.models())
    return {name: _common_values(policy, table, name) for name in generated} | {
        name: _value_counts(request, name) for name in wanted
    }


def _common_values(policy: Policy, table: Table, name: str) -> dict[str, int]:
    """How often each value occurs that requirements are generated for."""
    subject = table.schema.subject
    codes = None if subject is None else table.columns[subject].codes
    k = smallest_group(policy.models())
    return value_counts(table.columns[name], codes, k=k)


def _value_counts(request: Request, name: str) -> dict[str, int]:
    coded = request.sensitive[name]
    pairs = np.column_stack([coded.codes, _persons(request)])
    codes = np.unique(pairs, axis=0)[:, 0]
    counts = np.bincount(codes, minlength=coded.axis.size)
    return dict(zip(coded.axis.labels, counts.tolist(), strict=True))


def _persons(request: Request) -> npt.NDArray[np.int64]:
    """The person behind each row; without subjects every row is one."""
    if request.subject is None:
        return np.arange(request.rows)
    return request.subject.astype(np.int64)


def _insist(proof: Proof, models: tuple[OutputModel, ...]) -> None:
    """Only a proven draft goes on."""
    for verdict, model in zip(proof.verdicts, models, strict=True):
        if not verdict.holds:
            raise GuaranteeError(
                f"The draft does not meet {model}: {verdict.offending} groups fail.",
                hint="Nothing was written. Please report this with the policy.",
            )


def _proven(
    found: manifest.Findings,
    kept: npt.NDArray[np.int64],
    material: Material,
    request: Request,
) -> Proven:
    group_of = np.full(found.rows_in, -1, dtype=np.int32)
    group_of[kept] = found.solution.grouping.group_of
    subject = None
    if request.subject is not None:
        subject = np.full(found.rows_in, -1, dtype=np.int32)
        subject[kept] = request.subject
    return Proven(
        table=bare(found.draft.table),
        beside={name: bare(table) for name, table in found.draft.beside.items()},
        notes=found.draft.notes,
        manifest=manifest.manifest(found),
        facts=manifest.facts(found),
        audit=manifest.audit(found),
        source_rows=kept[material.rows],
        group_of=group_of,
        subject_of=subject,
        source_values=_source_values(found.policy, request, material.table),
        categories=frozenset(
            field.name
            for field in material.table.source.schema
            if pa.types.is_dictionary(field.type)
        ),
        alternatives=found.solution.alternatives,
    )
