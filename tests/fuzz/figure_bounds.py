"""Whether bounds of figures hold for the source: `python -m tests.fuzz.figure_bounds`.

A thousand releases of every operator are drawn at random. What is true is computed
from the cells of the source, in plain Python; the tests try fewer.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import sfumato as sf
from sfumato import registry
from sfumato.data.schema import Kind
from sfumato.errors import HierarchyError, RefusedError, SfumatoError
from sfumato.hierarchies.labels import value_text
from sfumato.pipeline.published_bounds import column_bounds
from sfumato.pipeline.published_table import PublishedTable, published_table
from sfumato.publish.base import Form
from tests.fuzz.cases import Case
from tests.fuzz.draw import draw_table
from tests.fuzz.meaning import STAR, number_of
from tests.fuzz.settings import draw_options

RELEASES = 1_000
"""How many releases of every operator are tried."""
ALGORITHMS = ("mondrian", "mondrian", "k-member", "datafly", "mdav")
SIZES = (1, 2, 3)
SAVED = 0.1
"""The share of releases that are read from their files."""
SHARES = (0, 0.1, 0.25, 0.5, 0.75, 1)
UNITS = {Kind.DATETIME: 10**6}
"""What the numbers of the oracle count, in those of the product."""


@dataclass(frozen=True)
class Column:
    """A column of the source, and the rows of it that are published."""

    texts: list[str | None]
    """The cells of the source; None where there is no value."""
    cells: list[tuple[str | None, ...]]
    """The published cells, one or two bounds a row."""
    source_rows: list[int]

    def asked(self, bounds: sf.Bounds, *, ends: bool) -> list[str]:
        """The texts of the source that bounds are about."""
        if bounds.of == "source":
            rows: Sequence[int] = range(len(self.texts))
        elif ends or not bounds.kind.numeric:
            rows = self.source_rows
        else:
            shown = zip(self.source_rows, self.cells, strict=True)
            rows = [row for row, cells in shown if not _lacks_end(cells)]
        return [text for row in rows if (text := self.texts[row]) is not None]


def _lacks_end(cells: Sequence[str | None]) -> bool:
    """Whether cells lack an end: one is open, or one of two bounds is not there."""
    return any(map(_is_open, cells)) or (len(cells) == 2 and None in cells)


def _is_open(cell: str | None) -> bool:
    return cell is not None and (cell == STAR or cell.startswith((">", "<")))


@dataclass(frozen=True)
class Tried:
    """A release, and what its bounds say wrongly."""

    case: Case
    release: sf.Release
    findings: tuple[str, ...]
    bounded: int
    """How many figures were compared."""


def try_release(operator: str, name: str) -> Tried | None:
    """Publish a random table by an operator; None where that is refused."""
    random = Random(f"{operator} {name}")
    case = draw_table(name, random, door="arrow")
    cells = registry.load("operators", operator).form is Form.CELLS
    if not cells:
        case.policy["columns"].pop("person", None)
        case.columns.pop("person", None)
    model = "k-anonymity" if cells else "group-size"
    publish = draw_options(random, "operators", operator) | {
        "operator": operator,
        "max_suppressed": random.choice([0.0, 0.1, 0.3]),
        "max_loss": 1.0,
    }
    policy = case.policy | {
        "publish": publish,
        "require": [{"model": model, "k": random.choice(SIZES)}],
        "algorithm": {"name": random.choice(ALGORITHMS)},
    }
    with tempfile.TemporaryDirectory(prefix="sfumato-figures-") as place:
        return _tried(case, policy, Path(place), saved=random.random() < SAVED)


def _tried(
    case: Case, policy: dict[str, Any], place: Path, *, saved: bool
) -> Tried | None:
    for file, text in case.files.items():
        (place / file).write_text(text, encoding="utf-8")
    try:
        asked = sf.Policy.model_validate(policy)
        release = sf.anonymize(case.table(), asked, insecure_seed=1, base=place)
    except SfumatoError:
        return None
    published: Any = release
    if saved:
        published = place / "release"
        release.save(published)
    findings: list[str] = []
    bounded = 0
    table = published_table(published, asked, manifest=None, base=place)
    for name in [*case.names("quasi"), *case.names("sensitive"), *case.names("weight")]:
        column = _column(case, release, name)
        for of in ("published", "source"):
            for bounds, ends in _bounds(table, name, of, column):
                wrong, number = _compared(bounds, column, ends=ends)
                findings += [f"{name}, {of}: {each}" for each in wrong]
                bounded += number
    return Tried(case, release, tuple(findings), bounded)


def _column(case: Case, release: sf.Release, name: str) -> Column:
    texts = case.columns[name].texts(case.is_csv)
    marks = case.missing_marks()
    names = [name] if name in release.table.column_names else []
    bounds = [f"{name}_from", f"{name}_to"]
    names = names or [each for each in bounds if each in release.table.column_names]
    shown = [release.table.column(each).cast("string").to_pylist() for each in names]
    rows = [int(row) for row in release.source_rows]
    cells = list(zip(*shown, strict=True)) if shown else [()] * len(rows)
    return Column([None if t in marks else t for t in texts], cells, rows)


def _bounds(
    table: PublishedTable, name: str, of: str, column: Column
) -> Iterator[tuple[sf.Bounds, bool]]:
    """The bounds without ends of the column, and with those of the source."""
    read = table.column(name)
    try:
        yield column_bounds(read, of=of), False
    except (RefusedError, HierarchyError) as refusal:
        # A hierarchy file with line breaks is read beside its source alone.
        if "ends=" not in str(refusal):
            return
    ends = _ends(column, read.kind) if read.kind.numeric else ()
    # Labels of a hierarchy file may be no intervals, whatever ends are given.
    with suppress(RefusedError):
        if ends:
            yield column_bounds(read, of=of, ends=ends), True


def _ends(column: Column, kind: Kind) -> list[str]:
    numbers = _numbers([text for text in column.texts if text is not None], kind)
    unit = UNITS.get(kind, 1)
    return [value_text(n / unit, kind=kind) for n in (numbers[:1] + numbers[-1:])]


def _numbers(texts: Sequence[str], kind: Kind) -> list[Fraction]:
    numbers = [number_of(text, kind.value) for text in texts]
    assert None not in numbers
    return sorted(number for number in numbers if number is not None)


def _compared(
    bounds: sf.Bounds, column: Column, *, ends: bool
) -> tuple[list[str], int]:
    """What is wrong with bounds, and how many figures were compared."""
    texts = column.asked(bounds, ends=ends)
    if not texts:
        return [], 0
    compare = _numeric_figures if bounds.kind.numeric else _shares
    figures = list(compare(bounds, texts))
    said = f"{'with' if ends else 'without'} ends"
    wrong = [f"{name} {said}" for name, holds in figures if not holds]
    return wrong, len(figures)


def _numeric_figures(
    bounds: sf.Bounds, texts: Sequence[str]
) -> Iterator[tuple[str, bool]]:
    numbers = _numbers(texts, bounds.kind)

    def inside(between: tuple[Any, Any], figure: Fraction) -> bool:
        low, high = (
            number_of(end, bounds.kind.value) if isinstance(end, str) else Fraction(end)
            for end in between
        )
        assert low is not None
        assert high is not None
        return low <= figure <= high

    yield "mean", inside(bounds.mean, sum(numbers) / len(numbers))
    if "quantile" in bounds.withheld:
        return
    for share in SHARES:
        between = bounds.quantile(share)
        for figure in _quantiles(numbers, Fraction(str(share))):
            yield "quantile", inside(between, figure)
    low, high = numbers[len(numbers) // 4], numbers[3 * len(numbers) // 4]
    unit = UNITS.get(bounds.kind, 1)
    first, last = (value_text(n / unit, kind=bounds.kind) for n in (low, high))
    true = Fraction(sum(low <= number <= high for number in numbers), len(numbers))
    yield "range", _holds(bounds.share_between(first, last), true)
    true = Fraction(numbers.count(low), len(numbers))
    yield "share", _holds(bounds.share(first), true)


def _quantiles(numbers: Sequence[Fraction], share: Fraction) -> Iterator[Fraction]:
    """The quantile as programs compute it: by interpolation, and as a value."""
    place = share * (len(numbers) - 1)
    below, above = numbers[math.floor(place)], numbers[math.ceil(place)]
    yield below + (above - below) * (place - math.floor(place))
    yield numbers[max(math.ceil(share * len(numbers)) - 1, 0)]


def _shares(bounds: sf.Bounds, texts: Sequence[str]) -> Iterator[tuple[str, bool]]:
    counts = Counter(texts)
    counts["no such value"] = 0
    for value, rows in counts.items():
        yield "share", _holds(bounds.share(value), Fraction(rows, len(texts)))
    first, second, *_ = [*counts, *counts]
    both = sum(counts[value] for value in {first, second})
    yield "two", _holds(bounds.share(first, second), Fraction(both, len(texts)))


def _holds(between: tuple[Any, Any], figure: Fraction) -> bool:
    return Fraction(between[0]) <= figure <= Fraction(between[1])


def try_operator(
    operator: str, seed: str, releases: int, *, until: float = math.inf
) -> tuple[Counter[str], list[str]]:
    """Try many releases of one operator: counts, and what was found."""
    counts: Counter[str] = Counter()
    found: list[str] = []
    number = 0
    while counts["releases"] < releases and time.monotonic() < until:
        tried = try_release(operator, f"{seed}:{number}")
        if tried is not None:
            counts["releases"] += 1
            counts["figures"] += tried.bounded
            found += [f"{operator} {seed}:{number}: {each}" for each in tried.findings]
        number += 1
    return counts, found


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz.figure_bounds", description=__doc__
    )
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", default="", help="a fresh one unless given")
    parser.add_argument("--releases", type=int, default=RELEASES)
    options = parser.parse_args()
    seed = options.seed or str(int(time.time()))
    until = time.monotonic() + 60 * options.minutes
    findings = 0
    print(f"Figures, seed {seed}, at most {options.minutes:g} minutes.", flush=True)
    for operator in registry.names("operators"):
        counts, found = try_operator(operator, seed, options.releases, until=until)
        print(f"{operator}: {dict(counts)}", *found, sep="\n  ", flush=True)
        findings += len(found)
    return int(findings > 0)


if __name__ == "__main__":
    sys.exit(main())
