"""Which columns make a policy hard: what leaving out or coarsening one would gain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.algorithms.base import Request
from sfumato.data.schema import Kind
from sfumato.data.table import Column
from sfumato.errors import SfumatoError
from sfumato.hierarchies.automatic import (
    calendar_units,
    interval_widths,
    prefix_lengths,
)
from sfumato.hierarchies.axis import CodedAxis
from sfumato.hierarchies.build import build
from sfumato.models.base import OutputModel
from sfumato.pipeline.advice.hard_rows import rare_rows
from sfumato.pipeline.advice.measured_edits import LossScale, ProposedEdit
from sfumato.pipeline.advice.probe_search import ProbeSearch
from sfumato.pipeline.advice.suggestions import Suggestion, Topic
from sfumato.policy import Policy
from sfumato.policy.edit_text import toml_key, toml_value
from sfumato.report.number_text import counted, percent

MOST_LEFT_OUT = 12
"""Leaving out is measured for this many columns: those that lose most."""
MOST_COARSENED = 6
"""Other hierarchies are measured for this many columns."""
LEVELED = ("intervals", "quantiles", "prefix", "calendar")
"""The builders of hierarchies that list their levels, finest first."""


def column_edits(
    probe: ProbeSearch, scale: LossScale, policy: Policy, base: Path | None
) -> Iterator[ProposedEdit]:
    """Edits of one column each: leave it out, or give it another hierarchy."""
    names = [coded.name for coded in probe.request.quasi]
    order = [int(place) for place in np.argsort(-scale.by_column, kind="stable")]
    for place in order[:MOST_LEFT_OUT]:
        if len(names) > 1 and not _counted(probe.request.models, names[place]):
            yield _left_out(probe, scale, place)
    for place in order[:MOST_COARSENED]:
        yield from _other_hierarchies(probe, place, policy, base)


def _counted(models: Sequence[OutputModel], name: str) -> bool:
    """Whether a requirement counts values of a column, which must then stay."""
    return any(name in dict(t) for model in models for t in model.targets())


def _left_out(probe: ProbeSearch, scale: LossScale, place: int) -> ProposedEdit:
    coded = probe.request.quasi[place]
    others = np.delete(scale.by_column, place).mean()
    rest = without_column(probe.request, place)
    suggestion = Suggestion(
        topic=Topic.COLUMN,
        text=f"Leave out '{coded.name}'.",
        reason=(
            f"It has {counted(_distinct(coded), 'different value')} and loses "
            f"{percent(float(scale.by_column[place]))} of its detail; the other columns "
            f"lose {percent(float(others))} beside it."
        ),
        settings={f"columns.{toml_key(coded.name)}.drop": True},
        weaker=True,
        facts={
            "column": coded.name,
            "change": "left out",
            "rare_rows": rare_rows(probe.request),
            "rare_rows_left": rare_rows(rest),
        },
    )
    return ProposedEdit(suggestion, rest)


def without_column(request: Request, place: int) -> Request:
    """The request without a quasi-identifier."""
    kept = [coded for at, coded in enumerate(request.quasi) if at != place]
    people = request.population
    if people is not None:
        people = tuple(each for at, each in enumerate(people) if at != place)
    return replace(request, quasi=tuple(kept), population=people)


def _distinct(coded: CodedAxis) -> int:
    return int(np.count_nonzero(np.bincount(coded.codes)))


def _other_hierarchies(
    probe: ProbeSearch, place: int, policy: Policy, base: Path | None
) -> Iterator[ProposedEdit]:
    name = probe.request.quasi[place].name
    if probe.request.population is not None or _counted(probe.request.models, name):
        return
    section, column = policy.column(name), probe.table.columns[name]
    for spec, why in alternatives(column, section.hierarchy):
        try:
            coded = build(column, spec, base=base, weight=section.weight)
        except SfumatoError:
            continue
        if coded.axis.size < 2:
            continue
        quasi = list(probe.request.quasi)
        quasi[place] = coded
        yield ProposedEdit(
            _recoded(name, spec, why, section.hierarchy),
            replace(probe.request, quasi=tuple(quasi)),
        )


def _recoded(name: str, spec: Any, why: str, old: Any) -> Suggestion:
    now = "none" if old is None else toml_value(old)
    return Suggestion(
        topic=Topic.HIERARCHY,
        text=f"Set the hierarchy of '{name}' to {toml_value(spec)}.",
        reason=f"{why} Its hierarchy now: {now}.",
        settings={f"columns.{toml_key(name)}.hierarchy": spec},
        facts={"column": name, "change": "hierarchy"},
    )


def alternatives(column: Column, spec: Any) -> list[tuple[Any, str]]:
    """Other hierarchies that suit a column, each with what it does."""
    found: list[tuple[Any, str]] = []
    if isinstance(spec, Mapping):
        for builder in LEVELED:
            levels = list(spec.get(builder, ()))
            if len(levels) > 1:
                coarser = {**spec, builder: levels[1:]}
                found.append(
                    (coarser, "A coarser hierarchy, without its finest level.")
                )
    found += [each for each in _proposed(column) if each[0] != spec]
    plain = "free" if column.kind.numeric else "flat"
    if spec not in (None, plain):
        cells = "any interval" if column.kind.numeric else "any set of values"
        found.append((plain, f"Groups may then show {cells}, not only its levels."))
    return found


def _proposed(column: Column) -> list[tuple[Any, str]]:
    """Levels that follow from the values, as `init` would propose them."""
    why = "Groups then show rounded values, at a lower resolution."
    if column.kind in (Kind.DATE, Kind.DATETIME):
        units = [unit for unit in calendar_units(column) if unit != "day"]
        return [({"calendar": units}, why)] if units else []
    if column.kind.numeric:
        widths = [int(w) if w.is_integer() else w for w in interval_widths(column)]
        return [({"intervals": widths}, why)] if widths else []
    if column.kind is Kind.CODE:
        lengths = list(prefix_lengths(column))
        return [({"prefix": lengths}, why)] if lengths else []
    return [("auto", "Neighbors are joined.")] if column.kind is Kind.ORDERED else []


def column_figures(
    probe: ProbeSearch, scale: LossScale, found: Sequence[Suggestion]
) -> tuple[dict[str, Any], ...]:
    """Each quasi-identifier: what it loses, and what edits of it would gain."""
    figures = []
    for place, coded in enumerate(probe.request.quasi):
        mine = [each for each in found if each.facts.get("column") == coded.name]
        figures.append(
            {
                "column": coded.name,
                "distinct": _distinct(coded),
                "loss": float(scale.by_column[place]),
                "gain_left_out": _best(mine, "left out"),
                "gain_other_hierarchy": _best(mine, "hierarchy"),
            }
        )
    return tuple(sorted(figures, key=lambda each: -(each["gain_left_out"] or -9.0)))


def _best(found: Sequence[Suggestion], change: str) -> float | None:
    gains = [s.gain for s in found if s.facts.get("change") == change]
    return max((gain for gain in gains if gain is not None), default=None)
