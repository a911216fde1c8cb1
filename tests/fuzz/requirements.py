"""Requirements drawn at random: any model, with any of its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from sfumato import registry
from sfumato.errors import SfumatoError
from sfumato.models.base import SensitiveModel
from tests.fuzz.cases import Case
from tests.fuzz.settings import draw_setting, fields, required

TRIES = 30
SELDOM = frozenset({"others_known"})


def draw_requirement(random: Random, case: Case, model: str) -> dict[str, Any]:
    """A requirement that its model accepts, unless none is found in a few tries."""
    drawn = _drawn(random, case, model)
    for _ in range(TRIES):
        if _accepted(model, drawn):
            break
        drawn = _drawn(random, case, model)
    return {"model": model, **drawn}


def _accepted(model: str, drawn: dict[str, Any]) -> bool:
    try:
        registry.load("models", model)(**_frozen(drawn))
    except (SfumatoError, TypeError):
        return False
    return True


def _frozen(drawn: dict[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in drawn.items()}


def _drawn(random: Random, case: Case, model: str) -> dict[str, Any]:
    drawn: dict[str, Any] = {}
    on = _on(random, case, model)
    for setting in fields("models", model):
        needed = setting in required("models", model) or model == "delta-presence"
        if not needed and not _wanted(random, setting):
            continue
        value = _value(random, case, model, setting, on)
        if value is not None:
            drawn[setting] = value
    if on is not None:
        drawn["on"] = on
    return drawn


def _wanted(random: Random, setting: str) -> bool:
    return random.random() < (0.15 if setting in SELDOM else 0.4)


def _on(random: Random, case: Case, model: str) -> str | Sequence[str] | None:
    """The sensitive columns it judges; None for all of them."""
    listed = case.names("sensitive")
    sensitive = issubclass(registry.load("models", model), SensitiveModel)
    if not sensitive or not listed or random.random() < 0.5:
        return None
    return random.choice([random.choice(listed), listed])


def _value(random: Random, case: Case, model: str, setting: str, on: Any) -> Any:
    columns = (
        case.names("sensitive") if on is None else [on] if isinstance(on, str) else on
    )
    if setting == "on":
        return None
    if setting == "level":
        return _level(random, case, columns)
    if setting == "population":
        return "population.csv" if case.population is not None else None
    if setting in ("may_disclose", "must_occur"):
        return _some_values(random, case, columns)
    if setting == "where":
        return _where(random, case)
    if setting == "generate":
        return _generated(random, case)
    if setting in ("at_least", "at_most") and model == "diversity":
        return random.choice([0, 1, 2, 5, 0.1, 0.5, 1.0])
    if (
        setting == "sampling_fraction"
        and case.names("weight")
        and random.random() < 0.5
    ):
        return "weights"
    return draw_setting(random, "models", model, setting)


def _level(random: Random, case: Case, columns: list[str]) -> int | None:
    """A level of the hierarchy, where every judged column has one that is written."""
    heights = [
        len(next(iter(paths.values())))
        for c in columns
        if (paths := case.columns[c].paths)
    ]
    if len(heights) < len(columns) or not heights:
        return None
    return random.randrange(min(heights))


def _known(case: Case, name: str) -> list[str]:
    marks = case.missing_marks()
    texts = case.columns[name].texts(case.is_csv)
    return [t for t in dict.fromkeys(texts) if t is not None and t not in marks]


def _some_values(random: Random, case: Case, columns: list[str]) -> list[str] | None:
    values = [value for name in columns for value in _known(case, name)]
    return random.sample(values, min(len(values), random.choice([1, 1, 2]))) or None


def _where(random: Random, case: Case) -> dict[str, str]:
    listed = [*case.names("quasi"), *case.names("sensitive")]
    chosen = random.sample(listed, min(len(listed), random.choice([1, 1, 2])))
    return {name: random.choice(_known(case, name) or ["none"]) for name in chosen}


def _generated(random: Random, case: Case) -> dict[str, Any]:
    listed = [*case.names("quasi"), *case.names("sensitive")]
    made: dict[str, Any] = {"column": random.choice(listed)}
    if random.random() < 0.7:
        made["class"] = random.choice(["minimum", "average", "proportional"])
    if random.random() < 0.3:
        made["tolerance"] = random.choice([0.0, 0.5, 1.0])
    if random.random() < 0.3:
        made["keep"] = random.choice([0.5, 1.0])
    return made
