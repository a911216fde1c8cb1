"""The path of a run in one readable function.

Run ─ code → Request ─ solve → Solution ─ publish → Draft ─ verify → Findings → Release
                                                       └─ fails → GuaranteeError
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.algorithms.base import Request, Solution
from sfumato.data.disk_arrays import MemoryArrays
from sfumato.data.grouping import Grouping
from sfumato.data.parallel import each
from sfumato.data.table import Table
from sfumato.errors import DataError, GuaranteeError
from sfumato.io.strip_hidden import bare
from sfumato.pipeline import manifest
from sfumato.pipeline.build_request import build_request, coded_rows
from sfumato.pipeline.claimed_columns import exact_cells
from sfumato.pipeline.column_kinds import decide
from sfumato.pipeline.counted_proof import (
    prove_on_engine,
    refuse_counted_giveaways,
    refuse_counted_unique_rows,
)
from sfumato.pipeline.earlier_release_proof import (
    CandidateProof,
    Earlier,
    candidate_claim,
    open_earlier,
)
from sfumato.pipeline.earlier_release_repair import solve_after
from sfumato.pipeline.earlier_releases import refuse_after
from sfumato.pipeline.exact_columns import refuse_unique_rows
from sfumato.pipeline.expand_requirements import (
    SourceCounts,
    compared_counts,
    generated_counts,
)
from sfumato.pipeline.findings import Findings, rows_of_source
from sfumato.pipeline.learned_hierarchies import learned_files
from sfumato.pipeline.linked_persons import link_persons
from sfumato.pipeline.loss_limit import refuse_loss
from sfumato.pipeline.operator_refusals import refuse_unkept
from sfumato.pipeline.private_run import (
    Certificate,
    open_certificate,
    synthetic_draft,
)
from sfumato.pipeline.release import Release
from sfumato.pipeline.report_figures import ReportFigures
from sfumato.pipeline.run import Run
from sfumato.pipeline.unique_values import quasi_places, refuse_giveaways
from sfumato.pipeline.verification import Claim, Private
from sfumato.pipeline.written_format import (
    refuse_unwritable_cells,
    refuse_unwritable_names,
)
from sfumato.policy import Policy
from sfumato.publish.base import Draft, Form, Material
from sfumato.verify import Proof


def make_release(run: Run) -> Release:
    """Make a release that meets the policy, or raise and leave nothing behind."""
    refuse_unkept(run)
    refuse_after(run)
    refuse_unwritable_names(run)
    certificate = open_certificate(run)
    if certificate is None:
        return _made(run, None)
    with certificate.telling_charge():
        return _made(run, certificate)


def _made(run: Run, certificate: Certificate | None) -> Release:
    """Make a release once everything that can be refused unseen was refused."""
    with run.step("code", 0.0):
        if certificate is None:
            _refuse_table(run)
        persons = None if certificate is not None else link_persons(run)
        earlier = open_earlier(run, persons)
        table, source_rows = coded_rows(run)
        if certificate is None:
            _refuse_giveaways(run, table.source, source_rows)
        counts = generated_counts(run.policy.models(), table)
        request = build_request(run, table, certificate, counts)
        if certificate is None:
            refuse_unwritable_cells(run, table.source, request.quasi)
    with run.step("solve", 0.1), ThreadPoolExecutor(1) as aside:
        # The order of all rows depends on no group, so that it need not be waited for.
        order = aside.submit(_order_of_all, run, request.rows)
        if earlier is None:
            solution = _kept(run, run.algorithm.solve(request))
        else:
            solution = solve_after(run.algorithm, request, earlier, source_rows)
    with run.step("publish", 0.7):
        material = _material(run, table, request, solution, order.result())
        draft = _draft(run, request, solution, material)
        published = rows_of_source(run, source_rows, material.rows)
    with run.step("verify", 0.8):
        claim = _claim(run, request, material, certificate, counts)
        found = Findings(
            run=run,
            certificate=certificate,
            table=table,
            source_rows=source_rows,
            request=request,
            solution=solution,
            material=material,
            draft=draft,
            claim=claim,
            proof=_proof(run, claim, draft, published),
            persons=persons,
            together=_together(claim, earlier, published, draft),
        )
        _insist(found)
    refuse_loss(found)
    return _release(found, material)


def _kept(run: Run, solution: Solution) -> Solution:
    """A solution whose groups are kept where the rows are."""
    grouping = solution.grouping
    group_of = run.arrays.keep(grouping.group_of)
    return replace(solution, grouping=replace(grouping, group_of=group_of))


def _proof(run: Run, claim: Claim, draft: Draft, rows: npt.NDArray[np.int64]) -> Proof:
    """Prove a draft; out of core, by the counts of an engine."""
    if run.out_of_core is None:
        return claim.verify(draft.table, draft.beside)
    with run.out_of_core.engine(draft.table, rows) as engine:
        return prove_on_engine(claim, engine)


def _refuse_giveaways(
    run: Run,
    table: pa.Table,
    rows: npt.NDArray[np.int64],
    but: Collection[str] = (),
) -> None:
    if run.out_of_core is None:
        refuse_giveaways(run.policy, table, but=but)
        return
    with run.out_of_core.engine(table, rows) as engine:
        refuse_counted_giveaways(run.policy, engine, table.num_rows, but=but)


def _refuse_unique_rows(found: Findings) -> None:
    """Refuse a draft of which columns that stay exact make too many rows unique."""
    if found.run.operator.form is not Form.CELLS:
        # Rows can be found by their quasi-identifiers: no exact column undoes anything.
        return
    policy, draft, held = found.run.policy, found.draft, found.run.out_of_core
    if held is None:
        known = found.shown_tuples
        if known is None:
            known = quasi_places(draft.table, draft.quasi)
        refuse_unique_rows(policy, draft.table, known=known, but=found.made)
        return
    with held.engine(draft.table, found.published_rows) as engine:
        refuse_counted_unique_rows(
            policy, engine, found.rows_out, quasi=draft.quasi, but=found.made
        )


def _refuse_table(run: Run) -> None:
    """Refuse a table without rows, or with columns that the policy does not fit."""
    if run.source.num_rows == 0:
        raise DataError("The table has no rows.", hint="There is nothing to publish.")
    run.policy.check_columns(run.source.column_names)


def _material(
    run: Run,
    table: Table,
    request: Request,
    solution: Solution,
    order: npt.NDArray[np.int64] | None,
) -> Material:
    """What the operator works on; `order` is that of all rows, if it is known."""
    grouping = solution.grouping
    if order is None or not grouping.complete:
        order = _published_order(run, grouping)
    return Material(
        arrays=run.arrays,
        plain_texts=run.plain_texts,
        table=table,
        quasi=solution.quasi or request.quasi,
        grouping=grouping,
        rows=run.arrays.keep(order),
        seed=run.seed.child("publish"),
        pseudonymized=run.policy.pseudonymized(),
        declared=request.ledger is not None,
    )


def _order_of_all(run: Run, rows: int) -> npt.NDArray[np.int64] | None:
    """The order in which all rows are published; None if it is found later.

    Out of core, there is no memory for it while groups are searched.
    """
    if run.out_of_core is not None or run.policy.publish.order != "random":
        return None
    return run.seed.child("order").permutation(rows)


def _published_order(run: Run, grouping: Grouping) -> npt.NDArray[np.int64]:
    """The rows that are kept, in the order in which they are published."""
    shuffled = run.policy.publish.order == "random"
    if shuffled and grouping.complete:
        return run.seed.child("order").permutation(len(grouping.group_of))
    rows = np.flatnonzero(grouping.kept)
    if shuffled:
        rows = rows[run.seed.child("order").permutation(len(rows))]
    return rows


def _draft(run: Run, request: Request, solution: Solution, material: Material) -> Draft:
    """The table to be proven."""
    if solution.synthetic is not None:
        return synthetic_draft(solution, request, run.seed.child("order"))
    return run.operator.publish(material)


def _claim(
    run: Run,
    request: Request,
    material: Material,
    certificate: Certificate | None,
    generated: dict[str, SourceCounts],
) -> Claim:
    """What the draft has to prove: the policy's promises, on the source's kinds.

    `material` gives the order of the rows, and the groups of a swapped table.
    `generated` counts the values that requirements were generated from.
    """
    whole = certificate is not None and certificate.algorithm.every_column
    form, rows, subject = run.operator.form, material.rows, None
    if request.subject is not None and len(rows) and not whole:
        subject = request.subject[rows]
    swapped = material.groups if form is Form.SWAPPED else None
    return Claim(
        policy=run.policy,
        models=request.models,
        base=run.base,
        private=Private(
            subject=subject,
            groups=swapped,
            source_values=compared_counts(request),
            generated_values=generated,
        ),
        form=form,
        every_column=whole,
        decided=decide(material.table, request.sensitive, request.quasi),
    )


def _together(
    claim: Claim,
    earlier: Earlier | None,
    rows: npt.NDArray[np.int64],
    draft: Draft,
) -> CandidateProof | None:
    """Prove a draft of these source rows together with earlier releases, if any."""
    if earlier is None:
        return None
    return candidate_claim(claim, earlier, rows).verify(draft.table)


def _insist(found: Findings) -> None:
    """Stop unless the draft is proven."""
    _insist_on_bands(found.run.policy, found.draft)
    _insist_on_models(found.proof, found.request)
    if found.together is not None:
        found.together.insist()
    if found.certificate is not None:
        found.certificate.insist(found.solution, found.proof.groups.rows)
    else:
        _refuse_giveaways(
            found.run, found.draft.table, found.published_rows, found.made
        )
        _refuse_unique_rows(found)


def _insist_on_bands(policy: Policy, draft: Draft) -> None:
    for table in (draft.table, *draft.beside.values()):
        for name, cells in exact_cells(policy, table).items():
            raise GuaranteeError(
                f"The draft shows {cells:,} exact cells of '{name}', which the policy "
                "publishes in bands.",
                hint="Nothing was written. Please report this with the policy.",
            )


def _insist_on_models(proof: Proof, request: Request) -> None:
    for verdict, model in zip(proof.verdicts, request.models, strict=True):
        if not verdict.holds:
            raise GuaranteeError(
                f"The draft does not meet {model}: {verdict.offending} groups fail.",
                hint="Nothing was written. Please report this with the policy.",
            )


def _release(found: Findings, material: Material) -> Release:
    """Keep from a run only what is published or recorded."""
    subject, told = found.request.subject, _told(found)
    return Release(
        table=bare(found.draft.table, found.run.arrays),
        beside={name: bare(table) for name, table in found.draft.beside.items()},
        notes=found.draft.notes,
        manifest=told.manifest,
        facts=told.facts,
        alternatives=found.solution.alternatives,
        claim=found.claim,
        together=None if found.together is None else found.together.claim,
        audit=told.audit,
        learned=learned_files(found.run.policy, found.request.quasi),
        source_rows=found.run.arrays.keep(
            rows_of_source(found.run, found.source_rows, material.rows)
        ),
        group_of=_of_source(found, found.solution.grouping.group_of),
        subject_of=None if subject is None else _of_source(found, subject),
        persons=found.persons,
        categories=frozenset(
            field.name
            for field in material.table.source.schema
            if pa.types.is_dictionary(field.type)
            and field.name not in found.run.plain_texts
        ),
        out_of_core=found.run.out_of_core,
        warnings=() if found.repeated is None else (found.repeated.warning,),
        origin=found.run.origin,
    )


class _Told(NamedTuple):
    """What is told of a release."""

    manifest: dict[str, Any]
    facts: dict[str, Any]
    audit: dict[str, Any]


def _told(found: Findings) -> _Told:
    """Make the manifest and what the reports show: parts that need no other part."""
    figures, record = _made_apart(
        found, partial(ReportFigures, found), partial(manifest.manifest, found)
    )
    facts, public, audit, private = _made_apart(
        found,
        partial(manifest.facts, found),
        figures.public,
        partial(manifest.audit, found),
        figures.private,
    )
    return _Told(record, facts | public, audit | {"report": private})


def _made_apart(found: Findings, *parts: Callable[[], Any]) -> list[Any]:
    """Make each part; out of core, one after the other, as there is little memory."""
    if found.run.out_of_core is None:
        return each(lambda make: make(), parts)
    return [_made_alone(make, found.run.arrays) for make in parts]


def _made_alone(make: Callable[[], Any], arrays: MemoryArrays) -> Any:
    made = make()
    arrays.release()
    return made


def _of_source(found: Findings, codes: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Expand codes of the rows that took part to all source rows; −1 elsewhere."""
    if len(codes) == found.rows_in:
        return codes
    spread = np.full(found.rows_in, -1, dtype=np.int32)
    spread[found.source_rows] = codes
    return found.run.arrays.keep(spread)
