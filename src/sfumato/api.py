"""The public Python functions, and the results they return."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack, get_args

from sfumato.algorithms.base import Progress
from sfumato.call_arguments import (
    form_of,
    marks_of,
    models_of,
    names_of,
    number,
    one_of,
    path_of,
    paths_of,
    policy_of,
    seed_of,
    share_of,
    spelled_out,
    text_of,
    threads_of,
    watched,
    whole,
    workload_of,
)
from sfumato.data.seeds import Seed
from sfumato.io.read import delimiter_of
from sfumato.io.write import hash_bytes
from sfumato.models.base import OutputModel
from sfumato.pipeline.asked_policy import (
    asking_policy,
    base_of,
    policy_for,
    spreadsheet_safe,
)
from sfumato.pipeline.check_result import CheckResult
from sfumato.pipeline.coded_source import searched_codes
from sfumato.pipeline.column_kinds import has_lines
from sfumato.pipeline.given_tables import (
    Source,
    as_meant,
    attacked_files,
    columns_of,
    made_after,
    pair_files,
    published_batches,
    read_published,
    read_table,
    second_table,
    shown_tables,
)
from sfumato.pipeline.private_record import read_private
from sfumato.pipeline.published_labels import labels_published
from sfumato.pipeline.release import Release
from sfumato.pipeline.source_order import in_order
from sfumato.policy import Policy
from sfumato.policy.keywords import Settings

if TYPE_CHECKING:
    import threading

    from sfumato.pipeline.advice.advice import Advice
    from sfumato.pipeline.assessment import Assessment
    from sfumato.pipeline.attack_run import Attacked
    from sfumato.pipeline.comparison.compared_candidates import Comparison
    from sfumato.pipeline.lookup import LookedUp
    from sfumato.pipeline.tuning import Tuned
    from sfumato.workload.answer_errors import ErrorMeasure, WorkloadError
    from sfumato.workload.queries import Workload

PolicyLike = Policy | str | os.PathLike[str] | None


@spelled_out
def anonymize(
    data: Source,
    policy: PolicyLike = None,
    *,
    after: Sequence[str | os.PathLike[str]] = (),
    seed: str | Seed | None = None,
    insecure_seed: int | None = None,
    threads: int | None = None,
    engine: str | None = None,
    memory_limit: int | str | None = None,
    progress: bool | Progress = False,
    base: str | os.PathLike[str] | None = None,
    **settings: Unpack[Settings],
) -> Release:
    """Anonymize a file or a frame, and prove the result.

    Pass a policy, the path of a policy file, or the settings of one: `quasi`,
    `sensitive`, `k`, `l`, and the rest of `Policy.build`. `after` names the directories
    of earlier releases of the same people: the requirements are then proven on what all
    of them tell together (`privacy.link_key` says who is the same). `seed` repeats a
    run: copy it from the run's audit record. `insecure_seed` is for tests and marks the
    release as not for publication. `engine` is "memory", "duckdb" for files that need
    not fit in memory, "spark" for Spark DataFrames and Parquet files (it needs
    `data.key`), or "auto", which decides by `memory_limit` (bytes, or like "500MB").
    `progress` is True for a bar, or a function that takes the name of a step and the
    share that is done.
    """
    # Imported late, so that `check` never loads the compiler.
    from sfumato.pipeline.choose_engine import choose_engine
    from sfumato.pipeline.explained_release import explained_release
    from sfumato.pipeline.large_release import large_release
    from sfumato.pipeline.repeated_identifiers import warn_about
    from sfumato.pipeline.run import Run, wake_compiler

    policy = policy_of(policy)
    chosen, count = seed_of(seed, insecure_seed), threads_of(threads)
    earlier = paths_of(after, what="after")
    where = choose_engine(data, engine, memory_limit)
    if not where.in_memory:
        with watched(progress) as watcher:
            return large_release(
                data,
                policy_for(policy, settings, columns_of(data, policy, settings)),
                replace(where, threads=count),
                after=earlier,
                seed=chosen,
                progress=watcher,
                base=base,
            )
    with watched(progress) as watcher, ThreadPoolExecutor() as aside:
        aside.submit(wake_compiler)
        hashed: list[Future[str]] = []

        source = read_table(
            data,
            policy,
            settings,
            seen=lambda content: hashed.append(aside.submit(hash_bytes, content)),
            coded=True,
        )
        asked = policy_for(policy, settings, source)
        source = in_order(searched_codes(source, asked), asked, origin=data)
        run = Run(
            policy=asked,
            source=source,
            base=base_of(base, asked),
            after=earlier,
            seed=chosen,
            threads=count,
            progress=watcher,
            origin=data,
        )
        release = explained_release(run)
        warn_about(release.warnings)
        watcher("done", 1.0)
    return replace(
        release,
        delimiter=delimiter_of(source) or ",",
        labels=labels_published(asked, source),
        source_sha256=hashed[0].result() if hashed else None,
    )


@spelled_out
def advise(
    data: Source,
    policy: PolicyLike = None,
    *,
    threads: int | None = None,
    progress: bool | Progress = False,
    base: str | os.PathLike[str] | None = None,
    **settings: Unpack[Settings],
) -> Advice:
    """Say what a policy asks of its data, and which edits of it help; private.

    Nothing heavy is run. The result has numbered edits: `advice.apply(2, 3)` is the
    policy with two of them. Under differential privacy the data are not read: only
    what the policy declares, and the ledger.
    """
    from sfumato.pipeline.advice.advice_run import advise_on
    from sfumato.pipeline.advice.process_advice import advise_unread
    from sfumato.pipeline.run import Run

    policy, count = policy_of(policy), threads_of(threads)
    if policy is not None and policy.process_models() and not settings:
        return advise_unread(policy, base_of(base, policy))
    with watched(progress) as watcher:
        source = read_table(data, policy, settings)
        asked = policy_for(policy, settings, source)
        if asked.process_models():
            return advise_unread(asked, base_of(base, asked))
        run = Run(
            policy=asked,
            source=source,
            base=base_of(base, asked),
            threads=count,
            progress=watcher,
        )
        return advise_on(run)


@spelled_out
def check(
    data: Source,
    policy: PolicyLike = None,
    *,
    requirements: Sequence[OutputModel] = (),
    original: Source | None = None,
    groups: str | os.PathLike[str] | None = None,
    manifest: str | os.PathLike[str] | None = None,
    engine: str | None = None,
    memory_limit: int | str | None = None,
    base: str | os.PathLike[str] | None = None,
    **settings: Unpack[Settings],
) -> CheckResult:
    """Check a published table, made by Sfumato or not, from its cells.

    With its `original`, the result also has its loss, which is private.
    `groups` is the private record of a release whose cells do not show its groups.
    `manifest` says what kind of values each column has (else the policy does, or the
    cells) and, without a policy and settings, what was promised. A file with another
    SHA-256 than the manifest's fails. `engine`, `memory_limit`: those of `anonymize`.
    """
    from sfumato.pipeline import check_table as checks
    from sfumato.pipeline.choose_engine import CHECKING, choose_engine
    from sfumato.pipeline.manifest_match import compared
    from sfumato.pipeline.measured_loss import refuse_loss, with_loss

    chosen = choose_engine(data, engine, memory_limit, copies=CHECKING)
    said = None if manifest is None else path_of(manifest, what="manifest")
    asking = checks.Asking(
        policy=policy_of(policy),
        settings=settings,
        requirements=models_of(requirements),
        manifest=said,
        base=base,
    ).or_manifest(loss=original is not None)
    policy = asking.policy
    record = None if groups is None else path_of(groups, what="groups")
    safe = spreadsheet_safe(policy, settings, said)
    multiline = said is not None and has_lines(said)
    if chosen.name != "memory":
        checks.refuse_record(record)
        refuse_loss(original is not None)
        source = published_batches(
            data, policy, settings, safe=safe, choice=chosen, multiline=multiline
        )
        with chosen.open(source) as opened:
            asked = asking.about(source.schema.empty_table())
            result = checks.check_on_engine(asked, opened)
        return compared(result, data, said)
    table = read_published(data, policy, settings, multiline=multiline)
    table = as_meant(data, table, safe=safe)
    asked = asking.about(table)
    beside = second_table(data, asked.form, safe=safe, multiline=multiline)
    given = checks.GivenTables(table=table, beside=beside, groups=record)
    result = compared(checks.check_table(asked, given), data, said, table)
    if original is None:
        return result
    known = asking_policy(data, policy, settings, original)
    files = pair_files(original, data, known, base=base_of(base, known))
    return with_loss(result, files, record)


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
    """Measure how far a release's answers to queries are from the original's.

    `release` is a result of `anonymize`, or a published file or frame, made by Sfumato
    or not. For an anatomized pair, give the file `data`, with the file `sensitive` in
    the same directory. A policy, or its settings, says what published labels stand for;
    without one, cells are read as values, intervals and sets. `seed` seeds the
    bootstrap.
    """
    from sfumato.pipeline.workload_tables import queried_source

    draws, start = whole("resamples", resamples, least=1), whole("seed", seed, least=0)
    asked = asking_policy(release, policy_of(policy), settings, original)
    source = read_table(original, asked, {})
    place = queried_source(asked, source, workload_of(workload), base_of(base, asked))
    if isinstance(release, Release):
        table, beside = release.whole_table(), release.beside
    else:
        safe = asked.publish.spreadsheet_safe
        table = as_meant(release, read_published(release, asked, {}), safe=safe)
        form, several = asked.operator_instance().form, asked.data.multiline
        beside = second_table(release, form, safe=safe, multiline=several)
    return place.error(table, beside, resamples=draws, seed=start)


@spelled_out
def assess(
    original: Source,
    published: Release | Source,
    policy: PolicyLike = None,
    *,
    form: str | None = None,
    rows: str | os.PathLike[str] | None = None,
    same_order: bool = False,
    workload: Workload | str | os.PathLike[str] | None = None,
    learn: bool = False,
    target: str | None = None,
    sample: int | None = None,
    fraction: float | None = None,
    population: str | os.PathLike[str] | None = None,
    household: str | None = None,
    suda: bool = False,
    seed: int = 0,
    progress: bool | Progress = False,
    base: str | os.PathLike[str] | None = None,
    **settings: Unpack[Settings],
) -> Assessment:
    """Measure what a published table keeps, and how exposed people are; private.

    `published` is a result of `anonymize`, a release directory, or a file or frame of any
    tool. `form` says how it was published: "generalized", "swapped", "anatomized",
    "microaggregated" or "synthetic"; left out, it is what the policy says and the cells
    show. `rows` is the private record of the release, which says which row is which;
    `same_order` says that the rows did not move.

    `learn` trains models on the release (`target`: the column to learn, `sample`: the
    most rows). `fraction` is the share of the population that the original has,
    `population` a file with everybody's quasi-identifiers, `household` the column of the
    original that says who lives together. `suda` scores special uniques. `seed` seeds
    samples and the bootstrap. The result has the risk of each record in `records`.
    """
    from sfumato.pipeline.assessment import Wanted
    from sfumato.pipeline.assessment import assess as measured

    wanted = Wanted(
        workload=None if workload is None else workload_of(workload),
        learn=learn,
        target=text_of("target", target),
        **({} if sample is None else {"sample": whole("sample", sample, least=1)}),
        fraction=share_of("fraction", fraction),
        population=None if population is None else os.fspath(population),
        household=text_of("household", household),
        suda=suda,
        seed=whole("seed", seed, least=0),
    )
    asked = asking_policy(published, policy_of(policy), settings, original)
    files = pair_files(
        original, published, asked, form=form_of(form), base=base_of(base, asked)
    )
    if rows is not None:
        files = replace(files, record=path_of(rows, what="rows"))
    files = replace(files, same_order=same_order)
    with watched(progress) as watcher:
        return measured(files, wanted, progress=watcher)


@spelled_out
def tune(
    data: Source,
    policy: Policy | str | os.PathLike[str],
    workload: Workload | str | os.PathLike[str],
    *,
    measure: ErrorMeasure | None = None,
    train_share: float = 0.5,
    trials: int = 40,
    keep: str | Sequence[str] = (),
    split_seed: int = 0,
    seed: str | Seed | None = None,
    insecure_seed: int | None = None,
    threads: int | None = None,
    progress: bool | Progress = False,
    base: str | os.PathLike[str] | None = None,
) -> Tuned:
    """Fit attribute weights and algorithm options to a workload.

    The search sees only a share of the queries. The error on the rest is reported with
    a confidence interval. Every trial meets the requirements of the policy.
    """
    from sfumato.pipeline.tuning import Tuning
    from sfumato.pipeline.tuning import tune as run_search
    from sfumato.workload.answer_errors import ErrorMeasure

    asked = policy_of(policy) or Policy()
    chosen, count = seed_of(seed, insecure_seed), threads_of(threads)
    one_of("measure", measure, get_args(ErrorMeasure))
    with watched(progress) as watcher:
        return run_search(
            Tuning(
                policy=asked,
                source=read_table(data, asked, {}),
                workload=workload_of(workload),
                base=base_of(base, asked),
                measure=measure,
                train_share=number("train_share", train_share),
                trials=whole("trials", trials, least=1),
                keep=names_of("keep", keep),
                split_seed=whole("split_seed", split_seed, least=0),
                seed=chosen,
                threads=count,
                progress=watcher,
            )
        )


@spelled_out
def compare(
    data: Source,
    policy: PolicyLike = None,
    *,
    risk: str | None = None,
    utility: str | None = None,
    workload: Workload | str | os.PathLike[str] | None = None,
    target: str | None = None,
    sample: int | None = None,
    dial: int | None = None,
    spend: bool = False,
    allow_weaker: bool = False,
    seed: str | Seed | None = None,
    insecure_seed: int | None = None,
    workers: int | None = None,
    threads: int | None = None,
    progress: bool | Progress = False,
    stop: threading.Event | None = None,
    base: str | os.PathLike[str] | None = None,
    **settings: Unpack[Settings],
) -> Comparison:
    """Make candidate releases side by side and compare their risk and utility; private.

    The candidates are those of the policy's `[compare]`, or a sensible default; `dial`
    sweeps `utility_weight` of `tgc` from 0 to 1 in so many steps instead. `risk` and
    `utility` name the figures to compare by (`prosecutor_max` and `ncp`). Figures of
    queries need `workload`; `target` and `sample` are for figures that learn. `spend`
    allows charges to the ledger, and `allow_weaker` candidates that ask for less than
    the policy; no pick but their number takes those. Ctrl-C, or setting `stop`, keeps
    what is finished. `release()` of the result makes the chosen release.
    """
    from sfumato.pipeline.comparison.compare_policies import ComparisonTask
    from sfumato.pipeline.comparison.compare_policies import compare as compared

    policy = policy_of(policy)
    chosen = seed_of(seed, insecure_seed)
    hashed: list[str] = []
    source = read_table(
        data, policy, settings, seen=lambda found: hashed.append(hash_bytes(found))
    )
    asked = policy_for(policy, settings, source)
    source = in_order(source, asked, origin=data)
    with watched(progress) as watcher:
        task = ComparisonTask(
            policy=asked,
            source=source,
            base=base_of(base, asked),
            risk=text_of("risk", risk),
            utility=text_of("utility", utility),
            workload=None if workload is None else workload_of(workload),
            target=text_of("target", target),
            sample=None if sample is None else whole("sample", sample, least=1),
            dial=None if dial is None else whole("dial", dial, least=3),
            spend=spend,
            allow_weaker=allow_weaker,
            seed=chosen,
            workers=None if workers is None else whole("workers", workers, least=1),
            threads=None if threads is None else threads_of(threads),
            progress=watcher,
            stop=stop,
            provenance={
                "origin": data,
                "delimiter": delimiter_of(source) or ",",
                "labels": labels_published(asked, source),
                "source_sha256": hashed[0] if hashed else None,
            },
        )
        return compared(task)


@spelled_out
def attack(
    release: Release | Source,
    original: Source,
    names: str | Sequence[str] = "all",
    policy: PolicyLike = None,
    *,
    known: Sequence[str] = (),
    control: Source | None = None,
    others: Sequence[str | os.PathLike[str]] = (),
    sample: int | None = None,
    insecure_seed: int | None = None,
    progress: bool | Progress = False,
    stop: threading.Event | None = None,
    base: str | os.PathLike[str] | None = None,
) -> Attacked:
    """Attack a release as others might; the result is private.

    `release` is a result of `anonymize`, a release directory, or a published file or
    frame of any tool. `names` are attacks of the catalogue, or "all". The attacker knows
    all quasi-identifiers, or the columns in `known`. `control` holds people who are not
    in the original, and `others` are directories of other releases of the same people,
    with their private parts. At most `sample` people are attacked, 10,000 where left out.
    Ctrl-C, or setting `stop`, keeps what is finished.
    """
    from sfumato.pipeline.attack_run import AttackRun, names_of
    from sfumato.risk.attacks.base import SAMPLE

    place = None if base is None else path_of(base, what="base")
    files = attacked_files(release, original, policy_of(policy), place)
    listed = [names] if isinstance(names, str) else list(names)
    with watched(progress) as watcher:
        run = AttackRun(
            files=files,
            control=None if control is None else read_table(control, files.policy, {}),
            others=tuple(path_of(place, what="others") for place in others),
            known=tuple(known),
            after=made_after(release),
            seed=seed_of(None, insecure_seed),
            progress=watcher,
            stop=stop,
            sample=SAMPLE if sample is None else sample,
        )
        return run.run([each for name in listed for each in names_of(name)])


@spelled_out
def look_up(
    release: Release | Source,
    record: Source,
    policy: PolicyLike = None,
    *,
    groups: str | os.PathLike[str] | None = None,
    base: str | os.PathLike[str] | None = None,
) -> LookedUp:
    """Look a person up: which published rows may be theirs, and what follows.

    `release` is a result of `anonymize`, a release directory, or a published file or
    frame of any tool. `record` is a file or frame with the person's values in one row.
    `groups` is the private record of a swapped release, which says who was in a group
    with whom.
    """
    from sfumato.pipeline.lookup import look_up as looked_up

    shown = shown_tables(release, policy_of(policy))
    swap_groups = shown.swap_groups
    if groups is not None:
        place = path_of(groups, what="groups")
        swap_groups = read_private(place, shown.table, swapped=True).groups
    return looked_up(
        read_table(record, shown.policy, {}),
        shown.table,
        shown.beside,
        policy=shown.policy,
        base=base_of(base, shown.policy),
        swap_groups=swap_groups,
    )


@spelled_out
def propose(
    data: Source,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    multiline: bool = False,
    missing: str | Sequence[str] | None = None,
    k: int | None = None,
    profile: str | None = None,
) -> Policy:
    """Propose a policy for a file or a frame, as `sfumato init` does.

    It runs as it is; read it (`print(policy.dump())`) before you publish. `k` is how
    many people are to look alike, 5 if left out. `profile` is the name of a set of
    requirements and column rules, such as "public-use". `missing` lists the marks of
    missing values; without it, they are detected. With `multiline`, line breaks in cells
    of a CSV file are meant; without it, columns that have any are left out.
    """
    from sfumato.pipeline.policy_proposal import policy_proposal

    return policy_proposal(
        data,
        delimiter=text_of("delimiter", delimiter),
        encoding=text_of("encoding", encoding),
        multiline=multiline,
        missing=marks_of(missing),
        k=None if k is None else whole("k", k, least=2),
        profile=text_of("profile", profile),
    )
