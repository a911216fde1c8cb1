"""Columns drawn at random: plain and extreme values of every kind, with gaps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from random import Random

from tests.fuzz.cases import NESTED, Column

LETTERS = "bcdfghjklmnpqrstvwxz"
MARKS = ("", "?", "NA", "unknown", "-")
"""Texts that a policy may declare to mean that there is no value."""


def canary(random: Random) -> str:
    """A word that occurs nowhere else, to be looked for where it must not be."""
    return "zq" + "".join(random.choice(LETTERS) for _ in range(9))


@dataclass(frozen=True)
class Flavor:
    """One sort of values: their kind, how one is drawn, and the types that hold it."""

    kind: str
    draw: Callable[[Random], str]
    types: tuple[str, ...] = ("string",)


def _small(random: Random) -> str:
    return str(random.randint(-3, 30))


def _huge(random: Random) -> str:
    base = random.choice([2**53, 2**53 - 3, 1_609_459_259_990, 10**17, -(2**55)])
    return str(base + random.randint(-5, 5))


def _eighths(random: Random) -> str:
    return str(random.randint(-16, 60) / 8)


def _spelled(random: Random) -> str:
    return random.choice(["1.0", "1.00", "1", "2.50", "2.5", "0.1", "0.3", "-0.0"])


def _extreme(random: Random) -> str:
    mantissa = random.choice(["1", "1.2345678901234567", "9.87654321098765", "-4.4"])
    return f"{mantissa}e{random.choice([-300, -20, 15, 22, 300])}"


def _fine(random: Random) -> str:
    return f"{random.randint(0, 3)}.{random.randint(10**8, 10**9 - 1)}"


def _day(random: Random) -> str:
    return (date(1990, 1, 1) + timedelta(days=random.randint(0, 3000))).isoformat()


def _far_day(random: Random) -> str:
    return random.choice(["0001-01-01", "1582-10-15", "1969-12-31", "9999-12-31"])


def _dotted_day(random: Random) -> str:
    return f"{random.randint(1, 28)}.{random.randint(1, 12)}.1994"


def _moment(random: Random) -> str:
    base = datetime(2021, 1, 1) + timedelta(seconds=random.randint(0, 10**6))
    return base.isoformat(sep=" ")


def _fine_moment(random: Random) -> str:
    base = datetime(1969, 12, 31, 23) + timedelta(
        milliseconds=random.randint(0, 4 * 10**6)
    )
    return base.isoformat(sep=" ", timespec="milliseconds")


def _zip(random: Random) -> str:
    return f"0{random.randint(100, 130)}"


def _icd(random: Random) -> str:
    return f"{random.choice('EFI')}{random.randint(10, 14)}.{random.randint(0, 2)}"


def _odd_word(random: Random) -> str:
    return random.choice(
        ["a", "b", "é", "東京", "two words", 'quo"te', "com,ma", "semi;colon", " lead"]
    )


def _line_word(random: Random) -> str:
    return random.choice(["line\nbreak", "plain", "x", "=1+1", "tab\tbed", "NULL"])


def _number_or_word(random: Random) -> str:
    return random.choice(["none", *map(str, range(1, 12))])


_TEXTS = ("string", "string", "large_string", "dictionary", "dictionary with more")
_WHOLE = ("string", "int64", "int32", "dictionary")
_MOMENTS = ("string", "timestamp[s]", "timestamp[us]", "timestamp[us, UTC]")

FLAVORS: dict[str, Flavor] = {
    "integer": Flavor("integer", _small, (*_WHOLE, "int8")),
    "huge": Flavor("integer", _huge, ("string", "int64", "uint64")),
    "decimal": Flavor("decimal", _eighths, ("string", "float64", "float32", "decimal")),
    "spelled": Flavor("decimal", _spelled, ("string", "float64")),
    "extreme": Flavor("decimal", _extreme, ("string", "float64")),
    "fine": Flavor("decimal", _fine, ("string", "float64", "decimal")),
    "date": Flavor("date", _day, ("string", "date32")),
    "far date": Flavor("date", _far_day, ("string", "date32")),
    "dotted date": Flavor("date", _dotted_day),
    "datetime": Flavor("datetime", _moment, _MOMENTS),
    "fine datetime": Flavor(
        "datetime", _fine_moment, ("string", "timestamp[ms]", "timestamp[ns]")
    ),
    "code": Flavor("code", _zip, _TEXTS),
    "icd": Flavor("code", _icd, _TEXTS),
    "category": Flavor("category", canary, _TEXTS),
    "odd": Flavor("category", _odd_word, _TEXTS),
    "lines": Flavor("category", _line_word, _TEXTS),
    "number or word": Flavor("category", _number_or_word, _TEXTS),
    "truth": Flavor("category", lambda r: r.choice(["true", "false"]), ("bool",)),
    "ordered": Flavor("ordered", canary, ("string", "dictionary")),
}


def draw_column(
    random: Random,
    flavor: Flavor,
    *,
    rows: int,
    csv_file: bool,
    gaps: tuple[str | None, ...] = (),
) -> Column:
    """A column of one flavor; `gaps` are the marks that some of its cells have."""
    few = random.choice([1, 2, 3, 3, 4, 6, 10, 40])
    pool = list(dict.fromkeys(flavor.draw(random) for _ in range(few)))
    cells: list[str | None] = [random.choice(pool) for _ in range(rows)]
    chosen = "string" if csv_file else random.choice(flavor.types)
    if chosen == "uint64":
        cells = [None if c is None else c.lstrip("-") for c in cells]
    usable = gaps if chosen in ("string", "large_string", "dictionary") else (None,)
    if gaps:
        share = random.choice([0.05, 0.2, 0.2, 0.5, 1.0])
        cells = [random.choice(usable) if random.random() < share else c for c in cells]
    return Column(kind=flavor.kind, cells=tuple(cells), type=chosen)


def draw_canaries(random: Random, *, rows: int, repeated: bool, nested: bool) -> Column:
    """Words of which each names its row, or a few of which are shared."""
    pool = [canary(random) for _ in range(rows)]
    if repeated:
        pool = [random.choice(pool[: max(2, rows // 8)]) for _ in range(rows)]
    kind = random.choice(list(NESTED)) if nested else "string"
    return Column(kind="category", cells=tuple(pool), type=kind)
