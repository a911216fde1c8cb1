"""Writes docs/reproduction.md: a row for every claim, from what experiments found."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from experiments.claims.claim import Claim, Document
from experiments.files import PAGES, ROOT
from experiments.inventory import DOCUMENTS, claims
from experiments.results import Finding, Verdict
from experiments.times import kept

PAGE = ROOT / "docs" / "reproduction.md"
NOT_RUN = "not run"
SHOWN = 10
"""How many of the longest experiments the page names."""
HEAD = """# The papers, reproduced or refuted

Sfumato implements the systems of five documents. This page has a row for each of their
numbered tables and figures that report a result, and for each claim of their abstracts
and conclusions: what the document says, in our words; what we measured with this code
on the same public tables; and a verdict. Where a document prints a figure without
numbers, the statement in its text is what was tried. Where a document only asks, the
row begins with *Open question*; *holds* then stands for yes, in this code.

`python -m experiments NAME` repeats one row, `make experiments` all, `--quick` in
small, `--jobs 2` two at a time. Each writes its table as CSV and Markdown and its
figure as SVG to `experiments/out`, and refreshes this page. Where the tables must lie
is said in [CONTRIBUTING](../CONTRIBUTING.md#tests). Intervals are 95 % intervals of a mean
unless a page says otherwise.
"""
HEADINGS: Mapping[str, str] = MappingProxyType({"diva": "DIVA", "tgc": "TGC"})
PAGES_OF_SITE = """```{toctree}
:hidden:
:glob:

reproduction/*
```"""


def findings(directory: Path = PAGES) -> dict[str, Finding]:
    """What experiments found, by claim; each by the experiment that its claim names."""
    named = {claim.name: claim.experiment for claim in claims()}
    found = {}
    for path in sorted(directory.glob("*.json")):
        for claim, said in json.loads(path.read_text(encoding="utf-8")).items():
            if named.get(claim, path.stem) == path.stem:
                found[claim] = Finding(claim, Verdict(said["verdict"]), said["ours"])
    return found


def refresh() -> None:
    """Write the page anew from all findings."""
    PAGE.write_text(text(findings()), encoding="utf-8")


def text(found: Mapping[str, Finding]) -> str:
    """The page."""
    lines = [HEAD, *_counts(found)]
    for document in DOCUMENTS:
        lines += _section(document, found)
    lines += _times(kept())
    lines.append(PAGES_OF_SITE)
    return "\n".join(lines).rstrip() + "\n"


def _times(spent: Mapping[str, float]) -> Iterator[str]:
    """What all experiments take, and those that take longest."""
    longest = sorted(spent, key=lambda name: -spent[name])[:SHOWN]
    yield "## Time\n"
    yield (
        f"The {len(spent)} experiments take {sum(spent.values()) / 60:.0f} minutes of CPU "
        "in all, summed over their last runs on a machine of two cores that had other work "
        "to do as well. Two at a time, that is about half as many minutes by the clock on "
        "idle cores. `docs/reproduction/times.csv` has them all. The longest:\n"
    )
    yield "| experiment | seconds of CPU |"
    yield "|---|---:|"
    for name in longest:
        yield f"| [{name}](reproduction/{name}.md) | {spent[name]:,.0f} |"
    yield ""


def _counts(found: Mapping[str, Finding]) -> Iterator[str]:
    """How many claims have which verdict, by document."""
    kinds = [*Verdict, NOT_RUN]
    yield "| document | " + " | ".join(kinds) + " |"
    yield "|---|" + "---:|" * len(kinds)
    for document in DOCUMENTS:
        counts = Counter(_verdict(claim, found) for claim in document.claims)
        cells = " | ".join(str(counts[kind]) for kind in kinds)
        yield f"| [{document.title}](#{document.key}) | {cells} |"
    yield ""


def _verdict(claim: Claim, found: Mapping[str, Finding]) -> str:
    return str(found[claim.name].verdict) if claim.name in found else NOT_RUN


def _section(document: Document, found: Mapping[str, Finding]) -> Iterator[str]:
    yield f"## {HEADINGS.get(document.key, document.key.capitalize())}\n"
    yield f"{document.title}\n"
    yield "| where | published | here | verdict |"
    yield "|---|---|---|---|"
    for claim in document.claims:
        where = claim.name.removeprefix(document.key + " ")
        link = f"reproduction/{claim.experiment}.md"
        ours = found[claim.name].ours if claim.name in found else "–"
        if claim.name in found:
            where = f"[{where}]({link})"
        cells = [where, claim.says, ours, f"**{_verdict(claim, found)}**"]
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    yield ""
