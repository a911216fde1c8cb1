"""The candidates of a comparison: changed copies of one policy."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any

from sfumato import registry
from sfumato.data.safe_repr import SafeRepr, counted
from sfumato.errors import PolicyError, UsageError
from sfumato.pipeline.comparison.policy_floor import (
    Lowered,
    below_the_policy,
    lowered,
)
from sfumato.policy import Policy
from sfumato.report.number_text import listing, setting

DEFAULT_ALGORITHMS = ("best", "harvest", "mondrian", "k-member", "local-optimal")
"""Where `[compare]` is not given: few, fast, and each of another family."""
LARGE_TABLE = 200_000
"""From this many rows on, only the algorithms that stay fast are tried by default."""
FAST_ALGORITHMS = ("harvest", "mondrian", "top-down", "local-optimal")
DEFAULT_SIZES = (2, 5, 10, 25, 50)
MOST = 1000
"""The most candidates of one comparison."""
OPERATOR_OPTIONS = ("numbers", "flat")
OF_ALGORITHM = "algorithm."
DIAL = "algorithm.utility_weight"
DIAL_ALGORITHM = "tgc"

Settings = Mapping[str, Any]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Candidate(SafeRepr):
    """A policy to try, and how it differs from the one given."""

    number: int
    """Counted from 1."""
    name: str
    algorithm: str
    operator: str
    settings: Settings
    """What is changed, by its path: what `--set` takes."""
    policy: Policy
    below: tuple[Lowered, ...] = ()
    """What it asks less of than the policy."""

    @property
    def below_text(self) -> str:
        """What it asks less of, in words; empty if nothing."""
        return below_the_policy(self.below)

    def _summary(self) -> str:
        return self.name


def candidates(
    policy: Policy, *, rows: int, allow_weaker: bool = False
) -> tuple[Candidate, ...]:
    """The candidates that `[compare]` asks for, or a sensible default.

    None asks less than the policy, unless `allow_weaker` asks for those as well.
    """
    return _numbered(_asked_for(policy, rows, allow_weaker), allow_weaker)


def left_out(
    policy: Policy, *, rows: int, steps: int | None = None
) -> tuple[Candidate, ...]:
    """The candidates of `[compare]`, or of a dial, that are below the policy."""
    made = (
        _asked_for(policy, rows, allow_weaker=False)
        if steps is None
        else dialed(policy, steps=steps, allow_weaker=True)
    )
    return tuple(each for each in made if each.below)


def dialed(
    policy: Policy, *, steps: int, allow_weaker: bool = False
) -> tuple[Candidate, ...]:
    """The candidates of the trade-off dial: `utility_weight` from 0 to 1.

    Settings of `[compare]` are kept, so that a dial can be swept for several k.
    """
    weights = tuple(round(step / (steps - 1), 6) for step in range(steps))
    rest = {k: v for k, v in policy.compare.set.items() if k != DIAL}
    made = _made(policy, (DIAL_ALGORITHM,), (), {**rest, DIAL: weights})
    return _numbered(made, allow_weaker)


def left_out_note(weaker: Sequence[Candidate]) -> str:
    """One sentence that names what the candidates that are left out ask."""
    named = listing(lowered_texts(weaker))
    verb = "is" if len(weaker) == 1 else "are"
    return (
        f"{counted(len(weaker), 'candidate')} of [compare] {verb} below the policy and "
        f"left out ({named}); --allow-weaker tries them, too."
    )


def _asked_for(policy: Policy, rows: int, allow_weaker: bool) -> tuple[Candidate, ...]:
    asked = policy.compare
    given = bool(asked.algorithms or asked.operators or asked.set)
    if not given and policy.process_models():
        raise PolicyError(
            "Every candidate spends privacy budget, and the policy has no [compare] "
            "that says which to try.",
            hint='For example: [compare] set = { "require.0.epsilon" = [0.5, 1.0] }.',
        )
    own = (policy.algorithm.name or registry.DEFAULT_ALGORITHM,)
    algorithms = asked.algorithms or (own if given else default_algorithms(rows))
    values = dict(asked.set) if given else _default_sizes(policy, rows, allow_weaker)
    return _made(policy, algorithms, asked.operators, values)


def _numbered(made: Sequence[Candidate], allow_weaker: bool) -> tuple[Candidate, ...]:
    """The candidates that are tried, counted from 1."""
    tried = [each for each in made if allow_weaker or not each.below]
    if made and not tried:
        raise PolicyError(
            f"Every candidate asks for less than the policy: {_lowered_text(made[0])}.",
            hint="Change [compare], or try them with --allow-weaker "
            "(from Python: allow_weaker=True).",
        )
    return tuple(replace(each, number=at) for at, each in enumerate(tried, start=1))


def lowered_texts(weaker: Sequence[Candidate]) -> list[str]:
    """What candidates ask less of, each once: `k = 2 instead of 5`."""
    shortfalls = (each for candidate in weaker for each in candidate.below)
    return list(dict.fromkeys(each.told() for each in shortfalls))


def _lowered_text(candidate: Candidate) -> str:
    return "; ".join(each.told() for each in candidate.below)


def default_algorithms(rows: int) -> tuple[str, ...]:
    """The algorithms of a comparison that names none."""
    return FAST_ALGORITHMS if rows >= LARGE_TABLE else DEFAULT_ALGORITHMS


def _default_sizes(
    policy: Policy, rows: int, allow_weaker: bool
) -> dict[str, tuple[Any, ...]]:
    """Several k from the policy's own on, where it asks for one."""
    for place, wanted in enumerate(policy.require):
        k = wanted.settings.get("k")
        if wanted.model == "k-anonymity" and isinstance(k, int):
            fitting = [size for size in DEFAULT_SIZES if 2 * size <= rows]
            sizes = sorted({k, *(s for s in fitting if allow_weaker or s > k)})
            return {f"require.{place}.k": tuple(sizes)}
    return {}


def _made(
    policy: Policy,
    algorithms: Sequence[str],
    operators: Sequence[str],
    values: Mapping[str, Sequence[Any]],
) -> tuple[Candidate, ...]:
    _refuse_unknown(algorithms, operators)
    _refuse_foreign(algorithms, values)
    shown = operators or (policy.publish.operator,)
    plans = list(_plans(algorithms, shown, values))
    if len(plans) > MOST:
        raise PolicyError(
            f"[compare] asks for {len(plans):,} candidates; at most {MOST:,} are compared.",
            hint="Name fewer algorithms, operators or values.",
        )
    several = len(set(algorithms)) > 1, len(set(shown)) > 1
    return tuple(
        _candidate(policy, number, plan, several=several)
        for number, plan in enumerate(plans, start=1)
    )


Plan = tuple[str, str, dict[str, Any]]


def _plans(
    algorithms: Sequence[str],
    operators: Sequence[str],
    values: Mapping[str, Sequence[Any]],
) -> Iterator[Plan]:
    """Every combination once; an algorithm gets only those options that it has."""
    seen: list[Plan] = []
    for algorithm, operator in product(algorithms, operators):
        options = _options(algorithm)
        fitting = {k: v for k, v in values.items() if _fits(k, options)}
        for chosen in product(*fitting.values()):
            plan = (algorithm, operator, dict(zip(fitting, chosen, strict=True)))
            if plan not in seen:
                seen.append(plan)
                yield plan


def _options(algorithm: str) -> set[str]:
    return {each.name for each in fields(registry.algorithm(algorithm))}


def _fits(key: str, options: set[str]) -> bool:
    own = key.removeprefix(OF_ALGORITHM)
    return own == key or own in options


def _candidate(
    policy: Policy, number: int, plan: Plan, *, several: tuple[bool, bool]
) -> Candidate:
    algorithm, operator, chosen = plan
    settings: dict[str, Any] = {"algorithm.name": algorithm}
    if operator != policy.publish.operator:
        settings["publish.operator"] = operator
    settings |= chosen
    bare = _without_options(policy, algorithm, operator)
    written = {key: _written(value) for key, value in settings.items()}
    changed = bare.with_settings(written)
    return Candidate(
        number=number,
        name=_name(plan, several),
        algorithm=algorithm,
        operator=operator,
        settings=settings,
        policy=changed,
        below=lowered(policy, changed),
    )


def _without_options(policy: Policy, algorithm: str, operator: str) -> Policy:
    """The policy without options of another algorithm or operator, and nothing else.

    What is compared, and with which limits, is no part of the release.
    """
    settings: dict[str, Any] = {"compare": {}, "accept": {}}
    if algorithm != policy.algorithm.name:
        settings["algorithm"] = {"name": algorithm}
    if operator != policy.publish.operator:
        own = (*OPERATOR_OPTIONS, *policy.publish.settings)
        written = policy.publish.model_dump(mode="json", exclude_defaults=True)
        kept = {k: v for k, v in written.items() if k not in own and v is not None}
        settings["publish"] = kept | {"operator": operator}
    return policy.with_settings(settings)


def _written(value: Any) -> Any:
    """Quote texts, so that none is read as a number or a date."""
    return json.dumps(value) if isinstance(value, str) else value


def _name(plan: Plan, several: tuple[bool, bool]) -> str:
    """What tells a candidate apart: `mondrian, k = 5`."""
    algorithm, operator, chosen = plan
    words = [algorithm] if several[0] or not chosen else []
    words += [operator] if several[1] else []
    words += [f"{_short(key)} = {setting(value)}" for key, value in chosen.items()]
    return ", ".join(words if words[0] == algorithm else [algorithm, *words])


def _short(key: str) -> str:
    """The last part of a path: `k` of `require.0.k`."""
    return key.rsplit(".", 1)[-1].strip('"')


def _refuse_unknown(algorithms: Sequence[str], operators: Sequence[str]) -> None:
    for kind, named in (("algorithms", algorithms), ("operators", operators)):
        for name in named:
            if name not in registry.names(kind):
                registry.load(kind, name)


def _refuse_foreign(algorithms: Sequence[str], values: Mapping[str, Any]) -> None:
    """Refuse an option that none of the algorithms has."""
    known = set().union(*(_options(name) for name in algorithms))
    for key in values:
        if not _fits(key, known):
            raise UsageError(
                f"None of the algorithms ({', '.join(algorithms)}) has the option "
                f"'{key.removeprefix(OF_ALGORITHM)}'.",
                hint=f"They have: {', '.join(sorted(known))}.",
            )
