"""Every privacy model again, straight from its definition, in plain Python.

Slow and simple on purpose: one group at a time, rows as lists, nothing shared with
the code under test. `measure` gives a group's value of a model's parameter, `worst`
that of a table.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

Value = Hashable
ValueCounts = Mapping[Value, int]
OracleMeasure = Callable[["OracleGroup"], float]


@dataclass(frozen=True)
class SensitiveDomain:
    """A sensitive column's values in order, with their ancestors or numbers."""

    order: tuple[Value, ...]
    paths: Mapping[Value, tuple[Hashable, ...]] | None = None
    """The nodes above each value, from itself to the root."""
    numbers: Mapping[Value, float] | None = None
    missing: Value | None = None
    """The value that stands for a missing cell."""


@dataclass(frozen=True)
class OracleRows:
    """A table, row by row: group (−1: left out), value, and what else is known."""

    group: Sequence[int]
    value: Sequence[Value]
    person: Sequence[Hashable] | None = None
    others: Sequence[Hashable] | None = None
    """The other sensitive columns' values, where they are known to the attacker."""
    missing_any: bool = False

    def persons(self) -> Sequence[Hashable]:
        """Who each row belongs to; without subjects, everybody has one row."""
        return range(len(self.group)) if self.person is None else self.person


@dataclass(frozen=True)
class OracleGroup:
    """What a model sees of one group."""

    size: int
    counts: ValueCounts
    domain: SensitiveDomain
    reference: Mapping[Value, float]
    rows: int = 0
    """Its rows, where `size` counts persons."""

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def groups_of(
    rows: OracleRows, domain: SensitiveDomain, *, source: bool = False
) -> list[OracleGroup]:
    """The groups of a table, split by the other columns if known."""
    reference = _reference(rows, domain, source)
    members: dict[tuple[int, Hashable], list[tuple[Hashable, Value]]] = {}
    for at, (group, person, value) in enumerate(
        zip(rows.group, rows.persons(), rows.value, strict=True)
    ):
        if group >= 0:
            other = None if rows.others is None else rows.others[at]
            members.setdefault((group, other), []).append((person, value))
    return [_group(pairs, domain, reference) for _, pairs in sorted(members.items())]


def _group(
    pairs: Sequence[tuple[Hashable, Value]],
    domain: SensitiveDomain,
    reference: Mapping[Value, float],
) -> OracleGroup:
    counts = Counter(value for _, value in set(pairs))
    size = len({person for person, _ in pairs})
    return OracleGroup(size, counts, domain, reference, rows=len(pairs))


def _reference(
    rows: OracleRows, domain: SensitiveDomain, source: bool
) -> Mapping[Value, float]:
    """Shares of each value over the published rows, or over all.

    Gaps that may be anything do not count, unless there is nothing else.
    """
    pairs = {
        (person, value)
        for group, person, value in zip(
            rows.group, rows.persons(), rows.value, strict=True
        )
        if source or group >= 0
    }
    gaps = {pair for pair in pairs if rows.missing_any and pair[1] == domain.missing}
    counts = Counter(value for _, value in (pairs - gaps or pairs))
    total = sum(counts.values())
    return {value: number / total for value, number in counts.items()}


def worst(
    rows: OracleRows,
    domain: SensitiveDomain,
    measure: OracleMeasure,
    *,
    smallest: bool,
    source: bool = False,
) -> float:
    """The worst value of a measure over all groups and all readings of a gap."""
    choose = min if smallest else max
    return choose(
        choose(
            measure(filled) for filled in readings(group, missing_any=rows.missing_any)
        )
        for group in groups_of(rows, domain, source=source)
    )


def readings(group: OracleGroup, *, missing_any: bool) -> list[OracleGroup]:
    """The group with its missing cells taken as each known value in turn."""
    gap = group.counts.get(group.domain.missing, 0) if missing_any else 0
    known = [value for value in group.domain.order if group.reference.get(value, 0) > 0]
    if not gap or not known:
        return [group]
    result = []
    for value in known:
        counts = Counter(group.counts)
        del counts[group.domain.missing]
        counts[value] += gap
        result.append(OracleGroup(group.size, counts, group.domain, group.reference))
    return result


def distinct(group: OracleGroup) -> float:
    """Number of different values."""
    return float(len(group.counts))


def effective_number(group: OracleGroup) -> float:
    """e to the entropy."""
    total = group.total
    shares = [count / total for count in group.counts.values()]
    return math.exp(-sum(share * math.log(share) for share in shares))


def commonest_share(group: OracleGroup) -> float:
    """r₁ / size."""
    return max(group.counts.values()) / group.size


def recursive_factor(l: int, exempt: Iterable[Value] = ()) -> OracleMeasure:
    """The c that a group's r_y is just not below c × tail (pd-recursive).

    r₁ ≥ r₂ ≥ … and y is the place of the commonest value not exempt. For y ≤ l − 1
    the tail is r_l + … + r_m; beyond, it is r_(l−1) + … + r_m without r_y.
    """
    open_values = set(exempt)

    def measure(group: OracleGroup) -> float:
        ranked = sorted(group.counts.items(), key=lambda item: -item[1])
        places = [
            place
            for place, (value, _) in enumerate(ranked, start=1)
            if value not in open_values
        ]
        if not places:
            return 0.0
        y = places[0]
        first = l if y <= l - 1 else l - 1
        tail = sum(
            number
            for place, (_, number) in enumerate(ranked, start=1)
            if place >= first and place != y
        )
        return ranked[y - 1][1] / tail if tail else math.inf

    return measure


def rarest_required(required: Iterable[Value]) -> OracleMeasure:
    """The smallest share of the values that may not be ruled out."""
    wanted = tuple(required)
    return lambda group: min(group.counts.get(v, 0) / group.size for v in wanted)


def gain(group: OracleGroup) -> float:
    """The largest (q − p) / p over all values of the table."""
    return max(
        (count / group.total - group.reference[value]) / group.reference[value]
        for value, count in group.counts.items()
    )


def enhanced_gain_ok(beta: float) -> Callable[[OracleGroup], bool]:
    """Whether (q − p) / p is at most min(β, −ln p) for every value."""

    def test(group: OracleGroup) -> bool:
        for value, count in group.counts.items():
            p = group.reference[value]
            q = count / group.total
            if (q - p) / p > min(beta, -math.log(p)) + 1e-9:
                return False
        return True

    return test


def log_ratio(group: OracleGroup) -> float:
    """The largest |ln(q / p)| over all values of the table; infinite if one lacks."""
    largest = 0.0
    for value, p in group.reference.items():
        q = group.counts.get(value, 0) / group.total
        largest = max(largest, abs(math.log(q / p)) if q else math.inf)
    return largest


def variational(group: OracleGroup) -> float:
    """Earth mover's distance where any two values are 1 apart."""
    return sum(abs(_difference(group, value)) for value in group.domain.order) / 2


def ordered(group: OracleGroup) -> float:
    """Earth mover's distance where neighbors are 1 / (m − 1) apart."""
    present = [v for v in group.domain.order if group.reference.get(v, 0) > 0]
    running = total = 0.0
    for value in present:
        running += _difference(group, value)
        total += abs(running)
    return total / max(len(present) - 1, 1)


def hierarchical(group: OracleGroup) -> float:
    """Earth mover's distance by the recursion of Li et al. 2007, section 4.2.2."""
    paths = group.domain.paths
    assert paths is not None
    height = len(next(iter(paths.values()))) - 1
    total = 0.0
    for level in range(1, height + 1):
        nodes = {path[level] for path in paths.values()}
        for node in nodes:
            children = {
                path[level - 1] for path in paths.values() if path[level] == node
            }
            extra = [
                _extra(group, level - 1, child) for child in sorted(children, key=str)
            ]
            positive = sum(value for value in extra if value > 0)
            negative = -sum(value for value in extra if value < 0)
            total += level / height * min(positive, negative)
    return total


def _extra(group: OracleGroup, level: int, node: Hashable) -> float:
    paths = group.domain.paths
    assert paths is not None
    leaves = [value for value, path in paths.items() if path[level] == node]
    return sum(_difference(group, value) for value in leaves)


def _difference(group: OracleGroup, value: Value) -> float:
    share = group.counts.get(value, 0) / group.total
    return share - group.reference.get(value, 0.0)


def s_diversity(r: float) -> OracleMeasure:
    """Loukides and Shao 2008, definition 2.4, over all ordered pairs of rows."""

    def measure(group: OracleGroup) -> float:
        values = [value for value, n in group.counts.items() for _ in range(n)]
        contributions = [_contribution(group, a, b) for a in values for b in values]
        kept = [pc for pc in contributions if pc >= 1 - r - 1e-9]
        return sum(kept) / len(values) ** 2

    return measure


def _contribution(group: OracleGroup, one: Value, two: Value) -> float:
    """Definition 2.3: pairwise contribution."""
    if one == two:
        return 1.0
    domain = [v for v in group.domain.order if group.reference.get(v, 0) > 0]
    numbers = group.domain.numbers
    if numbers is not None:
        if one not in numbers or two not in numbers:
            return 0.0
        known = [numbers[value] for value in domain if value in numbers]
        return 1 - abs(numbers[one] - numbers[two]) / (max(known) - min(known))
    return 1 - (_leaves_over(group, one, two, domain) - 1) / len(domain)


def _leaves_over(
    group: OracleGroup, one: Value, two: Value, domain: Sequence[Value]
) -> int:
    paths = group.domain.paths
    if paths is None:
        return 2
    for level, (a, b) in enumerate(zip(paths[one], paths[two], strict=True)):
        if a == b:
            return sum(paths[value][level] == a for value in domain)
    raise ValueError("The hierarchy has no root.")


def lkc(
    cells: Sequence[Sequence[Hashable]],
    rows: OracleRows,
    domain: SensitiveDomain,
    *,
    l: int,
) -> tuple[int, float]:
    """The smallest set of rows and the largest confidence over all known sets."""
    width = len(cells[0])
    smallest, confidence = len(set(rows.persons())), 0.0
    for size in range(min(l, width) + 1):
        for known in combinations(range(width), size):
            keys = [tuple(row[column] for column in known) for row in cells]
            labels = {key: at for at, key in enumerate(dict.fromkeys(keys))}
            union = replace(rows, group=[labels[key] for key in keys])
            for group in groups_of(union, domain):
                smallest = min(smallest, group.size)
                confidence = max(confidence, commonest_share(group))
    return smallest, confidence


def n_t_distance(
    cells: Sequence[Sequence[Hashable]],
    rows: OracleRows,
    domain: SensitiveDomain,
    distance: OracleMeasure,
    *,
    n: int,
) -> float:
    """The largest distance of a group to its nearest natural superset of n rows."""
    width = len(cells[0])
    furthest = 0.0
    for own in dict.fromkeys(map(tuple, cells)):
        inside = [at for at, row in enumerate(cells) if tuple(row) == own]
        nearest = math.inf
        for size in range(width + 1):
            for known in combinations(range(width), size):
                superset = [
                    at
                    for at, row in enumerate(cells)
                    if all(row[column] == own[column] for column in known)
                ]
                if len({rows.persons()[at] for at in superset}) >= n:
                    group = _compared(rows, domain, inside, superset)
                    nearest = min(nearest, distance(group))
        furthest = max(furthest, nearest)
    return furthest


def _compared(
    rows: OracleRows,
    domain: SensitiveDomain,
    inside: Sequence[int],
    superset: Sequence[int],
) -> OracleGroup:
    """A group beside the distribution of a superset, over the table's own domain."""
    everywhere, who = set(rows.value), rows.persons()
    counts = Counter(v for _, v in {(who[at], rows.value[at]) for at in superset})
    reference = {v: max(counts[v] / counts.total(), 1e-300) for v in everywhere}
    return _group([(who[at], rows.value[at]) for at in inside], domain, reference)
