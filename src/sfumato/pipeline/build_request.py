"""Turn a run and its coded rows into the request that its algorithm solves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sfumato import registry
from sfumato.algorithms.request import Look, Progress, Request
from sfumato.data.cell_text import as_text, distinct
from sfumato.data.grouping import Grouping
from sfumato.data.table import Table
from sfumato.errors import DataError
from sfumato.hierarchies.axis import CodedAxis
from sfumato.io.strip_hidden import refuse_opaque
from sfumato.models.base import OutputModel
from sfumato.pipeline.code_table import (
    axes,
    coded_table,
    quasi_axes,
    rows_without_missing,
    take,
)
from sfumato.pipeline.expand_requirements import SourceCounts, expanded
from sfumato.pipeline.missing_cells import refuse_open_cells
from sfumato.pipeline.population import population_path, read_population, shared_axes
from sfumato.pipeline.private_run import Certificate, declared_axes, declared_source
from sfumato.pipeline.run import Run
from sfumato.publish.base import CellOperator, Form, Material


def coded_rows(run: Run) -> tuple[Table, npt.NDArray[np.int64]]:
    """The rows that take part, coded, and the source row of each."""
    return run.coding.rows(run.policy, lambda: _coded_rows(run))


def _coded_rows(run: Run) -> tuple[Table, npt.NDArray[np.int64]]:
    table = coded_table(run.policy, declared_source(run), run.arrays)
    refuse_opaque(table.source)
    if run.policy.data.missing_as != "drop":
        return table, run.arrays.keep(np.arange(table.rows))
    rows = rows_without_missing(table)
    if len(rows) == 0 and not run.policy.process_models():
        raise DataError(
            f"Every one of the {table.rows:,} rows has a missing value.",
            hint='Set data.missing_as to "value", or drop the column that is missing.',
        )
    return take(table, rows), rows


def build_request(
    run: Run,
    table: Table,
    certificate: Certificate | None,
    generated: Mapping[str, SourceCounts],
) -> Request:
    """Build the algorithm's request; `generated` counts values for `expanded`."""
    policy, subject = run.policy, table.schema.subject
    models = _models(run, table, generated)
    opened = policy.data.missing_as == "any"
    if opened and run.operator.form is Form.CELLS:
        refuse_open_cells(table, models)
    quasi, population = _quasi(run, table, models, certificate)
    beside, sensitive = _other_axes(run, table, certificate)
    return Request(
        quasi=quasi,
        population=population,
        models=models,
        beside=beside,
        process=() if certificate is None else (certificate.model,),
        ledger=None if certificate is None else certificate.ledger,
        sensitive=sensitive,
        subject=None if subject is None else table.columns[subject].codes,
        removable=int(np.floor(policy.publish.max_suppressed * table.rows + 1e-9)),
        missing_any=opened,
        seed=run.seed.child("solve"),
        threads=run.threads,
        memory_short=run.out_of_core is not None,
        progress=_progress(run),
        resolve=registry.algorithm,
        tuples=run.coding.tuples,
        look=None if certificate is not None else _look(run, table),
    )


def _progress(run: Run) -> Progress:
    """Show the progress of a search, and give back the memory of finished steps."""

    def told(step: str, share: float) -> None:
        run.arrays.release()
        run.progress(step, 0.1 + 0.6 * share)

    return told


def _look(run: Run, table: Table) -> Look | None:
    """How the operator will show groups, where cells are all that tells them apart."""
    operator = run.operator
    if not isinstance(operator, CellOperator):
        return None

    def look(quasi: tuple[CodedAxis, ...], grouping: Grouping) -> npt.NDArray[np.int64]:
        nobody = np.zeros(0, dtype=np.int64)
        return operator.looks(
            Material(
                table=table, quasi=quasi, grouping=grouping, rows=nobody, seed=run.seed
            )
        )

    return look


def _models(
    run: Run, table: Table, generated: Mapping[str, SourceCounts]
) -> tuple[OutputModel, ...]:
    """Return the policy's requirements, completed with facts from the source."""
    private = bool(run.policy.process_models())
    weights = _weights(table, private=private)
    models = run.policy.models()
    settled = [model.settled(rows=table.rows, weights=weights) for model in models]
    models = expanded(settled, generated.__getitem__)
    if not private:
        # Under a process model, cells show the texts of the domain.
        _refuse_spellings(table, models, run.policy.data.missing)
    return models


def _refuse_spellings(
    table: Table, models: Iterable[OutputModel], marks: Sequence[str]
) -> None:
    """Refuse to count a sensitive number by its text where it has several texts.

    Codes join `1` and `1.0`, and the file shows both.
    """
    names = {name for m in models for target in m.targets() for name, _ in target}
    for name in sorted(names.intersection(table.schema.sensitive)):
        column = table.columns[name]
        texts = as_text(distinct(table.source.column(name))[0], name=name).to_pylist()
        spellings = len(set(texts).difference(marks))
        numbers = column.size - (column.missing >= 0)
        if column.kind.numeric and column.steps is None and spellings > numbers:
            raise DataError(
                f"Column '{name}' has {spellings:,} spellings of {numbers:,} numbers, "
                "and a requirement counts its values by their text.",
                hint='Spell each number in one way, or declare kind = "category".',
            )


def _weights(table: Table, *, private: bool) -> float | None:
    """The sum of the sampling weights, where the table has them.

    Under a process model no weight ends the run, as its budget is spent.
    """
    name = table.schema.weight
    if name is None:
        return None
    column = table.columns[name]
    if column.numbers is None:
        if private:
            return None
        raise DataError(
            f"The weights in '{name}' are not numbers.",
            hint="Give the column another role, or clean it.",
        )
    return float(np.nansum(column.numbers[column.codes]))


def _quasi(
    run: Run,
    table: Table,
    models: tuple[OutputModel, ...],
    certificate: Certificate | None,
) -> tuple[tuple[CodedAxis, ...], tuple[npt.NDArray[np.int32], ...] | None]:
    """The quasi-identifiers on axes; with a population, axes that hold both tables."""
    if certificate is not None:
        return declared_axes(run, table, beside=False), None
    path = population_path(models)
    if path is None:
        return _shared(
            run, "quasi", lambda: quasi_axes(run.policy, table, run.base, run.arrays)
        ), None
    other = read_population(run.policy, path, run.base)
    return shared_axes(run.policy, table.source, other, run.base)


def _other_axes(
    run: Run, table: Table, certificate: Certificate | None
) -> tuple[tuple[CodedAxis, ...], dict[str, CodedAxis]]:
    """Return the other published columns if all are cells, else the sensitive ones."""
    if certificate is not None and certificate.algorithm.every_column:
        return declared_axes(run, table, beside=True), {}
    columns = [table.columns[name] for name in table.schema.sensitive]
    made = _shared(
        run, "sensitive", lambda: axes(run.policy, columns, run.base, run.arrays)
    )
    return (), {coded.name: coded for coded in made}


def _shared(
    run: Run, what: str, make: Callable[[], tuple[CodedAxis, ...]]
) -> tuple[CodedAxis, ...]:
    return run.coding.axes(run.policy, run.base, what, make)
