"""Run what a page of the documentation shows, from top to bottom in one directory.

Blocks of code run in the order of the page:

- `console`: each line that begins with `$ ` is a command; the lines below it are what
  it prints. A line `…` stands for any lines.
- `sh`: commands; nothing is said about what they print.
- `python`: statements; all blocks of a page share their names.

A comment above a block says what else it is: `<!-- file: NAME -->` writes it to a file,
`<!-- adds to: NAME -->` adds it to the end of a file, `<!-- ends with: 3 -->` names the
exit code of its last command, `<!-- drawn: REASON -->` says that what it prints depends
on a random draw (only the number of lines is compared), and `<!-- tested by: FILE -->`
leaves it to a test of its own.

Usage: python -m tools.run_page PAGE [DIRECTORY]; it writes what commands print to the page.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

BLOCK = re.compile(
    r"(?:^<!-- (?P<kind>file|adds to|ends with|drawn|tested by): (?P<said>[^\n]*?) -->\n)?"
    r"^```(?P<language>[\w-]+)\n(?P<text>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
NUMBER = re.compile(r"[+-]?\d[\d,.]*")
ANY = "…"


@dataclass(frozen=True)
class Block:
    """A block of code of a page, and what the comment above it says."""

    language: str
    text: str
    kind: str | None
    said: str | None
    span: tuple[int, int]

    @property
    def ends_with(self) -> int:
        """The exit code of the last command."""
        return int(self.said or 0) if self.kind == "ends with" else 0


@dataclass(frozen=True)
class Printed:
    """A command of a page, what the page says it prints, and what it printed."""

    command: str
    claimed: str
    printed: str
    drawn: bool = False

    @property
    def agrees(self) -> bool:
        """Whether both are the same, apart from numbers and blanks."""
        if self.drawn:
            return len(_lines(self.claimed)) == len(_lines(self.printed))
        return _follows(_lines(self.claimed), _lines(self.printed))


def blocks(page: str) -> Iterator[Block]:
    """The blocks of code of a page, in order."""
    for found in BLOCK.finditer(page):
        yield Block(
            found["language"],
            found["text"],
            found["kind"],
            found["said"],
            found.span("text"),
        )


def run(page: str, place: Path) -> Iterator[tuple[Block, list[Printed]]]:
    """Run the blocks of a page in a directory; an error says which block it was."""
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks(page):
        if block.kind in {"file", "adds to"}:
            _write(block, place / str(block.said))
        elif block.kind != "tested by":
            yield block, _run_block(block, place, names)


def _write(block: Block, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a" if block.kind == "adds to" else "w", encoding="utf-8") as file:
        file.write(block.text)


def _run_block(block: Block, place: Path, names: dict[str, Any]) -> list[Printed]:
    if block.language == "python":
        _run_python(block, place, names)
    if block.language == "sh":
        _run_command(block.text, place, block.ends_with)
    if block.language != "console":
        return []
    commands = list(_commands(block.text))
    codes = [0] * (len(commands) - 1) + [block.ends_with]
    return [
        Printed(
            command,
            claimed,
            _run_command(command, place, code),
            drawn=block.kind == "drawn",
        )
        for (command, claimed), code in zip(commands, codes, strict=True)
    ]


def _run_python(block: Block, place: Path, names: dict[str, Any]) -> None:
    before = Path.cwd()
    os.chdir(place)
    try:
        exec(compile(block.text, "<page>", "exec"), names)
    finally:
        os.chdir(before)


def _run_command(command: str, place: Path, code: int) -> str:
    """Run commands in a shell and return what they print."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        ["bash", "-c", command],
        cwd=place,
        env={**os.environ, "PATH": path, "COLUMNS": "120"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if run.returncode != code:
        raise AssertionError(f"{command}\nended with {run.returncode}:\n{run.stdout}")
    return run.stdout


def _commands(text: str) -> Iterator[tuple[str, str]]:
    """Each command of a console, and what is below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        match = re.match(r"(?:.*\\\n)*.*\n", part)
        assert match is not None
        yield match[0].rstrip("\n"), part[match.end() :]


def _lines(text: str) -> list[str]:
    masked = (" ".join(NUMBER.sub("#", line).split()) for line in text.splitlines())
    return [line for line in masked if line]


def _follows(claimed: list[str], printed: list[str]) -> bool:
    """Whether lines are as claimed, where `…` stands for any of them."""
    if not claimed:
        return not printed
    if claimed[0] != ANY:
        return claimed[0] == (printed or [""])[0] and _follows(claimed[1:], printed[1:])
    return any(_follows(claimed[1:], printed[n:]) for n in range(len(printed) + 1))


def renewed(page: str, place: Path) -> str:
    """The page with what its commands print now, except where `…` shortens it."""
    parts, end = [], 0
    for block, outputs in run(page, place):
        if outputs:
            parts += [page[end : block.span[0]], *(_shown(each) for each in outputs)]
            end = block.span[1]
    return "".join([*parts, page[end:]])


def _shown(printed: Printed) -> str:
    short = ANY in printed.claimed.splitlines()
    text = printed.claimed if short else printed.printed
    return f"$ {printed.command}\n{text}"


def main(page: str, directory: str | None = None) -> None:
    """Run a page and renew what its commands print."""
    path = Path(page)
    with TemporaryDirectory() as aside:
        place = Path(directory or aside)
        place.mkdir(parents=True, exist_ok=True)
        path.write_text(renewed(path.read_text("utf-8"), place), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
