"""The results of attacks in a few sentences, and the attacks that were not tried."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from sfumato import registry
from sfumato.report.number_text import percent
from sfumato.risk.attacks.judgment import (
    GAIN_LIMITS,
    WORST_LIMITS,
    Light,
    PromiseVerdict,
    Size,
    gain_over,
    gain_size,
    joint_light,
    light_of,
    size_of,
)

MARKS: Mapping[Light | Size, str] = {
    **{Light.GREEN: "✓", Light.AMBER: "!", Light.RED: "✗"},
    **{Size.SMALL: "✓", Size.NOTICEABLE: "!", Size.LARGE: "✗"},
}
"""What says without colors how good or bad something is."""
SIZES = list(Size)
PROMISES = {
    PromiseVerdict.BROKEN: ("A promised bound is exceeded.", "a bound is exceeded"),
    PromiseVerdict.HOLDS: ("Every promised bound holds.", "bounds hold"),
    PromiseVerdict.NONE: ("No promise bounds these attacks.", "nothing promised"),
}
"""What is said of all promises together, at length and in short."""


HOW_JUDGED = (
    "Three things are judged apart. The promise: whether the bound holds. The gain: the "
    "share of people whom guessing misses and the attack finds, small up to "
    f"{GAIN_LIMITS[0]:.0%} and large above {GAIN_LIMITS[1]:.0%}. The worst person: the "
    "one of whom an attacker becomes most certain, which as a gain is small up to "
    f"{WORST_LIMITS[0]:.0%} and large above {WORST_LIMITS[1]:.0%}. Guessing sees the "
    "published marginals alone (the baseline); where the attack was tried on people "
    "outside the table (the control), that success takes its place."
)
"""What pages say of the three things."""


class AttackSummary(NamedTuple):
    """What several results of attacks say together."""

    light: Light
    sentence: str
    short: str

    @property
    def mark(self) -> str:
        """The color as a symbol."""
        return MARKS[self.light]


class JudgedAttack(NamedTuple):
    """What one result says, as three things."""

    promise: PromiseVerdict
    gain: float | None
    gain_size: Size | None
    worst_size: Size | None

    @classmethod
    def of(cls, attack: Mapping[str, Any]) -> JudgedAttack:
        """Read it from a record, or judge one that was kept before there were gains."""
        exceeded = PromiseVerdict.BROKEN if attack["exceeded"] else PromiseVerdict.HOLDS
        promise = PromiseVerdict.NONE if attack.get("bound") is None else exceeded
        if "gain" not in attack:
            return cls(promise, *_gains(attack))
        sizes = [attack[key] for key in ("gain_size", "worst_size")]
        gain, worst = (None if size is None else Size(size) for size in sizes)
        return cls(promise, attack["gain"], gain, worst)

    @property
    def light(self) -> Light:
        """The worst of the three."""
        return light_of(self.promise, (self.gain_size, self.worst_size))


def _gains(attack: Mapping[str, Any]) -> tuple[float, Size, Size | None]:
    baseline = attack["baseline"]
    gain, high = (gain_over(attack[key], baseline) for key in ("success", "high"))
    worst = attack.get("worst")
    worst_size = (
        None if worst is None else size_of(gain_over(worst, baseline), WORST_LIMITS)
    )
    return gain, gain_size(gain, high), worst_size


class _SummaryPart(NamedTuple):
    """One of the three things that are said of several results."""

    light: Light
    sentence: str
    short: str


def attack_summary(attacks: Sequence[Mapping[str, Any]]) -> AttackSummary:
    """Say of all attacks together whether promises hold, the gain, the worst person.

    What is worst is said first: whoever stops reading there has read it.
    """
    judged = [(JudgedAttack.of(each), each) for each in attacks]
    light = joint_light([j.promise for j, _ in judged], [j.light for j, _ in judged])
    if not attacks:
        return AttackSummary(light, "No attack was finished.", "no attack was finished")
    order = list(Light)
    parts = sorted(
        (_promise_part(judged), *_gain_part(judged), *_worst_part(judged)),
        key=lambda part: -order.index(part.light),
    )
    sentence = " ".join(part.sentence for part in parts)
    return AttackSummary(light, sentence, ", ".join(part.short for part in parts))


_Judged = Sequence[tuple[JudgedAttack, Mapping[str, Any]]]


def _promise_part(judged: _Judged) -> _SummaryPart:
    promises = {each.promise for each, _ in judged} | {PromiseVerdict.NONE}
    worst = next(promise for promise in PROMISES if promise in promises)
    return _SummaryPart(joint_light([worst], [light_of(worst, ())]), *PROMISES[worst])


def _gain_part(judged: _Judged) -> Iterator[_SummaryPart]:
    gains = [
        ((SIZES.index(each.gain_size), each.gain or 0.0), each, attack)
        for each, attack in judged
        if each.gain_size is not None
    ]
    if gains:
        _, each, attack = max(gains, key=itemgetter(0))
        yield _SummaryPart(
            light_of(PromiseVerdict.NONE, [each.gain_size]),
            f"Largest gain over guessing: {percent(each.gain)}, {each.gain_size} "
            f"({_target(attack)}: {percent(attack['success'])} against "
            f"{percent(_guessing(attack))}).",
            f"gain {each.gain_size}",
        )


def _worst_part(judged: _Judged) -> Iterator[_SummaryPart]:
    worst = [
        ((SIZES.index(each.worst_size), attack["worst"]), each, attack)
        for each, attack in judged
        if each.worst_size is not None
    ]
    if worst:
        _, each, attack = max(worst, key=itemgetter(0))
        yield _SummaryPart(
            light_of(PromiseVerdict.NONE, [each.worst_size]),
            f"Worst person: {percent(attack['worst'])}, {each.worst_size} "
            f"({_target(attack)}).",
            f"worst person {each.worst_size}",
        )


def _guessing(attack: Mapping[str, Any]) -> float:
    """The success of guessing: that on people outside the table, where it is known."""
    control = attack.get("control")
    guessing: float = attack["baseline"] if control is None else control
    return guessing


def _target(attack: Mapping[str, Any]) -> str:
    column = attack.get("column")
    return f"{attack['name']} on '{column}'" if column else str(attack["name"])


def not_tried(
    attacks: Sequence[Mapping[str, Any]], skipped: Collection[str] = ()
) -> tuple[str, ...]:
    """The attacks of the catalogue that were neither run nor refused."""
    tried = {each["name"] for each in attacks} | set(skipped)
    return tuple(name for name in registry.names("attacks") if name not in tried)


def coverage(
    attacks: Sequence[Mapping[str, Any]], skipped: Collection[str] = ()
) -> str:
    """Say which attacks were not tried, and which could not be run."""
    sentence = not_tried_sentence(attacks, skipped)
    refused = [name for name in skipped if name not in {e["name"] for e in attacks}]
    if not refused:
        return sentence
    return f"{sentence} {len(refused)} could not be run: {', '.join(refused)}.".strip()


def not_tried_sentence(
    attacks: Sequence[Mapping[str, Any]], skipped: Collection[str] = ()
) -> str:
    """Say which attacks were not tried; empty if every one was."""
    names, total = not_tried(attacks, skipped), len(registry.names("attacks"))
    if not names:
        return ""
    verb = "was" if len(names) == 1 else "were"
    return f"{len(names)} of {total} attacks {verb} not tried: {', '.join(names)}."
