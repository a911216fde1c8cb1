"""Count the people of a population who match the groups of a pair."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sfumato.data.arrays import Codes, Counts
from sfumato.data.published_cells import coded_cells, distinct_tuples
from sfumato.data.schema import Role
from sfumato.hierarchies.axis import CodedAxis
from sfumato.models.k_map import KMap
from sfumato.pipeline.pair import PairFiles
from sfumato.pipeline.population import read_population, shared_axes
from sfumato.risk.table_pair import Pair
from sfumato.verify import Evidence, Population, groups_of


def matching_people(files: PairFiles, pair: Pair, path: str) -> tuple[Counts, Counts]:
    """The people who match each group of the original, and of the published table.

    `path` is that of the population, relative to the policy's directory.
    """
    people = read_population(files.policy, path, files.base)
    quasi, others = shared_axes(files.policy, files.original, people, files.base)
    return (
        _of_group(pair.original_groups, _alike(quasi, others)),
        _of_group(pair.cell_groups, _covered(files, quasi, others, path)),
    )


def _alike(quasi: Sequence[CodedAxis], others: Sequence[Codes]) -> Counts:
    """For each original row, the people with the same quasi-identifiers."""
    rows, people = len(quasi[0].codes), len(others[0])
    both = [
        np.concatenate([coded.codes, codes])
        for coded, codes in zip(quasi, others, strict=True)
    ]
    owner, tuples = distinct_tuples(both, rows + people)
    counts = np.bincount(owner[rows:], minlength=len(tuples))
    return np.asarray(counts[owner[:rows]])


def _covered(
    files: PairFiles, quasi: Sequence[CodedAxis], others: Sequence[Codes], path: str
) -> Counts:
    """For each published row, the people whom its cells could stand for."""
    table: pa.Table = files.judged()
    names = files.policy.names(Role.QUASI)
    known = [CodedAxis(c.axis, o) for c, o in zip(quasi, others, strict=True)]
    evidence = Evidence(
        cells=coded_cells(table, names, files.policy.data.missing),
        population=Population.of(known, len(others[0])),
        rows=table.num_rows,
    )
    counts = groups_of(evidence, [KMap(k=1, population=path)]).population
    if counts is None:
        raise TypeError("Nobody counted the population.")
    return np.asarray(counts[evidence.tuples[0]])


def _of_group(groups: Codes, of_row: Counts) -> Counts:
    """What all rows of a group share."""
    found = np.zeros(int(groups.max(initial=-1)) + 1, dtype=np.int64)
    found[groups] = of_row
    return found
