"""One piece of advice: an edit of the policy, and what it gains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from sfumato.data.safe_repr import SafeRepr
from sfumato.errors import UsageError
from sfumato.policy.edit import parts_of

AS_GOOD = 2 / 3
"""Gains of which one is at least this share of the other cannot be told apart."""


class Topic(StrEnum):
    """What a piece of advice is about."""

    REQUIREMENT = "requirement"
    COLUMN = "column"
    HIERARCHY = "hierarchy"
    ROWS = "rows"
    ALGORITHM = "algorithm"
    OPERATOR = "operator"
    DEPENDENCE = "dependence"
    BUDGET = "budget"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Suggestion(SafeRepr):
    """An edit of the policy, with its reason and its measured gain."""

    topic: Topic
    text: str
    """What to do, in one sentence."""
    reason: str
    settings: Mapping[str, Any]
    """The settings to change, by their path; None takes a setting away."""
    number: int = 0
    loss_before: float | None = None
    loss: float | None = None
    """The loss after the edit; None where it was not measured."""
    measured_by: str = ""
    """The search that measured both losses."""
    needed: bool = False
    """Whether no release is possible without it."""
    weaker: bool = False
    """Whether the release then promises less, or shows fewer columns or rows."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Further figures, by name."""

    def _summary(self) -> str:
        return f"{self.topic}, needed" if self.needed else str(self.topic)

    @property
    def gain(self) -> float | None:
        """How much less is lost, as a share of all detail; below 0: more is lost."""
        if self.loss is None or self.loss_before is None:
            return None
        return self.loss_before - self.loss

    def record(self) -> dict[str, Any]:
        """Every figure, machine-readable."""
        return {
            "number": self.number,
            "topic": str(self.topic),
            "text": self.text,
            "reason": self.reason,
            "settings": dict(self.settings),
            "needed": self.needed,
            "weaker": self.weaker,
            "loss_before": self.loss_before,
            "loss": self.loss,
            "gain": self.gain,
            "measured_by": self.measured_by or None,
            **self.facts,
        }


def numbered(found: Iterable[Suggestion]) -> tuple[Suggestion, ...]:
    """Number suggestions: what is needed first, then by gain, then unmeasured ones.

    Edits that are the same are one suggestion, with both reasons.
    """
    merged: dict[str, Suggestion] = {}
    for each in found:
        same = repr(sorted(each.settings.items(), key=lambda pair: pair[0]))
        merged[same] = _joined(merged[same], each) if same in merged else each
    ordered = _ruinous_first(sorted(merged.values(), key=_place))
    return tuple(replace(each, number=at) for at, each in enumerate(ordered, start=1))


def _place(each: Suggestion) -> tuple[bool, bool, float]:
    gain = each.gain
    return not each.needed, gain is None, 0.0 if gain is None else -gain


def makes_most_rare(each: Suggestion) -> bool:
    """Whether it leaves out a column that alone makes most of the rare rows rare."""
    rare = int(each.facts.get("rare_rows", 0))
    return rare > 0 and int(each.facts["rare_rows_left"]) < rare / 2


def _ruinous_first(ordered: list[Suggestion]) -> list[Suggestion]:
    """Put a column that makes most rows rare before edits that gain no more.

    Each gain may be off by a fifth, so that one of two thirds may be the same.
    """
    needed = sum(each.needed for each in ordered)
    most = ordered[needed].gain if len(ordered) > needed else None
    for each in ordered[needed:]:
        gain = each.gain
        if most is None or gain is None or gain < AS_GOOD * most:
            break
        if makes_most_rare(each):
            rest = [other for other in ordered if other is not each]
            return [*rest[:needed], each, *rest[needed:]]
    return ordered


def _joined(first: Suggestion, second: Suggestion) -> Suggestion:
    measured = first if first.loss is not None else second
    return replace(
        measured,
        reason=f"{first.reason} {second.reason}",
        needed=first.needed or second.needed,
        facts={**second.facts, **first.facts},
    )


def chosen(known: Sequence[Suggestion], numbers: Iterable[int]) -> list[Suggestion]:
    """The suggestions with these numbers, each once."""
    by_number = {each.number: each for each in known}
    wanted = list(dict.fromkeys(numbers))
    if not wanted:
        raise UsageError("No advice is named.", hint="Name its numbers: 2,3.")
    for number in wanted:
        if number not in by_number:
            there = f"1 to {len(known)}" if known else "none"
            raise UsageError(
                f"There is no advice {number}.", hint=f"Its numbers are {there}."
            )
    return [by_number[number] for number in wanted]


def merged_settings(edits: Sequence[Suggestion]) -> dict[str, Any]:
    """All settings of several suggestions, which must not contradict each other."""
    found: dict[str, tuple[Any, int]] = {}
    for each in edits:
        for key, value in each.settings.items():
            if key in found and found[key][0] != value:
                raise _conflict(found[key][1], each.number, f"both set '{key}'")
            found[key] = value, each.number
    _refuse_dropped(found)
    return {key: value for key, (value, _) in found.items()}


def _refuse_dropped(found: Mapping[str, tuple[Any, int]]) -> None:
    """Refuse to change a column that another edit leaves out."""
    parts = {key: parts_of(key) for key in found}
    dropped = {
        parts[key][1]: number
        for key, (value, number) in found.items()
        if parts[key][0] == "columns" and parts[key][-1] == "drop" and value is True
    }
    for key, (_, number) in found.items():
        column = parts[key][1] if parts[key][0] == "columns" else None
        if column in dropped and dropped[column] != number:
            why = f"one leaves out '{column}', and the other changes it"
            raise _conflict(dropped[column], number, why)


def _conflict(first: int, second: int, why: str) -> UsageError:
    return UsageError(
        f"Advice {first} and {second} cannot be applied together: {why}.",
        hint="Apply one of them, and ask for advice again.",
    )
