"""Every error that Sfumato raises on purpose.

    SfumatoError                 exit code
    ├── UsageError               2   a call or command that cannot be understood
    ├── PolicyError              2   a policy that contradicts itself or the data
    ├── DataError                2   a file or table that cannot be read
    ├── HierarchyError           2   a hierarchy that does not fit its column
    ├── RefusedError             2   a combination that would not keep its promise
    ├── OutputError              2   a place that cannot be written to
    ├── InstallationError        2   a part that this installation lacks
    ├── InfeasibleError          3   requirements that no release of this table meets
    │   └── LossError            3   a release that loses more than may be lost
    ├── BudgetError              4   a privacy budget that is spent
    ├── SearchError              5   a search that ended without an answer
    └── GuaranteeError          70   a draft that failed verification: our own fault

Messages name columns, counts and settings, never cells. The offending cells are in
`values`, which only a steward who asks (`--show-values`) gets to see.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum


class Caller(Enum):
    """Where somebody can change a setting."""

    POLICY = "policy"
    ARGUMENT = "argument"
    OPTION = "option"
    PAGE = "page"


FIELDS = {"encoding": "Encoding", "multiline": "Cells of several lines"}
"""What pages call the settings that hints name."""


@dataclass(frozen=True, kw_only=True)
class SettingHint:
    """A setting of the data that mends an error."""

    key: str
    value: str | bool
    reason: str
    """When to change the setting: the sentence that the hint begins with."""

    def text(self, caller: Caller) -> str:
        """The hint, for somebody who can change the setting in one of the ways."""
        return f"{self.reason}, {self._action(caller)}."

    def _action(self, caller: Caller) -> str:
        key, value = self.key, self.value
        switch = value is True
        if caller is Caller.POLICY:
            toml = "true" if switch else f'"{value}"'
            return f"set {key} = {toml} under [data] in the policy"
        if caller is Caller.ARGUMENT:
            return f"pass {key}={value!r}"
        if caller is Caller.OPTION:
            return f"add --{key}" if switch else f"add --{key} {value}"
        return f"set the field '{FIELDS[key]}' to {'meant' if switch else value}"


class SfumatoError(Exception):
    """The root of the tree: a message, a hint and an exit code."""

    exit_code = 70

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        values: Iterable[str] = (),
        setting: SettingHint | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.setting = setting
        self.hint = hint if setting is None else setting.text(Caller.POLICY)
        self.values = tuple(values)

    def also(self, sentence: str) -> None:
        """Add a sentence to the message."""
        self.message = f"{self.message} {sentence}"
        self.args = (self.message,)

    def __str__(self) -> str:
        return f"{self.message}\nHint: {self.hint}" if self.hint else self.message


class UsageError(SfumatoError):
    """A call or a command that cannot be understood."""

    exit_code = 2


class PolicyError(SfumatoError):
    """A policy that contradicts itself or the data."""

    exit_code = 2


class DataError(SfumatoError):
    """A file or a table that cannot be read."""

    exit_code = 2


class HierarchyError(SfumatoError):
    """A hierarchy that does not fit its column."""

    exit_code = 2


class RefusedError(SfumatoError):
    """A combination of model, algorithm and operator that would break a promise."""

    exit_code = 2


class OutputError(SfumatoError):
    """A place that exists already or cannot be written to."""

    exit_code = 2


class InstallationError(SfumatoError):
    """A part that this installation lacks, such as a compiled kernel."""

    exit_code = 2


class InfeasibleError(SfumatoError):
    """Requirements that no release of this table can meet."""

    exit_code = 3


class LossError(InfeasibleError):
    """A release that would lose more detail than the policy allows."""


class PersonWarning(UserWarning):
    """One person seems to have several rows, and rows are counted."""


class RepairWarning(UserWarning):
    """What an earlier run left unfinished was repaired."""


class DomainWarning(UserWarning):
    """Cells that count as missing under a process model; for the data steward alone."""


class BudgetError(SfumatoError):
    """A privacy budget that is spent."""

    exit_code = 4


class SearchError(SfumatoError):
    """A search that used up its budget without an answer."""

    exit_code = 5


class GuaranteeError(SfumatoError):
    """A draft that failed verification; nothing is written."""

    exit_code = 70


@contextmanager
def hints_for(caller: Caller) -> Iterator[None]:
    """Word hints about settings for where this caller can change them."""
    try:
        yield
    except SfumatoError as error:
        if error.setting is not None:
            error.hint = error.setting.text(caller)
        raise
