"""DP-anonym compared with its peers, the effect of ε, and two count queries.

Figures 8.11 to 8.18 of Kuksina 2023, with the accounting corrected: the ε on the axis is
that of the whole tree. Usage, with the tables in SFUMATO_DATA or shared/data beside the
repository:

    python -m experiments.dp_anonym [--runs 20] [--out results.md]
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import sfumato as sf
from sfumato.io.read import read_source

ROOT = Path(__file__).resolve().parents[1]
KS = (2, 5, 10, 50, 100)
EPSILONS = (0.1, 0.3, 0.5, 1.0)
MEASURES = ("discernibility", "average_class_size", "ncp")
TITLES = {
    "discernibility": "DM",
    "average_class_size": "C_AVG",
    "ncp": "NCP",
}
WITH = {True: "classic", False: "basic"}
"""With hierarchies and without, by the thesis's words for Mondrian."""
PEERS = ("datafly", "mondrian basic", "mondrian classic", "top-down")
DEPTH = 7
NORMAL = 1.959964
"""The 97.5 % point of the normal distribution."""


def student(runs: int) -> float:
    """The 97.5 % point of Student's distribution, to three digits from five runs on."""
    z, free = NORMAL, max(runs - 1, 1)
    first = (z**3 + z) / (4 * free)
    second = (5 * z**5 + 16 * z**3 + 3 * z) / (96 * free**2)
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * free**3)
    return z + first + second + third


def line(
    kind: str, widths: Sequence[float], bottom: float, top: float
) -> dict[str, Any]:
    """Intervals with coded tails: a domain that does not come from the data."""
    spec = {"intervals": list(widths), "bottom": bottom, "top": top}
    return {"kind": kind, "hierarchy": spec}


def listed(*values: int) -> dict[str, Any]:
    """A few codes without levels between them and `*`."""
    return {"kind": "category", "hierarchy": {"tree": {"*": [str(v) for v in values]}}}


@dataclass(frozen=True)
class Study:
    """A table, its quasi-identifiers with declared domains, and a sensitive column."""

    name: str
    file: str
    quasi: Mapping[str, Mapping[str, Any]]
    sensitive: str
    files: Sequence[str] = field(default=())
    """Quasi-identifiers whose hierarchy is a file beside the table."""

    def source(self, data: Path) -> pa.Table:
        """The columns that matter."""
        table = read_source(data / self.file)
        return table.select([*self.quasi, *self.files, self.sensitive])

    def columns(self, data: Path, *, hierarchies: bool) -> dict[str, Any]:
        """The columns as a policy declares them."""
        place = (data / self.file).parent / "hierarchies"
        sections: dict[str, Any] = {
            name: {"role": "quasi", **settings} for name, settings in self.quasi.items()
        }
        for name in self.files:
            path = str(place / f"{name}.csv")
            sections[name] = {
                "role": "quasi",
                "hierarchy": {"file": path, "trust": True},
            }
        if not hierarchies:
            for section in sections.values():
                del section["hierarchy"]
        return sections | {self.sensitive: {"role": "sensitive"}}


STUDIES = (
    Study(
        "Adult",
        "adult/adult_clean_30162.csv.gz",
        {"age": line("integer", [5, 10, 20], 17, 90)},
        "salary-class",
        (
            "sex",
            "race",
            "marital-status",
            "education",
            "native-country",
            "workclass",
            "occupation",
        ),
    ),
    Study(
        "California housing",
        "cahousing/cahousing.csv",
        {
            "longitude": line("decimal", [0.25, 1, 4], -124.5, -114),
            "latitude": line("decimal", [0.25, 1, 4], 32.5, 42),
            "housing_median_age": line("integer", [8, 16, 32], 1, 52),
            "median_income": line("decimal", [0.5, 2, 8], 0, 15),
            "median_house_value": line(
                "integer", [10000, 60000, 240000], 14999, 500001
            ),
        },
        "ocean_proximity",
    ),
    Study(
        "Contraceptive method choice",
        "cmc/cmc.csv",
        {
            "age": line("integer", [5, 15], 16, 49),
            "Weducation": listed(1, 2, 3, 4),
            "children": line("integer", [2, 4, 8], 0, 16),
        },
        "method",
    ),
    Study(
        "Mammographic mass",
        "mgm/mgm_830.csv",
        {
            "bi_rads_assessment": listed(0, 1, 2, 3, 4, 5, 6, 55),
            "age": line("integer", [5, 25, 50], 18, 96),
            "shape": listed(1, 2, 3, 4),
            "margin": listed(1, 2, 3, 4, 5),
            "density": listed(1, 2, 3, 4),
        },
        "severity",
    ),
)


def released(
    study: Study, data: Path, source: pa.Table, algorithm: dict[str, Any], k: int
) -> sf.Release:
    """One release of a study; the algorithm's `epsilon` makes it a private one."""
    options = dict(algorithm)
    epsilon = options.pop("epsilon", None)
    hierarchies = options.pop("with_hierarchies", True)
    require: list[dict[str, Any]] = [{"model": "k-anonymity", "k": k}]
    if epsilon is not None:
        require.append({"model": "differential-privacy", "epsilon": epsilon})
    document = {
        "columns": study.columns(data, hierarchies=hierarchies),
        "require": require,
        "algorithm": options,
    }
    return sf.anonymize(source, sf.Policy.model_validate(document))


def private(epsilon: float, *, hierarchies: bool = True) -> dict[str, Any]:
    """All rows, so that figures compare with peers; no amplification then."""
    return {
        "name": "dp-anonym",
        "epsilon": epsilon,
        "sample": 1.0,
        "depth": DEPTH,
        "hierarchies": hierarchies,
    }


def peer(name: str) -> dict[str, Any]:
    """A peer by the thesis's name: basic has no hierarchies, classic has them."""
    first = name.split()[0]
    options: dict[str, Any] = {"name": first}
    if first == "mondrian":
        options |= {"cut": "widest", "with_hierarchies": name.endswith("classic")}
    return options


@dataclass(frozen=True)
class Mean:
    """A mean over runs, and half of its 95 % interval."""

    value: float
    half: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Mean:
        """From the values of single runs."""
        spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
        return cls(
            float(np.mean(values)), student(len(values)) * spread / sqrt(len(values))
        )

    def __str__(self) -> str:
        return f"{self.value:,.4g} ± {self.half:.2g}"

    def apart(self, other: Mean) -> bool:
        """Whether the two intervals do not touch."""
        return abs(self.value - other.value) > self.half + other.half


def utilities(
    study: Study,
    data: Path,
    source: pa.Table,
    algorithm: dict[str, Any],
    k: int,
    runs: int,
) -> dict[str, Mean]:
    """The measures of dp-anonym over so many runs."""
    made = [released(study, data, source, algorithm, k) for _ in range(runs)]
    return {m: Mean.of([r.utility[m] for r in made]) for m in MEASURES}


def study_lines(study: Study, data: Path, runs: int) -> Iterator[str]:
    """The section of one table."""
    source = study.source(data)
    yield f"## {study.name} ({source.num_rows:,} rows)\n"
    yield "| k | algorithm | " + " | ".join(TITLES[m] for m in MEASURES) + " |"
    yield "|---:|---|---:|---:|---:|"
    found: dict[tuple[bool, int, float], dict[str, Mean]] = {}
    for k in KS:
        for name in PEERS:
            measured = released(study, data, source, peer(name), k).utility
            cells = " | ".join(f"{measured[m]:,.4g}" for m in MEASURES)
            yield f"| {k} | {name} | {cells} |"
        for levels, epsilon in product(WITH, EPSILONS):
            algorithm = private(epsilon, hierarchies=levels)
            means = utilities(study, data, source, algorithm, k, runs)
            found[levels, k, epsilon] = means
            cells = " | ".join(str(means[m]) for m in MEASURES)
            yield f"| {k} | dp-anonym {WITH[levels]}, ε = {epsilon} | {cells} |"
    yield ""
    for levels, k in product(WITH, KS):
        ends = [found[levels, k, epsilon]["ncp"] for epsilon in EPSILONS]
        yield effect(f"{WITH[levels]}, k = {k}", ends[0], ends[-1])
    yield ""


def effect(title: str, low: Mean, high: Mean) -> str:
    """What a larger ε does to NCP, said plainly."""
    ends = f"from {low} at ε = {EPSILONS[0]} to {high} at ε = {EPSILONS[-1]}"
    if not low.apart(high):
        return f"- {title}: NCP goes {ends}; this cannot be told from noise."
    word = "falls" if high.value < low.value else "rises"
    return f"- {title}: NCP {word} {ends}."


def query_lines(data: Path) -> Iterator[str]:
    """Counts by race, sex and salary, in the United States and in the world."""
    study = STUDIES[0]
    source = study.source(data)
    tables = {
        "original": source,
        "dp-anonym": released(study, data, source, private(0.1), 3).table,
        "datafly": released(study, data, source, peer("datafly"), 3).table,
    }
    for title, country in (("the United States", "United-States"), ("the world", None)):
        yield f"## Adult: salary by race and sex in {title} (k = 3, ε = 0.1)\n"
        yield "| race, sex, salary | " + " | ".join(tables) + " |"
        yield "|---|" + "---:|" * len(tables)
        counted = {name: counts(table, country) for name, table in tables.items()}
        for key in sorted(counted["original"]):
            cells = " | ".join(f"{c.get(key, 0):,}" for c in counted.values())
            yield f"| {', '.join(key)} | {cells} |"
        yield ""


def counts(table: pa.Table, country: str | None) -> dict[tuple[str, ...], int]:
    """How many published rows say so, exactly: a coarser cell answers nothing."""
    names = ["race", "sex", "salary-class"]
    texts = pa.table({n: table.column(n).cast(pa.string()) for n in table.column_names})
    if country is not None:
        texts = texts.filter(pc.equal(texts.column("native-country"), country))
    found = texts.group_by(names).aggregate([([], "count_all")]).to_pylist()
    return {tuple(row[n] for n in names): row["count_all"] for row in found}


def main() -> None:
    """Make the tables and write them as one page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--out", type=Path, default=Path("dp-anonym.md"))
    asked = parser.parse_args()
    data = Path(os.environ.get("SFUMATO_DATA") or ROOT.parent / "shared" / "data")
    lines = [
        "# DP-anonym beside its peers\n",
        f"Means over {asked.runs} runs with 95 % intervals. ε is that of the whole tree "
        f"of depth {DEPTH}; all rows are used, so that DM compares.\n",
    ]
    for study in STUDIES:
        lines += study_lines(study, data, asked.runs)
    lines += query_lines(data)
    asked.out.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
