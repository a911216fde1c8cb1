"""Every path that a policy names must lead into the project folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sfumato.errors import UsageError
from sfumato.io.databases import DatabasePlace
from sfumato.policy import Policy
from sfumato.policy.redact import WORDS
from sfumato.studio.project_folder import ProjectFolder

FILES = ("file", "tree")
"""The builders of a hierarchy that read a file."""


def refuse_outside(policy: Policy, folder: ProjectFolder) -> None:
    """Refuse a policy that would read or write a file outside the project folder."""
    for setting, path in named_paths(policy):
        try:
            folder.inside(path)
        except UsageError:
            raise UsageError(
                f"'{setting}' leads out of the project folder.",
                hint="Put the file into the folder, and name it from there.",
            ) from None


def named_paths(policy: Policy) -> Iterator[tuple[str, str]]:
    """Each setting that names a file, and the path that it names."""
    settings: dict[str, object] = {
        "data.path": policy.data.path,
        "data.url": database_file(policy),
        "privacy.ledger": policy.privacy.ledger,
        "privacy.link_key": policy.privacy.link_key,
    }
    for name, section in policy.columns.items():
        settings[f"columns.{name}.hierarchy"] = hierarchy_file(section.hierarchy)
    for place, wanted in enumerate(policy.require):
        settings[f"require.{place}.population"] = wanted.settings.get("population")
    for setting, path in settings.items():
        if isinstance(path, str):
            yield setting, path


def database_file(policy: Policy) -> str | None:
    """The file of a database, relative to the policy; None if it is a server."""
    if policy.data.url is None:
        return None
    place = DatabasePlace.of(policy.data.url)
    return None if place.system == "postgresql" else place.uri


def hierarchy_file(spec: object) -> str | None:
    """The file that a hierarchy is read from; None if it is made by a rule."""
    if isinstance(spec, Mapping):
        spec = next((spec[name] for name in FILES if name in spec), None)
    return spec if isinstance(spec, str) and spec not in WORDS else None
