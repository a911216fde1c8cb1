"""The policy that a call asks by: given, built from settings, or of a release."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.call_arguments import path_of
from sfumato.errors import RefusedError, UsageError
from sfumato.pipeline.column_kinds import PRIVACY, marks_formulas, read_manifest
from sfumato.pipeline.given_tables import Source, read_table
from sfumato.pipeline.release import Release
from sfumato.policy import Policy


def asking_policy(
    release: Release | Source,
    policy: Policy | None,
    settings: Mapping[str, Any],
    original: Source,
) -> Policy:
    """Pick the policy that says how to read cells: given, the release's own, or none."""
    if policy is not None or settings:
        return policy_for(policy, settings, read_table(original, policy, settings))
    if isinstance(release, Release):
        return release.claim.policy
    return Policy(unlisted="keep")


def policy_for(
    policy: Policy | None, settings: Mapping[str, Any], source: pa.Table
) -> Policy:
    """Return the given policy, or build one from keyword settings."""
    if policy is None:
        return Policy.build(columns=source.column_names, **settings)
    if settings:
        raise UsageError(
            f"A policy and settings ({', '.join(settings)}) cannot both be given.",
            hint="Put the settings into the policy, or leave the policy out.",
        )
    return policy


def base_of(base: str | os.PathLike[str] | None, policy: Policy) -> Path | None:
    """Return the directory that relative paths of a policy start from."""
    return path_of(base, what="base") if base is not None else policy.base


def spreadsheet_safe(
    policy: Policy | None,
    settings: Mapping[str, Any],
    manifest: Path | None,
) -> bool:
    """Return whether CSV cells that look like formulas carry a mark."""
    said = settings.get("spreadsheet_safe") if policy is None else None
    if policy is not None:
        said = policy.publish.spreadsheet_safe
    return bool(said) or (manifest is not None and marks_formulas(manifest))


def _certified(manifest: Path | None) -> str:
    """What a manifest says was certified; no table can prove it."""
    told = {} if manifest is None else read_manifest(manifest).get(PRIVACY, {})
    said = told.get("guarantee") if isinstance(told, dict) else None
    return f" The manifest claims, unproven: {said}" if said else ""


def nothing_to_check(
    policy: Policy, manifest: Path | None = None
) -> RefusedError | UsageError:
    """Build the error for a check without a requirement that a table can show."""
    process = policy.process_models()
    if process:
        return RefusedError(
            f"{process[0].name} cannot be checked on a table, and nothing else is "
            f"required.{_certified(manifest)}",
            hint="Look at the ledger in the manifest of the release instead, and compare "
            "the file's SHA-256 with the manifest's data_sha256.",
        )
    return UsageError(
        "There is nothing to check: no requirement is given.",
        hint="Give a policy, or requirements such as k=5.",
    )
