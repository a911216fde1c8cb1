"""Releases of Kuksina's studies by any reading of DP-anonym, and one measure of all.

Every figure is computed from the published cells and the original by one program,
whoever made the release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

import sfumato as sf
from experiments.kuksina_as_written import written
from experiments.kuksina_studies import CLASSIC, Study, peer, policy, released
from sfumato.algorithms.base import Request
from sfumato.algorithms.private.cell_merging import TreeCells, merged
from sfumato.algorithms.private.dp_anonym import FEW_LEVELS
from sfumato.algorithms.private.node_labels import shown_axes
from sfumato.algorithms.private.noisy_tree import CellTree, grow
from sfumato.algorithms.private.tree_plan import TreePlan
from sfumato.algorithms.request import silent
from sfumato.data.grouping import Grouping
from sfumato.data.seeds import Seed
from sfumato.dp.cost import Cost, Relation
from sfumato.dp.ledger import Ledger
from sfumato.hierarchies.axis import CodedAxis
from sfumato.hierarchies.declared_domain import Declared, declared_axis
from sfumato.models.k_anonymity import KAnonymity
from sfumato.pipeline.code_table import coded_table
from sfumato.publish.base import Material
from sfumato.publish.generalize import Generalize

WRITTEN = "as written"
"""The name of the thesis's text, as an algorithm."""
PRIVATE = "dp-anonym"


def published(
    study: Study, source: pa.Table, algorithm: Mapping[str, Any], k: int
) -> pa.Table:
    """The published table of one run."""
    if algorithm["name"] == WRITTEN:
        return written(study, source, k, algorithm["epsilon"])
    if algorithm["name"] == PRIVATE:
        return Cuts.drawn(study, source, algorithm).shown(k)
    return released(study, source, algorithm, k).table


def as_written(epsilon: float) -> dict[str, Any]:
    """The thesis's text with an ε that every cell spends anew."""
    return {"name": WRITTEN, "epsilon": epsilon}


def utility(
    study: Study, source: pa.Table, table: pa.Table, k: int
) -> dict[str, float]:
    """NCP and generalized loss against the original; DM and C_AVG of what is shown."""
    asked = policy(study, peer(CLASSIC), k)
    found = sf.assess(source, table, asked, form="generalized").utility
    quasi = [*study.quasi, *study.files]
    shown = table.group_by(quasi).aggregate([([], "count_all")])
    sizes = shown.column("count_all").to_numpy().astype(np.float64)
    return {
        "ncp": float(found["ncp"]),
        "generalized_loss": float(found["generalized_loss"]),
        "discernibility": float((sizes**2).sum()),
        "average_class_size": float(sizes.sum() / len(sizes) / k),
    }


def measured(
    study: Study, source: pa.Table, algorithm: Mapping[str, Any], k: int
) -> dict[str, float]:
    """The utility of one run."""
    return utility(study, source, published(study, source, algorithm, k), k)


def measured_over(
    study: Study, source: pa.Table, algorithm: Mapping[str, Any], ks: Sequence[int]
) -> dict[int, dict[str, float]]:
    """The utility of one run at each k.

    The cuts of `dp-anonym` do not depend on k: one tree serves all, and is merged anew.
    """
    if algorithm["name"] != PRIVATE:
        return {k: measured(study, source, algorithm, k) for k in ks}
    cuts = Cuts.drawn(study, source, algorithm)
    return {k: utility(study, source, cuts.shown(k), k) for k in ks}


@dataclass(frozen=True, eq=False)
class Cuts:
    """The cuts of one run of `dp-anonym`, at any ε, also one that no policy may ask for."""

    study: Study
    source: pa.Table
    hierarchies: bool
    quasi: tuple[CodedAxis, ...]
    tree: CellTree

    @classmethod
    def drawn(
        cls, study: Study, source: pa.Table, algorithm: Mapping[str, Any]
    ) -> Cuts:
        """Cut all rows."""
        epsilon, hierarchies = algorithm["epsilon"], bool(algorithm["hierarchies"])
        plan = TreePlan.within(
            epsilon,
            depth=algorithm["depth"],
            selection=0.5,
            count=0.5,
            relation=Relation.ADD_REMOVE,
            hierarchies=hierarchies,
            relaxed=False,
            occupied=algorithm["depth"] > FEW_LEVELS,
        )
        ledger = Ledger(budget=Cost(epsilon * 1.0001), relation=Relation.ADD_REMOVE)
        quasi = declared(study, source)
        tree = grow(quasi, plan, ledger, silent)
        return cls(study, source, hierarchies, quasi, tree)

    def shown(self, k: int) -> pa.Table:
        """What is published: cells below k are merged with neighbors."""
        models = (KAnonymity(k=k),)
        request = Request(quasi=self.quasi, models=models, seed=Seed.guessable(0))
        cells = merged(TreeCells.of(request, self.tree), self.tree.splits, join=True)
        axes, nodes = shown_axes(
            self.quasi, cells.low, cells.high, hierarchies=self.hierarchies
        )
        material = Material(
            table=coded_table(policy(self.study, peer(CLASSIC), k), self.source),
            quasi=axes,
            grouping=Grouping(cells.group_of, len(cells.low), nodes=nodes),
            rows=np.arange(self.source.num_rows),
            seed=Seed.guessable(0),
            declared=True,
        )
        return Generalize().publish(material).table


def declared(study: Study, source: pa.Table) -> tuple[CodedAxis, ...]:
    """The quasi-identifiers on the axes that the study declares, in published order."""
    asked = policy(study, peer(CLASSIC), 2)
    sections = ((name, asked.column(name)) for name in source.column_names)
    return tuple(
        declared_axis(
            Declared(
                name=name,
                hierarchy=section.hierarchy,
                kind=section.kind,
                missing=tuple(asked.data.missing),
            ),
            source.column(name),
        )
        for name, section in sections
        if name != study.sensitive
    )
