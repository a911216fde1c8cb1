"""Refuse a table that no node of the lattice serves."""

from __future__ import annotations

import math

from sfumato.algorithms.common.refusals import one_group_decides
from sfumato.algorithms.full_domain.lattice import Lattice
from sfumato.errors import InfeasibleError, SearchError


def no_node_serves(lattice: Lattice, fewest: int) -> InfeasibleError | SearchError:
    """Build the error: no node is within the limit; the nearest leaves `fewest` over."""
    limit, rows = lattice.request.removable, lattice.rows
    # Only whole groups are left out here; single rows might do.
    decided = one_group_decides(lattice.request)
    kind = InfeasibleError if decided else SearchError
    models = ", ".join(str(model) for model in lattice.models)
    if lattice.wide is not None:
        return kind(
            f"None of the {lattice.size} full-domain generalizations of {rows} rows "
            f"meets {models} with {limit} rows suppressed.",
            hint="Raise publish.max_suppressed, or relax the requirements.",
        )
    if fewest >= rows:
        return kind(
            f"None of the {lattice.size} full-domain generalizations of {rows} rows "
            f"has a group that meets {models}.",
            hint="Relax the requirements, or use an algorithm with local recoding.",
        )
    share = math.ceil(1000 * fewest / rows) / 1000
    return kind(
        f"Every full-domain generalization leaves at least {fewest} rows in groups "
        f"that do not meet {models}; {limit} of {rows} may be suppressed.",
        hint=f"Raise publish.max_suppressed to {share:g}, or relax the requirements.",
    )
