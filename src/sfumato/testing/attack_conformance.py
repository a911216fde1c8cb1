"""What every attack must meet, whatever it tries to learn."""

from __future__ import annotations

from functools import partial

from hypothesis import given, settings

from sfumato.data.seeds import Seed
from sfumato.risk.attacks.base import Attack, AttackInput, AttackResult
from sfumato.testing.attack_checks import form_checks
from sfumato.testing.comparison_checks import DrawnPair, pairs
from sfumato.testing.conformance_check import CALM, Check, must, must_be_named


def check_attack(attack_class: type[Attack]) -> list[Check]:
    """Every check of an attack, on drawn pairs of tables."""
    return [
        Check(
            "has a name and a sentence",
            partial(must_be_named, attack_class, attack_class.sentence),
        ),
        Check(
            "it succeeds on a share of people, or says why not",
            partial(_ask, attack_class()),
        ),
        *form_checks(attack_class),
    ]


def _ask(attack: Attack) -> None:
    @settings(CALM, max_examples=15)
    @given(pairs())
    def judged(pair: DrawnPair) -> None:
        results = _attacked(attack, pair)
        for result in results:
            _is_a_share(result)
        again = [each.success for each in _attacked(attack, pair)]
        must([r.success for r in results] == again, "one seed gives two results")

    judged()


def _attacked(attack: Attack, pair: DrawnPair) -> tuple[AttackResult, ...]:
    scene = AttackInput(pair=pair.paired(), seed=Seed.guessable(1))
    why = attack.refusal(scene)
    if why is not None:
        must(why.strip(), "the refusal has no words")
        return ()
    return attack.run(scene)


def _is_a_share(result: AttackResult) -> None:
    must(0 <= result.success <= 1, f"the success is {result.success}")
    must(
        result.low - 1e-9 <= result.success <= result.high + 1e-9,
        "the success lies outside its interval",
    )
    must(0 <= result.baseline <= 1, f"the baseline is {result.baseline}")
