"""What a checked table lost, measured beside its original: by values and in bits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sfumato import registry
from sfumato.errors import RefusedError
from sfumato.pipeline.check_result import CheckResult
from sfumato.pipeline.expand_requirements import smallest_group
from sfumato.pipeline.original_check import check_original
from sfumato.pipeline.pair import PairFiles
from sfumato.risk.utility import utility

LOSSES = ("ncp", "non_uniform_entropy")


def with_loss(
    result: CheckResult, files: PairFiles, record: Path | None
) -> CheckResult:
    """The result of a check with the loss of its table.

    Cells alone do not tell it: how much of a column a cell leaves open depends on the
    column's values, and bits on how often they occur in the original.
    """
    if record is not None:
        files = replace(files, record=record)
    pair = files.pair()
    check_original(files, pair)
    metrics = {name: registry.load("metrics", name) for name in LOSSES}
    found = utility(pair, metrics, k=smallest_group(files.policy.models()))
    return replace(result, loss=found.figures, loss_not_measured=found.not_measured)


def refuse_loss(asked: bool) -> None:
    """Refuse to measure a loss where rows are only counted."""
    if asked:
        raise RefusedError(
            "The loss is measured on the cells of two tables, which takes both in memory.",
            hint="Leave out the original, or take --engine memory.",
        )
