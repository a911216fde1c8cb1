"""The tables of the policy document, as typed models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
)

from sfumato.data.safe_repr import SafeRepr
from sfumato.data.schema import Kind, Role
from sfumato.data.source import delimiter_fault, encoding_fault
from sfumato.data.vocabularies import OrderName
from sfumato.hierarchies.bands import Bands
from sfumato.hierarchies.build import OPTIONS


def checked_hierarchy(value: Any) -> Any:
    """A hierarchy as a policy writes it: a word, a path, or one builder's table."""
    if value is None or (isinstance(value, str) and value):
        return value
    if not isinstance(value, Mapping):
        raise ValueError("must be a path, a word such as 'auto', or a table")
    builders = [name for name in OPTIONS if name in value]
    if len(builders) != 1:
        raise ValueError(
            f"must name one of {', '.join(OPTIONS)}; it names {len(builders):,}"
        )
    strange = [n for n in value if n not in (builders[0], *OPTIONS[builders[0]])]
    if strange:
        raise ValueError(f"has the key '{strange[0]}', which does not go with it")
    return dict(value)


def _checked_by(fault: Callable[[str], str | None]) -> Callable[[str], str]:
    """Return a validator that reports what is wrong with a value."""

    def checked(value: str) -> str:
        found = fault(value)
        if found is not None:
            raise ValueError(found)
        return value

    return checked


def _path_fault(path: str) -> str | None:
    return "is empty, or has a zero character" if not path or "\0" in path else None


LEAST_WEIGHT, MOST_WEIGHT = 1e-9, 1e9
ReadFormat = Literal["csv", "parquet", "arrow", "sav", "dta", "xpt", "sas7bdat", "xlsx"]
WrittenFormat = Literal[
    "csv", "csv.gz", "csv.zst", "parquet", "arrow", "sav", "dta", "xpt", "xlsx"
]
PathText = Annotated[str, AfterValidator(_checked_by(_path_fault))]
Delimiter = Annotated[str, AfterValidator(_checked_by(delimiter_fault))]
Encoding = Annotated[str, AfterValidator(_checked_by(encoding_fault))]
_HIERARCHY_SCHEMA = WithJsonSchema(
    {
        "description": 'A path, "auto", "flat", "free", "learned", or a table with one '
        "builder.",
        "anyOf": [
            {"type": "string"},
            *(
                {
                    "type": "object",
                    "required": [builder],
                    "properties": {name: {} for name in (builder, *options)},
                    "additionalProperties": False,
                }
                for builder, options in OPTIONS.items()
            ),
        ],
    }
)
Hierarchy = Annotated[
    str | dict[str, Any] | None, BeforeValidator(checked_hierarchy), _HIERARCHY_SCHEMA
]
StringTuple = tuple[str, ...]
Domain = (
    Annotated[tuple[Any, ...], Field(strict=False, min_length=1)]
    | dict[str, Any]
    | None
)


End = int | float | str | date | datetime | None
"""Where bands end: a number or a date."""


class Section(SafeRepr, BaseModel):
    """A table of the document: unknown keys are errors, values are not guessed."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Data(Section):
    """Where the table is, and how it is read."""

    path: PathText | None = None
    """The file, relative to the policy; `--data` on the command line replaces it;
    `-` is standard input."""
    url: PathText | None = None
    """A database instead of a file: `postgresql://…`, `sqlite:///…` or
    `duckdb:///…`, without a password."""
    table: PathText | None = None
    """The table of the database, with its schema if need be."""
    query: PathText | None = None
    """A query of the database, instead of a table."""
    key: Annotated[StringTuple, Field(strict=False)] = ()
    """Columns that identify a row and put rows in order; required for a
    database."""
    format: ReadFormat | None = None
    """The format of the file; left out: by the end of its name."""
    sheet: str | None = None
    """The sheet of an Excel workbook; left out: the only one with cells."""
    delimiter: Delimiter | None = None
    """The one character between cells of a CSV file; left out: of comma, semicolon,
    tab and vertical bar, the one that splits most rows like the header. The release
    uses it again. A population table is read with it where the delimiter that is
    detected gives other columns."""
    encoding: Encoding | None = None
    """The encoding of a CSV file; left out: UTF-8, unless a byte order mark or the
    zero bytes of UTF-16 prove another. One-byte encodings (`latin-1`, `cp1252`)
    look alike in bytes and are never guessed. A population table that is not UTF-8 is
    read in it, too. The release is always UTF-8."""
    multiline: bool = False
    """Cells of a CSV file may have several lines. Left out, a line break in a cell of a
    column that is published stops the run, because a stray quotation mark joins all rows
    up to the next one; in other columns, one whose lines look like rows does."""
    decimal: Literal[".", ","] = "."
    """The mark in front of fractions in a CSV file. With `","`, a column in which
    every comma is the one comma of a number is read as numbers; the release has
    points. A population table is read the same way."""
    missing: Annotated[StringTuple, Field(strict=False)] = ("",)
    """Cells that mean "no value". `NA`, `N/A`, `Unknown` and `?` are values unless
    they are named here. Nulls, and numbers that are not numbers (NaN), are always
    missing; where the source has any, so are empty texts, because a CSV file cannot
    tell them apart."""
    missing_as: Literal["value", "any", "drop"] = "value"
    """A missing value is a value of its own (`"value"`), may also be any value
    (`"any"`), or its row is left out (`"drop"`): rows with a missing
    quasi-identifier or sensitive value. What is compared with the source is then
    compared with the rows that remain."""


class ColumnSection(Section):
    """What a column is and how it is treated."""

    role: Annotated[Role, Field(strict=False)] | None = None
    """What the column is for privacy; must be given, unless `drop`."""
    kind: Annotated[Kind, Field(strict=False)] | None = None
    """What its values are; left out: inferred."""
    hierarchy: Hierarchy = None
    """How a quasi-identifier is generalized, and on which levels a sensitive column
    is judged; left out: numbers and dates show intervals, categories show sets."""
    weight: Annotated[
        float, Field(ge=LEAST_WEIGHT, le=MOST_WEIGHT, allow_inf_nan=False)
    ] = 1.0
    """How much this column counts in the loss, more than 0."""
    resolution: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """The step of a numeric quasi-identifier without a hierarchy: values are searched
    and published as steps of this length that begin at its multiples, `[20, 25)`, on
    every engine alike. For columns of millions of different numbers."""
    bands: Annotated[int | float, Field(gt=0, allow_inf_nan=False)] | None = None
    """The width of intervals (of dates: days, of points in time: seconds) that the
    numbers or dates of a sensitive or insensitive column, or of a weight, are coded
    into before anything is judged or published: `bands = 1000` shows `[0, 999]`, in
    the spelling of `hierarchy = { intervals = [1000] }`. Estimates still use the
    weights themselves."""
    bottom: End = None
    """Values up to this number or date are published as one, `<= 0` (decimals: below
    it, `< 0`); without `bands`, the values between stay exact."""
    top: End = None
    """Values from this number or date on are published as one, `>= 50000`; without
    `bands`, the values between stay exact."""
    order: OrderName | Annotated[StringTuple, Field(strict=False)] | None = None
    """The values of an ordered category, from low to high, or the name of a built-in
    order of words."""
    domain: Domain = None
    """The values that a cell may have, a list or `{ low = 17, high = 90 }`: for
    releases that may not look at the data (differential privacy)."""
    pseudonymize: Literal["keyed-hash"] | None = None
    """`"keyed-hash"` publishes an identifier or subject under a hash whose key only
    the private record has, instead of leaving it out."""
    drop: bool = False
    """Leave the column out of the release."""
    keep_as_is: bool = False
    """Publish an insensitive column or a weight although more than 5% of rows have
    a value that occurs once, or such columns together make more than 20% of rows unique
    beside the quasi-identifiers; without it such a run ends with 2 and the figures.
    `init` never writes it."""

    @property
    def coding(self) -> Bands | None:
        """How the values are coded before they are published; None if they are not."""
        ends = (self.bands, self.bottom, self.top)
        if ends == (None, None, None):
            return None
        return Bands(width=self.bands, bottom=self.bottom, top=self.top)

    def _summary(self) -> str:
        said = ("drop" if self.drop else None, self.role, self.kind)
        return ", ".join(str(word) for word in said if word)


class Named(SafeRepr, BaseModel):
    """A table that names a thing of the catalogue; its other keys are settings."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)

    @property
    def settings(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


class Requirement(Named):
    """A privacy model that the release must meet, with the model's parameters."""

    model: str
    """The name of the privacy model (`sfumato list models`); the other keys are its
    parameters."""

    def _summary(self) -> str:
        return self.model


class AlgorithmSection(Named):
    """The algorithm that groups rows, with its options."""

    name: str | None = None
    """The algorithm (`sfumato list algorithms`); left out: `best`, which chooses
    for the data. The other keys are its options."""

    def _summary(self) -> str:
        return self.name or "chosen for the data"


class Report(Section):
    """Optional parts of the report."""

    loss_by: Annotated[StringTuple, Field(strict=False)] = ()
    """Columns for whose values the manifest and the report show the loss: rows,
    rows left out, rows that still show the value, cells that show nothing, NCP.
    Values that fewer than k rows, or persons, have are pooled (without a k: fewer
    than the smallest group has, and always those of one row); of a sensitive
    column, only published rows are counted."""


class CompareSection(Section):
    """The candidates of a comparison: every algorithm with every operator and setting."""

    algorithms: Annotated[StringTuple, Field(strict=False)] = ()
    """Names of algorithms; left out: the policy's, or without `[compare]` a few
    that suit."""
    operators: Annotated[StringTuple, Field(strict=False)] = ()
    """Names of operators; left out: the policy's."""
    set: dict[str, Annotated[tuple[Any, ...], Field(strict=False, min_length=1)]] = (
        Field(default_factory=dict)
    )
    """Settings by their path, each with the values to try: `{ "require.0.k" = [5,
    10] }`; those that ask for less than the policy are left out."""

    def _summary(self) -> str:
        names = ", ".join((*self.algorithms, *self.operators, *self.set))
        return names or "chosen for the data"


class Privacy(Section):
    """Settings shared by all releases of the same people: a budget, a key."""

    link_key: PathText | None = None
    """The file of a secret key of 16 bytes or more, mode 0600, relative to the
    policy. The private record then says, as a keyed hash of the subject (or else of
    all identifiers), who is behind each row."""
    ledger: PathText | None = None
    """The file that each release is charged to before its data is used, relative to
    the policy."""
    epsilon: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """The ε that a new ledger begins with; an existing one must say the same;
    refused without a ledger."""
    delta: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """The δ that a new ledger begins with; an existing one must say the same."""
    precheck: Literal["warn", "refuse", "off"] = "warn"
    """Before anything is charged, the cells are compared with the declared domains, for
    the data steward alone. A column without any cell of its domain is refused. Other
    cells outside count as missing: with `"warn"` a message counts them, `"refuse"` ends
    the run. `"off"` looks at no cell before the charge, for runs whose end others see."""


class Publish(Named):
    """How groups are shown; keys beyond these are options of the operator."""

    operator: str = "generalize"
    """How groups are shown (`sfumato list operators`); keys that are not in this
    table are its options."""
    max_suppressed: Annotated[float, Field(ge=0, le=1)] = 0.0
    """The share of rows that may be left out; rows that `missing_as = "drop"` drops
    do not count."""
    max_loss: Annotated[float, Field(ge=0, le=1)] = 0.95
    """The share of detail (`utility.ncp` of the manifest) that a release by
    `generalize` or `suppress` may lose; a release that loses more is refused with
    exit code 3, the reason and what would help. 1 switches this off. Never applied
    under a process model."""
    numbers: Literal["interval", "bounds", "mean", "median", "mode"] | None = None
    """By `generalize`: numbers and dates as `"interval"` (its default), as two
    columns (`"bounds"`: `age_from`, `age_to`, names that the source may not have),
    or as the group's `"mean"`; by `microaggregate`: `"mean"` (its default),
    `"median"` or `"mode"`."""
    flat: Literal["set", "star"] | None = None
    """By `generalize`: categories without a hierarchy as a `"set"` (its default),
    or `*` where a group disagrees (`"star"`)."""
    order: Literal["random", "source"] = "random"
    """The order of the published rows; `"source"` keeps that of the source, which
    tells recipients something."""
    format: WrittenFormat | None = None
    """The format of the data file; left out: that of the source."""
    trim: bool = False
    """Cut blanks at the end of all texts of the source, before anything is measured;
    SPSS, Stata and SAS files do not keep them. Needs all rows in memory."""
    spreadsheet_safe: bool = False
    """Put `'` before names and text cells of CSV files that begin with `=`, `+`,
    `-` or `@` and are no numbers, so that no spreadsheet runs them; cells that
    begin with `'` and such a sign get one more, and `check` takes one off. Left
    out, the report says how many there are."""
