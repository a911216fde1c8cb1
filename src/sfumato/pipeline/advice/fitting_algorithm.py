"""Which algorithms and operators fit a policy, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sfumato import registry
from sfumato.algorithms.base import Algorithm, Request
from sfumato.algorithms.common.refusals import refuse_counting, refuse_split_persons
from sfumato.errors import PolicyError, RefusedError, SfumatoError
from sfumato.pipeline.advice.suggestions import Suggestion, Topic
from sfumato.pipeline.operator_refusals import refuse_unkept
from sfumato.pipeline.run import Run
from sfumato.policy import Policy

FITS = "fits"
FIRST = ("best", "diva", "mondrian")
"""The algorithms to take, in this order, where the policy's own does not fit."""
FEW_ROWS = 2_000
"""With more rows, `diva` groups those that no constraint needs by cuts: growing groups
takes long, and loses more where requirements are strict."""
OPERATORS_FIRST = ("generalize", "suppress", "microaggregate", "anatomize", "swap")
KEYS = frozenset(
    {
        "operator",
        "max_suppressed",
        "max_loss",
        "order",
        "format",
        "spreadsheet_safe",
    }
)
"""Keys of `publish` that every operator has."""


def refusal(algorithm: Algorithm, request: Request) -> str | None:
    """Why an algorithm cannot serve a request; None if it can."""
    try:
        algorithm.check(request)
        if not algorithm.keeps_values:
            refuse_counting(algorithm.name, request)
        refuse_split_persons(request)
    except SfumatoError as fault:
        # Whether the table can meet the requirements is another question.
        return fault.message if isinstance(fault, RefusedError | PolicyError) else None
    return None


def algorithm_fits(request: Request) -> dict[str, str]:
    """Each algorithm that needs no privacy budget: "fits", or why it does not."""
    found = {}
    for name in registry.names("algorithms"):
        made = registry.algorithm(name)
        if not made.certifies:
            found[name] = refusal(made(), request) or FITS
    return found


def operator_fits(run: Run) -> dict[str, str]:
    """Each operator: "fits", or why it does not."""
    return {
        name: operator_refusal(run, name) or FITS
        for name in registry.names("operators")
    }


def operator_refusal(run: Run, name: str) -> str | None:
    """Why an operator cannot publish what the policy asks for; None if it can."""
    try:
        policy = run.policy.with_settings(operator_settings(run.policy, name))
        refuse_unkept(Run(policy=policy, source=run.source, base=run.base))
    except SfumatoError as fault:
        return fault.message
    return None


def operator_settings(policy: Policy, name: str) -> dict[str, Any]:
    """The settings that change the operator, without the options of the old one."""
    written = policy.publish.model_dump(exclude_defaults=True)
    gone = [key for key in written if key not in KEYS]
    return {"publish.operator": name, **{f"publish.{key}": None for key in gone}}


def algorithm_settings(policy: Policy, name: str) -> dict[str, Any]:
    """The settings that change the algorithm, without the options of the old one."""
    return {
        "algorithm.name": name,
        **{f"algorithm.{key}": None for key in policy.algorithm.settings},
    }


def algorithm_needed(
    policy: Policy, own: Algorithm, request: Request
) -> Suggestion | None:
    """Another algorithm, where the policy's own refuses the request."""
    why = refusal(own, request)
    if why is None:
        return None
    for name in FIRST:
        if refusal(registry.algorithm(name)(), request) is None:
            return Suggestion(
                topic=Topic.ALGORITHM,
                text=f"Set the algorithm to '{name}'.",
                reason=f"{why} '{name}' serves all of these requirements.",
                settings=_settings_on(policy, name, request),
                needed=True,
            )
    return None


def _settings_on(policy: Policy, name: str, request: Request) -> dict[str, Any]:
    """The settings of an algorithm; `diva` cuts many rows, and grows groups of few."""
    settings = algorithm_settings(policy, name)
    if name == "diva" and request.rows > FEW_ROWS:
        settings["algorithm.base"] = "mondrian"
    return settings


def operator_needed(run: Run) -> Suggestion | None:
    """Another operator, where the policy's own cannot publish what is asked."""
    try:
        refuse_unkept(run)
    except (RefusedError, PolicyError) as fault:
        why = fault.message
    else:
        return None
    for name in OPERATORS_FIRST:
        if name != run.operator.name and operator_refusal(run, name) is None:
            return Suggestion(
                topic=Topic.OPERATOR,
                text=f"Publish by '{name}'.",
                reason=f"{why} '{name}' can publish it.",
                settings=operator_settings(run.policy, name),
                needed=True,
            )
    return None


def choice_notes(
    policy: Policy, request: Request, fits: Mapping[str, str]
) -> Iterator[str]:
    """Which algorithm suits the requirements, in words."""
    name = policy.algorithm.name or registry.DEFAULT_ALGORITHM
    if any(model.counts_values for model in request.models):
        yield "Only 'diva' keeps values visible as often as 'diversity' asks."
    elif fits.get("best") == FITS:
        own = "which the policy uses" if name == "best" else f"instead of '{name}'"
        yield (
            f"'best' fits, {own}: it tries what suits the columns and loses no more "
            "than each algorithm it tries."
        )
    if request.sensitive and any(model.sensitive for model in request.models):
        listed = [each for each in ("simulatable", "blind") if fits.get(each) == FITS]
        if listed:
            named = " or ".join(f"'{each}'" for each in listed)
            yield (
                "If recipients may ask why groups are as coarse as they are, "
                f"{named} leaves that attack little or nothing, at a cost in detail."
            )


def other_operator(run: Run, fits: Mapping[str, str]) -> Suggestion | None:
    """An operator that shows more of the same groups."""
    if run.operator.name != "suppress" or fits.get("generalize") != FITS:
        return None
    return Suggestion(
        topic=Topic.OPERATOR,
        text="Publish by 'generalize'.",
        reason="Where a group does not agree it then shows a coarser value, and not "
        "nothing.",
        settings=operator_settings(run.policy, "generalize"),
    )


def other_algorithm(
    policy: Policy, own: Algorithm, fits: Mapping[str, str]
) -> Suggestion | None:
    """The default algorithm, where the policy names another one."""
    default = registry.DEFAULT_ALGORITHM
    if own.name in (default, "diva") or fits.get(default) != FITS:
        return None
    return Suggestion(
        topic=Topic.ALGORITHM,
        text=f"Set the algorithm to '{default}'.",
        reason=f"It tries several, refines the best, and loses less than '{own.name}'.",
        settings=algorithm_settings(policy, default),
    )
