"""Remove from a policy what must not be published."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

CHOOSING = frozenset({"compare", "accept"})
"""Sections that are about which release to choose, and not about the one chosen."""
WORDS = frozenset({"auto", "flat", "free", "learned"})
HIDDEN = "file"
"""Stands for the path of a hierarchy."""
PLACES = frozenset({"path", "url", "table", "query", "sheet"})
"""Where the data are; a query may quote values."""


def without_paths(document: Mapping[str, Any]) -> dict[str, Any]:
    """A policy document without paths of files and without lists of values."""
    public = {k: v for k, v in document.items() if k not in CHOOSING}
    data = {k: v for k, v in document.get("data", {}).items() if k not in PLACES}
    public.pop("data", None)
    if data:
        public["data"] = data
    if "privacy" in document:
        public["privacy"] = _privacy(document["privacy"])
    if "columns" in document:
        public["columns"] = {n: _column(s) for n, s in document["columns"].items()}
    if "require" in document:
        public["require"] = [_requirement(r) for r in document["require"]]
    return public


def hides_a_file(declared: Any) -> bool:
    """Return whether a recorded hierarchy only says that there was a file or a tree."""
    return declared == HIDDEN or (
        isinstance(declared, Mapping) and True in declared.values()
    )


def public_text(document: Mapping[str, Any]) -> str:
    """Write a publishable policy as the text whose hash a manifest has."""
    return json.dumps(document, sort_keys=True, ensure_ascii=False)


def _privacy(section: Mapping[str, Any]) -> dict[str, Any]:
    files = ("ledger", "link_key")
    return {k: True if k in files else v for k, v in section.items()}


def _column(section: Mapping[str, Any]) -> dict[str, Any]:
    public = {key: value for key, value in section.items() if key != "domain"}
    if not isinstance(section.get("order", ""), str):
        del public["order"]
    if "hierarchy" in section:
        public["hierarchy"] = _hierarchy(section["hierarchy"])
    return public


def _hierarchy(declared: Any) -> Any:
    if isinstance(declared, str):
        return declared if declared in WORDS else HIDDEN
    hidden = ("file", "tree")
    return {k: True if k in hidden else v for k, v in declared.items()}


def _requirement(table: Mapping[str, Any]) -> dict[str, Any]:
    """The population that some models compare with is a file too."""
    return {k: True if k == "population" else v for k, v in table.items()}
