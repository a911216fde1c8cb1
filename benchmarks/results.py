"""The results of a run as one JSON document and one Markdown page."""

from __future__ import annotations

import json
import math
import platform
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.case import Case

PACKAGES = ("sfumato", "numpy", "numba", "pyarrow", "pandas", "duckdb")
PEERS = ("anonypy", "anjana", "pycanon")
RATIOS = ("cpu_seconds", "wall_seconds", "peak_megabytes")
HEADER = (
    "| | CPU s | wall s | peak MB | CPU × | wall × | memory × | NCP | facts |\n"
    "|---|---:|---:|---:|---:|---:|---:|---:|---|\n"
)


@dataclass(frozen=True)
class Line:
    """A case with its figures, or with the reason why there are none."""

    case: Case
    figures: dict[str, Any] | None
    reason: str = ""


def document(lines: Sequence[Line], *, quick: bool) -> dict[str, Any]:
    """Everything about a run, in plain data."""
    return {
        "quick": quick,
        "machine": machine(),
        "versions": versions(),
        "results": [
            {
                **asdict(line.case),
                "figures": line.figures,
                "reason": line.reason,
                "ratios": ratios(line, lines),
            }
            for line in lines
        ],
        "growth": {
            group: exponent(members)
            for group, members in grouped(lines)
            if exponent(members) is not None
        },
    }


def machine() -> dict[str, Any]:
    """What it was measured on."""
    return {
        "system": platform.system(),
        "processor": _processor(),
        "cores": len(_cores()),
        "python": platform.python_version(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.machine()


def _cores() -> set[int]:
    import os

    return os.sched_getaffinity(0)


def versions() -> dict[str, str]:
    """The versions of what was measured."""
    return {name: _version(name) for name in (*PACKAGES, *PEERS)}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def ratios(line: Line, lines: Sequence[Line]) -> dict[str, float]:
    """Each figure as a multiple of that of the group's reference."""
    reference = next(
        (o for o in lines if o.case.group == line.case.group and o.case.reference), None
    )
    if line.figures is None or reference is None or reference.figures is None:
        return {}
    own, base = line.figures, reference.figures
    return {name: own[name] / base[name] for name in RATIOS if base[name] > 0}


def exponent(lines: Sequence[Line]) -> float | None:
    """The power of the rows with which CPU time grows, by least squares of logs."""
    points = [
        (math.log(line.case.rows), math.log(line.figures["cpu_seconds"]))
        for line in lines
        if line.case.rows and line.figures is not None
    ]
    if len(points) < 2:
        return None
    return statistics.linear_regression(*zip(*points, strict=True)).slope


def grouped(lines: Sequence[Line]) -> Iterator[tuple[str, list[Line]]]:
    """The lines of each group."""
    for group, members in groupby(lines, key=lambda line: line.case.group):
        yield group, list(members)


def page(lines: Sequence[Line], *, quick: bool) -> str:
    """The Markdown page."""
    about = machine()
    packages = ", ".join(f"{name} {number}" for name, number in versions().items())
    parts = [
        "# Measured\n",
        f"{about['processor']}, {about['cores']} cores, Python {about['python']}; "
        f"{packages}.",
        "Each case ran in a process of its own; times are the least of its runs, "
        "memory is the peak of the whole process. × is a multiple of the line in bold.",
        *(["A quick run: samples and smaller tables.\n"] if quick else []),
        *_sections(lines),
    ]
    return "\n".join(parts) + "\n"


def _sections(lines: Sequence[Line]) -> Iterator[str]:
    for group, members in grouped(lines):
        rows = "\n".join(_row(line, ratios(line, lines)) for line in members)
        yield f"\n## {group[0].upper()}{group[1:]}\n\n{HEADER}{rows}"
        power = exponent(members)
        if power is not None:
            yield f"\nCPU seconds grow as rows to the power of {power:.2f}."


def _row(line: Line, multiples: dict[str, float]) -> str:
    label = f"**{line.case.label}**" if line.case.reference else line.case.label
    if line.figures is None:
        return f"| {label} | | | | | | | | {line.reason} |"
    figures, facts = line.figures, dict(line.figures["facts"])
    ncp = facts.pop("ncp", None)
    cells = [
        label,
        f"{figures['cpu_seconds']:.3f}",
        f"{figures['wall_seconds']:.3f}",
        f"{figures['peak_megabytes']:.0f}",
        *(f"{multiples[name]:.2f}" if name in multiples else "" for name in RATIOS),
        f"{ncp:.4f}" if ncp is not None else "",
        ", ".join(f"{_words(key)} {_number(value)}" for key, value in facts.items()),
    ]
    return f"| {' | '.join(cells)} |"


def _words(name: str) -> str:
    return name.replace("_", " ")


def _number(value: Any) -> str:
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"


def save(lines: Sequence[Line], directory: Path, *, quick: bool) -> None:
    """Write `latest.json` and `latest.md`."""
    directory.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document(lines, quick=quick), indent=2, ensure_ascii=False)
    (directory / "latest.json").write_text(text + "\n", encoding="utf-8")
    (directory / "latest.md").write_text(page(lines, quick=quick), encoding="utf-8")
