"""What a candidate asks less of than the policy that it is a candidate of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any

from sfumato.data.schema import Role
from sfumato.errors import PolicyError, UsageError
from sfumato.models.base import Model
from sfumato.models.common.strictness import looser_parameters
from sfumato.pipeline.reports import LONGEST
from sfumato.policy import Policy
from sfumato.policy.edit_text import toml_key
from sfumato.policy.sections import ColumnSection
from sfumato.report.number_text import setting

AS_STRICT_ROLES = {
    Role.IDENTIFIER: {Role.IDENTIFIER},
    Role.SUBJECT: {Role.SUBJECT},
    Role.QUASI: {Role.QUASI, Role.IDENTIFIER},
    Role.SENSITIVE: {Role.SENSITIVE, Role.IDENTIFIER},
}
"""The roles that protect a column as much as its own; any role does where none is
given here."""
JUDGED_BY = ("kind", "order", "hierarchy")
"""The settings of a sensitive column that say which of its values are alike."""
WEAKER_MISSING = {("any", "value"), ("drop", "value")}
LEDGER = ("ledger", "epsilon", "delta")


@dataclass(frozen=True)
class Lowered:
    """One thing that a candidate asks less of."""

    setting: str
    """Its path in the policy: `require.0.k`."""
    name: str
    """What people call it: `k`, or a column."""
    asked: Any
    instead: Any

    def told(self) -> str:
        """Both values: `k = 2 instead of 5`."""
        return f"{self.name} = {_shown(self.instead)} instead of {_shown(self.asked)}"

    def record(self) -> dict[str, Any]:
        return {
            "setting": self.setting,
            "name": self.name,
            "asked": _plain(self.asked),
            "instead": _plain(self.instead),
        }


def lowered(asked: Policy, tried: Policy) -> tuple[Lowered, ...]:
    """Everything in which a policy asks less than another one; empty if nothing."""
    return (
        *_requirements(asked, tried),
        *_columns(asked, tried),
        *_other_settings(asked, tried),
    )


def below_the_policy(shortfalls: Sequence[Lowered]) -> str:
    """The shortfalls of a candidate in words; empty if it has none."""
    if not shortfalls:
        return ""
    return f"below the policy: {'; '.join(each.told() for each in shortfalls)}"


def lowering_records(
    shortfalls: Sequence[Lowered], *, by: str, because: str
) -> list[dict[str, Any]]:
    """What the history keeps of a policy that somebody lowered, and why."""
    signed = {"by": _text("by", by), "because": _text("because", because)}
    today = date.today().isoformat()
    return [{**each.record(), **signed, "date": today} for each in shortfalls]


def _text(name: str, text: str) -> str:
    """A name or a reason, as a report can print it."""
    text = text.strip()
    plain = text.replace("\n", " ").isprintable()
    if not text or len(text) > LONGEST or not plain:
        raise UsageError(
            f"'{name}' has {len(text):,} characters, or some that cannot be printed.",
            hint=f"Give plain text of 1 to {LONGEST:,} characters.",
        )
    return text


def still_lowered(policy: Policy, record: Mapping[str, Any]) -> bool:
    """Whether a policy still asks less than before a change that was recorded."""
    asked = record["asked"]
    value = json.dumps(asked) if isinstance(asked, str) else asked
    try:
        before = policy.with_setting(record["setting"], value)
        return bool(lowered(before, policy))
    except (PolicyError, UsageError):
        return True


def _requirements(asked: Policy, tried: Policy) -> Iterator[Lowered]:
    ours, theirs = asked.requirements(), tried.requirements()
    for place, model in enumerate(ours):
        own = theirs[place : place + 1]
        alike = [each for each in (*own, *theirs) if each.name == model.name]
        if not alike:
            yield Lowered(f"require.{place}", model.name, "required", "not required")
            continue
        yield from min(
            (list(_parameters(place, model, each)) for each in alike), key=len
        )


def _parameters(place: int, asked: Model, tried: Model) -> Iterator[Lowered]:
    for name in looser_parameters(asked, tried):
        before, after = getattr(asked, name), getattr(tried, name)
        yield Lowered(f"require.{place}.{name}", name, before, after)


def _columns(asked: Policy, tried: Policy) -> Iterator[Lowered]:
    for name in dict.fromkeys((*asked.columns, *tried.columns)):
        yield from _column(name, asked, tried)


def _column(name: str, asked: Policy, tried: Policy) -> Iterator[Lowered]:
    path = f"columns.{toml_key(name)}"
    before, after = asked.role(name), tried.role(name)
    if not _protects_as_much(before, after):
        yield Lowered(f"{path}.role", name, _role(before), _role(after))
        return
    own, other = asked.column(name), tried.column(name)
    changed = JUDGED_BY if before is after is Role.SENSITIVE else ()
    for key in changed:
        if getattr(own, key) != getattr(other, key):
            yield Lowered(f"{path}.{key}", f"{key} of {name}", *_both(own, other, key))
    for key in _finer(own, other) if after is not None else ():
        yield Lowered(f"{path}.{key}", f"{key} of {name}", *_both(own, other, key))
    for key in ("keep_as_is", "pseudonymize"):
        if getattr(other, key) and not getattr(own, key):
            yield Lowered(f"{path}.{key}", f"{key} of {name}", *_both(own, other, key))


def _finer(asked: ColumnSection, tried: ColumnSection) -> Iterator[str]:
    """The settings of bands by which a column shows more than was asked."""
    if asked.bands and (not tried.bands or tried.bands % asked.bands):
        yield "bands"
    if asked.bottom is not None and not _reaches(tried.bottom, asked.bottom):
        yield "bottom"
    if asked.top is not None and not _reaches(asked.top, tried.top):
        yield "top"


def _reaches(one: Any, other: Any) -> bool:
    """Whether an end is at or beyond another; numbers and dates alike."""
    try:
        return bool(one >= other)
    except TypeError:
        return False


def _protects_as_much(before: Role | None, after: Role | None) -> bool:
    if after is None:
        return before is not Role.SUBJECT
    return before is not None and after in AS_STRICT_ROLES.get(before, {after})


def _role(role: Role | None) -> str:
    return "left out" if role is None else str(role)


def _other_settings(asked: Policy, tried: Policy) -> Iterator[Lowered]:
    missing = asked.data.missing_as, tried.data.missing_as
    if missing in WEAKER_MISSING:
        yield Lowered("data.missing_as", "missing_as", *missing)
    if tried.unlisted == "keep" != asked.unlisted:
        yield Lowered("unlisted", "unlisted", asked.unlisted, tried.unlisted)
    for key in LEDGER:
        before, after = _both(asked.privacy, tried.privacy, key)
        if before != after:
            yield Lowered(f"privacy.{key}", f"privacy.{key}", before, after)


def _both(asked: Any, tried: Any, key: str) -> tuple[Any, Any]:
    return getattr(asked, key), getattr(tried, key)


def _shown(value: Any) -> str:
    return "nothing" if value is None else setting(_plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, StrEnum) else value
