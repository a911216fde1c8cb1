"""What a limit on skewness promises about attacks."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.models.base import AttackBound, ReferenceModel


def skewness_bounds(
    model: ReferenceModel, sensitive: Sequence[str], *, at_most: float, measure: str
) -> tuple[AttackBound, ...]:
    """A bound by one measure of the skewness attack, for every view of a model."""
    options = {"measure": measure}
    return tuple(
        AttackBound(attack="skewness", at_most=at_most, view=view, options=options)
        for view in model.views(sensitive)
    )
