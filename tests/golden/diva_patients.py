"""The ten patients of the DIVA paper (Milani et al. 2021, table 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.algorithms.base import Request, Solution
from sfumato.data.grouping import Grouping
from sfumato.data.schema import Attribute, Role, Schema
from sfumato.data.seeds import Seed
from sfumato.data.table import Table
from sfumato.hierarchies.build import build
from sfumato.models.base import OutputModel
from sfumato.publish.base import Material
from sfumato.publish.suppress import Suppress
from sfumato.testing.awkward_tables import Awkward, request_for

QUASI = ("GEN", "ETH", "AGE", "PRV", "CTY")
_ROWS = """
Female Caucasian 80 AB Calgary Hypertension
Female Caucasian 32 AB Calgary Tuberculosis
Male Caucasian 59 AB Calgary Osteoarthritis
Male Caucasian 46 MB Winnipeg Migraine
Male African 32 MB Winnipeg Hypertension
Male African 43 BC Vancouver Seizure
Male Caucasian 35 BC Vancouver Hypertension
Female Asian 58 BC Vancouver Seizure
Female Asian 63 MB Winnipeg Influenza
Female Asian 71 BC Vancouver Migraine
"""


def patients() -> pa.Table:
    """The table as it is printed."""
    cells = [line.split() for line in _ROWS.strip().splitlines()]
    columns = zip(*cells, strict=True)
    return pa.table(dict(zip((*QUASI, "DIAG"), map(list, columns), strict=True)))


def _awkward() -> Awkward:
    roles = dict.fromkeys(QUASI, Role.QUASI) | {"DIAG": Role.SENSITIVE}
    return Awkward("patients", patients(), roles, {})


def patients_request(models: Sequence[OutputModel], **options: Any) -> Request:
    """A request on the patients."""
    return request_for(_awkward(), models, **options)


def published(grouping: Grouping) -> dict[str, Any]:
    """A grouping of the patients, published with stars: what losses are told from."""
    table = _awkward()
    columns = table.columns()
    attributes = [
        Attribute(name=name, role=table.roles[name], kind=column.kind)
        for name, column in columns.items()
    ]
    coded = Table(Schema(tuple(attributes)), table.source, columns)
    request = request_for(table, ())
    material = Material(
        table=coded,
        quasi=tuple(build(columns[name], None) for name in QUASI),
        grouping=grouping,
        rows=np.arange(table.rows),
        seed=Seed.guessable(1),
    )
    return {
        "table": coded,
        "request": request,
        "solution": Solution(grouping=grouping),
        "draft": Suppress().publish(material),
        "extents": material.extents,
    }
