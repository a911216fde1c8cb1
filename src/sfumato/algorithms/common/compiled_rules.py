"""From a request to compiled rules: views, each row's code in each, and the table.

Where subjects are declared, the code of a row in a view stands for a value *and* a
person, so that kernels that count rows can still count persons once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.request import Request
from sfumato.data.arrays import Codes
from sfumato.data.rules import SUBJECT, Rule, View
from sfumato.errors import PolicyError, RefusedError
from sfumato.hierarchies.axis import Axis
from sfumato.hierarchies.sensitive_axis import roll_up
from sfumato.kernels.common.group_rules import RuleTable, group_ok, rule_table
from sfumato.models.common.groups import packed, value_shares

Pairs = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]

HIGHEST_CODE = int(np.iinfo(np.int32).max)


@dataclass(frozen=True, eq=False)
class Compiled:
    """What kernels need to judge groups of a request's rows."""

    rules: tuple[Rule, ...]
    views: tuple[View, ...]
    codes: Codes
    """(views, rows): each row's code in each view."""
    table: RuleTable
    axes: Mapping[View, Axis] = field(default_factory=dict)
    references: Mapping[View, npt.NDArray[np.float64]] = field(default_factory=dict)
    pairs: Mapping[View, Pairs] = field(default_factory=dict)
    missing_any: bool = False

    def allows(self, rows: npt.NDArray[np.int64], population: int = 0) -> bool:
        """Return whether some rows may be a group; slow, for a few questions."""
        counted = [np.unique(line[rows], return_counts=True) for line in self.codes]
        width = max((len(codes) for codes, _ in counted), default=0)
        codes = np.zeros((len(counted), width), dtype=np.int32)
        counts = np.zeros((len(counted), width), dtype=np.int64)
        for line, (values, times) in enumerate(counted):
            codes[line, : len(values)] = values
            counts[line, : len(values)] = times
        lengths = np.array([len(values) for values, _ in counted], dtype=np.int64)
        return bool(group_ok(len(rows), population, codes, counts, lengths, self.table))

    def only(self, rules: Sequence[Rule]) -> RuleTable:
        """The table of some of the rules, on the same views and codes."""
        return rule_table(
            rules,
            self.views,
            axes=self.axes,
            references=self.references,
            pairs=self.pairs,
            missing_any=self.missing_any,
        )


def compile_rules(request: Request, rules: Sequence[Rule] | None = None) -> Compiled:
    """The rules of all models of a request, or those given, ready for kernels.

    References are those of the request's rows: where rows are left out later, the
    published ones may differ, which the self-check sees.
    """
    chosen = request.rules() if rules is None else tuple(rules)
    chosen = tuple(_settled(rule, request) for rule in chosen)
    views = tuple(dict.fromkeys(rule.view for rule in chosen if rule.view is not None))
    axes: dict[View, Axis] = {}
    references: dict[View, npt.NDArray[np.float64]] = {}
    pairs: dict[View, Pairs] = {}
    codes = np.empty((len(views), request.rows), dtype=np.int32)
    for line, view in enumerate(views):
        if view == SUBJECT:
            codes[line] = _subject(request)
            continue
        axes[view], values = _values(request, view)
        references[view] = _reference(request.compared_with(view), view)
        joint = _joint(request, view, values, axes[view].size)
        if request.subject is not None:
            joint, pairs[view] = _paired(joint, request.subject)
        codes[line] = _fitting(joint, view)
    table = rule_table(
        chosen,
        views,
        axes=axes,
        references=references,
        pairs=pairs,
        missing_any=request.missing_any,
    )
    return Compiled(
        chosen, views, codes, table, axes, references, pairs, request.missing_any
    )


def _settled(rule: Rule, request: Request) -> Rule:
    """A rule as it stands on this table.

    A group that is close to the whole table passes (n, t)-closeness only if the
    whole table has n rows; otherwise it needs n rows of its own.
    """
    if rule.exempt_size == 0:
        return rule
    everybody = request.rows
    if request.subject is not None:
        everybody = len(np.unique(request.subject))
    _, distance, least = rule.parameters
    return (
        rule
        if everybody >= least
        else replace(rule, parameters=(-1.0, distance, least))
    )


def _subject(request: Request) -> Codes:
    if request.subject is None:
        raise PolicyError(
            "A rule counts persons; the table has no subject column.",
            hint="Give one column the role 'subject'.",
        )
    return request.subject


def _values(request: Request, view: View) -> tuple[Axis, Codes]:
    column = request.sensitive[view.column]
    axis, to_new = roll_up(column.axis, view.level)
    return axis, column.codes if view.level == 0 else to_new[column.codes]


def _reference(request: Request, view: View) -> npt.NDArray[np.float64]:
    """The distribution that groups are compared with: that of a whole request."""
    axis, values = _values(request, view)
    opened = request.missing_any and not view.closed
    return value_shares(axis, values, request.subject, missing_any=opened)


def _joint(
    request: Request, view: View, values: Codes, size: int
) -> npt.NDArray[np.int64]:
    """Rank of the other columns' combination × values + value, if they are known."""
    others = [c.codes for name, c in request.sensitive.items() if name != view.column]
    if not view.others_known or not others:
        return values.astype(np.int64)
    key, _ = packed(others)
    _, rank = np.unique(key, return_inverse=True)
    return np.asarray(rank * max(size, 1) + values, dtype=np.int64)


def _paired(
    joint: npt.NDArray[np.int64], subject: Codes
) -> tuple[npt.NDArray[np.int64], Pairs]:
    """Codes of distinct (value, person) pairs in order, and what each stands for."""
    key, _ = packed([joint, subject])
    _, first, pair = np.unique(key, return_index=True, return_inverse=True)
    return pair, (joint[first], subject[first].astype(np.int64))


def _fitting(codes: npt.NDArray[np.int64], view: View) -> Codes:
    highest = int(codes.max(initial=0))
    if highest > HIGHEST_CODE:
        raise RefusedError(
            f"others_known on '{view.column}' needs {highest} codes; "
            f"there are {HIGHEST_CODE}.",
            hint="Roll the column up with 'level', or name fewer sensitive columns.",
        )
    return codes.astype(np.int32)
