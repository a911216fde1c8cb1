"""Refuse, before any work, requirements that an operator cannot meet."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.data.coding import infer_kind
from sfumato.data.schema import Role
from sfumato.errors import RefusedError
from sfumato.models.base import OutputModel, SensitiveModel
from sfumato.pipeline.run import Run
from sfumato.policy import Policy
from sfumato.publish.base import (
    Form,
    Operator,
    refuse_name_clash,
    refuse_without_sensitive,
)

INTERVALS = "Publish by 'generalize' with numbers = \"interval\""


def refuse_unkept(run: Run) -> None:
    """Refuse what the operator, with its settings, could not promise or publish."""
    operator, policy, models = run.operator, run.policy, run.policy.models()
    refuse_pairing(operator.form, models)
    _refuse_counting(operator, models)
    _refuse_population(operator, models)
    _refuse_apart(operator, models)
    _refuse_steps(operator, policy)
    if operator.form is not Form.CELLS:
        _refuse_persons(operator, policy)
    refuse_name_clash(operator, _published_roles(run), lambda name: _is_line(run, name))


def refuse_pairing(form: Form, models: Sequence[OutputModel]) -> None:
    """Refuse a model that means nothing for a table published in this form."""
    for model in models:
        if form is not Form.CELLS and model.needs_cells:
            raise RefusedError(
                f"{model.name} is a promise about published cells; a table published "
                f"{form} shows its quasi-identifiers exactly.",
                hint="Require 'group-size' instead, or publish by 'generalize'.",
            )


def _refuse_counting(operator: Operator, models: Sequence[OutputModel]) -> None:
    if not operator.shows_shared and any(model.counts_values for model in models):
        raise RefusedError(
            f"'{operator.name}', as it is set, may show a value that not all rows of a "
            "group have; 'diversity' counts the rows that show one.",
            hint=f"{INTERVALS}, or 'suppress'.",
        )


def _refuse_population(operator: Operator, models: Sequence[OutputModel]) -> None:
    """Refuse cells that do not stand for a range: nobody can be matched with them."""
    for model in models:
        if model.reads_population and not operator.shows_covers:
            raise RefusedError(
                f"{model.name} counts the people who match published cells; what "
                f"'{operator.name}', as it is set, shows stands for no range of values.",
                hint=f"{INTERVALS}, or 'suppress'.",
            )
        if model.asks_for_everybody and not operator.shows_smallest:
            raise RefusedError(
                f"{model.name} with 'lower' above 0 limits how many people match a "
                f"group; '{operator.name}', as it is set, shows more than the group has.",
                hint=f'{INTERVALS} and flat = "set", or set lower to 0.',
            )


def _refuse_steps(operator: Operator, policy: Policy) -> None:
    """Refuse steps of a grid where exact values would be shown or looked up."""
    stepped = [n for n, each in policy.columns.items() if each.resolution is not None]
    if not stepped:
        return
    if not operator.shows_steps:
        raise RefusedError(
            f"Column '{stepped[0]}' has a resolution; '{operator.name}', as it is set, "
            "does not show intervals.",
            hint=f"{INTERVALS}, or leave out 'resolution'.",
        )
    if policy.process_models() or any(m.reads_population for m in policy.models()):
        raise RefusedError(
            f"Column '{stepped[0]}' has a resolution, which neither differential "
            "privacy nor a requirement on a population supports.",
            hint="Leave out 'resolution'.",
        )


def _refuse_apart(operator: Operator, models: Sequence[OutputModel]) -> None:
    """Refuse `others_known` if a row's sensitive values are published apart."""
    for model in models:
        known = isinstance(model, SensitiveModel) and model.others_known
        if known and not operator.keeps_together:
            raise RefusedError(
                f"{model.name} with others_known looks at the sensitive values of a "
                f"row together; '{operator.name}' with together = false separates them.",
                hint="Set publish.together to true, or leave out others_known.",
            )


def _refuse_persons(operator: Operator, policy: Policy) -> None:
    refuse_without_sensitive(operator.name, policy.names(Role.SENSITIVE))
    if policy.names(Role.SUBJECT):
        raise RefusedError(
            f"'{operator.name}' cannot promise anything per person: in what it "
            "publishes, nothing says which values belong to one person.",
            hint="Publish by 'generalize', or drop the subject column.",
        )


def _published_roles(run: Run) -> dict[str, Role]:
    """The source columns that are published under their names, with their roles."""
    hashed = run.policy.pseudonymized()
    roles = {name: run.policy.role(name) for name in run.source.column_names}
    return {
        name: role
        for name, role in roles.items()
        if role is not None
        and (name in hashed or role not in (Role.IDENTIFIER, Role.SUBJECT))
    }


def _is_line(run: Run, name: str) -> bool:
    """Whether a column holds numbers or dates.

    If the policy does not say, the cells decide, except under a process model.
    """
    kind = run.policy.column(name).kind
    if kind is None and not run.policy.process_models():
        kind, _ = infer_kind(run.source.column(name), missing=run.policy.data.missing)
    return kind is None or kind.numeric
