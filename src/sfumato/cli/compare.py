"""`sfumato compare`: candidate releases on the front of risk and utility."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.anonymize import chosen_seed, source_of, with_settings
from sfumato.cli.error_output import ErrorFormat, explain
from sfumato.cli.own_warnings import saying_warnings
from sfumato.cli.private_files import private_json
from sfumato.cli.signals import GENTLE, INTERRUPTED
from sfumato.cli.success_output import (
    column_lines,
    done,
    reader_may_leave,
    refuse_existing_file,
    warn,
    warn_giveaways,
    write_new_text,
)
from sfumato.errors import SfumatoError, UsageError

if TYPE_CHECKING:
    from sfumato.pipeline.comparison.compared_candidates import (
        ComparedCandidate,
        Comparison,
    )
    from sfumato.pipeline.comparison.picking import Pick


def compare(
    policy: Annotated[Path, typer.Argument(metavar="POLICY", help="The policy file.")],
    data: Annotated[
        Path | None,
        typer.Option(help="The source, instead of the policy's data.path."),
    ] = None,
    risk: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Compare risk by this (prosecutor_max)."),
    ] = None,
    utility: Annotated[
        str | None, typer.Option(metavar="NAME", help="Compare utility by this (ncp).")
    ] = None,
    dial: Annotated[
        bool,
        typer.Option(
            "--dial",
            help="Sweep utility_weight of tgc from 0 to 1 instead of [compare].",
        ),
    ] = False,
    steps: Annotated[
        int, typer.Option(metavar="N", min=3, help="How many positions the dial has.")
    ] = 11,
    page: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write an interactive page that you alone may read."
        ),
    ] = None,
    pick: Annotated[
        str | None,
        typer.Option(
            metavar="knee|min-risk|min-loss|NUMBER",
            help="Write the release of this candidate to --out.",
        ),
    ] = None,
    allow_weaker: Annotated[
        bool,
        typer.Option(
            "--allow-weaker", help="Try candidates that ask less than the policy, too."
        ),
    ] = False,
    by: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Who picks a candidate below the policy."),
    ] = None,
    because: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Why; the report of the release says both."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The release directory.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an older release in --out.")
    ] = False,
    workload: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Queries whose error is compared."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="What models learn to predict."),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Train on at most N rows."),
    ] = None,
    spend: Annotated[
        bool,
        typer.Option("--spend", help="Charge every candidate to the privacy ledger."),
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Worker processes; default: one per core."
        ),
    ] = None,
    insecure_seed: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="A guessable seed, for tests; not for publication."
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a setting of the policy for this run; may be repeated.",
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="One JSON object on stdout.")
    ] = False,
) -> int:
    """Compare candidate releases by risk and utility, and choose one.

    The candidates are those of the policy's [compare], or a sensible default. Ctrl-C
    keeps what is finished. All of the output is computed from the source and private;
    only the release that --pick writes is proven and meant for others.
    """
    import threading

    from sfumato import api
    from sfumato.cli.progress import watched
    from sfumato.policy import Policy

    _refuse_places(page, pick, out, force=force)
    chosen = None if pick is None else ChosenPick.of(pick, by=by, because=because)
    asked = with_settings(Policy.load(policy), set_ or [])
    stop = threading.Event()
    GENTLE.enter(stop)
    try:
        with watched() as progress:
            found = api.compare(
                source_of(asked, policy, data),
                asked,
                risk=risk,
                utility=utility,
                workload=workload,
                target=target,
                sample=sample,
                dial=steps if dial else None,
                spend=spend,
                allow_weaker=allow_weaker,
                seed=chosen_seed(None, insecure_seed),
                workers=workers,
                progress=progress,
                stop=stop,
            )
    finally:
        GENTLE.leave()
    return _report(found, page=page, pick=chosen, out=out, force=force, json=json)


@dataclass(frozen=True)
class ChosenPick:
    """Which candidate becomes the release; below the policy, who says so and why."""

    which: Pick | int
    by: str | None = None
    because: str | None = None

    @classmethod
    def of(cls, text: str, *, by: str | None, because: str | None) -> ChosenPick:
        """Read what `--pick` says: a name or a number."""
        from sfumato.pipeline.comparison.picking import PICKS

        names: dict[str, Pick] = {name: name for name in PICKS}
        if text not in names and not text.isdecimal():
            raise UsageError(
                f"--pick is '{text}'.",
                hint=f"It may be {', '.join(PICKS)}, or a number of a candidate.",
            )
        return cls(names[text] if text in names else int(text), by, because)


def _refuse_places(
    page: Path | None, pick: str | None, out: Path | None, *, force: bool
) -> None:
    """Refuse, before any work, what cannot be written."""
    from sfumato.pipeline.write_release import refuse_existing

    if (pick is None) != (out is None):
        raise UsageError(
            "--pick says which release to write, and --out says where; one is missing.",
            hint="For example: --pick knee --out release.",
        )
    if page is not None:
        refuse_existing_file(page, option="--page")
    if out is not None:
        refuse_existing(out, force=force)


def _report(
    found: Comparison,
    *,
    page: Path | None,
    pick: ChosenPick | None,
    out: Path | None,
    force: bool,
    json: bool,
) -> int:
    """Write and print what was found; the exit code says how it ended."""
    record = found.record()
    if page is not None:
        from sfumato.report.comparison_page import render_comparison

        write_new_text(page, render_comparison(record), option="--page", private=True)
    fault = _fault_of(found, pick)
    if pick is not None and out is not None and fault is None and not found.stopped:
        record["picked"] = _write_picked(found, pick, out, force=force)
    if found.stopped:
        fault = SfumatoError(
            f"Stopped: {len(found.outcomes):,} of {len(found.tried):,} candidates were "
            "finished and are shown; no release is written."
        )
        fault.exit_code = INTERRUPTED
    if fault is not None and json:
        record["error"] = _error(fault, stopped=found.stopped)
    with done("The comparison") if out is not None else reader_may_leave():
        typer.echo(private_json(record) if json else "\n".join(_lines(found, page)))
        if "picked" in record and not json:
            typer.echo(f"\nCandidate {record['picked']['candidate']} is in {out}.")
    if fault is None:
        return 0
    return (
        fault.exit_code
        if json
        else explain(fault, ErrorFormat(as_json=False, show_values=False))
    )


def _fault_of(found: Comparison, pick: ChosenPick | None) -> SfumatoError | None:
    """Why nothing is chosen; the comparison is shown all the same."""
    number = pick is not None and isinstance(pick.which, int)
    if not number and not found.picks():
        return found.nothing_accepted()
    if pick is None:
        return None
    try:
        found.refuse_weaker(pick.which, by=pick.by, because=pick.because)
    except SfumatoError as fault:
        return fault
    return None


def _write_picked(
    found: Comparison, pick: ChosenPick, out: Path, *, force: bool
) -> dict[str, Any]:
    """Write the release that was picked; below the policy, say so on stderr."""
    chosen = found.pick(pick.which)
    with saying_warnings():
        release = found.release(pick.which, by=pick.by, because=pick.because)
        manifest = release.save(out, force=force)
    warn_giveaways(manifest["risk"])
    if chosen.weaker:
        warn(f"candidate {chosen.number} is {chosen.candidate.below_text}.")
    return {"candidate": chosen.number, "directory": str(out)}


def _error(fault: SfumatoError, *, stopped: bool) -> dict[str, Any]:
    return {
        "kind": "Interrupted" if stopped else type(fault).__name__,
        "message": fault.message,
        "hint": fault.hint,
        "exit_code": fault.exit_code,
    }


def _lines(found: Comparison, page: Path | None) -> Iterator[str]:
    """Format a comparison for people; the first line says that it is private."""
    from sfumato.pipeline.private_notes import PRIVATE
    from sfumato.report.number_text import counted

    yield PRIVATE
    yield from found.notes
    yield ""
    yield (
        f"{counted(len(found.tried), 'candidate')}, {len(found.front)} on the front "
        f"of {found.risk.name} and {found.utility.name}"
    )
    picks: dict[int, list[str]] = {}
    for name, number in found.picks().items():
        picks.setdefault(number, []).append(name)
    rows = [_row(found, each, picks) for each in found.candidates]
    head = ("", "candidate", found.risk.name, found.utility.name, "", "", "seconds")
    yield from column_lines([head, *rows])
    yield from _reasons(found)
    yield from _dial_lines(found)
    if page is not None:
        yield ""
        yield f"Private page: {page}"


def _row(
    found: Comparison, each: ComparedCandidate, picks: dict[int, list[str]]
) -> tuple[str, ...]:
    from sfumato.pipeline.comparison.picking import shown

    axes = [
        shown(figure, each.figures.get(figure.name)) if each.finished else "–"
        for figure in (found.risk, found.utility)
    ]
    place = "front" if each.on_front else ""
    state = each.candidate.below_text if each.finished else each.status
    if each.finished and found.limits and not state:
        state = "accepted" if each.accepted else "beyond a limit"
    said = ", ".join(filter(None, [state, *picks.get(each.number, [])]))
    seconds = "" if each.outcome is None else f"{each.outcome.seconds:.1f}"
    return (str(each.number), each.name, *axes, place, said, seconds)


def _reasons(found: Comparison) -> Iterator[str]:
    """Why candidates failed or lack a figure of the axes; equal reasons once."""
    from sfumato.report.number_text import listing

    numbers: dict[str, list[str]] = {}
    for each in found.candidates:
        for reason in _why(found, each):
            numbers.setdefault(reason, []).append(str(each.number))
    for reason, named in numbers.items():
        yield f"  {listing(named)} {reason}"


def _why(found: Comparison, each: ComparedCandidate) -> Iterator[str]:
    """Why a candidate failed, or why it has no figure of an axis."""
    if each.outcome is None:
        return
    if each.outcome.failure is not None:
        yield f"failed: {each.outcome.failure.message}"
        return
    for name in (found.risk.name, found.utility.name):
        reason = each.outcome.not_measured.get(name)
        if name not in each.figures and reason is not None:
            yield f"without {name}: {reason}"


def _dial_lines(found: Comparison) -> Iterator[str]:
    """The dial in numbers, and where its middle lies."""
    swept = found.sweeps
    for sweep in () if swept is None else swept.sweeps:
        yield ""
        yield f"The dial{f', {sweep.name}' if sweep.name else ''}:"
        head = ("utility_weight", "", "q_diversity (UM)", "s_diversity (PM)")
        rows = [
            (
                f"{point.weight:g}",
                point.record().get("preset", ""),
                f"{point.loss:.4f}",
                f"{point.exposure:.4f}",
            )
            for point in sweep.points
        ]
        yield from column_lines([head, *rows])
        balance = sweep.balance()
        if balance is not None:
            yield (
                f"  TGCB lies {balance['q_diversity']:.0%} of the way from TGCU to TGCP "
                f"in UM, and {balance['s_diversity']:.0%} from TGCP to TGCU in PM."
            )
