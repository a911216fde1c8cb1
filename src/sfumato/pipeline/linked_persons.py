"""Find a person again in later releases: a keyed hash of what identifies them."""

from __future__ import annotations

import hashlib
import hmac
import json
import stat
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.data.cell_text import as_text, distinct
from sfumato.data.published_cells import distinct_tuples
from sfumato.data.safe_repr import SafeRepr, counted
from sfumato.data.schema import Role
from sfumato.errors import DataError, PolicyError
from sfumato.pipeline.run import Run
from sfumato.policy import Policy

PERSON = "person"
"""The column of the private record that holds the keyed hashes."""
LINKED = b"sfumato.person"
"""The metadata key of what the hashes were made from."""
LEAST_BYTES = 16
DIGITS = 32
MAKE_KEY = "(umask 077; head -c 32 /dev/urandom > {name})"

PersonHashes = npt.NDArray[np.bytes_]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LinkedPersons(SafeRepr):
    """The person behind each source row, as a keyed hash; private."""

    hashes: PersonHashes
    """One per source row."""
    columns: tuple[str, ...]
    """The columns that were hashed together."""
    key_id: str
    """Distinguishes keys, and reveals nothing else about them."""

    def _summary(self) -> str:
        return counted(len(self.hashes), "row")

    def origin(self) -> str:
        """What the hashes were made from, for the private record."""
        return json.dumps({"columns": list(self.columns), "key": self.key_id})


def link_persons(run: Run) -> LinkedPersons | None:
    """Hash what identifies the person of each row; None where no key is declared."""
    policy, source = run.policy, run.source
    if policy.privacy.link_key is None:
        return None
    key = _key(policy, run.base)
    columns = _identifying(policy, source)
    return LinkedPersons(
        hashes=_hashes(key, source.select(columns), policy.data.missing),
        columns=columns,
        key_id=_keyed(key, "link key"),
    )


def _identifying(policy: Policy, source: pa.Table) -> tuple[str, ...]:
    """The subject column, or else every identifier."""
    names = policy.names(Role.SUBJECT) or policy.names(Role.IDENTIFIER)
    found = tuple(sorted(name for name in names if name in source.column_names))
    if not found:
        raise policy.fault(
            ("privacy", "link_key"),
            "needs a column that tells persons apart.",
            hint="Give a column the role 'subject' or 'identifier'.",
        )
    return found


def _key(policy: Policy, base: Path | None) -> bytes:
    """Read the key, if only its owner can."""
    name = str(policy.privacy.link_key)
    place = (base or Path()) / name
    try:
        mode, key = place.stat().st_mode, place.read_bytes()
    except OSError as fault:
        raise _bad_key(policy, f"cannot be read: {fault.strerror}.", place) from None
    if stat.S_IMODE(mode) & 0o077:
        raise policy.fault(
            ("privacy", "link_key"),
            f"names a file that others may open (mode {stat.S_IMODE(mode):04o}).",
            hint=f"chmod 600 {place.name}; if others may have read it, make a new key.",
        )
    if len(key) < LEAST_BYTES:
        wrong = f"has {len(key)} bytes, where a key has {LEAST_BYTES} or more."
        raise _bad_key(policy, wrong, place)
    return key


def _bad_key(policy: Policy, wrong: str, place: Path) -> PolicyError:
    return policy.fault(
        ("privacy", "link_key"),
        f"names a file that {wrong}",
        hint=f"Make a key once and keep it: {MAKE_KEY.format(name=place.name)}",
    )


def _hashes(key: bytes, source: pa.Table, missing: tuple[str, ...]) -> PersonHashes:
    """The keyed hash of each row's cells."""
    texts, codes = [], []
    for name in source.column_names:
        values, places = distinct(source.column(name), name=name)
        found = as_text(values, name=name).to_pylist()
        gone = np.array([text is None or text in missing for text in found] + [True])
        _refuse_nameless(int(gone[places].sum()), name)
        texts.append(found)
        codes.append(places)
    owner, tuples = distinct_tuples(codes, source.num_rows)
    cells = [
        [of[code] for of, code in zip(texts, line, strict=True)] for line in tuples
    ]
    hashed = [_keyed(key, json.dumps(line, ensure_ascii=False)) for line in cells]
    return np.array(hashed, dtype=f"S{DIGITS}")[owner]


def _refuse_nameless(rows: int, name: str) -> None:
    if rows:
        raise DataError(
            f"Column '{name}' is missing in {counted(rows, 'row')}: nobody knows whether "
            "these people are in other releases.",
            hint="Complete the column, or leave these rows out of the source.",
        )


def _keyed(key: bytes, text: str) -> str:
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()[:DIGITS]
