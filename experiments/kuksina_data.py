"""Tables 8.1 to 8.4 of Kuksina 2023: the attributes of the four tables."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from experiments.kuksina_studies import STUDIES
from experiments.results import Finding, Listing, Result, Scale, judged

Range = tuple[float, float]
PRINTED: Mapping[str, tuple[int, Mapping[str, int | Range]]] = {
    "Adult": (
        30_162,
        {
            "sex": 2,
            "age": (17, 91),
            "race": 5,
            "marital-status": 7,
            "education": 16,
            "native-country": 41,
            "workclass": 7,
            "occupation": 14,
            "salary-class": 2,
        },
    ),
    "California housing": (
        20_640,
        {
            "longitude": (-124.35, -114.31),
            "latitude": (32.54, 41.95),
            "housing_median_age": (1, 52),
            "median_income": (0.49, 15),
            "median_house_value": (14_999, 500_001),
            "ocean_proximity": 3,
        },
    ),
    "Contraceptive method choice": (
        1473,
        {"age": (16, 49), "Weducation": 4, "children": (0, 16), "method": 3},
    ),
    "Mammographic mass": (
        830,
        {
            "bi_rads_assessment": 7,
            "age": (18, 96),
            "shape": 4,
            "margin": 5,
            "density": 4,
            "severity": 2,
        },
    ),
}
"""Rows, then the number of values of each attribute, or its lowest and highest."""
CLOSE = 0.01
"""Ends of a range may differ by this share of its width: some are printed rounded."""


def found(column: pa.ChunkedArray, printed: int | Range) -> int | Range:
    """What the file has in place of a printed entry."""
    if isinstance(printed, int):
        return len(pc.unique(column))
    ends = pc.min_max(pc.cast(column, pa.float64()))
    return float(ends["min"].as_py()), float(ends["max"].as_py())


def agrees(ours: int | Range, printed: int | Range) -> bool:
    """Whether numbers of values are equal, or ends of ranges as good as equal."""
    if isinstance(ours, int) or isinstance(printed, int):
        return ours == printed
    room = CLOSE * (printed[1] - printed[0])
    return all(abs(a - b) <= room for a, b in zip(ours, printed, strict=True))


def run(scale: Scale, name: str) -> Result:
    """All four tables; nothing is random."""
    del scale
    rows, met, other = [], [], []
    for study in STUDIES:
        source = study.source()
        count, columns = PRINTED[study.name]
        met.append(source.num_rows == count)
        for column, printed in columns.items():
            ours = found(source.column(column), printed)
            met.append(agrees(ours, printed))
            rows.append((study.name, column, _told(printed), _told(ours)))
            if not met[-1]:
                entry = f"{_told(ours)} (printed: {_told(printed)})"
                other.append(f"{column} of {study.name} has {entry}")
    return Result(
        name=name,
        title="Kuksina 2023, tables 8.1 to 8.4: the attributes",
        source="The four tables, all rows.",
        spread="Nothing here is random.",
        listings=(
            Listing("Attributes", ("table", "column", "thesis", "here"), tuple(rows)),
        ),
        findings=(
            Finding(
                "kuksina tables 8.1 to 8.4",
                judged(met),
                f"{sum(met)} of {len(met)} entries agree, the four numbers of rows among "
                f"them. Others: {'; '.join(other) or 'none'}.",
            ),
        ),
    )


def _told(entry: int | Range) -> str:
    if isinstance(entry, int):
        return f"{entry} values"
    return f"{entry[0]:g} to {entry[1]:g}"
