"""Figures 1 to 4 of Boger 2020: what its example tables have, by our checks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import sfumato as sf
from benchmarks.sources import directory
from experiments.results import Finding, Listing, Result, Scale, Verdict, judged
from sfumato.data.seeds import Seed
from sfumato.io.read import read_source

FIGURE_1 = {
    "group": ["20-30 Bachelors"] * 3 + ["30-40 Doctorate"] * 3,
    "occupation": ["Sales"] * 3 + ["Prof-specialty", "Exec-managerial", "Armed-Forces"],
}
FIGURE_2 = {
    "group": ["20-30 Bachelors"] * 4 + ["30-40 Doctorate"] * 4,
    "occupation": [
        *("Sales", "Sales", "Sales", "Craft-repair"),
        *("Sales", "Armed-Forces", "Prof-specialty", "Sales"),
    ],
}
FIGURE_3 = {
    "age": [21, 22, 24, 30],
    "education": ["Bachelors", "Bachelors", "Doctorate", "Bachelors"],
    "occupation": ["Sales", "Armed-Forces", "Sales", "Craft-repair"],
}
PRINTED = {"race": 5, "education": 16, "sex": 2, "age": 74, "occupation": 14}
REQUIRED = ["k-anonymity", "l-diversity", "theta-diversity"]


def held(cells: dict[str, list[str]], k: int, l: int, theta: float) -> list[bool]:
    """Whether k-anonymity, l-diversity and θ-diversity hold, in this order."""
    require = [
        {"model": "k-anonymity", "k": k},
        {"model": "l-diversity", "l": l},
        {"model": "theta-diversity", "theta": theta},
    ]
    checked = sf.check(
        pa.table(cells), quasi=["group"], sensitive="occupation", require=require
    )
    return [bool(verdict["holds"]) for verdict in checked.verdicts]


def swapped() -> tuple[bool, bool]:
    """Whether swapping figure 3 keeps the identifiers, and the values as a whole."""
    table = pa.table(FIGURE_3)
    released = sf.anonymize(
        table,
        quasi=["age", "education"],
        sensitive="occupation",
        require=[
            {"model": "group-size", "k": 4},
            {"model": "l-diversity", "l": 3},
            {"model": "theta-diversity", "theta": 0.5},
        ],
        algorithm="klt",
        operator="swap",
        seed=Seed.guessable(1),
    ).table
    same = [
        sorted(released.select([*names]).to_pylist(), key=str)
        == sorted(table.select([*names]).to_pylist(), key=str)
        for names in (("age", "education"), ("occupation",))
    ]
    return same[0], same[1]


def schema_kept() -> tuple[bool, int]:
    """Whether a swapped table has types and values of its source; cells a tree changes."""
    source = read_source(directory() / "adult" / "adult_train_32561.csv.gz")
    source = source.select(["age", "education", "occupation"]).slice(0, 2000)
    swap = sf.anonymize(
        source,
        quasi=["age", "education"],
        sensitive="occupation",
        require=[{"model": "group-size", "k": 5}],
        algorithm="mondrian",
        operator="swap",
        seed=Seed.guessable(1),
    ).table
    cut = sf.anonymize(
        source,
        quasi=["age", "education"],
        sensitive="occupation",
        k=5,
        algorithm="mondrian",
        seed=Seed.guessable(1),
    ).table
    known = set(source.column("age").cast(pa.string()).to_pylist())
    other = sum(str(cell) not in known for cell in cut.column("age").to_pylist())
    return swap.schema.equals(source.schema), other


def run(scale: Scale, name: str) -> Result:
    """All examples; they are small."""
    del scale
    source = read_source(directory() / "adult" / "adult_train_32561.csv.gz")
    counts = {c: len(pc.unique(source.column(c))) for c in PRINTED}
    rows = [(c, str(PRINTED[c]), str(counts[c])) for c in PRINTED]
    listing = Listing(
        "Distinct values of Adult", ("column", "paper", "here"), tuple(rows)
    )
    return Result(
        name=name,
        title="Boger 2020, figures 1 to 4: the examples",
        source=f"The printed tables; Adult train, {source.num_rows:,} rows.",
        spread="Only the swap is random.",
        listings=(listing,),
        findings=(*_findings(counts), _correlation(source)),
    )


def _findings(counts: dict[str, int]) -> Iterator[Finding]:
    told = "{} and {} by `sfumato check`.".format
    word = {True: "met", False: "not met"}
    k, l, _ = held(FIGURE_1, 3, 2, 1.0)
    yield Finding(
        "boger figure 1",
        judged([k and not l]),
        told(f"3-anonymity {word[k]}", f"2-diversity {word[l]}"),
    )
    k, l, theta = held(FIGURE_2, 3, 2, 0.5)
    yield Finding(
        "boger figure 2",
        judged([k and l and not theta]),
        told(f"3-anonymity and 2-diversity {word[k and l]}", f"θ = 0.5 {word[theta]}"),
    )
    identifiers, values = swapped()
    yield Finding(
        "boger figure 3",
        judged([identifiers and values]),
        "`klt` and `swap` with K = 4, L = 3, θ = 0.5 release the group: identifiers "
        f"{'kept' if identifiers else 'changed'}, values "
        f"{'kept as a whole' if values else 'changed'}.",
    )
    yield _counts_finding(counts)
    same, other = schema_kept()
    yield Finding(
        "boger abstract and conclusion, workflow",
        Verdict.HOLDS if same and other else Verdict.FAILS,
        f"`swap` keeps column names and types; of 2,000 ages generalized by Mondrian (k = "
        f"5), {other:,} are no longer single ages.",
    )


def association(source: pa.Table, name: str, other: str) -> float:
    """Cramér's V of two columns, corrected for the bias of many values (Bergsma 2013)."""
    left, right = (
        np.asarray(source.column(c).combine_chunks().dictionary_encode().indices)
        for c in (name, other)
    )
    counts = np.zeros((left.max() + 1, right.max() + 1))
    np.add.at(counts, (left, right), 1)
    total, (r, c) = counts.sum(), counts.shape
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / total
    phi = float(((counts - expected) ** 2 / expected).sum() / total)
    phi = max(phi - (r - 1) * (c - 1) / (total - 1), 0.0)
    sides = [n - (n - 1) ** 2 / (total - 1) for n in (r, c)]
    return float(np.sqrt(phi / (min(sides) - 1)))


def _correlation(source: pa.Table) -> Finding:
    columns = [c for c in PRINTED if c != "occupation"]
    found = {c: association(source, c, "occupation") for c in columns}
    told = ", ".join(f"{c} {v:.3f}" for c, v in found.items())
    highest = sorted(found, key=lambda c: -found[c])[:2]
    return Finding(
        "boger section 4.7, correlation",
        judged([c in highest for c in ("education", "sex")]),
        f"Cramér's V with occupation, corrected for bias: {told}.",
    )


def _counts_finding(counts: dict[str, int]) -> Finding:
    other = [
        f"{counts[c]} values of {c} (printed: {PRINTED[c]})"
        for c in counts
        if counts[c] != PRINTED[c]
    ]
    return Finding(
        "boger figure 4",
        judged([counts[c] == PRINTED[c] for c in counts]),
        f"The file has {', '.join(other)}: one age between 17 and 90 does not occur, and "
        "`?` is an occupation too."
        if other
        else "The same.",
    )
