"""Take what a published table claims from its own manifest, without the policy file.

A manifest has the policy without paths and without values. Proving cells needs neither,
with three exceptions, which are refused by name: a population file, and the hierarchy or
the order of a sensitive column, if a requirement looks at it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.data.schema import Kind, Role
from sfumato.errors import DataError, PolicyError, UsageError
from sfumato.models.base import OutputModel
from sfumato.pipeline.column_kinds import Decided, read_manifest
from sfumato.policy import Policy
from sfumato.policy.redact import hides_a_file, public_text

GIVE_POLICY = "Give the policy: --policy POLICY."


def claimed_policy(
    manifest: Path, *, more: Sequence[OutputModel] = (), loss: bool = False
) -> Policy:
    """The policy that a manifest records, as far as proving cells needs it.

    `more` are further requirements; `loss` says that it is measured as well.
    """
    record = read_manifest(manifest)
    recorded = record.get("policy")
    if not isinstance(recorded, dict) or not recorded.get("columns"):
        raise DataError(
            f"'{manifest}' does not say what was promised: it has no policy.",
            hint=GIVE_POLICY,
        )
    if sha256_of(recorded) != record.get("policy_sha256"):
        raise DataError(
            f"The policy in '{manifest}' was changed after the release was made: it does "
            "not have the hash 'policy_sha256'.",
            hint="Take the manifest that was written with the release.",
        )
    _refuse_population(recorded, manifest)
    try:
        policy = Policy.model_validate(_without_files(recorded))
        asked = (*policy.models(), *more)
        looked_at = columns_by_shape(asked, policy.names(Role.SENSITIVE))
    except (AttributeError, TypeError, PolicyError) as fault:
        raise DataError(
            f"'{manifest}' has no policy that this version can read: {fault}",
            hint=GIVE_POLICY,
        ) from None
    for name, section in recorded["columns"].items():
        if loss or name in looked_at:
            _refuse_hidden(name, section, manifest)
    return policy


def sha256_of(recorded: Mapping[str, Any]) -> str:
    """The hash of a recorded policy, as `Policy.sha256` makes it."""
    return hashlib.sha256(public_text(recorded).encode()).hexdigest()


def columns_by_shape(
    models: Sequence[OutputModel], sensitive: Sequence[str]
) -> frozenset[str]:
    """The sensitive columns whose order or hierarchy a requirement looks at."""
    rules = (rule for m in models for rule in m.rules(sensitive, subjects=False))
    return frozenset(
        rule.view.column
        for rule in rules
        if rule.view is not None and (rule.traits.needs_axis or rule.view.level)
    )


def without_shapes(
    decided: Mapping[str, Decided], policy: Policy, models: Sequence[OutputModel]
) -> dict[str, Decided]:
    """The kinds of columns without orders and distances that no requirement looks at.

    They come from orders and hierarchies that the manifest does not have.
    """
    sensitive = policy.names(Role.SENSITIVE)
    plain = set(sensitive) - columns_by_shape(models, sensitive)
    return {
        name: _plain(each) if name in plain else each for name, each in decided.items()
    }


def _plain(each: Decided) -> Decided:
    unordered = each.kind is Kind.ORDERED and each.order is None
    kind = Kind.CATEGORY if unordered else each.kind
    return replace(each, kind=kind, distance=None)


def _refuse_population(recorded: Mapping[str, Any], manifest: Path) -> None:
    for table in recorded.get("require", ()):
        if table.get("population") is True:
            raise UsageError(
                f"'{manifest}' is not enough for {table.get('model')}: it compares with "
                "the file of a population, which a manifest does not name.",
                hint=GIVE_POLICY,
            )


def _refuse_hidden(name: str, section: Mapping[str, Any], manifest: Path) -> None:
    """Refuse to judge or measure a column by what only the policy knows of it."""
    ordered = section.get("kind") == Kind.ORDERED
    if ordered or hides_a_file(section.get("hierarchy")):
        what = "order of its values" if ordered else "hierarchy of its values"
        raise UsageError(
            f"'{manifest}' is not enough to judge '{name}': it does not have the {what}.",
            hint=GIVE_POLICY,
        )


def _without_files(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """A recorded policy without the marks of files, and without what hides values."""
    columns = {n: _column(section) for n, section in recorded["columns"].items()}
    private = recorded.get("privacy", {})
    told = {key: value for key, value in private.items() if value is not True}
    return {**recorded, "columns": columns, "privacy": told}


def _column(section: Mapping[str, Any]) -> dict[str, Any]:
    hidden = hides_a_file(section.get("hierarchy"))
    return {k: v for k, v in section.items() if not (hidden and k == "hierarchy")}
