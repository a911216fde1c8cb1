"""The Python door: anonymize and check, and the objects they give back."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import pyarrow as pa

from sfumato.algorithms.base import Progress
from sfumato.calls import (
    marks_of,
    models_of,
    path_of,
    policy_of,
    seed_of,
    spelled_out,
    threads_of,
    watched,
    workload_of,
)
from sfumato.data.safe_repr import Quiet, counted
from sfumato.data.seeds import Seed
from sfumato.errors import OutputError, RefusedError, UsageError
from sfumato.io.decimals import pointed
from sfumato.io.formats import Format
from sfumato.io.read import Seen, delimiter_of, read_source
from sfumato.io.spreadsheet import unguarded
from sfumato.io.write import format_of, hash_bytes
from sfumato.models.base import OutputModel
from sfumato.pipeline.claimed_columns import claimed_giveaways, unmentioned, withheld
from sfumato.pipeline.column_kinds import from_manifest, marks_formulas
from sfumato.pipeline.expand_requirements import expanded, from_record
from sfumato.pipeline.manifest import requirements as requirement_records
from sfumato.pipeline.manifest import risk as risk_of
from sfumato.pipeline.private_record import read_private
from sfumato.pipeline.private_run import every_column
from sfumato.pipeline.verification import Private, Question
from sfumato.policy import Policy
from sfumato.policy.keywords import Settings
from sfumato.publish.base import Form
from sfumato.report.card import card
from sfumato.report.html import render

if TYPE_CHECKING:
    from sfumato.pipeline.run import Outcome
    from sfumato.pipeline.tuning import Tuned
    from sfumato.workload.answer_errors import ErrorMeasure, WorkloadError
    from sfumato.workload.queries import Workload

Source = Any
"""A path, or a pandas, polars or Arrow frame."""
PolicyLike = Policy | str | os.PathLike[str] | None


@dataclass(frozen=True, eq=False, repr=False)
class Release(Quiet):
    """A proven release: its data, what was measured on it, and the way to a file."""

    outcome: Outcome
    origin: Source
    """What was handed in: decides the kind of `data` and the format of `save`."""
    private: Mapping[str, Any]
    """For the steward alone: hash of the source, where it is a file."""
    delimiter: str = ","
    """Between the cells of a CSV file, as it came."""

    @property
    def table(self) -> pa.Table:
        """The published table as Arrow."""
        return self.outcome.proven.table

    @property
    def data(self) -> Any:
        """The published table, as the kind of frame that came in."""
        # Late: files need no library of frames.
        from sfumato.io.frames import like

        return like(self.origin, self.table)

    @property
    def manifest(self) -> Mapping[str, Any]:
        return self.outcome.proven.manifest

    @property
    def facts(self) -> Mapping[str, Any]:
        return self.outcome.proven.facts

    @property
    def verdicts(self) -> list[dict[str, Any]]:
        """Every requirement, measured on the published cells."""
        return list(self.manifest["requirements"])

    @property
    def utility(self) -> dict[str, float]:
        return dict(self.manifest["utility"])

    @property
    def risk(self) -> dict[str, Any]:
        return dict(self.manifest["risk"])

    @property
    def alternatives(self) -> tuple[Mapping[str, Any], ...]:
        """Other solutions that met the policy, with their figures."""
        return self.outcome.proven.alternatives

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the report as one self-contained page."""
        place = path_of(path, what="A report's place")
        try:
            place.write_text(render(self.manifest, self.facts), encoding="utf-8")
        except OSError as fault:
            raise OutputError(
                f"'{place}' cannot be written: {fault.strerror}.",
                hint="Name another place.",
            ) from None

    def save(
        self, directory: str | os.PathLike[str], *, force: bool = False
    ) -> Mapping[str, Any]:
        """Write the release, proven from its own bytes; returns the manifest.

        With `force` it takes the place of an older release, which stays until then.
        """
        from sfumato.pipeline.write_release import write_release

        return write_release(
            self.outcome,
            path_of(directory, what="A release's place"),
            extension=self._extension(),
            delimiter=self.delimiter,
            page=render,
            private=self.private,
            force=force,
        )

    def _repr_html_(self) -> str:
        return card(self.manifest)

    def _told(self) -> str:
        return self.outcome.proven._told()

    def _extension(self) -> str:
        asked = self.outcome.question.policy.publish.format
        if asked is not None:
            return asked
        return format_of(self.origin) if _is_path(self.origin) else "csv"


@dataclass(frozen=True, repr=False)
class CheckResult(Quiet):
    """What a check of a published table found."""

    verdicts: list[dict[str, Any]]
    rows: int
    groups: int
    risk: dict[str, Any]
    """The risk that remains; under `columns` what columns that are no
    quasi-identifiers give away."""
    withheld: tuple[str, ...] = ()
    """Columns that are there although the policy withholds them."""
    kinds: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """How sensitive columns were read: their kind, their distance, and who said so."""
    unmentioned: tuple[str, ...] = ()
    """Columns that the claim does not speak of."""

    def _told(self) -> str:
        held = sum(verdict["holds"] for verdict in self.verdicts)
        return (
            f"{counted(self.rows, 'row')} in {counted(self.groups, 'group')}; "
            f"{held} of {counted(len(self.verdicts), 'requirement')} met"
        )

    @property
    def holds(self) -> bool:
        return all(verdict["holds"] for verdict in self.verdicts)


@spelled_out
def anonymize(
    data: Source,
    policy: PolicyLike = None,
    *,
    seed: str | Seed | None = None,
    insecure_seed: int | None = None,
    threads: int | None = None,
    progress: bool | Progress = False,
    base: str | os.PathLike[str] | None = None,
    **settings: Unpack[Settings],
) -> Release:
    """Make a proven release of a file or a frame.

    Give a policy or its file, or settings that make one: `quasi`, `sensitive`, `k`,
    `l`, and the others of `Policy.build`. `seed` is the text in the audit record of a
    run to repeat; `insecure_seed` is for tests, and marks the release as not for
    publication. `progress` is True for a bar, or a function of step and share.
    """
    # Late: whoever only checks a table must not wait for the compiler.
    from sfumato.pipeline.run import Run
    from sfumato.pipeline.run import anonymize as run_line

    policy = policy_of(policy)
    chosen, count = seed_of(seed, insecure_seed), threads_of(threads)
    with watched(progress) as watcher, ThreadPoolExecutor() as aside:
        aside.submit(_wake_compiler)
        hashed: list[Future[str]] = []
        source = _read(
            data,
            policy,
            settings,
            seen=lambda content: hashed.append(aside.submit(hash_bytes, content)),
        )
        asked = policy_for(policy, settings, source)
        outcome = run_line(
            Run(
                policy=asked,
                source=source,
                base=_base(base, asked),
                seed=chosen,
                threads=count,
                progress=watcher,
            )
        )
        watcher("done", 1.0)
    private = {"source_sha256": hashed[0].result()} if hashed else {}
    return Release(outcome, data, private, delimiter_of(source) or ",")


@spelled_out
def check(
    data: Source,
    policy: PolicyLike = None,
    *,
    requirements: Sequence[OutputModel] = (),
    groups: str | os.PathLike[str] | None = None,
    manifest: str | os.PathLike[str] | None = None,
    base: str | os.PathLike[str] | None = None,
    **settings: Unpack[Settings],
) -> CheckResult:
    """Judge a published table, ours or not, by its cells.

    `groups` is the private record of a release whose cells do not show its groups.
    `manifest` says what the values of columns are; without it the policy does, and
    where it does not, the cells decide.
    """
    policy, required = policy_of(policy), models_of(requirements)
    said = None if manifest is None else path_of(manifest, what="manifest")
    safe = _spreadsheet_safe(policy, settings, said)
    source = _as_meant(data, _read(data, policy, settings), safe=safe)
    asked = policy_for(policy, settings, source)
    models = asked.models() + required
    if not models and asked.process_models():
        raise RefusedError(
            f"No table can show {asked.process_models()[0].name}, and nothing else is "
            "required.",
            hint="The manifest's ledger says what it rests on.",
        )
    if not models:
        raise UsageError(
            "There is nothing to check: no requirement is given.",
            hint="Give a policy, or requirements such as k=5.",
        )
    form = asked.operator_instance().form
    private = Private()
    if groups is not None:
        record = path_of(groups, what="groups")
        private = read_private(record, source, swapped=form is Form.SWAPPED)
    models = expanded(models, from_record(private.source_values))
    question = Question(
        asked,
        models,
        _base(base, asked),
        private,
        form,
        every_column=every_column(asked),
        decided={} if said is None else from_manifest(said),
    )
    proof = question.ask(source, _beside(data, form, safe=safe))
    return CheckResult(
        verdicts=requirement_records(models, proof),
        rows=source.num_rows,
        groups=proof.groups.count,
        risk=risk_of(proof, form) | claimed_giveaways(asked, source, form),
        withheld=withheld(asked, source.column_names),
        kinds=question.kinds(proof.sensitive),
        unmentioned=unmentioned(asked, source.column_names),
    )


@spelled_out
def workload_error(
    original: Source,
    release: Release | Source,
    workload: Workload | str | os.PathLike[str],
    policy: PolicyLike = None,
    *,
    base: str | os.PathLike[str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    **settings: Unpack[Settings],
) -> WorkloadError:
    """How far a release's answers to queries are from those of the original.

    `release` is what `anonymize` gave back, or a published file or frame, ours or not;
    of an anatomized pair, the file `data` beside the file `sensitive`. A policy (or
    settings that make one) says what published labels stand for; without one, cells
    are values, intervals and sets. `seed` draws the bootstrap's resamples.
    """
    from sfumato.pipeline.workload_tables import ground

    asked = _asking_policy(release, policy_of(policy), settings, original)
    source = _read(original, asked, {})
    place = ground(asked, source, workload_of(workload), _base(base, asked))
    if isinstance(release, Release):
        table, beside = release.table, release.outcome.proven.beside
    else:
        safe = asked.publish.spreadsheet_safe
        table = _as_meant(release, _read(release, asked, {}), safe=safe)
        beside = _beside(release, asked.operator_instance().form, safe=safe)
    return place.error(table, beside, resamples=resamples, seed=seed)


@spelled_out
def tune(
    data: Source,
    policy: Policy | str | os.PathLike[str],
    workload: Workload | str | os.PathLike[str],
    *,
    measure: ErrorMeasure | None = None,
    train_share: float = 0.5,
    trials: int = 40,
    keep: Sequence[str] = (),
    split_seed: int = 0,
    seed: str | Seed | None = None,
    insecure_seed: int | None = None,
    threads: int | None = None,
    progress: bool | Progress = False,
    base: str | os.PathLike[str] | None = None,
) -> Tuned:
    """Fit attribute weights and algorithm options to a workload.

    The search sees a share of the queries; the error on the others is reported with
    an interval. Every trial meets the requirements of the policy.
    """
    from sfumato.pipeline.tuning import Tuning
    from sfumato.pipeline.tuning import tune as run_search

    asked = policy_of(policy) or Policy()
    chosen, count = seed_of(seed, insecure_seed), threads_of(threads)
    with watched(progress) as watcher:
        return run_search(
            Tuning(
                policy=asked,
                source=_read(data, asked, {}),
                workload=workload_of(workload),
                base=_base(base, asked),
                measure=measure,
                train_share=train_share,
                trials=trials,
                keep=tuple(keep),
                split_seed=split_seed,
                seed=chosen,
                threads=count,
                progress=watcher,
            )
        )


@spelled_out
def propose(
    data: Source,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    missing: str | Sequence[str] | None = None,
) -> Policy:
    """Propose a policy for a file or a frame: what `sfumato init` writes.

    Every role in it is a guess; read it (`print(policy.dump())`) before you use it.
    `missing` names marks of missing values; left out, they are looked for.
    """
    from sfumato.policy.propose import propose as proposed

    settings: Settings = {"delimiter": delimiter, "encoding": encoding}
    path = os.fspath(data) if _is_path(data) else None
    marks = marks_of(missing)
    source, decimal = pointed(_read(data, None, settings))
    text = proposed(source, path=path, missing=marks, decimal=decimal).text
    return Policy.parse(text, source="the proposal", base=Path())


def _asking_policy(
    release: Release | Source,
    policy: Policy | None,
    settings: Mapping[str, Any],
    original: Source,
) -> Policy:
    """The policy that says how cells are read: given, the release's own, or none."""
    if policy is not None or settings:
        return policy_for(policy, settings, _read(original, policy, settings))
    if isinstance(release, Release):
        return release.outcome.question.policy
    return Policy(unlisted="keep")


def policy_for(
    policy: Policy | None, settings: Mapping[str, Any], source: pa.Table
) -> Policy:
    """The policy given, or the one that keyword settings stand for."""
    if policy is None:
        return Policy.build(columns=source.column_names, **settings)
    if settings:
        raise UsageError(
            f"A policy and settings ({', '.join(settings)}) cannot both be given.",
            hint="Put the settings into the policy, or leave the policy out.",
        )
    return policy


def _read(
    data: Source,
    policy: Policy | None,
    settings: Mapping[str, Any],
    *,
    seen: Seen | None = None,
) -> pa.Table:
    if not _is_path(data):
        from sfumato.io.frames import to_arrow

        return to_arrow(data)
    declared = policy.data if policy is not None else None
    return read_source(
        Path(data),
        delimiter=declared.delimiter if declared else settings.get("delimiter"),
        encoding=declared.encoding if declared else settings.get("encoding"),
        decimal=declared.decimal if declared else settings.get("decimal"),
        format=declared.format if declared else None,
        seen=seen,
    )


def _wake_compiler() -> None:
    """Beside reading: loading the compiler takes as long as reading a large file."""
    from sfumato.kernels.compilation.decorators import wake

    wake()


def _is_path(data: Source) -> bool:
    return isinstance(data, str | os.PathLike)


def _base(base: str | os.PathLike[str] | None, policy: Policy) -> Path | None:
    return path_of(base, what="base") if base is not None else policy.base


def _beside(data: Source, form: Form, *, safe: bool) -> dict[str, pa.Table]:
    """The second table of an anatomy: the file beside the one that is checked."""
    if form is not Form.ANATOMIZED or not _is_path(data):
        return {}
    place = Path(data).with_name("sensitive" + Path(data).suffix)
    return {"sensitive": _as_meant(place, read_source(place), safe=safe)}


def _spreadsheet_safe(
    policy: Policy | None,
    settings: Mapping[str, Any],
    manifest: Path | None,
) -> bool:
    """Whether a CSV file has marks before what could be formulas."""
    said = settings.get("spreadsheet_safe") if policy is None else None
    if policy is not None:
        said = policy.publish.spreadsheet_safe
    return bool(said) or (manifest is not None and marks_formulas(manifest))


def _as_meant(data: Source, table: pa.Table, *, safe: bool) -> pa.Table:
    """A published table without the marks that a CSV file has for spreadsheets."""
    marked = safe and _is_path(data) and format_of(data) is Format.CSV
    return unguarded(table) if marked else table
