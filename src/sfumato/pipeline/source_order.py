"""Put the rows of a source in the order of its key."""

from __future__ import annotations

import os

import pyarrow as pa

from sfumato.errors import PolicyError
from sfumato.io.databases import database_source
from sfumato.policy import Policy


def in_order(source: pa.Table, policy: Policy, *, origin: object) -> pa.Table:
    """Sort a source by its key; without a key, the order of the source counts.

    A table of a database has no order. Without a key, the same table and seed would not
    give the same release.
    """
    key = list(policy.data.key)
    if not key:
        refuse_orderless(origin)
        return source
    return by_key(source, policy)


def by_key(source: pa.Table, policy: Policy) -> pa.Table:
    """The rows as a release of this source numbers them: by the key, if there is one."""
    key = list(policy.data.key)
    if not key:
        return source
    _check_key(source, key, policy)
    return source.sort_by([(name, "ascending") for name in key])


def refuse_orderless(origin: object, *, on_spark: bool = False) -> None:
    """Refuse a source whose rows have no order, for a policy that names no key."""
    if database_source(origin) is None and not on_spark and not _is_relation(origin):
        return
    whose = "on Spark" if on_spark else "of a database"
    raise PolicyError(
        f"A table {whose} has no order, and data.key names no columns.",
        hint="Name the columns that identify a row, for example its primary key.",
    )


def _is_relation(origin: object) -> bool:
    if isinstance(origin, str | os.PathLike):
        return False
    # Imported late: files need no library of frames.
    from sfumato.io.frames import without_order

    return without_order(origin)


def _check_key(source: pa.Table, key: list[str], policy: Policy) -> None:
    absent = [name for name in key if name not in source.column_names]
    if absent:
        raise policy.fault(
            ("data", "key"),
            f"names the column '{absent[0]}', which the data do not have.",
            hint="Name columns of the data.",
        )
    columns = source.select(key)
    distinct = columns.group_by(key).aggregate([]).num_rows
    if distinct < source.num_rows:
        raise policy.fault(
            ("data", "key"),
            f"has {distinct:,} different values in {source.num_rows:,} rows.",
            hint="Name columns that together identify each row.",
        )
