"""Requirements on the sizes of all groups together: a mean, or a share of unique rows.

Rules on single groups are sufficient for them, not necessary. A search that wants the
best release asks the requirement itself: at a node, the smallest groups go until it is
met. No other choice of groups leaves out fewer rows, because the m smallest groups have
the fewest rows of any m, and leaving them out lowers the measure most. It may lose
less, though: two rows whose cells show little cost less than one that shows everything.
Only among groups of one row, which have equal size, the cheapest go. A node that cannot
meet it within the limit cannot with smaller groups either: rows that form g groups at a
node form at least g below it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sfumato.algorithms.common.compiled_rules import compile_rules
from sfumato.algorithms.request import Request
from sfumato.data.arrays import Ints
from sfumato.models.base import Groups, OutputModel, Scope
from sfumato.models.uniqueness import Uniqueness


@dataclass(frozen=True, eq=False)
class TableWide:
    """Models that look at the sizes of all groups and at nothing else."""

    models: tuple[OutputModel, ...]

    def fewest(self, sizes: Ints) -> int:
        """How many groups must go, of groups in ascending order of size."""
        if self._holds(sizes):
            return 0
        low, high = 0, len(sizes)
        while high - low > 1:
            middle = (low + high) // 2
            if self._holds(sizes[middle:]):
                high = middle
            else:
                low = middle
        return high

    def within(self, sizes: Ints, limit: int) -> bool:
        """Whether some groups remain after leaving out at most `limit` rows."""
        ascending = np.sort(sizes)
        gone = self.fewest(ascending)
        return gone < len(sizes) and int(ascending[:gone].sum()) <= limit

    def settles(self, removable: int) -> bool:
        """Whether no other choice of groups at a node loses less."""
        return not removable or all(isinstance(m, Uniqueness) for m in self.models)

    def _holds(self, sizes: Ints) -> bool:
        groups = Groups(sizes=sizes, rows=sizes)
        return all(model.verify(groups).holds for model in self.models)


def parted(request: Request) -> tuple[Request, TableWide | None]:
    """The request without its table-wide models, and these; all of it if not apart.

    They stay among the rules where persons are counted, who may be in several groups,
    and where groups are compared with the rows that are kept, which they change, or
    with a population.
    """
    wide = tuple(model for model in request.models if model.judges_sizes)
    rest = tuple(model for model in request.models if not model.judges_sizes)
    part = replace(request, models=rest)
    counted = request.subject is not None or request.population is not None
    if not wide or counted or _drifts(part):
        return request, None
    return part, TableWide(wide)


def is_exact(request: Request) -> bool:
    """Return whether a request has only rules on single groups."""
    wide = [model for model in request.models if model.scope is Scope.TABLE]
    return all(model.targets() for model in wide)


def _drifts(request: Request) -> bool:
    # Imported late: only table-wide models need it.
    from sfumato.algorithms.full_domain.distinct_tuples import comparing

    return request.removable > 0 and comparing(compile_rules(request))
