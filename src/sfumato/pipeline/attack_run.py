"""Attack a release: from its files and its policy to results beside promised bounds."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato import registry
from sfumato.algorithms.base import Progress, silent
from sfumato.data.arrays import Flags
from sfumato.data.result_classes import comes_from
from sfumato.data.safe_repr import SafeRepr, counted
from sfumato.data.schema import Role
from sfumato.data.seeds import Seed
from sfumato.errors import DataError, UsageError
from sfumato.models.base import AttackBound
from sfumato.pipeline.build_request import build_request, coded_rows
from sfumato.pipeline.expand_requirements import generated_counts, smallest_group
from sfumato.pipeline.original_check import check_original
from sfumato.pipeline.pair import PairFiles
from sfumato.pipeline.private_notes import OUTSIDE, PRIVATE
from sfumato.pipeline.release_files import ReleaseFiles
from sfumato.pipeline.run import Run
from sfumato.pipeline.same_people import same_people
from sfumato.policy import Policy
from sfumato.report.attack_verdict import attack_summary, not_tried
from sfumato.risk.attacks.base import (
    SAMPLE,
    Attack,
    AttackInput,
    AttackResult,
    under_bound,
)
from sfumato.risk.attacks.complementary import ComplementaryRelease
from sfumato.risk.attacks.homogeneity import Homogeneity
from sfumato.risk.possible_worlds import Rerun
from sfumato.risk.table_pair import Pair


@comes_from("sfumato.attack(release, original)")
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Attacked(SafeRepr):
    """How attacks on a release went; private.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> people = pa.table({"age": [23, 25, 31, 34], "ill": list("abab")})
        >>> release = sf.anonymize(people, quasi="age", sensitive="ill", k=2)
        >>> found = sf.attack(release, people, ["linkage", "homogeneity"])
        >>> found.holds, found["linkage"].success, found["linkage"].bound
        (True, 0.5, 0.5)
        >>> found.light
        'red'
    """

    results: tuple[AttackResult, ...]
    """Each attack: `name`, `success`, `low`, `high`, `baseline`, `worst`, `bound`, …"""
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Attacks that could not be run, and why."""
    certified: bool = False
    """Whether the release is differentially private."""
    stopped: bool = False
    """Whether it was stopped before all attacks were finished."""

    def _summary(self) -> str:
        verdict = attack_summary(self._records())
        return f"{counted(len(self.results), 'attack')}; {verdict.short}"

    @property
    def holds(self) -> bool:
        """Whether every promised bound holds; says nothing about what none bounds."""
        return not any(result.exceeded for result in self.results)

    @property
    def light(self) -> str:
        """The worst of promises, gains over guessing and worst persons, as a color."""
        return attack_summary(self._records()).light.value

    @property
    def summary(self) -> str:
        """The same in a few sentences."""
        return attack_summary(self._records()).sentence

    @property
    def not_tried(self) -> tuple[str, ...]:
        """The attacks of the catalogue that were neither run nor refused."""
        return not_tried(self._records(), self.skipped)

    def __getitem__(self, name: str) -> AttackResult:
        """The first result of an attack.

        A KeyError names the attacks that were run, and why this one was not.
        """
        for each in self.results:
            if each.name == name:
                return each
        if name in self.skipped:
            raise KeyError(f"'{name}' was not run: {self.skipped[name]}")
        there = dict.fromkeys(each.name for each in self.results)
        listed = ", ".join(f"'{each}'" for each in there) or "none"
        raise KeyError(f"'{name}' was not run; these attacks were: {listed}")

    def notes(self) -> list[str]:
        """What a reader must know first."""
        return [PRIVATE, *([OUTSIDE] if self.certified else [])]

    def record(self) -> dict[str, Any]:
        """All results as one JSON object; private."""
        return {
            "private": " ".join(self.notes()),
            "holds": self.holds,
            "light": self.light,
            "summary": self.summary,
            "attacks": self._records(),
            "skipped": dict(self.skipped),
            "not_tried": list(self.not_tried),
            "stopped": self.stopped,
        }

    def _records(self) -> list[dict[str, Any]]:
        return [result.record() for result in self.results]

    def private_lines(self) -> list[dict[str, Any]]:
        """The private facts, line by line: what they are, then one attack each."""
        head = {"private": " ".join(self.notes()), "skipped": dict(self.skipped)}
        return [head, *(result.private_record() for result in self.results)]


class _StoppedError(Exception):
    """Ends an attack because the run is to stop."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AttackRun:
    """A published table, its original, and how it is to be attacked."""

    files: PairFiles
    control: pa.Table | None = None
    others: tuple[Path, ...] = ()
    """Directories of other releases of the same people."""
    known: tuple[str, ...] = ()
    sample: int = SAMPLE
    seed: Seed = field(default_factory=Seed.fresh)
    progress: Progress = silent
    after: tuple[str, ...] = ()
    """The hashes of the releases that this one was made after, by its manifest."""
    bounds: bool = True
    """Whether the policy's requirements say what is promised."""
    stop: threading.Event | None = None
    """Ends the run when it is set; what is finished is kept."""

    @property
    def policy(self) -> Policy:
        return self.files.policy

    def run(self, names: Sequence[str]) -> Attacked:
        """Run attacks by name; those that do not apply are skipped, with a reason.

        Ctrl-C, or setting `stop`, keeps the attacks that are finished.
        """
        scene = self.scene()
        results: list[AttackResult] = []
        skipped: dict[str, str] = {}
        stopped = False
        try:
            for at, name in enumerate(names):
                progress = self._progress(name, at, len(names))
                results += self._run_one(
                    name, replace(scene, progress=progress), skipped
                )
        except (KeyboardInterrupt, _StoppedError):
            stopped = True
        return Attacked(
            results=tuple(results),
            skipped=skipped,
            certified=bool(self.policy.process_models()),
            stopped=stopped,
        )

    def _run_one(
        self, name: str, scene: AttackInput, skipped: dict[str, str]
    ) -> list[AttackResult]:
        """The results of one attack; where it does not apply, `skipped` says why."""
        results: list[AttackResult] = []
        for attack, asked, bounds in self._ways(name, scene):
            reason = attack.refusal(asked)
            if reason is not None:
                skipped[name] = reason
                continue
            results += [_bounded(each, bounds) for each in attack.run(asked)]
        return results

    def _progress(self, name: str, at: int, total: int) -> Progress:
        """The progress of one attack of several, under its own name; announces it."""

        def show(step: str, share: float) -> None:
            self._go_on()
            self.progress(f"{name}: {step}" if step else name, (at + share) / total)

        show("", 0.0)
        return show

    def _go_on(self, _step: str = "", _share: float = 0.0) -> None:
        if self.stop is not None and self.stop.is_set():
            raise _StoppedError

    def _ways(
        self, name: str, scene: AttackInput
    ) -> Iterator[tuple[Attack, AttackInput, tuple[AttackBound, ...]]]:
        """Return the attack once per requirement that bounds it, or once unbounded."""
        kind = registry.load("attacks", name)
        together = self._promised_together(scene.pair)
        if name == ComplementaryRelease.name and together:
            yield ComplementaryRelease(common=False), scene, together
            return
        promised = [b for b in self._promised(scene.pair) if b.attack == name]
        for bound in promised:
            views = () if bound.view is None else (bound.view,)
            asked = replace(scene, known=bound.known, views=views)
            yield kind(**bound.options), asked, (bound,)
        covered = {bound.view.column for bound in promised if bound.view is not None}
        left = tuple(v for v in scene.secrets if v.column not in covered)
        if not promised:
            yield kind(), scene, ()
        elif covered and left:
            yield kind(), replace(scene, views=left), ()

    def _promised(self, pair: Pair) -> tuple[AttackBound, ...]:
        """What the policy's requirements promise about this table.

        Nothing, if the attacker knows other columns than the requirements assume.
        """
        if self.known or not self.bounds:
            return ()
        models = self.policy.models()
        found = [b for m in models for b in m.attack_bounds(pair.quasi, pair.sensitive)]
        if not truthful(pair):
            # A mean or a mode may happen to be the value of exactly one person.
            found = [b for b in found if b.attack != "singling-out"]
        return tuple(b for at, b in enumerate(found) if b not in found[:at])

    def _promised_together(self, pair: Pair) -> tuple[AttackBound, ...]:
        """What the release promises together with the others: k candidates, and no
        value that all of them share.

        Nothing, unless it was made after all of them. With fewer releases there are
        more candidates, so that the promise holds for some of them, too.
        """
        given = {_data_hash(place) for place in self.others}
        if self.known or not given or not given <= set(self.after):
            return ()
        name, models = ComplementaryRelease.name, self.policy.models()
        k = smallest_group(models)
        found = [AttackBound(attack=name, at_most=1.0 / k)] if k > 1 else []
        shared = [b for b in self._promised(pair) if b.attack == Homogeneity.name]
        found += [replace(b, attack=name) for b in shared if _by_value(b)]
        return tuple(found)

    def scene(self) -> AttackInput:
        """Return the tables as attacks see them."""
        pair = self.files.pair()
        check_original(self.files, pair)
        self._check_known(pair)
        return AttackInput(
            pair=pair,
            known=self.known,
            both=None if self.control is None else self._both(self.control),
            others=tuple(self._other(place) for place in self.others),
            taken=self._taken(pair),
            rerun=None if self.policy.process_models() else self._rerun,
            sample=self.sample,
            seed=self.seed,
            progress=self.progress,
        )

    def _rerun(self) -> Rerun:
        """The policy's algorithm, and what it was asked about the original."""
        run = Run(
            policy=self.policy,
            source=self.files.original,
            base=self.files.base,
            seed=self.seed,
            progress=self._go_on,
        )
        table, rows = coded_rows(run)
        counts = generated_counts(run.policy.models(), table)
        request = build_request(run, table, None, counts)
        return Rerun(algorithm=run.algorithm, request=request, rows=rows)

    def _taken(self, pair: Pair) -> Flags | None:
        """Return the rows without a missing cell, if the policy drops the others."""
        if self.policy.data.missing_as != "drop":
            return None
        names = (*pair.quasi, *self.policy.names(Role.SENSITIVE))
        columns = [pair.original[name] for name in names if name in pair.original]
        complete = np.ones(pair.rows, dtype=np.bool_)
        for each in columns:
            if each.axis.missing >= 0:
                complete &= each.codes != each.axis.missing
        return complete

    def _other(self, place: Path) -> Pair:
        """Return another release, with rows numbered like this original's people."""
        files = ReleaseFiles.of(place)
        if files.record is None:
            raise DataError(
                f"'{place}' has no private record, so that nobody knows who is in it.",
                hint="Name a release directory with its private part.",
            )
        table, beside = files.tables(self.policy)
        aligned = same_people(
            files.record,
            table.num_rows,
            mine=self.files.record,
            rows=self.files.original.num_rows,
        )
        return replace(
            self.files, published=table, beside=beside, record=None, known_rows=aligned
        ).pair()

    def _check_known(self, pair: Pair) -> None:
        for name in self.known:
            if name not in pair.original or name not in pair.published:
                listed = ", ".join(f"'{n}'" for n in pair.published)
                raise UsageError(
                    f"Column '{name}' cannot be known: it is not in both tables.",
                    hint=f"These are: {listed}.",
                )

    def _both(self, people: pa.Table) -> Pair:
        """The published table beside the original and people who are not in it."""
        original = self.files.original
        quasi = self.policy.names(Role.QUASI)
        lacking = [n for n in quasi if n not in people.column_names]
        if lacking:
            raise UsageError(
                f"The control table has no column '{lacking[0]}'.",
                hint="It needs the original's columns, about other people.",
            )
        names = [n for n in original.column_names if n in people.column_names]
        parts = [each.select(names) for each in (original, people)]
        try:
            together = pa.concat_tables(parts, promote_options="permissive")
        except pa.ArrowException:
            raise UsageError(
                "The columns of the control table have other types than the original's.",
                hint="Write both to CSV files, or to one kind of file.",
            ) from None
        return replace(
            self.files, original=together, record=None, known_rows=None
        ).pair()


def _bounded(result: AttackResult, bounds: tuple[AttackBound, ...]) -> AttackResult:
    """The result with what is promised about its column, if anything is."""
    for bound in bounds:
        column = None if bound.view is None else bound.view.column
        if column == result.column:
            return under_bound(result, bound.at_most, on_average=bound.on_average)
    return result


def _by_value(bound: AttackBound) -> bool:
    """Whether a promise tells values apart as they are published."""
    return bound.view is not None and bound.view.level == 0


def _data_hash(place: Path) -> str:
    """The hash of a release's data file, by its manifest; empty where there is none."""
    return str(ReleaseFiles.of(place).manifest.get("data_sha256", ""))


def truthful(pair: Pair) -> bool:
    """Return whether every cell may stand for the value of its row's person."""
    if pair.source_row is None:
        return pair.form.truthful
    rows = np.arange(pair.rows_out)
    return all(
        bool(
            pair.published[name]
            .covers(rows, pair.original[name].codes[pair.source_row])
            .all()
        )
        for name in pair.quasi
    )


def names_of(name: str) -> tuple[str, ...]:
    """Return the attacks that a name stands for: itself, or the whole catalogue.

    Slow ones come last.
    """
    if name == "all":
        names = registry.names("attacks")
        return tuple(sorted(names, key=lambda each: bool(_slow(each))))
    registry.load("attacks", name)
    return (name,)


def _slow(name: str) -> str:
    """Why an attack is slow; empty if it is not."""
    reason: str = registry.load("attacks", name).slow
    return reason
