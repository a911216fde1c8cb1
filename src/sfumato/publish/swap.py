"""Swap: publish every cell, with sensitive values permuted within groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from sfumato.data.arrays import Codes, Ints
from sfumato.data.schema import Role
from sfumato.data.seeds import Seed
from sfumato.publish.base import (
    Draft,
    Form,
    Material,
    Operator,
    exact_column,
    refuse_without_sensitive,
)


@dataclass(frozen=True, kw_only=True)
class Swap(Operator):
    """The table keeps its schema; sensitive values change places within each group.

    Guarantee: even an attacker who knows the groups learns only the histogram of a
    person's group about their sensitive value. Everything else is published exactly.
    Method: one uniformly random permutation per group, from the run's secret seed.
    Limits: membership is not hidden, and quasi-identifiers are not generalized:
    k-anonymity does not apply; `group-size` is its counterpart.
    Reference: Boger 2020, section 3.2.
    """

    name: ClassVar[str] = "swap"
    sentence: ClassVar[str] = (
        "All columns stay exact; sensitive values are permuted at random within groups."
    )
    form: ClassVar[Form] = Form.SWAPPED

    together: bool = True
    """Whether a row's sensitive values move as one, or each column on its own."""

    @property
    def keeps_together(self) -> bool:
        return self.together

    def publish(self, material: Material) -> Draft:
        refuse_without_sensitive(self.name, material.table.schema.sensitive)
        columns: dict[str, pa.Array | pa.ChunkedArray] = {}
        givers = self._givers(material)
        for attribute in material.table.schema:
            rows = givers.get(attribute.name, material.rows)
            columns |= exact_column(material, attribute, rows)
        shape = (material.grouping.count, len(material.quasi))
        return Draft(
            table=pa.table(columns),
            rows=material.rows,
            quasi=material.table.schema.quasi,
            ncp=np.zeros(shape),
            loss=np.zeros(shape),
        )

    def _givers(self, material: Material) -> Mapping[str, Ints]:
        """For each sensitive column the source row whose value each row shows."""
        names = material.table.schema.names(Role.SENSITIVE)
        seed = material.seed.child("swap")
        if self.together:
            shared = permuted(material, seed)
            return dict.fromkeys(names, shared)
        return {name: permuted(material, seed.child(name)) for name in names}


def permuted(material: Material, seed: Seed) -> Ints:
    """The source rows in publishing order, permuted within their groups."""
    groups = material.groups
    given: Ints = material.rows[givers(groups, seed)]
    return given


def givers(groups: Codes | Ints, seed: Seed) -> Ints:
    """For each published row the published row whose sensitive values it shows.

    One uniformly random permutation within each group.
    """
    shown = np.empty(len(groups), dtype=np.int64)
    drawn = np.lexsort((seed.words(len(groups)), groups))
    shown[np.argsort(groups, kind="stable")] = drawn
    return shown
