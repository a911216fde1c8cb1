"""A request as points in a space of boxes, for the greedy algorithms."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.common.compiled_rules import compile_rules
from sfumato.algorithms.common.refusals import one_group_fails
from sfumato.algorithms.request import Request
from sfumato.kernels.common.geometry import axis_tables
from sfumato.kernels.common.histograms import BoxHistograms
from sfumato.kernels.partition.greedy_boxes import BoxSpace, rows_ok


def build_space(request: Request) -> BoxSpace:
    """Lay a request out for kernels that grow boxes."""
    compiled = compile_rules(request)
    return BoxSpace(
        points=np.column_stack([coded.codes for coded in request.quasi]),
        tables=axis_tables([coded.axis for coded in request.quasi]),
        values=compiled.codes,
        rules=compiled.table,
    )


def shuffled(request: Request) -> npt.NDArray[np.int64]:
    """Order the rows at random, independent of their order in the table.

    Rows are first sorted by their codes, so that the draw falls on values.
    """
    keys = [coded.codes for coded in (*request.sensitive.values(), *request.quasi)]
    if request.subject is not None:
        keys.insert(0, request.subject)
    order: npt.NDArray[np.int64] = np.lexsort(keys)
    drawn = request.seed.child("order").permutation(request.rows)
    return np.asarray(order[drawn])


def require_one_group(request: Request, space: BoxSpace, room: BoxHistograms) -> None:
    """Refuse a table that cannot even be one group."""
    if rows_ok(space, np.arange(request.rows), room):
        return
    raise one_group_fails(request)
