"""What a policy must not contradict: itself, and the columns of the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Protocol

from sfumato.data.schema import Kind, Role
from sfumato.errors import PolicyError
from sfumato.models.base import Model, OutputModel
from sfumato.policy.line_numbers import Key
from sfumato.policy.sections import ColumnSection, Data, Report

Fault = Callable[..., PolicyError]
AS_THEY_ARE = frozenset({Role.INSENSITIVE, Role.WEIGHT})
BANDED = frozenset({Role.SENSITIVE, Role.INSENSITIVE, Role.WEIGHT})
GENERALIZED = frozenset({Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE})


class Checked(Protocol):
    """The parts of a policy that are checked here."""

    @property
    def unlisted(self) -> str: ...
    @property
    def columns(self) -> Mapping[str, ColumnSection]: ...
    @property
    def report(self) -> Report: ...
    def names(self, *roles: Role) -> tuple[str, ...]: ...
    def fault(self, key: Key, what: str, *, hint: str | None = None) -> PolicyError: ...


def giant_in(document: Mapping[str, Any]) -> Key | None:
    """Return the key of a whole number beyond 64 bits, which TOML does not allow."""
    waiting: list[tuple[Key, Any]] = [((), document)]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += [((*key, str(name)), below) for name, below in value.items()]
        elif isinstance(value, list | tuple):
            waiting += [((*key, place), below) for place, below in enumerate(value)]
        elif isinstance(value, int) and not -(2**63) <= value < 2**63:
            return key
    return None


def check_place_of_data(data: Data, fault: Fault) -> None:
    """Check that a policy names one place for its data, and names it whole."""
    asked = [name for name in ("table", "query") if getattr(data, name) is not None]
    if data.url is None and asked:
        raise fault(
            ("data", asked[0]),
            "is given without a database.",
            hint="Add url, the address of the database.",
        )
    if data.url is None:
        return
    if data.path is not None:
        raise fault(
            ("data", "path"),
            "and url cannot both be given.",
            hint="Name a file or a database.",
        )
    if len(asked) != 1:
        raise fault(
            ("data", "url"),
            f"needs table or query; {len(asked)} of them are given.",
            hint="Name a table, or write a query.",
        )


def check_columns_alone(columns: Mapping[str, ColumnSection], fault: Fault) -> None:
    """Check what each column's section says, without any data."""
    for name, section in columns.items():
        found = _contradiction(section)
        if found is not None:
            setting, what, hint = found
            key = ("columns", name, setting) if setting else ("columns", name)
            raise fault(key, what, hint=hint)


def _contradiction(section: ColumnSection) -> tuple[str, str, str] | None:
    if section.role is None and not section.drop:
        roles = ", ".join(f'"{role}"' for role in Role)
        return "", "has no role.", f"A role is one of {roles}; or say drop = true."
    if section.hierarchy is not None and section.role not in GENERALIZED:
        return (
            "hierarchy",
            f"is set for a column that is {_article(section.role)}.",
            "Identifiers, subjects and weights have no hierarchies.",
        )
    if section.pseudonymize and section.role not in (Role.IDENTIFIER, Role.SUBJECT):
        return (
            "pseudonymize",
            f"is set for a column that is {_article(section.role)}.",
            "Only identifiers and subjects are pseudonymized.",
        )
    if section.resolution is not None and _cannot_step(section):
        return (
            "resolution",
            "is set for a column that is no plain numeric quasi-identifier.",
            "Only quasi-identifiers of numbers, without a hierarchy, have steps.",
        )
    if section.coding is not None:
        against = _band_contradiction(section)
        if against is not None:
            return _band_key(section), *against
    role = None if section.drop else section.role
    if section.keep_as_is and role not in AS_THEY_ARE:
        return (
            "keep_as_is",
            f"is set for a column that is {_article(role)}.",
            "Only insensitive columns and weights leave as they are.",
        )
    return _order_contradiction(section)


def _band_key(section: ColumnSection) -> str:
    """The first key that asks for bands."""
    keys = ("bands", "bottom", "top")
    return next(key for key in keys if getattr(section, key) is not None)


def _band_contradiction(section: ColumnSection) -> tuple[str, str] | None:
    """What contradicts bands, or their tails, and the way out."""
    if section.role not in BANDED and not section.drop:
        hint = "Only sensitive and insensitive columns and weights have bands."
        if section.role is Role.QUASI:
            hint = "Write hierarchy = { intervals = [10], bottom = 20, top = 80 }."
        return f"is set for a column that is {_article(section.role)}.", hint
    if section.kind is not None and not section.kind.numeric:
        return (
            f"is set for a column of kind '{section.kind}'.",
            "Only numbers and dates have bands; leave out the key or the kind.",
        )
    if section.hierarchy is not None:
        return (
            "and hierarchy cannot both be given.",
            "Bands are the values that are judged; leave one of the two out.",
        )
    ends = section.bottom, section.top
    numbers = [end for end in ends if isinstance(end, int | float)]
    if len(numbers) == len(ends) and numbers[0] >= numbers[1]:
        return (
            f"and top: bottom {numbers[0]:g} is not below top {numbers[1]:g}.",
            "Swap them, or leave one out.",
        )
    return None


def check_bands(
    columns: Mapping[str, ColumnSection], models: Sequence[Model], fault: Fault
) -> None:
    """Check that no requirement needs the values that bands hide."""
    for name, section in columns.items():
        if section.coding is None or section.drop:
            continue
        for model in models:
            against = _needs_exact(model, name, section)
            if against is not None:
                what, hint = against
                raise fault(("columns", name, _band_key(section)), what, hint=hint)


def _needs_exact(
    model: Model, name: str, section: ColumnSection
) -> tuple[str, str] | None:
    """Why a requirement cannot be met by bands of a column, and the way out."""
    if not isinstance(model, OutputModel):
        return (
            f"is set, and {model.name} publishes declared domains only.",
            "Leave out the key, and declare the column's domain.",
        )
    fraction = getattr(model, "sampling_fraction", None)
    if fraction == "weights" and section.role is Role.WEIGHT:
        return (
            f"hides the weights that {model.name} counts people by, so that nobody "
            "could check it.",
            "Leave out the key, or give sampling_fraction as a number.",
        )
    judged = _named(getattr(model, "on", None)) or (name,)
    if model.measures_lengths and section.role is Role.SENSITIVE and name in judged:
        return (
            f"makes categories of numbers, and {model.name} measures how far apart "
            "numbers are.",
            f"Leave out the key, or let {model.name} judge other columns by 'on'.",
        )
    return None


def _cannot_step(section: ColumnSection) -> bool:
    """Whether a column is not a line of numbers that is shown as intervals."""
    numbers = section.kind in (None, Kind.INTEGER, Kind.DECIMAL)
    plain = section.hierarchy in (None, "free")
    return section.role is not Role.QUASI or not numbers or not plain


def _order_contradiction(section: ColumnSection) -> tuple[str, str, str] | None:
    ordered = section.kind is Kind.ORDERED
    if section.order is not None and not ordered:
        return "order", "is set, but the kind is not.", 'Set kind = "ordered".'
    listed = () if isinstance(section.order, str) else section.order or ()
    if len(set(listed)) < len(listed):
        return "order", "names a value twice.", "Name every value once."
    return None


def _article(role: Role | None) -> str:
    if role is None:
        return "dropped"
    return f"an {role}" if role[0] in "aeiou" else f"a {role} one"


def check_columns(
    policy: Checked, names: Sequence[str], models: Sequence[Model]
) -> None:
    """Check a policy against the columns of a table, and its parts against others."""
    _check_present(policy, names)
    _check_unlisted(policy, names)
    _check_roles(policy)
    _check_loss_by(policy, names)
    if not models:
        raise policy.fault(
            ("require",),
            "is empty: nothing is promised.",
            hint='Add a table [[require]] with model = "k-anonymity" and k = 5.',
        )
    for place, model in enumerate(models):
        if isinstance(model, OutputModel) and model.sensitive:
            _check_sensitive(policy, place, model)
        if isinstance(model, OutputModel) and model.counts_values:
            _check_counted(policy, place, model)


def _check_present(policy: Checked, names: Sequence[str]) -> None:
    present = frozenset(names)
    for name, section in policy.columns.items():
        if name not in present and not section.drop:
            close = get_close_matches(name, names, n=1)
            raise policy.fault(
                ("columns", name),
                f"has a role, but the table has no such column among its {len(names)}.",
                hint=f"Did you mean '{close[0]}'?" if close else "Remove it.",
            )


def _check_unlisted(policy: Checked, names: Sequence[str]) -> None:
    unlisted = [name for name in names if name not in policy.columns]
    if unlisted and policy.unlisted == "error":
        listed = ", ".join(f"'{name}'" for name in unlisted)
        raise policy.fault(
            ("columns",),
            f"leaves out {len(unlisted)} of {len(names)} columns: {listed}.",
            hint='Give them roles, or set unlisted = "keep" or "drop".',
        )


def _check_roles(policy: Checked) -> None:
    for role, what in ((Role.SUBJECT, "subjects"), (Role.WEIGHT, "weights")):
        found = policy.names(role)
        if len(found) > 1:
            raise policy.fault(
                ("columns", found[1]),
                f"is one of {len(found)} {what}; only one is allowed.",
                hint=f"Make all but one of them insensitive: {', '.join(found)}.",
            )
    if not policy.names(Role.QUASI):
        raise policy.fault(
            ("columns",),
            "has no quasi-identifier.",
            hint='Give role = "quasi" to what others may know of a person.',
        )


def _check_loss_by(policy: Checked, names: Sequence[str]) -> None:
    """Check that `loss_by` names columns that are published."""
    secret = policy.names(Role.IDENTIFIER, Role.SUBJECT)
    dropped = [name for name, section in policy.columns.items() if section.drop]
    for name in policy.report.loss_by:
        if name not in names or name in (*secret, *dropped):
            raise policy.fault(
                ("report", "loss_by"),
                f"names '{name}', which is not a published column.",
                hint="Name quasi-identifiers, sensitive or insensitive columns.",
            )


def _check_sensitive(policy: Checked, place: int, model: OutputModel) -> None:
    sensitive = policy.names(Role.SENSITIVE)
    if not sensitive:
        raise policy.fault(
            ("require", place),
            f"– {model.name} judges sensitive values, and no column is sensitive.",
            hint='Give role = "sensitive" to what nobody may learn.',
        )
    for name in _named(getattr(model, "on", None)):
        if name not in sensitive:
            raise policy.fault(
                ("require", place, "on"),
                f"names '{name}', which is not a sensitive column.",
                hint=f"Sensitive are: {', '.join(sensitive)}.",
            )


def _check_counted(policy: Checked, place: int, model: OutputModel) -> None:
    """Check that values are counted only in columns that are published and coded."""
    known = policy.names(Role.QUASI, Role.SENSITIVE)
    generate = getattr(model, "generate", None)
    named = [generate["column"]] if generate else list(getattr(model, "where", ()))
    for name in named:
        if name not in known:
            raise policy.fault(
                ("require", place, "generate" if generate else "where"),
                f"names '{name}', which is neither a quasi-identifier nor sensitive.",
                hint=f"It may name: {', '.join(known)}.",
            )


def _named(on: str | Sequence[str] | None) -> tuple[str, ...]:
    if on is None:
        return ()
    return (on,) if isinstance(on, str) else tuple(on)
