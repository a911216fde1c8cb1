"""What published cells mean and cost, by definition, row by row in plain Python.

Slow on purpose: nothing here uses codes, axes or kernels, so that it can disagree
with them. Cells are texts as a recipient reads them.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

STAR = "*"
_INTERVAL = re.compile(r"\[(?P<low>[^,\]]+), (?P<high>[^,\])]+)[\])]")

_CALENDAR = re.compile(
    r"(?P<year>\d{4})(-(?P<month>\d\d)|-Q(?P<quarter>[1-4])|(?P<decade>s))?"
)

Row = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class QuasiDomain:
    """Everything that a quasi-identifier may show, without axes or codes."""

    values: frozenset[str]
    """The texts that occur in the source, the missing mark among them."""
    paths: Mapping[str, Sequence[str]] | None = None
    """For each leaf of a hierarchy, the labels from the leaf up to the root."""
    numeric: bool = False
    missing: str | None = None
    """The text of a missing value."""
    steps: bool = False
    """Whether values are whole numbers or days: then every step of the source's range
    is a leaf of a hierarchy, whether it occurs or not."""

    def range(self) -> tuple[float, float]:
        """The lowest and the highest number of the source."""
        known = [number(value) for value in self.values if value != self.missing]
        return min(known), max(known)


def number(text: str) -> float:
    """The number behind a text: itself, or a date as days, an instant as seconds."""
    try:
        return float(text)
    except ValueError:
        return _moment(text)


def _moment(text: str) -> float:
    if len(text) == len("2000-01-31"):
        return float((date.fromisoformat(text) - date(1970, 1, 1)).days)
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def covered(cell: str, domain: QuasiDomain) -> frozenset[str]:
    """The source values that a published cell may stand for."""
    return frozenset(value for value in domain.values if covers(cell, value, domain))


def covers(cell: str, value: str, domain: QuasiDomain) -> bool:
    """Whether a published cell may stand for a source value."""
    if cell in (STAR, value):
        return True
    if domain.paths and cell in domain.paths.get(value, ()):
        return True
    if cell in domain.values:
        return False
    if cell.startswith("{"):
        return value in members(cell)
    return _between(value, cell, domain)


def members(cell: str) -> list[str]:
    """The values of a published set, in the order shown; quoted ones unquoted."""
    found = re.findall(r'"(?:[^"]|"")*"|[^|]+', cell.removeprefix("{")[:-1])
    return [_unquoted(text) for text in found]


def _unquoted(text: str) -> str:
    if text.startswith('"') and text.endswith('"') and len(text) > 1:
        return text[1:-1].replace('""', '"')
    return text


def _between(value: str, cell: str, domain: QuasiDomain) -> bool:
    bounds = interval(cell)
    if bounds is None or not domain.numeric or value == domain.missing:
        return False
    low, high = bounds
    open_end = cell.endswith(")") or cell.startswith("< ")
    return low <= number(value) and (
        number(value) < high if open_end else number(value) <= high
    )


def interval(cell: str) -> tuple[float, float] | None:
    """The bounds of a published interval, or None for any other text."""
    match = _INTERVAL.fullmatch(cell)
    if match:
        return number(match["low"]), number(match["high"])
    sign, _, bound = cell.partition(" ")
    if sign == ">=":
        return number(bound), math.inf
    return (-math.inf, number(bound)) if sign in ("<", "<=") else None


def calendar(cell: str) -> tuple[float, float] | None:
    """First and last day of a published month, quarter, year or decade."""
    match = _CALENDAR.fullmatch(cell)
    if not match:
        return None
    year, months = int(match["year"]), 12
    month = int(match["month"] or 1)
    if match["month"]:
        months = 1
    elif match["quarter"]:
        month, months = 3 * int(match["quarter"]) - 2, 3
    elif match["decade"]:
        months = 120
    after = year * 12 + month - 1 + months
    return _day(year, month), _day(after // 12, after % 12 + 1) - 1


def _day(year: int, month: int) -> float:
    return float((date(year, month, 1) - date(1970, 1, 1)).days)


def _under(label: str, paths: Mapping[str, Sequence[str]]) -> frozenset[str]:
    return frozenset(leaf for leaf, path in paths.items() if label in path)


def smallest_node(values: Iterable[str], paths: Mapping[str, Sequence[str]]) -> str:
    """The label with fewest leaves that covers all these values."""
    wanted = frozenset(values)
    nodes = {label for path in paths.values() for label in path}
    sizes = {label: len(_under(label, paths)) for label in nodes}
    depth = {label: _lowest_level(label, paths) for label in nodes}
    covering = [label for label in nodes if wanted <= _under(label, paths)]
    return min(covering, key=lambda label: (sizes[label], depth[label], label))


def _lowest_level(label: str, paths: Mapping[str, Sequence[str]]) -> int:
    return min(path.index(label) for path in paths.values() if label in path)


def smallest_cell(values: Iterable[str], domain: QuasiDomain) -> str:
    """What a group with these values shows: a value, a node, an interval or a set."""
    found = frozenset(values)
    if len(found) == 1:
        return next(iter(found))
    if domain.paths:
        return smallest_node(found, domain.paths)
    if not domain.numeric:
        return "{" + "|".join(sorted(found)) + "}"
    if domain.missing in found:
        return STAR
    return f"[{min(found, key=number)}, {max(found, key=number)}]"


def cell_ncp(cell: str, domain: QuasiDomain) -> float:
    """NCP of one published cell."""
    if cell in domain.values:
        return 0.0
    if cell == STAR:
        return 1.0
    if domain.numeric:
        return _range_share(cell, domain)
    return _share(cell, domain)


def _share(cell: str, domain: QuasiDomain) -> float:
    if domain.paths and not cell.startswith("{"):
        under = len(_under(cell, domain.paths))
        return 0.0 if under == 1 else under / len(domain.paths)
    size = len(members(cell))
    return 0.0 if size == 1 else size / len(domain.values)


def _range_share(cell: str, domain: QuasiDomain) -> float:
    lowest, highest = domain.range()
    bounds = interval(cell) or calendar(cell) or _leaf_range(cell, domain)
    if bounds is None or highest == lowest:
        return 1.0 if bounds is None else 0.0
    low, high = max(bounds[0], lowest), min(bounds[1], highest)
    return (high - low) / (highest - lowest)


def _leaf_range(cell: str, domain: QuasiDomain) -> tuple[float, float] | None:
    leaves = _under(cell, domain.paths or {})
    if domain.missing in leaves or not leaves:
        return None
    numbers = [number(leaf) for leaf in leaves]
    return min(numbers), max(numbers)


def cell_loss(cell: str, domain: QuasiDomain) -> float:
    """Generalized loss of one published cell."""
    if cell in domain.values:
        return 0.0
    if cell == STAR:
        return 1.0
    if domain.paths and not cell.startswith("{"):
        return _other_leaves(cell, domain) / max(_all_leaves(domain) - 1, 1)
    if domain.numeric:
        return _range_share(cell, domain)
    return (len(members(cell)) - 1) / max(len(domain.values) - 1, 1)


def _other_leaves(cell: str, domain: QuasiDomain) -> float:
    bounds = (interval(cell) or calendar(cell)) if domain.steps else None
    if bounds is None:
        return len(_under(cell, domain.paths or {})) - 1
    lowest, highest = domain.range()
    return min(bounds[1], highest) - max(bounds[0], lowest)


def _all_leaves(domain: QuasiDomain) -> float:
    if not domain.steps:
        return len(domain.paths or {})
    lowest, highest = domain.range()
    return highest - lowest + 1 + (domain.missing is not None)


def ncp(
    rows: Sequence[Row], domains: Sequence[QuasiDomain], *, suppressed: int
) -> float:
    """Mean NCP over all source cells."""
    costs = [cell_ncp(c, d) for row in rows for c, d in zip(row, domains, strict=True)]
    return _mean_cost(costs, suppressed * len(domains))


def generalized_loss(
    rows: Sequence[Row], domains: Sequence[QuasiDomain], *, suppressed: int
) -> float:
    """Mean generalized loss over all source cells."""
    costs = [cell_loss(c, d) for row in rows for c, d in zip(row, domains, strict=True)]
    return _mean_cost(costs, suppressed * len(domains))


def _mean_cost(costs: Sequence[float], lost: int) -> float:
    cells = len(costs) + lost
    return (math.fsum(costs) + lost) / cells if cells else 0.0


def discernibility(rows: Sequence[Row], *, suppressed: int) -> int:
    """Each row counts its group's size; a suppressed one all rows of the source."""
    total = len(rows) + suppressed
    return sum(n * n for n in Counter(rows).values()) + total * suppressed


def average_class_size(rows: Sequence[Row], *, k: int) -> float:
    """Published rows per group, in units of k."""
    return len(rows) / len(set(rows)) / k


def k_of(rows: Sequence[Row], subjects: Sequence[Hashable] | None = None) -> int:
    """The fewest rows, or persons, that share one published tuple."""
    who = range(len(rows)) if subjects is None else subjects
    return distinct_l_of(rows, who)


def distinct_l_of(rows: Sequence[Row], sensitive: Iterable[Hashable]) -> int:
    """The fewest distinct sensitive values behind one published tuple."""
    behind: dict[Row, set[Hashable]] = defaultdict(set)
    for row, value in zip(rows, sensitive, strict=True):
        behind[row].add(value)
    return min((len(values) for values in behind.values()), default=0)
