"""Which columns of a source may stay as its reader coded them."""

from __future__ import annotations

import pyarrow as pa

from sfumato.data.schema import Role
from sfumato.data.source import with_texts
from sfumato.policy import Policy

SEARCHED = (Role.QUASI, Role.SENSITIVE)


def searched_codes(source: pa.Table, policy: Policy) -> pa.Table:
    """Keep the codes of quasi-identifiers and sensitive columns; make others texts.

    Nothing else works on distinct values alone. All columns become texts under a process
    model, and where a key is to sort the rows.
    """
    if policy.process_models() or policy.data.key:
        return with_texts(source)
    roles = {name: policy.role(name) for name in source.column_names}
    return with_texts(source, but=[n for n, role in roles.items() if role in SEARCHED])
