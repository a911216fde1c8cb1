"""Explain a run that ends because no release meets its policy."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sfumato.algorithms.base import silent
from sfumato.errors import InfeasibleError, LossError, SfumatoError
from sfumato.pipeline.advice.parameter_costs import within_loss
from sfumato.pipeline.advice.policy_ground import Ground, ground_of
from sfumato.pipeline.advice.probe_search import probe_of
from sfumato.pipeline.advice.suggestions import Suggestion
from sfumato.pipeline.advice.unmet_requirements import Unmet, unmet
from sfumato.pipeline.run import Run, replaced
from sfumato.policy.edit_text import toml_value

POINTER = "'sfumato advise POLICY' measures what each change gains."


def explained(run: Run, fault: InfeasibleError) -> InfeasibleError:
    """The same error, with every cause and the nearest settings that are feasible.

    Under a process model nothing is added: it would be outside the budget. The same
    with earlier releases, which advice does not know.
    """
    if run.policy.process_models() or run.after:
        return fault
    try:
        ground = ground_of(replaced(run, progress=silent))
        if isinstance(fault, LossError):
            return _too_lossy(fault, ground)
        causes = [
            *unmet(ground.request, ground.asked, counting=False),
            *unmet(ground.request, ground.asked, counting=True),
        ]
    except SfumatoError:
        causes = []
    return _with_causes(fault, causes)


def out_of_reach(run: Run) -> InfeasibleError | None:
    """The error of a policy that arithmetic shows to be out of reach; None if it may
    be met, or if nothing is known."""
    try:
        ground = ground_of(replaced(run, progress=silent))
    except SfumatoError:
        return None
    causes = list(unmet(ground.request, ground.asked, counting=False))
    if not causes:
        return None
    first = InfeasibleError(causes[0].message, hint=causes[0].hint)
    return _with_causes(first, causes)


def _with_causes(fault: InfeasibleError, causes: Sequence[Unmet]) -> InfeasibleError:
    told = _unnumbered(fault.message)
    others = [each for each in causes if _unnumbered(each.message) != told]
    message = " ".join([fault.message, *(each.message for each in others)])
    hint = fault.hint or ""
    if others:
        named = [_named(each) for each in causes if each.change]
        hint = f"Nearest feasible settings, each alone: {', '.join(named)}."
    return InfeasibleError(
        message, hint=f"{hint} {POINTER}".strip(), values=fault.values
    )


def _unnumbered(message: str) -> str:
    """A message without the place of its constraint: diversity (the 2nd) on …"""
    return re.sub(r"^([\w-]+) \(the \d+\w\w\) on ", r"\1 on ", message)


def _named(each: Unmet) -> str:
    place = each.asked.place
    return " and ".join(
        f"require.{place}.{name} = {toml_value(value)}"
        for name, value in each.change.items()
    )


def _too_lossy(fault: LossError, ground: Ground) -> LossError:
    """Add the nearest values of single parameters that lose little enough."""
    probe = probe_of(
        ground.request, ground.table, ground.run.operator, ground.run.algorithm
    )
    found = within_loss(probe, ground.asked, ground.max_loss)
    named = [_setting(each.suggestion) for each in found]
    nearest = f" Near enough alone: {', or '.join(named)}." if named else ""
    return LossError(
        fault.message, hint=f"{fault.hint or ''}{nearest} {POINTER}".strip()
    )


def _setting(each: Suggestion) -> str:
    return " and ".join(f"{k} = {toml_value(v)}" for k, v in each.settings.items())
