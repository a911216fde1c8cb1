"""Which sensitive columns requirements are about; a release may have none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sfumato.models.base import Model, SensitiveModel

NOTHING_JUDGED = (
    "Nothing is judged for what can be learned about a person: no requirement is about "
    "a sensitive column."
)


def judged_columns(
    models: Iterable[Model], sensitive: Sequence[str]
) -> tuple[str, ...]:
    """The sensitive columns that some model is about."""
    about: set[str] = set()
    for model in models:
        if isinstance(model, SensitiveModel):
            about |= {view.column for view in model.views(sensitive)}
    return tuple(name for name in sensitive if name in about)
