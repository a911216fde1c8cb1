"""Every model of the family meets the checks that a plug-in must meet."""

from __future__ import annotations

import pytest

from sfumato.models.alpha_k import AlphaK
from sfumato.models.average_risk import AverageRisk
from sfumato.models.beta_likeness import BetaLikeness
from sfumato.models.delta_disclosure import DeltaDisclosure
from sfumato.models.group_size import GroupSize
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.k_map import KMap
from sfumato.models.l_diversity import LDiversity
from sfumato.models.lkc import Lkc
from sfumato.models.n_t_closeness import NTCloseness
from sfumato.models.p_sensitive import PSensitive
from sfumato.models.range_disclosure import RangeDisclosure
from sfumato.models.t_closeness import TCloseness
from sfumato.models.theta_diversity import ThetaDiversity
from sfumato.models.uniqueness import Uniqueness
from sfumato.testing.checks import check_model, exception_for

MODELS = [
    AlphaK,
    AverageRisk,
    BetaLikeness,
    DeltaDisclosure,
    GroupSize,
    KAnonymity,
    KMap,
    LDiversity,
    Lkc,
    NTCloseness,
    PSensitive,
    RangeDisclosure,
    TCloseness,
    ThetaDiversity,
    Uniqueness,
]
CHECKS = [
    pytest.param(check, id=f"{model.name}: {check}")
    for model in MODELS
    for check in check_model(model)
    if exception_for(model.name, check) is None
]


@pytest.mark.parametrize("check", CHECKS)
def test_the_model_conforms(check):
    check()
