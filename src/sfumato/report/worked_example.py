"""A worked example in pandas, written for the columns that a release has."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
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
BOUNDS_INTRO = """
# Bounds hold whatever value each cell stands for. If you know the lowest and the
# highest value that a column can have, add ends=(lowest, highest)."""
BOUNDS = """
bounds = sf.bounds({file}, {column}, manifest="manifest.json")
print(bounds.text())
{answer}"""
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


def worked_example(
    columns: Mapping[str, Mapping[str, Any]],
    bounded: Sequence[Mapping[str, str]],
    file: Mapping[str, str],
) -> str:
    """A program that reads the release and computes with one column of each form.

    `bounded` are the columns to bound, with the answers that the program prints.
    """
    name = file["name"]
    delimiter = file.get("delimiter", ",")
    sep = "" if delimiter == "," else f"sep={json.dumps(delimiter)}, "
    ending = next((end for end in READ if f".{end}" in name), "csv")
    read = READ[ending].format(file=json.dumps(name), sep=sep)
    imports = IMPORTS.get(ending, "import pandas as pd")
    answered = [_bounds(name, each) for each in bounded]
    if answered:
        imports += "\nimport sfumato as sf"
        answered[0] = BOUNDS_INTRO + answered[0]
    return "\n".join([imports, "", read, *answered, *_steps(columns)]) + "\n"


def _bounds(file: str, bounded: Mapping[str, str]) -> str:
    """The step that bounds a column, with its answer as comments."""
    return BOUNDS.format(
        file=json.dumps(file),
        column=json.dumps(bounded["column"]),
        answer="\n".join(f"# {line}" for line in bounded["text"].splitlines()),
    )


def _steps(columns: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """One step for each other way of computing, on the first column that it fits."""
    first: dict[str, str] = {}
    for name, column in columns.items():
        template = _step(column)
        if template is not None:
            first.setdefault(template, name)
    for template, name in first.items():
        yield template.format(name=json.dumps(name))


def _step(column: Mapping[str, Any]) -> str | None:
    """The way of counting the cells of a column; None where nothing is to be said."""
    forms = {str(each["form"]) for each in column["forms"]}
    if "set" in forms:
        return SETS
    if forms & {"label", "prefix"}:
        return LABELS
    whole = forms <= {"value", "swapped", "synthetic"}
    return KEPT if whole and column["role"] == "sensitive" else None
