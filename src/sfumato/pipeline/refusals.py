"""Requirements that an operator could not keep: refused before any work."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.data.schema import Role
from sfumato.errors import RefusedError
from sfumato.models.base import OutputModel, SensitiveModel
from sfumato.pipeline.verification import refuse_pairing
from sfumato.policy import Policy
from sfumato.publish.base import Form, Operator, refuse_without_sensitive

INTERVALS = "Publish by 'generalize' with numbers = \"interval\""


def refuse_unkept(operator: Operator, policy: Policy) -> None:
    """Refuse what this operator, as it is set, could not promise."""
    models = policy.models()
    refuse_pairing(operator.form, models)
    _refuse_counting(operator, models)
    _refuse_population(operator, models)
    _refuse_apart(operator, models)
    if operator.form is not Form.CELLS:
        _refuse_persons(operator, policy)


def _refuse_counting(operator: Operator, models: Sequence[OutputModel]) -> None:
    if not operator.shows_shared and any(model.counts_values for model in models):
        raise RefusedError(
            f"'{operator.name}', as it is set, may show a value that not all rows of a "
            "group have; 'diversity' counts the rows that show one.",
            hint=f"{INTERVALS}, or 'suppress'.",
        )


def _refuse_population(operator: Operator, models: Sequence[OutputModel]) -> None:
    """Who matches a group follows from what its cells may stand for."""
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


def _refuse_apart(operator: Operator, models: Sequence[OutputModel]) -> None:
    """Whoever knows the others must find them beside the value."""
    for model in models:
        known = isinstance(model, SensitiveModel) and model.others_known
        if known and not operator.keeps_together:
            raise RefusedError(
                f"{model.name} with others_known looks at the sensitive values of a "
                f"row together; '{operator.name}' with together = false parts them.",
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
