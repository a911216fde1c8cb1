"""The tables of the policy document, as typed models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
            f"must name one of {', '.join(OPTIONS)}; it names {len(builders)}"
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
        "description": 'A path, "auto", "flat", "free", or a table with one builder.',
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


class Section(SafeRepr, BaseModel):
    """A table of the document: unknown keys are errors, values are not guessed."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Data(Section):
    """Where the table is, and how it is read."""

    path: PathText | None = None
    """The file, relative to the policy; `-` is standard input."""
    url: PathText | None = None
    """A database instead of a file: postgresql://…, sqlite:///… or duckdb:///…, without
    a password."""
    table: PathText | None = None
    """The table of the database, with its schema if need be."""
    query: PathText | None = None
    """A query of the database, instead of a table."""
    key: Annotated[StringTuple, Field(strict=False)] = ()
    """Columns that identify a row and give rows an order; required for a database."""
    format: ReadFormat | None = None
    """The format of the file; left out: by the end of its name."""
    sheet: str | None = None
    """The sheet of an Excel workbook; left out: the only one with cells."""
    delimiter: Delimiter | None = None
    """The character between cells of a CSV file; left out: detected."""
    encoding: Encoding | None = None
    """The encoding of a CSV file; left out: UTF-8, or what its bytes prove."""
    decimal: Literal[".", ","] = "."
    """The mark in front of fractions in a CSV file; what is published has points."""
    missing: Annotated[StringTuple, Field(strict=False)] = ("",)
    """Cells that mean "no value"."""
    missing_as: Literal["value", "any", "drop"] = "value"
    """A missing value is one of its own, matches any, or its row is left out."""


class ColumnSection(Section):
    """What a column is and how it is treated."""

    role: Annotated[Role, Field(strict=False)] | None = None
    """Its role for privacy."""
    kind: Annotated[Kind, Field(strict=False)] | None = None
    """What its values are; left out: inferred."""
    hierarchy: Hierarchy = None
    """How it is generalized."""
    weight: Annotated[
        float, Field(ge=LEAST_WEIGHT, le=MOST_WEIGHT, allow_inf_nan=False)
    ] = 1.0
    """Its weight in the loss."""
    order: Annotated[StringTuple, Field(strict=False)] | None = None
    """The values of an ordered category, from low to high."""
    domain: Domain = None
    """The values that a cell may have, for releases that may not look at the data."""
    pseudonymize: Literal["keyed-hash"] | None = None
    """Publish an identifier or subject under a keyed hash instead of dropping it."""
    drop: bool = False
    """Leave the column out of the release."""
    keep_as_is: bool = False
    """Publish an insensitive column or a weight although more than 5% of rows have a
    value that occurs once."""

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

    def _summary(self) -> str:
        return self.model


class AlgorithmSection(Named):
    """The algorithm that groups rows, with its options."""

    name: str | None = None
    """Left out: chosen for the data."""

    def _summary(self) -> str:
        return self.name or "chosen for the data"


class Report(Section):
    """Optional parts of the report."""

    loss_by: Annotated[StringTuple, Field(strict=False)] = ()
    """Columns for whose values the loss is reported."""


class CompareSection(Section):
    """The candidates of a comparison: every algorithm with every operator and setting."""

    algorithms: Annotated[StringTuple, Field(strict=False)] = ()
    """Left out: the policy's algorithm, or without `[compare]` a few that suit."""
    operators: Annotated[StringTuple, Field(strict=False)] = ()
    """Left out: the policy's operator."""
    set: dict[str, Annotated[tuple[Any, ...], Field(strict=False, min_length=1)]] = (
        Field(default_factory=dict)
    )
    """Settings by their path, each with the values to try: `"require.0.k" = [2, 5]`."""

    def _summary(self) -> str:
        names = ", ".join((*self.algorithms, *self.operators, *self.set))
        return names or "chosen for the data"


class Privacy(Section):
    """Settings shared by all releases of the same people: a budget, a key."""

    link_key: PathText | None = None
    """The file of the secret key that finds a person again in later releases, relative
    to the policy; readable by its owner alone."""
    ledger: PathText | None = None
    """The file that each release is charged to, relative to the policy."""
    epsilon: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """The budget that a new ledger begins with."""
    delta: Annotated[float, Field(ge=0, lt=1)] = 0.0


class Publish(Named):
    """How groups are shown; keys beyond these are options of the operator."""

    operator: str = "generalize"
    max_suppressed: Annotated[float, Field(ge=0, le=1)] = 0.0
    """The share of rows that may be left out."""
    max_loss: Annotated[float, Field(ge=0, le=1)] = 0.95
    """The share of detail (NCP) that `generalize` and `suppress` may lose; 1: any."""
    numbers: Literal["interval", "bounds", "mean", "median", "mode"] | None = None
    """How numbers and dates are shown; left out: as the operator does by itself."""
    flat: Literal["set", "star"] | None = None
    """How categories without a hierarchy are shown; left out: as the operator does."""
    order: Literal["random", "source"] = "random"
    """The order of the published rows."""
    format: WrittenFormat | None = None
    """The format of the data file; left out: that of the source."""
    spreadsheet_safe: bool = False
    """Put `'` before CSV cells that a spreadsheet would take for a formula."""
