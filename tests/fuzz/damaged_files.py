"""Damaged CSV files, and identifiers that must never be published whatever they become.

Quotation marks are added, removed, moved and doubled, line ends are changed, also that
of the header, and cells get delimiters. `python -m tests.fuzz.damaged_files --minutes 30`
goes on until the time is over.
"""

from __future__ import annotations

import argparse
import re
import string
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import sfumato as sf
from sfumato.errors import DataError, InfeasibleError, PolicyError, RefusedError
from sfumato.io.csv_grammar import ALLOWED
from sfumato.io.databases import database_source, read_database
from sfumato.io.read import read_source

FORMATS = [
    *["csv", "csv", "csv", "csv.gz", "csv.zst", "parquet", "arrow"],
    *["sav", "dta", "xpt", "xlsx", "sqlite", "duckdb"],
]
DATABASES = {"sqlite", "duckdb"}
ENGINES = ["memory", "memory", "duckdb"]
OUT_OF_CORE = {"csv", "parquet", "arrow"}
ALGORITHMS = ["mondrian", "mondrian", "datafly", "k-member"]
OPERATORS = ["generalize", "generalize", "suppress", "swap", "anatomize"]
EXACT = {"swap", "anatomize"}
"""Operators with which quasi-identifiers stay exact."""
NAME = re.compile("[A-Za-z]{12}")
LINE_END = re.compile(r"\r\n?|\n")
ENDS = ["\n", "\n", "\r\n", "\r"]
REFUSALS = (DataError, InfeasibleError, PolicyError, RefusedError)


class Draft:
    """A well-formed file about people whose names occur nowhere else."""

    def __init__(self, random: Random) -> None:
        self.random = random
        rows = random.choice([6, 12, 40])
        self.names = [_word(random) for _ in range(rows)]
        self.name_first = random.random() < 0.6
        end = random.choice(ENDS)
        lines = [self._header(), *map(self._row, self.names)]
        self.text = end.join(lines) + random.choice([end, ""])

    def _header(self) -> str:
        return "name,age,ill,note" if self.name_first else "age,name,ill,note"

    def _row(self, name: str) -> str:
        age = str(20 + self.random.randrange(4))
        ill = self.random.choice(["flu", "cold", "gout"])
        note = self.random.choice(["none", "a b", "x"])
        if self.name_first and self.random.random() < 0.3:
            # Elsewhere, marks that move to another delimiter would move the name too.
            note = '"see, above"'
        cells = [name, age, ill, note] if self.name_first else [age, name, ill, note]
        return ",".join(self._quoted(cell) for cell in cells)

    def _quoted(self, cell: str) -> str:
        return f'"{cell}"' if self.random.random() < 0.2 and '"' not in cell else cell

    def damaged(self) -> str:
        """The text after one to four accidents."""
        text = self.text
        for _ in range(self.random.choice([1, 2, 2, 2, 3, 4])):
            text = self.random.choice(ACCIDENTS)(self.random, text)
        return text


def _word(random: Random) -> str:
    return "".join(random.choices(string.ascii_letters, k=12))


def _add(random: Random, text: str) -> str:
    at = random.randrange(len(text) + 1)
    return text[:at] + '"' + text[at:]


def _add_at_cell(random: Random, text: str) -> str:
    """Open a cell that has no marks, or close one."""
    borders = [at for at, sign in enumerate(text) if sign in ",\n"]
    at = random.choice(borders) + random.choice([0, 1])
    return text[:at] + '"' + text[at:]


def _remove(random: Random, text: str) -> str:
    marks = [at for at, sign in enumerate(text) if sign == '"']
    if not marks:
        return text
    at = random.choice(marks)
    return text[:at] + text[at + 1 :]


def _move(random: Random, text: str) -> str:
    return _add_at_cell(random, _remove(random, text))


def _double(random: Random, text: str) -> str:
    return text.replace('"', '""', random.choice([1, 2, -1]))


def _put_delimiter(random: Random, text: str) -> str:
    """Put a delimiter into a name, or into a cell after it.

    One before a name would move it, and no reader could know.
    """
    name = random.choice([*NAME.finditer(text), None])
    if name is None:
        return text
    end = LINE_END.search(text, name.end())
    at = random.randint(name.start() + 1, end.start() if end else len(text))
    return text[:at] + "," + text[at:]


def _change_end(random: Random, text: str) -> str:
    ends = [at for at, sign in enumerate(text) if sign == "\n"]
    if not ends:
        return text
    at = random.choice(ends)
    return (
        text[:at] + random.choice(["", "\r", "\r\n", "\n\n", "\r\r\n"]) + text[at + 1 :]
    )


def _join(random: Random, text: str) -> str:
    """Open the last cell of a row, and close that of a later one."""
    ends = [at for at, sign in enumerate(text) if sign == "\n"]
    if len(ends) < 3:
        return text
    first, last = sorted(random.sample(ends[1:], 2))
    opened = text.rfind(",", 0, first) + 1
    return text[:opened] + '"' + text[opened:last] + '"' + text[last:]


ACCIDENTS = [
    _join,
    _add,
    _add_at_cell,
    _add_at_cell,
    _remove,
    _move,
    _double,
    _put_delimiter,
    _change_end,
]


def policy_of(random: Random, format: str, engine: str) -> sf.Policy:
    """A policy that leaves out names, and notes or not."""
    out_of_core = engine == "duckdb"
    operator = "generalize" if out_of_core else random.choice(OPERATORS)
    number = random.choice([1, 2, 3])
    limit: dict[str, Any] = {"l": 2} if operator in EXACT else {"k": number}
    note: dict[str, Any] = {"drop": "note"} if random.random() < 0.6 else {}
    note = note or {"insensitive": "note", "keep_as_is": "note"}
    return sf.Policy.build(
        columns=["name", "age", "ill", "note"],
        identifier="name",
        quasi="age",
        sensitive="ill",
        algorithm="mondrian" if out_of_core else random.choice(ALGORITHMS),
        operator=operator,
        max_suppressed=0.5,
        delimiter=random.choice([None, ","]),
        format=None if format in DATABASES else format,
        **limit,
        **note,
    )


def leaked(seed: str, number: int) -> str | None:
    """How a damaged file ends: what leaked, or None, or "" where it was refused."""
    random = Random(f"{seed}:{number}")
    draft = Draft(random)
    engine, format = random.choice(ENGINES), random.choice(FORMATS)
    if engine == "duckdb" and format not in OUT_OF_CORE:
        format = "csv"
    policy = policy_of(random, format, engine)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        path = directory / "t.csv"
        text = draft.damaged()
        path.write_bytes(text.encode())
        table = f"{format}:///{directory}/t.db#t" if format in DATABASES else None
        try:
            release = sf.anonymize(path, policy, engine=engine, insecure_seed=1)
            release.save(directory / "out", to=table)
        except REFUSALS as refusal:
            # Errors name columns, and those of a header that goes on are cells.
            header = LINE_END.split(text, maxsplit=1)[0]
            secret = [name for name in draft.names if name not in header]
            return "in the refusal" if _shows(secret, str(refusal)) else ""
        return _published(draft.names, directory, table)


def _published(names: Sequence[str], directory: Path, table: str | None) -> str | None:
    """The name of what was published with one of the names in it."""
    database = database_source(table)
    if database is not None and _shows(names, str(read_database(database).to_pydict())):
        return "table"
    for file in sorted([*(directory / "out").iterdir(), *directory.glob("t.db*")]):
        if file.is_file() and _shows(names, _content(file)):
            return file.name
    return None


def _content(file: Path) -> str:
    """All bytes of a file as text, unpacked, and its cells where it is a table."""
    text = file.read_bytes().decode("latin-1")
    if file.suffix == ".xlsx":
        with zipfile.ZipFile(file) as book:
            text += "".join(book.read(n).decode("latin-1") for n in book.namelist())
    if file.name.startswith(("data.", "sensitive.")):
        text += str(read_source(file, named=True, breaks=ALLOWED).to_pydict())
    return text


def _shows(names: Sequence[str], text: str) -> bool:
    return any(name in text for name in names)


def main(words: Sequence[str]) -> int:
    """Damage files until the time is over; returns 1 where a name is published."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", default=str(time.time_ns()))
    options = parser.parse_args(words)
    end, number, endings = time.monotonic() + 60 * options.minutes, 0, Counter[str]()
    leaks: list[str] = []
    while time.monotonic() < end and not leaks:
        ending = leaked(options.seed, number)
        if ending:
            leaks.append(f"{options.seed}:{number} ({ending})")
        endings["refused" if ending == "" else "published"] += 1
        number += 1
    print(f"{number:,} damaged files {dict(endings)}; names published: {leaks}")
    return bool(leaks)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
