"""A proposed policy: what a table seems to need, each line with its reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import pyarrow as pa

from sfumato.data.cell_text import has_text
from sfumato.data.profiling.column_roles import Decision
from sfumato.data.profiling.column_signs import Sign, Signs, known_labels
from sfumato.data.profiling.identifying_power import Power
from sfumato.data.profiling.infer import Guess, Inference, infer
from sfumato.data.safe_repr import counted
from sfumato.data.schema import Kind, Role
from sfumato.data.source import (
    delimiter_of,
    encoding_of,
    has_line_breaks,
    has_row_numbers,
)
from sfumato.data.table import Column
from sfumato.data.unique_rows import MOST
from sfumato.data.vocabularies import OrderName, in_order, order_of
from sfumato.errors import DataError, UsageError
from sfumato.hierarchies.labels import reserved
from sfumato.models.common.judged_columns import NOTHING_JUDGED
from sfumato.policy.missing_marks import found_marks
from sfumato.policy.policy_lines import quoted, quoted_key, setting_line
from sfumato.policy.profiles import PLAIN, Profile, profile_of
from sfumato.policy.proposed_hierarchy import number_text, proposed_hierarchy
from sfumato.policy.proposed_requirements import judges_nothing, proposed_requirements

MOST_K = 1_000_000
FATES = MappingProxyType(
    {
        Role.QUASI: "Generalized, because others may know it",
        Role.SENSITIVE: "Published, because nobody else knows it",
        Role.INSENSITIVE: "Published, because it tells hardly anybody apart",
        Role.WEIGHT: "Published as the weight of each row",
        Role.SUBJECT: "Counted as persons, and not published",
        Role.IDENTIFIER: "Removed, because it names people",
    }
)
CODED = MappingProxyType(
    {
        "bands": "the width of the intervals that are published",
        "bottom": "this and below are published together",
        "top": "this and above are published together",
    }
)
SETS_SHOWN = 5
LINE_BREAK = re.compile("[\r\n]")
SEVERAL_LINES = "cells have several lines: meant, or rows joined by a stray mark?"


@dataclass(frozen=True, eq=False)
class Proposal:
    """A policy as text with comments, and the guesses behind it."""

    text: str
    inference: Inference


def propose(
    source: pa.Table,
    *,
    path: str | None,
    missing: Sequence[str] | None = None,
    decimal: str = ".",
    k: int | None = None,
    profile: str | None = None,
    multiline: bool = False,
    given: Mapping[str, Decision] = MappingProxyType({}),
) -> Proposal:
    """Propose a policy for a table; `path` is where the policy finds it.

    `k` is how many people are to look alike; None: as many as the profile asks for, or
    5. `given` are roles that a person has decided.

    `missing` are the marks of missing values; None: those that seem to be. `decimal`
    is the mark in front of fractions that the source was read with. With `multiline`,
    line breaks in cells of a CSV file are meant; otherwise columns with any are left out.
    """
    _check_path(path)
    asked = PLAIN if profile is None else profile_of(profile)
    wanted = _group_size(k, asked)
    readable = _readable(source)
    marks = found_marks(readable) if missing is None else tuple(missing)
    found = infer(
        readable,
        missing=marks,
        k=wanted,
        given=given,
        leaves_out=_leaves_out(source, asked, multiline=multiline),
    )
    lines = [
        *_head(source, asked),
        *_data(source, path, decimal, multiline=multiline),
        *_marks(marks, found, asked=missing is not None),
        *_overview(found),
        *((f"# {NOTHING_JUDGED}",) if judges_nothing(found, asked) else ()),
        *_powers(found.sets),
        *(line for guess in found.guesses for line in _column(guess, found)),
        *_dropped(source, readable),
        *proposed_requirements(found, asked, wanted),
        *_rest(),
    ]
    return Proposal("\n".join(lines) + "\n", found)


def _leaves_out(
    source: pa.Table, profile: Profile, *, multiline: bool
) -> Callable[[Signs], str | None]:
    """Why a column must not be published: by the profile, or for its line breaks."""
    joined = has_line_breaks(source) and not multiline

    def reason(signs: Signs) -> str | None:
        several = joined and any(map(LINE_BREAK.search, signs.column.labels))
        why = profile.leaves_out(signs) or (SEVERAL_LINES if several else None)
        return why or _reserved(signs)

    return reason


def _reserved(signs: Signs) -> str | None:
    """Why a column cannot be generalized: values that read like published cells."""
    generalized = signs.sign >= Sign.KNOWN or signs.alone > MOST
    count = sum(map(reserved, signs.column.labels)) if generalized else 0
    if not count:
        return None
    return (
        f"{count:,} of {signs.power.distinct:,} values contain '|' or stand in brackets, "
        "as published sets and intervals do: rename them to keep it"
    )


def _check_path(path: str | None) -> None:
    """Refuse a path that a policy cannot name, because policies are UTF-8 text."""
    try:
        (path or "").encode()
    except UnicodeEncodeError:
        raise DataError(
            "The name of the file or of its directory is not UTF-8 text, so a policy "
            "cannot name it.",
            hint="Rename it.",
        ) from None


def _group_size(k: int | None, profile: Profile) -> int:
    if k is None:
        return profile.k
    if k < profile.k and profile is not PLAIN:
        raise UsageError(
            f"k is {k:,}, and the profile '{profile.name}' asks for {profile.k:,}.",
            hint="Leave k out, or take another profile.",
        )
    if not 2 <= k <= MOST_K:
        raise UsageError(
            f"k is a whole number from 2 to {MOST_K:,}.",
            hint="5 is usual among researchers, 20 for the public.",
        )
    return k


def _readable(source: pa.Table) -> pa.Table:
    """Return the columns that a policy can name; all of them if there is none."""
    names = [name for name in source.column_names if has_text(source.column(name))]
    return source.select(names) if names else source


def _dropped(source: pa.Table, readable: pa.Table) -> Iterator[str]:
    """Propose to drop columns whose cells cannot be written as text."""
    known = set(readable.column_names)
    for field in source.schema:
        if field.name not in known:
            yield from ("", f"[columns.{quoted_key(field.name)}]")
            kind = _plain(str(field.type))
            reason = f"not all cells of type {kind} can be written as text"
            yield setting_line("drop = true", reason)


def _head(source: pa.Table, profile: Profile) -> Iterator[str]:
    rows, columns = source.num_rows, source.num_columns
    yield f"# Proposed for {counted(rows, 'row')} and {counted(columns, 'column')}."
    yield "# Every choice has its reason beside it: read them before you publish."
    if profile is not PLAIN:
        yield f"# Profile {profile.name}: {profile.title}; source: {profile.source}."
    yield ""
    yield "version = 1"
    yield 'unlisted = "error"  # columns that are not named here stop the run'


def _data(
    source: pa.Table, path: str | None, decimal: str, *, multiline: bool
) -> Iterator[str]:
    yield from ("", "[data]")
    if has_row_numbers(source):
        yield "# The first column has no name: read as row numbers, and left out."
    if path is not None:
        yield f"path = {quoted(path)}"
    if delimiter_of(source) != ",":
        yield setting_line(f"delimiter = {quoted(delimiter_of(source))}", "as read")
    if encoding_of(source) not in ("utf-8", "utf-8-sig"):
        yield setting_line(f"encoding = {quoted(encoding_of(source))}", "as read")
    if multiline and has_line_breaks(source):
        yield setting_line("multiline = true", "some cells have several lines")
    if decimal != ".":
        yield setting_line(
            f"decimal = {quoted(decimal)}", "numbers are published with a point"
        )


def _marks(marks: Sequence[str], found: Inference, *, asked: bool) -> Iterator[str]:
    cells = sum(guess.missing for guess in found.guesses)
    columns = sum(guess.missing > 0 for guess in found.guesses)
    guessed = ": is each of these a mark, in every column?" if marks[1:] else ""
    listed = ", ".join(map(quoted, marks))
    yield setting_line(
        f"missing = [{listed}]",
        f"{counted(cells, 'cell')} in {counted(columns, 'column')}"
        f"{'' if asked else guessed}",
    )
    yield setting_line('missing_as = "value"', 'a value of its own; or "any", "drop"')


def _overview(found: Inference) -> Iterator[str]:
    """List the columns by what happens to them."""
    yield ""
    for role, fate in FATES.items():
        names = found.names(role)
        if names:
            listed = ", ".join(map(quoted_key, names))
            yield f"# {fate} ({len(names)}): {listed}"
    left_out = [quoted_key(guess.name) for guess in found.guesses if guess.drop]
    if left_out:
        yield f"# Left out for the reason at each ({len(left_out)}): {', '.join(left_out)}"


def _powers(sets: Sequence[Power]) -> Iterator[str]:
    if not sets:
        yield from ("", "# No column looks like a quasi-identifier: name one to go on.")
        return
    yield from (
        "",
        "# What tells people apart most (distinct per row; pairs told apart):",
    )
    for power in sets[:SETS_SHOWN]:
        names = " + ".join(map(quoted_key, power.columns))
        yield f"#   {power.distinction:7.2%} {power.separation:9.4%}  {names}"


def _column(guess: Guess, found: Inference) -> Iterator[str]:
    yield ""
    yield f"[columns.{quoted_key(guess.name)}]"
    if guess.drop:
        yield setting_line("drop = true", f"{guess.role_reason}; {_counted(guess)}")
        return
    yield setting_line(f'role = "{guess.role}"', guess.role_reason)
    yield setting_line(
        f'kind = "{guess.kind}"', f"{guess.kind_reason}; {_counted(guess)}"
    )
    order = _order(found.columns[guess.name])
    if order is not None:
        yield setting_line(
            f'order = "{order}"', "the name of a built-in order, no values"
        )
    yield from _coding(guess)
    if guess.role is Role.QUASI:
        proposed = proposed_hierarchy(guess, found.columns[guess.name])
        if proposed is not None:
            yield setting_line(f"hierarchy = {proposed.setting}", proposed.reason)


def _order(column: Column) -> OrderName | None:
    """The name of the order of an ordered column; None for others and own orders."""
    labels = known_labels(column)
    name = order_of(labels) if column.kind is Kind.ORDERED else None
    # Ordered categories of a frame may have the same words in an order of their own.
    return name if name and in_order(name, labels) == tuple(labels) else None


def _coding(guess: Guess) -> Iterator[str]:
    """Bands and tails of a column that is published beside the quasi-identifiers."""
    if guess.coding is not None:
        for name, value in guess.coding.settings():
            yield setting_line(f"{name} = {number_text(value)}", CODED[name])


def _counted(guess: Guess) -> str:
    empty = f", {counted(guess.missing, 'cell')} empty" if guess.missing else ""
    return f"{guess.power.distinct:,} different{empty}"


def _rest() -> Iterator[str]:
    yield from ("", "[publish]")
    yield setting_line('operator = "generalize"', "groups show what covers them")
    yield setting_line(
        "max_suppressed = 0.0", "the share of rows that may be left out, 0–1"
    )


def _plain(text: str) -> str:
    """Clean text for a comment: names may hold characters that end its line."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
