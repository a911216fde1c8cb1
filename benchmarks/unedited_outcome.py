"""What `init` then `anonymize`, unedited, publish of a table."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np

from benchmarks.outsider_tables import (
    Cells,
    KnownTable,
    parse_csv,
)

REASON = re.compile(r"^(?:role|drop) = .*?  # (.*)$")
BESIDE = ("insensitive", "weight")
"""Roles of columns that are published and are neither quasi nor sensitive."""


@dataclass(frozen=True, kw_only=True)
class Proposed:
    """What a policy does with each column, and what it asks for."""

    quasi: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()
    banded: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    """The columns that are not published, each with its reason."""
    k: int | None = None
    judged: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str) -> Self:
        """Read a proposed policy with its comments."""
        policy = tomllib.loads(text)
        columns = policy.get("columns", {})
        reasons = dict(_reasons(text))
        fates = {name: _fate(settings) for name, settings in columns.items()}
        required = policy.get("require", [])
        sizes = [part["k"] for part in required if part["model"] == "k-anonymity"]

        def with_fate(fate: str) -> tuple[str, ...]:
            return tuple(name for name in fates if fates[name] == fate)

        return cls(
            quasi=with_fate("quasi"),
            sensitive=with_fate("sensitive"),
            exact=with_fate("exact"),
            banded=with_fate("banded"),
            left_out={name: reasons.get(name, "") for name in with_fate("left out")},
            k=sizes[0] if sizes else None,
            judged=tuple(_requirement(part) for part in required if "k" not in part),
        )

    @property
    def beside(self) -> tuple[str, ...]:
        """The published columns that are neither quasi nor sensitive."""
        return (*self.exact, *self.banded)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What `init` and `anonymize` made of one table."""

    rows: int
    """Rows that were published from: a sample of a big table."""
    rows_in_file: int
    columns: int
    proposed: Proposed
    recall_as_quasi: float | None
    """The share of what outsiders know that is proposed as quasi-identifiers."""
    recall_protected: float | None
    """The share of what outsiders know that is not published as it is."""
    ncp: float | None = None
    rarest_column: str | None = None
    rarest_rows: int | None = None
    """The fewest rows that show one text in a column beside quasi and sensitive."""
    unique_with_exact: float | None = None
    """The share of rows unique by what is shown of quasi and exact columns."""
    seconds: float = 0.0
    failure: str | None = None

    @classmethod
    def read(cls, facts: Mapping[str, Any]) -> Self:
        """Read what was saved as JSON."""
        saved = dict(facts["proposed"])
        lists = {key: tuple(v) for key, v in saved.items() if isinstance(v, list)}
        return cls(**{**facts, "proposed": Proposed(**{**saved, **lists})})


class CommandError(Exception):
    """A command did not end well; the message is its last word."""


def measure(table: KnownTable, cells: Cells, *, rows: int, seconds: int) -> Outcome:
    """Propose a policy for a table, publish by it, and look at what came out."""
    sample = cells.sample(rows)
    started = time.monotonic()
    proposed, facts, failure = Proposed(), {}, None
    with TemporaryDirectory(prefix="sfumato-unedited-") as scratch:
        place = Path(scratch)
        sample.write(place / "data.csv")
        try:
            _sfumato("init", "data.csv", place=place, seconds=seconds)
            policy = (place / "policy.toml").read_text(encoding="utf-8")
            proposed = Proposed.of(policy)
            run = ("anonymize", "policy.toml", "--insecure-seed", "1")
            _sfumato(*run, place=place, seconds=seconds)
            facts = _published(place / "release", proposed)
        except CommandError as error:
            failure = str(error)
    return Outcome(
        rows=len(sample.records),
        rows_in_file=len(cells.records),
        columns=len(cells.names),
        proposed=proposed,
        recall_as_quasi=_share(table.quasi, proposed.quasi),
        recall_protected=_share(table.quasi, _protected(proposed)),
        seconds=round(time.monotonic() - started, 1),
        failure=failure,
        **facts,
    )


def _fate(settings: Mapping[str, Any]) -> str:
    role = "drop" if settings.get("drop") else settings["role"]
    if role in BESIDE:
        return "banded" if "bands" in settings else "exact"
    return role if role in ("quasi", "sensitive") else "left out"


def _reasons(text: str) -> Iterator[tuple[str, str]]:
    """Each column with the comment beside its role."""
    column = ""
    for line in text.splitlines():
        if line.startswith("[columns."):
            (column,) = tomllib.loads(line)["columns"]
        elif line.startswith("["):
            column = ""
        elif column and (match := REASON.match(line)):
            yield column, match[1]


def _requirement(required: Mapping[str, Any]) -> str:
    limits = ", ".join(
        f"{key} = {value}"
        for key, value in required.items()
        if key not in ("model", "on")
    )
    on = ", ".join(required.get("on", ()))
    return f"{required['model']} ({limits})" + (f" of {on}" if on else "")


def _protected(proposed: Proposed) -> tuple[str, ...]:
    return (*proposed.quasi, *proposed.left_out, *proposed.banded)


def _share(listed: Sequence[str], columns: Sequence[str]) -> float | None:
    if not listed:
        return None
    return len(set(listed) & set(columns)) / len(listed)


def _sfumato(*words: str, place: Path, seconds: int) -> None:
    try:
        run = subprocess.run(
            [sys.executable, "-m", "sfumato", *words],
            cwd=place,
            capture_output=True,
            text=True,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        raise CommandError(f"{words[0]}: not done after {seconds} s") from None
    if run.returncode:
        said = " ".join(run.stderr.split()) or "no message"
        raise CommandError(f"{words[0]} ended with {run.returncode}: {said[:300]}")


def _published(release: Path, proposed: Proposed) -> dict[str, Any]:
    manifest = json.loads((release / "manifest.json").read_text(encoding="utf-8"))
    cells = parse_csv((release / "data.csv").read_bytes()).columns
    column, rows = rarest({name: cells[name] for name in proposed.beside})
    shown = [cells[name] for name in (*proposed.quasi, *proposed.beside)]
    return {
        "ncp": manifest["utility"]["ncp"],
        "rarest_column": column,
        "rarest_rows": rows,
        "unique_with_exact": unique_share(shown),
    }


def rarest(columns: Mapping[str, Sequence[str]]) -> tuple[str | None, int | None]:
    """The column with the rarest text, and how many rows show it."""
    fewest = {
        name: int(np.unique(np.array(cells), return_counts=True)[1].min())
        for name, cells in columns.items()
    }
    if not fewest:
        return None, None
    column = min(fewest, key=lambda name: fewest[name])
    return column, fewest[column]


def unique_share(columns: Sequence[Sequence[str]]) -> float:
    """The share of rows that no other row equals in all of the columns."""
    codes = [np.unique(np.array(cells), return_inverse=True)[1] for cells in columns]
    counts = np.unique(np.stack(codes, axis=1), axis=0, return_counts=True)[1]
    return float((counts == 1).sum() / counts.sum())


def save(outcomes: Mapping[str, Outcome], path: Path) -> None:
    """Write outcomes as JSON."""
    facts = {name: asdict(outcome) for name, outcome in outcomes.items()}
    path.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def load(path: Path) -> dict[str, Outcome]:
    """Read outcomes that were saved."""
    saved = json.loads(path.read_text(encoding="utf-8"))
    return {name: Outcome.read(facts) for name, facts in saved.items()}
