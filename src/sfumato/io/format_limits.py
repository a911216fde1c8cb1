"""What files of other programs cannot hold, and texts that would not come back from them.

The limits of texts were measured by writing cells and reading them back with pyreadstat
1.3, XlsxWriter 3.3 and fastexcel 0.21. Where the program that a format belongs to reads
less than that, its own limit counts: SPSS and SAS hold 32,767 bytes in a text, and Stata
32 signs in a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from sfumato.data.cell_text import as_text, distinct
from sfumato.data.safe_repr import counted
from sfumato.errors import DataError
from sfumato.io.formats import Format

SHORTEN = "Shorten them, or publish as csv or parquet."
RENAME = "Rename the column, or publish as csv or parquet."


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a format can hold."""

    names: re.Pattern[str]
    """The names that it allows."""
    naming: str
    """The same in words."""
    most_name_bytes: int
    reserved: frozenset[str] = frozenset()
    """Words that are no names, in small letters."""
    most_text: int | None = None
    """The length of the longest text: in bytes, or for Excel in UTF-16 units."""
    units: str = "bytes"
    keeps_blanks: bool = False
    """Whether blanks at the end of a text come back."""
    lost: tuple[tuple[str, str], ...] = (("zero characters", "\0"),)
    """Signs that do not come back, by what they are called."""
    garbled: str | None = None
    """What a text must not match, because it would come back as another."""
    most_columns: int | None = None
    most_rows: int | None = None
    keeps_blank_rows: bool = True
    """Whether a row comes back that has nothing but empty texts."""


EXCEL_GARBLED = (
    r"(?s)^<r>.*</r>$"
    r"|_x[0-9A-Fa-f]{4}(_x[0-9A-Fa-f]{4}_|[\x00-\x08\x0b-\x1f])"
)
"""XlsxWriter takes a text between tags `r` for markup. `_x0041_` stands for a character
in a workbook, and it does not mark the second of two such texts that share a `_`."""
LETTERS = "names begin with a letter and have only letters, digits"
LIMITS: Mapping[Format, Limits] = MappingProxyType(
    {
        Format.SPSS: Limits(
            names=re.compile(r"[^\W\d_][\w.$#@]*"),
            naming=f"{LETTERS} and . _ $ # @, in 64 bytes at most",
            most_name_bytes=64,
            reserved=frozenset(
                [
                    "all",
                    "and",
                    "by",
                    "eq",
                    "ge",
                    "gt",
                    "le",
                    "lt",
                    "ne",
                    "not",
                    "or",
                    "to",
                    "with",
                ]
            ),
            most_text=32_767,
        ),
        Format.STATA: Limits(
            names=re.compile(r"[^\W\d_]\w{0,31}"),
            naming=f"{LETTERS} and _, 32 of them at most",
            most_name_bytes=128,
            reserved=frozenset(
                [
                    "byte",
                    "int",
                    "long",
                    "float",
                    "double",
                    "if",
                    "in",
                    "using",
                    "with",
                    "strl",
                ]
            ),
            most_columns=32_767,
        ),
        Format.SAS: Limits(
            names=re.compile(r"[A-Za-z][A-Za-z0-9_]*"),
            naming=f"{LETTERS} and _ without accents, 32 of them at most",
            most_name_bytes=32,
            most_text=32_767,
            keeps_blank_rows=False,
        ),
        Format.EXCEL: Limits(
            names=re.compile(r"(?s)(?=.*\S)[^\0\ufffe\uffff]+"),
            naming="names have 32,767 characters at most, no zero character, no text "
            "like _x0041_x0042_ or <r></r>, and not only blanks",
            most_name_bytes=32_767,
            # What the reader calls a first column without a name.
            reserved=frozenset(["__unnamed__0"]),
            most_text=32_767,
            units="UTF-16 characters",
            keeps_blanks=True,
            lost=(
                ("the character U+FFFE", "\ufffe"),
                ("the character U+FFFF", "\uffff"),
            ),
            garbled=EXCEL_GARBLED,
            most_columns=1 << 14,
            most_rows=(1 << 20) - 1,
        ),
    }
)
STATA_STRINGS = re.compile(r"str\d+", re.IGNORECASE)


def refuse_unwritable(table: pa.Table, form: Format) -> None:
    """Refuse a table that would not come back from a file as it was, by the column."""
    limits = LIMITS.get(form)
    if limits is None:
        return
    refuse_size(table.num_columns, table.num_rows, form)
    refuse_names(table.column_names, form)
    refuse_cells(table, form)
    if not limits.keeps_blank_rows:
        _refuse_blank_rows(table, form)


def refuse_cells(table: pa.Table, form: Format) -> None:
    """Refuse cells that would not come back from a file as they were."""
    for name in table.column_names:
        _refuse_type(name, table.column(name))
        if _is_text(table.column(name).type):
            values, _ = distinct(table.column(name), name=name)
            refuse_texts(name, values, form)


def refuse_size(columns: int, rows: int, form: Format) -> None:
    """Refuse more rows or columns than a format holds."""
    limits = LIMITS.get(form)
    if limits is None:
        return
    for count, most, what in (
        (columns, limits.most_columns, "column"),
        (rows, limits.most_rows, "row"),
    ):
        if most is not None and count > most:
            raise DataError(
                f"The release has {counted(count, what)}; a file with the ending "
                f".{form} holds {most:,}.",
                hint="Set publish.format to csv or parquet.",
            )


def refuse_names(names: Iterable[str], form: Format) -> None:
    """Refuse names of columns that a format does not allow."""
    limits = LIMITS.get(form)
    if limits is None:
        return
    for name in names:
        short = len(name.encode("utf-8", "surrogatepass")) <= limits.most_name_bytes
        letter = not form.statistical or name[:1].isalpha()
        word = name.lower() in limits.reserved or (
            form == Format.STATA and STATA_STRINGS.fullmatch(name)
        )
        if word:
            raise DataError(
                f"The name of column '{name}' is a word of its own in a file with the "
                f"ending .{form}.",
                hint=RENAME,
            )
        fits = limits.names.fullmatch(name) and not (
            limits.garbled and re.search(limits.garbled, name)
        )
        if not (short and letter and fits):
            raise DataError(
                f"The name of column '{name}' cannot be written to a file with the "
                f"ending .{form}: {limits.naming}.",
                hint=RENAME,
            )


def refuse_texts(name: str, texts: Any, form: Format) -> None:
    """Refuse texts of a column, each given once, that would not come back."""
    limits = LIMITS.get(form)
    if limits is None or not len(texts):
        return
    if not limits.keeps_blanks:
        blank = _how_many(pc.ends_with(texts, " "))
        if blank:
            raise DataError(
                f"Column '{name}' has {counted(blank, 'text')} that "
                f"{'ends' if blank == 1 else 'end'} with blanks, which a file with the "
                f"ending .{form} does not keep.",
                hint="Set publish.trim = true to cut them before anything is measured, "
                "or publish as csv or parquet.",
            )
    for what, sign in limits.lost:
        _refuse_sign(name, _how_many(pc.match_substring(texts, sign)), what, form)
    if limits.garbled is not None:
        garbled = _how_many(pc.match_substring_regex(texts, limits.garbled))
        _refuse_sign(name, garbled, "codes such as _x0041_x0042_ or <r></r>", form)
    _refuse_long(name, texts, limits, form)


def _refuse_sign(name: str, count: int, what: str, form: Format) -> None:
    if count:
        raise DataError(
            f"Column '{name}' has {counted(count, 'text')} with {what}, which a file "
            f"with the ending .{form} does not keep.",
            hint="Take them out, or publish as csv or parquet.",
        )


def _refuse_long(name: str, texts: Any, limits: Limits, form: Format) -> None:
    if limits.most_text is None:
        return
    longest = _longest(texts, limits)
    if longest > limits.most_text:
        raise DataError(
            f"Column '{name}' has a text of {longest:,} {limits.units}; a file with "
            f"the ending .{form} holds {limits.most_text:,}.",
            hint=SHORTEN,
        )


def _longest(texts: Any, limits: Limits) -> int:
    """The length of the longest text, as the format counts."""
    most = int(pc.max(pc.binary_length(texts)).as_py() or 0)
    if limits.units == "bytes" or most <= (limits.most_text or 0):
        # No text has more UTF-16 units than bytes.
        return most
    long = texts.filter(pc.greater(pc.binary_length(texts), limits.most_text))
    units = [len(text.encode("utf-16-le")) // 2 for text in long.to_pylist()]
    return max(units)


def _how_many(flags: Any) -> int:
    return int(pc.sum(flags).as_py() or 0)


def _is_text(kind: Any) -> bool:
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _refuse_type(name: str, column: pa.ChunkedArray) -> None:
    """Refuse far dates, and what is no number and has no text, by the column."""
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    plain = types.is_boolean(kind) or types.is_null(kind) or types.is_integer(kind)
    if not (plain or _is_text(kind)):
        as_text(distinct(column, name=name)[0], name=name)


def _refuse_blank_rows(table: pa.Table, form: Format) -> None:
    """Refuse rows of nothing but empty texts: at the end they are taken for no row."""
    if not all(_is_text(field.type) for field in table.schema) or not table.num_rows:
        return
    blank: Any = True
    for column in table.columns:
        plain = column.cast(pa.large_string())
        blank = pc.and_(pc.equal(pc.fill_null(plain, ""), ""), blank)
    count = _how_many(blank)
    if count:
        raise DataError(
            f"{counted(count, 'row')} of {table.num_rows:,} have no cell with a text, "
            f"and a file with the ending .{form} does not keep such rows.",
            hint='Publish as csv or parquet, or set data.missing_as to "drop".',
        )
