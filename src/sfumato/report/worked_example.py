"""A worked example in pandas, written for the columns that a release has."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

READ = {
    "csv": "data = pd.read_csv({file}, {sep}dtype=str, keep_default_na=False)",
    "parquet": 'data = pd.read_parquet({file}).astype("string").fillna("")',
    "arrow": 'data = pd.read_feather({file}).astype("string").fillna("")',
    "xlsx": "# pandas reads Excel files with openpyxl.\n"
    "data = pd.read_excel({file}, dtype=str, keep_default_na=False)",
    "sav": "# pandas reads SPSS files with pyreadstat.\n"
    'data = pd.read_spss({file}).astype("string").fillna("")',
    "dta": 'data = pd.read_stata({file}).astype("string").fillna("")',
    "xpt": 'data = pyreadstat.read_xport({file})[0].astype("string").fillna("")',
}
IMPORTS = {"xpt": "import pandas as pd\nimport pyreadstat"}
"""What a format needs beyond pandas, which reads no transport files of version 8."""
NUMBERS = """
# Numbers: an interval has a lowest and a highest number; * has neither.
ends = data[{name}].str.extract(r"^\\[?([^,\\])]+)(?:, ([^\\])]+))?")
low = pd.to_numeric(ends[0], errors="coerce")
high = pd.to_numeric(ends[1], errors="coerce").fillna(low)
print("The mean lies between", low.mean(), "and", high.mean())
print("A guess by the middles:", ((low + high) / 2).mean())"""
BOUNDS = """
# Numbers: two columns hold the lowest and the highest number.
low = pd.to_numeric(data[{low}], errors="coerce")
high = pd.to_numeric(data[{high}], errors="coerce")
print("The mean lies between", low.mean(), "and", high.mean())
print("A guess by the middles:", ((low + high) / 2).mean())"""
DATES = '''
# Dates: a month, a quarter, a year or a decade is all its days; * is any day.
def days(cell):
    """The first and the last day that a cell may stand for."""
    if cell in ("", "*"):
        return pd.NaT, pd.NaT
    if cell.startswith("["):
        first, last = cell.strip("[]").split(", ")
        return pd.Timestamp(first), pd.Timestamp(last)
    if cell.endswith("s"):
        year = int(cell[:-1])
        return pd.Timestamp(year, 1, 1), pd.Timestamp(year + 9, 12, 31)
    period = pd.Period(cell.replace("-Q", "Q"))
    return period.start_time, period.end_time.normalize()


ends = pd.DataFrame([days(cell) for cell in data[{name}]], columns=["first", "last"])
print("Rows that show more than *:", ends["first"].notna().sum())
print("The mean lies between", ends["first"].mean(), "and", ends["last"].mean())'''
SETS = """
# Sets: each row counts once, spread evenly over the values it may have.
values = data[{name}].str.strip("{{}}").str.split("|")
weight = 1 / values.str.len()
spread = values.explode()
print(weight.reindex(spread.index).groupby(spread).sum().sort_values().tail())"""
LABELS = """
# Labels: how many rows show each; a label counts for all values below it.
print(data[{name}].value_counts().head())"""
KEPT = """
# Columns that are published as they were need no care.
print(data[{name}].value_counts(normalize=True).head())"""
ON_A_LINE = {"integer", "decimal"}
INTERVALS = {"interval", "half-open"}
READABLE = INTERVALS | {"value", "star", "missing"}
CALENDAR = {"label", "interval", "value", "star", "missing"}


def worked_example(
    columns: Mapping[str, Mapping[str, Any]],
    kinds: Mapping[str, Mapping[str, Any]],
    file: Mapping[str, str],
) -> str:
    """A program that reads the release and computes with one column of each form."""
    name = file["name"]
    delimiter = file.get("delimiter", ",")
    sep = "" if delimiter == "," else f"sep={json.dumps(delimiter)}, "
    ending = next((end for end in READ if f".{end}" in name), "csv")
    read = READ[ending].format(file=json.dumps(name), sep=sep)
    imports = IMPORTS.get(ending, "import pandas as pd")
    return "\n".join([imports, "", read, *_steps(columns, kinds)]) + "\n"


def _steps(
    columns: Mapping[str, Mapping[str, Any]], kinds: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    """One step for each way of computing, on the first column that it fits."""
    steps = [
        step
        for name, column in columns.items()
        if (step := _step(name, column, kinds.get(name, {}))) is not None
    ]
    seen = set()
    for template, names in steps:
        if template not in seen:
            seen.add(template)
            yield template.format(**{k: json.dumps(v) for k, v in names.items()})


def _step(
    name: str, column: Mapping[str, Any], kind: Mapping[str, Any]
) -> tuple[str, dict[str, str]] | None:
    """The way of computing with a column; None where nothing is to be said."""
    forms = {str(each["form"]) for each in column["forms"]}
    named = {"name": name}
    if "low" in forms:
        return BOUNDS, {"low": name, "high": name.removesuffix("_from") + "_to"}
    if forms & INTERVALS and forms <= READABLE and column["kind"] in ON_A_LINE:
        return NUMBERS, named
    if kind.get("dates") == "year first" and forms <= CALENDAR and "label" in forms:
        return DATES, named
    if "set" in forms:
        return SETS, named
    if forms & {"label", "prefix"}:
        return LABELS, named
    whole = forms <= {"value", "swapped", "synthetic"}
    return (KEPT, named) if whole and column["role"] == "sensitive" else None
