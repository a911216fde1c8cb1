"""What every promise about attacks must meet.

`bound_checks` gives one check for each algorithm and model of the catalogue: small tables
are released and attacked in full, and no promised bound is exceeded.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cache, partial
from itertools import product
from pathlib import Path

from hypothesis import given, settings

from sfumato import api, registry
from sfumato.errors import GuaranteeError, SfumatoError
from sfumato.policy import Policy
from sfumato.testing.combination_checks import (
    Case,
    Combination,
    cases,
    output_models,
    policy_of,
    with_options,
)
from sfumato.testing.conformance_check import CALM, Check, must

EXAMPLES = 3
NAME = "no promised bound is exceeded"


def bound_checks(*, examples: int = EXAMPLES) -> Iterator[Check]:
    """A check for each algorithm and its options with each model, by turns with every
    operator."""
    algorithms = with_options("algorithms")
    operators = list(with_options("operators"))
    for at, (algorithm, model) in enumerate(product(algorithms, output_models())):
        chosen = Combination(*algorithm, model, *operators[at % len(operators)])
        yield Check(NAME, partial(_try, chosen, examples), str(chosen))


@cache
def bounds_seen() -> Counter[str]:
    """Return how often each attack was compared with a bound in this process."""
    return Counter()


def _try(combination: Combination, examples: int) -> None:
    @settings(CALM, max_examples=examples, derandomize=True)
    @given(cases(combination))
    def tried(case: Case) -> None:
        with tempfile.TemporaryDirectory() as directory:
            attack_case(combination, case, Path(directory))

    tried()


def attack_case(combination: Combination, case: Case, directory: Path) -> None:
    """Release a table and attack it in full; nothing that is promised may break."""
    try:
        policy = policy_of(combination, case, directory)
        names = bounded_attacks(policy)
        if not names or policy.process_models():
            return
        release = api.anonymize(case.table.source, policy)
    except GuaranteeError:
        raise
    except SfumatoError:
        return
    found = api.attack(release, case.table.source, names, policy, insecure_seed=1)
    bounds_seen().update(r.name for r in found.results if r.bound is not None)
    for result in found.results:
        told = f"{result.record()} exceeds what {combination} promises"
        must(not result.exceeded, told)


def bounded_attacks(policy: Policy) -> list[str]:
    """The attacks about which the policy's requirements promise something."""
    quasi, sensitive = _named(policy)
    bounds = [b for m in policy.models() for b in m.attack_bounds(quasi, sensitive)]
    return [n for n in registry.names("attacks") if any(b.attack == n for b in bounds)]


def _named(policy: Policy) -> tuple[tuple[str, ...], tuple[str, ...]]:
    from sfumato.data.schema import Role

    return policy.names(Role.QUASI), policy.names(Role.SENSITIVE)
