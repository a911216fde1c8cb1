"""All utility and risk figures of a published table beside its original; private."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato import registry
from sfumato.algorithms.base import Progress, silent
from sfumato.data.arrays import Codes, Counts
from sfumato.data.published_cells import coded_cells
from sfumato.data.result_classes import comes_from
from sfumato.data.safe_repr import SafeRepr, counted
from sfumato.data.schema import Role
from sfumato.errors import UsageError
from sfumato.pipeline.claimed_columns import added, withheld
from sfumato.pipeline.expand_requirements import smallest_group
from sfumato.pipeline.foreign_tables import whole_numbers
from sfumato.pipeline.judged_claims import judge
from sfumato.pipeline.matching_people import matching_people
from sfumato.pipeline.original_check import check_original
from sfumato.pipeline.pair import PairFiles
from sfumato.pipeline.private_notes import OUTSIDE, PRIVATE
from sfumato.pipeline.workload_tables import queried_source
from sfumato.risk.exposure import Exposed, exposure, named_rows, special_uniques
from sfumato.risk.learned.learned_utility import SAMPLE, learned_utility
from sfumato.risk.table_pair import Pair, PublishedForm
from sfumato.risk.utility import utility
from sfumato.verify import require_columns

if TYPE_CHECKING:
    from sfumato.workload.queries import Workload


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Optional parts of an assessment."""

    workload: Workload | None = None
    learn: bool = False
    target: str | None = None
    """The column that models learn; None: the first sensitive one."""
    sample: int = SAMPLE
    fraction: float | None = None
    """The share of the population that is in the original."""
    population: str | None = None
    """A file with the quasi-identifiers of the whole population."""
    household: str | None = None
    """The column of the original that says who lives together."""
    suda: bool = False
    seed: int = 0


@comes_from("sfumato.assess(original, published, policy)")
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Assessment(SafeRepr):
    """What a published table keeps, and how exposed people are in it; private.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> people = pa.table({"age": [23, 25, 31, 34], "ill": list("abab")})
        >>> release = sf.anonymize(people, quasi="age", sensitive="ill", k=2)
        >>> found = sf.assess(people, release)
        >>> found.published_rows, found.risk["k"], round(found.utility["ncp"], 4)
        (4, 2.0, 0.2273)
    """

    form: PublishedForm
    """How the table was published: generalized, swapped, anatomized, …"""
    rows: int
    """Rows of the original."""
    published_rows: int
    """Rows of the published table."""
    utility: dict[str, Any]
    """Every metric that applies, by name; `parts` breaks them down."""
    risk: dict[str, Any]
    """k and l that hold, requirements, and the risk `before` and `after`."""
    unrecognized_cells: dict[str, int]
    """Per column, the cells whose text means nothing on the original's axis."""
    records: Mapping[str, Exposed] = field(default_factory=dict)
    """The risk of each original row (`before`) and published row (`after`)."""
    notes: tuple[str, ...] = field(default=())
    """What else was noticed about the published table."""

    def _summary(self) -> str:
        return f"{counted(self.published_rows, 'published row')}, {self.form}"

    def record(self) -> dict[str, Any]:
        """All of it, for JSON; the first entry says that it is private."""
        return {
            "private": PRIVATE,
            "form": self.form.value,
            "rows": self.rows,
            "published_rows": self.published_rows,
            "utility": self.utility,
            "risk": self.risk,
            "unrecognized_cells": self.unrecognized_cells,
            "notes": list(self.notes),
        }


def assess(
    files: PairFiles, wanted: Wanted, *, progress: Progress = silent
) -> Assessment:
    """Measure a published table beside its original."""
    progress("read", 0.0)
    _refuse_roles(files)
    pair = files.pair()
    warned = check_original(files, pair)
    progress("utility", 0.2)
    kept = _utility(files, pair, wanted)
    progress("risk", 0.5)
    exposed = exposure(
        pair,
        fraction=wanted.fraction,
        population=_population(files, pair, wanted),
        households=_households(files, wanted),
    )
    risk, notes = _risk(files, pair, wanted, exposed)
    if wanted.learn:
        progress("learn", 0.6)
        kept["learned"] = learned_utility(
            pair,
            target=wanted.target,
            sample=wanted.sample,
            seed=wanted.seed,
            progress=lambda step, share: progress(step, 0.6 + 0.4 * share),
        ).record()
    return Assessment(
        form=pair.form,
        rows=pair.rows,
        published_rows=pair.rows_out,
        utility=kept,
        risk=risk,
        unrecognized_cells=pair.unrecognized,
        records=exposed,
        notes=(*warned, *_notes(files, pair), *notes),
    )


def _refuse_roles(files: PairFiles) -> None:
    """Refuse to measure where nothing says what an attacker knows."""
    if not files.policy.names(Role.QUASI):
        raise UsageError(
            "Nothing says which columns are quasi-identifiers.",
            hint="Give a policy, or quasi=[…] in Python.",
        )


def _utility(files: PairFiles, pair: Pair, wanted: Wanted) -> dict[str, Any]:
    metrics = {
        name: registry.load("metrics", name) for name in registry.names("metrics")
    }
    k = smallest_group(files.policy.models())
    found = utility(pair, metrics, k=k).record()
    if wanted.workload is not None:
        place = queried_source(
            files.policy, files.original, wanted.workload, files.base
        )
        found["workload"] = place.error(
            files.published, files.beside, seed=wanted.seed
        ).record()
    return found


def _risk(
    files: PairFiles, pair: Pair, wanted: Wanted, exposed: Mapping[str, Exposed]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    judged = judge(files, pair)
    found: dict[str, Any] = {
        **judged.measured,
        **{when: each.summary(wanted.fraction) for when, each in exposed.items()},
        "requirements": judged.verdicts,
        "hidden_rows": int(pair.hidden.sum()),
        "unfounded_cells": _unfounded(pair),
        "row_numbers": _row_numbers(files, pair),
        "withheld_columns_present": _withheld(files),
    }
    if wanted.suda:
        found["special_uniques"] = special_uniques(pair, fraction=wanted.fraction)
    return found, judged.notes


def _households(files: PairFiles, wanted: Wanted) -> Codes | None:
    """The household of each row of the original, where a column says so."""
    name = wanted.household
    if name is None:
        return None
    require_columns(files.original, [name], what="The original")
    (cells,) = coded_cells(files.original, [name], files.policy.data.missing)
    alone = cells.missing[cells.codes]
    # Who is not known to live with anybody is a household of one.
    others = len(cells.texts) + np.cumsum(alone) - 1
    return np.where(alone, others, cells.codes).astype(np.int32)


def _population(
    files: PairFiles, pair: Pair, wanted: Wanted
) -> tuple[Counts, Counts] | None:
    if wanted.population is None:
        return None
    return matching_people(files, pair, wanted.population)


def _unfounded(pair: Pair) -> dict[str, int]:
    """Cells that are understood, but hold no value of the original."""
    if not pair.form.truthful:
        return {}
    found = {name: pair.published[name].unfounded for name in pair.quasi}
    return {name: count for name, count in found.items() if count}


def _row_numbers(files: PairFiles, pair: Pair) -> dict[str, float]:
    """New columns that number rows, and the share of rows that they could name."""
    found = {}
    for name in pair.row_numbers:
        numbers = whole_numbers(files.published, name)
        if numbers is not None and len(numbers) == pair.rows_out:
            found[name] = named_rows(pair, numbers)
    return found


def _withheld(files: PairFiles) -> list[str]:
    """Columns that the policy withholds, and that show more than `*`."""
    policy, names = files.policy, files.published.column_names
    own = added(policy, policy.operator_instance(), names)
    there = withheld(policy, names, but=own)
    return [name for name in there if not _starred(files, name)]


def _starred(files: PairFiles, name: str) -> bool:
    distinct = files.published.column(name).unique().to_pylist()
    return set(map(str, distinct)) <= {"*", "None", ""}


def _notes(files: PairFiles, pair: Pair) -> list[str]:
    notes = []
    if files.policy.process_models():
        notes.append(OUTSIDE)
    if pair.count_column is not None:
        notes.append(
            f"'{pair.count_column}' says how many rows each published row stands for."
        )
    if pair.dropped:
        notes.append(f"Not published: {', '.join(pair.dropped)}.")
    if pair.row_numbers:
        numbered = ", ".join(f"'{name}'" for name in pair.row_numbers)
        notes.append(f"{numbered} may number the rows of the original.")
    if pair.hidden.any():
        hidden = counted(int(pair.hidden.sum()), "published row")
        notes.append(f"Without any quasi-identifier, hence suppressed: {hidden}.")
    return notes
