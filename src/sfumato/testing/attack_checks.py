"""What every attack must meet, on small tables of every published form."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from types import MappingProxyType

import pyarrow as pa

from sfumato import api
from sfumato.data.seeds import Seed
from sfumato.pipeline.attack_run import AttackRun
from sfumato.pipeline.pair import PairFiles
from sfumato.pipeline.private_record import Alignment
from sfumato.policy import Policy
from sfumato.risk.attacks.base import Attack, AttackInput, AttackResult
from sfumato.testing.conformance_check import Check, must

ROWS = 90
SAID = ("Knows:", "Success:", "Baseline:")
OPERATORS = ("generalize", "swap", "anatomize")


def form_checks(attack_class: type[Attack]) -> list[Check]:
    """Checks of an attack, with its default options, on releases of every form."""
    return [
        Check(name, partial(judge, attack_class)) for name, judge in _STATEMENTS.items()
    ]


@cache
def scenes() -> tuple[AttackInput, ...]:
    """A release of each form beside its original, a control and another release."""
    table = _people("members")
    found = []
    for operator in OPERATORS:
        policy = Policy.build(
            quasi=["age", "place"],
            sensitive=["illness"],
            kinds={"age": "integer"},
            require=[{"model": "group-size", "k": 3}],
            publish={"operator": operator},
            algorithm="mondrian",
        )
        release = api.anonymize(table, policy, insecure_seed=0)
        rows = release.source_rows
        files = PairFiles(
            policy=policy,
            original=table,
            published=release.table,
            beside=release.beside,
            known_rows=Alignment(rows, release.group_of[rows]),
        )
        run = AttackRun(
            files=files, control=_people("strangers"), seed=Seed.guessable(1)
        )
        scene = run.scene()
        found.append(replace(scene, others=(scene.pair,)))
    return tuple(found)


def _people(name: str) -> pa.Table:
    """A small table in which an illness goes with an age."""
    seed = Seed.guessable(7).child(name)
    ages = (20 + 50 * seed.child("age").uniform(ROWS)).astype(int)
    places = ["abcd"[int(4 * share)] for share in seed.child("place").uniform(ROWS)]
    mixed = seed.child("illness").uniform(ROWS)
    ill = [
        "xyz"[int(age) // 25 if share < 0.7 else int(3 * share) % 3]
        for age, share in zip(ages, mixed, strict=True)
    ]
    return pa.table({"age": ages, "place": places, "illness": ill})


def _run(attack_class: type[Attack]) -> list[AttackResult]:
    attack = attack_class()
    fitting = [scene for scene in scenes() if attack.refusal(scene) is None]
    return [result for scene in fitting for result in attack.run(scene)]


def _says_what_it_is(attack_class: type[Attack]) -> None:
    must(attack_class.knows.strip(), "it does not say what the attacker knows")
    for word in SAID:
        must(word in (attack_class.__doc__ or ""), f"its docstring has no '{word}'")


def _applies(attack_class: type[Attack]) -> None:
    reasons = [attack_class().refusal(scene) for scene in scenes()]
    must(None in reasons, f"it applies to no table: {reasons}")
    for reason in reasons:
        must(reason is None or reason.strip(), "it refuses a table without a reason")


def _figures_are_in_order(attack_class: type[Attack]) -> None:
    for result in _run(attack_class):
        must(result.n > 0, "nobody was attacked")
        must(result.low <= result.success <= result.high, "not in its interval")
        must(math.isfinite(result.baseline), "the baseline is no number")
        must(result.name == attack_class.name, "a result has another name")
        must(result.bound is None, "an attack knows no bound by itself")


def _rows_are_of_the_original(attack_class: type[Attack]) -> None:
    for result in _run(attack_class):
        rows = result.at_risk
        must(all(0 <= row < ROWS for row in rows), "a row is not of the original")


def _one_seed_one_result(attack_class: type[Attack]) -> None:
    one, two = _run(attack_class), _run(attack_class)
    told = [[each.private_record() for each in found] for found in (one, two)]
    must(told[0] == told[1], "two runs of one seed differ")


_STATEMENTS: Mapping[str, Callable[[type[Attack]], None]] = MappingProxyType(
    {
        "says what it learns, and from what": _says_what_it_is,
        "applies to some table": _applies,
        "figures are in order": _figures_are_in_order,
        "the people at risk are rows of the original": _rows_are_of_the_original,
        "one seed gives one result": _one_seed_one_result,
    }
)
