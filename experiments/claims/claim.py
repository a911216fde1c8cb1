"""A claim of a document, and the experiment that tries it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """What a document says in one place."""

    name: str
    says: str
    experiment: str


@dataclass(frozen=True)
class Document:
    """A document with its claims, in its own order."""

    key: str
    title: str
    claims: tuple[Claim, ...]
