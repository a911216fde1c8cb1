"""Feasibility of models that compare groups with the whole table."""

from __future__ import annotations

from sfumato.models.base import Feasibility, Groups, ReferenceModel, Verdict
from sfumato.models.common.feasibility import nearest


def always_feasible(
    model: ReferenceModel,
    whole: Groups,
    verdict: Verdict,
    *,
    parameter: str,
    limit: float,
    removable: int,
) -> Feasibility:
    """Always feasible: one group with all rows is distributed exactly as the table.

    Only if the other sensitive columns are known is the whole table split, into parts
    that no grouping can join. If rows may be left out, the search decides.
    """
    judged_apart = model.others_known and len(whole.sensitive) > 1
    if verdict.holds or not judged_apart or removable:
        return Feasibility(True, 0.0)
    best = verdict.measured
    raised = (
        ""
        if best is None
        else f"Raise {parameter} to {nearest(best, at_least=False)}, or "
    )
    reach = "without bound" if best is None else f"{best:,.6g}"
    return Feasibility(
        feasible=False,
        best=best,
        parameter=parameter,
        message=f"{model.name} needs {parameter} of {limit:,g}; with the other sensitive "
        f"columns known, the whole table reaches {reach} at best.",
        hint=f"{raised}drop others_known.",
        other_ways=("drop others_known",),
    )
