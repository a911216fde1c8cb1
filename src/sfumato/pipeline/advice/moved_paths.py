"""Paths of a policy that is written to another directory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sfumato.hierarchies.build import WORDS
from sfumato.policy import Policy
from sfumato.policy.edit_text import toml_key


def moved_paths(policy: Policy, old: Path, new: Path) -> dict[str, Any]:
    """The settings whose relative paths would lead elsewhere, with paths that do not."""
    here, there = old.resolve(), new.resolve()
    if here == there:
        return {}
    return {
        key: os.path.relpath(here / path, there)
        for key, path in _paths(policy)
        if not Path(path).is_absolute()
    }


def _paths(policy: Policy) -> Iterator[tuple[str, str]]:
    """Every path in a policy, by its setting."""
    for key, path in (
        ("data.path", policy.data.path),
        ("privacy.ledger", policy.privacy.ledger),
        ("privacy.link_key", policy.privacy.link_key),
    ):
        if path is not None:
            yield key, path
    for name, section in policy.columns.items():
        yield from _of_hierarchy(f"columns.{toml_key(name)}", section.hierarchy)
    for place, wanted in enumerate(policy.require):
        population = wanted.settings.get("population")
        if isinstance(population, str):
            yield f"require.{place}.population", population


def _of_hierarchy(column: str, spec: Any) -> Iterator[tuple[str, str]]:
    if isinstance(spec, str) and spec not in WORDS:
        yield f"{column}.hierarchy", spec
    if isinstance(spec, Mapping):
        for builder in ("file", "tree"):
            if isinstance(spec.get(builder), str):
                yield f"{column}.hierarchy.{builder}", str(spec[builder])
