"""Find texts that nobody should see in anything that may be shared."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, timedelta
from html import escape
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import tomli_w

from tests.fuzz.cases import Case
from tests.fuzz.release import Release, plain_bytes, read_arrow

SHORTEST = 8
"""A text this long does not occur by chance."""
UNSEEN = "unseenzq0value"
KEY = "link.key"
"""The file of the key that makes persons of several releases known."""


def secrets(case: Case) -> set[str]:
    """Texts of the source that nothing but a published cell may show."""
    stated = tomli_w.dumps(_published_policy(case)) + " ".join(case.columns)
    found = {UNSEEN} | ({case.files[KEY]} if KEY in case.files else set())
    for column in case.columns.values():
        texts = {str(cell) for cell in column.cells if cell is not None}
        found |= {text for text in texts if len(text) >= SHORTEST}
    return {text for text in found if text not in stated and text.isprintable()}


def _published_policy(case: Case) -> dict[str, Any]:
    """The policy as far as it may be shown: without orders and listed hierarchies."""
    columns = {
        name: {
            key: value for key, value in section.items() if _may_be_shown(key, value)
        }
        for name, section in case.policy["columns"].items()
    }
    return {**case.policy, "columns": columns}


def _may_be_shown(key: str, value: Any) -> bool:
    """Ends and widths of intervals are settings; lists of values are cells."""
    if key == "hierarchy":
        return isinstance(value, dict) and "intervals" in value
    return key != "order"


def said(case: Case, texts: dict[str, str]) -> Iterator[str]:
    """Secrets in what a run says to people and machines."""
    for text in secrets(case):
        for where, said_there in texts.items():
            if text in said_there:
                yield f"{where} quotes a cell"
                return


def published(release: Release) -> Iterator[str]:
    """Secrets in the files of a release that no published cell shows."""
    hidden = hidden_texts(release)
    for path in sorted(release.place.iterdir()):
        if path.is_dir():
            continue
        if _held(path, hidden):
            yield f"{path.name} holds a text that no published cell shows"


def hidden_texts(release: Release) -> set[str]:
    """Texts of the source that no published cell shows."""
    shown = json.dumps([release.rows, release.values], ensure_ascii=False, default=str)
    shown += _side_by_side(release)
    shown += "\n".join([*_reported(release), *_days_beside(release)])
    return {text for text in secrets(release.case) if text not in shown}


def _days_beside(release: Release) -> Iterator[str]:
    """The days around published ones: a mean of dates is known to half a day only, and
    the report says between which days it lies."""
    for text in {str(cell)[:10] for row in release.rows for cell in row.values()}:
        with suppress(ValueError, OverflowError):
            day = date.fromisoformat(text)
            yield from (str(day + timedelta(days=step)) for step in (-1, 1))


def _side_by_side(release: Release) -> str:
    """The cells of each column without a gap, as they lie in the buffers of a file."""
    columns = {name for row in release.rows for name in row}
    return "\n".join(
        "".join(str(row.get(name) or "") for row in release.rows) for name in columns
    )


def _reported(release: Release) -> set[str]:
    """Values that the policy asks to be counted, and that enough rows share."""
    required = release.case.policy["require"]
    k = max(int(wanted.get("k", 1)) for wanted in required)
    found: set[str] = set()
    for name in release.case.policy.get("report", {}).get("loss_by", []):
        found |= _shared(release, name, max(k, 2))
    for wanted in required:
        if "generate" in wanted:
            found |= _shared(release, wanted["generate"]["column"], k)
    return found


def _shared(release: Release, name: str, least: int) -> set[str]:
    """The spellings of a column's values that at least so many rows have."""
    keys = [release.reader(name).key(text) for text in release.source(name)]
    rows = Counter(keys)
    spelled = zip(
        keys, release.source(name), release.case.columns[name].cells, strict=True
    )
    return {
        str(each)
        for key, text, cell in spelled
        if key is not None and rows[key] >= least
        for each in (text, cell)
    }


def _held(path: Path, hidden: set[str]) -> bool:
    raw = plain_bytes(path)
    spellings = {each for text in hidden for each in _spellings(text)}
    if any(text.encode() in raw for text in spellings):
        return True
    if path.suffix == ".parquet":
        return bool(hidden & set(_parquet_texts(path)))
    if path.suffix == ".arrow":
        return bool(hidden & set(_dictionary_texts(read_arrow(path))))
    return False


def _spellings(text: str) -> set[str]:
    return {text, escape(text), json.dumps(text)[1:-1]}


def _parquet_texts(path: Path) -> Iterator[str]:
    """What dictionaries and statistics of a compressed file hold."""
    file = pq.ParquetFile(path)
    names = [field.name for field in file.schema_arrow]
    for table in (pq.read_table(path, read_dictionary=names), pq.read_table(path)):
        yield from _dictionary_texts(table)
    yield str(file.schema_arrow.metadata)
    for group in range(file.metadata.num_row_groups):
        for place in range(file.metadata.num_columns):
            found = file.metadata.row_group(group).column(place).statistics
            if found is not None and found.has_min_max:
                yield str(found.min)
                yield str(found.max)


def _dictionary_texts(table: pa.Table) -> Iterator[str]:
    for column in table.columns:
        for chunk in column.chunks:
            yield from _inside(chunk)


def _inside(array: Any) -> Iterator[str]:
    """Every text in the buffers of an array, shown by a cell or not."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        yield from map(str, array.dictionary.to_pylist())
    elif pa.types.is_struct(kind):
        for place in range(kind.num_fields):
            yield from _inside(array.field(place))
    elif pa.types.is_map(kind):
        yield from _inside(array.keys)
        yield from _inside(array.items)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        yield from _inside(array.values)
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        yield from map(str, array.to_pylist())


def handed_out(release: Any, case: Case) -> Iterator[str]:
    """Secrets in the object that Python users hold, beyond what its cells show."""
    table = release.table
    shown = json.dumps(table.to_pylist(), ensure_ascii=False, default=str)
    hidden = {text for text in secrets(case) if text not in shown}
    if hidden & set(_dictionary_texts(table)):
        yield "Release.table holds a text that no cell shows"
    seen = {
        "repr(release)": repr(release),
        "str(release)": str(release),
        "the notebook card": release._repr_html_(),
    }
    loss_by = case.policy.get("report", {}).get("loss_by", [])
    reported = "\n".join(str(c) for n in loss_by for c in case.columns[n].cells)
    told = {secret for secret in secrets(case) if secret not in reported}
    for where, text in seen.items():
        if any(secret in text for secret in told):
            yield f"{where} shows a cell"
