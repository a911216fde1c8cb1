"""Compiled rules against the papers' definitions, over rows in plain Python."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sfumato.algorithms.base import Request
from sfumato.algorithms.common.compiled_rules import compile_rules
from sfumato.hierarchies.axis import CodedAxis
from sfumato.models.alpha_k import AlphaK
from sfumato.models.beta_likeness import BetaLikeness
from sfumato.models.delta_disclosure import DeltaDisclosure
from sfumato.models.l_diversity import LDiversity
from sfumato.models.range_disclosure import RangeDisclosure
from sfumato.models.t_closeness import TCloseness
from sfumato.testing import model_oracles as oracle
from sfumato.testing.random_groups import COLUMN, OTHER, flat_axis, random_sample

SLACK = 1e-9
SHAPES = ("flat", "ordered", "tree", "line")
RULES = [
    (LDiversity(l=3, on=COLUMN), lambda g: oracle.distinct(g) >= 3),
    (
        LDiversity(l=2.5, kind="entropy", on=COLUMN),
        lambda g: np.log(oracle.effective_number(g)) >= np.log(2.5) - SLACK,
    ),
    (
        LDiversity(l=3, kind="recursive", c=1.5, on=COLUMN),
        lambda g: oracle.recursive_factor(3)(g) <= 1.5 - SLACK,
    ),
    (AlphaK(alpha=0.5, k=1, on=COLUMN), lambda g: oracle.commonest_share(g) <= 0.5),
    (BetaLikeness(beta=0.9, on=COLUMN), lambda g: oracle.gain(g) <= 0.9 + SLACK),
    (
        BetaLikeness(beta=2.0, kind="enhanced", on=COLUMN),
        oracle.enhanced_gain_ok(2.0),
    ),
    (
        DeltaDisclosure(delta=0.9, on=COLUMN),
        lambda g: oracle.log_ratio(g) <= 0.9 - SLACK,
    ),
    (
        TCloseness(t=0.3, distance="equal", on=COLUMN),
        lambda g: oracle.variational(g) <= 0.3 + SLACK,
    ),
    (
        TCloseness(t=0.2, distance="ordered", on=COLUMN),
        lambda g: oracle.ordered(g) <= 0.2 + SLACK,
    ),
    (
        TCloseness(t=0.25, distance="hierarchical", on=COLUMN),
        lambda g: oracle.hierarchical(g) <= 0.25 + SLACK,
    ),
    (
        RangeDisclosure(r=0.4, at_most=0.5, on=COLUMN),
        lambda g: oracle.s_diversity(0.4)(g) <= 0.5 + SLACK,
    ),
]


def shapes_for(model):
    hierarchical = getattr(model, "distance", "") == "hierarchical"
    return ("tree",) if hierarchical else SHAPES


def verdicts(sample, model):
    """The compiled verdict on each group."""
    axis = flat_axis("age", 1)
    rows = len(sample.group_of)
    request = Request(
        quasi=(CodedAxis(axis, np.zeros(rows, dtype=np.int32)),),
        models=(model,),
        sensitive=sample.sensitive,
    )
    compiled = compile_rules(request)
    return [
        compiled.allows(np.flatnonzero(sample.group_of == group))
        for group in range(sample.count)
    ]


def defined(sample, holds, *, others):
    """The definition on each group, or on its rows with each other value."""
    rows = sample.rows()
    known = sample.sensitive[OTHER].codes.tolist() if others else [0] * len(rows.group)
    apart = [2 * group + other for group, other in zip(rows.group, known, strict=True)]
    groups = oracle.groups_of(replace(rows, group=apart), sample.domain)
    found = dict.fromkeys(range(sample.count), True)
    for number, group in zip(sorted(set(apart)), groups, strict=True):
        found[number // 2] &= bool(holds(group))
    return list(found.values())


@pytest.mark.parametrize(
    ("model", "holds"), RULES, ids=[str(model)[:70] for model, _ in RULES]
)
def test_a_compiled_rule_is_its_definition(model, holds):
    random = np.random.default_rng(21)
    agreed = set()
    for turn in range(60):
        shapes = shapes_for(model)
        sample = random_sample(
            random,
            shape=shapes[turn % len(shapes)],
            values=int(random.integers(2, 8)),
            rows=int(random.integers(6, 40)),
            groups=int(random.integers(1, 5)),
        )
        for others in (False, True):
            found = verdicts(sample, replace(model, others_known=others))
            assert found == defined(sample, holds, others=others)
            agreed |= set(found)
    assert agreed == {True, False}
