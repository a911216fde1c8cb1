"""Propose requirements that a table can meet: a group size, and diverse values."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.data.profiling.infer import Inference
from sfumato.data.schema import Role
from sfumato.data.table import Column
from sfumato.policy.policy_lines import quoted, setting_line
from sfumato.policy.profiles import PLAIN, Profile

COMMONEST = 0.8
"""A value of more rows leaves too few others for diversity, unless many rows differ."""
COMMONEST_OF_MANY = 0.98
"""With a larger share, groups would have 50 rows or more on average."""
MANY = 20
"""So many rows with other values allow for several groups."""
LEAST_L = 2


def proposed_requirements(
    found: Inference, profile: Profile, wanted: int
) -> Iterator[str]:
    """The requirements as lines of a policy; `wanted` is the size of groups."""
    yield from _group_size(found, profile, wanted)
    names = found.names(Role.SENSITIVE)
    feasible = {name: _feasible_l(found.columns[name], profile.l) for name in names}
    for l in sorted({l for l in feasible.values() if l}, reverse=True):
        diverse = [name for name in names if feasible[name] == l]
        yield from ("", "[[require]]", 'model = "l-diversity"')
        yield setting_line(f"l = {l}", "no group gives a sensitive value away")
        listed = ", ".join(map(quoted, diverse))
        yield setting_line(
            f"on = [{listed}]", f"{len(diverse)} of {len(names)} sensitive ones"
        )
    yield from _not_judged([name for name in names if not feasible[name]])


def judges_nothing(found: Inference, profile: Profile) -> bool:
    """Whether no proposed requirement is about a sensitive column."""
    columns = (found.columns[name] for name in found.names(Role.SENSITIVE))
    return not any(_feasible_l(column, profile.l) for column in columns)


def _group_size(found: Inference, profile: Profile, wanted: int) -> Iterator[str]:
    k = min(wanted, found.rows) if wanted == PLAIN.k and profile is PLAIN else wanted
    reason = profile.k_reason if k == profile.k else ""
    yield from ("", "[[require]]", 'model = "k-anonymity"')
    yield setting_line(f"k = {k}", reason or f"nobody stands out from {k - 1} others")


def _not_judged(names: list[str]) -> Iterator[str]:
    if names:
        listed = ", ".join(map(quoted, names))
        yield ""
        yield f"# Groups may give away {listed}: too few values for l-diversity,"
        yield (
            f"# or one value in more than {COMMONEST:.0%} of rows (more than "
            f"{COMMONEST_OF_MANY:.0%} where {MANY} rows have others)."
        )


def _feasible_l(column: Column, l: int) -> int:
    """The largest l, up to the one asked for, that many groups can meet; 0: none."""
    counts = np.sort(np.bincount(column.codes, minlength=column.size))[::-1]
    values, rows = int((counts > 0).sum()), int(counts.sum())
    if values < LEAST_L:
        return 0
    if counts[0] <= COMMONEST * rows:
        return min(l, values)
    others = rows - int(counts[0])
    many = others >= MANY and counts[0] <= COMMONEST_OF_MANY * rows
    return LEAST_L if many else 0
