"""Real tables as they are published for the lowest loss: roles, hierarchies, models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv

from benchmarks.scoring import Domain, Reader, node_reader, our_reader
from benchmarks.sources import (
    QUASI,
    SENSITIVE,
    directory,
    leaves_under,
    like_adult,
    payments,
    read_levels,
)

NINE = (*QUASI, SENSITIVE)
CENSUS = (
    "age",
    "sex",
    "race",
    "marital_stat",
    "education",
    "country_of_birth_self",
    "class_of_worker",
)
CUP = ("ZIP", "AGE", "GENDER", "INCOME", "STATE", "NGIFTALL", "MINRAMNT", "RAMNTALL")
ACS = ("Age", "Sex", "Race", "Marital_status", "Education")
MACH = (
    *("age", "familysize", "gender", "married", "race", "religion"),
    *(f"Q{number}A" for number in range(1, 11)),
)
STROKE = (
    *("gender", "age", "hypertension", "heart_disease"),
    *("ever_married", "work_type", "Residence_type", "smoking_status"),
)
EUSILC = ("db040", "hsize", "age", "rb090", "pb220a", "pl030")
PANTHEON = (
    *("gender", "continentName", "countryName"),
    *("birthcity", "birthyear", "occupation"),
)
INFORMS = ("DOBMM", "DOBYY", "SEX", "RACEX", "EDUCYEAR", "marry", "income")
AIRLINE = (
    *("Gender", "Customer_Type", "Age", "Type_of_Travel", "Class", "Flight_Distance"),
    *("Departure_Delay_in_Minutes", "Arrival_Delay_in_Minutes"),
)
WIDE = (23, 50, 200)
"""Columns of wide tables."""
ADULT = "adult/adult_clean_30162.csv.gz"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A table, its quasi-identifiers, and what is asked beside k."""

    file: str
    quasi: tuple[str, ...]
    hierarchies: bool = True
    numbers: frozenset[str] = frozenset()
    """Columns scored as lines of numbers; all others in leaves or values."""
    sensitive: str = ""
    require: str = ""
    like: int = 0
    """So many rows drawn from Adult and changed, instead of those of the file."""
    paid: int = 0
    """So many rows of numbers like payments, instead of those of the file."""

    @property
    def folder(self) -> Path:
        """Where the hierarchies are."""
        return directory() / self.file.split("/")[0] / "hierarchies"

    def table(self) -> pa.Table:
        """The columns as text, in the order of the file."""
        wanted = [*self.quasi, *([self.sensitive] if self.sensitive else [])]
        if self.paid:
            return pa.table(payments(self.paid, len(self.quasi)))
        if self.like:
            made = like_adult(self.like)
            texts = {name: made.texts(j) for j, name in enumerate(made.names)}
            return pa.table({name: texts[name] for name in wanted})
        text = pa_csv.ConvertOptions(column_types=dict.fromkeys(wanted, pa.string()))
        table = pa_csv.read_csv(directory() / self.file, convert_options=text)
        return table.select([name for name in table.column_names if name in wanted])

    def policy(self, k: int, algorithm: str) -> str:
        """The policy, with an algorithm and its options as lines of TOML."""
        columns = "".join(self._column(name) for name in self.quasi)
        if self.sensitive:
            columns += f'[columns."{self.sensitive}"]\nrole = "sensitive"\n'
        return (
            f'version = 1\nunlisted = "drop"\n{columns}'
            f'[[require]]\nmodel = "k-anonymity"\nk = {k}\n{self.require}'
            f"[algorithm]\n{algorithm}\n"
        )

    def _column(self, name: str) -> str:
        kind = "integer" if name in self.numbers else "category"
        return (
            f'[columns."{name}"]\nrole = "quasi"\nkind = "{kind}"\n'
            f"hierarchy = {self._hierarchy(name)}\n"
        )

    def _hierarchy(self, name: str) -> str:
        if not self.hierarchies:
            return '"free"' if name in self.numbers else '"flat"'
        # Adult's tree of ages is known to be off by one, in the release as in ARX.
        trust = "true" if name in self.numbers else "false"
        return f'{{ file = "{self.folder / name}.csv", trust = {trust} }}'

    def scale(self, table: pa.Table) -> tuple[list[Domain], list[Reader]]:
        """What cells are scored against, and how they are read."""
        domains, readers = [], []
        for name in self.quasi:
            values = table.column(name).unique().to_pylist()
            domain, reader = self._scale_of(name, values)
            domains.append(domain)
            readers.append(reader)
        return domains, readers

    def _scale_of(self, name: str, values: Sequence[str]) -> tuple[Domain, Reader]:
        number = name in self.numbers
        domain = Domain.of(values, numeric=number)
        if number or not self.hierarchies:
            return domain, our_reader(domain)
        levels = read_levels(self.folder / f"{name}.csv")
        if "" in values and "" not in levels[0]:
            # A missing value is a leaf under the root.
            *lower, root = levels
            levels = [*([*level, ""] for level in lower), [*root, root[0]]]
        domain = Domain.of(levels[0], numeric=False)
        return domain, node_reader(leaves_under(levels))


def along(file: str, quasi: tuple[str, ...]) -> Setting:
    """A table with a hierarchy of categories for every quasi-identifier."""
    return Setting(file=file, quasi=quasi)


def wide(columns: int) -> Setting:
    """Thirty thousand rows of numbers without hierarchies."""
    names = tuple(f"c{j}" for j in range(columns))
    return Setting(
        file="", quasi=names, hierarchies=False, numbers=frozenset(names), paid=30_000
    )


WITH = Setting(file=ADULT, quasi=NINE, numbers=frozenset({"age"}))
WITHOUT = replace(WITH, quasi=NINE[:-1], hierarchies=False)
SECRET = replace(
    WITH,
    quasi=tuple(name for name in NINE if name != "occupation"),
    sensitive="occupation",
)
MILLION = 1_000_000

SETTINGS: Mapping[str, Setting] = {
    "adult": WITH,
    "adult without hierarchies": WITHOUT,
    "distinct 3": replace(
        SECRET, require='[[require]]\nmodel = "l-diversity"\nl = 3\n'
    ),
    "t = 0.2": replace(
        SECRET,
        require='[[require]]\nmodel = "t-closeness"\nt = 0.2\ndistance = "equal"\n',
    ),
    "cup": along("cup/cup.csv", CUP),
    "census_income": along("census_income/census_income_train.csv.gz", CENSUS),
    "ss13acs": along("ss13acs/ss13acs_5col.csv", ACS),
    "mach2019_int": along("mach2019_int/mach2019_int.csv", MACH),
    "stroke": along("stroke/stroke.csv", STROKE),
    "eusilc": along("eusilc/eusilc.csv", EUSILC),
    "pantheon": along("pantheon/pantheon.csv", PANTHEON),
    "informs": along("informs/informs_demographics_2005.csv", INFORMS),
    "airline": along("airline/airline.csv", AIRLINE),
    **{f"{columns} numbers": wide(columns) for columns in WIDE},
    "like-adult": replace(WITH, quasi=NINE[:-1], like=MILLION),
    "like-adult without hierarchies": replace(WITHOUT, like=MILLION),
}
