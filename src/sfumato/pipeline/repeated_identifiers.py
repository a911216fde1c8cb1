"""Notice identifiers that repeat: k then counts rows where a person has several.

Judged like a subject by `init`, with few false alarms: an identifier counts persons if it
repeats and all of its values are numbers or codes, words with a digit or an @. Names
of people and dates repeat by chance. It is ignored if it has too few values for persons,
or if another identifier counts the rows; a name such as `patient_id` outweighs both.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.cell_text import as_text, distinct, has_text
from sfumato.data.coding import infer_kind
from sfumato.data.profiling.column_names import names_a_person_number
from sfumato.data.profiling.column_signs import NEARLY_UNIQUE, OFTEN_DIFFERENT
from sfumato.data.safe_repr import SafeRepr
from sfumato.data.schema import Kind, Role
from sfumato.data.unique_rows import value_places
from sfumato.errors import PersonWarning
from sfumato.policy import Policy

WORD_OF_A_CODE = r"^\S*[0-9@]\S*$"
SAMPLE = 1_000
"""So many values show whether they are dates."""


@dataclass(frozen=True, repr=False, kw_only=True)
class RepeatedIdentifier(SafeRepr):
    """An identifier of which some values occur in several rows; private."""

    column: str
    values: int
    """How many different values it has."""
    known: int
    """How many rows have one."""
    most_rows: int
    """How many rows have its most frequent value."""

    @property
    def distinction(self) -> float:
        """The share of different values among the rows that have one."""
        return self.values / max(self.known, 1)

    @property
    def warning(self) -> str:
        """What the steward should know, and the way out."""
        return (
            f"k counts rows; by the identifier '{self.column}', one person occurs up to "
            f"{self.most_rows:,} times ({self.values:,} values in {self.known:,} rows). "
            f"Give '{self.column}' the role \"subject\", and persons are counted."
        )

    def record(self) -> dict[str, Any]:
        """The figures for the private record."""
        return asdict(self)


def repeated_identifier(policy: Policy, source: pa.Table) -> RepeatedIdentifier | None:
    """The identifier that seems to count persons and repeats, if no subject is named."""
    if policy.names(Role.SUBJECT) or not policy.models():
        return None
    names = [n for n in policy.names(Role.IDENTIFIER) if n in source.column_names]
    counted = [_counted(source, name, policy.data.missing) for name in names]
    rows_counted = any(each.distinction >= NEARLY_UNIQUE for each in counted)
    suspects = [
        each
        for each in counted
        if _may_count_persons(each, rows_counted=rows_counted)
        and _are_codes(source.column(each.column), policy.data.missing)
    ]
    return max(suspects, key=lambda each: each.values, default=None)


def warn_about(texts: Sequence[str], *, frames: int = 4) -> None:
    """Warn the caller of a public function, so many frames above."""
    for text in texts:
        warnings.warn(text, PersonWarning, stacklevel=frames)


def _may_count_persons(each: RepeatedIdentifier, *, rows_counted: bool) -> bool:
    """Whether it repeats, and not because it names places or single rows."""
    many = each.distinction >= OFTEN_DIFFERENT and not rows_counted
    return each.most_rows > 1 and (many or names_a_person_number(each.column))


def _counted(
    source: pa.Table, name: str, missing: tuple[str, ...]
) -> RepeatedIdentifier:
    places = value_places(source.column(name), missing)
    times = np.bincount(places[places >= 0])
    return RepeatedIdentifier(
        column=name,
        values=int((times > 0).sum()),
        known=int(times.sum()),
        most_rows=int(times.max(initial=0)),
    )


def _are_codes(column: pa.ChunkedArray, missing: tuple[str, ...]) -> bool:
    """Whether all values are numbers or codes, and no dates."""
    if not has_text(column):
        return False
    texts = as_text(distinct(column)[0])
    gone = pc.is_in(texts, value_set=pa.array(missing, pa.string()))
    known = texts.filter(pc.invert(gone))
    codes = pc.all(pc.match_substring_regex(known, WORD_OF_A_CODE)).as_py()
    some = pa.chunked_array([known.slice(0, SAMPLE)])
    return bool(codes) and infer_kind(some)[0] is not Kind.DATE
