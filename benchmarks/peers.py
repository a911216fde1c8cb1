"""Other packages on the same data; only their own call is measured."""

from __future__ import annotations

from typing import Any

from benchmarks.measure import Facts, Job
from benchmarks.scoring import anonypy_reader, label_reader, records_of, score
from benchmarks.sources import (
    NUMERIC,
    QUASI,
    SENSITIVE,
    Source,
    adult,
    adult_hierarchy,
    leaves_under,
)

ALLOWED_SUPPRESSION = 5
"""Percent of rows that anjana may leave out; without it, its loss is near 1."""


def anonypy_adult(*, rows: int | None, k: int) -> Job:
    """anonypy's Mondrian, which takes categories as such and prints sets."""
    import anonypy

    source = adult(rows)
    frame = _frame(source)
    for name in (*QUASI, SENSITIVE):
        kind = "int64" if name in NUMERIC else "category"
        frame[name] = frame[name].astype(kind)
    preserver = anonypy.Preserver(frame, list(QUASI), SENSITIVE)
    return Job(
        work=lambda: preserver.anonymize_k_anonymity(k=k),
        facts=lambda records: anonypy_facts(records, source, k),
    )


def anonypy_facts(records: list[dict[str, Any]], source: Source, k: int) -> Facts:
    """The score of a table that anonypy published."""
    columns = [[record[name][0] for record in records] for name in QUASI]
    counts = [record["count"] for record in records]
    readers = [anonypy_reader(domain) for domain in source.domains]
    published = records_of(columns, readers, counts)
    return score(published, source.domains, rows=source.rows, k=k).facts()


def anjana_adult(*, rows: int | None, k: int) -> Job:
    """anjana's full-domain generalization, which needs a hierarchy per column."""
    from anjana.anonymity import k_anonymity

    source = adult(rows)
    frame = _frame(source)
    levels = {name: adult_hierarchy(name) for name in QUASI}
    tables = {name: dict(enumerate(map(_series, levels[name]))) for name in QUASI}
    return Job(
        work=lambda: k_anonymity(
            frame, [], list(QUASI), k, ALLOWED_SUPPRESSION, tables
        ),
        facts=lambda published: anjana_facts(published, source, levels, k),
    )


def anjana_facts(
    published: Any, source: Source, levels: dict[str, list[list[str]]], k: int
) -> Facts:
    """The score of a table that anjana published."""
    readers = [
        label_reader(domain, leaves_under(levels[name]))
        for name, domain in zip(QUASI, source.domains, strict=True)
    ]
    records = records_of([list(published[name]) for name in QUASI], readers)
    return score(records, source.domains, rows=source.rows, k=k).facts()


def pycanon_adult(*, rows: int | None, k: int) -> Job:
    """pycanon's k and l of the table that our own verifier is given."""
    from pycanon import anonymity

    from benchmarks.ours import published_adult

    frame = published_adult(rows, k).to_pandas()
    quasi = list(QUASI)
    return Job(
        work=lambda: (
            anonymity.k_anonymity(frame, quasi),
            anonymity.l_diversity(frame, quasi, [SENSITIVE]),
        ),
        facts=lambda found: {"k": int(found[0]), "l": int(found[1])},
    )


def _frame(source: Source) -> Any:
    import pandas as pd

    return pd.DataFrame(source.columns)


def _series(level: list[str]) -> Any:
    import pandas as pd

    return pd.Series(level)
