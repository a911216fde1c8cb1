"""The population table that k-map and δ-presence compare a release with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from sfumato.data.arrays import Codes
from sfumato.data.cell_text import as_text
from sfumato.data.coding import code_column
from sfumato.data.schema import Role
from sfumato.errors import DataError, PolicyError
from sfumato.hierarchies.axis import CodedAxis
from sfumato.hierarchies.build import build, refuse_reserved
from sfumato.io.csv_grammar import LineBreaks, line_breaks
from sfumato.io.read import read_source
from sfumato.models.base import OutputModel
from sfumato.policy import Policy
from sfumato.verify import require_columns


def population_path(models: Sequence[OutputModel]) -> str | None:
    """The population file that the requirements name; they may name only one."""
    paths = {str(p) for p in (getattr(m, "population", None) for m in models) if p}
    if len(paths) > 1:
        raise PolicyError(
            f"The requirements name {len(paths):,} population tables.",
            hint="Name the same population in every requirement.",
        )
    return paths.pop() if paths else None


def read_population(policy: Policy, path: str, base: Path | None) -> pa.Table:
    """Read the population table and check that it has the quasi-identifiers.

    What `[data]` says of the encoding and the delimiter is tried where the file is not
    UTF-8, or where the delimiter that is detected gives other columns.
    """
    place, faults = (base or Path()) / path, []
    for delimiter in dict.fromkeys([None, policy.data.delimiter]):
        try:
            return _decoded_people(policy, place, delimiter)
        except DataError as fault:
            faults.append(fault)
    raise faults[0]


def _decoded_people(policy: Policy, place: Path, delimiter: str | None) -> pa.Table:
    """Read UTF-8, or else the encoding of the source."""
    encoding = policy.data.encoding
    try:
        return _read_people(policy, place, delimiter, None)
    except DataError as fault:
        setting = fault.setting
        if setting is None or setting.key != "encoding":
            raise
        if encoding is None:
            # The setting is that of the source, too.
            reason = f"Save it as UTF-8. If the source is {setting.value}, too"
            setting = replace(setting, reason=reason)
            raise DataError(fault.message, setting=setting) from None
    return _read_people(policy, place, delimiter, encoding)


def _read_people(
    policy: Policy, place: Path, delimiter: str | None, encoding: str | None
) -> pa.Table:
    quasi = policy.names(Role.QUASI)
    people = read_source(
        place,
        delimiter=delimiter,
        encoding=encoding,
        decimal=policy.data.decimal,
        breaks=line_breaks(
            multiline=policy.data.multiline, otherwise=LineBreaks(lambda names: quasi)
        ),
    )
    require_columns(people, quasi, what="The population table")
    return people


def shared_axes(
    policy: Policy, source: pa.Table, population: pa.Table, base: Path | None
) -> tuple[tuple[CodedAxis, ...], tuple[Codes, ...]]:
    """Build axes over the values of both tables, and code the rows of each."""
    quasi: list[CodedAxis] = []
    others: list[Codes] = []
    for name in policy.names(Role.QUASI):
        coded = _shared_axis(policy, source, population, name, base)
        quasi.append(CodedAxis(coded.axis, coded.codes[: source.num_rows].copy()))
        others.append(coded.codes[source.num_rows :].copy())
    return tuple(quasi), tuple(others)


def _shared_axis(
    policy: Policy, source: pa.Table, population: pa.Table, name: str, base: Path | None
) -> CodedAxis:
    section = policy.column(name)
    both = pa.chunked_array(
        [
            *as_text(source.column(name), name=name).chunks,
            *as_text(population.column(name), name=name).chunks,
        ]
    )
    column = code_column(
        name,
        both,
        kind=section.kind,
        missing=policy.data.missing,
        order=section.order,
    )
    refuse_reserved(column)
    return build(column, section.hierarchy, base=base, weight=section.weight)
