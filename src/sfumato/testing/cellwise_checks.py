"""What every algorithm must meet that can search a table cell by cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from sfumato.algorithms.base import Request
from sfumato.algorithms.cellwise.cellwise_algorithm import CellwiseAlgorithm
from sfumato.algorithms.cellwise.mondrian_cells import mondrian_cells
from sfumato.data.grouping import Grouping
from sfumato.errors import RefusedError
from sfumato.models.base import OutputModel
from sfumato.models.diversity import Diversity
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from sfumato.models.t_closeness import TCloseness
from sfumato.testing.awkward_tables import awkward_table, request_for
from sfumato.testing.conformance_check import Check, must
from sfumato.testing.model_definitions import holds_by_definition, is_defined

ROWS = 200
"""Rows of a cell: small beside the tables that are cut."""
TABLE = "many-values"


def cellwise_checks(algorithm_class: type[CellwiseAlgorithm]) -> Iterator[Check]:
    """Checks with `partition_rows`, on a table of several cells."""
    algorithm = algorithm_class(partition_rows=ROWS)
    statements = {
        "meets every requirement cell by cell": _meets,
        "groups stay within cells": _stays_within,
        "cells give the same groups on two threads": _same_on_threads,
        "refuses in cells what counts over the whole table": _refuses,
    }
    for name, ask in statements.items():
        yield Check(name, partial(ask, algorithm), f"partition_rows={ROWS}")


def _solved(
    algorithm: CellwiseAlgorithm, threads: int = 1
) -> Iterator[tuple[Request, Grouping]]:
    asked: list[Iterable[OutputModel]] = [
        [KAnonymity(k=3)],
        [KAnonymity(k=4), LDiversity(l=2)],
        [KAnonymity(k=4), TCloseness(t=0.8)],
    ]
    for models in asked:
        request = request_for(awkward_table(TABLE), models, threads=threads)
        try:
            algorithm.check(request)
        except RefusedError:
            continue
        yield request, algorithm.solve(request).grouping


def _meets(algorithm: CellwiseAlgorithm) -> None:
    for request, grouping in _solved(algorithm):
        for model in request.models:
            must(request.meets(model, grouping).holds, f"{model} is not met")
            if is_defined(model):
                defined = holds_by_definition(model, request, grouping)
                must(defined, f"{model} is not met, by definition")


def _stays_within(algorithm: CellwiseAlgorithm) -> None:
    for request, grouping in _solved(algorithm):
        cells = mondrian_cells(request, ROWS)
        must(len(cells) > 1, "the table is one cell")
        cell_of = np.empty(request.rows, dtype=np.int64)
        for number, rows in enumerate(cells):
            cell_of[rows] = number
        pairs = {*zip(grouping.group_of.tolist(), cell_of.tolist(), strict=True)}
        must(len(pairs) == grouping.count, "a group has rows of two cells")


def _same_on_threads(algorithm: CellwiseAlgorithm) -> None:
    pairs = zip(_solved(algorithm), _solved(algorithm, threads=2), strict=True)
    for (_, alone), (_, together) in pairs:
        same = np.array_equal(alone.group_of, together.group_of)
        must(same, "two threads give another result than one")


def _refuses(algorithm: CellwiseAlgorithm) -> None:
    request = request_for(awkward_table(TABLE), [KAnonymity(k=3)])
    shown = {coded.name: coded.axis.labels[0] for coded in request.quasi[:1]}
    constraint = Diversity(where=shown, at_least=1)
    try:
        algorithm.check(replace(request, models=(*request.models, constraint)))
    except RefusedError as error:
        must(error.hint, "the refusal has no hint")
    else:
        raise AssertionError("a constraint on shown values was accepted")
