"""The four tables of Kuksina 2023, chapter 8, and releases of them by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

import sfumato as sf
from benchmarks.sources import directory
from sfumato.io.read import read_source

BASIC, CLASSIC = "mondrian basic", "mondrian classic"
"""Without hierarchies and with, by the thesis's words."""
PEERS = ("datafly", BASIC, CLASSIC, "top-down")
DETERMINISTIC = PEERS[:3]
"""Top-down begins at rows that are drawn at random."""
LEAVING_OUT = "datafly, k rows left out"
"""Sweeney's rule in full: up to k rows are left out where they alone break k."""
EPSILON = 0.5
DEPTH = 40
IN_ALL = f"dp-anonym, ε {EPSILON} in total"
PER_LEVEL = f"dp-anonym, ε {EPSILON} per level"
TEXT = "the thesis's text, not private"


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

    def source(self, rows: int | None = None) -> pa.Table:
        """The columns that matter; of all rows, or of the first ones."""
        table = read_source(directory() / self.file).slice(0, rows)
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


def policy(study: Study, algorithm: Mapping[str, Any], k: int) -> sf.Policy:
    """k-anonymity of a study; the algorithm's `epsilon` makes it a private one."""
    options = dict(algorithm)
    epsilon = options.pop("epsilon", None)
    hierarchies = options.pop("with_hierarchies", True)
    options.pop("leave_out", None)
    require: list[dict[str, Any]] = [{"model": "k-anonymity", "k": k}]
    if epsilon is not None:
        require.append({"model": "differential-privacy", "epsilon": epsilon})
    document = {
        "columns": study.columns(directory(), hierarchies=hierarchies),
        "require": require,
        "algorithm": options,
        "publish": {"max_loss": 1.0},
    }
    return sf.Policy.model_validate(document)


def released(
    study: Study, source: pa.Table, algorithm: Mapping[str, Any], k: int
) -> sf.Release:
    """One release of a study."""
    asked = policy(study, algorithm, k)
    if algorithm.get("leave_out"):
        most = min(k / source.num_rows * 1.000001, 1.0)
        asked = asked.with_setting("publish.max_suppressed", most)
    return sf.anonymize(source, asked)


def private(
    epsilon: float, depth: int, *, per_level: bool = False, hierarchies: bool = True
) -> dict[str, Any]:
    """All rows, so that figures compare with peers; no amplification then.

    ε is that of the whole tree, or, as the thesis counts, that of each level.
    """
    return {
        "name": "dp-anonym",
        "epsilon": epsilon * depth if per_level else epsilon,
        "sample": 1.0,
        "depth": depth,
        "hierarchies": hierarchies,
    }


def peer(name: str) -> dict[str, Any]:
    """A peer by the thesis's name: basic has no hierarchies, classic has them."""
    first = name.replace(",", "").split()[0]
    options: dict[str, Any] = {"name": first}
    if name == LEAVING_OUT:
        options["leave_out"] = True
    if first == "mondrian":
        options |= {"cut": "widest", "with_hierarchies": name == CLASSIC}
    return options
