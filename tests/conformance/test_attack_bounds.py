"""What models promise about attacks holds on every release that is not refused."""

from __future__ import annotations

import pytest

from sfumato import registry
from sfumato.models.base import Model
from sfumato.testing.attack_bound_checks import bound_checks


@pytest.mark.parametrize("checked", list(bound_checks()), ids=str)
def test_no_promised_bound_is_exceeded(checked):
    checked()


@pytest.mark.parametrize("name", registry.CATALOGUE["models"])
def test_every_model_says_which_attacks_it_bounds(name):
    own = vars(registry.load("models", name))
    assert "attack_bounds" in own
    assert getattr(Model.attack_bounds, "__isabstractmethod__", False)
