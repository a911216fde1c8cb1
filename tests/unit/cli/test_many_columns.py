"""Work grows with the number of columns, not with its square."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sfumato.cli import main

ROWS = 12
POLICY = """\
unlisted = "keep"
[data]
path = "{data}"
[columns]
age = {{ role = "quasi" }}
{columns}
[[require]]
model = "k-anonymity"
k = 2
[algorithm]
name = "{algorithm}"
[publish]
max_loss = 1.0
"""


def write(directory: Path, columns: int, role: str) -> None:
    names = [f"c{number}" for number in range(columns)]
    values = "x" if role == "insensitive" else "12345"
    lines = [
        ",".join(values[(row + place) % len(values)] for place in range(columns))
        for row in range(ROWS)
    ]
    rows = "".join(f"{20 + row % 3},{line}\n" for row, line in enumerate(lines))
    (directory / "table.csv").write_text(f"age,{','.join(names)}\n{rows}", "utf-8")
    listed = "".join(f'{name} = {{ role = "{role}" }}\n' for name in names)
    algorithm = "datafly" if role == "insensitive" else "harvest"
    policy = POLICY.format(data="table.csv", columns=listed, algorithm=algorithm)
    (directory / "policy.toml").write_text(policy, encoding="utf-8")


def calls(words: list[str]) -> int:
    """How many functions a command calls, resumed generators among them."""
    counted = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal counted
        counted += event == "call"

    sys.setprofile(count)
    try:
        code = main(words)
    finally:
        sys.setprofile(None)
    # A source need not meet what `check` asks for.
    assert code in (0, 1)
    return counted


def made(command: str, columns: int, directory: Path, role: str) -> int:
    place = directory / f"{command}-{columns}"
    place.mkdir()
    write(place, columns, role)
    policy, table = str(place / "policy.toml"), str(place / "table.csv")
    return calls(
        {
            "init": ["init", table, "-o", str(place / "proposed.toml")],
            "anonymize": ["anonymize", policy, "--out", str(place / "release")],
            "check": ["check", table, "--policy", policy],
        }[command]
    )


@pytest.mark.parametrize("role", ["insensitive", "quasi"])
@pytest.mark.parametrize("command", ["init", "anonymize", "check"])
def test_calls_grow_with_the_columns(tmp_path, command, role):
    made(command, 10, tmp_path, role)
    few, more, many = (made(command, n, tmp_path, role) for n in (50, 100, 200))
    # From 100 to 200 twice as many are added as from 50 to 100; of squares, four times.
    assert many - more < 3 * (more - few)
