"""The demo's files: the table, its policy and its hierarchies, and writing them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from sfumato.demo.generate import hospital
from sfumato.demo.hospital_lists import DIAGNOSES

SOURCE = "source.csv"
POLICY = "policy.toml"
HIERARCHIES = "hierarchies"
PERSON = "person.csv"
KNOWN = ("birth_date", "sex", "zip")
"""What an attacker knows of the patient in `person.csv`."""

POLICY_TEXT = """\
# How the demo hospital publishes its stays. Every row is invented.
version = 1

[data]
path = "source.csv"
missing = [""]                    # an empty cell is a missing value, "NA" would not be

# Direct identifiers never leave the house.
[columns.name]
role = "identifier"

# Quasi-identifiers: harmless alone, identifying together. They are generalized.
[columns.birth_date]
role = "quasi"
kind = "date"
hierarchy = { calendar = ["month", "quarter", "year", "decade"] }

[columns.sex]
role = "quasi"
kind = "category"

[columns.zip]
role = "quasi"
kind = "code"                     # text, so that the leading zero stays
hierarchy = { prefix = [4, 3, 2] }

[columns.ethnicity]
role = "quasi"
kind = "category"
hierarchy = "hierarchies/ethnicity.csv"

[columns.occupation]
role = "quasi"
kind = "category"
hierarchy = "hierarchies/occupation.csv"

[columns.admission_date]
role = "quasi"
kind = "date"
hierarchy = { calendar = ["month", "quarter", "year"] }

# What nobody may learn about a person.
[columns.diagnosis]
role = "sensitive"
kind = "category"
hierarchy = "hierarchies/diagnosis.csv"

# Nearly every cost is one of a kind: whoever knows the amount of a bill would find the
# row. In bands of 1,000, with the rare large costs in one, many people share each.
[columns.cost]
role = "sensitive"
kind = "decimal"
bands = 1000
top = 20000

# Everybody hides among five people or more, with three diagnoses or more.
[[require]]
model = "k-anonymity"
k = 5

[[require]]
model = "l-diversity"
l = 3
on = "diagnosis"

[algorithm]
name = "mondrian"

[publish]
operator = "generalize"
"""

OCCUPATIONS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "In work": {
        "Health and care": ("Care assistant", "Nurse", "Physician"),
        "Education and science": ("Childcare worker", "Scientist", "Teacher"),
        "Office": ("Accountant", "Clerk", "Lawyer", "Manager", "Software developer"),
        "Shops and services": (
            "Cook",
            "Hairdresser",
            "Police officer",
            "Sales assistant",
            "Waiter",
        ),
        "Trades": ("Carpenter", "Electrician", "Mechanic"),
        "Manual work": ("Cleaner", "Driver", "Factory worker", "Farmer"),
    },
    "Not in work": {
        "Growing up": ("Child", "Pupil", "Student"),
        "At home": ("Homemaker", "Retired", "Unemployed"),
    },
}
ETHNICITIES: Mapping[str, tuple[str, ...]] = {
    "White": ("White",),
    "Black": ("Black",),
    "Hispanic": ("Hispanic",),
    "Asian or Pacific": ("Asian", "Pacific Islander"),
    "Native or Mixed": ("Mixed", "Native American"),
}
CHAPTERS: Mapping[str, str] = {
    "A": "Infections",
    "B": "Infections",
    "C": "Cancer",
    "E": "Metabolism",
    "F": "Mind",
    "G": "Nerves",
    "I": "Heart and vessels",
    "J": "Lungs",
    "K": "Digestion",
    "M": "Bones and muscles",
    "N": "Kidneys and urinary tract",
    "O": "Birth",
    "P": "Birth",
    "S": "Injuries and allergies",
    "T": "Injuries and allergies",
}


def write(directory: Path) -> Path:
    """Write the demo's tables, policy and hierarchies; return the policy's path."""
    (directory / HIERARCHIES).mkdir(parents=True)
    table = hospital()
    _write_table(table, directory / SOURCE)
    known = table.select(KNOWN)
    _write_table(known.filter(_complete(known)).slice(0, 1), directory / PERSON)
    for name, lines in _hierarchies().items():
        text = "".join(f"{line}\n" for line in lines)
        _write_text(directory / HIERARCHIES / f"{name}.csv", text)
    _write_text(directory / POLICY, POLICY_TEXT)
    return directory / POLICY


def _complete(table: pa.Table) -> pa.ChunkedArray:
    """Which rows have no missing cell."""
    texts = [pc.cast(column, pa.string()) for column in table.columns]
    filled = [pc.not_equal(pc.fill_null(text, ""), "") for text in texts]
    return reduce(pc.and_, filled)


def _hierarchies() -> dict[str, list[str]]:
    return {
        "occupation": sorted(_occupation_lines()),
        "ethnicity": sorted(_ethnicity_lines()),
        "diagnosis": [f"{d.name};{CHAPTERS[d.name[0]]};*" for d in DIAGNOSES],
    }


def _occupation_lines() -> Iterable[str]:
    for top, groups in OCCUPATIONS.items():
        for group, members in groups.items():
            yield from (f"{member};{group};{top};*" for member in members)


def _ethnicity_lines() -> Iterable[str]:
    for group, members in ETHNICITIES.items():
        yield from (f"{member};{group};*" for member in members)


def _write_table(table: pa.Table, path: Path) -> None:
    # The header is ours: Arrow would put every name in quotes.
    options = arrow_csv.WriteOptions(include_header=False, quoting_style="none")
    with path.open("wb") as stream:
        stream.write((",".join(table.column_names) + "\n").encode())
        arrow_csv.write_csv(table, stream, options)


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
